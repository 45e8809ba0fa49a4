"""
Shapes in 3-D
=============

Scanned objects are clouds of points on a surface. Two scans of one object may be rotated
differently, and a rotated object is a different cloud. If rotations are irrelevant, remove them
first.
"""

# %%
# Generate balls, rods and rings, each with its own proportions and a random rotation.
import matplotlib.pyplot as plt
import numpy as np

import ddsc

X = ddsc.datasets.load_shapes(3)
print(X)

figure = plt.figure(figsize=(9, 3))
for place, i in enumerate((0, 20, 40)):
    ax = figure.add_subplot(1, 3, place + 1, projection="3d")
    ax.scatter(*X[i][0].T, s=6, color=f"C{place}")
    ax.set(title=X.ids[i], xlim=(-1.5, 1.5), ylim=(-1.5, 1.5), zlim=(-1.5, 1.5))
    ax.set(xticklabels=[], yticklabels=[], zticklabels=[])
    ax.set_box_aspect((1, 1, 1))

# %%
# Without alignment, much of the distance between two shapes is due to their rotations.
model = ddsc.DDSC(n_clusters=3).fit(X)
print(f"as they are: AMI {ddsc.adjusted_mutual_info_score(X.labels, model.labels_):.2f}")

# %%
# ``align="principal"`` first rotates each shape to its principal axes. Other values of ``align`` remove location, size
# or slant.
aligned = X.transformed(align="principal")
model = ddsc.DDSC(n_clusters=3).fit(aligned)
print(f"aligned: AMI {ddsc.adjusted_mutual_info_score(X.labels, model.labels_):.2f}")
print(model.verdict_["text"])

# %%
# The transform is stored with the model, so new shapes are transformed in the same way.
rng = np.random.default_rng(1)
along = rng.uniform(-1.4, 1.4, 150)
around = rng.uniform(0, 2 * np.pi, 150)
rod = np.column_stack([along, 0.5 * np.cos(around), 0.5 * np.sin(around)])
print("a new rod is in the cluster of", X.labels[model.labels_ == model.predict([rod])[0]][0])

# %%
# Plot the distances between all shapes after alignment. They form three blocks.
ax = ddsc.plot.distances(ddsc.pairwise(aligned), X.labels)
