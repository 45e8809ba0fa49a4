"""Returns results as pandas DataFrames, or as a small record type if pandas is not installed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Tuple

import numpy as np

from ._html import table as html_table
from ._naming import traits
from ._results import Results
from ._types import Array

if TYPE_CHECKING:
    from pandas import DataFrame

WHOLE = re.compile(r"-?(0|[1-9][0-9]{0,14})")
NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
ROWS_SHOWN = 10
TRAITS = 5  # words or markers per cluster in `clusters_`


class Table:
    """A table with named columns, used if pandas is not installed.

    Examples
    --------
    >>> from ddsc._frames import Table
    >>> t = Table({"cluster": np.array([0, 1]), "size": np.array([5, 7])})
    >>> t.columns, len(t), t["size"].tolist()
    (['cluster', 'size'], 2, [5, 7])
    """

    def __init__(self, columns: Dict[str, Array]) -> None:
        self._columns = columns

    @property
    def columns(self) -> List[str]:
        """Names of the columns."""
        return list(self._columns)

    @property
    def shape(self) -> Tuple[int, int]:
        """Number of rows and of columns."""
        return len(self), len(self._columns)

    def __len__(self) -> int:
        return len(next(iter(self._columns.values()), ()))

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __getitem__(self, name: str) -> Array:
        return self._columns[name]

    def __repr__(self) -> str:
        rows = [self.columns, *([_shown(v[i]) for v in self._columns.values()] for i in range(min(len(self), ROWS_SHOWN)))]
        wide = [max(map(len, column)) for column in zip(*rows)]
        lines = ["  ".join(text.ljust(w) for text, w in zip(row, wide)).rstrip() for row in rows]
        more = len(self) - ROWS_SHOWN
        return "\n".join([*lines, f"and {more} more rows"] if more > 0 else lines)

    def _repr_html_(self) -> str:
        shown = range(min(len(self), ROWS_SHOWN))
        return html_table(self.columns, [[_shown(v[i]) for v in self._columns.values()] for i in shown])


def _shown(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, (float, np.floating)) else str(value)


def make_table(columns: Dict[str, Array]) -> "DataFrame":
    """Return a DataFrame, or a `Table` if pandas is not installed."""
    try:
        from pandas import DataFrame
    except ImportError:
        made: Any = Table(columns)
        frame: "DataFrame" = made
        return frame
    return DataFrame(columns)


def typed(texts: Array) -> Array:
    """Return metadata as numbers if every value is a plain number or empty. Strings such as "007" are not converted."""
    values = [str(text) for text in texts]
    filled = [value for value in values if value]
    if not filled or not all(NUMBER.fullmatch(value) for value in filled):
        return np.array(values, dtype=object)
    if len(filled) == len(values) and all(WHOLE.fullmatch(value) for value in values):
        return np.array([int(value) for value in values], dtype=np.int64)
    return np.array([float(value) if value else np.nan for value in values])


class Frames(Results):
    """The tables of `DDSC`."""

    def items_frame(self) -> "DataFrame":
        """Return a table with one row per item.

        Returns
        -------
        pandas.DataFrame
            The columns of items.csv: ``id``, ``label``, ``next`` (the nearest other cluster), ``ambiguity``, ``order``,
            outlier score, and the nearest neighbors with their distances. Metadata columns follow under their own
            names, as numbers if all values are numbers. Without pandas, a record type with the same columns.

        Examples
        --------
        >>> import ddsc
        >>> frame = ddsc.DDSC(n_clusters=2).fit(ddsc.make_shapes()).items_frame()
        >>> list(frame.columns)[:5], len(frame)
        (['id', 'label', 'next', 'ambiguity', 'order'], 40)
        """
        columns: Dict[str, Array] = {}
        for name, values in self.items_.items():
            plain = name[len("meta:") :] if name.startswith("meta:") else name
            if name != plain:
                columns[name if plain in columns else plain] = typed(values)
            else:
                columns[name] = values
        return make_table(columns)

    def explain_frame(self) -> "DataFrame":
        """Return the words or markers of all clusters as one table, with one row per word or marker.

        Returns
        -------
        pandas.DataFrame
            The columns ``cluster``, ``name``, ``size`` and ``rank``, followed by ``word``, ``share``, ``elsewhere`` and
            ``items``, or by ``marker``, ``effect``, ``mean`` and ``elsewhere`` (see `explain`). Without pandas, a
            record type with the same columns.

        Examples
        --------
        >>> import ddsc
        >>> X = ddsc.make_gaussians(k=2, n=8, n_points=20, separation=9.0)
        >>> list(ddsc.DDSC(n_clusters=2).fit(X).explain_frame().columns)
        ['cluster', 'name', 'size', 'rank', 'marker', 'effect', 'mean', 'elsewhere']
        """
        clusters: List[Any] = list(self.explain())
        by_words = any("words" in cluster for cluster in clusters)
        own = ("word", "share", "elsewhere", "items") if by_words else ("marker", "effect", "mean", "elsewhere")
        rows: List[Tuple[Any, ...]] = []
        for cluster, name in zip(clusters, self.names_):
            for rank, row in enumerate(cluster.get("words") or cluster.get("markers") or [], 1):
                first = row["word"] if by_words else row.get("name") or f"coordinate {row['coordinate']}"
                more = (row.get(column) for column in own[1:])
                rows.append((cluster["label"], name, cluster["size"], rank, first, *more))
        names = ("cluster", "name", "size", "rank", *own)
        texts = {"name", "word", "marker"}
        columns = [np.array(column, dtype=object if n in texts else None) for n, column in zip(names, zip(*rows))]
        columns = columns or [np.array([], dtype=object if n in texts else float) for n in names]
        return make_table(dict(zip(names, columns)))

    @property
    def clusters_(self) -> "DataFrame":
        """A table with one row per cluster.

        The columns are ``cluster`` (the label), ``name`` (as in `names_`), ``size``, ``share`` of the items, mean
        ``ambiguity``, ``typical`` (id of the most typical item), ``about`` (words or markers) and, if classes are known,
        the most common ``class`` with its ``class_share``. Without pandas, it is a record type with the same columns.

        Examples
        --------
        >>> import ddsc
        >>> table = ddsc.DDSC(n_clusters=2).fit(ddsc.make_shapes()).clusters_
        >>> table["size"].tolist(), list(table.columns)[-2:]
        ([20, 20], ['class', 'class_share'])
        """
        told = self.result_json()
        k = int(told["k"])
        about: List[Any] = [*self.explain(), *({} for _ in range(k))][:k]
        labels = np.asarray(self.labels_)
        size = np.bincount(labels[labels >= 0], minlength=k)[:k]
        typical = [(cluster.get("representatives") or [{}])[0] for cluster in about]
        columns: Dict[str, Array] = {
            "cluster": np.arange(k),
            "name": np.array(self.names_, dtype=object),
            "size": size,
            "share": size / max(len(labels), 1),
            "ambiguity": self._mean_ambiguity(k),
            "typical": np.array([str(item.get("id", "")) for item in typical], dtype=object),
            "about": np.array([", ".join(traits(cluster, TRAITS)) for cluster in about], dtype=object),
        }
        classes = getattr(self, "_classes", None)
        if classes is not None and len(classes) == len(labels):
            columns.update(_most_common(np.asarray(classes).astype(str), labels, k))
        return make_table(columns)

    def _mean_ambiguity(self, k: int) -> Array:
        values = getattr(self, "ambiguity_", None)
        if values is None:
            return np.full(k, np.nan)
        there = (self.labels_ >= 0) & np.isfinite(values)
        count = np.bincount(self.labels_[there], minlength=k)
        total = np.bincount(self.labels_[there], weights=values[there], minlength=k)
        return np.divide(total, count, out=np.full(k, np.nan), where=count > 0)


def _most_common(classes: Array, labels: Array, k: int) -> Dict[str, Array]:
    """Return the most common class of each cluster, and the share of the cluster's items in this class. Ties go to the
    first name."""
    names, codes = np.unique(classes, return_inverse=True)
    counts = np.zeros((k, len(names)))
    np.add.at(counts, (labels[labels >= 0], codes.ravel()[labels >= 0]), 1)
    share = counts.max(axis=1) / np.maximum(counts.sum(axis=1), 1)
    return {"class": names[counts.argmax(axis=1)].astype(object), "class_share": share}
