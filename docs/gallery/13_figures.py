"""
All figures
===========

Every function of ``ddsc.plot`` accepts ``ax=`` and returns the Axes. Clusters have the same colors as in the report.
"""

# %%
# ``map`` places neighbors next to each other, as the report does. Words name the clusters.
import matplotlib.pyplot as plt

import ddsc

documents = ddsc.datasets.load_documents()
model = ddsc.DDSC(n_clusters=5).fit(documents)
ddsc.plot.map(model)

# %%
# ``about`` shows the distinctive words of each cluster, with their share of an item's mass and, in gray, their share in
# the other items.
ddsc.plot.about(model, n=6)

# %%
# For cells, ``about`` shows by how many standard deviations each marker differs.
cells = ddsc.datasets.load_cells()
ddsc.plot.about(ddsc.DDSC(n_clusters=2).fit(cells), n=6)

# %%
# ``clusters`` draws items of each cluster: images, points in the plane, or projections of points.
digits = ddsc.datasets.load_digits()[:200]
by_digit = ddsc.DDSC(n_clusters=8).fit(digits)
ddsc.plot.clusters(digits, by_digit, n_each=10)

# %%
# ``distances`` is a heat map, sorted by cluster. ``tree`` draws the average linkage of items, or the merges of the
# clusters of a model. Figures can share a page.
D = ddsc.pairwise(documents)
figure, boxes = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
ddsc.plot.distances(D, model, ax=boxes[0])
ddsc.plot.tree(by_digit, ax=boxes[1])

# %%
some = list(range(0, 100, 3))
ddsc.plot.tree(D[some][:, some], model.labels_[some], ids=[documents.titles[i] for i in some])

# %%
# ``embedding`` projects the spectral embedding, here colored by the known classes. ``eigengap`` shows the eigenvalues.
figure, boxes = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
ddsc.plot.embedding(model, labels=documents.labels, ax=boxes[0])
ddsc.plot.eigengap(model, ax=boxes[1])

# %%
# ``diff`` draws the changes between two results, here from five clusters to three.
ddsc.plot.diff(model, ddsc.DDSC(n_clusters=3).fit(documents))

# %%
# ``over`` draws the share of each cluster in each period of a column, with confidence intervals. Here, the periods are
# batches of twenty-five items in the order of the set.
batches = [f"batch {i // 25}" for i in range(len(documents))]
ddsc.plot.over(model, batches)
