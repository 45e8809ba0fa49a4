"""Computes distances between items and neighbor graphs, and compares metrics."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any, Optional, Sequence, Union, cast

import numpy as np

from . import _core
from ._arrays import make_csr
from ._distributions import as_distributions
from ._run import Run
from ._scores import label_scores
from ._types import (
    ArrayLike,
    Bandwidth,
    Comparison,
    Estimator,
    ExactGraph,
    Floats,
    Hubs,
    Items,
    Kernel,
    Labels,
    Metric,
    MetricSettings,
    NumberOfClusters,
    NumberOfNeighbors,
    Progress,
    RandomState,
    SparseRows,
)
from ._words import METRICS, cluster_settings, graph_settings, joined_metrics, metric_settings

if TYPE_CHECKING:
    from typing_extensions import Unpack


def pairwise(
    X: Items,
    Y: Optional[Items] = None,
    metric: Metric = "w2",
    *,
    squared: bool = False,
    condensed: bool = False,
    out: Optional[Floats] = None,
    random_state: RandomState = 0,
    n_jobs: Optional[int] = None,
    verbose: Union[int, bool] = 0,
    callback: Optional[Progress] = None,
    memory_limit: Optional[int] = None,
    device: str = "cpu",
    **settings: Unpack[MetricSettings],
) -> Floats:
    """Compute the distances between all items of X, or between the items of X and Y.

    Parameters
    ----------
    X, Y : list of (n_i, d) arrays or Distributions
        If Y is None, distances between the items of X are computed.
    metric : {"w2", "w1", "sinkhorn", "mmd", "lot"}
    squared : bool
        Return D^2 as the metric defines it (for unbiased MMD it can be negative). Otherwise return its square root.
    condensed : bool
        Return only the entries above the diagonal, row by row, in the format of
        `scipy.spatial.distance.squareform`. Cannot be combined with Y.
    out : array, optional
        Output array of type float64 in C order, with the shape of the result.
    random_state, n_jobs, verbose, callback, memory_limit
        As in `DDSC`.
    device : {"cpu", "auto", "cuda", "cuda:N"}
        "auto" uses a GPU for large sets, if available. With "cuda", sinkhorn pairs on a grid are solved on the GPU
        to the same tolerance, but the last digits may differ.
    **settings
        `cost`, `epsilon`, `sinkhorn_value`, `tolerance`, `max_iterations`, `mmd_kernel`, `bandwidth`,
        `mmd_estimator`, `mmd_features`, `reference`, `reference_size`, `lot_components`, `paper`, as in
        `DDSC`.

    Returns
    -------
    array
        (N, N), (N, M) with Y, or (N (N - 1) / 2,) when condensed.

    Examples
    --------
    >>> import numpy as np, ddsc
    >>> X = [np.array([[0.0, 0.0]]), np.array([[3.0, 4.0]]), np.array([[3.0, 4.0], [-3.0, -4.0]])]
    >>> ddsc.pairwise(X).round(3)
    array([[0.   , 5.   , 5.   ],
           [5.   , 0.   , 7.071],
           [5.   , 7.071, 0.   ]])
    """
    set_ = metric_settings(metric=metric, **settings)
    with Run(n_jobs, random_state, verbose, callback, memory_limit, device) as run:
        measures = as_distributions(X, run=run)
        n = measures.n_items
        shape: Any = (n * (n - 1) // 2,) if condensed else (n, n)
        other = None if Y is None else as_distributions(Y, run=run)
        if other is not None:
            if condensed:
                raise ValueError("condensed=True requires a single set; omit Y")
            shape = (n, other.n_items)
        result: Floats = np.empty(shape) if out is None else out
        if result.shape != shape or result.dtype != np.float64 or not result.flags.c_contiguous:
            raise ValueError(f"out must be a C-ordered float64 array of shape {shape}")
        if other is None:
            run(_core.distance, result, measures._handle, set_, condensed, squared)
        else:
            run(_core.cross, result, measures._handle, other._handle, set_, squared)
    return result


def compare(
    X: Items,
    n_clusters: NumberOfClusters = "auto",
    metrics: Sequence[Metric] = ("w2", "sinkhorn", "mmd", "lot"),
    *,
    labels: Optional[Labels] = None,
    n_neighbors: NumberOfNeighbors = "auto",
    random_state: RandomState = 0,
    n_jobs: Optional[int] = None,
    verbose: Union[int, bool] = 0,
    callback: Optional[Progress] = None,
    memory_limit: Optional[int] = None,
    **settings: Unpack[MetricSettings],
) -> Comparison:
    """Compare several metrics on one set and recommend one, without using labels.

    Parameters
    ----------
    X : list of (n_i, d) arrays or Distributions
    n_clusters : int, (low, high) or "auto"
        With a range or "auto", the number of clusters that most metrics suggest is used.
    metrics : sequence of str
        A subset of "w2", "w1", "sinkhorn", "mmd" and "lot".
    labels : array, optional
        True classes for scoring the metrics. None: the labels of X, if it has any.

    Returns
    -------
    dict
        - "k": the number of clusters.
        - "metrics": one dict per metric with "metric"; "suggests_k" unless K was given; "level" of the verdict (see
          `verdict_`); "stability" (agreement with the clusters of subsamples with 80% of the items); "modularity"
          (on the average graph of all metrics); "agreement" (with the other metrics, NaN for a single metric);
          "seconds"; and, if classes are known, "ami" and "ari". "structure" is the level of version 0.2.
        - "labels": the labels by metric.
        - "ari", "ami": agreement between the metrics.
        - "recommended": the most stable metric, which "words" explains. "lead" is its stability minus that of the
          second-best metric. The size of the lead does not predict how much better the metric is. "sure" describes the
          size of the lead, as in version 0.2.

    Examples
    --------
    >>> import ddsc
    >>> result = ddsc.compare(ddsc.make_shapes(), 2, metrics=("w2", "mmd"))
    >>> result["k"], "same clusters" in result["words"]
    (2, True)
    """
    names = list(metrics)
    if not names:
        raise ValueError("metrics must name at least one metric")
    first, joined = joined_metrics("+".join(map(str, names)))
    set_ = metric_settings(metric=first, **settings)
    how = cluster_settings(n_clusters, "auto", False, 0.2, joined)
    with Run(n_jobs, random_state, verbose, callback, memory_limit) as run:
        measures = as_distributions(X, run=run)
        told = run(_core.compare, measures._handle, set_, graph_settings(n_neighbors, hubs="auto"), how)
    n = len(told["rows"])
    by_number = {number: name for name, number in METRICS.items()}
    found = np.frombuffer(told.pop("labels"), np.int32).reshape(n, -1)
    rows = told.pop("rows")
    truth = measures.labels if labels is None else labels
    told["labels"] = {}
    for row, mine in zip(rows, found):
        row["metric"] = by_number[row["metric"]]
        suggested = row.pop("k")
        if not isinstance(n_clusters, numbers.Integral):
            row["suggests_k"] = suggested
        row["level"] = ("too_few", "one_cloud", "continuum", "reproducible", "partly", "separate")[row["level"]]
        row["structure"] = ("undecided", "none", "weak", "clear")[row["structure"]]
        told["labels"][row["metric"]] = measures._by_row(mine, -1)
        if truth is not None:
            got = label_scores(truth, told["labels"][row["metric"]])
            row.update(ami=got["ami"], ari=got["ari"])
    told["metrics"] = rows
    for name in ("ari", "ami"):
        told[name] = np.frombuffer(told[name]).reshape(n, n)
    told["recommended"] = rows[told["recommended"]]["metric"]
    told["sure"] = ("no difference", "slight", "clear")[told["sure"]]
    return cast(Comparison, told)


def neighbors(
    X: Items,
    n_neighbors: NumberOfNeighbors = "auto",
    metric: Metric = "w2",
    *,
    squared: bool = False,
    exact_graph: ExactGraph = "auto",
    sample: float = 1.0,
    hubs: Hubs = "off",
    random_state: RandomState = 0,
    n_jobs: Optional[int] = None,
    verbose: Union[int, bool] = 0,
    callback: Optional[Progress] = None,
    memory_limit: Optional[int] = None,
    device: str = "auto",
    **settings: Unpack[MetricSettings],
) -> SparseRows:
    """Compute the exact nearest neighbor graph without the full distance matrix.

    Parameters
    ----------
    X : list of (n_i, d) arrays or Distributions
    n_neighbors : int or "auto"
    metric : {"w2", "w1", "sinkhorn", "mmd", "lot"}
    squared : bool
        Return squared distances.
    exact_graph : {"auto", "full", "pruned"}
        Search method. The result does not depend on it.
    sample : float
        Fraction of the pairs whose distances are computed.
    hubs : {"off", "auto", "always"}
        Whether neighbors are chosen by a locally rescaled distance, so that no item becomes a neighbor of most others.
    random_state, n_jobs, verbose, callback, memory_limit, **settings
        As in `pairwise`.
    device : {"auto", "cpu", "cuda", "cuda:N"}
        As in `DDSC`.

    Returns
    -------
    scipy.sparse.csr_matrix
        Row i has the distances of item i to its neighbors, nearest first. A `CSR` tuple is returned if
        SciPy is not installed.

    Examples
    --------
    >>> import numpy as np, ddsc
    >>> G = ddsc.neighbors(np.array([[0.0], [1.0], [3.0]]), n_neighbors=1)
    >>> G.indices, G.data
    (array([1, 0, 1], dtype=int32), array([1., 1., 2.]))
    """
    set_ = metric_settings(metric=metric, **settings)
    graph = graph_settings(n_neighbors, exact_graph, sample, hubs)
    with Run(n_jobs, random_state, verbose, callback, memory_limit, device) as run:
        measures = as_distributions(X, run=run)
        handle, _ = run(_core.neighbors, measures._handle, set_, graph)
    view = _core.graph_view(handle)
    data = np.asarray(view["d2"])
    if not squared:
        data = np.sqrt(np.maximum(data, 0))
    return make_csr(data, view["indices"], view["offsets"], (view["n"], view["n"]))


def mmd(
    x: ArrayLike,
    y: ArrayLike,
    x_weight: Optional[ArrayLike] = None,
    y_weight: Optional[ArrayLike] = None,
    *,
    kernel: Kernel = "gaussian",
    bandwidth: Bandwidth = "auto",
    estimator: Estimator = "biased",
    squared: bool = False,
    random_state: RandomState = 0,
) -> float:
    """Compute the maximum mean discrepancy between two point clouds.

    Parameters
    ----------
    x, y : (n, d), (m, d) arrays
    x_weight, y_weight : (n,), (m,) arrays, optional
    kernel : {"gaussian", "laplace", "energy"}
    bandwidth : float, "auto", "near" or "median"
        "near" is the 5% quantile of the distances between the pooled points. "auto" uses "near", or 1.5 times the
        median if the median is less than 1.85 times that quantile, as happens in many dimensions (laplace: the median).
    estimator : {"biased", "unbiased"}
    squared : bool
        Return MMD^2, which can be negative with the unbiased estimator. Otherwise return the square root of its
        positive part.

    Examples
    --------
    >>> import numpy as np, ddsc
    >>> x = np.array([[0.0], [1.0]])
    >>> ddsc.mmd(x, x, estimator="biased", bandwidth=1.0)
    0.0
    """
    pair = as_distributions([x, y], [x_weight, y_weight])
    return float(
        pairwise(
            pair,
            metric="mmd",
            squared=squared,
            condensed=True,
            random_state=random_state,
            n_jobs=1,
            mmd_kernel=kernel,
            bandwidth=bandwidth,
            mmd_estimator=estimator,
        )[0]
    )
