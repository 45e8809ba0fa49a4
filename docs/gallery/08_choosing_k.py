"""
How many clusters?
==================

No rule finds the right number by itself. What there is: a table that shows what speaks for each
number, from one decomposition, and candidates worth a look.
"""

# %%
# Documents on five subjects, and no K given. ``"auto"`` tries 2 to 15, a pair of numbers a range.
import matplotlib.pyplot as plt

import ddsc

X = ddsc.datasets.load_documents()
model = ddsc.DDSC(n_clusters=(2, 12)).fit(X)
print("chosen:", model.n_clusters_)
for candidate in model.candidates_:
    print(candidate)

# %%
# The table. A wide *relative gap* (2 or more) after K says that K groups stand apart; *modularity*
# is how much more the network is joined inside clusters than chance would; *stability* is how well
# halves of the items agree.
print(" K  relative gap  modularity  stability")
for row in model.sweep_:
    print(f"{row['k']:2}  {row['relative_gap']:12.2f}  {row['modularity']:10.2f}  {row['stability']:9.2f}")

# %%
# The eigenvalues, and the gap after the chosen K.
ax = ddsc.plot.eigengap(model)

# %%
# A harder case: digits. Ones differ among themselves as much as some digits differ from each other,
# so several numbers are defensible. The labels of every K are kept, so trying them costs nothing.
digits = ddsc.datasets.load_digits()
model = ddsc.DDSC(n_clusters=(5, 15)).fit(digits)
print("chosen:", model.n_clusters_, "candidates:", [c["k"] for c in model.candidates_])
scores = [ddsc.adjusted_mutual_info_score(digits.labels, labels) for labels in model.sweep_labels_]
figure, ax = plt.subplots(figsize=(6, 3), layout="constrained")
ks = [row["k"] for row in model.sweep_]
ax.plot(ks, scores, "o-", label="AMI with the true digits (unknown in practice)")
ax.plot(ks, [row["modularity"] for row in model.sweep_], "s--", label="modularity")
ax.axvline(model.n_clusters_, color="0.7")
ax.set(xlabel="K", ylim=(0, 1))
ax.legend()

# %%
# On sixteen public sets that nobody had tuned on, the suggested number was right in a quarter of
# the cases and within one in under half. Look at the candidates and at the report before you
# believe a number.
