# %% [markdown]
# # Documents as distributions over word vectors
# A sports report is the cloud of its words, placed by GloVe and weighted by tf-idf. Two documents
# are near when the words of one can be moved to those of the other at little cost.
# Run: python documents.py [FOLDER FOR PICTURES]

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

# %% Vectors are fitted to the documents; words="general" leaves them as they are.
X = ddsc.read_text(
    data / "bbcsport.tsv.gz",
    data / "glove.6B.100d.subset.txt.gz",
    stopwords=data / "stoplist2.txt",
    on_empty="drop",
)
print(X)

# %% Exact W2: most pairs are ruled out by bounds and never solved.
model = ddsc.DDSC(n_clusters=5, metric="w2").fit(X)
print(f"AMI {ddsc.adjusted_mutual_info_score(X.labels, model.labels_):.2f}")
solved = model.stats_["n_solved"] / model.stats_["n_pairs"]
print(f"solved {100 * solved:.0f}% of the pairs")

# %% Which sport is in which cluster?
for cluster in range(model.n_clusters_):
    sports, counts = np.unique(X.labels[model.labels_ == cluster], return_counts=True)
    order = np.argsort(-counts)
    print(cluster, ", ".join(f"{sports[i]} {counts[i]}" for i in order))

# %% The map, colored by the true class; distances of every fourth document, ordered by cluster.
ddsc.plot.embedding(model, labels=X.labels).figure.savefig(out / "documents_map.png", dpi=100)
some = np.flatnonzero(model.labels_ >= 0)[::4]
D = ddsc.pairwise(X[some])
ddsc.plot.distances(D, model.labels_[some]).figure.savefig(out / "documents_distances.png", dpi=100)
