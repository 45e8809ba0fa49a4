"""Tests of the distances of all pairs, against POT and by the properties of a distance."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ddsc


def w2_by_pot(x, y, a=None, b=None):
    ot = pytest.importorskip("ot")
    a = np.full(len(x), 1 / len(x)) if a is None else a / a.sum()
    b = np.full(len(y), 1 / len(y)) if b is None else b / b.sum()
    return np.sqrt(max(ot.emd2(a, b, ot.dist(x, y)), 0))


def test_w2_equals_pot(clouds):
    points, weights = clouds
    D = ddsc.pairwise(ddsc.Distributions(points, weights))
    for i in range(0, 24, 5):
        for j in range(0, 24, 3):
            expected = w2_by_pot(points[i], points[j], weights[i], weights[j])
            assert D[i, j] == pytest.approx(expected, rel=1e-8, abs=1e-7)
    np.testing.assert_array_equal(D, D.T)
    assert (np.diag(D) == 0).all()


def test_paper():
    """paper=True selects the settings of the paper in every function and rejects other settings."""
    X = ddsc.make_shapes()
    W = ddsc.pairwise(X, metric="sinkhorn", epsilon=1.0, squared=True)
    np.testing.assert_array_equal(ddsc.pairwise(X, metric="sinkhorn", epsilon=1.0, paper=True), W)
    G = ddsc.neighbors(X, 5, metric="mmd", paper=True, squared=True)
    D = ddsc.pairwise(X, metric="mmd", mmd_estimator="unbiased", bandwidth="near", squared=True)
    np.testing.assert_array_equal(G.data, [D[i, j] for i, j in zip(*G.nonzero())] if (G.data != 0).all() else G.data)
    Z = ddsc.LinearOT(paper=True).fit(X)
    assert Z.reference_.sizes[0] == 40
    for metric in ("mmd", "sinkhorn", "w2", "lot"):
        model = ddsc.DDSC(2, metric=metric, paper=True).fit(X)
        assert ddsc.adjusted_rand_score(X.labels, model.labels_) == 1
    for wrong in (
        {"metric": "mmd", "mmd_estimator": "biased"},
        {"metric": "sinkhorn", "sinkhorn_value": "sharp"},
        {"metric": "lot", "reference": "kmeans"},
        {"hubs": "always"},
        {"gamma": "local"},
        {"sample_columns": 0.5},
        {"metric": "w2+mmd"},
    ):
        with pytest.raises(ValueError, match="paper requires"):
            ddsc.DDSC(2, paper=True, **wrong).fit(X)
    with pytest.raises(ValueError, match="paper requires"):
        ddsc.LinearOT(paper=True, reference_size=3).fit(X)


@pytest.mark.parametrize("metric", ["w2", "w1", "sinkhorn", "mmd", "lot"])
def test_two_sets(clouds, metric):
    points, _ = clouds
    full = ddsc.pairwise(points, metric=metric, squared=True)
    found = ddsc.pairwise(points[:10], points[10:], metric=metric, squared=True)
    np.testing.assert_array_equal(found, full[:10, 10:])


def test_shapes_of_output(clouds):
    points, _ = clouds
    D = ddsc.pairwise(points)
    flat = ddsc.pairwise(points, condensed=True)
    np.testing.assert_array_equal(flat, D[np.triu_indices(24, 1)])
    room = np.empty((24, 24))
    assert ddsc.pairwise(points, out=room) is room
    np.testing.assert_array_equal(room, D)
    np.testing.assert_allclose(ddsc.pairwise(points, squared=True), D**2, rtol=1e-12)
    for n_jobs in (1, 2, -1):
        np.testing.assert_array_equal(ddsc.pairwise(points, n_jobs=n_jobs), D)
    with pytest.raises(ValueError, match="out must be"):
        ddsc.pairwise(points, out=np.empty((3, 3)))
    with pytest.raises(ValueError, match="condensed"):
        ddsc.pairwise(points, points, condensed=True)
    with pytest.raises(ValueError, match="'w2', 'sinkhorn', 'mmd', 'lot'"):
        ddsc.pairwise(points, metric="w3")
    with pytest.raises(ValueError, match="coordinates"):
        ddsc.pairwise(points, [np.zeros((2, 7))])
    with pytest.raises(TypeError, match="color"):
        ddsc.pairwise(points, color="red")


@pytest.mark.parametrize("metric", ["w2", "mmd"])
def test_neighbors_are_those_of_the_matrix(clouds, metric):
    points, weights = clouds
    X = ddsc.Distributions(points, weights)
    how = {"mmd_estimator": "biased"}
    D = ddsc.pairwise(X, metric=metric, **how)
    G = ddsc.neighbors(X, 4, metric, **how)
    assert G.shape == (24, 24)
    np.fill_diagonal(D, np.inf)
    for i in range(24):
        near = np.sort(D[i])[:4]
        row = slice(G.indptr[i], G.indptr[i + 1])
        np.testing.assert_allclose(G.data[row], near, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(D[i, G.indices[row]], near, rtol=1e-9, atol=1e-12)
    squared = ddsc.neighbors(X, 4, metric, squared=True, **how)
    np.testing.assert_allclose(squared.data, G.data**2, rtol=1e-9)
    for bad in (0, -3, 2.5, "many"):
        with pytest.raises(ValueError, match="n_neighbors"):
            ddsc.neighbors(X, bad)


def test_points_of_a_matrix_are_items_of_one_point():
    X = np.random.default_rng(0).normal(size=(12, 3))
    expected = np.linalg.norm(X[:, None] - X[None], axis=2)
    np.testing.assert_allclose(ddsc.pairwise(X), expected, rtol=1e-9, atol=1e-12)


def test_sinkhorn_goes_to_w2(clouds):
    points, _ = clouds
    exact = ddsc.pairwise(points[:6], squared=True)
    near = ddsc.pairwise(
        points[:6], metric="sinkhorn", epsilon=0.01, sinkhorn_value="sharp", squared=True
    )
    np.testing.assert_allclose(near, exact, rtol=0.02, atol=1e-6)


# ---- properties ----

numbers = st.floats(-10, 10, allow_nan=False, width=32)


@st.composite
def sets(draw):
    d = draw(st.integers(1, 3))
    clouds = []
    for _ in range(3):
        n = draw(st.integers(1, 6))
        values = draw(st.lists(numbers, min_size=n * d, max_size=n * d))
        clouds.append(np.array(values, dtype=float).reshape(n, d))
    weights = [
        np.array(draw(st.lists(st.floats(0.01, 1), min_size=len(c), max_size=len(c))))
        for c in clouds
    ]
    return clouds, weights


QUICK = settings(max_examples=60, deadline=None)


@QUICK
@given(sets())
def test_w2_is_a_distance(case):
    points, weights = case
    D = ddsc.pairwise(ddsc.Distributions(points, weights), n_jobs=1)
    assert (D >= 0).all() and np.array_equal(D, D.T)
    assert D[0, 2] <= D[0, 1] + D[1, 2] + 1e-6 * (1 + D.max())


@QUICK
@given(sets(), numbers, st.floats(0.1, 10))
def test_w2_moves_and_scales(case, shift, factor):
    points, weights = case
    D = ddsc.pairwise(ddsc.Distributions(points, weights), n_jobs=1)
    moved = [factor * p + shift for p in points]
    again = ddsc.pairwise(ddsc.Distributions(moved, weights), n_jobs=1)
    np.testing.assert_allclose(again, factor * D, rtol=1e-5, atol=1e-5)


@QUICK
@given(sets(), st.sampled_from(["w2", "mmd", "sinkhorn"]))
def test_order_and_splitting_of_points_do_not_matter(case, metric):
    points, weights = case
    how = {"metric": metric, "n_jobs": 1, "bandwidth": 1.0, "epsilon": 0.5}
    D = ddsc.pairwise(ddsc.Distributions(points, weights), **how)
    turned = [np.concatenate([p[::-1], p]) for p in points]
    halves = [np.concatenate([w[::-1], w]) / 2 for w in weights]
    again = ddsc.pairwise(ddsc.Distributions(turned, halves), **how)
    np.testing.assert_allclose(again, D, rtol=1e-6, atol=1e-6)


@QUICK
@given(sets())
def test_w2_is_that_of_sorted_values_on_a_line(case):
    points, _ = case
    x, y = np.sort(points[0][:, 0]), np.sort(points[1][:, 0])
    n = min(len(x), len(y))
    expected = np.sqrt(np.mean((x[:n] - y[:n]) ** 2))
    found = ddsc.pairwise([x[:n, None], y[:n, None]], n_jobs=1)[0, 1]
    assert found == pytest.approx(expected, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("metric", ["w2", "w1", "sinkhorn", "mmd", "lot"])
@pytest.mark.parametrize("first", [1, 20])
def test_two_sets_have_the_bits_of_one(metric, first):
    X = [np.random.default_rng(i).normal(size=(3 + i % 9, 3)) for i in range(50)]
    whole = ddsc.pairwise(X, metric=metric)
    np.testing.assert_array_equal(ddsc.pairwise(X[:first], X[first:], metric=metric), whole[:first, first:])
