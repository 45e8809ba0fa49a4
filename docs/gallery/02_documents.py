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
print(X)
print(ddsc.datasets.load_texts().texts[0])

# %%
# Cluster the documents, and describe each cluster by its distinctive words.
model = ddsc.DDSC(n_clusters=5).fit(X)
for cluster in model.explain():
    words = ", ".join(w["word"] for w in cluster["words"][:6])
    print(f"cluster {cluster['label']} ({cluster['size']} documents): {words}")

# %%
# Compare the clusters with the subjects. The verdict is cautious, because a hundred items are too
# few to distinguish a gap from chance.
print(f"AMI with the subjects: {ddsc.adjusted_mutual_info_score(X.labels, model.labels_):.2f}")
print(model.verdict_["text"])

# %%
# Plot the embedding, colored by the true subject. In every fifth document, two of the six sentences
# are from another subject. These documents lie between the clusters.
ax = ddsc.plot.embedding(model, labels=X.labels)

# %%
# List the most ambiguous documents with their cluster and the next nearest cluster.
table = model.items_
for i in table["ambiguity"].argsort()[::-1][:5]:
    print(f"{table['id'][i]:14} is in cluster {table['label'][i]}, nearly in {table['next'][i]} "
          f"(ambiguity {table['ambiguity'][i]:.2f})")
