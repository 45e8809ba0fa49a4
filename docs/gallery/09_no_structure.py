"""
When there is no structure
==========================

Every method of clustering cuts any set into as many parts as you ask for. Whether there is anything
to find is another question, and ddsc answers it first.
"""

# %%
# Three sets of 300 items: groups, a continuum, and noise.
import matplotlib.pyplot as plt
import numpy as np

import ddsc

rng = np.random.default_rng(0)


def clouds(centres):
    return [rng.normal(centre, 1, (30, 2)) for centre in centres]


sets = {
    "three groups": clouds(np.repeat([[0, 0], [4, 0], [2, 3.5]], 100, axis=0)),
    "a continuum": clouds(np.column_stack([rng.uniform(0, 6, 300), rng.uniform(0, 6, 300)])),
    "noise": clouds(np.zeros((300, 2))),
}

# %%
# Three clusters of each. The labels look alike; the verdicts do not.
figure, boxes = plt.subplots(1, 3, figsize=(11, 3.6), layout="constrained")
for box, (name, items) in zip(boxes, sets.items()):
    model = ddsc.DDSC(n_clusters=3).fit(items)
    print(f"{name}: sizes {np.bincount(model.labels_)}\n    {model.verdict_['text']}")
    means = np.array([item.mean(axis=0) for item in items])
    box.scatter(*means.T, c=model.labels_, cmap="tab10", vmax=9, s=10)
    box.set(title=f"{name}: {model.verdict_['structure']}", xticks=[], yticks=[])

# %%
# Another view of the same: draw the points of every item anew, cluster again, and see whether the
# labels stay. Labels of noise do not.
for name in ("three groups", "noise"):
    model = ddsc.DDSC(n_clusters=3, stability=5).fit(sets[name])
    print(f"{name}: agreement (ARI) with five resamples {model.stability_['mean']['ari']:.2f}")

# %%
# "Clear" can be believed. Anything else is no proof that there are no groups: small sets, and
# groups that touch, are often "undecided" or "weak".
