"""Recomputes the values of ddsc_barycenter_run (called with ctypes) with POT, and compares them with POT's
barycenter."""
import ctypes
import os
import pathlib

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import lil_matrix
from scipy.spatial.distance import cdist

from structs import Sized

BUILD = pathlib.Path(os.environ.get("DDSC_BUILD", "build"))
ot = pytest.importorskip("ot")

DOUBLES = ctypes.POINTER(ctypes.c_double)
ADMM, IBP, PROJECTED = 0, 1, 2
EUCLIDEAN, CITYBLOCK, MATRIX = 2, 4, 5
I64, F64 = ctypes.c_int64, ctypes.c_double


class Settings(Sized):
    _fields_ = [("struct_size", ctypes.c_size_t), ("method", ctypes.c_int), ("support_size", I64),
                ("rho", F64), ("epsilon", F64), ("max_rounds", I64), ("max_passes", I64),
                ("tolerance", F64), ("projection_dim", I64), ("item_weights", DOUBLES),
                ("restarts", I64), ("cost", I64), ("cost_matrix", DOUBLES), ("cost_size", I64)]


class View(ctypes.Structure):
    _fields_ = [("n", I64), ("dim", I64), ("support", DOUBLES), ("weights", DOUBLES),
                ("objective", DOUBLES), ("n_objective", I64), ("n_rounds", I64),
                ("n_passes", I64), ("converged", ctypes.c_int)]


@pytest.fixture(scope="module")
def barycenter():
    if b"__asan_init" in (BUILD / "libddsc.so").read_bytes():
        pytest.skip("a library with sanitizers cannot be loaded into python")
    lib = ctypes.CDLL(str(BUILD / "libddsc.so"))
    for name in ("ddsc_context_destroy", "ddsc_measures_destroy", "ddsc_barycenter_destroy"):
        getattr(lib, name).argtypes = [ctypes.c_void_p]
    lib.ddsc_measures_create_clouds.argtypes = [
        ctypes.c_void_p, ctypes.c_void_p, I64, I64, DOUBLES, DOUBLES, ctypes.POINTER(I64),
        ctypes.c_int]
    lib.ddsc_barycenter_run.argtypes = [ctypes.c_void_p] * 4
    lib.ddsc_barycenter_get_view_sized.argtypes = [ctypes.c_void_p] * 2 + [ctypes.c_size_t]
    context = ctypes.c_void_p()
    assert lib.ddsc_context_create(ctypes.byref(context), None) == 0

    def run(points, weights, size, item_weights=None, **changes):
        x, w = np.vstack(points), np.concatenate(weights)
        offsets = np.concatenate([[0], np.cumsum([len(p) for p in points])]).astype(np.int64)
        items, found, view = ctypes.c_void_p(), ctypes.c_void_p(), View()
        assert lib.ddsc_measures_create_clouds(
            context, ctypes.byref(items), len(points), x.shape[1], x.ctypes.data_as(DOUBLES),
            w.ctypes.data_as(DOUBLES), offsets.ctypes.data_as(ctypes.POINTER(I64)), 0) == 0
        settings = Settings.made_by(lib, "barycenter_settings")
        settings.support_size = size
        if item_weights is not None:
            settings.item_weights = item_weights.ctypes.data_as(DOUBLES)
        for name, value in changes.items():
            setattr(settings, name, value)
        assert lib.ddsc_barycenter_run(context, ctypes.byref(found), items,
                                       ctypes.byref(settings)) == 0
        lib.ddsc_barycenter_get_view_sized(found, ctypes.byref(view), ctypes.sizeof(view))
        support = np.ctypeslib.as_array(view.support, (view.n, view.dim)).copy()
        mass = np.ctypeslib.as_array(view.weights, (view.n,)).copy()
        values = np.ctypeslib.as_array(view.objective, (view.n_objective,)).copy()
        lib.ddsc_barycenter_destroy(found)
        lib.ddsc_measures_destroy(items)
        return support, mass, values, view

    yield run
    lib.ddsc_context_destroy(context)


def random_items(seed, n_items, n_points, dim):
    random = np.random.default_rng(seed)
    shift = random.normal(0, 1, (n_items, 1, dim))
    points = [random.normal(0, 1, (random.integers(n_points // 2, n_points + 1), dim)) + s
              for s in shift]
    weights = [random.dirichlet(np.ones(len(p))) for p in points]
    return points, weights, random


def mean_cost(support, mass, points, weights, share=None, cost="sqeuclidean"):
    costs = [ot.emd2(mass, b, cdist(support, y, cost)) for y, b in zip(points, weights)]
    return np.average(costs, weights=share)


def least_on(matrix, histograms):
    """Return the mean cost of the best measure on all rows of the matrix, from one linear program."""
    n, v = histograms.shape
    equal, wanted = lil_matrix((2 * n * v, n * v * v + v)), np.zeros(2 * n * v)
    for i in range(n):
        for r in range(v):
            at = i * v * v + r * v
            equal[i * v + r, at:at + v] = 1
            equal[i * v + r, n * v * v + r] = -1
            equal[n * v + i * v + r, i * v * v + r:(i + 1) * v * v:v] = 1
            wanted[n * v + i * v + r] = histograms[i, r]
    price = np.concatenate([np.tile(matrix.ravel(), n) / n, np.zeros(v)])
    return linprog(price, A_eq=equal.tocsr(), b_eq=wanted, method="highs").fun


@pytest.mark.parametrize("method", [ADMM, IBP, PROJECTED])
@pytest.mark.parametrize("dim", [1, 2, 7])
def test_values_are_those_of_exact_transport(barycenter, method, dim):
    points, weights, random = random_items(10 * dim + method, 12, 14, dim)
    share = random.uniform(0.5, 2, 12)
    support, mass, values, view = barycenter(points, weights, 9, share, method=method)
    assert support.shape == (9, dim) and view.converged
    assert abs(mass.sum() - 1) < 1e-12 and mass.min() > 0
    assert values[-1] == pytest.approx(mean_cost(support, mass, points, weights, share), rel=1e-9)
    assert len(values) > 1 and (np.diff(values) <= 0).all()


def test_as_good_as_the_free_support_barycenter_of_pot(barycenter):
    """Both are local minima. Ours is lower on average, and never higher by more than a small margin."""
    ratios = []
    for seed in range(12):
        dim, size = (1, 2, 3, 5, 20)[seed % 5], (10, 8, 16, 12)[seed % 4]
        points, weights, random = random_items(seed, 20, 16, dim)
        support, mass, values, _ = barycenter(points, weights, size)
        start = np.vstack(points)[random.choice(sum(map(len, points)), size, replace=False)]
        uniform = np.full(size, 1 / size)
        theirs = ot.lp.free_support_barycenter(points, weights, start, uniform, numItermax=200,
                                               stopThr=1e-9)
        ratios.append(values[-1] / mean_cost(theirs, uniform, points, weights))
    assert np.mean(ratios) < 1 and max(ratios) < 1.005


@pytest.mark.parametrize("cost,name", [(EUCLIDEAN, "euclidean"), (CITYBLOCK, "cityblock")])
@pytest.mark.parametrize("dim", [1, 2, 7])
def test_values_under_distances(barycenter, cost, name, dim):
    points, weights, random = random_items(dim + cost, 12, 14, dim)
    share = random.uniform(0.5, 2, 12)
    support, mass, values, view = barycenter(points, weights, 9, share, cost=cost)
    assert view.converged and abs(mass.sum() - 1) < 1e-12 and mass.min() > 0
    assert values[-1] == pytest.approx(mean_cost(support, mass, points, weights, share, name), rel=1e-9)
    assert len(values) > 1 and (np.diff(values) <= 0).all()
    for seed in range(20):  # a local minimum: no small step of the points decreases the cost
        step = np.random.default_rng(seed).normal(0, 1e-3, support.shape)
        assert mean_cost(support + step, mass, points, weights, share, name) > values[-1] * (1 - 1e-6)


@pytest.mark.parametrize("cost", [EUCLIDEAN, CITYBLOCK])
def test_median_of_quantiles_on_a_line(barycenter, cost):
    """Equal weights: W1 sorts the points, and each position is the median of the points of its rank."""
    above = []
    for seed in range(8):
        points = np.sort(np.random.default_rng(seed).normal(0, 1, (9, 7, 1)), axis=1)
        best = np.abs(points - np.median(points, axis=0)).mean()
        support, mass, values, _ = barycenter(list(points), [np.full(7, 1 / 7)] * 9, 7, cost=cost)
        assert best * (1 - 1e-9) <= values[-1] <= 1.05 * best
        above.append(values[-1] / best)
    assert min(above) < 1.0001 and np.mean(above) < 1.02


@pytest.mark.parametrize("metric", ["cityblock", "sqeuclidean"])
def test_rows_of_a_matrix_against_a_linear_program(barycenter, metric):
    for seed in range(4):
        random = np.random.default_rng(seed)
        places = random.normal(0, 1, (12, 2))
        matrix = np.ascontiguousarray(cdist(places, places, metric))
        histograms = random.dirichlet(np.full(12, 0.4), 8)
        rows = np.arange(12.0)[:, None]
        support, mass, values, _ = barycenter([rows] * 8, list(histograms), 12, cost=MATRIX, cost_size=12,
                                              cost_matrix=matrix.ctypes.data_as(DOUBLES))
        assert np.isin(support, rows).all()
        again = np.mean([ot.emd2(mass, b, np.ascontiguousarray(matrix[support.ravel().astype(int)])) for b in histograms])
        assert values[-1] == pytest.approx(again, rel=1e-9)
        best = least_on(matrix, histograms)
        assert best * (1 - 1e-9) <= values[-1] <= 1.03 * best
