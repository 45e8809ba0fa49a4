"""
Comparing metrics
=================

Exact transport, entropic transport, MMD, linear transport: does it matter which one? Without labels
nobody can tell which is best, but one can see whether they agree.
"""

# %%
# The digits once more, all four metrics beside each other.
import matplotlib.pyplot as plt

import ddsc

X = ddsc.datasets.load_digits()[:300]
told = ddsc.compare(X, 10)
print(told["words"])

# %%
# *Stability*: agreement with what parts of four fifths of the items give alone. *Agreement*: with
# the other metrics. AMI is shown because this set has labels.
print(f"{'metric':9} stability  agreement   AMI")
for row in told["metrics"]:
    print(f"{row['metric']:9} {row['stability']:9.2f}  {row['agreement']:9.2f}  {row['ami']:4.2f}")

# %%
# How much each pair of metrics agrees.
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
# Where they agree, take the fastest. Where they do not, look at the items on which they differ, in
# the report of each. The advice itself is no better than always taking ``w2``: see the guide.
