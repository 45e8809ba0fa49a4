"""Converts option values to settings of the library. The values have the same names as on the command line."""

from __future__ import annotations

import difflib
import numbers
import re
from typing import Any, Dict, Tuple

import numpy as np

from ._arrays import as_doubles
from ._former import FORMER_VALUES

METRICS = {"w2": 0, "sinkhorn": 1, "mmd": 2, "lot": 3, "w1": 4}
COSTS = {"sqeuclidean": 1, "euclidean": 2, "cosine": 3, "cityblock": 4}
# Other common names of the metrics, used for suggestions in error messages.
ALSO_CALLED = {
    **dict.fromkeys("wasserstein wasserstein2 w emd emd2 ot exact kantorovich earth-mover earthmover".split(), "w2"),
    **dict.fromkeys("wasserstein1 wmd word-mover wordmover".split(), "w1"),
    **dict.fromkeys("entropic entropy cuturi".split(), "sinkhorn"),
    **dict.fromkeys("kernel energy gaussian".split(), "mmd"),
    **dict.fromkeys("linear linear-ot linearot".split(), "lot"),
    **{name: name for name in METRICS},
}
SINKHORN_VALUES = {"regularized": 0, "sharp": 1, "debiased": 2, "paper": 3}
KERNELS = {"gaussian": 0, "laplace": 1, "energy": 2}
ESTIMATORS = {"unbiased": 0, "biased": 1, "auto": 2}
BANDWIDTHS = {"auto": 0, "median": 1, "near": 3}
REFERENCES = {"normal": 0, "kmeans": 1, "auto": 3}
GRAPHS = {"auto": 0, "full": 1, "pruned": 2}
HUBS = {"off": 1, "auto": 2, "always": 3}
BARYCENTERS = {"admm": 0, "ibp": 1, "projected": 2}
REFINE = {"auto": 0, "off": 1, "words": 2}
GAMMAS = {"auto": 0, "median": 1, "local": 3}
METHODS = {"ddsc": 0, "kmeans": 1, "sc": 2, "d2": 3, "pd2": 4}
VECTORS = {"auto": 0, "histogram": 1, "mean": 2}
CENTERS = {"admm": 0, "ibp": 1}
WORDS = {"fitted": 0, "general": 1, "own": 2}
ON_EMPTY = {"error": 0, "drop": 1}
NORMALIZE = {"standard": 1, "robust": 2, "rank": 3}
ALIGN = {"center": 1, "size": 2, "deskew": 3, "principal": 4}
COST_MATRIX = 5
GIVEN = 2  # rule for a number (bandwidth, gamma) or measures (reference) passed by the caller


def word(name: str, value: Any, table: Dict[str, int]) -> int:
    """Return the library's code for an option value, or raise a ValueError that lists the valid values."""
    if isinstance(value, str) and FORMER_VALUES.get(value, value) in table:
        return table[FORMER_VALUES.get(value, value)]
    known = {**{name: name for name in table}, **(ALSO_CALLED if "w2" in table else {})}
    near = difflib.get_close_matches(value.lower(), known, n=1) if isinstance(value, str) else []
    hint = f" (did you mean {known[near[0]]!r}?)" if near else ""
    raise ValueError(f"{name}={value!r}: must be one of {', '.join(map(repr, table))}{hint}")


def one_metric(metric: Any, table: Dict[str, int] = METRICS) -> int:
    """Return the library's code for a metric. For other common names of a metric, the error message suggests the valid
    name."""
    meant = ALSO_CALLED.get(metric.lower()) if isinstance(metric, str) else None
    if meant is not None and metric not in table:
        raise ValueError(f"metric={metric!r}: did you mean {meant!r}?")
    if isinstance(metric, str) and metric in COSTS:
        raise ValueError(f"metric={metric!r}: this is a cost between points; did you mean metric='w1', cost={metric!r}?")
    if isinstance(metric, str) and "+" in metric:
        raise ValueError(f"metric={metric!r}: only DDSC accepts joined metrics; there is no joined distance")
    return word("metric", metric, table)


def check_metric(metric: Any) -> None:
    """Check the parameter `metric` of DDSC: a metric, several joined by "+", or "precomputed"."""
    if not isinstance(metric, str) or "+" not in metric:
        one_metric(metric, {**METRICS, "precomputed": -1})


def joined_metrics(metric: Any) -> Tuple[Any, int]:
    """Split "w2+mmd+lot" into the first metric and a bit mask of the others."""
    if not isinstance(metric, str) or "+" not in metric:
        return metric, 0
    first, *others = metric.split("+")
    if len({first, *others}) <= len(others):
        raise ValueError(f"metric={metric!r}: a metric appears twice")
    one_metric(first)
    return first, sum(1 << one_metric(m) for m in others)


def number(name: str, value: Any) -> float:
    if isinstance(value, numbers.Real) and not isinstance(value, bool):
        return float(value)
    raise ValueError(f"{name}={value!r}: must be a number")


def whole(name: str, value: Any) -> int:
    if isinstance(value, numbers.Integral) and not isinstance(value, bool):
        return int(value)
    raise ValueError(f"{name}={value!r}: must be an integer")


def points_kept(value: Any) -> Tuple[int, float]:
    """Parse `compress`: return the number of points and 0, or for "auto" and "95%" 0 and the fraction to keep."""
    if not isinstance(value, str):
        return whole("compress", value), 0.0
    match = re.fullmatch(r"(\d{1,3})%", "95%" if value == "auto" else value)
    if match is None or not 1 <= int(match[1]) <= 100:
        raise ValueError(f"compress={value!r}: must be an integer, 'auto' or a percentage from '1%' to '100%'")
    return 0, int(match[1]) / 100


def _epsilon(value: Any) -> Dict[str, Any]:
    """Parse epsilon: 5.0 is an absolute value, and "5%" a percentage of the median cost."""
    if isinstance(value, str) and value.strip().endswith("%"):
        try:
            return {"epsilon": float(value.strip()[:-1]), "epsilon_is_percent": 1}
        except ValueError:
            pass
    if isinstance(value, str):
        raise ValueError(f"epsilon={value!r}: must be a number, or a percentage such as '5%'")
    return {"epsilon": number("epsilon", value), "epsilon_is_percent": 0}


def _reference(value: Any) -> Dict[str, Any]:
    handle = getattr(value, "_handle", None)
    if handle is not None:
        return {"reference_rule": GIVEN, "reference_measures": handle}
    return {"reference_rule": word("reference", value, REFERENCES)}


def cost_settings(value: Any) -> Dict[str, Any]:
    """Return the settings of a cost: a name, a square matrix over the points, or None (the metric's default)."""
    if value is None:
        return {}
    if isinstance(value, str):
        return {"cost": word("cost", value, COSTS)}
    matrix = as_doubles(value, "cost")
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"cost has the shape {matrix.shape}: must be a name or a square matrix")
    return {"cost": COST_MATRIX, "cost_matrix": matrix}


def metric_settings(
    metric: Any = "w2",
    epsilon: Any = "5%",
    sinkhorn_value: Any = "regularized",
    tolerance: Any = None,
    max_iterations: Any = None,
    mmd_kernel: Any = "gaussian",
    bandwidth: Any = "auto",
    mmd_estimator: Any = "auto",
    reference: Any = "auto",
    reference_size: Any = None,
    mmd_features: Any = None,
    lot_components: Any = None,
    cost: Any = None,
    paper: Any = False,
) -> Dict[str, Any]:
    """Return the settings of a metric."""
    set_: Dict[str, Any] = {
        "paper": int(bool(paper)),
        "metric": one_metric(metric),
        "sinkhorn_value": word("sinkhorn_value", sinkhorn_value, SINKHORN_VALUES),
        "mmd_kernel": word("mmd_kernel", mmd_kernel, KERNELS),
        "mmd_estimator": word("mmd_estimator", mmd_estimator, ESTIMATORS),
        **_epsilon(epsilon),
        **_reference(reference),
        **cost_settings(cost),
    }
    if isinstance(bandwidth, str):
        set_["bandwidth_rule"] = word("bandwidth", bandwidth, BANDWIDTHS)
    else:
        set_.update(bandwidth_rule=GIVEN, bandwidth=number("bandwidth", bandwidth))
    if tolerance is not None:
        set_["sinkhorn_tolerance"] = number("tolerance", tolerance)
    if max_iterations is not None:
        cap = whole("max_iterations", max_iterations)
        set_.update(sinkhorn_max_iterations=cap)
        if metric in ("w2", "w1", "lot"):
            set_["w2_max_pivots"] = cap
    for name, value in (
        ("reference_size", reference_size),
        ("mmd_features", mmd_features),
        ("lot_components", lot_components),
    ):
        if value is not None:
            set_[name] = whole(name, value)
    return set_


def graph_settings(
    n_neighbors: Any,
    exact_graph: Any = "auto",
    sample: Any = 1.0,
    hubs: Any = "off",
    sample_columns: Any = 1.0,
    approximate: Any = "auto",
) -> Dict[str, Any]:
    tau = 0
    if not (n_neighbors is None or (isinstance(n_neighbors, str) and n_neighbors == "auto")):
        tau = whole("n_neighbors", n_neighbors)
        if tau < 1:
            raise ValueError(f"n_neighbors={tau}: must be at least 1, or 'auto'")
    return {
        "tau": tau,
        "exact_graph": word("exact_graph", exact_graph, GRAPHS),
        "sample": number("sample", sample),
        "hubs": word("hubs", hubs, HUBS),
        "sample_columns": number("sample_columns", sample_columns),
        "neighbors": _approximate(approximate),
    }


def _approximate(value: Any) -> int:
    if isinstance(value, (bool, np.bool_)):
        return 2 if value else 1
    if isinstance(value, str) and value == "auto":
        return 0
    raise ValueError(f"approximate={value!r}: must be True, False or 'auto'")


def cluster_settings(
    n_clusters: Any,
    gamma: Any,
    paper: Any,
    min_cluster: Any,
    joined: int = 0,
    restarts: Any = None,
    refine: Any = "auto",
) -> Dict[str, Any]:
    if isinstance(n_clusters, str):
        if n_clusters != "auto":
            raise ValueError(f"n_clusters={n_clusters!r}: must be an integer, (low, high) or 'auto'")
        low = high = 0
    elif isinstance(n_clusters, (tuple, list)) and len(n_clusters) == 2:
        low, high = (whole("n_clusters", k) for k in n_clusters)
    else:
        low = high = whole("n_clusters", n_clusters)
    if low < 1 and not (isinstance(n_clusters, str)):
        raise ValueError(f"n_clusters={n_clusters!r}: must be at least 1")
    set_: Dict[str, Any] = {"k_min": low, "k_max": high, "paper": int(bool(paper)), "joined": joined}
    set_["min_cluster"] = number("min_cluster", min_cluster)
    set_["refine"] = word("refine", refine, REFINE)
    if restarts is not None:
        set_["kmeans_restarts"] = whole("restarts", restarts)
    if isinstance(gamma, str):
        set_["gamma_rule"] = word("gamma", gamma, GAMMAS)
    else:
        set_.update(gamma_rule=GIVEN, gamma=number("gamma", gamma))
    return set_
