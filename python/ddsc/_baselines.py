"""Implements the baselines: k-means and spectral clustering of plain vectors, and D2 and PD2 clustering."""

from __future__ import annotations

from typing import Any, Dict, NamedTuple, Optional, Tuple

import numpy as np

from . import _core
from ._distributions import Distributions
from ._run import Run
from ._types import Array
from ._words import BARYCENTERS, CENTERS, VECTORS, cluster_settings, cost_settings, whole, word

KMEANS_RESTARTS = 30


class Partition(NamedTuple):
    """The result of a method without a graph."""

    found: Any
    """The library's result, from which the report is created."""
    labels: Array
    k: int
    inertia: float
    converged: bool
    centers: Optional[Distributions]


def more_settings(estimator: Any) -> Dict[str, Any]:
    """Return the settings of a baseline as the program writes them to result.json."""
    told: Dict[str, Any] = {}
    if estimator.method == "d2":
        told["barycenter"] = estimator.barycenter
    if estimator.method in ("d2", "pd2"):
        if estimator.cost is not None:
            told["cost"] = estimator.cost if isinstance(estimator.cost, str) else "matrix"
        told["center_size"] = estimator.center_size or "auto"
        told["restarts"] = estimator.restarts or "auto"
    if estimator.method in ("kmeans", "sc"):
        told["vectors_from"] = estimator.vectors_from
    return told


def check_baseline(estimator: Any) -> None:
    """Check that the parameters are valid for a method other than "ddsc"."""
    method = estimator.method
    if estimator.metric == "precomputed":
        raise ValueError(f"method={method!r} needs items, which metric='precomputed' does not provide")
    for name in ("stability", "resume") if method in ("d2", "pd2") else ("stability", "resume", "cost"):
        if getattr(estimator, name) is not None:
            raise ValueError(f"{name} requires method='ddsc', but the method is {method!r}")
    if method != "sc":
        if estimator.outliers:
            raise ValueError(f"outliers requires a graph, which method={method!r} does not compute")
        low_high = cluster_settings(estimator.n_clusters, "auto", False, 0.2)
        if low_high["k_min"] != low_high["k_max"] or low_high["k_min"] < 1:
            raise ValueError(f"method={method!r} needs a single number of clusters, such as n_clusters=5")


def vectors(run: Run, measures: Any, vectors_from: Any) -> Array:
    """Return one vector for each item."""
    return np.asarray(run(_core.vectors, measures, word("vectors_from", vectors_from, VECTORS)))


def partition(run: Run, measures: Any, estimator: Any) -> Partition:
    """Cluster vectors by k-means, or items around barycenters."""
    k = whole("n_clusters", estimator.n_clusters)
    restarts = estimator.restarts
    if restarts is not None and whole("restarts", restarts) < 1:
        raise ValueError(f"restarts={restarts}: must be at least 1")
    if estimator.method == "kmeans":
        rows = vectors(run, measures, estimator.vectors_from)
        labels = np.empty(len(rows), np.int32)
        inertia = run(_core.kmeans, labels, rows, k, restarts or KMEANS_RESTARTS)
        return Partition((labels, inertia), labels, k, inertia, True, None)
    found = run(_core.d2, measures, _d2_settings(estimator, k))
    view = _core.d2_view(found)
    objective = float(np.asarray(view["objective"])[-1])
    labels = np.array(view["labels"])
    centers = _centers(view)
    return Partition(found, labels, int(view["k"]), objective, bool(view["converged"]), centers)


def _d2_settings(estimator: Any, k: int) -> Dict[str, Any]:
    projected = estimator.method == "pd2"
    centers = word("barycenter", estimator.barycenter, CENTERS)
    settings: Dict[str, Any] = {"k": k, "method": BARYCENTERS["projected"] if projected else centers}
    if estimator.center_size is not None:
        settings["support_size"] = whole("center_size", estimator.center_size)
        if settings["support_size"] < 1:
            raise ValueError(f"center_size={estimator.center_size}: must be at least 1, or None")
    if estimator.restarts is not None:
        settings["restarts"] = estimator.restarts
    return {**settings, **cost_settings(estimator.cost)}


def _centers(view: Dict[str, Any]) -> Distributions:
    shape: Tuple[int, int] = (int(view["k"]), int(view["center_size"]))
    points = np.array(view["support"]).reshape(*shape, -1)
    return Distributions(points, list(np.array(view["weights"]).reshape(shape)))
