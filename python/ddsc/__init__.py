"""Spectral clustering of discrete distributions: items that are weighted point clouds.

>>> import ddsc
>>> X = ddsc.make_shapes()
>>> ddsc.DDSC(n_clusters=2, metric="w2").fit_predict(X)[:3]
array([0, 0, 0], dtype=int32)
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, List

if TYPE_CHECKING:
    from . import datasets, plot
    from ._arrays import CSR
    from ._core import version as __version__
    from ._diff import Diff, diff
    from ._distances import compare, mmd, neighbors, pairwise
    from ._distributions import Distributions
    from ._estimator import DDSC, Assignment
    from ._index import Index
    from ._lot import LinearOT
    from ._permanova import permanova
    from ._reading import make_gaussians, make_shapes, read, read_text
    from ._run import ConvergenceWarning
    from ._scores import (
        adjusted_mutual_info_score,
        adjusted_rand_score,
        normalized_mutual_info_score,
        purity_score,
    )
    from ._states import states
    from ._transport import Barycenter, Transport, barycenter, emd, sinkhorn

__all__ = [
    "Assignment",
    "Barycenter",
    "CSR",
    "ConvergenceWarning",
    "DDSC",
    "Diff",
    "Distributions",
    "Index",
    "LinearOT",
    "Transport",
    "adjusted_mutual_info_score",
    "adjusted_rand_score",
    "barycenter",
    "compare",
    "datasets",
    "diff",
    "emd",
    "make_gaussians",
    "make_shapes",
    "mmd",
    "neighbors",
    "normalized_mutual_info_score",
    "pairwise",
    "permanova",
    "plot",
    "purity_score",
    "read",
    "read_text",
    "sinkhorn",
    "states",
    "__version__",
]

# Maps public names to the modules that define them. Modules are imported on first use, because loading scikit-learn
# takes a second. The command `ddsc` never imports scikit-learn.
_HOMES = {
    "Assignment": "_estimator",
    "CSR": "_arrays",
    "ConvergenceWarning": "_run",
    "DDSC": "_estimator",
    "Index": "_index",
    "LinearOT": "_lot",
    "permanova": "_permanova",
    "states": "_states",
    **dict.fromkeys("Diff diff".split(), "_diff"),
    "Distributions": "_distributions",
    **dict.fromkeys("compare mmd neighbors pairwise".split(), "_distances"),
    **dict.fromkeys("make_gaussians make_shapes read read_text".split(), "_reading"),
    **dict.fromkeys("Barycenter Transport barycenter emd sinkhorn".split(), "_transport"),
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'ddsc' has no attribute {name!r}")
    if name in ("datasets", "plot"):
        return importlib.import_module(f"ddsc.{name}")
    if name == "__version__":
        return importlib.import_module("ddsc._core").version
    value = getattr(importlib.import_module(f"ddsc.{_HOMES.get(name, '_scores')}"), name)
    globals()[name] = value
    return value


def __dir__() -> List[str]:
    return sorted(__all__)
