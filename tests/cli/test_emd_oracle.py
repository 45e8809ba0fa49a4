"""Compares ddsc_emd_run of the built library with POT and SciPy's linear programming."""
import ctypes
import os
import pathlib

import numpy as np
import pytest

ot = pytest.importorskip("ot")
linprog = pytest.importorskip("scipy.optimize").linprog

from structs import Transport, problem_of

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIBRARY = pathlib.Path(os.environ.get("DDSC_BUILD", ROOT / "build")) / "libddsc.so"


@pytest.fixture(scope="module")
def emd():
    if not LIBRARY.exists():
        pytest.skip(f"{LIBRARY} is not built")
    library = ctypes.CDLL(str(LIBRARY))
    context = ctypes.c_void_p()
    assert library.ddsc_context_create(ctypes.byref(context), None) == 0

    def run(a, b, cost):
        a, b, cost = (np.ascontiguousarray(x, float) for x in (a, b, cost))
        n, m = cost.shape
        found = Transport.made_by(library, "transport")
        row, column = np.zeros(n + m, np.int32), np.zeros(n + m, np.int32)
        mass, f, g = np.zeros(n + m), np.zeros(n), np.zeros(m)
        found.plan_row, found.plan_column = row.ctypes.data, column.ctypes.data
        found.plan_mass, found.f, found.g = (x.ctypes.data for x in (mass, f, g))
        asked = problem_of(library, a, b, cost)
        assert library.ddsc_emd_run(context, ctypes.byref(found), ctypes.byref(asked)) == 0
        k = found.n_plan
        plan = np.zeros((n, m))
        np.add.at(plan, (row[:k], column[:k]), mass[:k])
        return found, plan, f, g

    yield run
    library.ddsc_context_destroy(context)


def ragged(rng, n, m, d):
    a, b = rng.random(n) + 0.01, rng.random(m) + 0.01
    x, y = rng.normal(size=(n, d)), rng.normal(size=(m, d)) * 1.5 + 0.3
    return a / a.sum(), b / b.sum(), ((x[:, None] - y[None]) ** 2).sum(-1)


def check(found, plan, f, g, a, b, cost):
    scale = np.abs(cost).max()
    assert np.abs(plan.sum(1) - a).max() < 1e-13
    assert np.abs(plan.sum(0) - b).max() < 1e-13
    assert found.primal == pytest.approx((plan * cost).sum(), rel=1e-12, abs=1e-14 * scale)
    assert (f[:, None] + g[None] <= cost).all()
    assert found.dual == pytest.approx(a @ f + b @ g, rel=1e-12, abs=1e-14 * scale)
    assert found.gap <= 1e-12


@pytest.mark.parametrize("d", [1, 2, 3, 10, 100])
@pytest.mark.parametrize("n, m", [(1, 1), (1, 20), (7, 1), (16, 16), (40, 90), (200, 130), (700, 800)])
def test_squared_distances(emd, n, m, d):
    a, b, cost = ragged(np.random.default_rng(100 * n + d), n, m, d)
    found, *rest = emd(a, b, cost)
    check(found, *rest, a, b, cost)
    assert found.primal == pytest.approx(ot.emd2(a, b, cost, numItermax=10**7), rel=1e-9)


@pytest.mark.parametrize("n, m", [(2, 2), (5, 8), (12, 9)])
def test_linear_program(emd, n, m):
    rng = np.random.default_rng(n)
    for _ in range(5):
        a, b, cost = ragged(rng, n, m, 2)
        cost -= rng.random() * cost.max()
        rows = np.kron(np.eye(n), np.ones(m))
        columns = np.kron(np.ones(n), np.eye(m))
        best = linprog(cost.ravel(), A_eq=np.vstack([rows, columns]), b_eq=np.r_[a, b], method="highs")
        found, *rest = emd(a, b, cost)
        check(found, *rest, a, b, cost)
        assert found.primal == pytest.approx(best.fun, rel=1e-9, abs=1e-12)


def test_uniform_and_integer(emd):
    rng = np.random.default_rng(1)
    for n, m in [(30, 30), (64, 64), (50, 75)]:
        a, b = np.full(n, 1 / n), np.full(m, 1 / m)
        cost = rng.integers(0, 9, (n, m)).astype(float)
        found, *rest = emd(a, b, cost)
        check(found, *rest, a, b, cost)
        assert found.primal == pytest.approx(ot.emd2(a, b, cost), rel=1e-9, abs=1e-12)


def test_identity_and_symmetry(emd):
    rng = np.random.default_rng(2)
    x = rng.normal(size=(60, 4))
    a, b = rng.random(60), rng.random(60)
    a, b = a / a.sum(), b / b.sum()
    cost = ((x[:, None] - x[None]) ** 2).sum(-1)
    assert emd(a, a, cost)[0].primal == 0
    assert emd(a, b, cost)[0].primal == pytest.approx(emd(b, a, cost.T)[0].primal, rel=1e-12)
