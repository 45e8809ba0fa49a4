"""Compares the plain algorithm with NumPy, SciPy and scikit-learn on a precomputed distance matrix."""
import json

import numpy as np
import pytest

linalg = pytest.importorskip("scipy.linalg")
sklearn_cluster = pytest.importorskip("sklearn.cluster")
metrics = pytest.importorskip("sklearn.metrics")


def distances(n, k, spread, seed):
    random = np.random.RandomState(seed)
    points = random.randn(n, 3) * spread + 5 * np.eye(k, 3)[np.arange(n) % k]
    return np.linalg.norm(points[:, None] - points[None], axis=2)


def affinity(d2, tau, gamma):
    a = np.exp(-gamma * d2)
    np.fill_diagonal(d2, np.inf)
    kept = np.zeros_like(a)
    nearest = np.argsort(d2, axis=0, kind="stable")[:tau]
    np.put_along_axis(kept, nearest, np.take_along_axis(a, nearest, 0), 0)
    return (kept + kept.T) / 2


def spectrum(a, k):
    s = a.sum(1)
    values, vectors = linalg.eigh(a / np.sqrt(s[:, None] * s[None]))
    return 1 - values[::-1], vectors[:, ::-1][:, :k]


@pytest.mark.parametrize("n", [150, 700])  # with LAPACK, and with the block method
@pytest.mark.parametrize("gamma", [0.3, "median"])
def test_plain_algorithm(ddsc, tmp_path, n, gamma):
    k, tau = 3, 12
    matrix = distances(n, k, 1.1, n)
    np.save(tmp_path / "d.npy", matrix)
    ddsc("cluster", tmp_path / "d.npy", "--precomputed", "-k", k, "--tau", tau, "--gamma", gamma, "--paper",
         "-o", tmp_path / "out")
    result = json.loads((tmp_path / "out" / "result.json").read_text())
    d2 = matrix ** 2
    if gamma == "median":
        masked = d2 + np.diag(np.full(n, np.inf))
        gamma = 1 / np.median(np.sort(masked, axis=0)[:tau])
        assert result["chosen"]["gamma"] == pytest.approx(gamma, rel=1e-12)
    expected, vectors = spectrum(affinity(d2, tau, gamma), k)
    found = np.loadtxt(tmp_path / "out" / "eigenvalues.csv", delimiter=",", skiprows=1)
    np.testing.assert_allclose(found[:, 1], expected[:len(found)], atol=1e-9)
    rows = np.load(tmp_path / "out" / "embedding.npy")
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    # The rows agree up to a rotation of the eigenvectors: their inner products agree.
    np.testing.assert_allclose(rows @ rows.T, vectors @ vectors.T, atol=1e-5)
    theirs = sklearn_cluster.KMeans(k, n_init=10, random_state=0).fit_predict(vectors)
    ours = np.loadtxt(tmp_path / "out" / "labels.csv", delimiter=",", skiprows=1)[:, 1]
    assert metrics.adjusted_rand_score(ours, theirs) > 0.99


def test_many_equal_components(ddsc, tmp_path):
    """Ten copies of one graph: single-vector methods miss most of the repeated eigenvalues."""
    one = distances(70, 1, 1.0, 3)
    matrix = np.full((700, 700), np.nan)
    for c in range(10):
        matrix[70 * c:70 * c + 70, 70 * c:70 * c + 70] = one
    np.save(tmp_path / "d.npy", matrix)
    ddsc("cluster", tmp_path / "d.npy", "--precomputed", "-k", 10, "--tau", 8, "-o", tmp_path / "out")
    labels = np.loadtxt(tmp_path / "out" / "labels.csv", delimiter=",", skiprows=1)[:, 1]
    assert (labels == np.arange(700) // 70).all()
    values = np.loadtxt(tmp_path / "out" / "eigenvalues.csv", delimiter=",", skiprows=1)[:, 1]
    assert (values[:10] == 0).all()
    np.testing.assert_allclose(values[10:20], values[10], atol=1e-9)
    np.testing.assert_allclose(values[20:30], values[20], atol=1e-9)
    assert values[20] > values[10] + 1e-6
