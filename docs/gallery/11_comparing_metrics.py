"""
Comparing metrics
=================

Exact transport, entropic transport, MMD and linear optimal transport may produce different clusters. Without labels, it
is impossible to know which metric is best, but it is possible to measure how well the metrics agree.
"""

# %%
# Compare four metrics on the digits.
import matplotlib.pyplot as plt

import ddsc

X = ddsc.datasets.load_digits()[:300]
told = ddsc.compare(X, 10)
print(told["words"])

# %%
# *Stability* is the agreement with the clusters of subsamples with 80% of the items. *Agreement* is
# the agreement with the other metrics. The AMI is known because this set has labels.
print(f"{'metric':9} stability  agreement   AMI")
for row in told["metrics"]:
    print(f"{row['metric']:9} {row['stability']:9.2f}  {row['agreement']:9.2f}  {row['ami']:4.2f}")

# %%
# Plot the agreement of each pair of metrics.
names = [row["metric"] for row in told["metrics"]]
figure, ax = plt.subplots(figsize=(4.4, 3.6), layout="constrained")
picture = ax.imshow(told["ami"], vmin=0, vmax=1, cmap="Blues")
ax.set_xticks(range(len(names)), names)
ax.set_yticks(range(len(names)), names)
for i in range(len(names)):
    for j in range(len(names)):
        shade = "white" if told["ami"][i, j] > 0.6 else "black"
        ax.text(j, i, f"{told['ami'][i, j]:.2f}", ha="center", va="center", color=shade)
figure.colorbar(picture, label="AMI between metrics")

# %%
# If the metrics agree, use the fastest one. If they do not agree, inspect the items on which they differ in the report
# of each metric. :doc:`/metrics` shows how often the recommended metric is the best.
