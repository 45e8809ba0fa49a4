"""Computes labels and embeddings of new items."""

from __future__ import annotations

from typing import Any, Dict, Mapping, NamedTuple, Optional, Sequence, Tuple, Union, cast

import numpy as np

from . import _core
from ._arrays import distance_matrix
from ._base import check_features, check_fitted
from ._distributions import Distributions, as_distributions
from ._fitted import Fitted
from ._permanova import ColumnsLike
from ._run import Run
from ._scores import adjusted_mutual_info_score
from ._states import states
from ._types import Array, FitItems, Flags, Floats, Ints, Json, Labels, Objects, Weights

# Eigenvectors with smaller eigenvalues vary between neighbors, so dividing by these eigenvalues would amplify noise.
LEAST_EIGENVALUE = 0.1


class Assignment(NamedTuple):
    """The assignment of new items to the clusters of a model."""

    labels: Ints
    """Cluster of each item."""
    confidence: Floats
    """1 - (distance to the center) / (distance to the nearest center of another cluster)."""
    distance: Floats
    """Distance to the 7th nearest item of the model, or to the last neighbor if there are fewer."""
    far: Flags
    """True if this distance exceeds the 99% quantile of the corresponding distances of the items of the model."""


class NewItems(Fitted):
    """Methods of `DDSC` that label new items."""

    def predict(self, X: FitItems, sample_weight: Optional[Weights] = None) -> Ints:
        """Predict the clusters of new items from their exact neighbors among the items of `fit`.

        Nystrom's formula extends the embedding to an item from its neighbors, and the nearest cluster center
        determines its label. An item that equals an item of `fit` receives the same label.

        Parameters
        ----------
        X : as in `fit`; with metric="precomputed", an (n, N) matrix of distances to the items of `fit`
        sample_weight : list of arrays, optional
        """
        return self._extend(X, sample_weight)[1]

    def predict_proba(self, X: FitItems, sample_weight: Optional[Weights] = None) -> Floats:
        """Return the memberships of new items: an (n, n_clusters_) array whose rows sum to 1. The largest entry of a
        row belongs to the label of `predict`. Rows of dropped items are NaN. `membership_` contains the memberships of
        the items of `fit`; its documentation explains how they are calibrated.

        Examples
        --------
        >>> import ddsc
        >>> X = ddsc.make_shapes()
        >>> ddsc.DDSC(n_clusters=2).fit(X).predict_proba(X[:3]).argmax(axis=1)
        array([0, 0, 0])
        """
        check_fitted(self, "labels_")
        with self._run() as run:
            model, measures = self._new_items(run, X, sample_weight)
            out = np.empty((measures.n_items, _core.model_view(model)["k"]))
            run(_core.assign, model, measures._handle, None, None, None, None, None, out)
        return measures._by_row(out, np.nan)

    def transform(self, X: FitItems, sample_weight: Optional[Weights] = None) -> Floats:
        """Return the rows of the spectral embedding for new items (see `predict`)."""
        return self._extend(X, sample_weight)[0]

    def score(self, X: FitItems, y: Optional[Labels] = None, sample_weight: Optional[Weights] = None) -> float:
        """Score how well new items fit the clusters; higher is better.

        With true classes y, this is the adjusted mutual information between y and `predict`. Otherwise, it
        is the mean of 1 - (distance to the center of the item's cluster) / (distance to the nearest other
        center). scikit-learn's searches use this score if no `scoring` is specified.

        Examples
        --------
        >>> import ddsc
        >>> X = ddsc.make_shapes()
        >>> ddsc.DDSC(n_clusters=2).fit(X).score(X, X.labels)
        1.0
        """
        rows, labels = self._extend(X, sample_weight)
        if y is not None:
            return adjusted_mutual_info_score(y, cast(Labels, labels))
        known = labels >= 0
        members = [self.embedding_[self.labels_ == c] for c in range(self.n_clusters_)]
        nowhere = np.full(self.embedding_.shape[1], np.inf)  # the cluster of this center is empty
        centers = np.array([part.mean(axis=0) if len(part) else nowhere for part in members])
        away = np.linalg.norm(rows[known, None] - centers[None], axis=2)
        own = np.take_along_axis(away, labels[known, None], axis=1)[:, 0]
        np.put_along_axis(away, labels[known, None], np.inf, axis=1)
        return float(np.mean(1 - own / np.maximum(away.min(axis=1), 1e-300)))

    def get_feature_names_out(self, input_features: object = None) -> Objects:
        """Names of the columns of the embedding."""
        check_fitted(self, "labels_")
        return np.array([f"ddsc{i}" for i in range(self.embedding_.shape[1])], dtype=object)

    def assign(self, X: FitItems, sample_weight: Optional[Weights] = None) -> Assignment:
        """Assign labels to new items, with confidences and a flag for items that are far from all items of `fit`.

        Cannot be used with metric="precomputed".

        Examples
        --------
        >>> import numpy as np, ddsc
        >>> model = ddsc.DDSC(n_clusters=2).fit(ddsc.make_shapes())
        >>> model.assign([np.full((3, 2), 100.0)]).far
        array([ True])
        """
        with self._run() as run:
            model, measures = self._new_items(run, X, sample_weight)
            n = measures.n_items
            labels, far = np.empty(n, np.int32), np.empty(n, np.int32)
            confidence, distance = np.empty(n), np.empty(n)
            run(_core.assign, model, measures._handle, None, labels, confidence, distance, far, None)
        parts = [(labels, -1), (confidence, np.nan), (distance, np.nan), (far != 0, False)]
        return Assignment(*(measures._by_row(values, fill) for values, fill in parts))

    def states(
        self,
        n_states: Union[int, str] = "auto",
        *,
        by: Optional[Union[ColumnsLike, str]] = None,
        adjust: Optional[Union[ColumnsLike, str]] = None,
        block: Optional[Union[ColumnsLike, str]] = None,
        kinds: Optional[Mapping[str, str]] = None,
        between: Optional[Tuple[Union[int, Sequence[int]], Union[int, Sequence[int]]]] = None,
        clusters: Optional[Tuple[int, int]] = None,
        permutations: int = 9999,
    ) -> Json:
        """Divide the points of the items into states, such as cell states, and compare their shares.

        All parameters except `clusters` are those of `ddsc.states`, which describes the result. `by`, `adjust` and
        `block` also accept names of metadata columns.

        Parameters
        ----------
        clusters : pair of int, optional
            Computes the transport plan between the items of two clusters, instead of `between`.

        Returns
        -------
        dict
            As returned by `ddsc.states`. "clusters" has the mean share of each state in each cluster. These shares are
            descriptive, because the clusters were computed from the same points.

        Examples
        --------
        >>> import ddsc
        >>> X = ddsc.datasets.load_cells(n_donors=8, n_cells=60)
        >>> model = ddsc.DDSC(n_clusters=2, metric="mmd").fit(X)
        >>> found = model.states(4, clusters=(0, 1))
        >>> found["clusters"].shape, found["transport"]["mass"].shape
        ((2, 4), (4, 4))
        """
        if clusters is not None:
            if between is not None:
                raise ValueError("pass either between or clusters")
            if len(clusters) != 2 or any(not (self.labels_ == c).any() for c in clusters):
                raise ValueError(f"clusters={clusters!r}: must be two of the clusters 0 to {self.n_clusters_ - 1}")
        items = Distributions._wrap(_core.model_items(self._kept_model()))
        labels = self.labels_ if len(self.labels_) == len(items) else self.labels_[self._there()]
        if clusters is not None:
            between = (np.flatnonzero(labels == clusters[0]).tolist(), np.flatnonzero(labels == clusters[1]).tolist())
        found = states(
            items, n_states, by=by, adjust=adjust, block=block, kinds=kinds, between=between, permutations=permutations,
            random_state=self.random_state, n_jobs=self.n_jobs, verbose=self.verbose, memory_limit=self.memory_limit,
        )
        shares = [found["shares"][labels == c] for c in range(int(self.n_clusters_))]
        found["clusters"] = np.array([share.mean(0) if len(share) else np.full(found["n_states"], np.nan) for share in shares])
        return found

    def _kept_model(self) -> Any:
        check_fitted(self, "labels_")
        if self.metric == "precomputed":
            raise ValueError("metric='precomputed' has no items with which new items could be compared")
        if self._model is None and self.method != "ddsc":
            raise ValueError(f"method={self.method!r} cannot assign new items; fit with method='ddsc'")
        if self._model is None:
            raise ValueError(f"metric={self.metric!r}: joined metrics cannot assign new items; fit with one metric")
        return self._model.handle

    def _new_items(self, run: Run, X: Any, sample_weight: Any) -> Tuple[Any, Distributions]:
        model = self._kept_model()
        measures = as_distributions(X, sample_weight, self.on_empty, run)
        if not _core.model_view(model)["transformed"]:  # otherwise untransformed items may have another dimension
            check_features(self, measures.dim)
        return model, measures

    def _extend(self, X: Any, sample_weight: Any) -> Tuple[Array, Array]:
        check_fitted(self, "labels_")
        if self._extension is not None:
            near = self._near_by_matrix(X, self._extension["tau"], self._extension.get("chosen_by"))
            return _nystrom(self._extension, self.eigenvalues_, self.gamma_, *near)
        with self._run() as run:
            model, measures = self._new_items(run, X, sample_weight)
            rows = np.empty((measures.n_items, self.embedding_.shape[1]))
            labels = np.empty(measures.n_items, np.int32)
            run(_core.assign, model, measures._handle, rows, labels, None, None, None, None)
        return measures._by_row(rows, np.nan), measures._by_row(labels, -1)

    def _near_by_matrix(
        self, X: Any, tau: int, scale: Optional[Array]
    ) -> Tuple[Array, Array, Array]:
        matrix = distance_matrix(X)
        if matrix.ndim != 2:
            raise ValueError(f"Expected 2D array, got {matrix.ndim}D array instead")
        check_features(self, matrix.shape[1])
        if not len(matrix):
            raise ValueError("found array with 0 sample(s)")
        known = np.where(np.isnan(matrix), np.inf, matrix)
        if (known < 0).any():
            raise ValueError("distances must not be negative")
        key = known if scale is None else np.square(known) / scale
        index = np.argsort(key, axis=1, kind="stable")[:, : min(tau, matrix.shape[1])]
        distance = np.take_along_axis(known, index, axis=1)
        if scale is not None:
            nearest = np.argsort(distance, axis=1, kind="stable")
            index, distance = (np.take_along_axis(a, nearest, axis=1) for a in (index, distance))
        if np.isinf(distance[:, 0]).any():
            raise ValueError(f"item {int(np.isinf(distance[:, 0]).argmax())} has no known distance")
        return index, np.square(distance), np.where(distance[:, 0] == 0, index[:, 0], -1)


def _nystrom(
    fitted: Dict[str, Any],
    eigenvalues: Array,
    gamma: float,
    index: Array,
    d2: Array,
    same: Array,
) -> Tuple[Array, Array]:
    """Return rows and labels of new items with neighbors `index` at squared distances `d2`.

    For the eigenvectors u of the random walk, u_k(x) = 1 / lambda_k sum_j a_xj u_k(j) / sum_j a_xj. Constant factors of
    a row have no effect, because rows are normalized.
    """
    d2 = np.maximum(d2, 0)
    if gamma > 0:
        power = -gamma * d2
    else:
        finite = np.where(np.isinf(d2), -1, d2)
        rank = np.minimum((finite >= 0).sum(axis=1), fitted["scale_rank"]) - 1
        own = np.sqrt(finite[np.arange(len(d2)), rank])
        own = np.maximum(own, fitted["scale_floor"])
        power = -2 * d2 / (own[:, None] * fitted["scale"][index])
    affinity = np.exp(power - power.max(axis=1, keepdims=True))
    walk = fitted["embedding"] * fitted["radius"][:, None]
    lam = 1 - eigenvalues[: walk.shape[1]]
    rows = np.einsum("ij,ijk->ik", affinity, walk[index]) / np.maximum(lam, LEAST_EIGENVALUE)
    norm = np.linalg.norm(rows, axis=1, keepdims=True)
    rows = np.divide(rows, norm, out=np.zeros_like(rows), where=norm > 0)
    twin = same >= 0
    rows[twin] = fitted["embedding"][same[twin]]

    old = fitted["labels"]
    k = int(old.max()) + 1
    sums = np.zeros((k, walk.shape[1]))
    np.add.at(sums, old, fitted["embedding"])
    sizes = np.bincount(old, minlength=k)[:, None]
    centers = np.divide(sums, sizes, out=np.full_like(sums, np.inf), where=sizes > 0)  # empty clusters are far
    away = ((rows[:, None, :] - centers[None]) ** 2).sum(axis=2)
    labels = away.argmin(axis=1).astype(np.int32)
    lost = ~rows.any(axis=1)  # the neighbors have no entries in the eigenvectors, so a weighted vote is used
    for i in np.flatnonzero(lost):
        labels[i] = np.bincount(old[index[i]], weights=affinity[i], minlength=k).argmax()
    labels[twin] = old[same[twin]]
    return rows, labels
