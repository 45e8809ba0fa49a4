"""
New items
=========

Clusters that were found once can take up items that come later, without clustering again. The model
says how sure it is, and which items are unlike everything it has seen.
"""

# %%
# Fit on 400 digits, keep 100 for later.
import os
import tempfile
import warnings

import matplotlib.pyplot as plt
import numpy as np

import ddsc

X = ddsc.datasets.load_digits()
old, new = X[:400], X[400:]
model = ddsc.DDSC(n_clusters=10).fit(old)

# %%
# ``predict`` gives labels alone; ``assign`` also a confidence for each, and ``far``: an item that
# lies further from the old ones than these lie from each other. One in a hundred is expected; here
# there are more, so the later digits differ a little from the first 400.
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    given = model.assign(new)
print("labels    ", given.labels[:10])
print("confidence", given.confidence[:10].round(2))
print("warning:", told[0].message)

# %%
# Is it as good as for the items that made the clusters? A cluster counts as the digit that most of
# its old items are.
digit = [np.bincount(old.labels[model.labels_ == c]).argmax() for c in range(10)]
right = np.array(digit)[given.labels] == new.labels
print(f"old items in a cluster of their digit: {(np.array(digit)[model.labels_] == old.labels).mean():.0%}")
print(f"new items: {right.mean():.0%}, of the surer half {right[given.confidence.argsort()[50:]].mean():.0%}")

# %%
# Items of another kind altogether: noise, and a chequerboard. All of them are called far.
rng = np.random.default_rng(0)
noise = rng.uniform(size=(3, 8, 8))
board = np.indices((1, 8, 8)).sum(axis=0) % 2 + 0.0
strange = ddsc.Distributions.from_histograms(np.concatenate([noise, board]))
with warnings.catch_warnings(record=True):
    print("far:", model.assign(strange).far)

# %%
# Surer items are right more often.
order = given.confidence.argsort()
figure, ax = plt.subplots(figsize=(6, 3), layout="constrained")
parts = np.array_split(order, 5)
ax.bar(range(5), [right[p].mean() for p in parts])
ax.set_xticks(range(5), [f"{given.confidence[p].mean():.2f}" for p in parts])
ax.set(xlabel="mean confidence of a fifth of the new digits", ylabel="share in the right cluster", ylim=(0, 1))

# %%
# The model goes into a file that the program reads, too: ``ddsc assign model.npz new.npz``.
with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(record=True):
    model.save(os.path.join(folder, "model.npz"))
    again = ddsc.DDSC.load(os.path.join(folder, "model.npz"))
    print("the same labels after loading:", (again.predict(new) == given.labels).all())
