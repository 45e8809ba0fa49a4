"""Compares MMD of the shared library, called with ctypes, with NumPy."""
import ctypes as C
import os

import numpy as np
import pytest
from scipy.spatial.distance import cdist, pdist

from structs import Sized

BUILD = os.environ.get("DDSC_BUILD", "build")
METRIC_MMD = 2
GAUSSIAN, LAPLACE, ENERGY = range(3)
RULE_AUTO, RULE_MEDIAN, RULE_VALUE = range(3)
UNBIASED, BIASED = range(2)
SQUARED = 1


class MetricSettings(Sized):
    _fields_ = [("struct_size", C.c_size_t), ("metric", C.c_int), ("epsilon", C.c_double),
                ("epsilon_is_percent", C.c_int), ("sinkhorn_value", C.c_int),
                ("sinkhorn_tolerance", C.c_double), ("sinkhorn_max_iterations", C.c_int64),
                ("mmd_kernel", C.c_int), ("bandwidth_rule", C.c_int), ("bandwidth", C.c_double),
                ("mmd_estimator", C.c_int), ("reference_rule", C.c_int),
                ("reference_size", C.c_int64), ("reference_measures", C.c_void_p),
                ("w2_max_pivots", C.c_int64), ("mmd_features", C.c_int64),
                ("lot_components", C.c_int64)]


class PairStats(Sized):
    _fields_ = [("struct_size", C.c_size_t)]
    _fields_ += [(name, C.c_int64) for name in
                ("n_pairs", "n_solved", "n_bounds", "n_pruned", "n_not_converged", "n_clamped",
                 "n_iterations")]
    _fields_ += [("max_gap", C.c_double), ("epsilon", C.c_double), ("bandwidth", C.c_double),
                 ("reference_size", C.c_int64), ("seconds", C.c_double), ("n_checked", C.c_int64),
                 ("check_median", C.c_double), ("check_high", C.c_double), ("check_max", C.c_double),
                 ("n_features", C.c_int64), ("n_components", C.c_int64),
                 ("reduction_error", C.c_double), ("recall", C.c_double),
                 ("n_recall_rows", C.c_int64), ("recall_low", C.c_double),
                 ("recall_high", C.c_double)]


def pointer(array):
    return array.ctypes.data_as(C.c_void_p)


class Library:
    def __init__(self):
        self.lib = C.CDLL(os.path.join(BUILD, "libddsc.so"))
        self.lib.ddsc_context_get_message.restype = C.c_char_p
        self.context = C.c_void_p()
        assert self.lib.ddsc_context_create(C.byref(self.context), None) == 0

    def check(self, status):
        assert status >= 0, self.lib.ddsc_context_get_message(self.context).decode()

    def distance(self, clouds, weights, kernel, estimator, rule, bandwidth=0.0):
        points = np.ascontiguousarray(np.concatenate(clouds), float)
        mass = np.ascontiguousarray(np.concatenate(weights), float)
        offsets = np.cumsum([0] + [len(x) for x in clouds]).astype(np.int64)
        n, data = len(clouds), C.c_void_p()
        self.check(self.lib.ddsc_measures_create_clouds(
            self.context, C.byref(data), C.c_int64(n), C.c_int64(points.shape[1]), pointer(points),
            pointer(mass), pointer(offsets), 0))
        settings = MetricSettings.made_by(self.lib, "metric_settings")
        settings.metric = METRIC_MMD
        settings.mmd_kernel, settings.mmd_estimator = kernel, estimator
        settings.bandwidth_rule, settings.bandwidth = rule, bandwidth
        out, stats = np.full((n, n), np.nan), PairStats.made_by(self.lib, "pair_stats")
        status = self.lib.ddsc_distance_run(self.context, pointer(out), C.byref(stats), data,
                                            C.byref(settings), SQUARED)
        self.lib.ddsc_measures_destroy(data)
        self.check(status)
        return out, stats


@pytest.fixture(scope="module")
def library():
    return Library()


def kernel_matrix(x, kernel, h):
    r = cdist(x, x)
    if kernel == GAUSSIAN:
        return np.exp(-r ** 2 / (2 * h * h))
    return np.exp(-r / h) if kernel == LAPLACE else -r


def oracle(clouds, weights, kernel, estimator, h):
    """Return D^2 from the kernel between all points, item by item."""
    k = kernel_matrix(np.concatenate(clouds), kernel, h)
    weights = [w / w.sum() for w in weights]
    ends = np.cumsum([0] + [len(x) for x in clouds])
    part = [slice(a, b) for a, b in zip(ends[:-1], ends[1:])]
    n = len(clouds)
    own = np.zeros(n)
    for i, w in enumerate(weights):
        pairs = np.outer(w, w)
        if estimator == UNBIASED and len(w) > 1:
            np.fill_diagonal(pairs, 0)
            pairs /= pairs.sum()
        own[i] = (pairs * k[part[i], part[i]]).sum()
    out = np.zeros((n, n))
    for i in range(n):
        field = weights[i] @ k[part[i]]
        for j in range(i):
            out[i, j] = out[j, i] = own[i] + own[j] - 2 * field[part[j]] @ weights[j]
    return out


def own_clouds(rng, dim):
    sizes = rng.integers(1, 40, 18)
    return [rng.normal(size=(s, dim)) + 0.5 * rng.normal(size=dim) for s in sizes]


def shared_clouds(rng, dim):
    table = rng.normal(size=(60, dim))
    return [table[rng.choice(60, rng.integers(1, 15), replace=False)] for _ in range(70)]


def grid_clouds(rng, dim):
    axis = np.arange([20.0, 6.0, 4.0][dim - 1])
    cells = np.stack(np.meshgrid(*[axis] * dim, indexing="ij"), -1).reshape(-1, dim)
    return [0.25 * cells[rng.random(len(cells)) < 0.4] for _ in range(66)]


CASES = [(make, d) for make in (own_clouds, shared_clouds) for d in (1, 2, 3, 10, 100)]
CASES += [(grid_clouds, d) for d in (1, 2, 3)]


@pytest.mark.parametrize("estimator", [UNBIASED, BIASED])
@pytest.mark.parametrize("kernel", [GAUSSIAN, LAPLACE, ENERGY])
@pytest.mark.parametrize("make,dim", CASES)
def test_against_numpy(library, make, dim, kernel, estimator):
    rng = np.random.default_rng(dim)
    clouds = [x for x in make(rng, dim) if len(x)]
    weights = [rng.random(len(x)) + 0.05 for x in clouds]
    h = 0.7 * np.sqrt(dim)
    found, stats = library.distance(clouds, weights, kernel, estimator, RULE_VALUE, h)
    expected = oracle(clouds, weights, kernel, estimator, h)
    assert np.abs(found - expected).max() <= 1e-9 * np.median(np.abs(expected))
    assert (found == found.T).all()
    upper = expected[np.triu_indices(len(clouds), 1)]
    if np.abs(upper).min() > 1e-12:
        assert stats.n_clamped == (upper < 0).sum()
    assert kernel == ENERGY or stats.bandwidth == h


@pytest.mark.parametrize("rule,level", [(RULE_AUTO, 0.05), (RULE_MEDIAN, 0.5)])
def test_bandwidth_is_a_quantile_of_pooled_distances(library, rule, level):
    rng = np.random.default_rng(5)
    clouds = own_clouds(rng, 3)
    r = pdist(np.concatenate(clouds))
    _, stats = library.distance(clouds, [np.ones(len(x)) for x in clouds], GAUSSIAN, UNBIASED, rule)
    assert stats.bandwidth == pytest.approx(np.quantile(r, level), rel=1e-12)


def test_translation_and_scale(library):
    rng = np.random.default_rng(6)
    clouds = own_clouds(rng, 20)
    weights = [np.ones(len(x)) for x in clouds]
    base, _ = library.distance(clouds, weights, GAUSSIAN, UNBIASED, RULE_AUTO)
    moved, _ = library.distance([8 * x + 1024 for x in clouds], weights, GAUSSIAN, UNBIASED,
                                RULE_AUTO)
    assert np.abs(base - moved).max() <= 1e-9 * np.abs(base).max()
