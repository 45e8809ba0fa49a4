"""The smallest sets: one item, two items, three items, and sets of equal items."""
import csv
import io
import json

import numpy as np
import pytest

SETS = {"one": (1, 3, 2), "two": (2, 3, 2), "three": (3, 1, 1), "same": (6, 2, 2)}


@pytest.fixture(scope="module", params=SETS)
def small(request, tmp_path_factory):
    shape = SETS[request.param]
    values = np.random.default_rng(0).normal(size=shape)
    if request.param == "same":
        values[:] = values[:1]
    path = tmp_path_factory.mktemp("small") / f"{request.param}.npy"
    np.save(path, values)
    return path, shape[0]


def test_distance(ddsc, small):
    path, n = small
    matrix = np.load(io.BytesIO(ddsc("distance", path, binary=True).stdout))
    assert matrix.shape == (n, n) and (np.diag(matrix) == 0).all()
    condensed = np.load(io.BytesIO(ddsc("distance", path, "--condensed", binary=True).stdout))
    assert condensed.shape == (n * (n - 1) // 2,)


@pytest.mark.parametrize("graph", ["full", "pruned", "auto"])
def test_neighbors(ddsc, small, graph):
    path, n = small
    data = json.loads(ddsc("neighbors", path, "--exact-graph", graph, "--json").stdout)
    assert data["n"] == n and data["tau"] <= max(n - 1, 0) and data["edges"] == n * data["tau"]


@pytest.mark.parametrize("words", [["-k", "1"], ["-k", "auto"], ["-k", "1", "--metric", "mmd"],
                                   ["-k", "1", "--metric", "lot"], ["-k", "1", "--paper"],
                                   ["-k", "1", "--method", "kmeans"], ["-k", "1", "--method", "sc"]])
def test_cluster(ddsc, small, tmp_path, words):
    path, n = small
    ddsc("cluster", path, *words, "-o", tmp_path / "out")
    rows = list(csv.DictReader((tmp_path / "out" / "labels.csv").open()))
    assert len(rows) == n and {int(row["label"]) for row in rows} <= set(range(n))


def test_more_clusters_than_items(ddsc, small):
    path, n = small
    assert f"the number of items is {n}" in ddsc("cluster", path, "-k", n + 1, code=2).stderr
