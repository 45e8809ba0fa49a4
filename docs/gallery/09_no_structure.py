"""
When there is no structure
==========================

A clustering method divides any set into as many parts as requested. Whether the set has any cluster structure is a
separate question. The verdict, the first line of every result, answers it.
"""

# %%
# Generate three sets of 300 items: separate clusters, a continuum, and noise.
import matplotlib.pyplot as plt
import numpy as np

import ddsc

rng = np.random.default_rng(0)


def clouds(centers):
    return [rng.normal(center, 1, (30, 2)) for center in centers]


sets = {
    "three groups": clouds(np.repeat([[0, 0], [4, 0], [2, 3.5]], 100, axis=0)),
    "a continuum": clouds(np.column_stack([rng.uniform(0, 6, 300), rng.uniform(0, 6, 300)])),
    "noise": clouds(np.zeros((300, 2))),
}

# %%
# Compute three clusters of each set. The labels look similar, but the verdicts differ.
figure, boxes = plt.subplots(1, 3, figsize=(11, 3.6), layout="constrained")
for box, (name, items) in zip(boxes, sets.items()):
    model = ddsc.DDSC(n_clusters=3).fit(items)
    print(f"{name}: sizes {np.bincount(model.labels_)}\n    {model.verdict_['text']}")
    means = np.array([item.mean(axis=0) for item in items])
    box.scatter(*means.T, c=model.labels_, cmap="tab10", vmax=9, s=10)
    box.set(title=f"{name}: {model.verdict_['level']}", xticks=[], yticks=[])

# %%
# Another way to check the clusters is to resample the points of every item, cluster again, and compare the labels. The
# labels of noise are not stable.
for name in ("three groups", "noise"):
    model = ddsc.DDSC(n_clusters=3, stability=5).fit(sets[name])
    print(f"{name}: agreement (ARI) with five resamples {model.stability_['mean']['ari']:.2f}")

# %%
# The verdicts "separate" and "reproducible" are reliable. The verdict "continuum" does not prove that there are no
# clusters. Clusters that touch, and clusters in small sets, are often not confirmed.
