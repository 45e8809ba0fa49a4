"""Divides points into states, such as cell states, and compares items by them."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from . import _core
from ._distributions import Distributions, as_distributions
from ._permanova import ColumnsLike, _columns
from ._run import Run
from ._types import Array, Floats, Items, Json, Progress, RandomState
from ._words import whole

LEAST_POINTS = 5


def _rows(X: Distributions, between: Optional[Tuple[Any, Any]]) -> Tuple[Optional[Array], Optional[Array]]:
    """Return the items of both sides of `between`."""
    if between is None:
        return None, None
    sides = [np.atleast_1d(np.asarray(side, dtype=np.int64)) for side in between]
    if len(sides) != 2 or any(side.ndim != 1 or len(side) == 0 for side in sides):
        raise ValueError("between must be two items, or two lists of items")
    for side in sides:
        if side.min() < 0 or side.max() >= X.n_items:
            raise ValueError(f"between: items are numbered from 0 to {X.n_items - 1}")
    return sides[0], sides[1]


def _item_means(X: Distributions, found: Json) -> Floats:
    """Return the mean of each coordinate in each state of an item, in standard deviations of the state. A mean is NaN
    if the item has fewer than LEAST_POINTS points in the state."""
    k, d = found["means"].shape
    items = np.repeat(np.arange(X.n_items), np.diff(X._offsets))
    cell = items * k + found["labels"][X._indices]
    mass = np.bincount(cell, X._weights, X.n_items * k)
    count = np.bincount(cell, minlength=X.n_items * k)
    means = np.empty((X.n_items * k, d))
    with np.errstate(invalid="ignore", divide="ignore"):
        for a in range(d):
            means[:, a] = np.bincount(cell, X._weights * X._support[X._indices, a], X.n_items * k) / mass
        means[count < LEAST_POINTS] = np.nan
        means = (means.reshape(X.n_items, k, d) - found["means"]) / found["deviations"]
    means[~np.isfinite(means)] = np.nan
    return np.ascontiguousarray(means.reshape(X.n_items, k * d))


def _compare(run: Run, values: Floats, columns: List[Any], permutations: int, names: Sequence[Any]) -> Json:
    found: Json = run(_core.effects, values, len(values), values.shape[1], columns, permutations)
    found["kind"] = ("auto", "number", "factor")[found["kind"]]
    found["exhaustive"], found["whole_blocks"] = bool(found["exhaustive"]), bool(found["whole_blocks"])
    found["rows"] = [{**names[row.pop("variable")], **row} for row in found["rows"]]
    return found


def states(
    X: Items,
    n_states: Union[int, str] = "auto",
    *,
    by: Optional[Union[ColumnsLike, str]] = None,
    adjust: Optional[Union[ColumnsLike, str]] = None,
    block: Optional[Union[ColumnsLike, str]] = None,
    kinds: Optional[Mapping[str, str]] = None,
    between: Optional[Tuple[Union[int, Sequence[int]], Union[int, Sequence[int]]]] = None,
    permutations: int = 9999,
    random_state: RandomState = 0,
    n_jobs: Optional[int] = None,
    verbose: Union[int, bool] = 0,
    callback: Optional[Progress] = None,
    memory_limit: Optional[int] = None,
) -> Json:
    """Divide the points of all items into states, such as cell states, and compare the shares of the states.

    The states are the types of the points if they have any (``read(..., type=COLUMN)``). Otherwise, k-means clusters
    a sample of the pooled points.

    Parameters
    ----------
    X : Distributions or list of arrays
    n_states : int or "auto"
        "auto": the types of the points, or the largest of 2, 3, 4, 5, 6, 8, 10, 12, 15 and 20 for which two random
        halves of the sample agree (with a Jaccard overlap of their states of at least 0.75).
    by : dict or DataFrame of columns, one column, or names of columns in ``X.meta``, optional
        Compares the shares, and the coordinates within each state, between classes or along numbers. The columns must
        not have been used to compute the items or their clusters. Do not pass cluster labels, because clusters are
        chosen to differ.
    adjust : as `by`, optional
        Covariates, such as age and sex. Effects are then coefficients of a linear model with these columns, or partial
        rank correlations, and permutations exchange the residuals of the covariates (Freedman and Lane 1983).
    block : one column, or its name, optional
        Compares items only within the same level of this column, such as the same patient.
    kinds : dict, optional
        "number" or "factor" by column name, as in `permanova`.
    between : pair of items or of lists of items, optional
        Computes an optimal transport plan from the first to the second, summed by state.
    permutations : int
    random_state, n_jobs, verbose, callback, memory_limit
        As in `DDSC`.

    Returns
    -------
    dict
        - "names": names of the states; "given": whether they are the types of the points.
        - "shares": (n_items, n_states) share of each state in each item; "total": mean over the items.
        - "means", "deviations": (n_states, n_dims) of the coordinates in each state.
        - "labels": state of each row of ``X.support``.
        - "tried", "agreement": numbers of states that were tried, and the agreement of the halves for each number.
        - "by": for each column a dict with "shares" and "within". Their "rows" have the state, the class, the
          "effect" (difference of the means, or rank correlation) with its 95% interval "low" to "high", "p" by
          permutations and "p_bh" (Benjamini and Hochberg). "within" has a row per state and coordinate, in standard
          deviations of the state.
        - "transport": "mass" (n_states, n_states), "shift" (n_states, n_dims) of the coordinates within each state,
          "shares_from", "shares_to" and "value", the squared W2 distance.

    Examples
    --------
    >>> import ddsc
    >>> X = ddsc.datasets.load_cells(n_donors=8, n_cells=60)
    >>> found = ddsc.states(X, 4, by={"condition": X.labels}, permutations=999)
    >>> found["shares"].shape, len(found["by"]["condition"]["shares"]["rows"])
    ((16, 4), 4)
    """
    count = 0 if n_states == "auto" else whole("n_states", n_states)
    if count < 0 or (count == 0 and n_states != "auto"):
        raise ValueError(f"n_states={n_states!r}: must be 'auto' or from 1 to 200")
    with Run(n_jobs, random_state, verbose, callback, memory_limit) as run:
        items = as_distributions(X, run=run)
        by, adjust, block = (_from_meta(items, *one) for one in (("by", by), ("adjust", adjust), ("block", block)))
        columns = _columns(len(items), kinds or {}, by=by, adjust=adjust, block=block)
        start, end = _rows(items, between)
        found: Json = run(_core.states, items._handle, count, start, end)
        k, d = found["n_states"], found["dim"]
        for name, shape in (("shares", (-1, k)), ("total", (k,)), ("means", (k, d)), ("deviations", (k, d))):
            found[name] = np.frombuffer(found[name]).reshape(shape)
        found["labels"] = np.frombuffer(found["labels"], np.int32)
        found["tried"], found["agreement"] = np.frombuffer(found["tried"], np.int64), np.frombuffer(found["agreement"])
        found["given"] = bool(found["given"])
        if "transport" in found:
            flow: Dict[str, Any] = found["transport"]
            for name, shape in (("mass", (k, k)), ("shift", (k, d)), ("shares_from", (k,)), ("shares_to", (k,))):
                flow[name] = np.frombuffer(flow[name]).reshape(shape)
        found["by"] = _by_columns(run, items, found, columns, whole("permutations", permutations))
    return found


def _from_meta(items: Distributions, role: str, given: Any) -> Any:
    """Replace names of columns of X.meta, a str or a list of them, by the columns."""
    named = [given] if isinstance(given, str) else given
    if not (isinstance(named, (list, tuple)) and 0 < len(named) < len(items) and all(isinstance(n, str) for n in named)):
        return given
    missing = [name for name in named if name not in items.meta]
    if missing:
        raise ValueError(f"{role}={missing[0]!r} is not a column of X.meta, which has {sorted(items.meta)}")
    return {name: items.meta[name] for name in named}


def _pick(column: Any, rows: Array) -> Tuple[Any, ...]:
    """Return a column that contains only the values of these rows."""
    name, values, kind, role = column
    return name, values[rows] if isinstance(values, np.ndarray) else [values[i] for i in rows], kind, role


def _by_columns(run: Run, X: Distributions, found: Json, columns: List[Any], permutations: int) -> Json:
    """Compare the states with each tested column."""
    tested, others = [c for c in columns if c[3] == 0], [c for c in columns if c[3] != 0]
    if not tested:
        return {}
    kept = X._rows
    coordinates = X.coordinate_names or [f"coordinate {a}" for a in range(found["dim"])]
    of_share = [{"state": name} for name in found["names"]]
    of_mean = [{"state": name, "coordinate": a} for name in found["names"] for a in coordinates]
    means = _item_means(X, found)
    result: Json = {}
    for column in tested:
        pair = [_pick(c, kept) for c in (column, *others)]
        result[column[0]] = {
            "shares": _compare(run, found["shares"], pair, permutations, of_share),
            "within": _compare(run, means, pair, permutations, of_mean),
        }
    return result
