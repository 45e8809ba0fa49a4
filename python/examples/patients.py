# %% [markdown]
# # Patients as clouds of cells
# The data are blood samples of eight donors, with and without stimulation of the B cell receptor, measured by mass
# cytometry (Bodenmiller et al. 2012). There are 16 samples of 2,000 cells with 24 markers. Each sample is the cloud of
# its cells. The clusters, computed without labels, separate the stimulated samples from the references for all donors.
# Usage: python patients.py [FOLDER FOR PICTURES]

# %%
import csv
import gzip
import os
import pathlib
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import ddsc

data = pathlib.Path(os.environ.get("DDSC_DATA", "../shared/data")) / "cytometry"
out = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")

# %% Read the table, with one row per cell. (With pandas: ddsc.Distributions.from_frame(cells, "sample").)
with gzip.open(data / "pbmc8-bcrxl.tsv.gz", "rt", newline="") as file:
    table = csv.reader(file, delimiter="\t")
    markers = next(table)[3:]
    rows = [(row[0], row[2], row[3:]) for row in table]
samples = list(dict.fromkeys(sample for sample, _, _ in rows))
conditions = {sample: condition for sample, condition, _ in rows}
cells = np.arcsinh(np.array([values for _, _, values in rows], dtype=float) / 5)
sample_of = np.array([sample for sample, _, _ in rows])
X = ddsc.Distributions(
    [cells[sample_of == s][:500] for s in samples],
    ids=samples,
    labels=[conditions[s] for s in samples],
)
print(X)

# %% Cluster with linear optimal transport, which solves one exact transport per sample.
model = ddsc.DDSC(n_clusters=2, metric="lot", n_neighbors=5).fit(X)
print(f"AMI {ddsc.adjusted_mutual_info_score(X.labels, model.labels_):.2f} with the stimulation")
for sample, label in zip(samples, model.labels_):
    print(f"  {sample:14s} cluster {label}")

# %% Print the markers that differ most between the clusters: differences of means in standard deviations.
means = np.array([points.mean(axis=0) for points, _ in X])
spread = means.std(axis=0)
change = means[model.labels_ == 1].mean(axis=0) - means[model.labels_ == 0].mean(axis=0)
order = np.argsort(-np.abs(change / spread))
print("strongest markers:", ", ".join(markers[i] for i in order[:5]))

# %% Plot the embedding of the samples and the distances between them.
figure, (left, right) = plt.subplots(1, 2, figsize=(12, 5), layout="constrained")
ddsc.plot.embedding(model, labels=X.labels, ids=[s.split("_")[0] for s in samples], ax=left)
D = ddsc.pairwise(X, metric="lot")
ddsc.plot.distances(D, X.labels, ax=right)
left.set_title("colored by condition, which was not used")
right.set_title("distances between samples")
figure.savefig(out / "patients.png", dpi=100)
