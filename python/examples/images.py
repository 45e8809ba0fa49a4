# %% [markdown]
# # Handwritten digits as distributions
# Each image is a cloud of its inked pixels, weighted by their intensity. The method uses only the images and the number
# of clusters.
# Usage: python images.py [FOLDER FOR PICTURES]

# %%
import os
import pathlib
import sys

import matplotlib

matplotlib.use("Agg")
import ddsc

data = pathlib.Path(os.environ.get("DDSC_DATA", "../shared/data")) / "mnist"
out = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")

# %% Read 500 images. The labels are used only for the score.
X = ddsc.read(data / "t10k-images-idx3-ubyte.gz", labels=data / "t10k-labels-idx1-ubyte.gz")[:500]
print(X)

# %% Cluster with the maximum mean discrepancy, which takes about a second for hundreds of images.
model = ddsc.DDSC(n_clusters=10, metric="mmd").fit(X)
print(f"AMI {ddsc.adjusted_mutual_info_score(X.labels, model.labels_):.2f}")
print(f"purity {ddsc.purity_score(X.labels, model.labels_):.2f}")

# %% Plot some images of each cluster, the map of all images and the eigenvalues.
ddsc.plot.clusters(X, model, n_each=12).figure.savefig(out / "images_clusters.png", dpi=100)
ddsc.plot.embedding(model).figure.savefig(out / "images_embedding.png", dpi=100)
ddsc.plot.eigengap(model, n=20).figure.savefig(out / "images_eigengap.png", dpi=100)

# %% Assign new images to the clusters without fitting again.
new = ddsc.read(data / "t10k-images-idx3-ubyte.gz", labels=data / "t10k-labels-idx1-ubyte.gz")[
    500:600
]
found = model.assign(new)
print(f"new images: AMI {ddsc.adjusted_mutual_info_score(new.labels, found.labels):.2f}")
print(f"least certain: image {int(found.confidence.argmin())}")
