"""
Thousands of items
==================

Three thousand items have four and a half million pairs. Most of them need not be solved: cheap lower bounds show that they cannot be
among the nearest neighbours, and the neighbour graph is exactly the one of the full matrix.
"""

# %%
# Three thousand clouds of 20 points in six groups.
import time

import matplotlib.pyplot as plt

import ddsc

X = ddsc.make_gaussians(k=6, n=500, n_points=20, separation=3.0)
print(X)

# %%
# Exact W2. ``stats_`` tells how many transport problems had to be solved.
model = ddsc.DDSC(n_clusters=6).fit(X)
pairs = len(X) * (len(X) - 1) // 2
print(f"{pairs:,} pairs, solved {model.stats_['n_solved']:,} ({model.stats_['n_solved'] / pairs:.2%})")
print(f"AMI {ddsc.adjusted_mutual_info_score(X.labels, model.labels_):.3f}")

# %%
# Growth with the number of items, exact and by linear transport, which solves one problem per item instead of some per
# item.
sizes = (500, 1000, 1500, 3000)
figure, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
for metric in ("w2", "lot"):
    times = []
    for size in sizes:
        part = X[:: len(X) // size]
        begin = time.perf_counter()
        ddsc.neighbors(part, metric=metric)
        times.append(time.perf_counter() - begin)
    ax.loglog(sizes, times, "o-", label=metric)
ax.loglog(sizes, [times[0] * (s / 500) ** 2 for s in sizes], ":", color="0.6", label="square of the number of items")
ax.set(xlabel="items", ylabel="seconds for the graph", xticks=sizes, xticklabels=sizes)
ax.minorticks_off()
ax.legend()

# %%
# When that is still too slow: ``metric="lot"`` or ``"mmd"``, ``compress=50`` for items of many points, or fitting a part and
# giving the rest to ``predict``:
part = ddsc.DDSC(n_clusters=6).fit(X[::6])
rest = part.predict(X)
print(f"fitted on 500, given to all 3,000: AMI {ddsc.adjusted_mutual_info_score(X.labels, rest):.3f}")
