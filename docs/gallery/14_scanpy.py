"""
Samples of cells in AnnData and scanpy
======================================

ddsc reads cells from an AnnData object, clusters the samples, and returns the samples as another AnnData object, which
scanpy uses without conversion. This example requires ``scanpy`` (with ``igraph`` and ``leidenalg``). It is run with the
newest version in the tests, and when the site is built if scanpy is installed.
"""

# %%
# Generate 32 samples with 150 cells each: the samples of sixteen donors at rest and after stimulation. The columns of
# ``obs`` contain the sample of each cell and metadata about the samples.
import anndata
import numpy as np
import pandas as pd
import scanpy as sc

import ddsc

generated = ddsc.datasets.load_cells(n_cells=150)
rows = np.repeat(np.arange(len(generated)), 150)
obs = pd.DataFrame(
    {
        "sample": np.array(generated.ids)[rows],
        "condition": np.asarray(generated.labels)[rows],
        "age": 30 + rows // 2,
    },
    index=[f"cell{i}" for i in range(len(rows))],
)
values = np.concatenate([points for points, _ in generated])
cells = anndata.AnnData(values, obs=obs, var=pd.DataFrame(index=generated.coordinate_names))
cells

# %%
# Each sample becomes the cloud of its cells. ``age`` is constant within samples, so it becomes metadata. ``condition``
# is the known class, which is used for scores and figures but never for clustering.
X = ddsc.Distributions.from_anndata(cells, "sample", label="condition")
X

# %%
# Cluster the samples. In a notebook, a model shows its verdict, its clusters and a small map.
model = ddsc.DDSC(n_clusters=2).fit(X)
model

# %%
# Show the clusters as a DataFrame, and the markers that distinguish them.
model.clusters_

# %%
model.explain_frame().head(6)

# %%
# ``to_anndata`` returns one row per sample, with the graph, the embedding, the map and the colors of the report.
samples = model.to_anndata(X)
samples

# %%
samples.obs[["class", "age", "cluster", "ambiguity", "order"]].head()

# %%
# scanpy draws the samples in the colors of the report.
sc.pl.embedding(samples, "X_ddsc_map", color=["cluster", "class"], size=400)

# %%
# The algorithms of scanpy use the graph of ddsc, so ``sc.pp.neighbors`` is not needed.
sc.tl.leiden(samples, flavor="igraph", n_iterations=2, directed=False)
sc.tl.umap(samples)
sc.tl.diffmap(samples)
sc.tl.dpt(samples)
sc.pl.umap(samples, color=["leiden", "cluster", "dpt_pseudotime"], size=400)

# %%
sc.pl.dendrogram(samples, "cluster")

# %%
# Copy the clusters of the samples to their cells.
model.label_cells(cells, "sample")
cells.obs[["sample", "ddsc_cluster", "ddsc_ambiguity"]].head()

# %%
# Save the samples. A notebook cell that writes a file can be run again with ``overwrite=True``, and ``write_h5ad``
# always overwrites.
samples.write_h5ad("samples.h5ad")
model.save("samples-model.npz", overwrite=True)
