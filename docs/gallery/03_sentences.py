"""
Documents as clouds of sentences
================================

With a sentence encoder a document becomes the cloud of its sentences. Any encoder will do: a
function that takes a list of sentences and gives one vector for each.
"""

# %%
# Usually that is ``SentenceTransformer(...).encode``. To need no download, this example makes its
# own: the mean of the word vectors that were learnt from the documents.
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
# Sentences are the points, and stay as their names; a sentence counts by its length.
X = ddsc.Distributions.from_texts(found.texts, encode, ids=found.ids, labels=found.labels)
X = X.described(titles=found.titles)
print(X)

# %%
# Cluster. Sentences that are typical of a cluster describe it better than single words.
model = ddsc.DDSC(n_clusters=5).fit(X)
print(f"AMI with the subjects: {ddsc.adjusted_mutual_info_score(X.labels, model.labels_):.2f}")
for cluster in model.explain():
    print(f"cluster {cluster['label']}: {cluster['words'][0]['word']}")

# %%
# Which sentences of a document go where? The transport between two documents says it: here those of
# one document and of its nearest neighbour.
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
# The distances between all documents, in the order of the clusters.
np.fill_diagonal(D, 0)
ax = ddsc.plot.distances(D, model)
