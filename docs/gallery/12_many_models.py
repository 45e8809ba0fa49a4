"""
Many models in parallel
=======================

One fit uses all processors by itself. When there are many small fits (several metrics, numbers of
clusters, subsets), it is better to run the fits side by side, each on one thread.
"""

# %%
# joblib comes with scikit-learn. The interpreter is free while ddsc works, so threads are enough:
# nothing has to be copied to other processes.
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
# How many clusters, by which metric? Modularity needs no labels; the highest is at five subjects
# under every metric.
table = np.array([model.sweep_[0]["modularity"] for model in models]).reshape(len(metrics), len(numbers))
figure, ax = plt.subplots(figsize=(6, 3), layout="constrained")
for metric, row in zip(metrics, table):
    ax.plot(numbers, row, "o-", label=metric)
ax.set(xlabel="clusters", ylabel="modularity", xticks=numbers)
ax.legend()
print(dict(zip(metrics, np.array(numbers)[table.argmax(axis=1)].tolist())))

# %%
# Results do not depend on the number of threads, nor on what runs beside them.
again = fit("w2", 5)
same = models[tasks.index(("w2", 5))]
print("the same embedding, bit for bit:", np.array_equal(again.embedding_, same.embedding_))

# %%
# With processes instead of threads (``Parallel(n_jobs=2)``, dask) models and sets travel by pickle,
# which keeps everything.
