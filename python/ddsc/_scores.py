"""Computes scores that compare two labelings."""

from __future__ import annotations

from typing import Any, Dict, cast

import numpy as np

from . import _core
from ._run import Run
from ._types import Array, Labels


def _label_numbers(labels: Any) -> Array:
    """Convert labels to int32 codes. Negative integers mean "no label" and are replaced with -1."""
    array = np.asarray(labels)
    if array.ndim != 1:
        raise ValueError(f"labels have {array.ndim} dimensions; expected one label per item")
    if array.dtype.kind in "iub":
        array = array.astype(np.int64)
        codes = np.unique(array, return_inverse=True)[1].ravel()
        return np.ascontiguousarray(np.where(array < 0, -1, codes), dtype=np.int32)
    codes = np.unique(array.astype(str), return_inverse=True)[1].ravel()
    return np.ascontiguousarray(codes, dtype=np.int32)


def label_scores(labels_true: Any, labels_pred: Any) -> Dict[str, float]:
    truth, found = _label_numbers(labels_true), _label_numbers(labels_pred)
    if len(truth) != len(found):
        raise ValueError(f"labels_true has {len(truth)} labels, but labels_pred has {len(found)}")
    with Run(n_jobs=1) as run:
        return cast(Dict[str, float], run(_core.scores, found, truth))


def adjusted_mutual_info_score(labels_true: Labels, labels_pred: Labels) -> float:
    """Return the mutual information of two labelings, adjusted for chance (1: identical, 0: as expected by chance).

    Labels can be integers or names. Negative integers mean "no label" and are ignored.

    Examples
    --------
    >>> import ddsc
    >>> ddsc.adjusted_mutual_info_score([0, 0, 1, 1], ["b", "b", "a", "a"])
    1.0
    """
    return label_scores(labels_true, labels_pred)["ami"]


def adjusted_rand_score(labels_true: Labels, labels_pred: Labels) -> float:
    """Return the adjusted Rand index: the agreement of two labelings on pairs of items, adjusted for chance.

    Examples
    --------
    >>> import ddsc
    >>> ddsc.adjusted_rand_score([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    """
    return label_scores(labels_true, labels_pred)["ari"]


def normalized_mutual_info_score(labels_true: Labels, labels_pred: Labels) -> float:
    """Return the mutual information of two labelings, divided by the mean of their entropies.

    Examples
    --------
    >>> import ddsc
    >>> ddsc.normalized_mutual_info_score([0, 0, 1, 1], [0, 1, 0, 1])
    0.0
    """
    return label_scores(labels_true, labels_pred)["nmi"]


def purity_score(labels_true: Labels, labels_pred: Labels) -> float:
    """Return the fraction of the items that belong to the most common class of their cluster.

    Examples
    --------
    >>> import ddsc
    >>> ddsc.purity_score([0, 0, 1, 1], [0, 0, 0, 1])
    0.75
    """
    return label_scores(labels_true, labels_pred)["purity"]
