"""Defines the parameters and the documentation of the estimator. Its methods are in the modules of its base classes."""

from __future__ import annotations

from typing import Any, Dict, Optional, Union

from ._anndata_output import ToAnnData
from ._former import former_arguments
from ._model_file import ModelFile
from ._model_handle import _Model as _Model  # pickles of version 0.2.0 look for it here
from ._new_items import Assignment as Assignment
from ._results import Page as Page
from ._updating import Updating
from ._types import (
    Approximate,
    Bandwidth,
    Centers,
    CostLike,
    Estimator,
    ExactGraph,
    FitMetric,
    Gamma,
    Hubs,
    Ints,
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
    VectorsFrom,
)


class DDSC(Updating, ModelFile, ToAnnData):
    """Spectral clustering of discrete distributions.

    The estimator computes distances between weighted point clouds, the graph of nearest neighbors, and the leading
    eigenvectors of the normalized affinity matrix. k-means then clusters the rows of the eigenvectors.

    Parameters
    ----------
    n_clusters : int, (low, high) or "auto"
        Number of clusters. With a range or "auto" (2 to 25), the number is chosen by eigenvalues and
        modularity from a single decomposition. `sweep_` contains the results for each number.
    metric : {"w2", "w1", "sinkhorn", "mmd", "lot", "precomputed"}, or several joined by "+"
        Exact 2-Wasserstein, exact 1-Wasserstein (word mover's distance), entropic transport, maximum mean
        discrepancy, or linear optimal transport. Joined metrics, for example "w2+mmd+lot", use the mean of their
        normalized affinities. They do not support `predict`, and `graph_` is the graph of the first metric.
        With "precomputed", X is a matrix of distances, with NaN if unknown, or a sparse matrix whose row i
        contains the distances of item i to its neighbors. The methods d2 and pd2 use only `cost`.
    n_neighbors : int or "auto"
        Number of neighbors of each item. "auto" is max(10, log2 N), at least 20 for documents and 28 for short ones,
        and less for small N.
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
    sinkhorn_value : {"regularized", "sharp", "debiased", "paper"}
        sinkhorn: "paper" is the regularized value as D itself; the others are D^2. With `paper`, the default is "paper".
    tolerance, max_iterations : float, int, optional
        sinkhorn: maximum L1 error of the marginals of a converged solve, and maximum number of iterations. For w2, w1
        and lot, `max_iterations` is the maximum number of pivots.
    mmd_kernel : {"gaussian", "laplace", "energy"}
    bandwidth : float, "auto", "near" or "median"
        mmd: "near" is the 5% quantile of the distances between points. "auto" uses "near", or 1.5 times the median
        if the median is less than 1.85 times that quantile, as happens in many dimensions (laplace kernel and
        documents: the median). With `paper`, "auto" is "near".
    mmd_estimator : {"auto", "unbiased", "biased"}
        mmd: "auto" is biased, or unbiased with `paper`.
    reference : {"auto", "normal", "kmeans"} or Distributions
        lot: the reference distribution. "auto" is normal with up to three dimensions or with `paper`, otherwise kmeans.
    reference_size : int, optional
        lot: number of points of the reference. None: the mean number of points per item.
    mmd_features : int, optional
        mmd: number of random Fourier features of an approximation, which is useful for items with many points.
    lot_components : int, optional
        lot: number of principal components to which the embedding is reduced.
    exact_graph : {"auto", "full", "pruned"}
        Neighbor search method. The graph does not depend on it.
    approximate : bool or "auto"
        Whether to search neighbors only among candidates. The recall is estimated. "auto" is exact for up to
        100,000 items.
    sample : float
        Fraction of the pairs whose distances are computed. The other distances are estimated if possible, except with
        `paper`.
    sample_columns : float
        Fraction of the items whose distances to all items are computed. The others are estimated (Nystrom).
    hubs : {"auto", "off", "always"}
        Whether neighbors are chosen by a locally rescaled distance, so that no item becomes a neighbor of most
        others. "auto" does so if the in-degrees of the nearest neighbor graph are skewed, and never with `paper`.
    paper : bool
        Use the algorithm of the paper as printed and nothing else. Parameters that contradict `paper` raise a
        ValueError; ``ddsc help paper`` lists every line.
    min_cluster : float
        Size below which clusters are merged, as a fraction of N / K; 0 for no limit, which is the default with `paper`.
    restarts : int, optional
        Number of k-means starts, of which the best is used. None: 30, or 3 with `method` "d2" and "pd2".
    refine : {"auto", "off", "words"}
        Whether a mixture model of the word counts of documents refines the labels. "auto" does so if the items have
        counts (`read_text`), and never with `paper`; "words" raises a ValueError without counts.
    method : {"ddsc", "kmeans", "sc", "d2", "pd2"}
        The method of this package, or a baseline for comparison: k-means or spectral clustering of plain
        vectors ("kmeans", "sc"), or clustering around barycenters ("d2", "pd2"). Baselines cannot predict new
        items. "kmeans", "d2" and "pd2" have no graph, embedding and map.
    vectors_from : {"auto", "histogram", "mean"}
        "kmeans", "sc": the vector of an item is its weights over the support, or the mean of its points. "auto"
        uses the weights if the support is shared.
    barycenter : {"admm", "ibp"}
        "d2": method for the centers.
    center_size : int, optional
        "d2", "pd2": number of points of a center. None: the mean number of points per item.
    compress : int or "auto", optional
        Number of points to which the support of each item is merged first. "auto", or a percentage such as "90%",
        chooses it as `Distributions.compress` does. `stats_["compress_worst"]` is the largest resulting W2 error.
    resume : path, optional
        Folder in which solved pairs are saved. After an interruption, the same call, or the same command of the
        program, resumes the run.
    stability : int, optional
        Number of times that the points of every item are resampled and clustered again. `stability_` contains the
        changes. Cannot be combined with metric="precomputed".
    on_empty : {"error", "drop"}
        Whether items without mass raise an error or are dropped with label -1.
    outliers : bool
        Whether items that are far from all others (`outliers_`) have the label -1 and are excluded from all clusters.
        `predict` still returns their nearest cluster.
    verbose : int
        1 shows a progress bar (with tqdm, if installed).
    callback : callable, optional
        Called as callback(stage, done, total) from the calling thread. An exception that it raises stops `fit`.
    like : DDSC or path, optional
        A fit, a model.npz or a folder of ``ddsc cluster -o``. `fit` uses the resolved settings of this result: number
        of clusters, metric, bandwidth, epsilon, reference, transforms, n_neighbors, gamma, hubs and sampling. The
        parameters with the same names are ignored. The distance between two items is then the same in both fits.
    memory_limit : int, optional
        Maximum memory of the library in bytes, including the set created from X. MemoryError is raised if the limit is
        exceeded. A set passed as `Distributions` is not counted.
    device : {"auto", "cpu", "cuda", "cuda:N"}
        Device for the products over all pairs. "auto" uses a GPU for large sets, if available. Results do not
        depend on the device. If the named GPU is missing, or if a GPU fails, a warning is issued and the CPU is used.

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
    update_ : dict
        After `update` and `partial_fit`: the numbers of items "kept", "added" and "removed", the number of
        "lists_searched", the "clusters" that are the same, new, split, merged or vanished, and "unused_numbers".
    converged_ : bool
        Whether all solves, the eigenvectors and their verification converged.
    stats_ : dict
        Numbers of solved and pruned pairs, certificates, and seconds by stage.
    center_distance_ : (N,) array
        Distance of each row of `embedding_` to the mean of its cluster.
    next_cluster_ : (N,) int32 array
        The cluster with the nearest center, other than the item's own cluster; -1 if there is none.
    ambiguity_ : (N,) array
        Ambiguity d / (d + e), with the distances d to the center of the item's cluster and e to that other center.
        The ambiguity is 0 at the center and 1/2 on the boundary.
    membership_ : (N, n_clusters_) array
        How strongly each item belongs to each cluster. Rows sum to 1, and the largest entry of a row belongs to the
        label. For refined documents, memberships are probabilities of the mixture model of the words, with a
        temperature at which one half of a document's words predicts the cluster of the other half. For other items,
        memberships decrease with the distance to the cluster centers, at a rate that is calibrated on random halves of
        the items. Memberships measure how reproducible a label is, and not whether it agrees with your own classes.
    compression_ : dict or None
        With `compress`: the attribute `compression` of the merged items, with the measured accuracy if "auto".
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
    centers_ : Distributions
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

    @former_arguments(centre_size="center_size")
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
        sinkhorn_value: SinkhornValue = "regularized",
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
        refine: Refine = "auto",
        method: Method = "ddsc",
        vectors_from: VectorsFrom = "auto",
        barycenter: Centers = "admm",
        center_size: Optional[int] = None,
        compress: Optional[Union[int, str]] = None,
        resume: Optional[PathLike] = None,
        stability: Optional[int] = None,
        on_empty: OnEmpty = "error",
        outliers: bool = False,
        verbose: Union[int, bool] = 0,
        callback: Optional[Progress] = None,
        like: Optional[Union["DDSC", PathLike]] = None,
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
        self.refine = refine
        self.method = method
        self.vectors_from = vectors_from
        self.barycenter = barycenter
        self.center_size = center_size
        self.compress = compress
        self.resume = resume
        self.stability = stability
        self.on_empty = on_empty
        self.outliers = outliers
        self.verbose = verbose
        self.callback = callback
        self.like = like
        self.memory_limit = memory_limit
        self.device = device

    labels_: Ints

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
