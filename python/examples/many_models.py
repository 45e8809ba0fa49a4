# %% [markdown]
# Many models at once: every metric with every number of clusters, side by side in processes.
# One thread each (`n_jobs=1`), as many processes as there are processors; results do not depend on
# either.
#
#     python many_models.py
#
# With dask the same line is `dask.compute(*[dask.delayed(fit)(X, m, k) for m, k in tasks])`:
# sets and models are pickled like any other object.

# %%
from joblib import Parallel, delayed

import ddsc


def fit(X, metric, k):
    """One model; what it says of itself."""
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
