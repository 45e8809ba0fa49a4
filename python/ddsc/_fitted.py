"""Declares the parameters and results that all parts of the estimator share."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple, Union

import numpy as np

from ._base import BaseEstimator, ClusterMixin, TransformerMixin
from ._distributions import Distributions
from ._former import FormerName, current_dir
from ._model_handle import _Model
from ._run import Run
from ._types import (
    Approximate,
    Array,
    Bandwidth,
    Candidate,
    Centers,
    CostLike,
    Estimator,
    ExactGraph,
    FitMetric,
    Flags,
    Floats,
    Gamma,
    Hubs,
    Ints,
    Json,
    Kernel,
    Method,
    NumberOfClusters,
    NumberOfNeighbors,
    OnEmpty,
    PathLike,
    Progress,
    RandomState,
    Refine,
    ReferenceLike,
    SinkhornValue,
    SparseRows,
    Stability,
    SweepRow,
    VectorsFrom,
)
from ._words import cluster_settings, graph_settings, joined_metrics, metric_settings


class Fitted(TransformerMixin, ClusterMixin, BaseEstimator):
    """Declares the attributes of `DDSC`, and converts its parameters to settings of the library."""

    # ---- parameters ----

    n_clusters: NumberOfClusters
    metric: FitMetric
    n_neighbors: NumberOfNeighbors
    gamma: Gamma
    random_state: RandomState
    n_jobs: Optional[int]
    cost: CostLike
    epsilon: Union[float, str]
    sinkhorn_value: SinkhornValue
    tolerance: Optional[float]
    max_iterations: Optional[int]
    mmd_kernel: Kernel
    bandwidth: Bandwidth
    mmd_estimator: Estimator
    reference: ReferenceLike
    reference_size: Optional[int]
    mmd_features: Optional[int]
    lot_components: Optional[int]
    exact_graph: ExactGraph
    approximate: Approximate
    sample: float
    sample_columns: float
    hubs: Hubs
    paper: bool
    min_cluster: float
    restarts: Optional[int]
    refine: Refine
    method: Method
    vectors_from: VectorsFrom
    barycenter: Centers
    center_size: Optional[int]
    compress: Optional[Union[int, str]]
    resume: Optional[PathLike]
    stability: Optional[int]
    on_empty: OnEmpty
    outliers: bool
    verbose: Union[int, bool]
    callback: Optional[Progress]
    like: Any
    memory_limit: Optional[int]
    device: str

    # ---- results ----

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
    center_distance_: Floats
    next_cluster_: Ints
    ambiguity_: Floats
    membership_: Floats
    compression_: Optional[Json]
    stability_: Optional[Stability]
    inertia_: float
    centers_: Optional[Distributions]
    advice_: str
    doubt_ = FormerName("ambiguity_")
    centre_distance_ = FormerName("center_distance_")
    centres_ = FormerName("centers_")
    centre_size = FormerName("center_size")
    _model: Optional["_Model"]
    _report: Tuple[str, int, Optional[Array]]
    _items: str
    _row_ids: Optional[List[str]]
    _places: Optional[Array]
    _extension: Optional[Dict[str, Any]]
    _source: Tuple[str, ...]
    _classes: Optional[Array]

    def __dir__(self) -> List[str]:
        return current_dir(super().__dir__(), type(self))

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
            self.n_clusters, self.gamma, self.paper, self.min_cluster, joined, self.restarts, self.refine
        )

    def _run(self) -> Run:
        return Run(
            self.n_jobs, self.random_state, self.verbose, self.callback, self.memory_limit, self.device
        )

    def _check_graph(self, what: str) -> None:
        if self.method not in ("ddsc", "sc"):
            raise AttributeError(f"method={self.method!r} computes no graph, so there is no {what}")

    def _there(self) -> Flags:
        """Return a Boolean mask of the rows that were not dropped."""
        return np.isfinite(self.center_distance_) if hasattr(self, "center_distance_") else self.labels_ >= 0


def check_whole(model: Fitted, name: str) -> None:
    """Raise ValueError if a loaded model lacks the attribute."""
    if not hasattr(model, name):
        raise ValueError(
            "a loaded model can only label new items; the report and the table are in the folder of "
            "ddsc cluster -o and in pickled models"
        )
