"""
Documents as clouds of words
============================

A document is the cloud of the vectors of its words. Two texts are close if the words of one are
close to the words of the other, even if the texts share no words.
"""

# %%
# Load a hundred short texts on five subjects. Without a file of word vectors, the vectors are
# learned from the documents. To read your own texts, use ``ddsc.read_text("docs.tsv")``, preferably
# with GloVe or word2vec vectors.
import ddsc

X = ddsc.datasets.load_documents()
print(ddsc.datasets.load_texts().texts[0])
X

# %%
# Cluster the documents, and describe each cluster by its distinctive words.
model = ddsc.DDSC(n_clusters=5).fit(X)
model.explain()

# %%
# ``explain_frame`` returns the same words as a table, with their share of a document's mass in the cluster and
# elsewhere.
model.explain_frame().groupby("cluster").head(2)

# %%
# Compare the clusters with the subjects. The verdict is cautious, because a hundred items are too
# few to distinguish a gap from chance.
print(f"AMI with the subjects: {ddsc.adjusted_mutual_info_score(X.labels, model.labels_):.2f}")
print(model.verdict_["text"])

# %%
# Plot the embedding, colored by the true subject. In every fifth document, two of the six sentences
# are from another subject. These documents are between the clusters.
ax = ddsc.plot.embedding(model, labels=X.labels)

# %%
# List the most ambiguous documents with their cluster and the nearest other cluster.
model.items_frame().nlargest(5, "ambiguity")[["id", "label", "next", "ambiguity", "neighbor1"]]
