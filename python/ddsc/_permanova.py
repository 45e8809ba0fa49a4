"""Implements the distance-based analysis of variance."""

from __future__ import annotations

from typing import Any, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from . import _core
from ._run import Run
from ._types import Array, ArrayLike, Floats, Json, Progress, RandomState
from ._words import whole

ColumnsLike = Union[Mapping[str, Sequence[Any]], Sequence[Any], Array]

_KINDS = {"auto": 0, "number": 1, "factor": 2}
_ROLES = {"by": 0, "adjust": 1, "block": 2}
_Column = Tuple[str, Any, int, int]


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and value != value) or type(value).__name__ in ("NAType", "NaTType")


def _text(value: Any) -> Optional[str]:
    """Return a value as text. Integers are written without a decimal point, so that 1 and 1.0 are the same level."""
    if _is_missing(value):
        return None
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    return str(value)


def _values(name: str, values: Any, n: int) -> Any:
    array = np.asarray(values)
    if array.ndim != 1 or len(array) != n:
        raise ValueError(f"column {name!r} has shape {array.shape}, but there are {n} items")
    if array.dtype.kind in "fiu":
        return np.ascontiguousarray(array, dtype=np.float64)
    return [_text(value) for value in array.tolist()]


def _named(given: Any, role: str) -> List[Tuple[str, Any]]:
    """Return a list of (name, values), given a mapping, a table with columns, or a single column."""
    if given is None:
        return []
    if isinstance(given, Mapping):
        return [(str(name), given[name]) for name in given]
    if hasattr(given, "columns"):
        return [(str(name), given[name]) for name in given.columns]
    return [(str(getattr(given, "name", None) or role), given)]


def _columns(n: int, kinds: Mapping[str, str], **groups: Any) -> List[_Column]:
    result: List[_Column] = []
    for role, given in groups.items():
        for name, values in _named(given, role):
            if any(name == other for other, _, _, _ in result):
                raise ValueError(f"two columns have the name {name!r}")
            kind = kinds.get(name, "auto")
            if kind not in _KINDS:
                raise ValueError(f"kinds[{name!r}]={kind!r}: must be 'auto', 'number' or 'factor'")
            result.append((name, _values(name, values, n), _KINDS[kind], _ROLES[role]))
    unknown = [name for name in kinds if all(name != other for other, _, _, _ in result)]
    if unknown:
        raise ValueError(f"kinds names the unknown column {unknown[0]!r}")
    return result


def _permutations(given: Any, n: int) -> Tuple[int, Any]:
    if np.ndim(given) == 0:
        return whole("permutations", given), None
    matrix = np.ascontiguousarray(given, dtype=np.int32)
    if matrix.ndim != 2 or matrix.shape[1] != n or len(matrix) == 0 or not np.array_equal(matrix, given):
        raise ValueError(f"permutations must be an integer, or an integer matrix with {n} columns")
    return len(matrix), matrix


def permanova(
    distances: ArrayLike,
    by: ColumnsLike,
    *,
    adjust: Optional[ColumnsLike] = None,
    block: Optional[ColumnsLike] = None,
    kinds: Optional[Mapping[str, str]] = None,
    permutations: Union[int, ArrayLike] = 9999,
    pairwise: bool = False,
    separately: bool = False,
    squared: bool = False,
    points: Optional[Sequence[int]] = None,
    random_state: RandomState = 0,
    n_jobs: Optional[int] = None,
    verbose: Union[int, bool] = 0,
    callback: Optional[Progress] = None,
    memory_limit: Optional[int] = None,
) -> Json:
    """Test whether metadata columns explain the distances between the items.

    This is a distance-based analysis of variance (Anderson 2001, McArdle and Anderson 2001), as in
    `adonis2(by = "margin")` of the R package vegan. A permutation reorders the items of the
    centered matrix of squared distances but not the metadata columns.

    Do not test the labels of a clustering of the same distances. Clusters are chosen to differ, so the test would be
    significant for any data.

    Parameters
    ----------
    distances : (N, N) array
        From `pairwise`. All values must be known and non-negative.
    by : dict or DataFrame of columns, or one column
        The columns to test, each after all others and the covariates (marginal terms).
    adjust : dict or DataFrame of columns, or one column, optional
        Covariates.
    block : one column, optional
        Items are permuted within the levels of this column. A column that is constant within blocks
        is tested by permuting whole blocks of equal size.
    kinds : dict, optional
        "number" or "factor" by column name. By default, a column is numeric if all its values are numbers and if it has
        at least 11 distinct values, non-integer values, or more distinct values than half the number of items.
    permutations : int or (B, N) array
        Number of permutations, or the permutations themselves, one per row. If there are fewer
        distinct arrangements, all of them are used.
    pairwise : bool
        Also test each pair of levels of each factor, with Holm's correction.
    separately : bool
        Test each column of `by` in a separate model that includes the covariates.
    squared : bool
        The matrix holds squared distances.
    points : array, optional
        Number of points of each item, used to check whether it is associated with the columns.
    random_state, n_jobs, verbose, callback, memory_limit
        As in `DDSC`.

    Returns
    -------
    dict
        - "terms": one dict per column with "df", "r2", "f", "p", "p_bh" (after Benjamini and
          Hochberg), "smallest_p", "n_permutations", "exhaustive", and for tested factors
          "dispersion_f" and "dispersion_p" (do the levels differ in spread?).
        - "pairs": one dict per pair of levels, with "p_holm".
        - "missing": (item, column) of each missing value; these items are omitted.
        - "points_warning": whether a tested column is associated with the number of points.

    Examples
    --------
    >>> import ddsc
    >>> X = ddsc.make_shapes()
    >>> found = ddsc.permanova(ddsc.pairwise(X), {"shape": X.labels}, permutations=999)
    >>> found["terms"][0]["p"]
    0.001
    """
    matrix: Floats = np.ascontiguousarray(distances, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"distances must be a square matrix, not of shape {matrix.shape}")
    n = len(matrix)
    if n < 3:
        raise ValueError(f"distances has {n} items; the test needs at least 3")
    columns = _columns(n, kinds or {}, by=by, adjust=adjust, block=block)
    count, given = _permutations(permutations, n)
    counts = None if points is None else np.ascontiguousarray(points, dtype=np.int64)
    if counts is not None and counts.shape != (n,):
        raise ValueError(f"points must have {n} values")
    with Run(n_jobs, random_state, verbose, callback, memory_limit) as run:
        found: Json = run(
            _core.permanova, matrix, n, columns, count, given, counts, bool(squared), bool(pairwise), bool(separately)
        )
    for term in found["terms"]:
        term["role"] = ("by", "adjust")[term["role"]]
        term["kind"] = ("auto", "number", "factor")[term["kind"]]
        term["exhaustive"], term["whole_blocks"] = bool(term["exhaustive"]), bool(term["whole_blocks"])
        for name, dtype in (("level_sizes", np.int64), ("distance_to_centroid", float), ("mean_distance", float)):
            if term[name] is not None:
                term[name] = np.frombuffer(term[name], dtype)
    for pair in found["pairs"]:
        pair["exhaustive"] = bool(pair["exhaustive"])
    found["missing"] = [(item, columns[k][0]) for item, k in found["missing"]]
    found["used"] = np.frombuffer(found["used"], np.int64)
    found["points_warning"] = bool(found["points_warning"])
    return found
