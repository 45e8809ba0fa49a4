"""Sets of discrete distributions, created from arrays, tables, files and documents."""

from __future__ import annotations

import glob
import os
import re
import tempfile
import warnings
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, List, Literal, Mapping, Optional, Sequence, Tuple, Union, cast, overload

import numpy as np

from . import _core
from ._arrays import as_doubles, column_names, is_sparse, item_matrices, unpack_items, whole_numbers
from ._former import current_names, former_arguments
from ._run import READ_TIMEOUT, Run
from ._types import (
    Array,
    Align,
    AnnDataLike,
    AnyPath,
    ArrayLike,
    Floats,
    ImageAs,
    Items,
    Labels,
    Longs,
    NDArray,
    Normalize,
    OnEmpty,
    RandomState,
    Rows,
    SparseRows,
    TableLike,
    Transforms,
    Weighting,
    Weights,
    Words,
)
from ._types import PathLike as PathLike
from ._words import ALIGN, NORMALIZE, ON_EMPTY, WORDS, whole, word


if TYPE_CHECKING:
    from typing_extensions import Unpack

LabelsOfItems = Union[Labels, Dict[str, int], Dict[str, str]]


def _drop(on_empty: Any) -> bool:
    return word("on_empty", on_empty, ON_EMPTY) == 1


class Distributions:
    """A set of items, each a weighted point cloud.

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
        Non-negative weights of the points, with a positive sum for each item. None means equal weights, for
        all items or, as an entry of the list, for one item.
    ids : sequence of str, optional
        Names of the items. None: the items are numbered from 0.
    labels : sequence, optional
        Known classes of the items, used for scores and figures but never for clustering. A dict, or a
        Series with an index of strings, is joined by id.
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
        """Create the set in the context of `run`, so that its memory counts toward the limit of that context."""
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
            handle = run(_core.items, matrices, lists, dim, _drop(on_empty))
            if names is not None:
                handle = run(_core.described, handle, names, None, None)
        except ValueError as error:
            hint = " (NaN or inf in X)" if "not finite" in str(error) else ""
            raise ValueError(f"{error}{hint}") from None
        self._adopt(handle, ids, labels)

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
            self._ids = [_text(i) for i in ids]
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

    @classmethod
    def from_arrays(
        cls,
        points: ArrayLike,
        offsets: ArrayLike,
        weights: Optional[ArrayLike] = None,
        *,
        ids: Optional[Sequence[object]] = None,
        labels: Optional[LabelsOfItems] = None,
        on_empty: OnEmpty = "error",
    ) -> "Distributions":
        """Create items from one matrix, in which item i has rows offsets[i] to offsets[i + 1] - 1.

        Examples
        --------
        >>> import numpy as np, ddsc
        >>> ddsc.Distributions.from_arrays(np.arange(8.0).reshape(4, 2), [0, 1, 4])
        Distributions(2 items in 2 dimensions, 1 to 3 points, 4 distinct)
        """
        matrix = as_doubles(points, "points")
        if matrix.ndim != 2:
            raise ValueError("points must be a matrix with one row per point")
        starts = whole_numbers(offsets, "offsets")
        masses = None if weights is None else as_doubles(weights, "weights").ravel()
        with Run(n_jobs=1) as run:
            handle = run(_core.clouds, matrix, masses, starts, _drop(on_empty))
        return cls._wrap(handle, ids, labels)

    @classmethod
    def from_csr(
        cls,
        matrix: Union[SparseRows, Tuple[ArrayLike, ArrayLike, ArrayLike]],
        vocabulary: ArrayLike,
        *,
        ids: Optional[Sequence[object]] = None,
        labels: Optional[LabelsOfItems] = None,
        on_empty: OnEmpty = "error",
    ) -> "Distributions":
        """Create items from the rows of a sparse matrix over a shared support, such as word counts.

        Parameters
        ----------
        matrix : (N, V) SciPy sparse matrix, or a tuple (data, indices, indptr)
            Weights. Column v contains the weights of row v of the vocabulary.
        vocabulary : (V, d) array
            The point of each column, such as a word vector.
        """
        given: Any = matrix
        if is_sparse(given):
            given = given.tocsr()
            given = (given.data, given.indices, given.indptr)
        data, indices, indptr = given
        indices = whole_numbers(indices, "indices")
        support = as_doubles(vocabulary, "vocabulary")
        outside = (indices < 0) | (indices >= len(support))
        if outside.any():
            raise ValueError(
                f"column {indices[outside][0]} of the matrix has no row in the vocabulary, which has {len(support)} rows"
            )
        with Run(n_jobs=1) as run:
            handle = run(
                _core.shared,
                support,
                whole_numbers(indptr, "indptr"),
                indices.astype(np.int32),
                as_doubles(data, "matrix"),
                _drop(on_empty),
            )
        return cls._wrap(handle, ids, labels)

    @classmethod
    def from_histograms(
        cls,
        histograms: ArrayLike,
        support: Optional[ArrayLike] = None,
        *,
        ids: Optional[Sequence[object]] = None,
        labels: Optional[LabelsOfItems] = None,
        on_empty: OnEmpty = "error",
    ) -> "Distributions":
        """Create items from dense weights over a shared support or over the cells of a grid.

        Parameters
        ----------
        histograms : (N, V) array with `support`, or (N, ...) array of images
            An array with more than two dimensions has one image (or volume) per item.
        support : (V, d) array, optional
            The point of each column. None: integer coordinates of the cells.

        Examples
        --------
        >>> import numpy as np, ddsc
        >>> ddsc.Distributions.from_histograms(np.eye(4).reshape(4, 2, 2))
        Distributions(4 items in 2 dimensions, 1 to 1 points, 4 distinct)
        """
        array = as_doubles(histograms, "histograms")
        if support is None:
            if array.ndim < 2:
                raise ValueError("histograms must have one row per item")
            cells = np.indices(array.shape[1:]).reshape(array.ndim - 1, -1).T
            support = cells.astype(np.float64)
        array = array.reshape(len(array), -1)
        with Run(n_jobs=1) as run:
            handle = run(_core.dense, as_doubles(support, "support"), array, _drop(on_empty))
        return cls._wrap(handle, ids, labels)

    @classmethod
    def from_frame(
        cls,
        frame: TableLike,
        groupby: str,
        columns: Optional[Sequence[str]] = None,
        weight: Optional[str] = None,
        label: Optional[str] = None,
    ) -> "Distributions":
        """Create items from a pandas DataFrame. Its rows are points, and one column contains the item of each point.

        Parameters
        ----------
        frame : pandas.DataFrame
        groupby : str
            Column with the names of the items. Items are ordered by first appearance.
        columns : list of str, optional
            Coordinates. None: all numeric columns that are not used otherwise.
        weight : str, optional
            Column with the weights of the points. None: "weight" if that column exists and `columns` is
            None, as in csv files.
        label : str, optional
            Column with the class of the item, constant within the item. None: "label", under the same conditions.

        Examples
        --------
        >>> import pandas as pd, ddsc                                       # doctest: +SKIP
        >>> cells = pd.DataFrame({"who": ["a", "a", "b"], "x": [0, 1, 5]})  # doctest: +SKIP
        >>> ddsc.Distributions.from_frame(cells, groupby="who").ids         # doctest: +SKIP
        ['a', 'b']
        """
        table: Any = frame
        keys = table[groupby]
        if columns is None:
            usual = {"weight", "label"} & set(table.columns) - {groupby}
            weight = "weight" if weight is None and "weight" in usual - {label} else weight
            label = "label" if label is None and "label" in usual - {weight} else label
            used = {groupby, weight, label}
            numeric = set(table.select_dtypes("number").columns)
            columns = [c for c in table.columns if c in numeric - used]
            others = [str(c) for c in table.columns if c not in numeric | used]
            if others:
                left_out = ", ".join(others)
                warnings.warn(f"columns without numbers are ignored: {left_out}", stacklevel=2)
        names, order, offsets = _groups(keys)
        points = as_doubles(table[list(columns)].to_numpy()[order], "the frame")
        weights = None if weight is None else as_doubles(table[weight], weight)[order]
        labels = None if label is None else _group_labels(table[label], names, order, offsets)
        made = cls.from_arrays(points, offsets, weights, ids=names, labels=labels)
        return made.described(coordinate_names=[str(c) for c in columns])

    @classmethod
    def from_anndata(
        cls,
        adata: AnnDataLike,
        groupby: str,
        layer: Optional[str] = None,
        obsm: Optional[str] = None,
        variables: Optional[Sequence[str]] = None,
        label: Optional[str] = None,
    ) -> "Distributions":
        """Create items from an AnnData object, one for each value of ``adata.obs[groupby]``.

        Parameters
        ----------
        adata : anndata.AnnData
            Cells by variables.
        groupby : str
            Column of ``adata.obs`` with the sample or patient of each cell.
        layer, obsm : str, optional
            Layer or embedding (such as "X_pca") with the coordinates. None: ``adata.X``.
        variables : list of str, optional
            Variables to use. Cannot be combined with `obsm`.
        label : str, optional
            Column of ``adata.obs`` with the class of each sample.
        """
        names_of = None
        if obsm is not None:
            values = adata.obsm[obsm]
        else:
            cells: Any = adata
            part = cells if variables is None else cells[:, list(variables)]
            values = part.X if layer is None else part.layers[layer]
            names_of = part.var_names
        names, order, offsets = _groups(adata.obs[groupby])
        values = values[order]
        if is_sparse(values):
            values = values.toarray()
        labels = None
        if label is not None:
            labels = _group_labels(adata.obs[label], names, order, offsets)
        made = cls.from_arrays(values, offsets, ids=names, labels=labels)
        return made if names_of is None else made.described(coordinate_names=names_of)

    @classmethod
    def from_texts(
        cls,
        texts: Sequence[str],
        encode: Callable[[List[str]], ArrayLike],
        split: Optional[Callable[[str], Sequence[str]]] = None,
        *,
        weights: Literal["letters", "equal"] = "letters",
        ids: Optional[Sequence[object]] = None,
        labels: Optional[LabelsOfItems] = None,
        on_empty: OnEmpty = "drop",
    ) -> "Distributions":
        """Create items from texts: each is the cloud of its sentence vectors, computed by a given encoder.

        Parameters
        ----------
        texts : sequence of str
            One text per item.
        encode : callable
            Maps a list of sentences to one vector each, like the method ``encode`` of a sentence encoder.
            It is called once with all distinct sentences.
        split : callable, optional
            Splits a text into parts. None: sentences end at ., ! or ? before white space, and at the end of
            a line.
        weights : {"letters", "equal"}
            The weight of a sentence: its number of letters, or the same weight for all sentences.
        on_empty : {"drop", "error"}
            How to treat texts without parts: drop them (label -1) or raise an error.

        Returns
        -------
        Distributions
            A set in which the name of each point is its sentence.

        Examples
        --------
        >>> import ddsc
        >>> def lengths(sentences):
        ...     return [[len(s), s.count(" ")] for s in sentences]
        >>> X = ddsc.Distributions.from_texts(["It rains. Take a coat!", "Sun."], lengths)
        >>> X.sizes.tolist(), sorted(X.point_names)
        ([2, 1], ['It rains.', 'Sun.', 'Take a coat!'])
        """
        if isinstance(texts, str):
            raise TypeError("texts is a single string; pass a sequence of texts, one per item")
        parts = [_split_text(text, split) for text in texts]
        place: Dict[str, int] = {}
        for part in parts:
            for sentence in part:
                place.setdefault(sentence, len(place))
        if not place:
            raise ValueError("none of the texts has any sentences")
        vectors = np.asarray(encode(list(place)), dtype=float) + 0.0
        if vectors.ndim != 2 or len(vectors) != len(place):
            raise ValueError(
                f"encode returned an array of shape {vectors.shape} for {len(place)} sentences; "
                "expected one vector per sentence"
            )
        points = [vectors[[place[s] for s in part]].reshape(-1, vectors.shape[1]) for part in parts]
        by_letters = word("weights", weights, {"letters": 1, "equal": 0})
        masses = [np.array([float(len(s) if by_letters else 1) for s in part]) for part in parts]
        made = cls(points, masses, ids=ids, labels=labels, on_empty=on_empty)
        name = {vectors[k].tobytes(): sentence for sentence, k in reversed(list(place.items()))}
        return made.described(point_names=[name[row.tobytes()] for row in made.support])

    # ---- access ----

    def __len__(self) -> int:
        return self._n_rows

    @property
    def shape(self) -> Tuple[int]:
        """The tuple (len(self),), as required by scikit-learn's splitters."""
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

    # ---- derived sets ----

    def described(
        self,
        *,
        coordinate_names: Optional[Sequence[object]] = None,
        point_names: Optional[Sequence[object]] = None,
        titles: Optional[Sequence[object]] = None,
        meta: Optional[Mapping[str, Sequence[object]]] = None,
    ) -> "Distributions":
        """Return the same set with other names. Arguments that are None leave the existing names unchanged.

        Parameters
        ----------
        coordinate_names : sequence of d names, optional
        point_names : sequence of names, optional
            One for each row of `support`.
        titles : sequence of N titles, optional
        meta : dict, optional
            Metadata columns such as batch or age, with N values each. Values are stored as text. None and NaN
            become "", and floats with integer values are written as integers.

        Examples
        --------
        >>> import ddsc
        >>> X = ddsc.make_shapes(2).described(coordinate_names=["x", "y"])
        >>> X[:2].coordinate_names
        ['x', 'y']
        """
        lists = [
            None if names is None else [_text(name) for name in names]
            for names in (coordinate_names, point_names, titles)
        ]
        with Run(n_jobs=1) as run:
            handle = run(_core.described, self._handle, *lists)
            if meta is not None:
                columns = [[_value_text(value) for value in column] for column in meta.values()]
                for name, column in zip(meta, columns):
                    self._check_length(f"values of {name!r}", len(column))
                flat = [value for row in zip(*columns) for value in row]
                handle = run(_core.about, handle, [_text(name) for name in meta], flat)
        return self._wrap(handle, self._ids, self._labels, self._source)

    @former_arguments(normalise="normalize")
    def transformed(
        self,
        *,
        arcsinh: Union[None, float, Dict[str, float]] = None,
        log1p: bool = False,
        normalize: Optional[Normalize] = None,
        pca: Optional[int] = None,
        per_item: Optional[int] = None,
        align: Optional[Align] = None,
        logicle: Union[None, float, str, Dict[str, float], Dict[str, str]] = None,
        batch: Union[None, str, Sequence[object]] = None,
        random_state: RandomState = 0,
    ) -> "Distributions":
        """Return a transformed set.

        The steps are applied in this order: sampling of points, arcsinh, logicle, log1p, batch, normalize,
        pca, align. The fitted parameters are stored with the set and with models of it, so that ``predict``
        applies the same steps to new, untransformed items.

        Parameters
        ----------
        arcsinh : float or dict, optional
            Replace x with arcsinh(x / arcsinh). A dict maps names of coordinates, which may contain the
            wildcards * and ?, to cofactors.
        log1p : bool
        normalize : {"standard", "robust", "rank"}, optional
            Normalize coordinates over all items. Every item has the same weight.
        pca : int, optional
            Number of principal components to keep.
        per_item : int, optional
            Largest number of points per item. Larger items are sampled.
        align : {"center", "size", "deskew", "principal"}, optional
            Align each item separately: remove its location ("center"), and also its size, slant or rotation.
        logicle : float, str or dict, optional
            Apply the logicle scale of flow cytometry with the top value T (usually 262144), or "T:W:M:A". A
            dict maps names of coordinates to such values. If W is omitted, it is fitted to the negative values.
        batch : str or sequence, optional
            A column of `meta`, or the batch of each item. The quantiles of each coordinate within a batch are
            mapped to those of all items. A sequence is stored as the column "batch", which must not exist with
            other values. New items need this column (``X.described(meta={"batch": [...]})``) with known batches.
        random_state : int, RandomState, Generator or None
            Random state for `per_item`.

        Examples
        --------
        >>> import ddsc
        >>> X = ddsc.make_shapes(2).transformed(normalize="standard", align="center")
        >>> X.transforms
        ['standard', 'align center']
        """
        settings: Dict[str, Any] = {"log1p": int(bool(log1p))}
        if batch is not None and not isinstance(batch, str):
            about = self.meta
            named = self.described(meta={**about, "batch": batch})
            if about.get("batch", named.meta["batch"]) != named.meta["batch"]:
                raise ValueError(
                    "the set already has a column 'batch' with other values; use it with batch='batch', or add the "
                    "new column under another name with described(meta=...)"
                )
            return named.transformed(
                arcsinh=arcsinh, log1p=log1p, normalize=normalize, pca=pca, per_item=per_item,
                align=align, logicle=logicle, batch="batch", random_state=random_state,
            )
        if batch is not None:
            settings["batch"] = batch
        if isinstance(arcsinh, dict):
            settings["arcsinh"] = ",".join(f"{name}={value}" for name, value in arcsinh.items())
        elif arcsinh is not None:
            settings["arcsinh"] = repr(float(arcsinh))
        if isinstance(logicle, dict):
            settings["logicle"] = ",".join(f"{name}={value}" for name, value in logicle.items())
        elif logicle is not None:
            settings["logicle"] = str(logicle)
        if normalize is not None:
            settings["normalize"] = word("normalize", normalize, NORMALIZE)
        if align is not None:
            settings["align"] = word("align", align, ALIGN)
        for name, value in (("pca", pca), ("per_item", per_item)):
            if value is not None:
                settings[name] = whole(name, value)
        with Run(n_jobs=1, random_state=random_state) as run:
            handle = run(_core.transformed, self._handle, settings)
        return self._wrap(handle, self._ids, self._labels, self._source)

    @property
    def meta(self) -> Dict[str, List[str]]:
        """Metadata columns by name, with one text per row."""
        return dict(_core.measures_names(self._handle)["meta"])

    @property
    def transforms(self) -> List[str]:
        """Transforms that were applied to the set, in order."""
        return list(_core.measures_names(self._handle)["transforms"])

    def subset(self, rows: ArrayLike) -> "Distributions":
        """Return the listed items in the given order."""
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
        """Return the listed items, like `subset`. The name follows NumPy and pandas."""
        if axis != 0:
            raise ValueError("Distributions have only axis 0")
        return self.subset(indices)

    def compress(self, m: int, n_jobs: Optional[int] = None, verbose: Union[int, bool] = 0) -> "Distributions":
        """Merge the points of each item until at most m remain (Ward's method).

        The attribute ``max_w2_error`` of the result is the largest W2 distance between an item and its merged version.
        """
        with Run(n_jobs=n_jobs, verbose=verbose) as run:
            merged = self._compress(run, m)
        with Run(n_jobs=1) as run:  # a copy whose context has no extra threads
            handle = run(_core.subset, merged._handle, np.arange(self.n_items))
        made = self._wrap(handle, merged._ids, merged._labels, self._source)
        made.mean_w2_error, made.max_w2_error = merged.mean_w2_error, merged.max_w2_error
        return made

    def _compress(self, run: Run, m: Any) -> "Distributions":
        handle, mean, largest = run(_core.compress, self._handle, whole("m", m))
        if len(self._rows) != self._n_rows:  # rows of dropped items are not copied
            handle = run(_core.subset, handle, np.arange(self.n_items))
        made = self._wrap(handle, [self.ids[i] for i in self._rows], self._kept_labels(), self._source)
        made.mean_w2_error, made.max_w2_error = mean, largest
        return made

    def _kept_labels(self) -> Optional[Array]:
        return None if self._labels is None else self._labels[self._rows]

    mean_w2_error: float = 0.0
    max_w2_error: float = 0.0

    def write(self, path: PathLike, overwrite: bool = False) -> None:
        """Write npz, csv, tsv (also .gz) or d2, depending on the file extension.

        Ids are always written. If the format supports labels, they are written as indices of the sorted names.
        A file from which the set was read is never overwritten (ValueError).
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
        """Expand values of the items with mass to all input rows."""
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


def _text(value: object) -> str:
    """Convert a name to text. The library does not support NUL characters."""
    text = str(value)
    if "\0" in text:
        raise ValueError(f"{text!r} has a NUL character, which is not supported")
    return text


def _value_text(value: Any) -> str:
    """Convert a metadata value to text. pandas stores integer columns with missing values as floats."""
    missing = value is None or type(value).__name__ == "NAType"  # comparisons with pandas.NA return NA
    if missing or (not isinstance(value, str) and value != value):
        return ""
    number = float(value) if isinstance(value, (float, np.floating)) else 0.5
    if number.is_integer() and abs(number) < 2**53:
        return str(int(number))
    return _text(value)


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


def _group_labels(column: Any, names: List[str], order: Array, offsets: Array) -> Any:
    """Return the label of each group, which must be constant within the group."""
    texts = np.asarray(column.astype(str))[order]
    differs = texts != np.repeat(texts[offsets[:-1]], np.diff(offsets))
    if differs.any():
        at = int(differs.argmax())
        group = int(np.searchsorted(offsets, at, side="right")) - 1
        raise ValueError(
            f"item {names[group]!r} has two labels: {str(texts[offsets[group]])!r} and {str(texts[at])!r}"
        )
    return np.asarray(column)[order[offsets[:-1]]]


def _groups(column: Any) -> Tuple[List[str], Array, Array]:
    """Return the names of the groups in order of first appearance, the order that sorts rows by group, and offsets."""
    missing = np.asarray(column.isna())
    if missing.any():
        raise ValueError(
            f"column {column.name!r} names the items, but {missing.sum()} of its {len(missing)} rows "
            f"have no value; the first is row {missing.argmax()}"
        )
    keys = np.asarray(column)
    values, first, inverse = np.unique(keys.astype(str), return_index=True, return_inverse=True)
    rank = np.empty(len(values), dtype=np.int64)
    appearance = np.argsort(first, kind="stable")
    rank[appearance] = np.arange(len(values))
    codes = rank[inverse.ravel()]
    order = np.argsort(codes, kind="stable")
    offsets = np.concatenate([[0], np.cumsum(np.bincount(codes, minlength=len(values)))])
    return [str(name) for name in values[appearance]], order, offsets.astype(np.int64)


def as_distributions(
    X: Any, sample_weight: Any = None, on_empty: Any = "error", run: Optional[Run] = None
) -> Distributions:
    """Convert X to Distributions, unless it already is a set.

    A new set is created in the context of `run`. Its memory then counts toward the limit of that context,
    which lives as long as the set."""
    if isinstance(X, Distributions):
        if sample_weight is not None:
            raise ValueError("sample_weight requires lists of arrays; Distributions already have weights")
        return X
    if run is None:
        return Distributions(X, sample_weight, on_empty=on_empty)
    made = Distributions.__new__(Distributions)
    made._make(run, X, sample_weight, on_empty=on_empty)
    return made


def read(
    path: Union[AnyPath, Sequence[AnyPath]],
    *,
    labels: Optional[AnyPath] = None,
    meta: Union[None, AnyPath, Sequence[AnyPath]] = None,
    channels: Optional[Sequence[Union[str, int]]] = None,
    id: Optional[str] = None,
    columns: Optional[Sequence[str]] = None,
    drop: Optional[Sequence[str]] = None,
    weight: Optional[str] = None,
    label: Optional[str] = None,
    where: Optional[str] = None,
    matrix: Optional[str] = None,
    as_: ImageAs = "pixels",
    phase: Optional[int] = None,
    on_empty: OnEmpty = "error",
    format: Optional[Literal["h5ad"]] = None,
    encoding: str = "utf-8",
    read_timeout: float = READ_TIMEOUT,
    **transforms: Unpack[Transforms],
) -> Distributions:
    """Read distributions from a file in any supported format: npz, npy, csv, idx, d2, fcs, h5ad, images,
    point clouds.

    Parameters
    ----------
    path : path or list of paths
        The format is detected from the content. The wildcards *, ? and [] are expanded ("scans/*.ply"). Several
        files give one item each (fcs, images, clouds) or all their items. A folder is read as all of its files,
        and the names of its subfolders are the classes.
    labels : path, optional
        File with the classes of the items (idx, csv or npy).
    meta : path or list of paths, optional
        Tables of metadata, joined by their column "id" (or `id`). See the attribute `meta` of the set.
    channels : list of str or int, optional
        fcs: channels to read, by name or by number from 1.
    id : str, optional
        csv, h5ad: column with the item of each row, or several columns separated by commas. None: "id".
    columns, drop : list of str, optional
        csv, h5ad, fcs, clouds: columns that are coordinates, and columns that are not, with the wildcards
        * and ?. None: all numeric columns.
    weight, label : str, optional
        csv, h5ad: columns with the weights and the classes. None: "weight" and "label", if they exist.
    where : str, optional
        csv, h5ad: "COLUMN=VALUE" reads only the matching rows.
    matrix : str, optional
        h5ad and other HDF5: name of the table with the points, such as a layer or an embedding ("X_pca"). None: "X".
    as_ : {"pixels", "ink", "colors"}
        images: mass is the brightness, the darkness, or the area of each of 512 colors.
    phase : int, optional
        d2: the phase to read, from 1. None joins all phases.
    on_empty : {"error", "drop"}
    format : {None, "h5ad"}
        "h5ad": read as HDF5, whatever the file name. None: detect the format from the content, but accept HDF5
        only if the name ends in .h5ad, .h5 or .hdf5.
    encoding : {"utf-8", "latin1", "cp1252"}
        Encoding of all text files: tables, labels and meta.
    read_timeout : float
        h5ad: seconds without progress after which reading fails, as with a damaged file. 0 means no limit.
        HDF5 is read in a forked child process, which ends with the call.
    **transforms
        arcsinh, logicle, log1p, batch, normalize, pca, per_item, align, random_state: applied after reading, as
        in `Distributions.transformed`. `batch` can also name a column of the table that is read (csv, h5ad).

    Examples
    --------
    >>> import os, tempfile, ddsc
    >>> folder = tempfile.mkdtemp()
    >>> path = os.path.join(folder, "two.csv")
    >>> with open(path, "w") as file:
    ...     _ = file.write("id,weight,x,y\\na,1,0,0\\na,3,1,1\\nb,1,2,2\\n")
    >>> ddsc.read(path).ids
    ['a', 'b']
    """
    texts = [text for p in _paths(path) for text in _matching(p)]
    tables = _paths(meta)
    _check_there(texts + tables + _paths(labels))
    settings: Dict[str, Any] = {"on_empty": word("on_empty", on_empty, ON_EMPTY)}
    settings["image_as"] = word("as_", as_, {"pixels": 0, "ink": 1, "colors": 2})
    if labels is not None:
        settings["labels_path"] = os.fsdecode(labels)
    transforms = cast(Transforms, current_names(dict(transforms), {"normalise": "normalize"}))
    unknown = set(transforms) - _TRANSFORMS
    if unknown:
        raise TypeError(f"read() got an unexpected keyword argument {sorted(unknown)[0]!r}")
    if tables:
        settings["meta_path"] = tables[0]
    batch = transforms.get("batch")
    if isinstance(batch, str):
        settings["item_columns"] = batch
    if channels is not None:
        settings["channels"] = ",".join(str(c) for c in channels)
    named = {"id_columns": id, "weight_column": weight, "label_column": label, "where": where,
             "matrix": matrix}
    settings.update({name: value for name, value in named.items() if value is not None})
    for name, names in (("columns", columns), ("drop", drop)):
        if names is not None:
            settings[name] = names if isinstance(names, str) else ",".join(names)
    if phase is not None:
        settings["phase"] = whole("phase", phase)
    if format is not None:
        settings["format"] = word("format", format, {"h5ad": 11})
    with Run(n_jobs=1, encoding=encoding, read_timeout=read_timeout) as run:
        handle = run(_core.read_files, texts, settings)
        for table in tables[1:]:
            handle = run(_core.read_meta, handle, table, id)
    made = Distributions._wrap(handle, source=_files_read(texts + tables + _paths(labels)))
    asked = [name for name, value in transforms.items() if name != "random_state" and value is not None]
    return made.transformed(**transforms) if asked else made


_TRANSFORMS = {"arcsinh", "logicle", "log1p", "batch", "normalize", "pca", "per_item", "align", "random_state"}


def _paths(given: Union[None, AnyPath, Sequence[AnyPath]]) -> List[str]:
    if given is None:
        return []
    return [os.fsdecode(p) for p in ([given] if isinstance(given, (str, bytes, os.PathLike)) else given)]


class _Files(Tuple[str, ...]):
    """Paths of files that were read. A pickle does not include them, because it may be loaded elsewhere."""

    def __reduce__(self) -> Any:
        return _Files, ()


def _files_read(paths: List[str], vectors: Optional[str] = None) -> Tuple[str, ...]:
    """Return the files at the given paths, with the files that the readers open in addition.

    Folders are expanded to their files and those in their subfolders.
    """
    found: List[str] = []
    if vectors is not None:
        found.append(os.path.abspath(vectors))
        found.extend(map(os.path.abspath, _core.find_companions(vectors, True)))
    for path in map(os.path.abspath, paths):
        if not os.path.isdir(path):
            found.append(path)
            found.extend(_core.find_companions(path, False))
            continue
        for folder, inner, names in os.walk(path):
            if folder != path:
                inner.clear()
            read = (name for name in names if not name.endswith((".npz", ".mtx", ".d2", ".html", ".json")))
            found.extend(os.path.join(folder, name) for name in read)
    return _Files(found)


def check_output(path: PathLike, source: Tuple[str, ...]) -> None:
    """Raise ValueError if `path` is a file that was read."""
    if source and os.path.isfile(path):
        for given in source:
            if os.path.exists(given) and os.path.samefile(path, given):
                raise ValueError(f"{os.fspath(path)}: the set was read from this file; write to another file")


def _check_there(paths: List[str]) -> None:
    for path in paths:
        if not os.path.exists(path):
            raise FileNotFoundError(2, "No such file", path)


def _matching(path: str) -> List[str]:
    """Return the files that match a pattern, sorted by name. An existing path is returned unchanged."""
    found = [] if os.path.exists(path) or not glob.has_magic(path) else sorted(glob.glob(path))
    return found or [path]


def _split_text(text: Any, split: Optional[Callable[[str], Sequence[str]]]) -> List[str]:
    if not isinstance(text, str):
        raise TypeError(f"texts must be str, not {type(text).__name__}")
    parts = split(text) if split else re.split(r"(?<=[.!?])\s+|\n+", text)
    return [part.strip() for part in parts if part.strip()]


def read_text(
    documents: Union[PathLike, Sequence[PathLike]],
    vectors: Optional[PathLike] = None,
    *,
    words: Words = "fitted",
    paper: bool = False,
    text: Optional[str] = None,
    label: Optional[str] = None,
    id: Optional[str] = None,
    meta: Union[None, PathLike, Sequence[PathLike]] = None,
    stopwords: Optional[PathLike] = None,
    weighting: Weighting = "auto",
    support: int = 16,
    on_empty: OnEmpty = "drop",
    encoding: str = "utf-8",
) -> Distributions:
    """Documents as distributions over word vectors.

    Parameters
    ----------
    documents : path or list of paths
        A table with a header and one document per row (separated by tab, comma, semicolon or |), JSON lines,
        or a folder of .txt files, whose subfolders are classes. With several paths, each file is one document.
    vectors : path, optional
        Word vectors as GloVe, word2vec or fastText text, as word2vec binary (also .gz), or as npy with the
        words in a .vocab file. It can also be an npz of earlier documents (``X.write(path)``) or a model. The
        documents then use its words and weights, so that the model can assign them. None: the vectors are
        learned from the documents.
    words : {"fitted", "general", "own"}
        Fit the vectors of the file to the documents, use them unchanged (words without a vector are ignored),
        or learn vectors from the documents only.
    paper : bool
        Follow the paper: vectors are used unchanged, with TF-IDF weights (see ``ddsc help paper``).
    text, label, id : str, optional
        Columns of the table. None: the usual names (see ``ddsc text --help``).
    meta : path or list of paths, optional
        Tables of metadata about the documents, as in `read`.
    stopwords : path, optional
        File with words to ignore.
    weighting : {"auto", "tfidf", "tf"}
        "auto" learns the weights of words from the documents ("tfidf" with general vectors).
    support : int
        Largest number of points per document after merging; 0: words are not merged.
    on_empty : {"error", "drop"}
        How to treat documents without known words. Results still have a row for
        each dropped document.
    encoding : {"utf-8", "latin1", "cp1252"}
        Encoding of all text files: documents, vectors, stop words and meta.
    """
    settings: Dict[str, Any] = {
        "weighting": word("weighting", weighting, {"tfidf": 0, "tf": 1, "auto": 2}),
        "support": whole("support", support),
        "on_empty": word("on_empty", on_empty, ON_EMPTY),
        "words": word("words", words, WORDS),
        "paper": int(bool(paper)),
    }
    for name, value in (("text_columns", text), ("label_column", label), ("id_columns", id)):
        if value is not None:
            settings[name] = value
    if stopwords is not None:
        settings["stopwords_path"] = os.fsdecode(stopwords)
    paths = _paths(documents)
    _check_there(_paths(documents) + _paths(vectors) + _paths(stopwords) + _paths(meta))
    known = None if vectors is None else os.fsdecode(vectors)
    with Run(n_jobs=1, encoding=encoding) as run:
        found = run(_core.read_text, paths, known, settings)
        for table in _paths(meta):
            found = run(_core.read_meta, found, table, id)
    given = _paths(documents) + _paths(stopwords) + _paths(meta)
    return Distributions._wrap(found, source=_files_read(given, known))


def make_shapes(n: int = 20, n_points: int = 40, random_state: RandomState = 0) -> Distributions:
    """Generate n squares and n circles around a common center, as in the paper, with ``labels``.

    Examples
    --------
    >>> import ddsc
    >>> ddsc.make_shapes()
    Distributions(40 items in 2 dimensions, 40 to 40 points, 1600 distinct)
    """
    with Run(n_jobs=1, random_state=random_state) as run:
        handle = run(_core.generate, "shapes", 2, whole("n", n), whole("n_points", n_points), 2, 0.0)
    return Distributions._wrap(handle)


def make_gaussians(
    k: int = 3,
    n: int = 20,
    n_points: int = 30,
    dim: int = 2,
    separation: float = 4.0,
    random_state: RandomState = 0,
) -> Distributions:
    """Generate k classes of n Gaussian clouds, with centers `separation` standard deviations apart.

    Examples
    --------
    >>> import ddsc
    >>> len(ddsc.make_gaussians(k=2, n=5))
    10
    """
    with Run(n_jobs=1, random_state=random_state) as run:
        handle = run(
            _core.generate,
            "gaussians",
            whole("k", k),
            whole("n", n),
            whole("n_points", n_points),
            whole("dim", dim),
            float(separation),
        )
    return Distributions._wrap(handle)
