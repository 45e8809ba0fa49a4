"""Tests of ground costs, given by name or as a matrix, and of their storage in models."""
import numpy as np
import pytest

import ddsc


@pytest.fixture(scope="module")
def clouds():
    random = np.random.default_rng(0)
    return [random.normal(4 * (i % 2), 1, (random.integers(2, 7), 3)) for i in range(24)]


def test_line():
    X = [np.array([[0.0]]), np.array([[3.0]]), np.array([[1.0], [5.0]])]
    assert np.allclose(ddsc.pairwise(X, metric="w1"), [[0, 3, 3], [3, 0, 2], [3, 2, 0]])
    assert np.allclose(ddsc.pairwise(X, metric="w1", squared=True), [[0, 9, 9], [9, 0, 4], [9, 4, 0]])


def test_costs(clouds):
    plain = ddsc.pairwise(clouds, metric="w1")
    assert (plain == ddsc.pairwise(clouds, metric="w1", cost="euclidean")).all()
    city = ddsc.pairwise(clouds, metric="w1", cost="cityblock")
    assert (city >= plain * (1 - 1e-12)).all() and (plain <= ddsc.pairwise(clouds) * (1 + 1e-12)).all()
    unit = [x / np.linalg.norm(x, axis=1, keepdims=True) for x in clouds]
    assert np.allclose(ddsc.pairwise(clouds, cost="cosine"), ddsc.pairwise(unit), rtol=1e-9, atol=1e-9)


def test_matrix(clouds):
    """Points given by their index and a cost matrix give the same results as the points themselves."""
    points = np.vstack(clouds)
    cost = np.sqrt(((points[:, None] - points[None]) ** 2).sum(-1))
    ends = np.cumsum([0] + [len(x) for x in clouds])
    rows = [np.arange(a, b, dtype=float)[:, None] for a, b in zip(ends, ends[1:])]
    wanted = ddsc.pairwise(clouds, metric="w1")
    assert np.allclose(ddsc.pairwise(rows, metric="w1", cost=cost), wanted, rtol=1e-9, atol=1e-12)
    model = ddsc.DDSC(2, metric="w1", cost=cost).fit(rows)
    assert (model.labels_ == np.arange(24) % 2).all() and (model.predict(rows) == model.labels_).all()


def test_model(clouds):
    for metric, cost in (("w1", None), ("w1", "cityblock"), ("w2", "cosine"), ("sinkhorn", "euclidean")):
        model = ddsc.DDSC(2, metric=metric, cost=cost).fit(clouds)
        assert (model.predict(clouds) == model.labels_).all()
        assert model.get_params()["cost"] == cost


@pytest.mark.parametrize("settings,says", [
    ({"cost": "euclidean"}, "w1"), ({"metric": "lot", "cost": "cityblock"}, "squared Euclidean"),
    ({"metric": "w1", "cost": "chebyshev"}, "cityblock"), ({"metric": "w1", "cost": np.ones((2, 3))}, "square"),
    ({"metric": "w1", "cost": 1 - np.eye(3)}, "single coordinate")])
def test_refused(clouds, settings, says):
    with pytest.raises(ValueError, match=says):
        ddsc.pairwise(clouds, **settings)
