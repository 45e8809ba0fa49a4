"""What hostile tests once broke: each case is answered right, marked, or refused."""
import json

import numpy as np
import pytest
import scipy.io
import scipy.sparse.csgraph


def write_line(path, places):
    path.write_text("id,x\n" + "".join(f"i{k},{x}\n" for k, x in enumerate(places)))
    return path


@pytest.mark.parametrize("words", [["-k", 3, "--paper"], ["-k", 10], ["-k", 2]])
def test_equal_items_stay_together(ddsc, tmp_path, words):
    data = write_line(tmp_path / "dup.csv", [0] * 10 + [5] * 10)
    labels = json.loads(ddsc("cluster", data, *words, "--json").stdout)["labels"]
    assert labels == [0] * 10 + [1] * 10


def test_components_and_eigenvalues_are_all_there(ddsc, tmp_path):
    """Small components get no eigenvector, but they count, and so do their eigenvalues."""
    places = np.random.default_rng(0).random(200)
    data = write_line(tmp_path / "twice.csv", np.r_[places, places])
    ddsc("cluster", data, "-k", 3, "--tau", 4, "--gamma", "median", "-o", tmp_path / "out")
    result = json.loads((tmp_path / "out" / "result.json").read_text())
    d2 = scipy.io.mmread(tmp_path / "out" / "graph.mtx").tocsr()
    weight = d2.copy()
    weight.data = np.maximum(np.exp(-d2.data / np.median(d2.data)), 1e-280)  # nothing vanishes
    both = ((weight + weight.T) / 2).toarray()
    assert result["components"] == scipy.sparse.csgraph.connected_components(weight)[0]
    scale = 1 / np.sqrt(both.sum(1))
    exact = np.linalg.eigvalsh(np.eye(len(both)) - scale[:, None] * both * scale)
    found = np.array(result["eigenvalues"])
    assert np.abs(found - exact[:len(found)]).max() < 1e-10


def test_a_lone_far_item_is_named(ddsc, tmp_path):
    data = write_line(tmp_path / "far.csv", [k / 100 for k in range(19)] + [100])
    done = ddsc("cluster", data, "-k", 2)
    assert "Item 19 lies far from all others" in " ".join(done.stderr.split())
    assert "gamma = 0" not in done.stderr


def test_a_matrix_of_nan_is_refused(ddsc, tmp_path):
    np.save(tmp_path / "nan.npy", np.full((30, 30), np.nan))
    assert "no known distance" in ddsc("cluster", tmp_path / "nan.npy", "--precomputed", "-k", 2, code=3).stderr


def test_points_are_counted_within_their_item(ddsc, tmp_path):
    points = np.zeros((4, 2))
    points[2, 1] = np.nan
    np.savez(tmp_path / "bad.npz", points=points, weights=np.ones(4), offsets=[0, 2, 4])
    assert "item 1, point 0, coordinate 1" in ddsc("info", tmp_path / "bad.npz", code=3).stderr
