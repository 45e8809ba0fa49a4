"""
Many models in parallel
=======================

A single fit uses all processors. Many small fits (several metrics, numbers of clusters, or
subsets) are faster if they run in parallel, each on one thread.
"""

# %%
# joblib is installed with scikit-learn. ddsc releases the interpreter lock while it computes, so
# threads are sufficient, and no data is copied to other processes.
import itertools

import matplotlib.pyplot as plt
import numpy as np
from joblib import Parallel, delayed

import ddsc

X = ddsc.datasets.load_documents()
metrics, numbers = ("w2", "w1", "mmd", "lot"), (3, 4, 5, 6, 7)


def fit(metric, k):
    return ddsc.DDSC(n_clusters=k, metric=metric, n_jobs=1).fit(X)


tasks = list(itertools.product(metrics, numbers))
models = Parallel(n_jobs=2, prefer="threads")(delayed(fit)(*task) for task in tasks)
print(len(models), "models")

# %%
# Compare the modularity, which needs no labels, for each metric and number of clusters. For every metric, the
# modularity is largest at five clusters, the number of subjects.
table = np.array([model.sweep_[0]["modularity"] for model in models]).reshape(len(metrics), len(numbers))
figure, ax = plt.subplots(figsize=(6, 3), layout="constrained")
for metric, row in zip(metrics, table):
    ax.plot(numbers, row, "o-", label=metric)
ax.set(xlabel="clusters", ylabel="modularity", xticks=numbers)
ax.legend()
print(dict(zip(metrics, np.array(numbers)[table.argmax(axis=1)].tolist())))

# %%
# Results depend neither on the number of threads nor on other fits that run at the same time.
again = fit("w2", 5)
same = models[tasks.index(("w2", 5))]
print("the same embedding, bit for bit:", np.array_equal(again.embedding_, same.embedding_))

# %%
# With processes instead of threads (``Parallel(n_jobs=2)``, dask), models and sets are transferred
# with pickle, which preserves all their data.
