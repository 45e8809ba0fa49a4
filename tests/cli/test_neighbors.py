"""ddsc neighbors: the graph equals the graph computed from the full matrix."""
import io
import json

import numpy as np
import pytest
import scipy.io
import scipy.sparse


def cut(matrix, tau):
    """Column c: squared distances of the tau nearest of item c; ties by lower index."""
    d2 = matrix.copy()
    np.fill_diagonal(d2, np.inf)
    found = {}
    for c in range(len(d2)):
        for r in np.argsort(d2[:, c], kind="stable")[:tau]:
            found[r, c] = d2[r, c]
    return found


def edges(graph):
    graph = graph.tocoo()
    return dict(zip(zip(graph.row, graph.col), graph.data))


@pytest.mark.parametrize("metric", ["w2", "w1", "sinkhorn", "mmd", "lot"])
def test_equals_the_cut_matrix(ddsc, three_groups, tmp_path, metric):
    ddsc("distance", three_groups, "--metric", metric, "--squared", "-o", tmp_path / "D.npy")
    ddsc("neighbors", three_groups, "--metric", metric, "--tau", "6", "-o", tmp_path / "G.mtx")
    expected = cut(np.load(tmp_path / "D.npy"), 6)
    found = edges(scipy.io.mmread(tmp_path / "G.mtx"))
    assert set(found) == set(expected)
    assert all(found[e] == pytest.approx(expected[e], rel=1e-9, abs=1e-12) for e in expected)


@pytest.mark.parametrize("dropped", [False, True])
def test_arrays_are_the_text(ddsc, three_groups, tmp_path, dropped):
    given = three_groups
    if dropped:
        given = tmp_path / "given.csv"
        rows = [(i, 1, i * i, 0) for i in range(9)] + [(9, 0, 5, 5)] + [(i, 1, i * i, 1) for i in range(10, 15)]
        given.write_text("id,weight,x,y\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
    words = ["neighbors", given, "--tau", "4", "--on-empty", "drop"]
    ddsc(*words, "-o", tmp_path / "G.mtx")
    ddsc(*words, "-o", tmp_path / "G.npz")
    text, arrays = scipy.io.mmread(tmp_path / "G.mtx"), scipy.sparse.load_npz(tmp_path / "G.npz")
    assert arrays.format == "csc" and arrays.shape == text.shape and edges(arrays) == edges(text)
    assert np.all(np.diff(arrays.data.reshape(-1, 4)) >= 0)  # the nearest first
    if dropped:
        assert arrays.shape == (15, 15) and arrays.getnnz(axis=0)[9] == 0 and 9 not in arrays.indices


def test_json(ddsc, three_groups):
    data = json.loads(ddsc("neighbors", three_groups, "--json").stdout)
    assert {"n", "tau", "pairs", "solved", "bounds", "pruned", "seconds"} <= set(data)
    assert data["n"] == 45 and 3 <= data["tau"] <= 10 and data["pairs"] == 990
    assert data["solved"] + data["pruned"] == 990 and data["seconds"] >= 0


def test_full_and_pruned_are_the_same_file(ddsc, three_groups):
    full = ddsc("neighbors", three_groups, "--exact-graph", "full").stdout
    assert ddsc("neighbors", three_groups, "--exact-graph", "pruned").stdout == full
    assert full.startswith("%%MatrixMarket matrix coordinate real general")


def test_from_a_matrix(ddsc, three_groups, tmp_path):
    ddsc("distance", three_groups, "-o", tmp_path / "D.npy")
    done = ddsc("neighbors", tmp_path / "D.npy", "--precomputed", "--tau", "4")
    graph = scipy.io.mmread(io.StringIO(done.stdout)).tocsc()
    assert graph.shape == (45, 45) and set(np.diff(graph.indptr)) == {4}


def test_sample(ddsc, three_groups):
    data = json.loads(ddsc("neighbors", three_groups, "--sample", "0.5", "--json").stdout)
    assert 0.3 * 990 < data["solved"] < 0.7 * 990


def test_existing_file_is_kept(ddsc, three_groups, tmp_path):
    (tmp_path / "G.mtx").write_text("mine")
    ddsc("neighbors", three_groups, "-o", tmp_path / "G.mtx", code=2)
    assert (tmp_path / "G.mtx").read_text() == "mine"
    ddsc("neighbors", three_groups, "-o", tmp_path / "G.mtx", "-f", "-q")


def test_dropped_items_have_empty_columns(ddsc, with_empty):
    done = ddsc("neighbors", with_empty, "--on-empty", "drop", "--tau", "3")
    graph = scipy.io.mmread(io.StringIO(done.stdout)).tocsc()
    counts = np.diff(graph.indptr)
    assert graph.shape == (24, 24) and list(np.flatnonzero(counts == 0)) == [0, 7]
