"""Hubs: neighbors are chosen by a locally rescaled distance if a few items are near all others."""
import csv
import json

import numpy as np
import pytest
import scipy.io

METRICS = ["w2", "w1", "sinkhorn", "mmd", "lot"]
TAU = 8


@pytest.fixture(scope="module")
def cloudy(tmp_path_factory):
    """Items of three points around one center in many dimensions. A few are near the center (the hubs), and the last
    are copies."""
    random = np.random.default_rng(4)
    middle = random.normal(size=(240, 1, 60))
    middle[10:20] *= 0.4
    points = middle + 0.3 * random.normal(size=(240, 3, 60))
    points[230:] = points[0]
    path = tmp_path_factory.mktemp("hubs") / "cloudy.npz"
    np.savez(path, points=points.reshape(-1, 60), weights=np.full(720, 1 / 3), offsets=np.arange(241) * 3,
             labels=np.arange(240) % 2)
    return path


def choose(d2, tau, rescaled):
    """Return the neighbors of each item by the rule in docs/numerics.md."""
    d2 = np.maximum(d2, 0)
    order = d2 + np.diag(np.full(len(d2), np.inf))
    nearest = np.sort(order, axis=1)[:, :tau]
    apart = nearest > 0
    scale = np.where(apart.any(1), np.sqrt(nearest).sum(1) / np.maximum(apart.sum(1), 1), 0)
    median = np.median(scale[scale > 0])
    scale = np.where(scale > 0, np.maximum(scale, 0.1 * median), median)
    key = order / scale[None] if rescaled else order
    return [set(row) for row in np.argsort(key, axis=1, kind="stable")[:, :tau]]


def columns(path):
    graph = scipy.io.mmread(path).tocsc()
    return [set(graph.indices[graph.indptr[c]:graph.indptr[c + 1]]) for c in range(graph.shape[1])], graph


@pytest.mark.parametrize("metric", METRICS)
def test_the_graph_is_that_of_the_rule(ddsc, cloudy, tmp_path, metric):
    ddsc("distance", cloudy, "--metric", metric, "--squared", "-o", tmp_path / "D.npy")
    d2 = np.load(tmp_path / "D.npy")
    words = ["neighbors", cloudy, "--metric", metric, "--tau", TAU]
    for how, rescaled in (("off", False), ("auto", True), ("always", True)):
        ddsc(*words, "--hubs", how, "-o", tmp_path / how)
        found, graph = columns(tmp_path / how)
        assert found == choose(d2, TAU, rescaled), how
        values = graph.tocoo()
        np.testing.assert_allclose(values.data, d2[values.row, values.col], rtol=1e-12, atol=1e-15)
    assert ddsc(*words).stdout == (tmp_path / "off").read_text()
    for more in ("--threads", 1), ("--threads", 3):
        assert ddsc(*words, "--hubs", "auto", *more).stdout == (tmp_path / "auto").read_text()
    ddsc("neighbors", tmp_path / "D.npy", "--precomputed", "--squared-input", "--tau", TAU, "--hubs", "always",
         "-o", tmp_path / "cut")
    assert (tmp_path / "cut").read_bytes() == (tmp_path / "always").read_bytes()


def run(ddsc, out, *words):
    ddsc("cluster", *words, "-k", 2, "-o", out, "-q")
    return json.loads((out / "result.json").read_text())


def test_the_result_names_the_rule(ddsc, cloudy, tmp_path):
    told = {how: run(ddsc, tmp_path / how, cloudy, *([] if how == "default" else ["--hubs", how]))
            for how in ("default", "off", "always")}
    assert told["default"]["settings"]["hubs"] == "auto"
    hubs, plain = told["default"]["hubs"], told["off"]["hubs"]
    assert hubs["neighbors"] == "rescaled" and plain["neighbors"] == "nearest"
    assert hubs["nearest_largest_in_degree"] == plain["largest_in_degree"] > 2 * hubs["largest_in_degree"]
    assert hubs["nearest_zero_in_degree"] == plain["zero_in_degree"] > hubs["zero_in_degree"]
    assert "rescaled" in told["default"]["advice"] and "is a hub" in told["off"]["advice"]
    for name in "graph.mtx", "labels.csv", "embedding.npy":
        assert (tmp_path / "default" / name).read_bytes() == (tmp_path / "always" / name).read_bytes()
    assert (tmp_path / "default" / "graph.mtx").read_bytes() != (tmp_path / "off" / "graph.mtx").read_bytes()
    paper = run(ddsc, tmp_path / "paper", cloudy, "--paper")
    assert paper["settings"]["hubs"] == "off" and paper["hubs"] == plain
    assert "Hubs detected" in ddsc("cluster", cloudy, "-k", 2, "-o", tmp_path / "again").stderr


def test_sets_without_hubs_are_left_alone(ddsc, three_groups, tmp_path):
    a, b = run(ddsc, tmp_path / "a", three_groups), run(ddsc, tmp_path / "b", three_groups, "--hubs", "off")
    assert a["hubs"] == b["hubs"] and a["hubs"]["neighbors"] == "nearest" and a["advice"] == b["advice"]
    assert (tmp_path / "a" / "graph.mtx").read_bytes() == (tmp_path / "b" / "graph.mtx").read_bytes()


def test_duplicates_are_no_hubs(ddsc, tmp_path):
    """Ties are broken by index, so the first of many copies are neighbors of all items. Rescaling must not react to
    them."""
    points = np.repeat(np.random.default_rng(1).normal(size=(4, 5, 2)), 50, axis=0)
    np.save(tmp_path / "copies.npy", points)
    result = run(ddsc, tmp_path / "out", tmp_path / "copies.npy", "--tau", 5)
    assert result["hubs"]["neighbors"] == "nearest" and result["hubs"]["largest_in_degree"] >= 45


@pytest.mark.parametrize("words", [["--sample-columns", "0.3"], ["--neighbors", "approximate"], ["--sample", "0.6"]])
def test_searches_that_see_less(ddsc, cloudy, tmp_path, words):
    """The rule uses the known distances."""
    result = run(ddsc, tmp_path / "out", cloudy, "--hubs", "always", *words)
    assert result["hubs"]["neighbors"] == "rescaled"
    assert result["hubs"]["largest_in_degree"] < result["hubs"]["nearest_largest_in_degree"]


def test_models_choose_as_the_graph_did(ddsc, cloudy, tmp_path):
    for how, version in (("always", 2), ("off", 1)):
        run(ddsc, tmp_path / how, cloudy, "--hubs", how)
        arrays = dict(np.load(tmp_path / how / "model.npz"))
        assert arrays["model_version"] == [version] and ("hub_scale" in arrays) == (version == 2)
        again = ddsc("assign", tmp_path / how / "model.npz", cloudy).stdout.split()[1:]
        labels = (tmp_path / how / "labels.csv").read_text().split()[1:]
        assert [line.split(",")[1] for line in again] == [line.split(",")[1] for line in labels]
    arrays = dict(np.load(tmp_path / "always" / "model.npz"))
    random = np.random.default_rng(9)
    fresh = tmp_path / "fresh.npy"
    np.save(fresh, random.normal(size=(40, 1, 60)) + 0.3 * random.normal(size=(40, 3, 60)))
    told = {}
    for name, change in (("as it is", {}), ("one scale", {"hub_scale": np.full(240, 3.0)}),
                         ("old", {"hub_scale": None, "model_version": [1]})):
        model = {k: v for k, v in {**arrays, **change}.items() if v is not None}
        np.savez(tmp_path / "model.npz", **model)
        told[name] = ddsc("assign", tmp_path / "model.npz", fresh).stdout
    assert told["one scale"] == told["old"] != told["as it is"]


@pytest.mark.parametrize("metric, words", [("w2", []), ("mmd", ["--sample", 0.9]), ("mmd", ["-k", "2:4"])])
def test_items_tell_the_nearest(ddsc, tmp_path, metric, words):
    """items.csv lists the nearest items by distance, whatever neighbors the graph has."""
    rng = np.random.default_rng(0)
    clouds = [rng.normal(size=(6, 20)) * (0.2 if i % 10 == 0 else 1) for i in range(90)]
    np.savez(tmp_path / "c.npz", points=np.concatenate(clouds), weights=np.ones(540), offsets=np.arange(0, 541, 6))
    found = {}
    for hubs in ("off", "always"):
        ddsc("cluster", tmp_path / "c.npz", "-k", 3, "-m", metric, *words, "--hubs", hubs, "-o", tmp_path / hubs, "-q")
        with open(tmp_path / hubs / "items.csv", encoding="utf-8") as file:
            found[hubs] = [[row[f"{what}{k}"] for what in ("neighbor", "distance") for k in (1, 2, 3)] for row in csv.DictReader(file)]
    assert found["off"] == found["always"]
    assert (tmp_path / "off/graph.mtx").read_text() != (tmp_path / "always/graph.mtx").read_text()


@pytest.mark.parametrize("metric", ["w2", "lot", "sinkhorn"])
@pytest.mark.parametrize("n, d", [(60, 10), (60, 50), (200, 10)])
def test_clusters_that_differ_in_spread_alone(ddsc, tmp_path, metric, n, d):
    """The nearest neighbors of a wide cloud are narrow clouds, so half of the items are a neighbor of none, although no
    single hub is large."""
    chance = np.random.default_rng(1)
    sizes = chance.integers(10, 25, n)
    points = [chance.normal(0, 2.5 if i % 2 else 1, (size, d)) for i, size in enumerate(sizes)]
    np.savez(tmp_path / "spread.npz", points=np.concatenate(points), weights=np.ones(sizes.sum()),
             offsets=np.r_[0, np.cumsum(sizes)], labels=np.arange(n) % 2)
    result = run(ddsc, tmp_path / "out", tmp_path / "spread.npz", "--metric", metric)
    assert result["hubs"]["neighbors"] == "rescaled" and result["scores"]["ami"] >= 0.95
    off = run(ddsc, tmp_path / "off", tmp_path / "spread.npz", "--metric", metric, "--hubs", "off")
    assert off["scores"]["ami"] < 0.5
