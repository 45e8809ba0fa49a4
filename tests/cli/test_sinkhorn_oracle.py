"""Compares ddsc_sinkhorn_run, called with ctypes, with a log-domain iteration in NumPy and with POT."""
import ctypes
import os
import pathlib

import numpy as np
import pytest

BUILD = pathlib.Path(os.environ.get("DDSC_BUILD", "build"))
ot = pytest.importorskip("ot")
logsumexp = pytest.importorskip("scipy.special").logsumexp

from structs import SinkhornSettings, Transport, problem_of

REGULARIZED, SHARP = 0, 1


@pytest.fixture(scope="module")
def solver():
    if b"__asan_init" in (BUILD / "libddsc.so").read_bytes():
        pytest.skip("a library with sanitizers cannot be loaded into python")
    lib = ctypes.CDLL(str(BUILD / "libddsc.so"))
    lib.ddsc_sinkhorn_run.argtypes = [ctypes.c_void_p] * 4
    lib.ddsc_context_destroy.argtypes = [ctypes.c_void_p]
    context = ctypes.c_void_p()
    assert lib.ddsc_context_create(ctypes.byref(context), None) == 0

    def solve(a, b, cost, epsilon):
        a, b, cost = (np.ascontiguousarray(x, dtype=float) for x in (a, b, cost))
        asked = problem_of(lib, a, b, cost)
        plan, values = np.empty(cost.shape), []
        for which in (REGULARIZED, SHARP):
            report = Transport.made_by(lib, "transport")
            settings = SinkhornSettings.made_by(lib, "sinkhorn_settings")
            assert settings.tolerance == 1e-9 and settings.max_iterations == 100000
            settings.epsilon, settings.value, report.plan = epsilon, which, plan.ctypes.data
            assert lib.ddsc_sinkhorn_run(context, ctypes.byref(report), ctypes.byref(asked),
                                         ctypes.byref(settings)) == 0
            values.append(report.value)
        return values[0], values[1], plan, report

    yield solve
    lib.ddsc_context_destroy(context)


def oracle(a, b, cost, epsilon, tolerance=1e-11):
    """Return both values from plain log-domain iterations, with epsilon halved down to its value."""
    rows, columns = a > 0, b > 0
    a, b, cost = a[rows], b[columns], cost[np.ix_(rows, columns)]
    log_a, log_b = np.log(a)[:, None], np.log(b)
    g, now = np.zeros(len(b)), max(epsilon, cost.max())
    while True:
        for k in range(30 if now > epsilon else 200000):
            f = -now * logsumexp((g - cost) / now + log_b, axis=1)
            g = -now * logsumexp((f[:, None] - cost) / now + log_a, axis=0)
            if now == epsilon and k % 20 == 0:
                plan = np.exp((f[:, None] + g - cost) / now + log_a + log_b)
                if abs(plan.sum(1) - a).sum() < tolerance:
                    return a @ f + b @ g, (plan * cost).sum()
        assert now > epsilon, "the oracle did not converge"
        now = max(epsilon, now / 2)


def clouds(seed, n, m, dim, weights):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(n, dim)), rng.normal(size=(m, dim)) + 0.5
    a, b = np.ones(n), np.ones(m)
    if weights == "random":
        a, b = rng.uniform(0.05, 1, n), rng.uniform(0.05, 1, m)
    if weights == "steep":
        a, b = rng.uniform(size=n) ** 9, rng.uniform(size=m) ** 9
    if weights == "zeros":
        a, b = rng.integers(0, 3, n).astype(float), rng.integers(0, 3, m).astype(float)
        a[0], b[0] = 1, 1
    return a / a.sum(), b / b.sum(), ((x[:, None] - y) ** 2).sum(-1)


CASES = [(n, m, dim, weights, factor)
         for n, m, dim in [(1, 6, 2), (12, 13, 1), (16, 20, 3), (30, 18, 2)]
         for weights in ["uniform", "random", "steep", "zeros"]
         for factor in [0.02, 0.05, 0.5, 10, 1e4]]


@pytest.mark.parametrize("n,m,dim,weights,factor", CASES)
def test_against_log_domain(solver, n, m, dim, weights, factor):
    a, b, cost = clouds(n + m, n, m, dim, weights)
    epsilon = factor * np.median(cost)
    regularized, sharp, plan, report = solver(a, b, cost, epsilon)
    want_regularized, want_sharp = oracle(a, b, cost, epsilon)
    assert regularized == pytest.approx(want_regularized, rel=1e-8)
    assert sharp == pytest.approx(want_sharp, rel=1e-7)
    assert report.gap <= 1e-9
    assert abs(plan.sum(1) - a).sum() + abs(plan.sum(0) - b).sum() <= 1.1e-9


@pytest.mark.parametrize("seed", range(3))
def test_small_epsilon(solver, seed):
    """One thousandth of the median cost: thousands of plain iterations."""
    a, b, cost = clouds(seed, 20, 25, 2, "random")
    epsilon = 1e-3 * np.median(cost)
    regularized, sharp, _, _ = solver(a, b, cost, epsilon)
    want_regularized, want_sharp = oracle(a, b, cost, epsilon)
    assert regularized == pytest.approx(want_regularized, rel=1e-8)
    assert sharp == pytest.approx(want_sharp, rel=1e-6)


@pytest.mark.parametrize("factor", [0.02, 0.1, 1, 20])
@pytest.mark.parametrize("weights", ["uniform", "random"])
def test_against_pot(solver, factor, weights):
    """POT reports <P, C>; its plan also gives the regularized value."""
    a, b, cost = clouds(5, 18, 22, 2, weights)
    epsilon = factor * np.median(cost)
    regularized, sharp, plan, _ = solver(a, b, cost, epsilon)
    want = ot.sinkhorn(a, b, cost, epsilon, method="sinkhorn_log", stopThr=1e-13,
                       numItermax=200000)
    entropy = (want * np.log(np.maximum(want, 1e-300) / np.outer(a, b))).sum()
    assert abs(plan - want).sum() < 1e-8
    assert sharp == pytest.approx((want * cost).sum(), rel=1e-6)
    assert regularized == pytest.approx((want * cost).sum() + epsilon * entropy, rel=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_tiny_epsilon_is_exact(solver, seed):
    a, b, cost = clouds(seed, 40, 40, 2, "random" if seed % 2 else "uniform")
    _, sharp, _, _ = solver(a, b, cost, 1e-6 * np.median(cost))
    assert sharp == pytest.approx(ot.emd2(a, b, cost), rel=1e-5)
