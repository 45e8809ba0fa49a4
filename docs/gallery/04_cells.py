"""
Blood samples as clouds of cells
================================

A sample measured by cytometry consists of thousands of cells. Each cell is a point whose coordinates are the markers.
Samples often differ in only a small fraction of their cells, which the mean over all cells does not show.
"""

# %%
# Generate samples of sixteen donors, one at rest and one stimulated for each donor. Stimulation
# raises one marker in B cells and another in monocytes. Donors also differ in the fractions of
# their cell types. To load your own data, use ``ddsc.read(["a.fcs", "b.fcs"], arcsinh=5)``,
# ``Distributions.from_frame`` for a long table, or ``Distributions.from_anndata`` for AnnData.
import matplotlib.pyplot as plt
import numpy as np

import ddsc

X = ddsc.datasets.load_cells()
print(X)
print(X.coordinate_names)

# %%
# Compute two clusters without using the labels.
model = ddsc.DDSC(n_clusters=2).fit(X)
print(f"AMI with the stimulation: {ddsc.adjusted_mutual_info_score(X.labels, model.labels_):.2f}")
means = [(weights @ points)[np.newaxis] for points, weights in X]
plain = ddsc.DDSC(n_clusters=2).fit_predict(means)
print(f"from the mean of each sample alone: {ddsc.adjusted_mutual_info_score(X.labels, plain):.2f}")

# %%
# List the markers that distinguish the clusters. ``effect`` is in standard deviations and is negative if the values are
# lower. The effects were computed from the same data as the clusters, so they describe the clusters but test nothing.
for cluster in model.explain():
    told = ", ".join(f"{m['name']} {m['effect']:+.2f}" for m in cluster["markers"][:3])
    print(f"cluster {cluster['label']}: {told}")

# %%
# Plot the cells of each cluster by two markers, and the embedding of the samples.
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for c in (0, 1):
    cells = np.concatenate([X[int(i)][0] for i in np.flatnonzero(model.labels_ == c)])
    left.scatter(cells[:, 1], cells[:, 5], s=1, color=f"C{c}", label=f"cluster {c}")
left.set(xlabel="CD19 (B cells)", ylabel="pS6", title="B cells respond, at the right")
left.legend(markerscale=6)
ddsc.plot.embedding(model, labels=X.labels, ax=right)
right.set_title("samples, colored by the truth")
