"""Types of the public functions. Option values are literals, so that type checkers find misspelled values."""

from __future__ import annotations

import os
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Dict,
    List,
    Literal,
    Mapping,
    Optional,
    Protocol,
    Sequence,
    Tuple,
    TypedDict,
    Union,
)

import numpy as np
from numpy.typing import ArrayLike as ArrayLike
from numpy.typing import NDArray as NDArray

if TYPE_CHECKING:
    from ._distributions import Distributions

Array = NDArray[Any]
Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Flags = NDArray[np.bool_]
Objects = NDArray[np.object_]
Labels = Union[Sequence[int], Sequence[str], NDArray[np.integer[Any]], NDArray[np.str_], Objects]

PathLike = Union[str, "os.PathLike[str]"]
AnyPath = Union[PathLike, bytes, "os.PathLike[bytes]"]
Progress = Callable[[str, int, int], object]
RandomState = Union[None, int, np.random.RandomState, np.random.Generator]
Json = Dict[str, Any]
"""A JSON object as a dict. docs/results.md describes its keys."""

Metric = Literal["w2", "w1", "sinkhorn", "mmd", "lot"]
JoinedMetric = Literal[
    "w2+w1", "w2+sinkhorn", "w2+mmd", "w2+lot", "w1+sinkhorn", "w1+mmd", "w1+lot", "sinkhorn+mmd",
    "sinkhorn+lot", "mmd+lot", "w2+w1+sinkhorn", "w2+w1+mmd", "w2+w1+lot", "w2+sinkhorn+mmd",
    "w2+sinkhorn+lot", "w2+mmd+lot", "w1+sinkhorn+mmd", "w1+sinkhorn+lot", "w1+mmd+lot",
    "sinkhorn+mmd+lot", "w2+w1+sinkhorn+mmd", "w2+w1+sinkhorn+lot", "w2+w1+mmd+lot",
    "w2+sinkhorn+mmd+lot", "w1+sinkhorn+mmd+lot", "w2+w1+sinkhorn+mmd+lot",
]  # fmt: skip
FitMetric = Union[Metric, JoinedMetric, Literal["precomputed"]]
Cost = Literal["sqeuclidean", "euclidean", "cosine", "cityblock"]
CostLike = Union[None, Cost, Floats, Sequence[Sequence[float]]]
SinkhornValue = Literal["regularized", "sharp", "debiased", "paper"]
Kernel = Literal["gaussian", "laplace", "energy"]
Estimator = Literal["auto", "unbiased", "biased"]
Bandwidth = Union[float, Literal["auto", "median"]]
Reference = Literal["auto", "normal", "kmeans"]
ReferenceLike = Union[Reference, "Distributions"]
ExactGraph = Literal["auto", "full", "pruned"]
Hubs = Literal["auto", "off", "always"]
Refine = Literal["auto", "off", "words"]
Gamma = Union[float, Literal["auto", "local", "median"]]
NumberOfClusters = Union[int, Tuple[int, int], Literal["auto"]]
NumberOfNeighbors = Union[int, Literal["auto"]]
Approximate = Union[bool, Literal["auto"]]
Method = Literal["ddsc", "kmeans", "sc", "d2", "pd2"]
VectorsFrom = Literal["auto", "histogram", "mean"]
Centers = Literal["admm", "ibp"]
BarycenterMethod = Literal["admm", "ibp", "projected"]
OnEmpty = Literal["error", "drop"]
Normalize = Literal["standard", "robust", "rank"]
Align = Literal["center", "size", "deskew", "principal"]
ImageAs = Literal["pixels", "ink", "colors"]
Words = Literal["fitted", "general", "own"]
Weighting = Literal["auto", "tfidf", "tf"]


class SparseRows(Protocol):
    """A sparse matrix in CSR format: scipy.sparse.csr_matrix, or `CSR` if SciPy is not installed."""

    @property
    def data(self) -> Floats: ...
    @property
    def indices(self) -> Ints: ...
    @property
    def indptr(self) -> Ints: ...
    @property
    def shape(self) -> Tuple[int, int]: ...
    def toarray(self) -> Floats: ...


class Grouped(Protocol):
    """A pandas groupby."""

    @property
    def groups(self) -> object: ...


class TableLike(Protocol):
    """A pandas DataFrame, or any object with the same column interface."""

    @property
    def columns(self) -> Any: ...
    def __getitem__(self, key: Any, /) -> Any: ...


class AnnDataLike(Protocol):
    """An anndata.AnnData."""

    @property
    def obs(self) -> Any: ...
    @property
    def obsm(self) -> Any: ...


Item = Union[ArrayLike, Tuple[ArrayLike, Optional[ArrayLike]]]
Items = Union["Distributions", ArrayLike, Sequence[Item], Mapping[str, Item], Mapping[int, Item], Grouped]
FitItems = Union[Items, SparseRows]
Weights = Sequence[Optional[ArrayLike]]
Rows = Union[slice, Sequence[int], Sequence[bool], NDArray[np.integer[Any]], Flags]


class MetricSettings(TypedDict, total=False):
    """Parameters of the metrics, as in `DDSC`."""

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
    paper: bool


class Transforms(TypedDict, total=False):
    """Parameters of `Distributions.transformed`."""

    arcsinh: Union[None, float, Dict[str, float]]
    log1p: bool
    normalize: Optional[Normalize]
    pca: Optional[int]
    per_item: Optional[int]
    align: Optional[Align]
    logicle: Union[None, float, str, Dict[str, float], Dict[str, str]]
    batch: Union[None, str, Sequence[object]]
    random_state: RandomState


Level = Literal["separate", "partly", "reproducible", "continuum", "one_cloud", "too_few"]


class ComparedMetric(TypedDict, total=False):
    """Results of one metric in `compare`, with scores if classes are known."""

    metric: Metric
    suggests_k: int
    level: Level
    structure: Literal["clear", "weak", "none", "undecided"]
    stability: float
    modularity: float
    agreement: float
    seconds: float
    ami: float
    ari: float


class Comparison(TypedDict):
    """Result of `compare`."""

    k: int
    metrics: List[ComparedMetric]
    labels: Dict[str, Ints]
    ari: Floats
    ami: Floats
    recommended: Metric
    lead: float
    sure: Literal["no difference", "slight", "clear"]
    words: str


class SweepRow(TypedDict):
    """Results for one number of clusters."""

    k: int
    gap: float
    relative_gap: float
    modularity: float
    inertia: float
    stability: float
    smallest: int
    largest: int


class Candidate(TypedDict):
    """A plausible number of clusters, with the criteria that support it."""

    k: int
    widest_gap: bool
    highest_modularity: bool
    halves_agree: bool
    large_may_hide: bool


class _Sentence(TypedDict):
    level: Level
    color: Literal["green", "teal", "blue", "amber", "gray"]
    structure: Literal["clear", "weak", "none", "undecided"]
    text: str


class Verdict(_Sentence, total=False):
    """The verdict on the clusters. `evidence` exists if the clustering has a graph."""

    evidence: Json


class About(TypedDict, total=False):
    """Description of a cluster. Words or markers are included if the data has names."""

    label: int
    name: str
    size: int
    representatives: List[Json]
    borderline: List[Json]
    words: List[Json]
    nearest: Json
    markers: List[Json]


class Stability(TypedDict):
    """Changes of the clustering under resampling of the points."""

    rows: List[Dict[str, float]]
    mean: Dict[str, float]
    worst: Dict[str, float]
    labels: Ints
    n_changed: Longs
    n_ever: int
    n_often: int
    other: Ints
    words: str
    gap: float
    alpha: float
    sin_limit: float
    theorem_vacuous: bool
    direct_vacuous: bool
