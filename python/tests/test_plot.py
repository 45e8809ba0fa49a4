"""Pictures come out, with the right content."""

import numpy as np
import pytest

import ddsc

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402


@pytest.fixture
def fitted():
    X = ddsc.make_shapes()
    yield X, ddsc.DDSC(2).fit(X)
    plt.close("all")


def test_embedding(fitted):
    X, model = fitted
    ax = ddsc.plot.embedding(model)
    assert sum(len(c.get_offsets()) for c in ax.collections) == 40
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["cluster 0 (20)", "cluster 1 (20)"]
    named = ddsc.plot.embedding(model, labels=["b", "a"] * 20, ids=range(40))
    assert len(named.texts) == 40
    Z = ddsc.LinearOT(reference_size=4).fit_transform(X)
    assert ddsc.plot.embedding(Z, X.labels, ax=ax) is ax
    with pytest.raises(ValueError, match="labels"):
        ddsc.plot.embedding(Z)


def test_clusters(fitted):
    X, model = fitted
    figure = ddsc.plot.clusters(X, model, n_each=5)
    assert len(figure.axes) == 10
    images = np.zeros((6, 4, 4))
    images[:, 1:3, 1:3] = 1
    assert len(ddsc.plot.clusters(ddsc.Distributions.from_histograms(images), [0] * 6).axes) == 8
    with pytest.raises(ValueError, match="3 coordinates"):
        ddsc.plot.clusters(np.zeros((4, 2, 3)), [0, 0, 1, 1])


def test_eigengap(fitted):
    _, model = fitted
    ax = ddsc.plot.eigengap(model)
    np.testing.assert_allclose(ax.lines[0].get_ydata(), model.eigenvalues_[:10])
    assert "gap after 2" in ax.get_title()


def test_distances(fitted):
    X, model = fitted
    D = ddsc.pairwise(X)
    ax = ddsc.plot.distances(D, model)
    order = np.argsort(model.labels_, kind="stable")
    np.testing.assert_array_equal(ax.images[0].get_array(), D[np.ix_(order, order)])
    assert ddsc.plot.distances(model.affinity_matrix_, model).images
