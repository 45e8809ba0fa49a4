"""Keeps the neighbor graph of a fit up to date while items are added and removed."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, Iterable, List, Optional, Sequence, Union

import numpy as np

from . import _core
from ._arrays import make_csr
from ._types import FitItems, SparseRows, Weights

if TYPE_CHECKING:
    from ._updating import Updating


class Index:
    """The neighbor graph of a fit, in which items can be inserted and removed. `DDSC.open_index` returns it.

    A change searches only the neighbor lists that it affects. For w1 and w2 of clouds and images, and for lot from 1,000
    items on, the prepared data of the metric stay in memory; in all other cases, `insert` prepares them again for all
    items. The graph is that of ``DDSC(like=model).fit(ALL)``, where ALL contains the current items. The fit itself does
    not change. To cluster the changed items, use `DDSC.update`.

    An index is a context manager, and `close` releases its memory. A rejected change does not alter the index. After a
    change that ran out of memory or was interrupted, further calls may fail and require a new index.

    Examples
    --------
    >>> import ddsc
    >>> X = ddsc.make_shapes()
    >>> model = ddsc.DDSC(n_clusters=2).fit(X[:36])
    >>> with model.open_index() as index:
    ...     index.insert(X[36:])
    ...     index.remove([0, 1])
    ...     index.graph_.shape
    (38, 38)
    """

    def __init__(self, model: "Updating") -> None:
        handle = model._kept_model()
        self._model = copy.copy(model)  # later changes of the model have no effect
        self._run = model._run()
        with self._run as run:  # ends the progress bar, and can be entered again
            self._handle: Any = run(_core.index_open, handle)
        self._ids: List[str] = [*_core.measures_names(_core.model_items(handle))["ids"]]
        self._next = len(self._ids)
        self._count_from(self._ids)

    def __enter__(self) -> "Index":
        self._open()
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __len__(self) -> int:
        return len(self._ids)

    def __repr__(self) -> str:
        return f"<Index of {len(self)} items>" if self._handle is not None else "<Index, closed>"

    @property
    def ids(self) -> List[str]:
        """Ids of the items, in the order of the graph. Inserted items follow the remaining ones."""
        return list(self._ids)

    @property
    def graph_(self) -> SparseRows:
        """The distances of each item to its neighbors, as `DDSC.graph_`."""
        index = self._open()
        with self._run as run:
            view = _core.graph_view(run(_core.index_graph, index))
        distances = np.sqrt(np.maximum(np.asarray(view["d2"]), 0))
        return make_csr(distances, view["indices"], view["offsets"], (view["n"], view["n"]))

    @property
    def n_searched_(self) -> int:
        """The number of neighbor lists that the last change searched."""
        return int(_core.index_view(self._open())["searched"])

    def insert(
        self,
        X: FitItems,
        sample_weight: Optional[Weights] = None,
        ids: Optional[Sequence[Union[str, int]]] = None,
    ) -> None:
        """Insert items.

        Parameters
        ----------
        X : as in `DDSC.fit`
        sample_weight : list of arrays, optional
        ids : sequence, optional
            Ids of the items. None: the ids of X if it is a `Distributions` with ids; otherwise, items are numbered after
            all earlier ones.
        """
        index = self._open()
        measures = self._model._new_items(self._run, X, sample_weight)[1]
        rows = measures.rows.tolist()
        if ids is not None and len(ids) != len(measures):
            raise ValueError(f"ids: {len(ids)} ids for {len(measures)} items")
        given = measures.ids if ids is None else [str(name) for name in ids]
        if ids is None and given == [str(i) for i in range(len(given))]:
            given = [str(self._next + i) for i in range(len(given))]
        names = [given[row] for row in rows]
        known = set(self._ids)
        for name in names:
            if name in known:
                raise ValueError(f"ids: the id {name!r} is already in the index")
            known.add(name)
        self._change(index, measures._handle, np.empty(0, dtype=np.int64), [*self._ids, *names])
        self._count_from(names)

    def remove(self, ids: Iterable[Union[str, int]]) -> None:
        """Remove the items with these ids."""
        if isinstance(ids, str):
            raise TypeError("ids: expected a list of ids, not a single text")
        index = self._open()
        place = {name: i for i, name in enumerate(self._ids)}
        for name in (names := [str(name) for name in ids]):
            if name not in place:
                raise ValueError(f"ids: the index has no item with the id {name!r}")
        removed = np.array([place[name] for name in names], dtype=np.int64)
        gone = set(names)
        if len(gone) < len(names):
            raise ValueError("ids: an id occurs twice")
        if len(gone):
            self._change(index, None, removed, [name for name in self._ids if name not in gone])

    def close(self) -> None:
        """Release the memory of the index. Only the ids remain available."""
        self._handle = None

    def _open(self) -> Any:
        if self._handle is None:
            raise ValueError("the index is closed")
        return self._handle

    def _change(self, index: Any, added: Any, removed: Any, ids: List[str]) -> None:
        """Change the items, whose ids are then `ids`. A warning may be raised as an exception after the change."""
        try:
            with self._run as run:
                run(_core.index_update, index, added, removed)
        finally:
            if _core.index_view(index)["n"] == len(ids):
                self._ids = ids

    def _count_from(self, ids: List[str]) -> None:
        """Number later items after those with these ids, even if they are removed. Numbers from 2**62 - 1 on are
        names, as in the library."""
        numbers = [int(name) for name in ids if name.isascii() and name.isdigit() and len(name) < 20]
        self._next = max([self._next, *(number + 1 for number in numbers if number < 2**62 - 1)])
