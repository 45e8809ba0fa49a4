"""Convert arrays to the types and layouts of the library, without a copy if possible."""

from __future__ import annotations

from typing import Any, List, NamedTuple, Optional, Tuple, cast

import numpy as np

from ._types import Array, Floats, Ints, SparseRows


class CSR(NamedTuple):
    """A sparse matrix in CSR format, used instead of `scipy.sparse.csr_matrix` if SciPy is not installed."""

    data: Floats
    indices: Ints
    indptr: Ints
    shape: Tuple[int, int]

    def toarray(self) -> Floats:
        """Return the dense matrix."""
        full = np.zeros(self.shape)
        rows = np.repeat(np.arange(self.shape[0]), np.diff(self.indptr))
        full[rows, self.indices] = self.data
        return full


def make_csr(data: Any, indices: Any, indptr: Any, shape: Tuple[int, int]) -> SparseRows:
    """Return a SciPy CSR matrix, or a `CSR` if SciPy is not installed."""
    data, indices, indptr = np.array(data), np.array(indices), np.array(indptr)
    if indptr[-1] < 2**31:
        indptr = indptr.astype(np.int32)
    try:
        from scipy.sparse import csr_matrix
    except ImportError:
        return CSR(data, indices, indptr, shape)
    made: Any = csr_matrix((data, indices, indptr), shape=shape)
    return cast(SparseRows, made)


def is_sparse(x: Any) -> bool:
    return hasattr(x, "tocsr") and hasattr(x, "nnz")


def sparse_entries(x: Any) -> Tuple[Array, Array, Array]:
    """Return row, column and value of each stored entry, sorted by row and column."""
    csr = x if isinstance(x, CSR) else x.tocsr()
    row = np.repeat(np.arange(x.shape[0]), np.diff(csr.indptr))
    column = np.asarray(csr.indices, dtype=np.int64)
    order = np.lexsort((column, row))
    return row[order], column[order], as_doubles(csr.data, "X")[order]


def distance_matrix(X: Any) -> Array:
    """Return a dense matrix of distances. Entries that a sparse matrix does not store are NaN."""
    if not is_sparse(X) and not isinstance(X, CSR):
        return as_doubles(X, "X")
    row, column, value = sparse_entries(X)
    matrix = np.full(X.shape, np.nan)
    matrix[row, column] = value
    return matrix


def neighbor_lists(x: Any, most: int) -> Tuple[Array, Array, Array]:
    """Return the `most` nearest entries of each row as offsets, indices and squared distances.

    NaN entries are unknown, and diagonal entries must be zero. If the entries (i, j) and (j, i) are both stored, they
    must be equal.
    """
    n = x.shape[0]
    row, column, value = sparse_entries(x)
    if (value < 0).any():
        at = int((value < 0).argmax())
        raise ValueError(f"X[{row[at]}, {column[at]}] is {value[at]}: distances must not be negative")
    own = (row == column) & ~np.isnan(value)
    if value[own].any():
        raise ValueError(f"X[{row[own][0]}, {row[own][0]}]: the diagonal must be 0")
    known = ~np.isnan(value) & (row != column)
    row, column, value = row[known], column[known], value[known]
    _check_mirrored(n, row, column, value)
    order = np.lexsort((column, value, row))
    row, column, value = row[order], column[order], value[order]
    first = np.searchsorted(row, np.arange(n + 1))
    kept = np.arange(len(row)) - first[row] < most
    offsets = np.searchsorted(row[kept], np.arange(n + 1)).astype(np.int64)
    return offsets, column[kept].astype(np.int32), np.square(value[kept])


def _check_mirrored(n: int, row: Array, column: Array, value: Array) -> None:
    key, mirrored = row * n + column, column * n + row
    at = np.minimum(np.searchsorted(key, mirrored), max(len(key) - 1, 0))
    both = key[at] == mirrored
    far = both & (np.abs(value[at] - value) > 1e-9 * np.maximum(value[at], value))
    if far.any():
        i = int(far.argmax())
        raise ValueError(
            f"the matrix is not symmetric: X[{row[i]}, {column[i]}] is {float(value[i])!r} but "
            f"X[{column[i]}, {row[i]}] is {float(value[at[i]])!r}"
        )
    if len(row) and ((row < column).all() or (row > column).all()) and n > 2:
        raise ValueError(
            "X has only one triangle of a symmetric matrix, but row i must list all neighbors of item i; pass "
            "X + X.T"
        )


def as_numbers(x: Any, name: str) -> Array:
    """Convert to a C-ordered array. All types other than float32 and float64 are converted to float64."""
    if hasattr(x, "_handle"):
        raise ValueError(f"{name} must be a matrix of numbers, not Distributions")
    if is_sparse(x):
        raise TypeError(
            f"{name} is a sparse matrix, whose rows have no unique meaning. Use "
            "Distributions.from_csr(matrix, vocabulary), or .toarray() for items of one point."
        )
    masks: Any = np.ma
    if isinstance(x, np.ma.MaskedArray) and masks.is_masked(x):
        raise ValueError(f"{name} has masked values; fill them or remove their rows")
    if not hasattr(x, "__array__") and hasattr(x, "__dlpack__"):
        x = np.from_dlpack(x)
    try:
        array = np.asarray(x)
    except ValueError as error:
        if "inhomogeneous" not in str(error):
            raise
        raise ValueError(f"{name} is ragged; it must be a matrix with rows of equal length") from None
    if array.dtype.kind in "mM":
        raise TypeError(f"{name} has dates or times; convert them to numbers in a unit of your choice")
    if array.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: {name} has complex numbers")
    if array.dtype.kind in "iu" and array.size and array.dtype.itemsize == 8:
        if max(abs(int(array.max())), abs(int(array.min()))) > 2**53:
            raise ValueError(f"{name} has integers beyond 2**53, which floating-point numbers cannot represent exactly")
    if array.dtype not in (np.float64, np.float32):
        try:
            array = array.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise type(error)(f"{name} has entries that are not numbers: {error}") from None
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    return np.ascontiguousarray(array)


def as_doubles(x: Any, name: str) -> Array:
    return np.ascontiguousarray(as_numbers(x, name), dtype=np.float64)


def whole_numbers(x: Any, name: str) -> Array:
    """Convert integers, or floats with integer values, to int64."""
    array = np.asarray(x)
    if array.dtype.kind == "f" and array.size:
        off = ~(np.isfinite(array) & (array == np.floor(array)))
        if off.any():
            raise ValueError(f"{name} must be integers, not {float(array[off][0])!r}")
    elif array.dtype.kind not in "iu" and array.size:
        raise TypeError(f"{name} must be integers, not {array.dtype}")
    if array.size and (array.max() >= 2**63 or array.min() < -(2**63)):
        raise ValueError(f"{name} must fit into 64-bit integers")
    return np.ascontiguousarray(array, dtype=np.int64)


def _is_pair(item: Any) -> bool:
    """Return True if `item` is a (points, weights) pair."""
    if not isinstance(item, tuple) or len(item) != 2:
        return False
    points, weights = item
    return np.ndim(points) == 2 and (weights is None or np.ndim(weights) == 1)


def column_names(items: Any) -> Optional[List[str]]:
    """Return the column names if all items are data frames with equal columns, otherwise None."""
    if not isinstance(items, list) or not items:
        return None
    if not all(hasattr(item, "columns") and hasattr(item, "iloc") for item in items):
        return None
    names = list(items[0].columns)
    for i, item in enumerate(items):
        if list(item.columns) != names:
            raise ValueError(
                f"item {i} has the columns {list(item.columns)}, but item 0 has {names}; all items must have "
                "the same columns in the same order"
            )
    return names if all(isinstance(name, str) for name in names) else None


def unpack_items(x: Any) -> Tuple[Any, Optional[List[Any]], Optional[List[str]]]:
    """Return points, weights and ids of items.

    Items can be a dict with ids as keys, a pandas groupby, an object array, or a list of (points, weights). Other types
    are returned unchanged."""
    ids = None
    if hasattr(x, "_handle"):
        raise ValueError("the items are a Distributions already; use it as it is, or list(X) for its points and weights")
    if is_sparse(x):  # one of SciPy's sparse formats is a subclass of dict
        return x, None, None
    if isinstance(x, dict):
        ids, x = [str(key) for key in x], list(x.values())
    elif hasattr(x, "groups") and hasattr(x, "get_group"):
        pairs = [(key, frame) for key, frame in x]
        ids = ["/".join(map(str, key)) if isinstance(key, tuple) else str(key) for key, _ in pairs]
        keys = [k for k in getattr(x, "keys", None) or [] if isinstance(k, str)]
        keys = [x.keys] if isinstance(getattr(x, "keys", None), str) else keys
        x = [frame.drop(columns=keys, errors="ignore") for _, frame in pairs]
    elif isinstance(x, np.ndarray) and x.dtype == object and x.ndim == 1:
        x = list(x)
    elif type(x).__module__.partition(".")[0] == "awkward" or getattr(x, "is_nested", False):
        ragged: Any = x
        x = [np.asarray(item) for item in (ragged.unbind() if hasattr(ragged, "unbind") else ragged)]
    if isinstance(x, (list, tuple)) and len(x) > 0 and all(_is_pair(item) for item in x):
        return [points for points, _ in x], [weights for _, weights in x], ids
    if isinstance(x, (list, tuple)):
        _refuse_mixed(x)
    return x, None, ids


def _refuse_mixed(items: Any) -> None:
    pairs = [_is_pair(item) for item in items]
    if any(pairs):
        raise ValueError(
            f"item {pairs.index(True)} is (points, weights), but item {pairs.index(False)} is not; pass all items as "
            "(points, weights), with None for equal weights"
        )


def item_matrices(x: Any) -> List[Array]:
    """Return a list of matrices from a list of matrices, an (N, n, d) array or an (N, d) array of points."""
    if is_sparse(x) or any(hasattr(x, name) for name in ("iloc", "__array__", "__dlpack__")):
        array = as_numbers(x, "X")
        if array.ndim == 2:
            array = array[:, None, :]
        if array.ndim != 3:
            raise ValueError(
                f"Expected 2D array, got {array.ndim}D array instead: X must be a list of (n_i, d) "
                "arrays, an (N, n, d) array, an (N, d) array of single points, or Distributions. "
                "Reshape your data either using array.reshape(-1, 1) or array.reshape(1, -1)."
            )
        return list(array)
    items = x if isinstance(x, list) else list(x)
    if items and all(isinstance(i, (list, tuple)) and not np.ndim(i[0] if i else 0) for i in items):
        return item_matrices(as_numbers(items, "X"))  # an (N, d) array as nested lists
    made = [as_numbers(item, f"item {i}") for i, item in enumerate(items)]
    for i, item in enumerate(made):
        if item.ndim != 2:
            raise ValueError(
                f"item {i} has {item.ndim} dimensions; an item is an (n, d) matrix with one row per point "
                "(use item.reshape(-1, 1) for numbers on a line)"
            )
    return made
