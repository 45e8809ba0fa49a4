"""The estimator: clusters items and assigns new items to the clusters."""

from __future__ import annotations

import csv
import functools
import html
import io
import json
import os
import shutil
import sys
import tempfile
import zipfile
from typing import Any, Dict, List, NamedTuple, Optional, Tuple, Union, cast

import numpy as np

from . import _core
from ._arrays import CSR, as_doubles, is_sparse, make_csr, neighbor_lists, sparse_entries
from ._baselines import check_baseline, more_settings, partition, vectors
from ._base import BaseEstimator, ClusterMixin, TransformerMixin, check_features, check_fitted
from ._distributions import Distributions, as_distributions, check_output
from ._functions import adjusted_mutual_info_score
from ._run import Run
from ._types import (
    Array,
    About,
    Approximate,
    Bandwidth,
    Candidate,
    Centres,
    CostLike,
    Estimator,
    ExactGraph,
    FitItems,
    FitMetric,
    Flags,
    Floats,
    Gamma,
    Hubs,
    Ints,
    Json,
    Kernel,
    Labels,
    Longs,
    Method,
    NDArray,
    NumberOfClusters,
    NumberOfNeighbors,
    Objects,
    OnEmpty,
    PathLike,
    Progress,
    RandomState,
    ReferenceLike,
    SinkhornValue,
    SparseRows,
    Stability,
    SweepRow,
    VectorsFrom,
    Verdict,
    Weights,
)
from ._words import CENTRES, METHODS, VECTORS, cluster_settings, graph_settings, joined_metrics, metric_settings
from ._words import whole, word

# Eigenvectors with smaller eigenvalues vary between neighbors, so dividing by these values would amplify noise.
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
    """True if that distance exceeds the 99% quantile of the same distances among the items of the model."""


class Page(str):
    """A report as HTML text. A notebook shows it in a sandboxed frame."""

    def _repr_html_(self) -> str:
        allowed = "allow-scripts allow-downloads allow-popups"
        return f'<iframe srcdoc="{html.escape(self)}" sandbox="{allowed}" width="100%" height="800" style="border: 0"></iframe>'


class DDSC(TransformerMixin, ClusterMixin, BaseEstimator):
    """Spectral clustering of discrete distributions.

    The method computes distances between weighted point clouds, the graph of their nearest neighbors and
    the leading eigenvectors of its normalized affinity. k-means then clusters the rows of the eigenvectors.

    Parameters
    ----------
    n_clusters : int, (low, high) or "auto"
        Number of clusters. With a range or "auto" (2 to 15), the number is chosen by eigenvalues and
        modularity from a single decomposition. `sweep_` has the results for each number.
    metric : {"w2", "w1", "sinkhorn", "mmd", "lot", "precomputed"}, or several joined by "+"
        Exact 2-Wasserstein, exact 1-Wasserstein (word mover's distance), entropic transport, maximum mean
        discrepancy, or linear optimal transport. Joined metrics, for example "w2+mmd+lot" use the mean of their
        normalized affinities. They do not support `predict`, and `graph_` is the graph of the first metric.
        With "precomputed", X is a matrix of distances, with NaN if unknown, or a sparse matrix whose row i
        contains the distances of item i to its neighbors. The methods d2 and pd2 use only `cost`.
    n_neighbors : int or "auto"
        Number of neighbors of each item. "auto" is max(10, log2 N), or less for small N.
    gamma : {"auto", "local", "median"} or float
        Scale of the affinity exp(-gamma D^2): local scaling, 1 / median of D^2 over the edges, or a number.
        "auto" uses local scaling, or the median where a sparse cluster borders a dense one.
    random_state : int, None, RandomState or Generator
        Random seed. The same seed gives the same result for any number of threads.
    n_jobs : int, optional
        Number of threads. None uses all cores (or OMP_NUM_THREADS), -1 all cores, -2 all but one.
    cost : {"sqeuclidean", "euclidean", "cosine", "cityblock"} or (V, V) array, optional
        Cost of moving mass between points. w2 accepts "sqeuclidean" (default), "cosine" and a matrix; w1 accepts
        "euclidean" (default), "cityblock" and a matrix; lot and the method pd2 accept "sqeuclidean" and "cosine".
        sinkhorn and the method d2 accept all costs, and mmd none. With a matrix, points have one coordinate, their
        row in the matrix.
    epsilon : float or str
        sinkhorn: strength of the entropy, as an absolute value or a percentage of the median cost ("5%").
    sinkhorn_value : {"regularised", "sharp", "debiased"}
    tolerance, max_iterations : float, int, optional
        sinkhorn: L1 error of the marginals at convergence, and largest number of iterations. For w2, w1 and lot,
        `max_iterations` is the largest number of pivots.
    mmd_kernel : {"gaussian", "laplace", "energy"}
    bandwidth : float, "auto", "near" or "median"
        mmd: "near" is the 5% quantile of the distances between points. "auto" uses "near", or the median if the
        median is less than twice that quantile, as happens in many dimensions. With `paper`, "auto" is "near".
    mmd_estimator : {"auto", "unbiased", "biased"}
        mmd: "auto" is biased, or unbiased with `paper`.
    reference : {"auto", "normal", "kmeans"} or Distributions
        lot: the reference distribution. "auto" is normal with up to three dimensions or with `paper`, otherwise kmeans.
    reference_size : int, optional
        lot: number of points of the reference. None: the mean number of points per item.
    mmd_features : int, optional
        mmd: number of random Fourier features for an approximation, useful for items with many points.
    lot_components : int, optional
        lot: number of principal components to which the embedding is reduced.
    exact_graph : {"auto", "full", "pruned"}
        Neighbor search method. The graph does not depend on it.
    approximate : bool or "auto"
        Whether to search neighbors among candidates only. The recall is measured. "auto" is exact for up to
        100,000 items.
    sample : float
        Fraction of the pairs whose distances are computed. The others are estimated if possible, except with
        ``paper``.
    sample_columns : float
        Fraction of the items whose distances to all items are computed. The others are estimated (Nystrom).
    hubs : {"auto", "off", "always"}
        Whether neighbors are chosen by a locally rescaled distance, so that no item becomes a neighbor of most
        others. "auto" does so if the in-degrees of the nearest neighbor graph are skewed, and never with `paper`.
    paper : bool
        Use the algorithm of the paper without changes: no local scaling and no rule for small clusters.
    min_cluster : float
        Size below which clusters are merged, as a fraction of N / K; 0 for no limit.
    restarts : int, optional
        Number of k-means starts, of which the best is used. None: 30, or 3 with `method` "d2" and "pd2".
    method : {"ddsc", "kmeans", "sc", "d2", "pd2"}
        The method of this package, or a baseline for comparison: k-means or spectral clustering of plain
        vectors ("kmeans", "sc"), or clustering around barycenters ("d2", "pd2"). Baselines cannot predict new
        items. "kmeans", "d2" and "pd2" have no graph, embedding and map.
    vectors_from : {"auto", "histogram", "mean"}
        "kmeans", "sc": the vector of an item is its weights over the support, or the mean of its points. "auto"
        uses the weights if the support is shared.
    barycenter : {"admm", "ibp"}
        "d2": method for the centers.
    centre_size : int, optional
        "d2", "pd2": number of points of a center. None: the mean number of points per item.
    compress : int, optional
        Number of points to which the support of each item is merged first. `stats_["compress_worst"]` is the
        largest resulting W2 error.
    resume : path, optional
        Folder in which solved pairs are saved. After an interruption, the same call, or the same command of the
        program, resumes the run.
    stability : int, optional
        Number of times that the points of every item are resampled and clustered again. `stability_` has the
        changes. Cannot be combined with metric="precomputed".
    on_empty : {"error", "drop"}
        Whether items without mass raise an error or are dropped with label -1.
    outliers : bool
        Whether items that are far from all others (`outliers_`) get the label -1 and belong to no cluster.
        `predict` still returns their nearest cluster.
    verbose : int
        1 shows a progress bar (with tqdm, if installed).
    callback : callable, optional
        Called as callback(stage, done, total) from the calling thread. An exception that it raises stops `fit`.
    memory_limit : int, optional
        Largest memory of the library in bytes, including the set created from X. MemoryError is raised if it is
        exceeded. A set passed as `Distributions` is not counted.
    device : {"auto", "cpu", "cuda", "cuda:N"}
        Device for the products over all pairs. "auto" means the CPU in this version. "cuda" is experimental and
        issues a warning. Results do not depend on the device. If the GPU is missing or fails, a warning is issued
        and the CPU is used.

    Attributes
    ----------
    labels_ : (N,) int32 array
        Cluster of each item, numbered by first appearance; -1 for dropped items and, with `outliers`, for outliers.
    affinity_matrix_ : (N, N) scipy.sparse.csr_matrix
        The symmetric affinity matrix that was clustered.
    graph_ : (N, N) scipy.sparse.csr_matrix
        Row i has the distances of item i to its neighbors, nearest first.
    embedding_ : (N, n_vectors) array
        The spectral embedding, whose rows were clustered by k-means.
    eigenvalues_ : array
        Eigenvalues of the normalized Laplacian, ascending.
    n_features_in_ : int
        Number of coordinates of a point (N for "precomputed").
    n_clusters_ : int
        Number of clusters.
    n_components_ : int
        Number of connected components of the graph.
    gamma_ : float
        The value of gamma used; 0 for local scaling.
    sweep_ : list of dict
        For each K: gap, relative gap, modularity, inertia, stability (agreement between random halves), and the
        sizes of the smallest and largest cluster.
    sweep_labels_ : (len(sweep_), N) array
    candidates_ : list of dict
        If several K were compared: the plausible values, starting with the chosen one, each with the criteria that
        support it. The choice is a suggestion. On sets that were not used for tuning, it was correct in a quarter
        of the cases and off by at most one in less than half.
    converged_ : bool
        Whether all solves, the eigenvectors and their verification converged.
    stats_ : dict
        Numbers of solved and pruned pairs, certificates, and seconds by stage.
    centre_distance_ : (N,) array
        Distance of each row of `embedding_` to the mean of its cluster.
    next_cluster_ : (N,) int32 array
        The cluster with the nearest center, other than the item's own cluster; -1 if there is none.
    doubt_ : (N,) array
        Ambiguity d / (d + e), with the distances d to the center of the item's cluster and e to that other center.
        It is 0 at the center and 1/2 on the boundary.
    stability_ : dict or None
        With `stability`: "rows" (one dict per resample), their "mean" and "worst", "labels" (resamples by items,
        numbered as in `labels_`), and for each item "n_changed" (how often it was in another cluster) and "other"
        (the most frequent other cluster, -1 for none). "words" is a summary in sentences. docs/theory.md defines
        "gap", "alpha", "sin_limit", "theorem_vacuous" and "direct_vacuous".
    verdict_ : dict
        The verdict on the clusters: "level" ("separate", "partly", "reproducible", "continuum", "one_cloud" or
        "too_few"), "color", "text" and "evidence". "structure" is the level of version 0.2.
    inertia_ : float
        With `method` "kmeans", "d2" and "pd2": the sum of squared distances to the centers.
    centres_ : Distributions
        With `method` "d2" and "pd2": the barycenter of each cluster.
    advice_ : str
        Advice about components, gaps and similar findings. Empty if there is none.

    See Also
    --------
    pairwise, neighbors, LinearOT

    Examples
    --------
    >>> import ddsc
    >>> X = ddsc.make_shapes()
    >>> model = ddsc.DDSC(n_clusters=2).fit(X)
    >>> ddsc.adjusted_mutual_info_score(X.labels, model.labels_)
    1.0
    >>> model.predict(X[:3])
    array([0, 0, 0], dtype=int32)
    """

    def __init__(
        self,
        n_clusters: NumberOfClusters = 5,
        metric: FitMetric = "w2",
        n_neighbors: NumberOfNeighbors = "auto",
        gamma: Gamma = "auto",
        random_state: RandomState = 0,
        n_jobs: Optional[int] = None,
        *,
        cost: CostLike = None,
        epsilon: Union[float, str] = "5%",
        sinkhorn_value: SinkhornValue = "regularised",
        tolerance: Optional[float] = None,
        max_iterations: Optional[int] = None,
        mmd_kernel: Kernel = "gaussian",
        bandwidth: Bandwidth = "auto",
        mmd_estimator: Estimator = "auto",
        reference: ReferenceLike = "auto",
        reference_size: Optional[int] = None,
        mmd_features: Optional[int] = None,
        lot_components: Optional[int] = None,
        exact_graph: ExactGraph = "auto",
        approximate: Approximate = "auto",
        sample: float = 1.0,
        sample_columns: float = 1.0,
        hubs: Hubs = "auto",
        paper: bool = False,
        min_cluster: float = 0.2,
        restarts: Optional[int] = None,
        method: Method = "ddsc",
        vectors_from: VectorsFrom = "auto",
        barycenter: Centres = "admm",
        centre_size: Optional[int] = None,
        compress: Optional[int] = None,
        resume: Optional[PathLike] = None,
        stability: Optional[int] = None,
        on_empty: OnEmpty = "error",
        outliers: bool = False,
        verbose: Union[int, bool] = 0,
        callback: Optional[Progress] = None,
        memory_limit: Optional[int] = None,
        device: str = "auto",
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.n_neighbors = n_neighbors
        self.gamma = gamma
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.cost = cost
        self.epsilon = epsilon
        self.sinkhorn_value = sinkhorn_value
        self.tolerance = tolerance
        self.max_iterations = max_iterations
        self.mmd_kernel = mmd_kernel
        self.bandwidth = bandwidth
        self.mmd_estimator = mmd_estimator
        self.reference = reference
        self.reference_size = reference_size
        self.mmd_features = mmd_features
        self.lot_components = lot_components
        self.exact_graph = exact_graph
        self.approximate = approximate
        self.sample = sample
        self.sample_columns = sample_columns
        self.hubs = hubs
        self.paper = paper
        self.min_cluster = min_cluster
        self.restarts = restarts
        self.method = method
        self.vectors_from = vectors_from
        self.barycenter = barycenter
        self.centre_size = centre_size
        self.compress = compress
        self.resume = resume
        self.stability = stability
        self.on_empty = on_empty
        self.outliers = outliers
        self.verbose = verbose
        self.callback = callback
        self.memory_limit = memory_limit
        self.device = device

    labels_: Ints
    affinity_matrix_: SparseRows
    graph_: SparseRows
    embedding_: Floats
    eigenvalues_: Floats
    n_features_in_: int
    n_clusters_: int
    n_components_: int
    gamma_: float
    sweep_: List[SweepRow]
    sweep_labels_: Ints
    candidates_: List[Candidate]
    converged_: bool
    stats_: Dict[str, float]
    centre_distance_: Floats
    next_cluster_: Ints
    doubt_: Floats
    stability_: Optional[Stability]
    inertia_: float
    centres_: Optional[Distributions]
    advice_: str
    _model: Optional["_Model"]
    _report: Tuple[str, int, Optional[Array]]
    _items: str
    _row_ids: Optional[List[str]]
    _compressed: Optional[float]
    _places: Optional[Array]
    _extension: Optional[Dict[str, Any]]

    # ---- settings ----

    def _metric(self, **over: Any) -> Dict[str, Any]:
        names = (
            "metric cost epsilon sinkhorn_value tolerance max_iterations mmd_kernel bandwidth "
            "mmd_estimator reference reference_size mmd_features lot_components"
        )
        given = {n: getattr(self, n) for n in names.split()}
        given["metric"] = joined_metrics(self.metric)[0]
        if self.method in ("d2", "pd2"):  # only the cost matters
            given["metric"] = "w1" if str(self.cost) in ("euclidean", "cityblock") else "w2"
        return metric_settings(**{**given, **over})

    def _graph(self) -> Dict[str, Any]:
        hubs = "off" if self.paper and self.hubs == "auto" else self.hubs
        return graph_settings(
            self.n_neighbors, self.exact_graph, self.sample, hubs, self.sample_columns, self.approximate
        )

    def _cluster(self) -> Dict[str, Any]:
        joined = joined_metrics(self.metric)[1]
        return cluster_settings(
            self.n_clusters, self.gamma, self.paper, self.min_cluster, joined, self.restarts
        )

    def _run(self) -> Run:
        return Run(
            self.n_jobs, self.random_state, self.verbose, self.callback, self.memory_limit, self.device
        )

    # ---- fit ----

    def fit(self, X: FitItems, y: object = None, sample_weight: Optional[Weights] = None) -> "DDSC":
        """Cluster the items of X.

        Parameters
        ----------
        X : list of (n_i, d) arrays, (N, n, d) array, (N, d) array of single points, or Distributions
            With metric="precomputed", an (N, N) matrix of distances, with NaN if unknown. In a sparse
            matrix, such as the result of `neighbors`, row i lists the neighbors of item i, of which at most
            `n_neighbors` are kept. No dense matrix is created, and the lists need not be mutual.
        y : ignored
        sample_weight : list of (n_i,) arrays, optional
            Weights of the points of each item.
        """
        self._forget()
        word("method", self.method, METHODS)
        word("vectors_from", self.vectors_from, VECTORS)
        word("barycenter", self.barycenter, CENTRES)
        with self._run() as run:
            if self.method != "ddsc":
                check_baseline(self)
            if self.method not in ("ddsc", "sc"):
                self._fit_partition(run, X, sample_weight)
                return self
            if self.method == "sc":
                found, graph, measures = self._fit_vectors(run, X, sample_weight)
                rows, n_rows = measures.rows, len(measures)
            elif self.metric == "precomputed":
                found, graph = self._fit_matrix(run, X)
                rows = np.arange(self.n_features_in_)
                n_rows = len(rows)
            else:
                found, measures = self._fit_items(run, X, sample_weight)
                graph, rows, n_rows = None, measures.rows, len(measures)
            view = _core.clustering_view(found)
            view.update(_standing(run, found, len(np.asarray(view["labels"]))))
        self._take(view, graph, rows, n_rows)
        self.stats_["threads"] = run.context.threads
        self.converged_ &= run.worst == 0
        return self

    def _forget(self) -> None:
        """Remove the results of an earlier fit, which may have used another method."""
        own = ("_model", "_report", "_items", "_row_ids", "_compressed", "_places", "_extension")
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
            graph = run(_core.graph_from_matrix, _distance_matrix(X), False, settings)
        self.n_features_in_ = matrix.shape[0]
        self._model = None
        self._source: Tuple[str, ...] = ()
        self.stability_ = None
        found = run(_core.spectral, graph, self._cluster())
        self._tell(run, None, found, graph, None, ({}, settings, self._cluster()))
        return found, _core.graph_view(graph)

    def _baseline_items(self, run: Run, X: Any, sample_weight: Any) -> Tuple[Distributions, Distributions]:
        """Return the items as passed and as compared. They differ if `compress` is set."""
        rows = measures = as_distributions(X, sample_weight, self.on_empty, run)
        if self.compress is not None:
            measures = rows._compress(run, whole("compress", self.compress))
        self._compressed = None if self.compress is None else measures.max_w2_error
        self._row_ids = rows.ids if len(measures) < len(rows) else None
        self._model = self.stability_ = None
        self._source = rows._source
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
        self.n_clusters_, self.inertia_, self.centres_ = cut.k, cut.inertia, cut.centres
        self.converged_ = cut.converged and run.worst == 0
        self.advice_ = json.loads(self._report[0])["advice"]
        self.stats_ = {"threads": run.context.threads}
        self._extension = None

    def _fit_items(self, run: Run, X: Any, sample_weight: Any) -> Tuple[Any, Distributions]:
        settings = (self._metric(), self._graph(), self._cluster())
        measures = as_distributions(X, sample_weight, self.on_empty, run)
        resamples = None if self.stability is None else whole("stability", self.stability)
        if resamples is not None and resamples < 1:
            raise ValueError(f"stability={resamples}: must be at least 1, or None")
        rows = measures
        if self.compress is not None:
            measures = measures._compress(run, whole("compress", self.compress))
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
        # A library object holds its context, and a context holds its threads. This context has no extra threads.
        with Run(n_jobs=1, random_state=run.seed) as single:
            named = measures._named(single)
            joined = settings[2]["joined"] != 0
            model = None if joined else single(_core.model_create, named, found, *settings)
        self._model, self._source = None if joined else _Model(model), rows._source
        self._tell(run, named, found, None, trust, settings)
        self._compressed = None if self.compress is None else measures.max_w2_error
        self._row_ids = rows.ids if len(measures) < len(rows) else None
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
        self.centre_distance_ = spread(view["distance"], np.nan)
        self.next_cluster_ = spread(view["next"], -1)
        self.doubt_ = spread(view["doubt"], np.nan)
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
        if self.metric != "precomputed" and self._compressed is not None:
            self.stats_["compress_worst"] = self._compressed
        self.converged_ = bool(view["verified"])
        self.advice_ = self._name_hub(view["advice"])
        self._extension = None
        if self.metric == "precomputed":
            names = ("labels", "embedding", "radius", "scale", "scale_rank", "scale_floor")
            tau = int(np.diff(np.asarray(graph["offsets"])).max(initial=1))
            self._extension = {"tau": tau, **{n: np.array(view.get(n)) for n in names}}
            self._extension["chosen_by"] = np.array(graph["scale"]) if "scale" in graph else None

    def _name_hub(self, advice: str) -> str:
        """Return the advice with the id of the hub, the item that is a neighbor of most others."""
        hub = "One item is a neighbor of"
        if hub not in advice:
            return advice
        row = int(np.bincount(self.graph_.indices, minlength=len(self.labels_)).argmax())
        ids = [line[0] for line in csv.reader(io.StringIO(self._items, newline=""))][1:]
        named = len(ids) == len(self.labels_) and ids[row] != str(row)
        return advice.replace(hub, f"Item {row}{f' ({ids[row]})' if named else ''} is a neighbor of")

    def fit_predict(self, X: FitItems, y: object = None, sample_weight: Optional[Weights] = None) -> Ints:
        """Cluster X and return `labels_`."""
        return self.fit(X, y, sample_weight=sample_weight).labels_

    def fit_transform(self, X: FitItems, y: object = None, sample_weight: Optional[Weights] = None) -> Floats:
        """Cluster X and return `embedding_`."""
        return self.fit(X, y, sample_weight=sample_weight).embedding_

    def representatives(self, n: int = 6) -> List[Longs]:
        """Return the most typical items of each cluster, which are those nearest to its center.

        Parameters
        ----------
        n : int
            Largest number of items per cluster.

        Returns
        -------
        list of int64 arrays
            Indices of the items of each cluster, most typical first.

        Examples
        --------
        >>> import ddsc
        >>> model = ddsc.DDSC(n_clusters=2).fit(ddsc.make_shapes())
        >>> [len(items) for items in model.representatives(3)]
        [3, 3]
        """
        check_fitted(self, "labels_")
        self._check_graph("embedding from which to select typical items")
        if whole("n", n) < 0:
            raise ValueError(f"n={n}: must not be negative")
        members = [np.flatnonzero(self.labels_ == c) for c in range(self.n_clusters_)]
        return [m[np.argsort(self.centre_distance_[m], kind="stable")[:n]] for m in members]

    @property
    def verdict_(self) -> Verdict:
        """The verdict on the clusters.

        ``level`` is "separate", "partly", "reproducible", "continuum", "one_cloud" or "too_few", ``color`` its
        color, ``text`` explains it in a sentence, and ``evidence`` contains the numbers. ``structure`` is the
        level of version 0.2 ("clear", "weak", "none" or "undecided")."""
        return cast(Verdict, self.result_json()["verdict"])

    def explain(self) -> List[About]:
        """Describe each cluster, if X has names of points (words) or coordinates.

        Returns
        -------
        list of dict
            One dict per cluster with ``label``, ``size``, ``representatives``, ``borderline`` and either

            - ``words``: words with a larger share than in the other items, most distinctive first. ``share``
              and ``elsewhere`` are mean shares of an item's mass, and ``items`` is the number of items with
              the word.
            - ``markers``: coordinates by ``effect``, the Wasserstein-1 distance between their values in the
              cluster and in the other items, in standard deviations. It is negative if the values are lower.
              These are effect sizes and not tests, because the clusters were computed from the same data.

        Examples
        --------
        >>> import ddsc
        >>> X = ddsc.make_gaussians(k=2, n=8, n_points=20, separation=9.0)
        >>> [len(c["markers"]) for c in ddsc.DDSC(n_clusters=2).fit(X).explain()]
        [2, 2]
        """
        return cast(List[About], self.result_json().get("clusters", []))

    @property
    def names_(self) -> List[Optional[str]]:
        """Names of the clusters, set by `name` or, in a loaded folder, by ``ddsc name``. None for unnamed clusters."""
        return [cluster.get("name") for cluster in self.explain()]

    def name(self, names: Dict[int, str]) -> "DDSC":
        """Name clusters. `report`, `explain` and `names_` then include the names; "" removes a name.

        Examples
        --------
        >>> import ddsc
        >>> model = ddsc.DDSC(n_clusters=2).fit(ddsc.make_shapes())
        >>> model.name({0: "round"}).names_
        ['round', None]
        """
        told = self.result_json()
        clusters = told.get("clusters", [])
        for number, name in names.items():
            if not 0 <= whole("cluster", number) < len(clusters):
                raise ValueError(f"there is no cluster {number}; clusters are numbered from 0 to {len(clusters) - 1}")
            if name and not str(name).isprintable():
                raise ValueError(f"cluster {number}: a name must be one line of printable text, not {name!r}")
            if name:
                clusters[number]["name"] = str(name)
            else:
                clusters[number].pop("name", None)
        self._report = (json.dumps(told, indent=1, ensure_ascii=False), *self._report[1:])
        return self

    def result_json(self) -> Json:
        """Return the content of result.json, as ``ddsc cluster`` writes it.

        It contains the settings, certificates, counts, scores relative to the labels of X, and typical and
        ambiguous items.

        Examples
        --------
        >>> import ddsc
        >>> told = ddsc.DDSC(n_clusters=2).fit(ddsc.make_shapes()).result_json()
        >>> told["certificates"]["certified"], told["scores"]["ami"]
        (True, 1.0)
        """
        check_fitted(self, "labels_")
        check_whole(self, "_report")
        return cast(Json, json.loads(self._report[0]))

    def report(self, path: Optional[PathLike] = None, overwrite: bool = False) -> "Page":
        """Return the report page, as ``ddsc cluster`` writes it to report.html.

        The page has a map, typical and ambiguous items of each cluster, classes and clusters, eigenvalues and
        settings. It needs no other file.

        Parameters
        ----------
        path : path, optional
            File to which the page is written.
        overwrite : bool
            Replace an existing file, but never one from which the items were read (ValueError).

        Returns
        -------
        Page
            The page as a str. A notebook shows it in a frame if it is the last expression of a cell.

        Examples
        --------
        >>> import ddsc
        >>> page = ddsc.DDSC(n_clusters=2).fit(ddsc.make_shapes()).report()
        >>> page[:15]
        '<!DOCTYPE html>'
        """
        check_fitted(self, "labels_")
        check_whole(self, "_items")
        if path is not None:
            check_output(path, getattr(self, "_source", ()))
        told, seed, truth = self._report
        with tempfile.TemporaryDirectory() as folder, Run(n_jobs=1, random_state=seed) as run:
            place = functools.partial(os.path.join, folder)
            _write_text(place("result.json"), told)
            # A compressed set does not include the rows of dropped items, and neither does its report.
            rows = slice(None) if getattr(self, "_compressed", None) is None else self._there()
            _write_text(place("labels.csv"), "label\n" + "\n".join(map(str, self.labels_[rows])))
            if truth is not None:
                _write_text(place("truth.csv"), "label\n" + "\n".join(map(str, truth)))
            if self._model is not None:
                run(_core.model_write, self._model.handle, place("model.npz"), False)
            if hasattr(self, "graph_"):
                np.save(place("map.npy"), self.map_[rows])
                np.save(place("embedding.npy"), self.embedding_[rows])
                _write_text(place("graph.mtx"), _graph_text(self.graph_, np.arange(len(self.labels_))[rows]))
                if len(self.sweep_) > 1:
                    head = ["id", *(f"k{row['k']}" for row in self.sweep_)]
                    tried = [[i, *labels] for i, labels in enumerate(self.sweep_labels_.T[rows].tolist())]
                    _write_text(place("sweep.csv"), "\n".join(",".join(map(str, row)) for row in [head, *tried]))
            page = Page(run(_core.report_page, folder))
        if path is not None:
            _write_page(path, page, overwrite)
        return page

    @property
    def map_(self) -> Floats:
        """(N, 2) positions on the map of the report, NaN for dropped items. Computed on first access."""
        check_fitted(self, "labels_")
        check_whole(self, "_items")
        self._check_graph("map")
        if self._places is None:
            with self._run() as run:
                self._places = self._map(run)
        return self._places

    @property
    def items_(self) -> Dict[str, NDArray[np.generic]]:
        """The columns of items.csv, as the program writes it.

        They include id, label, next cluster, ambiguity ("doubt"), order, outlier score, and the nearest
        neighbors with their distances. ``pandas.DataFrame(model.items_)`` converts them to a table.

        Examples
        --------
        >>> import ddsc
        >>> list(ddsc.DDSC(n_clusters=2).fit(ddsc.make_shapes()).items_)[:5]
        ['id', 'label', 'next', 'doubt', 'order']
        """
        check_fitted(self, "labels_")
        check_whole(self, "_items")
        self._check_graph("table of items")
        names, *rows = csv.reader(io.StringIO(self._items, newline=""))
        columns = dict(zip(names, zip(*rows)))
        whole_numbers, numbers = ("label", "next", "order", "is_outlier"), ("doubt", "outlier", "distance")
        out: Dict[str, Array] = {}
        for name, values in columns.items():
            if name in whole_numbers:
                out[name] = np.array([int(v) if v else -1 for v in values], dtype=np.int32)
            elif name.rstrip("0123456789") in numbers:
                out[name] = np.array([float(v) if v else np.nan for v in values])
            else:
                out[name] = np.array(values, dtype=object)
        return out if len(rows) == len(self.labels_) else self._spread_items(out)

    def _spread_items(self, columns: Dict[str, Array]) -> Dict[str, Array]:
        """Add the rows of dropped items, which a compressed set does not include."""
        fills = {"i": -1, "f": np.nan, "O": ""}
        out: Dict[str, Array] = {}
        for name, values in columns.items():
            out[name] = np.full(len(self.labels_), fills[values.dtype.kind], dtype=values.dtype)
            out[name][self._there()] = values
        out["id"] = np.array(self._row_ids, dtype=object)
        return out

    @property
    def outliers_(self) -> Flags:
        """(N,) bool array: True for items that are far from all others.

        The score ``items_["outlier"]`` is the mean distance of an item to its neighbors, divided by the same
        mean for these neighbors. ``result_json()["outliers"]["from"]`` is its limit.

        Examples
        --------
        >>> import numpy as np, ddsc
        >>> clouds = list(np.random.default_rng(0).normal(size=(40, 9, 2)))
        >>> clouds[7] += 25
        >>> model = ddsc.DDSC(n_clusters=2, outliers=True).fit(clouds)
        >>> np.flatnonzero(model.outliers_), int(model.labels_[7])
        (array([7]), -1)
        """
        return np.asarray(self.items_["is_outlier"] == 1)

    @property
    def order_(self) -> Ints:
        """(N,) ranks of the items, from 0, along the first diffusion direction; -1 for dropped items.

        This is the direction of slowest change over the graph, such as a gradient from healthy to ill. The
        connected components of the graph follow each other.

        Examples
        --------
        >>> import numpy as np, ddsc
        >>> clouds = [np.random.default_rng(i).normal(size=(30, 2)) + [i / 4, 0] for i in range(40)]
        >>> order = ddsc.DDSC(n_clusters=2).fit(clouds).order_
        >>> bool(np.corrcoef(order, np.arange(40))[0, 1] > 0.95)
        True
        """
        columns = self.items_
        if "order" not in columns:
            raise AttributeError(
                f"the order requires a second eigenvector, but a fit with n_clusters={self.n_clusters!r} computes only one"
            )
        return cast(Ints, columns["order"])

    @property
    def tree_(self) -> Floats:
        """(K - 1, 4) merges of the clusters in the format of SciPy's ``linkage``.

        ``dendrogram(model.tree_)`` draws the tree. Each row has two nodes, the height of their merge and the
        number of items. Clusters are nodes 0 to K - 1, and merge m creates node K + m. Heights are 1 / (1 + r),
        where r is the affinity between the two nodes divided by its expected value in a random graph with the
        same degrees. The height is 1 if the nodes are not connected, and 1/2 if their affinity equals the expected
        value. The tree is empty if there are more than 1,000 clusters."""
        rows = self.result_json().get("tree", [])
        self._check_graph("tree")
        return np.array([[row["a"], row["b"], row["height"], row["size"]] for row in rows]).reshape(-1, 4)

    def cut_tree(self, n_clusters: Optional[int] = None, height: Optional[float] = None) -> Ints:
        """Return coarser labels by applying the merges of `tree_` down to `n_clusters` clusters or up to `height`.

        Returns
        -------
        (N,) int32 array
            Labels, numbered by first appearance. Negative labels are unchanged.

        Examples
        --------
        >>> import ddsc
        >>> X = ddsc.make_gaussians(k=4, n=15, n_points=10, separation=3.0)
        >>> model = ddsc.DDSC(n_clusters=4).fit(X)
        >>> [int(model.cut_tree(k).max()) + 1 for k in (4, 3, 1)]
        [4, 3, 1]
        """
        if (n_clusters is None) == (height is None):
            raise ValueError("pass either n_clusters or height")
        tree = self.tree_
        k = self.n_clusters_
        if n_clusters is not None:
            if not 1 <= whole("n_clusters", n_clusters) <= k:
                raise ValueError(f"n_clusters={n_clusters}: must be from 1 to {k}")
        if len(tree) < k - 1 and n_clusters != k:
            raise ValueError(f"there is no tree of {k} clusters; trees are limited to 1,000 clusters")
        if n_clusters is not None:
            tree = tree[: k - n_clusters]
        else:
            tree = tree[tree[:, 2] <= cast(float, height)]
        group = np.arange(k + len(tree))
        for m in reversed(range(len(tree))):  # each node is assigned the number of its last merge
            group[tree[m, :2].astype(int)] = group[k + m]
        kept = self.labels_ >= 0
        values, first, inverse = np.unique(group[self.labels_[kept]], return_index=True, return_inverse=True)
        out = self.labels_.copy()
        out[kept] = np.argsort(np.argsort(first))[inverse.ravel()]
        return out

    def _check_graph(self, what: str) -> None:
        if self.method not in ("ddsc", "sc"):
            raise AttributeError(f"method={self.method!r} computes no graph, so there is no {what}")

    def _there(self) -> Flags:
        """Return a mask of the rows that were not dropped."""
        return np.isfinite(self.centre_distance_) if hasattr(self, "centre_distance_") else self.labels_ >= 0

    def _map(self, run: Run) -> Array:
        """Compute the positions of the items, NaN for dropped items."""
        there = self._there()
        kept = np.flatnonzero(there)
        start, xy = np.empty((len(kept), 2)), np.empty((len(kept), 2))
        lists = self.graph_
        number = np.cumsum(there) - 1
        lengths = np.diff(lists.indptr)[kept]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        rank = np.arange(offsets[-1]) - np.repeat(offsets[:-1], lengths)
        indices = number[lists.indices].astype(np.int32)
        graph = run(_core.graph_from_csr, offsets, indices, rank.astype(float))
        run(_core.project, start, np.ascontiguousarray(self.embedding_[kept]))
        run(_core.layout, xy, graph, start)
        out = np.full((len(self.labels_), 2), np.nan)
        out[kept] = xy
        return out

    # ---- new items ----

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
        centres = np.array([part.mean(axis=0) if len(part) else nowhere for part in members])
        away = np.linalg.norm(rows[known, None] - centres[None], axis=2)
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
            run(_core.assign, model, measures._handle, None, labels, confidence, distance, far)
        parts = [(labels, -1), (confidence, np.nan), (distance, np.nan), (far != 0, False)]
        return Assignment(*(measures._by_row(values, fill) for values, fill in parts))

    def save(self, path: PathLike, overwrite: bool = False) -> None:
        """Write a model.npz with all data for labeling new items, for `load` and ``ddsc assign``.

        The array `left_out` lists excluded outliers. To store a whole model with its graph, table and report, use
        pickle. A file from which the items were read is never overwritten (ValueError).
        """
        check_output(path, getattr(self, "_source", ()))
        handle, file = self._kept_model(), os.fspath(path)
        n_items = _core.model_view(handle)["n_items"]
        labels = self.labels_ if len(self.labels_) == n_items else self.labels_[self._there()]
        left_out = np.flatnonzero(labels < 0)
        with Run(n_jobs=1) as run:
            if not len(left_out):
                run(_core.model_write, handle, file, overwrite)
                return
            is_stream = file == "-" or (os.path.exists(file) and not os.path.isfile(file))
            if not overwrite and not is_stream and os.path.exists(file):
                raise FileExistsError(17, "File exists", file)
            place = None if is_stream else os.path.dirname(os.path.realpath(file))
            with tempfile.TemporaryDirectory(prefix=".", dir=place) as folder:
                whole_file = os.path.join(folder, "model.npz")  # renamed atomically
                run(_core.model_write, handle, whole_file, False)
                _add_array(whole_file, "left_out", left_out)
                if is_stream:
                    _copy_out(whole_file, file)
                else:
                    os.replace(whole_file, os.path.realpath(file))

    def _kept_model(self) -> Any:
        check_fitted(self, "labels_")
        if self.metric == "precomputed":
            raise ValueError("metric='precomputed' has no items with which new items could be compared")
        if self._model is None and self.method != "ddsc":
            raise ValueError(f"method={self.method!r} has no rule for new items; fit with method='ddsc'")
        if self._model is None:
            raise ValueError(f"metric={self.metric!r}: joined metrics have no rule for new items; fit with one metric")
        return self._model.handle

    @classmethod
    def load(cls, path: PathLike) -> "DDSC":
        """Load a model from a model.npz or from a folder written by ``ddsc cluster -o``.

        The model can label new items (`predict`, `transform`, `assign`) and has `labels_`, `embedding_` and
        `n_clusters_`. A folder also provides `result_json` and `explain`. The parameters are those of the metric,
        with the values that were chosen from the data. Search settings are not stored. Items without mass have
        no row. Excluded outliers have the label -1, except in a model.npz of the program without its folder.

        Examples
        --------
        >>> import os, tempfile, ddsc
        >>> X = ddsc.make_shapes()
        >>> place = os.path.join(tempfile.mkdtemp(), "model.npz")
        >>> ddsc.DDSC(n_clusters=2).fit(X).save(place)
        >>> ddsc.DDSC.load(place).predict(X[:3])
        array([0, 0, 0], dtype=int32)
        """
        file = os.fspath(path)
        folder = file if os.path.isdir(file) else None
        file = os.path.join(file, "model.npz") if folder else file
        if not os.path.exists(file):
            raise FileNotFoundError(2, "No such file", file)
        with Run(n_jobs=1) as run:
            handle = run(_core.model_read, file)
        view = _core.model_view(handle)
        with np.load(file) as arrays:
            model = cls(**_kept_settings(arrays))
            model.labels_, model.embedding_ = arrays["labels"], arrays["embedding"]
            if "left_out" in arrays:
                model.labels_[arrays["left_out"]] = -1
        model._model, model._extension = _Model(handle), None
        model.n_clusters_, model.n_features_in_ = view["k"], view["dim"]
        if folder:
            with open(os.path.join(folder, "result.json"), encoding="utf-8") as text:
                model._report = (text.read(), 0, None)
            model.labels_ = _shown_labels(folder, model.result_json(), model.labels_)
        return model

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
            run(_core.assign, model, measures._handle, rows, labels, None, None, None)
        return measures._by_row(rows, np.nan), measures._by_row(labels, -1)

    def _near_by_matrix(
        self, X: Any, tau: int, scale: Optional[Array]
    ) -> Tuple[Array, Array, Array]:
        matrix = _distance_matrix(X)
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

    # ---- scikit-learn tags ----

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        tags.input_tags.allow_nan = self.metric == "precomputed"
        tags.input_tags.three_d_array = True
        return tags

    def _more_tags(self) -> Dict[str, Any]:
        pairwise = self.metric == "precomputed"
        return {"pairwise": pairwise, "allow_nan": pairwise}


def check_whole(model: DDSC, name: str) -> None:
    """Raise ValueError if a loaded model lacks the attribute."""
    if not hasattr(model, name):
        raise ValueError(
            "a loaded model can only label new items; the report and the table are in the folder of "
            "ddsc cluster -o and in pickled models"
        )


def _kept_settings(arrays: Any) -> Dict[str, Any]:
    """Return the parameters that reproduce the metric of a model.npz."""
    kept = dict(line.split("=", 1) for line in arrays["model_settings"].tolist())
    set_: Dict[str, Any] = {"n_clusters": int(kept["k"]), "metric": kept["metric"]}
    set_.update(n_neighbors=int(kept["tau"]), gamma=float(kept["gamma"]) or "local")
    if kept["metric"] == "sinkhorn":
        set_.update(epsilon=float(kept["epsilon"]), sinkhorn_value=kept["sinkhorn_value"])
        set_.update(tolerance=float(kept["sinkhorn_tolerance"]))
        set_.update(max_iterations=int(kept["sinkhorn_max_iterations"]))
    if kept["metric"] == "mmd":
        set_.update(mmd_kernel=kept["mmd_kernel"], mmd_estimator=kept["mmd_estimator"])
        if float(kept["bandwidth"]) > 0:
            set_.update(bandwidth=float(kept["bandwidth"]))
    if "reference_points" in arrays:
        points, weights = arrays["reference_points"], arrays["reference_weights"]
        set_.update(reference=Distributions([points], [weights]))
    if "cost" in kept:
        set_.update(cost=arrays["cost_matrix"] if kept["cost"] == "matrix" else kept["cost"])
    return set_


def _shown_labels(folder: str, told: Json, labels: Array) -> Array:
    """Return the labels of the items of a folder, with -1 for excluded outliers."""
    outliers = told.get("outliers", {})
    if not outliers.get("left_out"):
        return labels
    rows = {item["row"] for item in outliers["items"]}
    with open(os.path.join(folder, "labels.csv"), encoding="utf-8", errors="replace", newline="") as file:
        shown = [int(line[-1]) for line in list(csv.reader(file))[1:]]
    return np.array([v for row, v in enumerate(shown) if v >= 0 or row in rows], dtype=labels.dtype)


def _add_array(file: str, name: str, values: Array) -> None:
    """Add an array to an npz. The bytes do not depend on the current time."""
    member = zipfile.ZipInfo(f"{name}.npy")
    with zipfile.ZipFile(file, "a") as archive, archive.open(member, "w") as to:
        np.save(to, values, allow_pickle=False)


def _copy_out(file: str, to: str) -> None:
    """Copy to standard output ("-"), or to a pipe or device, which must not be replaced."""
    sys.stdout.flush()
    with open(file, "rb") as source, open(1 if to == "-" else to, "wb", closefd=to != "-") as target:
        shutil.copyfileobj(source, target)


def _resume_line(c: Dict[str, Any]) -> str:
    """Return the settings line in the format of the program, so that both can resume the same folder."""
    return (
        f"cluster k {c['k_min']}:{c['k_max']}, gamma rule {c['gamma_rule']} {c.get('gamma', 0):.17g}, "
        f"min-cluster {c['min_cluster']:.17g}, paper {c['paper']}"
    )


def _graph_text(graph: Any, rows: Array) -> str:
    """Return graph.mtx for these rows: neighbor and item, numbered from 1, and their squared distance."""
    number = np.zeros(graph.shape[0], dtype=np.int64)
    number[rows] = np.arange(1, len(rows) + 1)
    items = np.repeat(number, np.diff(graph.indptr))
    edges = zip(number[graph.indices].tolist(), items.tolist(), np.square(graph.data).tolist())
    head = f"%%MatrixMarket matrix coordinate real general\n{len(rows)} {len(rows)} {len(items)}\n"
    return head + "".join(f"{near} {item} {d2!r}\n" for near, item, d2 in edges)


def _write_text(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def _write_page(path: Any, page: str, overwrite: bool) -> None:
    """Write the page. A regular file that exists is replaced as a whole, so that a failure leaves it as it was."""
    if not overwrite or not os.path.isfile(path):
        with open(path, "w" if overwrite else "x", encoding="utf-8") as file:
            file.write(page)
        return
    target = os.path.realpath(os.fspath(path))
    handle, aside = tempfile.mkstemp(dir=os.path.dirname(target), prefix=".ddsc-")
    try:
        with open(handle, "w", encoding="utf-8") as file:
            file.write(page)
        shutil.copymode(target, aside)
        os.replace(aside, target)
    except BaseException:
        os.unlink(aside)
        raise


class _Model:
    """The library's model of a fit. It is pickled as the bytes of its file."""

    def __init__(self, handle: Any) -> None:
        self.handle = handle

    def __getstate__(self) -> bytes:
        with tempfile.TemporaryDirectory() as folder, Run(n_jobs=1) as run:
            path = os.path.join(folder, "model.npz")
            run(_core.model_write, self.handle, path, True)
            with open(path, "rb") as file:
                return file.read()

    def __setstate__(self, state: bytes) -> None:
        with tempfile.TemporaryDirectory() as folder, Run(n_jobs=1) as run:
            path = os.path.join(folder, "model.npz")
            with open(path, "wb") as file:
                file.write(state)
            self.handle = run(_core.model_read, path)


def _standing(run: Run, found: Any, n: int) -> Dict[str, Array]:
    """Compute distance to the center, ambiguity and next cluster of the n items."""
    place: Dict[str, Array] = {"distance": np.empty(n), "doubt": np.empty(n), "next": np.empty(n, np.int32)}
    run(_core.standing, found, place["distance"], place["doubt"], place["next"])
    return place


def _distance_matrix(X: Any) -> Array:
    """Return dense distances, with NaN for entries that a sparse matrix does not store."""
    if not is_sparse(X) and not isinstance(X, CSR):
        return as_doubles(X, "X")
    row, column, value = sparse_entries(X)
    matrix = np.full(X.shape, np.nan)
    matrix[row, column] = value
    return matrix


def _nystrom(
    fitted: Dict[str, Any],
    eigenvalues: Array,
    gamma: float,
    index: Array,
    d2: Array,
    same: Array,
) -> Tuple[Array, Array]:
    """Return rows and labels of new items with neighbors `index` at squared distances `d2`.

    For the eigenvectors u of the random walk, u_k(x) = 1 / lambda_k sum_j a_xj u_k(j) / sum_j a_xj. Constant
    factors of a row do not matter, because rows are normalized.
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
    centres = sums / np.bincount(old, minlength=k)[:, None]
    away = ((rows[:, None, :] - centres[None]) ** 2).sum(axis=2)
    labels = away.argmin(axis=1).astype(np.int32)
    lost = ~rows.any(axis=1)  # the neighbors have no entries in the eigenvectors, so a weighted vote is used
    for i in np.flatnonzero(lost):
        labels[i] = np.bincount(old[index[i]], weights=affinity[i], minlength=k).argmax()
    labels[twin] = old[same[twin]]
    return rows, labels
