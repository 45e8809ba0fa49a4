"""
What optimal transport measures
===============================

Optimal transport measures the difference between two clouds of points: the cost of the cheapest plan that moves the
points of one cloud onto those of the other.
"""

# %%
# Create two small clouds. Each point has a weight, and the weights of a cloud sum to one.
import matplotlib.pyplot as plt
import numpy as np

import ddsc

rng = np.random.default_rng(4)
bakeries = rng.normal([0, 0], 0.8, (6, 2))
cafes = rng.normal([2.5, 0.5], 0.8, (9, 2))
bread = np.full(6, 1 / 6)        # amount baked by each bakery
eaten = np.full(9, 1 / 9)        # amount needed by each cafe

# %%
# The cost of moving one unit from a bakery to a cafe is the squared distance between them. ``emd``
# computes the cheapest plan.
cost = ((bakeries[:, None] - cafes[None]) ** 2).sum(axis=2)
best = ddsc.emd(bread, eaten, cost, full=True)
print(f"cheapest total cost {best.value:.3f}, W2 distance {np.sqrt(best.value):.3f}")
print(f"proof: no plan can cost less than {best.dual:.3f}")

# %%
# The plan contains the amount moved from each bakery to each cafe. Wider lines mean more bread.
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for i, j in zip(*np.nonzero(best.plan)):
    ax.plot(*np.transpose([bakeries[i], cafes[j]]), color="0.6", linewidth=25 * best.plan[i, j], zorder=1)
ax.scatter(*bakeries.T, s=1200 * bread, color="C1", label="bakeries", zorder=2)
ax.scatter(*cafes.T, s=1200 * eaten, color="C0", label="cafes", zorder=2)
ax.set_aspect("equal")
ax.legend()

# %%
# In practice, no cost matrix is needed: ``ddsc.pairwise`` computes the distances between many
# clouds, and ``ddsc.DDSC`` clusters clouds without computing all of these distances.
print(ddsc.pairwise([bakeries, cafes]).round(3))
