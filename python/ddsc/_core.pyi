"""The C module. The first argument of every function is a Context, except for views, `emd_quick` and
`find_companions`."""

from typing import Any, Callable, Dict, List, Optional, Tuple

version: str
features: str

class Context:
    status: int
    message: str
    threads: int
    peak_memory: int
    device: str
    def __init__(
        self,
        threads: int = 0,
        seed: int = 0,
        memory_limit: int = 0,
        progress: Optional[Callable[[str, int, int], Any]] = None,
        read_timeout: float = 60.0,
        encoding: int = 0,
    ) -> None: ...
    def set_resume(self, folder: Optional[str], settings: Optional[str]) -> None: ...
    def set_device(self, name: str) -> None: ...
    def take_warnings(self) -> List[str]: ...

class Handle: ...

def items(context: Context, points: List[Any], weights: Any, dim: int, drop: bool) -> Handle: ...
def clouds(context: Context, points: Any, weights: Any, offsets: Any, drop: bool) -> Handle: ...
def shared(
    context: Context, support: Any, offsets: Any, indices: Any, weights: Any, drop: bool
) -> Handle: ...
def dense(context: Context, support: Any, histograms: Any, drop: bool) -> Handle: ...
def read_files(context: Context, paths: List[str], settings: Dict[str, Any]) -> Handle: ...
def read_text(
    context: Context, documents: List[str], vectors: Optional[str], settings: Dict[str, Any]
) -> Handle: ...
def find_companions(path: str, vectors: bool) -> List[str]: ...
def write_file(context: Context, measures: Handle, path: str, overwrite: bool) -> None: ...
def subset(context: Context, measures: Handle, items: Any) -> Handle: ...
def named(context: Context, measures: Handle, ids: List[str], labels: Any) -> Handle: ...
def described(
    context: Context, measures: Handle, coordinates: Any, points: Any, titles: Any
) -> Handle: ...
def about(context: Context, measures: Handle, names: List[str], values: List[str]) -> Handle: ...
def read_meta(context: Context, measures: Handle, path: str, id: Optional[str]) -> Handle: ...
def transformed(context: Context, measures: Handle, settings: Dict[str, Any]) -> Handle: ...
def compress(
    context: Context, measures: Handle, m: int, keep: float, metric: Dict[str, Any]
) -> Tuple[Optional[Handle], Dict[str, Any]]: ...
def generate(
    context: Context, what: str, k: int, n: int, n_points: int, dim: int, separation: float
) -> Handle: ...
def measures_view(measures: Handle) -> Dict[str, Any]: ...
def measures_names(measures: Handle) -> Dict[str, Any]: ...
def distance(
    context: Context,
    out: Any,
    measures: Handle,
    metric: Dict[str, Any],
    condensed: bool,
    squared: bool,
) -> Dict[str, Any]: ...
def cross(
    context: Context,
    out: Any,
    rows: Handle,
    columns: Handle,
    metric: Dict[str, Any],
    squared: bool,
) -> Dict[str, Any]: ...
def neighbors(
    context: Context, measures: Handle, metric: Dict[str, Any], graph: Dict[str, Any]
) -> Tuple[Handle, Dict[str, Any]]: ...
def graph_from_matrix(
    context: Context, matrix: Any, squared: bool, graph: Dict[str, Any]
) -> Handle: ...
def graph_tau(n: int, graph: Dict[str, Any]) -> int: ...
def graph_from_csr(context: Context, offsets: Any, indices: Any, d2: Any) -> Handle: ...
def graph_view(graph: Handle) -> Dict[str, Any]: ...
def embed(
    context: Context, measures: Handle, metric: Dict[str, Any]
) -> Tuple[Any, Dict[str, Any]]: ...
def reference(context: Context, measures: Handle, metric: Dict[str, Any]) -> Handle: ...
def cluster(
    context: Context,
    measures: Handle,
    metric: Dict[str, Any],
    graph: Dict[str, Any],
    settings: Dict[str, Any],
) -> Handle: ...
def spectral(context: Context, graph: Handle, settings: Dict[str, Any]) -> Handle: ...
def clustering_view(clustering: Handle) -> Dict[str, Any]: ...
def scores(context: Context, labels: Any, truth: Any) -> Dict[str, float]: ...
def standing(
    context: Context, clustering: Handle, distance: Any, ambiguity: Any, next: Any
) -> None: ...
def membership(
    context: Context, clustering: Handle, measures: Optional[Handle], membership: Any
) -> None: ...
def project(context: Context, xy: Any, rows: Any) -> None: ...
def compare(
    context: Context,
    measures: Handle,
    metric: Dict[str, Any],
    graph: Dict[str, Any],
    settings: Dict[str, Any],
) -> Dict[str, Any]: ...
def stability(
    context: Context,
    measures: Handle,
    clustering: Handle,
    metric: Dict[str, Any],
    graph: Dict[str, Any],
    settings: Dict[str, Any],
    n_resamples: int,
) -> Dict[str, Any]: ...
def permanova(
    context: Context,
    distances: Any,
    n: int,
    columns: List[Tuple[str, Any, int, int]],
    permutations: int,
    given: Any,
    points: Any,
    squared: bool,
    pairwise: bool,
    separately: bool,
) -> Dict[str, Any]: ...
def states(context: Context, measures: Handle, n_states: int, start: Any, end: Any) -> Dict[str, Any]: ...
def effects(
    context: Context,
    values: Any,
    n: int,
    n_variables: int,
    columns: List[Tuple[str, Any, int, int]],
    permutations: int,
) -> Dict[str, Any]: ...
def report_json(
    context: Context,
    measures: Optional[Handle],
    found: Any,
    graph: Optional[Handle],
    stability: Optional[Handle],
    metric: Dict[str, Any],
    graph_settings: Dict[str, Any],
    settings: Dict[str, Any],
    converged: bool,
    outliers: bool,
    method: str,
    more: Dict[str, Any],
) -> Tuple[str, str]: ...
def vectors(context: Context, measures: Handle, rule: int) -> Any: ...
def graph_from_vectors(context: Context, vectors: Any, graph: Dict[str, Any]) -> Handle: ...
def kmeans(context: Context, labels: Any, vectors: Any, k: int, restarts: int) -> float: ...
def d2(context: Context, measures: Handle, settings: Dict[str, Any]) -> Handle: ...
def d2_view(d2: Handle) -> Dict[str, Any]: ...
def diff(context: Context, first: Any, second: Any) -> Tuple[str, str, str]: ...
def over(context: Context, labels: Any, k: int, column: str, values: List[Any]) -> Dict[str, Any]: ...
def report_page(context: Context, folder: str, form: int = 3) -> str: ...
def layout(context: Context, xy: Any, graph: Handle, start: Any) -> None: ...
def model_create(
    context: Context,
    measures: Handle,
    clustering: Handle,
    metric: Dict[str, Any],
    graph: Dict[str, Any],
    settings: Dict[str, Any],
) -> Handle: ...
def model_items(model: Handle) -> Handle: ...
def update(
    context: Context,
    model: Handle,
    added: Optional[Handle],
    removed: Any,
    metric: Dict[str, Any],
    graph: Dict[str, Any],
    settings: Dict[str, Any],
) -> Dict[str, Handle]: ...
def measures_copy_like(context: Context, measures: Handle, model: Handle) -> Handle: ...
def model_read(context: Context, path: str) -> Handle: ...
def model_write(context: Context, model: Handle, path: str, overwrite: bool) -> None: ...
def write_bytes(context: Context, path: str, bytes: bytes, overwrite: bool) -> None: ...
def model_view(model: Handle) -> Dict[str, Any]: ...
def assign(
    context: Context,
    model: Handle,
    measures: Handle,
    rows: Any,
    labels: Any,
    confidence: Any,
    distance: Any,
    far: Any,
    membership: Any,
) -> None: ...
def barycenter(
    context: Context, measures: Handle, item_weights: Any, settings: Dict[str, Any]
) -> Dict[str, Any]: ...
def emd_quick(a: Any, b: Any, M: Any) -> Optional[float]: ...
def emd(
    context: Context,
    a: Any,
    b: Any,
    M: Any,
    f: Any,
    g: Any,
    plan_row: Any,
    plan_column: Any,
    plan_mass: Any,
) -> Tuple[float, float, float, int, int]: ...
def sinkhorn(
    context: Context,
    a: Any,
    b: Any,
    M: Any,
    f: Any,
    g: Any,
    plan: Any,
    epsilon: float,
    which: int,
    tolerance: float,
    max_iterations: int,
) -> Tuple[float, float, float, int]: ...
