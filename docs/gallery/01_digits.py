"""
Handwritten digits
==================

An image is a cloud of its inked pixels. Two images of a digit that is slightly shifted or slanted
share few pixels, but little has to be moved to turn the one into the other.
"""

# %%
# Five hundred digits of 8 x 8 pixels. The labels are known, but used for the score alone.
import matplotlib.pyplot as plt

import ddsc

X = ddsc.datasets.load_digits()
print(X)

# %%
# Ten clusters by the exact 2-Wasserstein distance, everything else by default.
model = ddsc.DDSC(n_clusters=10).fit(X)
print(model.verdict_["text"])
print(f"AMI with the true digits: {ddsc.adjusted_mutual_info_score(X.labels, model.labels_):.2f}")

# %%
# Some items of each cluster. They are drawn at random, not picked.
figure = ddsc.plot.clusters(X, model, n_each=10)

# %%
# A page with a map, typical and doubtful items and everything else there is to say:
# ``model.report("page.html")``. `This is the one of these digits <../report-digits.html>`_.
#
# Is it worth the trouble? The same images as plain rows of 64 numbers, in scikit-learn's k-means.
# (The transport sees that neighbouring pixels are neighbours; k-means does not.)
import numpy as np
from sklearn.cluster import KMeans

rows = np.zeros((len(X), 8, 8))
for i, (points, weights) in enumerate(X):
    rows[i][tuple(points.astype(int).T)] = weights
plain = KMeans(10, n_init=10, random_state=0).fit_predict(rows.reshape(len(X), 64))
print(f"k-means on the pixels: {ddsc.adjusted_mutual_info_score(X.labels, plain):.2f}")

# %%
# Where it goes wrong: the items that lie nearly between two clusters. ``doubt_`` is 1/2 for an item
# that is as near to another centre as to its own.
doubtful = np.argsort(-model.doubt_)[:8]
figure, boxes = plt.subplots(1, 8, figsize=(9, 1.6), layout="constrained")
for box, i in zip(boxes, doubtful):
    box.imshow(rows[i], cmap="gray_r")
    box.set_title(f"a {X.labels[i]}, doubt {model.doubt_[i]:.2f}", fontsize=7)
    box.axis("off")
