"""A user program for type checkers, which is never run."""
from __future__ import annotations

import numpy as np
from typing_extensions import assert_type

import ddsc

rng = np.random.default_rng(0)
items = [rng.normal(size=(5, 2)) for _ in range(9)]
model = ddsc.DDSC(n_clusters=2, metric="w2", gamma=0.5, hubs="off").fit(items)
model.fit([(i, None) for i in items]).fit({"a": items[0], "b": items[1]})
ddsc.DDSC("auto", metric="w2+mmd+lot", method="d2", n_neighbors=4).set_params(n_clusters=3)
ddsc.DDSC((2, 5), metric="precomputed").fit(ddsc.pairwise(items)).fit(ddsc.neighbors(items))
assert_type(ddsc.emd(None, None, np.eye(2)), float)
assert_type(ddsc.emd(None, None, np.eye(2), full=True), ddsc.Transport)
assert_type(ddsc.sinkhorn([0.5, 0.5], None, np.eye(2), full=True), ddsc.Transport)
total: float = ddsc.sinkhorn(None, None, np.eye(2)) + ddsc.mmd(items[0], items[1])
X = ddsc.Distributions(items, ids=range(9), labels=[0, 1, 2] * 3)
assert_type(X[:3], ddsc.Distributions)
points, weights = X[0]
assert_type(model.n_clusters_, int)
assert_type(model.predict(X).dtype, "np.dtype[np.int32]")
print(model.ambiguity_.max(), model.verdict_["text"], model.sweep_[0]["gap"], model.items_["label"])
print(model.assign(X).far.any(), ddsc.compare(X, 2)["recommended"], model.graph_.indptr[0])
with model.open_index() as index:
    index.insert(items[:1], ids=["a"])
    index.remove([0, "a"])
    assert_type(index, ddsc.Index)
    print(index.graph_.indptr[0], index.ids[0])
print(ddsc.LinearOT(reference=items[0]).fit(X).transform(X).shape, points.shape, weights.sum())

# Every line below contains an error that a type checker must find.
ddsc.DDSC(metric="wasserstien")  # wrong
ddsc.DDSC(n_clusters="five")  # wrong
ddsc.DDSC(hubs="sometimes")  # wrong
ddsc.DDSC(methods="d2")  # wrong
ddsc.pairwise(items, metric="precomputed")  # wrong
ddsc.pairwise(items, mmd_kernell="energy")  # wrong
ddsc.neighbors(items, sinkhorn_value="blunt")  # wrong
ddsc.emd(None, None, np.eye(2)).plan  # wrong
ddsc.read("x.npz", on_empty="ignore")  # wrong
ddsc.barycenter(items, method="adm")  # wrong
X.transformed(normalize="std")  # wrong
model.labels  # wrong
