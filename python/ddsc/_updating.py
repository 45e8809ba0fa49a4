"""Adds items to a fit and removes items from it."""

from __future__ import annotations

import json
from typing import Any, Dict, Iterable, List, Optional, Tuple, TypeVar, Union

import numpy as np

from . import _core
from ._distributions import Distributions
from ._fitting import Fitting, _standing
from ._index import Index
from ._model_handle import _Model
from ._new_items import NewItems
from ._run import Run
from ._types import Array, FitItems, Weights
from ._words import whole

Own = TypeVar("Own", bound="Updating")


class Updating(Fitting, NewItems):
    """Methods of `DDSC` that change the items of a fit."""

    update_: Dict[str, Any]

    def update(
        self: Own,
        X: Optional[FitItems] = None,
        remove: Optional[Iterable[Union[str, int]]] = None,
        sample_weight: Optional[Weights] = None,
        n_clusters: Optional[int] = None,
        resolve: bool = False,
    ) -> Own:
        """Return a new fit with items added and removed. This fit does not change.

        The result is the same as ``DDSC(like=self).fit(ALL)``, where ALL contains the remaining items followed by X.
        Only the neighbor lists that the change affects are recomputed. Clusters keep their number and name if the old
        and the new cluster share at least half of their combined items. `update_` lists the clusters that are new,
        split, merged or vanished, and the numbers that are no longer used. The new fit has the items in the order of
        ALL.

        K grows if a new cluster consists mostly of items that were inserted since K was chosen, and if clusterings of
        random halves of the items also find it. `update_["candidates"]` describes such clusters. Known classes
        (`Distributions` with labels) are kept if this fit has them; items without a class have class -1, or "" for
        named classes.

        Parameters
        ----------
        X : as in `fit`, optional
            New items. Items without ids are numbered after those of the fit.
        remove : ids, optional
            Ids of items of the fit. If the items have no ids, pass their numbers, counted from 0.
        sample_weight : list of arrays, optional
        n_clusters : int, optional
            Number of clusters. None: as in this fit, or more.
        resolve : bool
            Choose again the settings that this fit chose from its data: `n_neighbors`, `gamma`, `bandwidth`, `epsilon`,
            `reference` and `hubs`. `update_["settings"]` lists them with their values before and after.

        Examples
        --------
        >>> import ddsc
        >>> X = ddsc.make_shapes()
        >>> model = ddsc.DDSC(n_clusters=2).fit(X[:36])
        >>> later = model.update(X[36:], remove=[0, 1])
        >>> len(model.labels_), len(later.labels_)
        (36, 38)
        """
        handle = self._kept_model()
        made: Own = type(self)(**{name: getattr(self, name) for name in self.get_params(deep=False)})
        made.like = None
        low = 0 if n_clusters is None else whole("n_clusters", n_clusters)
        with self._run() as run:
            new = None if X is None else self._new_items(run, X, sample_weight)[1]
            added = None if new is None else _items_of(run, new)
            removed = _find_items(handle, remove)
            cluster = {**self._cluster(), "like": handle, "k_min": low, "k_max": low, "joined": 0}
            cluster["resolve"] = int(bool(resolve))
            settings = (self._metric(), self._graph(), cluster)
            found = run(_core.update, handle, added, removed, *settings)
            made._take_update(run, found, settings, self._given_names())
            made._take_classes(self, removed, None if new is None or new.labels is None else new.labels[new.rows])
        return made

    def partial_fit(self: Own, X: FitItems, y: object = None, sample_weight: Optional[Weights] = None) -> Own:
        """Add the items of X to this fit (see `update`), or fit X if this is the first call. Returns self."""
        if not hasattr(self, "labels_"):
            return self.fit(X, y, sample_weight=sample_weight)
        later = self.update(X, sample_weight=sample_weight)
        own = {name: value for name, value in vars(later).items() if name not in self.get_params(deep=False)}
        self._forget()
        vars(self).update(own)
        return self

    def open_index(self) -> Index:
        """Open an index of the items, which keeps `graph_` up to date while items are inserted and removed one by one.

        Use `update` instead to cluster a changed set. The fit must have exact neighbors, one metric and all pairs.
        """
        return Index(self)

    def _take_classes(self, before: Own, removed: Array, labels: Optional[Array]) -> None:
        """Keep the known classes of the remaining items, and append the classes of the new items."""
        old = getattr(before, "_classes", None)
        if old is None or len(old) != len(before.labels_):
            return
        kept = np.delete(np.asarray(old)[before._there()], removed)
        n_added = len(self.labels_) - len(kept)
        if kept.dtype.kind in "iu" and (labels is None or labels.dtype.kind in "iu"):
            self._classes = np.append(kept, np.full(n_added, -1) if labels is None else labels)
            truth = self._classes
        else:
            self._classes = np.append(kept.astype(str), [""] * n_added if labels is None else labels.astype(str))
            names = np.unique(self._classes[self._classes != ""])
            truth = np.where(self._classes == "", -1, np.searchsorted(names, self._classes))
        self._report = (*self._report[:2], truth.astype(np.int32))

    def _given_names(self) -> List[Optional[str]]:
        """Return the names of clusters that the user has set."""
        report = getattr(self, "_report", None)
        clusters = json.loads(report[0]).get("clusters", []) if report else []
        return [cluster.get("name") for cluster in clusters]

    def _take_update(
        self, run: Run, found: Dict[str, Any], settings: Tuple[Any, ...], names: List[Optional[str]]
    ) -> None:
        measures, clustering = Distributions._wrap(found["measures"]), found["clustering"]
        with Run(n_jobs=1, random_state=run.seed) as single:
            self._model = _Model(single(_core.model_create, found["measures"], clustering, *settings))
        self._source, self.compression_, self._row_ids = (), None, None
        self._classes = self.stability_ = None
        self.n_features_in_ = measures.dim
        self._tell(run, found["measures"], found["update"], None, None, settings)
        told = json.loads(self._report[0])
        for cluster, name in zip(told["clusters"], names):
            if name:
                cluster["name"] = name
        self._report = (json.dumps(told), *self._report[1:])
        self.update_ = {**told["update"], "unused_numbers": told["unused_numbers"]}
        view = _core.clustering_view(clustering)
        view.update(_standing(run, clustering, len(np.asarray(view["labels"]))))
        view["membership"] = np.empty((len(np.asarray(view["labels"])), view["k"]))
        run(_core.membership, clustering, found["measures"], view["membership"])
        self._take(view, None, measures.rows, len(measures))
        self.stats_["threads"] = run.context.threads
        self.converged_ &= run.worst == 0


def _items_of(run: Run, measures: Distributions) -> Any:
    """Return a handle of the items. Omit default ids, so that the library numbers the items."""
    if measures.ids == [str(i) for i in range(len(measures))]:
        return measures._handle
    return measures._named(run)


def _find_items(model: Any, remove: Optional[Iterable[Union[str, int]]]) -> Array:
    """Return the indices of items with these ids."""
    if remove is None:
        return np.empty(0, dtype=np.int64)
    if isinstance(remove, str):
        raise TypeError("remove: expected a list of ids, not a single text")
    place = {name: i for i, name in enumerate(_core.measures_names(_core.model_items(model))["ids"])}
    ids = [str(name) for name in remove]
    for name in ids:
        if name not in place:
            raise ValueError(f"remove: the fit has no item with the id {name!r}")
    return np.array([place[name] for name in ids], dtype=np.int64)
