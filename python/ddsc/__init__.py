"""Spectral clustering of discrete distributions: items that are weighted point clouds.

>>> import ddsc
>>> X = ddsc.make_shapes()
>>> ddsc.DDSC(n_clusters=2, metric="w2").fit_predict(X)[:3]
array([0, 0, 0], dtype=int32)
"""

from __future__ import annotations

from ._core import version as __version__
from ._arrays import CSR
from ._distributions import Distributions, make_gaussians, make_shapes, read, read_text
from ._estimator import DDSC, Assignment
from ._functions import (
    Barycenter,
    Transport,
    adjusted_mutual_info_score,
    adjusted_rand_score,
    barycenter,
    emd,
    mmd,
    compare,
    neighbors,
    normalized_mutual_info_score,
    pairwise,
    purity_score,
    sinkhorn,
)
from ._lot import LinearOT
from ._run import ConvergenceWarning
from . import datasets, plot

__all__ = [
    "Assignment",
    "Barycenter",
    "CSR",
    "ConvergenceWarning",
    "DDSC",
    "Distributions",
    "LinearOT",
    "Transport",
    "adjusted_mutual_info_score",
    "adjusted_rand_score",
    "barycenter",
    "datasets",
    "emd",
    "make_gaussians",
    "make_shapes",
    "mmd",
    "compare",
    "neighbors",
    "normalized_mutual_info_score",
    "pairwise",
    "plot",
    "purity_score",
    "read",
    "read_text",
    "sinkhorn",
    "__version__",
]
