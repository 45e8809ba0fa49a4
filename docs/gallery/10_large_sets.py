"""
Thousands of items
==================

Three thousand items have four and a half million pairs. Most of them need not be solved: cheap
lower bounds show that they cannot be among the nearest neighbours, and the neighbour graph is
exactly the one of the full matrix.
"""

# %%
# Three thousand clouds of 20 points in six groups.
import matplotlib.pyplot as plt

import ddsc

X = ddsc.make_gaussians(k=6, n=500, n_points=20, separation=3.0)
print(X)

# %%
# Exact W2 on growing parts of the set. ``stats_`` tells how many transport problems had to be
# solved.
sizes = (375, 750, 1500, 3000)
solved = []
for size in sizes:
    model = ddsc.DDSC(n_clusters=6).fit(X[:: len(X) // size])
    pairs = size * (size - 1) // 2
    solved.append(model.stats_["n_solved"])
    print(f"{size:5,} items: {pairs:9,} pairs, solved {solved[-1]:7,} ({solved[-1] / pairs:.0%})")
print(f"AMI of the last: {ddsc.adjusted_mutual_info_score(X.labels, model.labels_):.3f}")

# %%
# The larger the set, the smaller the part that has to be solved. How small depends on the data:
# these groups are round clouds of items that hardly differ, which is hard for the bounds. Of 70,000
# handwritten digits 0.07% of the pairs were solved.
figure, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
ax.loglog(sizes, [s * (s - 1) // 2 for s in sizes], ":", color="0.5", label="all pairs")
ax.loglog(sizes, solved, "o-", label="solved for the exact graph (w2)")
ax.loglog(sizes, sizes, "s-", label="solved for linear transport (lot)")
ax.set(xlabel="items", ylabel="transport problems")
ax.set_xticks(sizes, sizes)
ax.minorticks_off()
ax.legend()

# %%
# Linear transport solves one problem per item, and is an approximation.
fast = ddsc.DDSC(n_clusters=6, metric="lot").fit(X)
print(f"lot: AMI {ddsc.adjusted_mutual_info_score(X.labels, fast.labels_):.3f}")

# %%
# When that is still too slow: ``metric="mmd"``, ``compress=50`` for items of many points, or
# fitting a part and giving the rest to ``predict``:
part = ddsc.DDSC(n_clusters=6).fit(X[::6])
rest = part.predict(X)
print(f"fitted on 500, given to all 3,000: AMI {ddsc.adjusted_mutual_info_score(X.labels, rest):.3f}")
