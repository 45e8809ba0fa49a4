"""
Documents as clouds of words
============================

A document is the cloud of the vectors of its words. Two texts are near when the words of the one
lie near those of the other, even if they share none.
"""

# %%
# A hundred short texts on five subjects. Where no file of word vectors is given, the vectors are
# learnt from the documents themselves. For your own texts: ``ddsc.read_text("docs.tsv")``, better
# with GloVe or word2vec vectors.
import ddsc

X = ddsc.datasets.load_documents()
print(X)
print(ddsc.datasets.load_texts().texts[0])

# %%
# Cluster, and ask what the clusters are about.
model = ddsc.DDSC(n_clusters=5).fit(X)
for cluster in model.explain():
    words = ", ".join(w["word"] for w in cluster["words"][:6])
    print(f"cluster {cluster['label']} ({cluster['size']} documents): {words}")

# %%
# How well does that match the subjects? The verdict is careful: a hundred items are few to tell a
# gap from chance.
print(f"AMI with the subjects: {ddsc.adjusted_mutual_info_score(X.labels, model.labels_):.2f}")
print(model.verdict_["text"])

# %%
# The embedding, coloured by the true subject. Every fifth document has two of its six sentences
# from another subject: these lie between the groups.
ax = ddsc.plot.embedding(model, labels=X.labels)

# %%
# The documents in doubt, and where they might belong instead.
table = model.items_
for i in table["doubt"].argsort()[::-1][:5]:
    print(f"{table['id'][i]:14} is in cluster {table['label'][i]}, nearly in {table['next'][i]} "
          f"(doubt {table['doubt'][i]:.2f})")
