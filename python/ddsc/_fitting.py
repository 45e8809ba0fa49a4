"""Clusters items, distances or vectors."""

from __future__ import annotations

import json
import os
from typing import Any, Dict, Optional, Tuple, TypeVar

import numpy as np

from . import _core
from ._arrays import CSR, as_doubles, distance_matrix, is_sparse, make_csr, neighbor_lists
from ._baselines import check_baseline, more_settings, partition, vectors
from ._distributions import Distributions, as_distributions
from ._messages import in_python_terms
from ._model_handle import _Model
from ._results import Results
from ._run import Run
from ._types import Array, FitItems, Floats, Ints, Weights
from ._words import CENTERS, METHODS, VECTORS, check_metric, whole, word

Own = TypeVar("Own", bound="Fitting")


class Fitting(Results):
    """Methods of `DDSC` that cluster items."""

    def fit(self: Own, X: FitItems, y: object = None, sample_weight: Optional[Weights] = None) -> Own:
        """Cluster the items of X.

        Parameters
        ----------
        X : list of (n_i, d) arrays, (N, n, d) array, (N, d) array of single points, or Distributions
            With metric="precomputed", an (N, N) matrix of distances, with NaN if unknown. In a sparse
            matrix, such as the result of `neighbors`, row i lists the neighbors of item i, of which at most
            `n_neighbors` are used. No dense matrix is created. The lists need not be mutual.
        y : ignored
        sample_weight : list of (n_i,) arrays, optional
            Weights of the points of each item.
        """
        self._forget()
        word("method", self.method, METHODS)
        word("vectors_from", self.vectors_from, VECTORS)
        word("barycenter", self.barycenter, CENTERS)
        check_metric(self.metric)
        with self._run() as run:
            if self.method != "ddsc":
                check_baseline(self)
            if self.method not in ("ddsc", "sc"):
                self._fit_partition(run, X, sample_weight)
                return self
            if self.method == "sc":
                found, graph, measures = self._fit_vectors(run, X, sample_weight)
                rows, n_rows, items = measures.rows, len(measures), measures._handle
            elif self.metric == "precomputed":
                found, graph = self._fit_matrix(run, X)
                rows, items = np.arange(self.n_features_in_), None
                n_rows = len(rows)
            else:
                found, measures = self._fit_items(run, X, sample_weight)
                graph, rows, n_rows, items = None, measures.rows, len(measures), measures._handle
            view = _core.clustering_view(found)
            view.update(_standing(run, found, len(np.asarray(view["labels"]))))
            view["membership"] = np.empty((len(np.asarray(view["labels"])), view["k"]))
            run(_core.membership, found, items, view["membership"])
        self._take(view, graph, rows, n_rows)
        self.stats_["threads"] = run.context.threads
        self.converged_ &= run.worst == 0
        return self

    def _forget(self) -> None:
        """Remove the results of an earlier fit, whose method may have been different."""
        own = ("_model", "_report", "_items", "_row_ids", "_places", "_extension", "_classes")
        for name in [n for n in vars(self) if n in own or (n.endswith("_") and not n.startswith("_"))]:
            delattr(self, name)

    def _fit_matrix(self, run: Run, X: Any) -> Tuple[Any, Dict[str, Any]]:
        if isinstance(X, Distributions):
            raise ValueError("metric='precomputed' needs a matrix of distances, not Distributions")
        lists = is_sparse(X) or isinstance(X, CSR)
        matrix = X if lists else as_doubles(X, "X")
        if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
            raise ValueError(
                f"Precomputed metric requires a square matrix of distances, X has shape {matrix.shape}"
            )
        if self.stability is not None:
            raise ValueError("stability resamples points, which metric='precomputed' does not have")
        for name in ("compress", "resume"):
            if getattr(self, name) is not None:
                raise ValueError(f"{name} requires items, which metric='precomputed' does not have")
        settings = self._graph()
        if lists and self.sample == 1 and self.exact_graph != "pruned" and self.hubs != "always":
            tau = _core.graph_tau(matrix.shape[0], settings)
            graph = run(_core.graph_from_csr, *neighbor_lists(X, tau))
        else:
            graph = run(_core.graph_from_matrix, distance_matrix(X), False, settings)
        self.n_features_in_ = matrix.shape[0]
        self._model = None
        self._source = ()
        self.compression_ = self.stability_ = self._classes = None
        found = run(_core.spectral, graph, self._cluster())
        self._tell(run, None, found, graph, None, ({}, settings, self._cluster()))
        return found, _core.graph_view(graph)

    def _baseline_items(self, run: Run, X: Any, sample_weight: Any) -> Tuple[Distributions, Distributions]:
        """Return the items as passed to `fit`, and the items to compare, which differ if `compress` is set."""
        rows = measures = as_distributions(X, sample_weight, self.on_empty, run)
        if self.compress is not None:
            measures = rows._compress(run, self.compress, {})
        self.compression_ = None if self.compress is None else measures.compression
        self._row_ids = rows.ids  # without a graph, there is no table of items that has them
        self._model = self.stability_ = None
        self._source, self._classes = rows._source, rows.labels
        self.n_features_in_ = measures.dim
        return rows, measures

    def _fit_vectors(self, run: Run, X: Any, sample_weight: Any) -> Tuple[Any, Dict[str, Any], Distributions]:
        """Cluster plain vectors by spectral clustering."""
        rows, measures = self._baseline_items(run, X, sample_weight)
        settings = self._graph()
        graph = run(_core.graph_from_vectors, vectors(run, measures._handle, self.vectors_from), settings)
        found = run(_core.spectral, graph, self._cluster())
        with Run(n_jobs=1, random_state=run.seed) as single:
            named = measures._named(single)
        self._tell(run, named, found, graph, None, (self._metric(), settings, self._cluster()))
        return found, _core.graph_view(graph), rows

    def _fit_partition(self, run: Run, X: Any, sample_weight: Any) -> None:
        """Cluster by k-means of vectors or by D2 clustering, without a graph."""
        rows, measures = self._baseline_items(run, X, sample_weight)
        cut = partition(run, measures._handle, self)
        with Run(n_jobs=1, random_state=run.seed) as single:
            named = measures._named(single)
        self._tell(run, named, cut.found, None, None, (self._metric(), self._graph(), self._cluster()))
        self.labels_ = rows._by_row(cut.labels, -1)
        self.n_clusters_, self.inertia_, self.centers_ = cut.k, cut.inertia, cut.centers
        self.converged_ = cut.converged and run.worst == 0
        self.advice_ = in_python_terms(json.loads(self._report[0])["advice"])
        self.stats_ = {"threads": run.context.threads}
        self._extension = None

    def _fit_items(self, run: Run, X: Any, sample_weight: Any) -> Tuple[Any, Distributions]:
        settings = (self._metric(), self._graph(), self._cluster())
        measures = as_distributions(X, sample_weight, self.on_empty, run)
        resamples = None if self.stability is None else whole("stability", self.stability)
        if resamples is not None and resamples < 1:
            raise ValueError(f"stability={resamples}: must be at least 1, or None")
        rows = measures
        metric = settings[0]
        if self.like is not None:
            model = metric = _model_of(run, self.like)
            measures = measures._like(run, model)
            settings[2].update(like=model, k_min=0, k_max=0, joined=0)
        if self.compress is not None:
            measures = measures._compress(run, self.compress, metric)
        self.compression_ = None if self.compress is None else measures.compression
        if self.resume is not None:
            run.context.set_resume(os.fspath(self.resume), _resume_line(settings[2]))
        found = run(_core.cluster, measures._handle, *settings)
        run.context.set_resume(None, None)
        self.n_features_in_ = measures.dim
        self.stability_ = trust = None
        if resamples is not None:
            told = run(_core.stability, measures._handle, found, *settings, resamples)
            trust = told.pop("handle")
            for name, fill in (("n_changed", 0), ("other", -1)):
                told[name] = rows._by_row(np.array(told[name]), fill)
            told["labels"] = rows._by_row(np.array(told["labels"]).T, -1).T
            self.stability_ = told
        # A library object keeps its context, and a context keeps its threads. Use a context without extra threads here.
        with Run(n_jobs=1, random_state=run.seed) as single:
            named = measures._named(single)
            joined = settings[2]["joined"] != 0
            model = None if joined else single(_core.model_create, named, found, *settings)
        self._model, self._source = None if joined else _Model(model), rows._source
        self._tell(run, named, found, None, trust, settings)
        self._row_ids = rows.ids if len(measures) < len(rows) else None
        self._classes = rows.labels
        return found, rows

    def _tell(
        self, run: Run, measures: Any, found: Any, graph: Any, trust: Any, settings: Any
    ) -> None:
        """Store the library's report before its result objects are freed."""
        told, self._items = run(
            _core.report_json,
            measures,
            found,
            graph,
            trust,
            *settings,
            run.worst == 0,
            bool(self.outliers),
            self.method,
            more_settings(self),
        )
        truth = None if measures is None else _core.measures_view(measures).get("labels")
        self.candidates_ = json.loads(told).get("candidates", [])
        self._report = (told, run.seed, None if truth is None else np.array(truth))
        self._places = None

    def _take(self, view: Dict[str, Any], graph: Any, rows: Array, n_rows: int) -> None:
        """Store the results by input row. Dropped items have label -1 and no neighbors."""
        whole = len(rows) == n_rows

        def spread(values: Array, fill: Any) -> Array:
            if whole:
                return np.array(values)
            out = np.full((n_rows, *values.shape[1:]), fill, dtype=values.dtype)
            out[rows] = values
            return out

        def csr(data: Array, indices: Any, offsets: Any) -> Any:
            indices, offsets = np.asarray(indices), np.asarray(offsets)
            if not whole:
                counts = np.zeros(n_rows + 1, dtype=np.int64)
                counts[rows + 1] = np.diff(offsets)
                indices, offsets = rows[indices].astype(np.int32), np.cumsum(counts)
            return make_csr(data, indices, offsets, (n_rows, n_rows))

        self.labels_ = spread(np.asarray(view["labels"]), -1)
        self.embedding_ = spread(np.asarray(view["embedding"]), np.nan)
        self.center_distance_ = spread(view["distance"], np.nan)
        self.next_cluster_ = spread(view["next"], -1)
        self.ambiguity_ = spread(view["ambiguity"], np.nan)
        self.membership_ = spread(view["membership"], np.nan)
        left_out = self.outliers_ if self.outliers else np.zeros(n_rows, dtype=bool)
        self.labels_[left_out] = -1
        self.eigenvalues_ = np.array(view["eigenvalues"])
        self.affinity_matrix_ = csr(
            np.asarray(view["affinity_values"]), view["affinity_indices"], view["affinity_offsets"]
        )
        graph = graph or {name: view["graph_" + name] for name in ("offsets", "indices", "d2")}
        distances = np.sqrt(np.maximum(np.asarray(graph["d2"]), 0))
        self.graph_ = csr(distances, graph["indices"], graph["offsets"])
        self.n_clusters_ = int(view["k"])
        self.n_components_ = int(view["n_components"])
        self.gamma_ = float(view["gamma"])
        self.sweep_ = view["sweep"]
        self.sweep_labels_ = np.array([spread(s, -1) for s in np.asarray(view["sweep_labels"])])
        self.sweep_labels_[:, left_out] = -1
        self.stats_ = {
            **view["pairs"],
            **{k: view[k] for k in view if k.startswith("seconds_")},
            "max_residual": view["max_residual"],
            **{k: view[k] for k in ("n_merged_small", "hubs_rescaled", "in_degree_largest", "n_nobody")},
        }
        if self.compression_ is not None:
            self.stats_["compress_worst"] = self.compression_["max_w2"]
        self.converged_ = bool(view["verified"])
        self.advice_ = in_python_terms(view["advice"])
        self._extension = None
        if self.metric == "precomputed":
            names = ("labels", "embedding", "radius", "scale", "scale_rank", "scale_floor")
            tau = int(np.diff(np.asarray(graph["offsets"])).max(initial=1))
            self._extension = {"tau": tau, **{n: np.array(view.get(n)) for n in names}}
            self._extension["chosen_by"] = np.array(graph["scale"]) if "scale" in graph else None

    def fit_predict(self, X: FitItems, y: object = None, sample_weight: Optional[Weights] = None) -> Ints:
        """Cluster X and return `labels_`."""
        return self.fit(X, y, sample_weight=sample_weight).labels_

    def fit_transform(self, X: FitItems, y: object = None, sample_weight: Optional[Weights] = None) -> Floats:
        """Cluster X and return `embedding_`."""
        return self.fit(X, y, sample_weight=sample_weight).embedding_


def _model_of(run: Run, like: Any) -> Any:
    """Return the model of a fit, a model.npz or a folder."""
    if hasattr(like, "_kept_model"):
        return like._kept_model()
    file = os.fspath(like)
    return run(_core.model_read, os.path.join(file, "model.npz") if os.path.isdir(file) else file)


def _resume_line(c: Dict[str, Any]) -> str:
    """Return the settings line in the format of the program, so that the program can resume a folder of this
    package."""
    return (
        f"cluster k {c['k_min']}:{c['k_max']}, gamma rule {c['gamma_rule']} {c.get('gamma', 0):.17g}, "
        f"min-cluster {c['min_cluster']:.17g}, paper {c['paper']}"
    )


def _standing(run: Run, found: Any, n: int) -> Dict[str, Array]:
    """Compute the distance to the center, the ambiguity and the nearest other cluster of each item."""
    place: Dict[str, Array] = {"distance": np.empty(n), "ambiguity": np.empty(n), "next": np.empty(n, np.int32)}
    run(_core.standing, found, place["distance"], place["ambiguity"], place["next"])
    return place
