"""Tests that figures are drawn with the right content."""

import pathlib

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
    host = ddsc.plot.clusters(X, model, n_each=5)
    assert len(host.figure.axes) == 1 + 10 and host.figure.axes[0] is host and not host.axison
    images = np.zeros((6, 4, 4))
    images[:, 1:3, 1:3] = 1
    assert len(ddsc.plot.clusters(ddsc.Distributions.from_histograms(images), [0] * 6).figure.axes) == 1 + 8


def test_clusters_in_any_dimension():
    rng = np.random.default_rng(0)
    for d in (1, 3, 7):
        figure = ddsc.plot.clusters([rng.normal(i % 2, 1, (9, d)) for i in range(6)], [0, 1] * 3, n_each=3).figure
        assert sum(len(c.get_offsets()) for box in figure.axes for c in box.collections) == 54
    X = ddsc.make_gaussians(k=2, n=8, dim=3, separation=9.0).described(coordinate_names=["CD3", "CD4", "CD8"])
    model = ddsc.DDSC(2).fit(X)
    figure = ddsc.plot.clusters(X, model).figure
    assert [box.get_title() for box in figure.axes[1:]] == ["cluster 0 (8)", "cluster 1 (8)"]
    assert sorted(t.get_text() for t in figure.axes[1].get_yticklabels()) == ["CD3", "CD4", "CD8"]
    assert any("CD" in t.get_text() for t in ddsc.plot.map(model).texts)
    words = ddsc.Distributions.from_texts(["rain. cold!", "sun. warm!"] * 6, lambda s: [[len(x), ord(x[0])] for x in s])
    figure = ddsc.plot.about(ddsc.DDSC(2).fit(words)).figure
    assert {t.get_text() for box in figure.axes[1:] for t in box.get_yticklabels()} == {"rain.", "cold!", "sun.", "warm!"}
    with pytest.raises(ValueError, match="no names"):
        ddsc.plot.about(ddsc.DDSC(2, metric="precomputed").fit(ddsc.pairwise(X)))
    plt.close("all")


def test_map(fitted):
    X, model = fitted
    ax = ddsc.plot.map(model, ids=range(40))
    places = np.concatenate([c.get_offsets() for c in ax.collections])
    assert {tuple(p) for p in places} == {tuple(p) for p in model.map_}
    assert sum(t.get_text().isdigit() for t in ax.texts) == 40


def test_colors_are_those_of_the_report(fitted):
    _, model = fitted
    page = model.report()
    for n, color in enumerate(ddsc.plot.COLORS):
        assert f"--c{n}:{color};" in page
    colors = {matplotlib.colors.to_hex(c.get_facecolor()[0]) for c in ddsc.plot.map(model).collections}
    assert colors == set(ddsc.plot.COLORS[:2])
    many = ddsc.plot.embedding(np.random.default_rng(0).normal(size=(66, 3)), list(range(22)) * 3)
    assert len({c.get_paths()[0].vertices.shape for c in many.collections}) == 2  # circles, then squares


def test_tree_and_names(fitted):
    X, model = fitted
    D = ddsc.pairwise(X)
    ax = ddsc.plot.tree(D, model, ids=[f"item {i}" for i in range(40)])
    texts = {t.get_text(): matplotlib.colors.to_hex(t.get_color()) for t in ax.get_yticklabels()}
    assert texts == {f"item {i}": ddsc.plot.COLORS[c] for i, c in enumerate(model.labels_)}
    coarse = ddsc.plot.tree(model)
    assert {t.get_text() for t in coarse.get_yticklabels()} == {"cluster 0", "cluster 1"}
    heat = ddsc.plot.distances(D, model, ids=range(40))
    order = np.argsort(model.labels_, kind="stable")
    assert [int(t.get_text()) for t in heat.get_yticklabels()] == order.tolist()
    with pytest.raises(ValueError, match="without missing distances"):
        ddsc.plot.tree(np.full((3, 3), np.nan), [0, 0, 1])


def test_dropped_items_are_not_drawn():
    points = [np.full((3, 2), 9.0 * (i % 2)) + np.arange(3)[:, None] for i in range(8)]
    weights = [np.ones(3) if i != 4 else np.zeros(3) for i in range(8)]
    X = ddsc.Distributions(points, weights, on_empty="drop")
    model = ddsc.DDSC(2).fit(X)
    assert sum(len(c.get_offsets()) for c in ddsc.plot.map(model).collections) == 7
    assert len(ddsc.plot.clusters(X, model).figure.axes) == 1 + 16
    plt.close("all")


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


def outside_view(ax):
    """Return tick labels beyond the limits of their axis, which matplotlib stores but does not draw."""
    for axis in (ax.xaxis, ax.yaxis):
        low, high = sorted(axis.get_view_interval())
        for tick in axis.get_major_ticks():
            if not low <= tick.get_loc() <= high:
                yield from (tick.label1, tick.label2)


def overlaps(figure):
    """Return pairs of visible texts in a figure that overlap."""
    figure.draw_without_rendering()
    undrawn = {id(label) for ax in figure.axes for label in outside_view(ax)}
    texts = [t for t in figure.findobj(matplotlib.text.Text) if t.get_visible() and t.get_text().strip()]
    texts = [t for t in texts if id(t) not in undrawn]
    texts = [t for t in texts if t.axes is None or t.axes.axison or t not in t.axes.findobj(matplotlib.axis.Tick)]
    boxes = [(t.get_text(), t.get_window_extent()) for t in texts]
    boxes = [(text, box.padded(-0.5)) for text, box in boxes if box.width > 1]
    return [(a, b) for i, (a, x) in enumerate(boxes) for b, y in boxes[i + 1 :] if x.overlaps(y)]


def test_no_text_overlaps_another():
    documents = ddsc.datasets.load_documents()
    model = ddsc.DDSC(5, n_jobs=1).fit(documents)
    cells = ddsc.DDSC(2, n_jobs=1).fit(ddsc.datasets.load_cells(8, 40))
    D = ddsc.pairwise(documents, metric="lot")
    many = np.arange(100) // 2  # clusters too small for labels of their own
    for ax in (
        ddsc.plot.map(model),
        ddsc.plot.about(model),
        ddsc.plot.about(cells),
        ddsc.plot.clusters(documents, model),
        ddsc.plot.distances(D, model),
        ddsc.plot.distances(D, many),
        ddsc.plot.tree(model),
        ddsc.plot.tree(D[:50, :50], many[:50], ids=documents.titles[:50]),
        ddsc.plot.eigengap(model),
        ddsc.plot.embedding(model),
    ):
        assert overlaps(ax.figure) == []
    plt.close("all")


def test_names_on_the_map_stay_inside():
    ax = ddsc.plot.map(ddsc.DDSC(5, n_jobs=1).fit(ddsc.datasets.load_documents()))
    ax.figure.draw_without_rendering()
    frame = ax.get_window_extent()
    boxes = [text.get_window_extent() for text in ax.texts]
    assert len(boxes) == 5 and all(frame.x0 - 1 <= box.x0 and box.x1 <= frame.x1 + 1 for box in boxes)
    plt.close("all")


def test_the_gallery_shows_every_function():
    page = pathlib.Path(__file__).resolve().parents[2] / "docs" / "gallery" / "13_figures.py"
    if not page.exists():
        pytest.skip("not in the repository")
    assert [name for name in ddsc.plot.__all__ if f"ddsc.plot.{name}(" not in page.read_text(encoding="utf-8")] == []


def test_every_function_takes_and_returns_axes(fitted):
    X, model = fitted
    D = ddsc.pairwise(X, metric="mmd")
    words = ddsc.Distributions.from_texts(["rain the. cold!", "sun. warm!"] * 6, lambda s: [[len(x), ord(x[0])] for x in s])
    told = ddsc.DDSC(2).fit(words)
    named = ddsc.Distributions(list(X), ids=[f"s{i}" for i in range(len(X))])
    first, second = ddsc.DDSC(2).fit(named), ddsc.DDSC(3).fit(named)
    calls = {
        "about": (told,), "clusters": (X, model), "distances": (D, model), "eigengap": (model,), "embedding": (model,),
        "map": (model,), "tree": (model,), "diff": (first, second), "over": (model, list(range(len(X)))),
    }  # fmt: skip
    assert set(calls) == set(ddsc.plot.__all__)
    for name, given in calls.items():
        draw = getattr(ddsc.plot, name)
        figure, boxes = plt.subplots(1, 2, layout="constrained")
        assert draw(*given, ax=boxes[1]) is boxes[1] and not boxes[0].has_data()
        assert isinstance(draw(*given), matplotlib.axes.Axes)
        free = plt.figure().add_axes((0.1, 0.1, 0.8, 0.8))  # belongs to no grid
        assert draw(*given, ax=free) is free
        free.figure.draw_without_rendering()
        plt.close("all")
    plt.close("all")


def test_function_words_are_left_out():
    model = ddsc.DDSC(5, n_jobs=1).fit(ddsc.datasets.load_documents())
    shown = {t.get_text() for box in ddsc.plot.about(model, n=5).figure.axes if box.axison for t in box.get_yticklabels()}
    told = {row["word"] for cluster in model.explain() for row in cluster["words"]}
    common = set("a an and are as at be but by for from had has have he in is it its of on or said that the them they to was".split())
    assert len(shown) > 10 and shown - {""} <= told and not told & common
    plt.close("all")
