"""Compares the scores of the library (called with ctypes) with scikit-learn."""
import ctypes
import os
import pathlib

import numpy as np
import pytest

metrics = pytest.importorskip("sklearn.metrics")
from structs import Sized

BUILD = pathlib.Path(os.environ.get("DDSC_BUILD", "build"))


class Scores(Sized):
    _fields_ = [("struct_size", ctypes.c_size_t)]
    _fields_ += [(name, ctypes.c_double) for name in ("ami", "ari", "nmi", "purity")]
    _fields_ += [
        (name, ctypes.c_int64) for name in ("n", "n_labels", "n_truth")]


@pytest.fixture(scope="module")
def score():
    if os.environ.get("DDSC_SANITIZED"):
        pytest.skip("a sanitized library cannot be loaded into python")
    library = ctypes.CDLL(str(BUILD / "libddsc.so"))
    context = ctypes.c_void_p()
    assert library.ddsc_context_create(ctypes.byref(context), None) == 0

    def run(labels, truth):
        labels, truth = (np.ascontiguousarray(x, np.int32) for x in (labels, truth))
        found = Scores.made_by(library, "scores")
        pointer = ctypes.POINTER(ctypes.c_int32)
        status = library.ddsc_scores_run(context, ctypes.byref(found), ctypes.c_int64(len(labels)),
                                         labels.ctypes.data_as(pointer), truth.ctypes.data_as(pointer))
        assert status == 0
        return found

    yield run
    library.ddsc_context_destroy(context)


def compare(score, labels, truth, tolerance=1e-9):
    found = score(labels, truth)
    assert found.ami == pytest.approx(metrics.adjusted_mutual_info_score(truth, labels), abs=tolerance)
    assert found.ari == pytest.approx(metrics.adjusted_rand_score(truth, labels), abs=1e-12)
    assert found.nmi == pytest.approx(metrics.normalized_mutual_info_score(truth, labels), abs=1e-12)
    table = metrics.cluster.contingency_matrix(labels, truth)
    assert found.purity == pytest.approx(table.max(axis=1).sum() / len(labels), abs=1e-15)


@pytest.mark.parametrize("seed", range(25))
def test_random(score, seed):
    r = np.random.RandomState(seed)
    n = r.randint(2, 400)
    truth = r.randint(0, r.randint(1, 12), n)
    labels = np.where(r.rand(n) < r.rand(), truth, r.randint(0, r.randint(1, 15), n))
    compare(score, labels, truth)


def test_small_cases(score):
    for truth, labels in [([0], [0]), ([0, 0], [0, 0]), ([0, 1], [0, 0]), ([0, 0], [0, 1]),
                          ([0, 0, 1, 1], [0, 1, 0, 1]), ([0, 0, 1, 2], [1, 1, 0, 0]),
                          ([0, 0, 1], [5, 5, 2]), (range(6), [0] * 6), ([0] * 6, range(6)),
                          ([0, 0, 0, 1], [0, 1, 2, 3])]:
        compare(score, list(labels), list(truth))


def test_all_apart(score):
    """0/0 in the formula; scikit-learn returns what rounding leaves, a perfect match is 1."""
    assert score(range(5), range(5)).ami == 1


@pytest.mark.parametrize("n,k,m", [(20000, 10, 10), (100000, 30, 7), (30000, 300, 50)])
def test_large(score, n, k, m):
    r = np.random.RandomState(n)
    truth = r.randint(0, k, n) // (1 + r.randint(0, 2, n))
    labels = np.where(r.rand(n) < 0.6, truth % m, r.randint(0, m, n))
    compare(score, labels, truth, 1e-8)


def test_skewed(score):
    r = np.random.RandomState(1)
    truth = np.minimum(r.geometric(0.02, 5000), 400)
    labels = np.where(r.rand(5000) < 0.3, truth, np.minimum(r.geometric(0.05, 5000), 300))
    compare(score, labels, truth)


def test_negative_labels_are_left_out(score):
    r = np.random.RandomState(2)
    truth, labels = r.randint(-1, 5, 1000), r.randint(-2, 4, 1000)
    keep = (truth >= 0) & (labels >= 0)
    assert score(labels, truth).ami == score(labels[keep], truth[keep]).ami
    assert score(labels, truth).n == keep.sum()
