"""Creates sets of distributions from arrays, tables, AnnData and texts."""

from __future__ import annotations

import difflib
import re
import warnings
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Literal, Optional, Sequence, Tuple, Union

import numpy as np

from . import _core
from ._anndata_input import cell_values, sample_columns
from ._arrays import as_doubles, is_sparse, whole_numbers
from ._derived import name_text, value_text
from ._image_colors import color_shares, looks_like_colors
from ._run import Run
from ._types import AnnDataLike, Array, ArrayLike, Labels, OnEmpty, SparseRows, TableLike
from ._words import ON_EMPTY, word

if TYPE_CHECKING:
    from ._distributions import Distributions

LabelsOfItems = Union[Labels, Dict[str, int], Dict[str, str]]


def drops_empty(on_empty: Any) -> bool:
    """Return True if items without mass should be dropped instead of causing an error."""
    return word("on_empty", on_empty, ON_EMPTY) == 1


def unique_ids(ids: Optional[Sequence[object]]) -> Optional[List[str]]:
    """Return ids as texts. Raise ValueError if an id appears twice."""
    if ids is None:
        return None
    seen: Dict[str, int] = {}
    for row, name in enumerate(map(name_text, ids)):
        if seen.setdefault(name, row) != row:
            raise ValueError(f"ids must be unique, but rows {seen[name]} and {row} both have the id {name!r}")
    return list(seen)


class Constructors:
    """Class methods of `Distributions` that create sets."""

    if TYPE_CHECKING:

        @classmethod
        def _wrap(
            cls, handle: Any, ids: Any = None, labels: Any = None, source: Tuple[str, ...] = ()
        ) -> "Distributions": ...

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
        """Create items from one matrix. Item i consists of rows offsets[i] to offsets[i + 1] - 1.

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
            handle = run(_core.clouds, matrix, masses, starts, drops_empty(on_empty))
        return cls._wrap(handle, unique_ids(ids), labels)

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
                drops_empty(on_empty),
            )
        return cls._wrap(handle, unique_ids(ids), labels)

    @classmethod
    def from_histograms(
        cls,
        histograms: ArrayLike,
        support: Optional[ArrayLike] = None,
        *,
        as_: Optional[Literal["colors", "volume"]] = None,
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
        as_ : {None, "colors", "volume"}
            Required if the last of four axes has 3 or 4 cells, as in color images. "colors": the items are the shares of
            512 colors in each image, as in ``ddsc.read(path, as_="colors")``; images are uint8, or float from 0 to 1,
            with an optional opacity. "volume": the last axis is a coordinate.

        Examples
        --------
        >>> import numpy as np, ddsc
        >>> ddsc.Distributions.from_histograms(np.eye(4).reshape(4, 2, 2))
        Distributions(4 items in 2 dimensions, 1 to 1 points, 4 distinct)
        """
        if support is None and looks_like_colors(histograms, as_):
            support, shares = color_shares(histograms)
            made = cls.from_histograms(shares, support, ids=ids, labels=labels, on_empty=on_empty)
            return made.described(coordinate_names=["L", "a", "b"])
        array = as_doubles(histograms, "histograms")
        if support is None:
            if array.ndim < 2:
                raise ValueError("histograms must have one row per item")
            cells = np.indices(array.shape[1:]).reshape(array.ndim - 1, -1).T
            support = cells.astype(np.float64)
        array = array.reshape(len(array), -1)
        with Run(n_jobs=1) as run:
            handle = run(_core.dense, as_doubles(support, "support"), array, drops_empty(on_empty))
        return cls._wrap(handle, unique_ids(ids), labels)

    @classmethod
    def from_frame(
        cls,
        frame: TableLike,
        groupby: str,
        columns: Optional[Sequence[str]] = None,
        weight: Optional[str] = None,
        label: Optional[str] = None,
    ) -> "Distributions":
        """Create items from a pandas DataFrame with one row per point, in which a column identifies the item.

        Parameters
        ----------
        frame : pandas.DataFrame
        groupby : str
            Column with the names of the items. Items are ordered by first appearance.
        columns : list of str, optional
            Coordinates. None: all numeric columns that are not used otherwise.
        weight : str, optional
            Column with the weights of the points. None: "weight" if this column exists and `columns` is None, as in csv
            files.
        label : str, optional
            Column with the class of the item, constant within the item. None: "label" if this column exists and
            `columns` is None.

        Examples
        --------
        >>> import pandas as pd, ddsc                                       # doctest: +SKIP
        >>> cells = pd.DataFrame({"who": ["a", "a", "b"], "x": [0, 1, 5]})  # doctest: +SKIP
        >>> ddsc.Distributions.from_frame(cells, groupby="who").ids         # doctest: +SKIP
        ['a', 'b']
        """
        table: Any = frame
        for argument, names in (("groupby", groupby), ("weight", weight), ("label", label), ("columns", columns)):
            _check_columns(table, argument, names)
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
        *,
        type: Optional[str] = None,
        meta: Union[bool, Sequence[str]] = True,
    ) -> "Distributions":
        """Create items from an AnnData object, one for each value of ``adata.obs[groupby]``.

        Parameters
        ----------
        adata : anndata.AnnData
            Cells by variables, in memory or backed by a file. Sparse matrices are converted to dense ones.
        groupby : str
            Column of ``adata.obs`` with the sample or patient of each cell.
        layer, obsm : str, optional
            Layer or embedding (such as "X_pca") with the coordinates. None: ``adata.X``.
        variables : list of str, optional
            Variables to use. Cannot be combined with `obsm`.
        label : str, optional
            Column of ``adata.obs`` with the class of each sample.
        type : str, optional
            Column of ``adata.obs`` with the type of each cell. Types become names of points, and `ddsc.states` and the
            report use them as states.
        meta : bool or list of str
            True: the columns of ``adata.obs`` that are constant within each sample become metadata of the items. A list
            selects columns by name, and False selects none.
        """
        obs = adata.obs
        for column in (groupby, label, type, *(meta if not isinstance(meta, bool) else ())):
            if column is not None and column not in obs.columns:
                raise ValueError(f"obs has no column {column!r}; it has {', '.join(map(str, obs.columns))}")
        values, coordinate_names = cell_values(adata, layer, obsm, variables)
        names, order, offsets = _groups(obs[groupby])
        values = values[order]
        if is_sparse(values):
            values = values.toarray()
        labels = None if label is None else _group_labels(obs[label], names, order, offsets)
        made = cls.from_arrays(values, offsets, ids=names, labels=labels)
        found = {} if meta is False else sample_columns(obs, [groupby, label, type], order, offsets)
        if not isinstance(meta, bool):
            varies = [column for column in meta if column not in found]
            if varies:
                raise ValueError(f"meta: column {varies[0]!r} of obs is empty, or not constant within each sample")
            found = {column: found[column] for column in meta}
        types = None if type is None else _point_types(made.support, values, obs[type].to_numpy()[order])
        return made.described(coordinate_names=coordinate_names, point_names=types, meta=found or None)

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
        """Create items from texts. Each item is the cloud of the sentence vectors of one text, which `encode` computes.

        Parameters
        ----------
        texts : sequence of str
            One text per item.
        encode : callable
            Maps a list of sentences to one vector each, like the method ``encode`` of a sentence encoder.
            It is called once with all distinct sentences.
        split : callable, optional
            Splits a text into parts. None: sentences end at ., ! or ? before white space, and at the ends of lines.
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
        make: Any = cls
        made: Distributions = make(points, masses, ids=ids, labels=labels, on_empty=on_empty)
        name = {vectors[k].tobytes(): sentence for sentence, k in reversed(list(place.items()))}
        return made.described(point_names=[name[row.tobytes()] for row in made.support])


def _check_columns(table: Any, argument: str, names: Any) -> None:
    """Raise ValueError if a name is not a column of the frame."""
    for name in [names] if isinstance(names, str) else names or []:
        if name not in table.columns:
            near = difflib.get_close_matches(str(name), map(str, table.columns), n=1)
            hint = f" (did you mean {near[0]!r}?)" if near else ""
            raise ValueError(f"{argument}={name!r} is not a column of the frame; it has {', '.join(map(str, table.columns))}{hint}")


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
    """Return the names of the groups in order of first appearance, a permutation that sorts the rows by group, and
    offsets."""
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


def _point_types(support: Array, values: Array, types: Array) -> List[str]:
    """Return the type of each row of support. Equal cells of several types are one point with all of them."""
    found: Dict[bytes, Dict[str, None]] = {}
    for row, value in zip(np.asarray(values, dtype=np.float64) + 0.0, types):
        found.setdefault(row.tobytes(), {})[value_text(value)] = None
    return [" + ".join(found[row.tobytes()]) for row in np.asarray(support, dtype=np.float64) + 0.0]


def _split_text(text: Any, split: Optional[Callable[[str], Sequence[str]]]) -> List[str]:
    if not isinstance(text, str):
        raise TypeError(f"texts must be str, not {type(text).__name__}")
    parts = split(text) if split else re.split(r"(?<=[.!?])\s+|\n+", text)
    return [part.strip() for part in parts if part.strip()]
