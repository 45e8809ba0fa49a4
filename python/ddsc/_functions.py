"""Functions for distances, neighbors and single transport problems."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Literal, NamedTuple, Optional, Sequence, Union, cast, overload

import numpy as np

from . import _core
from ._arrays import as_doubles, make_csr
from ._distributions import as_distributions
from ._run import Run
from ._types import (
    Array,
    ArrayLike,
    Bandwidth,
    BarycenterMethod,
    Comparison,
    Cost,
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
    SinkhornValue,
    SparseRows,
)
from ._words import (
    BARYCENTERS,
    METRICS,
    SINKHORN_VALUES,
    cluster_settings,
    cost_settings,
    graph_settings,
    joined_metrics,
    metric_settings,
    number,
    whole,
    word,
)

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
        "auto" means the CPU in this version. "cuda" is experimental and issues a warning. A GPU solves sinkhorn
        pairs on a grid to the same tolerance, but the last digits may differ.
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
        - "metrics": one dict per metric with "metric"; "k" (suggested); "stability" (agreement with the clusters
          of subsamples with 80% of the items); "modularity" (on the average graph of all metrics); "agreement"
          (with the other metrics, NaN for a single metric); "seconds"; "structure" ("clear", "weak", "none" or
          "undecided", see `verdict_`); and, if classes are known, "ami" and "ari".
        - "labels": the labels by metric.
        - "ari", "ami": agreement between the metrics.
        - "recommended": the recommended metric. "sure" is its confidence ("no difference", "slight" or "clear"), and
          "words" explains it.

    Examples
    --------
    >>> import ddsc
    >>> told = ddsc.compare(ddsc.make_shapes(), 2, metrics=("w2", "mmd"))
    >>> told["k"], told["sure"]
    (2, 'no difference')
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
        row["structure"] = ("undecided", "none", "weak", "clear")[row["structure"]]
        told["labels"][row["metric"]] = measures._by_row(mine, -1)
        if truth is not None:
            got = _scores(truth, told["labels"][row["metric"]])
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


class Transport(NamedTuple):
    """The complete solution of a transport problem."""

    value: float
    """Optimal <P, M>; with entropy, the requested value."""
    plan: Floats
    """(n, m): the mass moved from i to j."""
    f: Floats
    """(n,) potentials. For exact transport, f_i + g_j <= M_ij."""
    g: Floats
    """(m,) potentials."""
    dual: float
    """Dual objective, a lower bound on the exact value."""
    gap: float
    """Relative duality gap; with entropy, the error of the marginals."""
    n_iterations: int
    """Number of pivots or iterations."""


def _weights(weights: Any, name: str, n: int) -> Array:
    if weights is None:
        return np.full(n, 1.0 / n)
    return as_doubles(weights, name).ravel()


@overload
def emd(
    a: Optional[ArrayLike], b: Optional[ArrayLike], M: ArrayLike, full: Literal[False] = False
) -> float: ...
@overload
def emd(
    a: Optional[ArrayLike], b: Optional[ArrayLike], M: ArrayLike, full: Literal[True]
) -> Transport: ...
@overload
def emd(
    a: Optional[ArrayLike], b: Optional[ArrayLike], M: ArrayLike, full: bool
) -> Union[float, Transport]: ...
def emd(
    a: Optional[ArrayLike], b: Optional[ArrayLike], M: ArrayLike, full: bool = False
) -> Union[float, Transport]:
    """Compute exact optimal transport between weights a and b with cost M.

    Parameters
    ----------
    a, b : (n,), (m,) arrays or None
        Weights of equal sum; None: uniform.
    M : (n, m) array
        Costs, which can be any finite numbers.
    full : bool
        Also return the plan, the potentials and the certificate.

    Returns
    -------
    float or Transport

    Examples
    --------
    >>> import numpy as np, ddsc
    >>> ddsc.emd([0.5, 0.5], [0.25, 0.75], np.array([[0.0, 1.0], [1.0, 0.0]]))
    0.25
    >>> ddsc.emd(None, None, np.eye(2), full=True).plan
    array([[0. , 0.5],
           [0.5, 0. ]])
    """
    if not full:
        value = _core.emd_quick(a, b, M)
        if value is not None:
            return value
    cost = _cost(M)
    n, m = cost.shape
    left, right = _weights(a, "a", n), _weights(b, "b", m)
    f, g, mass = np.empty(n), np.empty(m), np.empty(n + m)
    row, column = np.empty(n + m, np.int32), np.empty(n + m, np.int32)
    with Run(n_jobs=1) as run:
        value, dual, gap, n_plan, pivots = run(_core.emd, left, right, cost, f, g, row, column, mass)
    if not full:
        return cast(float, value)
    plan = np.zeros((n, m))
    plan[row[:n_plan], column[:n_plan]] = mass[:n_plan]
    return Transport(value, plan, f, g, dual, gap, pivots)


def _cost(M: Any) -> Array:
    cost = as_doubles(M, "M")
    if cost.ndim != 2 or cost.size == 0:
        raise ValueError(f"M has shape {cost.shape}: it must be a non-empty matrix of costs")
    return cost


@overload
def sinkhorn(
    a: Optional[ArrayLike],
    b: Optional[ArrayLike],
    M: ArrayLike,
    epsilon: Union[float, str] = "5%",
    *,
    value: SinkhornValue = "regularized",
    tolerance: float = 1e-9,
    max_iterations: int = 100000,
    full: Literal[False] = False,
) -> float: ...
@overload
def sinkhorn(
    a: Optional[ArrayLike],
    b: Optional[ArrayLike],
    M: ArrayLike,
    epsilon: Union[float, str] = "5%",
    *,
    value: SinkhornValue = "regularized",
    tolerance: float = 1e-9,
    max_iterations: int = 100000,
    full: Literal[True],
) -> Transport: ...
@overload
def sinkhorn(
    a: Optional[ArrayLike],
    b: Optional[ArrayLike],
    M: ArrayLike,
    epsilon: Union[float, str] = "5%",
    *,
    value: SinkhornValue = "regularized",
    tolerance: float = 1e-9,
    max_iterations: int = 100000,
    full: bool,
) -> Union[float, Transport]: ...
def sinkhorn(
    a: Optional[ArrayLike],
    b: Optional[ArrayLike],
    M: ArrayLike,
    epsilon: Union[float, str] = "5%",
    *,
    value: SinkhornValue = "regularized",
    tolerance: float = 1e-9,
    max_iterations: int = 100000,
    full: bool = False,
) -> Union[float, Transport]:
    """Compute entropic transport between weights a and b with cost M.

    Parameters
    ----------
    a, b : (n,), (m,) arrays or None
        Weights of equal sum; None: uniform.
    M : (n, m) array
        Costs.
    epsilon : float or str
        Strength of the entropy: an absolute value, or a percentage of the median cost such as "5%".
    value : {"regularized", "sharp"}
        The minimum of <P, M> + epsilon KL(P | a x b), or the value <P, M> of the minimizing plan.
    tolerance : float
        L1 error of the marginals at convergence. A larger final error issues a ConvergenceWarning.
    max_iterations : int
    full : bool
        Also return the plan and the potentials.

    Returns
    -------
    float or Transport

    Examples
    --------
    >>> import numpy as np, ddsc
    >>> M = np.array([[0.0, 1.0], [1.0, 0.0]])
    >>> round(ddsc.sinkhorn(None, None, M, epsilon=0.01, value="sharp"), 6)
    0.0
    """
    cost = _cost(M)
    n, m = cost.shape
    set_ = metric_settings(metric="sinkhorn", epsilon=epsilon)
    strength = set_["epsilon"]
    if set_["epsilon_is_percent"]:
        strength *= float(np.median(cost)) / 100 or 1.0
    f, g = np.empty(n), np.empty(m)
    plan = np.empty((n, m)) if full else None
    with Run(n_jobs=1) as run:
        found, dual, error, iterations = run(
            _core.sinkhorn,
            _weights(a, "a", n),
            _weights(b, "b", m),
            cost,
            f,
            g,
            plan,
            strength,
            word("value", value, SINKHORN_VALUES),
            number("tolerance", tolerance),
            whole("max_iterations", max_iterations),
        )
    if plan is None:
        return cast(float, found)
    return Transport(found, plan, f, g, dual, error, iterations)


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
        "near" is the 5% quantile of the distances between the pooled points. "auto" uses "near", or the median if
        the median is less than twice that quantile, as happens in many dimensions.
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


class Barycenter(NamedTuple):
    """A Wasserstein barycenter."""

    points: Floats
    """(n, d)."""
    weights: Floats
    """(n,), positive, with sum 1."""
    objective: Floats
    """Mean cost of exact transport to the items (W2^2 by default) after each step. It never increases."""
    converged: bool
    """True if the last exact pass did not improve the objective."""


def barycenter(
    X: Items,
    support_size: Optional[int] = None,
    *,
    item_weights: Optional[ArrayLike] = None,
    method: BarycenterMethod = "admm",
    cost: Union[None, Cost, ArrayLike] = None,
    max_rounds: Optional[int] = None,
    tolerance: Optional[float] = None,
    restarts: Optional[int] = None,
    random_state: RandomState = 0,
    n_jobs: Optional[int] = None,
    verbose: Union[int, bool] = 0,
    callback: Optional[Progress] = None,
) -> Barycenter:
    """Compute a point cloud that locally minimizes the mean squared W2 distance, or mean cost, to the items.

    Parameters
    ----------
    X : list of (n_i, d) arrays or Distributions
    support_size : int, optional
        Number of points of the barycenter. None: the mean number of points per item.
    item_weights : (N,) array, optional
        Positive weights of the items; None: equal.
    method : {"admm", "ibp", "projected"}
        Method for the starting point: Bregman ADMM, iterative Bregman projections, or projection-robust
        barycenters. Exact passes then improve the result.
    cost : {"sqeuclidean", "euclidean", "cosine", "cityblock"} or (V, V) array, optional
        Cost of moving mass. With "cosine", points are normalized to length 1, and the barycenter lies in the unit
        ball. `method="admm"` also accepts "euclidean" (W1, points move to geometric medians), "cityblock" (points
        move to coordinate-wise medians) and a cost matrix (points have one coordinate, their row in the matrix).
    max_rounds, tolerance, restarts : int, float, int, optional
        Largest number of rounds, relative decrease of the objective below which the rounds stop, and number of starts.
    random_state, n_jobs, verbose, callback
        As in `DDSC`.

    Examples
    --------
    >>> import numpy as np, ddsc
    >>> ddsc.barycenter([np.zeros((1, 2)), np.full((1, 2), 2.0)]).points.round(6)
    array([[1., 1.]])
    """
    measures = as_distributions(X)
    set_: Dict[str, Any] = {"method": word("method", method, BARYCENTERS)}
    if support_size is not None:
        set_["support_size"] = whole("support_size", support_size)
    set_.update(cost_settings(cost))
    if max_rounds is not None:
        set_["max_rounds"] = whole("max_rounds", max_rounds)
    if tolerance is not None:
        set_["tolerance"] = number("tolerance", tolerance)
    if restarts is not None:
        set_["restarts"] = whole("restarts", restarts)
    weights = None if item_weights is None else as_doubles(item_weights, "item_weights").ravel()
    if weights is not None and len(weights) != measures.n_items:
        raise ValueError(f"got {len(weights)} item_weights for {measures.n_items} items")
    with Run(n_jobs, random_state, verbose, callback) as run:
        found = run(_core.barycenter, measures._handle, weights, set_)
    return Barycenter(
        np.array(found["support"]),
        np.array(found["weights"]),
        np.array(found["objective"]),
        found["converged"],
    )


def _label_numbers(labels: Any) -> Array:
    """Convert labels to int32 codes. Negative integers mean "no label" and become -1."""
    array = np.asarray(labels)
    if array.ndim != 1:
        raise ValueError(f"labels have {array.ndim} dimensions; expected one label per item")
    if array.dtype.kind in "iub":
        array = array.astype(np.int64)
        codes = np.unique(array, return_inverse=True)[1].ravel()
        return np.ascontiguousarray(np.where(array < 0, -1, codes), dtype=np.int32)
    codes = np.unique(array.astype(str), return_inverse=True)[1].ravel()
    return np.ascontiguousarray(codes, dtype=np.int32)


def _scores(labels_true: Any, labels_pred: Any) -> Dict[str, float]:
    truth, found = _label_numbers(labels_true), _label_numbers(labels_pred)
    if len(truth) != len(found):
        raise ValueError(f"labels_true has {len(truth)} labels, but labels_pred has {len(found)}")
    with Run(n_jobs=1) as run:
        return cast(Dict[str, float], run(_core.scores, found, truth))


def adjusted_mutual_info_score(labels_true: Labels, labels_pred: Labels) -> float:
    """Return the mutual information of two labelings, adjusted for chance (1: identical, 0: expected by chance).

    Labels can be integers or names. Negative integers mean "no label" and are ignored.

    Examples
    --------
    >>> import ddsc
    >>> ddsc.adjusted_mutual_info_score([0, 0, 1, 1], ["b", "b", "a", "a"])
    1.0
    """
    return _scores(labels_true, labels_pred)["ami"]


def adjusted_rand_score(labels_true: Labels, labels_pred: Labels) -> float:
    """Return the adjusted Rand index: the agreement of two labelings on pairs of items, adjusted for chance.

    Examples
    --------
    >>> import ddsc
    >>> ddsc.adjusted_rand_score([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    """
    return _scores(labels_true, labels_pred)["ari"]


def normalized_mutual_info_score(labels_true: Labels, labels_pred: Labels) -> float:
    """Return the mutual information of two labelings, divided by the mean of their entropies.

    Examples
    --------
    >>> import ddsc
    >>> ddsc.normalized_mutual_info_score([0, 0, 1, 1], [0, 1, 0, 1])
    0.0
    """
    return _scores(labels_true, labels_pred)["nmi"]


def purity_score(labels_true: Labels, labels_pred: Labels) -> float:
    """Return the fraction of the items that belong to the most common class of their cluster.

    Examples
    --------
    >>> import ddsc
    >>> ddsc.purity_score([0, 0, 1, 1], [0, 0, 0, 1])
    0.75
    """
    return _scores(labels_true, labels_pred)["purity"]
