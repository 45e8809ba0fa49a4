"""
Handwritten digits
==================

An image is a cloud of its inked pixels. Two images of the same digit may share few pixels if one of them is slightly
shifted or slanted, but little mass has to be moved to turn one image into the other.
"""

# %%
# Load five hundred digits of 8 x 8 pixels. The known labels are used only for the score.
import matplotlib.pyplot as plt

import ddsc

X = ddsc.datasets.load_digits()
X

# %%
# Compute ten clusters with the exact 2-Wasserstein distance and default settings. In a notebook, a
# model shows its verdict, a table of its clusters and a small map.
model = ddsc.DDSC(n_clusters=10).fit(X)
model

# %%
# If pandas is installed, ``clusters_`` and ``items_frame`` are DataFrames.
print(f"AMI with the true digits: {ddsc.adjusted_mutual_info_score(X.labels, model.labels_):.2f}")
model.clusters_[["cluster", "size", "ambiguity", "typical", "class", "class_share"]]

# %%
# Plot some items of each cluster. The items are drawn at random.
ddsc.plot.clusters(X, model, n_each=10)

# %%
# ``model.report("page.html")`` writes a page with a map, typical and ambiguous items, and other results. `See the page
# for these digits <../report-digits.html>`_.
#
# For comparison, cluster the same images as plain vectors of 64 numbers with scikit-learn's
# k-means. Transport distances use the positions of the pixels, but k-means does not.
import numpy as np
from sklearn.cluster import KMeans

rows = np.zeros((len(X), 8, 8))
for i, (points, weights) in enumerate(X):
    rows[i][tuple(points.astype(int).T)] = weights
plain = KMeans(10, n_init=10, random_state=0).fit_predict(rows.reshape(len(X), 64))
print(f"k-means on the pixels: {ddsc.adjusted_mutual_info_score(X.labels, plain):.2f}")

# %%
# Some items are between two clusters. ``ambiguity_`` is 1/2 for an item that is as close to another
# center as to its own.
ambiguous = np.argsort(-model.ambiguity_)[:8]
figure, boxes = plt.subplots(1, 8, figsize=(9, 1.6), layout="constrained")
for box, i in zip(boxes, ambiguous):
    box.imshow(rows[i], cmap="gray_r")
    box.set_title(f"a {X.labels[i]}, ambiguity {model.ambiguity_[i]:.2f}", fontsize=7)
    box.axis("off")
