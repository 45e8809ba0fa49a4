"""Compares single transport problems with POT and NumPy, and checks their certificates."""

import numpy as np
import pytest

import ddsc

ot = pytest.importorskip("ot")


def problem(seed, n=12, m=17):
    rng = np.random.default_rng(seed)
    a, b = rng.uniform(0.1, 1, n), rng.uniform(0.1, 1, m)
    x, y = rng.normal(size=(n, 2)), rng.normal(size=(m, 2))
    return a / a.sum(), b / b.sum(), ot.dist(x, y)


@pytest.mark.parametrize("seed", range(5))
def test_emd_equals_pot(seed):
    a, b, M = problem(seed)
    assert ddsc.emd(a, b, M) == pytest.approx(ot.emd2(a, b, M), rel=1e-10)


def test_emd_certificate():
    a, b, M = problem(7, 40, 30)
    t = ddsc.emd(a, b, M, full=True)
    assert t.value == pytest.approx(ddsc.emd(a, b, M), rel=1e-14)
    assert t.gap <= 1e-10
    np.testing.assert_allclose(t.plan.sum(axis=1), a, atol=1e-12)
    np.testing.assert_allclose(t.plan.sum(axis=0), b, atol=1e-12)
    assert (t.plan >= 0).all()
    assert (t.f[:, None] + t.g[None] <= M + 1e-9 * M.max()).all()
    assert (t.plan * M).sum() == pytest.approx(t.value, rel=1e-12)
    assert a @ t.f + b @ t.g == pytest.approx(t.dual, rel=1e-10)


def test_emd_inputs_are_forgiving():
    a, b, M = problem(1, 8, 8)
    expected = ddsc.emd(a, b, M)
    assert ddsc.emd(list(a), list(b), M.tolist()) == pytest.approx(expected, rel=1e-12)
    assert ddsc.emd(a, b, np.asfortranarray(M)) == pytest.approx(expected, rel=1e-12)
    single = [np.float32(v) for v in (a, b, M)]
    assert ddsc.emd(*single) == pytest.approx(expected, rel=1e-4)
    assert ddsc.emd(3 * a, 3 * b, M) == pytest.approx(3 * expected, rel=1e-12)
    assert ddsc.emd(None, None, M) == pytest.approx(ot.emd2([], [], M), rel=1e-10)
    assert ddsc.emd(a, b, M.astype(">f8")) == pytest.approx(expected, rel=1e-12)
    large = problem(2, 90, 90)
    assert ddsc.emd(*large) == pytest.approx(ot.emd2(*large), rel=1e-9)


@pytest.mark.parametrize(
    "a, b, M, words",
    [
        ([0.5, 0.5], [1.0], np.ones((2, 2)), "shape"),
        ([0.5, 0.5], [0.5, 0.6], np.ones((2, 2)), "sum"),
        ([0.5, -0.5], [0.5, 0.5], np.ones((2, 2)), "a\\[1\\] is -0.5"),
        ([0.5, 0.5], [0.5, 0.5], np.array([[0, np.nan], [1, 0.0]]), "cost\\[0\\]\\[1\\] is nan"),
        ([1.0], [1.0], np.ones(1), "matrix"),
        ([], [], np.ones((0, 0)), "matrix"),
    ],
)
def test_emd_refuses(a, b, M, words):
    with pytest.raises(ValueError, match=words):
        ddsc.emd(np.array(a), np.array(b), M)


@pytest.mark.parametrize("epsilon", [1.0, 0.1])
def test_sinkhorn_equals_pot(epsilon):
    a, b, M = problem(3)
    plan = ot.sinkhorn(a, b, M, epsilon, method="sinkhorn_log", stopThr=1e-12, numItermax=100000)
    t = ddsc.sinkhorn(a, b, M, epsilon, full=True, value="sharp")
    np.testing.assert_allclose(t.plan, plan, atol=1e-8)
    assert t.value == pytest.approx((plan * M).sum(), rel=1e-6)
    entropy = (plan * np.log(plan / np.outer(a, b))).sum()
    assert ddsc.sinkhorn(a, b, M, epsilon) == pytest.approx(t.value + epsilon * entropy, rel=1e-6)


def test_sinkhorn_percent_and_warning():
    a, b, M = problem(3)
    assert ddsc.sinkhorn(a, b, M, "10%") == ddsc.sinkhorn(a, b, M, 0.1 * np.median(M))
    with pytest.warns(ddsc.ConvergenceWarning, match="marginal error"):
        ddsc.sinkhorn(a, b, M, 0.001, max_iterations=2)
    with pytest.raises(ValueError, match="epsilon"):
        ddsc.sinkhorn(a, b, M, -1.0)
    with pytest.raises(ValueError, match="epsilon='much'"):
        ddsc.sinkhorn(a, b, M, "much")


@pytest.mark.parametrize("estimator", ["biased", "unbiased"])
def test_mmd_equals_its_formula(estimator):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(9, 3)), rng.normal(0.5, 1, size=(13, 3))

    def kernel(u, v):
        return np.exp(-ot.dist(u, v) / (2 * 1.5**2))

    def inside(u):
        K, n = kernel(u, u), len(u)
        return K.mean() if estimator == "biased" else (K.sum() - np.trace(K)) / (n * (n - 1))

    expected = inside(x) + inside(y) - 2 * kernel(x, y).mean()
    found = ddsc.mmd(x, y, bandwidth=1.5, estimator=estimator, squared=True)
    assert found == pytest.approx(expected, rel=1e-9)
    assert ddsc.mmd(x, y, bandwidth=1.5, estimator=estimator) == pytest.approx(
        np.sqrt(max(expected, 0)), rel=1e-9
    )


def test_energy_distance_on_a_line():
    x, y = np.array([[0.0], [2.0]]), np.array([[1.0]])
    # -E|x-x'| - E|y-y'| + 2 E|x-y| with all pairs
    assert ddsc.mmd(x, y, kernel="energy", estimator="biased", squared=True) == pytest.approx(1.0)


def test_barycenter_is_no_worse_than_pot():
    rng = np.random.default_rng(3)
    X = [rng.normal(rng.normal(), 1, (12, 2)) for _ in range(5)]
    found = ddsc.barycenter(X, 8)
    assert found.points.shape == (8, 2)
    assert found.weights.sum() == pytest.approx(1)
    assert (np.diff(found.objective) <= 1e-12).all()

    def objective(points, weights):
        values = [ddsc.emd(weights, None, ot.dist(points, x)) for x in X]
        return np.mean(values)

    start = rng.normal(size=(8, 2))
    weights = [np.full(12, 1 / 12)] * 5
    theirs = ot.lp.free_support_barycenter(X, weights, start, np.full(8, 1 / 8))
    ours = objective(found.points, found.weights)
    assert ours == pytest.approx(found.objective[-1], rel=1e-8)
    assert ours <= objective(theirs, None) + 1e-9
    assert ddsc.barycenter(X, 3, item_weights=[1, 1e-9, 1e-9, 1e-9, 1e-9]).converged in (True, False)
    with pytest.raises(ValueError, match="2 item_weights for 5 items"):
        ddsc.barycenter(X, item_weights=[1.0, 2.0])


def test_scores_equal_scikit_learn():
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(1)
    for k in (2, 5):
        truth, found = rng.integers(0, k, 60), rng.integers(0, 4, 60)
        pairs = [
            (ddsc.adjusted_mutual_info_score, metrics.adjusted_mutual_info_score),
            (ddsc.adjusted_rand_score, metrics.adjusted_rand_score),
            (ddsc.normalized_mutual_info_score, metrics.normalized_mutual_info_score),
        ]
        for ours, theirs in pairs:
            assert ours(truth, found) == pytest.approx(theirs(truth, found), abs=1e-10)
    assert ddsc.purity_score(list("aabb"), [0, 0, 0, 1]) == 0.75
    assert ddsc.adjusted_rand_score([0, 0, 1, 1, -1], [0, 0, 1, 1, 0]) == 1.0
    with pytest.raises(ValueError, match="labels_true has 3 labels, but labels_pred has 2"):
        ddsc.adjusted_rand_score([0, 1, 2], [0, 1])
