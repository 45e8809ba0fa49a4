"""
Documents as clouds of sentences
================================

A sentence encoder turns a document into the cloud of its sentence vectors. Any function that maps a list of sentences
to a list of vectors can be used.
"""

# %%
# A typical encoder is ``SentenceTransformer(...).encode``. To avoid a download, this example
# defines a simple one: the mean of the word vectors learned from the documents.
import re

import numpy as np

import ddsc

found = ddsc.datasets.load_texts()
words = ddsc.datasets.load_documents(support=0)
vector = dict(zip(words.point_names, words.support))


def encode(sentences):
    rows = []
    for sentence in sentences:
        known = [vector[w] for w in re.findall(r"[a-z']+", sentence.lower()) if w in vector]
        rows.append(np.mean(known, axis=0) if known else np.zeros(words.dim))
    return rows


# %%
# Each point represents a sentence, which is the name of the point. The weight of a sentence is
# its length.
X = ddsc.Distributions.from_texts(found.texts, encode, ids=found.ids, labels=found.labels)
X = X.described(titles=found.titles)
print(X)

# %%
# Cluster the documents. Typical sentences describe a cluster better than single words.
model = ddsc.DDSC(n_clusters=5).fit(X)
print(f"AMI with the subjects: {ddsc.adjusted_mutual_info_score(X.labels, model.labels_):.2f}")
for cluster in model.explain():
    print(f"cluster {cluster['label']}: {cluster['words'][0]['word']}")

# %%
# The transport plan between two documents shows which sentences correspond. The following plan is between the two
# closest documents.
D = ddsc.pairwise(X)
np.fill_diagonal(D, np.inf)
a, b = np.unravel_index(D.argmin(), D.shape)
(p, v), (q, w) = X[a], X[b]
cost = ((p[:, None] - q[None]) ** 2).sum(axis=2)
plan = ddsc.emd(v, w, cost, full=True).plan
name = {row.tobytes(): text for row, text in zip(X.support, X.point_names)}
print(f"{X.ids[a]} and {X.ids[b]}")
for i, j in zip(*np.nonzero(plan > 0.05)):
    print(f"{plan[i, j]:5.0%}  {name[p[i].tobytes()]}\n    -> {name[q[j].tobytes()]}")

# %%
# Plot the distances between all documents, sorted by cluster.
np.fill_diagonal(D, 0)
ax = ddsc.plot.distances(D, model)
