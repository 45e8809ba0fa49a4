"""Sets of discrete distributions."""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Optional, Sequence, Tuple, Union, overload

import numpy as np

from . import _core
from ._arrays import as_doubles, column_names, item_matrices, unpack_items
from ._construction import Constructors, LabelsOfItems, drops_empty, unique_ids
from ._derived import Derived, name_text
from ._files import _Files as _Files  # pickles of version 0.2.0 look for it here
from ._files import check_output
from ._run import Run
from ._types import (
    Array,
    ArrayLike,
    Floats,
    Items,
    Json,
    Longs,
    Metric,
    MetricSettings,
    NDArray,
    OnEmpty,
    PathLike,
    Rows,
    Weights,
)
from ._words import ON_EMPTY, metric_settings, points_kept

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Distributions(Constructors, Derived):
    """A set of items, each of which is a weighted point cloud.

    Equal points are stored once, the weights of each item sum to one, and points with weight zero are
    removed. A set is immutable.

    Parameters
    ----------
    points : list of (n_i, d) arrays, (N, n, d) array, or (N, d) array
        One matrix per item, with one row per point. Rows of an (N, d) array are items with a single point.
        Also accepts a list of (points, weights), a dict of items by id, an object array of matrices, or a
        pandas groupby, whose groups are the items. float32 and float64 arrays are used without an
        intermediate copy.
    weights : list of (n_i,) arrays, optional
        Non-negative weights of the points, with a positive sum for each item. None means equal weights for all items.
        An entry None in the list means equal weights for this item.
    ids : sequence of str, optional
        Unique names of the items. None: the items are numbered from 0.
    labels : sequence, optional
        Known classes of the items, used for scores and figures but never for clustering. A dict, or a Series with an
        index of strings, is matched by id.
    on_empty : {"error", "drop"}
        How to treat items without mass. Results still have a row for each dropped item.

    Examples
    --------
    >>> import numpy as np, ddsc
    >>> X = ddsc.Distributions([np.zeros((1, 2)), np.ones((2, 2))], [None, [1.0, 3.0]])
    >>> X
    Distributions(2 items in 2 dimensions, 1 to 1 points, 2 distinct)
    >>> points, weights = X[1]
    >>> points, weights
    (array([[1., 1.]]), array([1.]))
    """

    def __init__(
        self,
        points: Items,
        weights: Optional[Weights] = None,
        *,
        ids: Optional[Sequence[object]] = None,
        labels: Optional[LabelsOfItems] = None,
        on_empty: OnEmpty = "error",
    ) -> None:
        with Run(n_jobs=1) as run:
            self._make(run, points, weights, ids, labels, on_empty)

    # ---- construction ----

    def _make(
        self, run: Run, points: Any, weights: Any = None, ids: Any = None, labels: Any = None, on_empty: Any = "error"
    ) -> None:
        """Create the set in the context of `run`, so that its memory counts toward the memory limit of this context."""
        given, own_weights, own_ids = unpack_items(points)
        if own_weights is not None:
            if weights is not None:
                raise ValueError("weights were given twice: in the items (points, weights) and in the argument `weights`")
            weights = own_weights
        ids = own_ids if ids is None else ids
        names = column_names(given)
        run.check_room(given)
        matrices = item_matrices(given)
        if not matrices:
            raise ValueError("there are no items: found array with 0 sample(s)")
        dim = matrices[0].shape[1]
        if dim == 0:
            raise ValueError(
                f"points have no coordinates: found array with 0 feature(s) (shape=({len(matrices)}, "
                "0)) while a minimum of 1 is required."
            )
        lists = None
        if weights is not None:
            lists = [None if w is None else as_doubles(w, "sample_weight").ravel() for w in weights]
        try:
            handle = run(_core.items, matrices, lists, dim, drops_empty(on_empty))
            if names is not None:
                handle = run(_core.described, handle, names, None, None)
        except ValueError as error:
            hint = " (NaN or inf in X)" if "not finite" in str(error) else ""
            raise ValueError(f"{error}{hint}") from None
        self._adopt(handle, unique_ids(ids), labels)

    def _adopt(self, handle: Any, ids: Any = None, labels: Any = None, names: Any = None) -> None:
        view = _core.measures_view(handle)
        self._handle = handle
        self._is_named = ids is None and labels is None  # otherwise the handle lacks them
        self._n_rows: int = view["n_rows"]
        self._dim: int = view["dim"]
        self._n_words: int = view["n_words"]
        self._grid: Optional[List[Tuple[int, float, float]]] = view["grid"]
        self._support = np.asarray(view["support"])
        self._offsets = np.asarray(view["offsets"])
        self._indices = np.asarray(view["indices"])
        self._weights = np.asarray(view["weights"])
        self._rows = np.asarray(view["rows"])
        self._ids: Optional[List[str]] = None
        self._labels: Optional[Array] = None
        if ids is not None:
            self._ids = [name_text(i) for i in ids]
            self._check_length("ids", len(self._ids))
        if labels is not None:
            self._labels = np.asarray(_labels_by_id(labels, self.ids, ids is not None))
            self._check_length("labels", len(self._labels))
        elif "labels" in view:
            self._labels = np.array(view["labels"])
            names = _core.measures_names(handle)["label_names"] if names is None else names
            if names:
                table = np.array([*names, ""])
                self._labels = table[np.where(self._labels < 0, len(names), self._labels)]

    def _check_length(self, name: str, length: int) -> None:
        if length != self._n_rows:
            raise ValueError(f"got {length} {name} for {self._n_rows} items")

    _source: Tuple[str, ...] = ()  # files from which the set was read

    @classmethod
    def _wrap(
        cls, handle: Any, ids: Any = None, labels: Any = None, source: Tuple[str, ...] = ()
    ) -> "Distributions":
        made = cls.__new__(cls)
        made._adopt(handle, ids, labels)
        made._source = source
        return made

    # ---- access ----

    def __len__(self) -> int:
        return self._n_rows

    @property
    def shape(self) -> Tuple[int]:
        """The tuple (len(self),), which scikit-learn's splitters require."""
        return (self._n_rows,)

    @property
    def n_items(self) -> int:
        """Number of items with mass. `len` also counts dropped items."""
        return len(self._offsets) - 1

    @property
    def dim(self) -> int:
        """Number of coordinates of a point."""
        return self._dim

    @property
    def sizes(self) -> Longs:
        """Number of points of each item with mass."""
        return np.diff(self._offsets)

    @property
    def support(self) -> Floats:
        """All distinct points (read-only view)."""
        return self._support

    @property
    def rows(self) -> Longs:
        """Input row of each item with mass."""
        return self._rows

    @property
    def ids(self) -> List[str]:
        """Names of the items."""
        if self._ids is None:
            self._ids = [*_core.measures_names(self._handle)["ids"]]
        return list(self._ids)

    @property
    def labels(self) -> Optional[NDArray[np.generic]]:
        """Known classes, or None."""
        return self._labels

    def _names(self, what: str) -> Optional[List[str]]:
        found: Optional[List[str]] = _core.measures_names(self._handle)[what]
        return found

    @property
    def coordinate_names(self) -> Optional[List[str]]:
        """Names of the coordinates (columns, markers), or None."""
        return self._names("coordinate_names")

    @property
    def point_names(self) -> Optional[List[str]]:
        """Names of the rows of `support` (words), or None."""
        return self._names("point_names")

    @property
    def titles(self) -> Optional[List[str]]:
        """Titles of the items, or the beginnings of their texts, or None."""
        return self._names("titles")

    @overload
    def __getitem__(self, row: int) -> Tuple[Floats, Floats]: ...
    @overload
    def __getitem__(self, row: Rows) -> "Distributions": ...
    def __getitem__(self, row: Union[int, Rows]) -> Union[Tuple[Floats, Floats], "Distributions"]:
        """Return (points, weights) of one item, or a new set for a slice, a mask or a list of rows."""
        if isinstance(row, (int, np.integer)):
            place = range(self._n_rows)[int(row)]
            item = int(np.searchsorted(self._rows, place))
            if item >= self.n_items or self._rows[item] != place:
                return np.empty((0, self._dim)), np.empty(0)
            part = slice(self._offsets[item], self._offsets[item + 1])
            return self._support[self._indices[part]], self._weights[part]
        return self.subset(np.arange(self._n_rows)[row])

    def __iter__(self) -> Iterator[Tuple[Floats, Floats]]:
        return (self[i] for i in range(self._n_rows))

    def __repr__(self) -> str:
        sizes = self.sizes
        span = f"{sizes.min()} to {sizes.max()} points" if len(sizes) else "no points"
        return (
            f"{type(self).__name__}({self._n_rows} items in {self._dim} dimensions, {span}, "
            f"{len(self._support)} distinct)"
        )

    def _repr_html_(self) -> str:
        from ._set_html import set_html

        return set_html(self)

    # ---- derived sets ----

    @property
    def meta(self) -> Dict[str, List[str]]:
        """Metadata columns by name, with one text per row."""
        return dict(_core.measures_names(self._handle)["meta"])

    @property
    def transforms(self) -> List[str]:
        """Transforms that were applied to the set, in order."""
        return list(_core.measures_names(self._handle)["transforms"])

    def subset(self, rows: ArrayLike) -> "Distributions":
        """Return the listed items in the order of the list."""
        numbers: Array = np.atleast_1d(np.asarray(rows))
        if numbers.dtype.kind not in "iu" or numbers.size == 0:
            raise ValueError("a subset needs at least one row number")
        items = np.searchsorted(self._rows, numbers)
        kept = items < self.n_items
        kept[kept] = self._rows[items[kept]] == numbers[kept]
        if not kept.all():
            raise ValueError(f"row {numbers[~kept][0]} does not exist or has no mass")
        with Run(n_jobs=1) as run:
            handle = run(_core.subset, self._handle, np.ascontiguousarray(items, dtype=np.int64))
        ids = None if self._ids is None else [self._ids[i] for i in numbers]
        return self._wrap(handle, ids, None if self._labels is None else self._labels[numbers], self._source)

    def take(self, indices: ArrayLike, axis: int = 0) -> "Distributions":
        """Return the listed items, like `subset`. The name is the one that NumPy and pandas use."""
        if axis != 0:
            raise ValueError("Distributions have only axis 0")
        return self.subset(indices)

    def compress(
        self,
        m: Union[int, str],
        n_jobs: Optional[int] = None,
        verbose: Union[int, bool] = 0,
        metric: Metric = "w2",
        **settings: Unpack[MetricSettings],
    ) -> "Distributions":
        """Merge the points of each item until at most m remain (Ward's method).

        "auto" chooses m: the smallest of 256, 128, 64, 32 and 16 that preserves at least 95% of the nearest neighbors
        of sampled items under `metric`, or else the value that preserves most of them. "90%" requests another fraction.
        If the items have fewer than 32 points on average, nothing is merged.

        The attribute ``max_w2_error`` of the result is the largest W2 distance between an item and its merged version.
        The attribute ``compression`` is None or a dict with "m", the numbers of points before and after, the W2 errors
        and, if m was chosen, the accuracy on "sample_pairs" pairs of items: the relative change of the distances
        ("error_median", "error_95") and the fraction of the nearest neighbors that are preserved ("neighbors_kept").
        """
        with Run(n_jobs=n_jobs, verbose=verbose) as run:
            merged = self._compress(run, m, metric_settings(metric=metric, **settings))
        made = merged.subset(merged.rows)  # a copy whose context has no extra threads, without rows of dropped items
        made._take_compression(merged.compression)
        return made

    def _compress(self, run: Run, m: Any, metric: Any) -> "Distributions":
        """Return the merged items, whose `compression` is None if nothing was merged. `metric` contains the settings,
        or is the handle of a model with this metric."""
        handle, found = run(_core.compress, self._handle, *points_kept(m), metric)
        if handle is None:
            return self._wrap(self._handle, self._ids, self._labels, self._source)
        if len(self._rows) != self._n_rows:  # rows of dropped items are not copied
            handle = run(_core.subset, handle, np.arange(self.n_items))
        made = self._wrap(handle, [self.ids[i] for i in self._rows], self._kept_labels(), self._source)
        made._take_compression(found)
        return made

    def _take_compression(self, found: Optional[Json]) -> None:
        self.compression = found
        if found is not None:
            self.mean_w2_error, self.max_w2_error = found["mean_w2"], found["max_w2"]

    def _like(self, run: Run, model: Any) -> "Distributions":
        """Apply the transforms of a model to the items."""
        handle = run(_core.measures_copy_like, self._handle, model)
        if len(self._rows) != self._n_rows:
            handle = run(_core.subset, handle, np.arange(self.n_items))
        return self._wrap(handle, [self.ids[i] for i in self._rows], self._kept_labels(), self._source)

    def _kept_labels(self) -> Optional[Array]:
        return None if self._labels is None else self._labels[self._rows]

    mean_w2_error: float = 0.0
    max_w2_error: float = 0.0
    compression: Optional[Json] = None

    def write(self, path: PathLike, overwrite: bool = False) -> None:
        """Write npz, csv, tsv (also .gz) or d2, depending on the file extension.

        Ids are always written. If the format supports labels, they are written as indices of the sorted names.
        A file that the set was read from is never overwritten (ValueError).
        """
        check_output(path, self._source)
        with Run(n_jobs=1) as run:
            run(_core.write_file, self._named(run), os.fspath(path), overwrite)

    def _named(self, run: Run) -> Any:
        """Return a handle that includes the ids and labels."""
        if self._is_named:
            return self._handle
        labels = self._labels
        if labels is not None:
            if labels.dtype.kind not in "iu":
                labels = np.unique(labels.astype(str), return_inverse=True)[1].ravel()
            labels = np.ascontiguousarray(labels, dtype=np.int32)
        return run(_core.named, self._handle, self.ids, labels)

    def _by_row(self, values: Array, fill: Any) -> Array:
        """Expand the values of items with mass to all input rows."""
        if len(values) == self._n_rows:
            return values
        out = np.full((self._n_rows, *values.shape[1:]), fill, dtype=values.dtype)
        out[self._rows] = values
        return out

    # ---- pickle ----

    def _packed(self) -> bytes:
        """Return the set as npz. Dropped rows are stored as items without points."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "set.npz")
            self.write(path)
            if self.n_items < self._n_rows:
                with np.load(path) as stored:
                    arrays = dict(stored)
                sizes = self._by_row(np.diff(arrays["offsets"]), 0)
                arrays["offsets"] = np.concatenate([[0], np.cumsum(sizes)])
                if "count_offsets" in arrays:
                    counted = self._by_row(np.diff(arrays["count_offsets"]), 0)
                    arrays["count_offsets"] = np.concatenate([[0], np.cumsum(counted)])
                for name in ("ids", "labels", "label_names", "titles", "meta"):
                    arrays.pop(name, None)  # __getstate__ stores ids and labels separately
                if self.titles is not None:
                    arrays["titles"] = np.array(self.titles)
                if self.meta:
                    arrays["meta"] = np.array(list(self.meta.values())).T.ravel()
                np.savez(path, **arrays)
            with open(path, "rb") as file:
                return file.read()

    def __getstate__(self) -> Dict[str, Any]:
        if self.transforms or self.meta or self._n_words:  # only the file format stores fitted parameters
            return {"npz": self._packed(), "ids": self.ids, "labels": self._labels}
        return {
            "support": np.array(self._support),
            "offsets": np.array(self._offsets),
            "indices": np.array(self._indices),
            "weights": np.array(self._weights),
            "rows": np.array(self._rows),
            "n_rows": self._n_rows,
            "ids": self.ids,
            "labels": self._labels,
            "names": [self._names(what) for what in ("coordinate_names", "point_names", "titles")],
        }

    def __setstate__(self, state: Dict[str, Any]) -> None:
        if "npz" in state:
            with tempfile.TemporaryDirectory() as folder, Run(n_jobs=1) as run:
                path = os.path.join(folder, "set.npz")
                with open(path, "wb") as file:
                    file.write(state["npz"])
                handle = run(_core.read_files, [path], {"on_empty": ON_EMPTY["drop"]})
            self._adopt(handle, state["ids"], state["labels"])
            return
        offsets = np.zeros(state["n_rows"] + 1, dtype=np.int64)
        offsets[state["rows"] + 1] = np.diff(state["offsets"])
        with Run(n_jobs=1) as run:
            handle = run(
                _core.shared,
                state["support"],
                np.cumsum(offsets),
                state["indices"],
                state["weights"],
                True,
            )
            names = state.get("names", [None])
            if any(n is not None for n in names):
                handle = run(_core.described, handle, *names)
        self._adopt(handle, state["ids"], state["labels"])


def _labels_by_id(labels: Any, ids: List[str], named: bool) -> Any:
    """Return labels, in the order of the ids if they are a dict or a Series with an index of strings."""
    if named and hasattr(labels, "iloc") and all(isinstance(key, str) for key in labels.index):
        if labels.index.has_duplicates:
            raise ValueError("labels: the index has duplicate ids, so they cannot be joined by id")
        labels = dict(zip(labels.index, labels))
    if not isinstance(labels, dict):
        return labels
    table = {str(key): value for key, value in labels.items()}
    known = set(ids)
    for name in (*ids, *table):
        if name not in table or name not in known:
            where = "labels" if name in known else "items"
            raise ValueError(f"the {where} do not have the id {name!r}")
    return [table[name] for name in ids]


def as_distributions(
    X: Any, sample_weight: Any = None, on_empty: Any = "error", run: Optional[Run] = None
) -> Distributions:
    """Convert X to Distributions, unless it already is a set. A new set is created in the context of `run`, which lives
    as long as the set, and its memory counts toward the limit of this context."""
    if isinstance(X, Distributions):
        if sample_weight is not None:
            raise ValueError("sample_weight requires lists of arrays; Distributions already have weights")
        return X
    if run is None:
        return Distributions(X, sample_weight, on_empty=on_empty)
    made = Distributions.__new__(Distributions)
    made._make(run, X, sample_weight, on_empty=on_empty)
    return made
