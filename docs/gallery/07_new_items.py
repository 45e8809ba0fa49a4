"""
New items and updates
=====================

A fitted model can assign new items to its clusters without clustering again. It also returns the
confidence of each assignment, and flags items that are far from all items of the fit. ``update`` adds new items to the
fit, and ``ddsc.diff`` compares the two results.
"""

# %%
# Fit a model to 400 digits. The other 100 are new items.
import os
import tempfile
import warnings

import matplotlib.pyplot as plt
import numpy as np

import ddsc

X = ddsc.datasets.load_digits()
old, new = X[:400], X[400:]
model = ddsc.DDSC(n_clusters=10).fit(old)
model

# %%
# ``predict`` returns only labels. ``assign`` also returns a confidence for each label and the flag ``far``, which is
# set if an item is farther from the old items than they are from each other. About one flag in a hundred items is
# expected by chance. This example has more flags, so the new digits differ slightly from the first 400.
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    given = model.assign(new)
print("labels    ", given.labels[:10])
print("confidence", given.confidence[:10].round(2))
print("warning:", caught[0].message)

# %%
# Compare the accuracy for the new items with the accuracy for the old ones. The digit of a cluster is the
# most common digit among its old items.
digit = [np.bincount(old.labels[model.labels_ == c]).argmax() for c in range(10)]
right = np.array(digit)[given.labels] == new.labels
print(f"old items in a cluster of their digit: {(np.array(digit)[model.labels_] == old.labels).mean():.0%}")
print(f"new items: {right.mean():.0%}, of the surer half {right[given.confidence.argsort()[50:]].mean():.0%}")

# %%
# Assign items of a completely different kind: noise and a checkerboard. All of them are flagged as
# far.
rng = np.random.default_rng(0)
noise = rng.uniform(size=(3, 8, 8))
board = np.indices((1, 8, 8)).sum(axis=0) % 2 + 0.0
strange = ddsc.Distributions.from_histograms(np.concatenate([noise, board]))
with warnings.catch_warnings(record=True):
    print("far:", model.assign(strange).far)

# %%
# Labels with a higher confidence are correct more often.
order = given.confidence.argsort()
figure, ax = plt.subplots(figsize=(6, 3), layout="constrained")
parts = np.array_split(order, 5)
ax.bar(range(5), [right[p].mean() for p in parts])
ax.set_xticks(range(5), [f"{given.confidence[p].mean():.2f}" for p in parts])
ax.set(xlabel="mean confidence of a fifth of the new digits", ylabel="share in the right cluster", ylim=(0, 1))

# %%
# The saved model can also be used by the program: ``ddsc assign model.npz new.npz``.
with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(record=True):
    model.save(os.path.join(folder, "model.npz"))
    again = ddsc.DDSC.load(os.path.join(folder, "model.npz"))
    print("the same labels after loading:", (again.predict(new) == given.labels).all())

# %%
# Add the new digits to the fit. ``update`` computes only the neighbor lists that change, and clusters keep their
# numbers. ``ddsc.diff`` compares the result with the first model. It matches clusters by their shared items and lists
# the clusters that split or merged and the items that moved.
updated = model.update(new)
changes = ddsc.diff(model, updated)
changes

# %%
# Draw the flow of the items, and print it as tables.
ddsc.plot.diff(changes)

# %%
changes.clusters[["kind", "cluster", "size", "shared", "overlap"]].round(2)

# %%
changes.moves.head()
