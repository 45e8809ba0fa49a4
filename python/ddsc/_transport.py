"""Solves single transport problems and computes barycenters."""

from __future__ import annotations

from typing import Any, Dict, Literal, NamedTuple, Optional, Union, cast, overload

import numpy as np

from . import _core
from ._arrays import as_doubles
from ._distributions import as_distributions
from ._run import Run
from ._types import Array, ArrayLike, BarycenterMethod, Cost, Floats, Items, Progress, RandomState, SinkhornValue
from ._words import BARYCENTERS, SINKHORN_VALUES, cost_settings, metric_settings, number, whole, word


class Transport(NamedTuple):
    """The complete solution of a transport problem."""

    value: float
    """The optimal <P, M>, or the requested value if there is an entropy term."""
    plan: Floats
    """(n, m) array: the mass moved from i to j."""
    f: Floats
    """(n,) array: the dual potentials. For exact transport, f_i + g_j <= M_ij."""
    g: Floats
    """(m,) potentials."""
    dual: float
    """Dual objective, a lower bound on the exact value."""
    gap: float
    """Relative duality gap, or the error of the marginals if there is an entropy term."""
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
        Maximum L1 error of the marginals of a converged solve. If the final error is larger, a ConvergenceWarning is
        issued.
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


class Barycenter(NamedTuple):
    """A Wasserstein barycenter."""

    points: Floats
    """(n, d)."""
    weights: Floats
    """(n,), positive, with sum 1."""
    objective: Floats
    """Mean cost of exact transport to the items (W2^2 by default) after each step. The cost never increases."""
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
        Cost of moving mass. With "cosine", points are normalized to length 1, and the points of the barycenter are in
        the unit ball. `method="admm"` also accepts "euclidean" (W1, points move to geometric medians), "cityblock"
        (points move to coordinate-wise medians) and a cost matrix (points have one coordinate, their row in the
        matrix).
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
