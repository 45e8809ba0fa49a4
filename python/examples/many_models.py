# %% [markdown]
# Fits many models in parallel processes, one for each metric and number of clusters. Each model uses
# one thread (`n_jobs=1`). Results depend neither on the number of threads nor on the number of
# processes.
#
#     python many_models.py
#
# With dask, use `dask.compute(*[dask.delayed(fit)(X, m, k) for m, k in tasks])`. Sets and models can
# be pickled.

# %%
from joblib import Parallel, delayed

import ddsc


def fit(X, metric, k):
    """Fit one model, and return its scores."""
    model = ddsc.DDSC(n_clusters=k, metric=metric, n_jobs=1).fit(X)
    return metric, k, model.score(X), ddsc.adjusted_mutual_info_score(X.labels, model.labels_)


X = ddsc.make_gaussians(k=4, n=15, n_points=20, separation=4.0)
tasks = [(metric, k) for metric in ("w2", "sinkhorn", "mmd", "lot") for k in (2, 3, 4, 5)]

# %%
rows = Parallel(n_jobs=2)(delayed(fit)(X, metric, k) for metric, k in tasks)

# %%
print("metric     K   score    AMI")
for metric, k, score, ami in rows:
    print(f"{metric:10s} {k} {score:7.3f} {ami:6.3f}")
best = max(rows, key=lambda row: row[3])
assert best[3] == 1 and best[1] == 4
