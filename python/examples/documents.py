# %% [markdown]
# # Documents as distributions over word vectors
# A sports report is represented by the cloud of its GloVe word vectors, weighted by tf-idf. Two
# documents are close if the words of one can be moved to those of the other at low cost.
# Usage: python documents.py [FOLDER FOR PICTURES]

# %%
import os
import pathlib
import sys

import matplotlib

matplotlib.use("Agg")
import numpy as np

import ddsc

data = pathlib.Path(os.environ.get("DDSC_DATA", "../shared/data")) / "text"
out = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")

# %% Read the documents. Word vectors are fitted to the documents. With words="general", the vectors are not changed.
X = ddsc.read_text(
    data / "bbcsport.tsv.gz",
    data / "glove.6B.100d.subset.txt.gz",
    stopwords=data / "stoplist2.txt",
    on_empty="drop",
)
print(X)

# %% Cluster with exact W2. Lower bounds exclude most pairs, which are never solved.
model = ddsc.DDSC(n_clusters=5, metric="w2").fit(X)
print(f"AMI {ddsc.adjusted_mutual_info_score(X.labels, model.labels_):.2f}")
solved = model.stats_["n_solved"] / model.stats_["n_pairs"]
print(f"solved {100 * solved:.0f}% of the pairs")

# %% Print the sports in each cluster.
for cluster in range(model.n_clusters_):
    sports, counts = np.unique(X.labels[model.labels_ == cluster], return_counts=True)
    order = np.argsort(-counts)
    print(cluster, ", ".join(f"{sports[i]} {counts[i]}" for i in order))

# %% Plot the map, colored by the true class, and the distances of every fourth document, sorted by cluster.
ddsc.plot.embedding(model, labels=X.labels).figure.savefig(out / "documents_map.png", dpi=100)
some = np.flatnonzero(model.labels_ >= 0)[::4]
D = ddsc.pairwise(X[some])
ddsc.plot.distances(D, model.labels_[some]).figure.savefig(out / "documents_distances.png", dpi=100)
