"""
Blood samples as clouds of cells
================================

A sample measured by cytometry is thousands of cells, each a point whose coordinates are the
markers. What distinguishes samples is often a small part of their cells, which a mean over all
cells hides.
"""

# %%
# Sixteen donors, each at rest and stimulated, from a generator: stimulation raises one marker in B
# cells and another in monocytes; donors differ in the shares of their cells. Your own data:
# ``ddsc.read(["a.fcs", "b.fcs"], arcsinh=5)``, ``Distributions.from_frame`` for a long table,
# ``Distributions.from_anndata`` for AnnData.
import matplotlib.pyplot as plt
import numpy as np

import ddsc

X = ddsc.datasets.load_cells()
print(X)
print(X.coordinate_names)

# %%
# Two clusters, without a look at the labels.
model = ddsc.DDSC(n_clusters=2).fit(X)
print(f"AMI with the stimulation: {ddsc.adjusted_mutual_info_score(X.labels, model.labels_):.2f}")
means = [(weights @ points)[np.newaxis] for points, weights in X]
plain = ddsc.DDSC(n_clusters=2).fit_predict(means)
print(f"from the mean of each sample alone: {ddsc.adjusted_mutual_info_score(X.labels, plain):.2f}")

# %%
# Which markers tell the clusters apart? ``effect`` is in standard deviations, negative where values
# are lower. These were found on the data that made the clusters: they describe, and prove nothing.
for cluster in model.explain():
    told = ", ".join(f"{m['name']} {m['effect']:+.2f}" for m in cluster["markers"][:3])
    print(f"cluster {cluster['label']}: {told}")

# %%
# The two strongest markers, cell by cell, and the map of the samples.
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for c in (0, 1):
    cells = np.concatenate([X[int(i)][0] for i in np.flatnonzero(model.labels_ == c)])
    left.scatter(cells[:, 1], cells[:, 5], s=1, color=f"C{c}", label=f"cluster {c}")
left.set(xlabel="CD19 (B cells)", ylabel="pS6", title="B cells respond, at the right")
left.legend(markerscale=6)
ddsc.plot.embedding(model, labels=X.labels, ax=right)
right.set_title("samples, coloured by the truth")
