"""ddsc embed: rows whose Euclidean distance is the LOT distance."""
import io
import json

import numpy as np
from scipy.spatial.distance import pdist


def test_rows_reproduce_the_lot_distance(ddsc, three_groups, tmp_path):
    ddsc("embed", three_groups, "-o", tmp_path / "Z.npy")
    ddsc("distance", three_groups, "--metric", "lot", "--condensed", "-o", tmp_path / "d.npy")
    rows = np.load(tmp_path / "Z.npy")
    assert rows.shape == (45, 8 * 2)
    assert np.allclose(pdist(rows), np.load(tmp_path / "d.npy"), rtol=1e-7, atol=1e-9)


def test_reference(ddsc, three_groups, tmp_path):
    data = json.loads(ddsc("embed", three_groups, "--reference", "kmeans", "--reference-size", "5",
                           "--json").stdout)
    assert data["reference_size"] == 5 and data["columns"] == 10 and data["converged"]
    np.savez(tmp_path / "r.npz", points=np.eye(2), weights=[1, 3], offsets=[0, 2])
    done = ddsc("embed", three_groups, "--reference", tmp_path / "r.npz", "-o", "-", binary=True)
    assert np.load(io.BytesIO(done.stdout)).shape == (45, 4)
    ddsc("embed", three_groups, "--reference", tmp_path / "none.npz", code=3)


def test_dropped_items_are_unknown(ddsc, with_empty):
    done = ddsc("embed", with_empty, "--on-empty", "drop", binary=True)
    rows = np.load(io.BytesIO(done.stdout))
    assert len(rows) == 24 and list(np.flatnonzero(np.isnan(rows).any(1))) == [0, 7]


def test_metric_is_not_an_option(ddsc, three_groups):
    ddsc("embed", three_groups, "--metric", "w2", code=2)


def test_existing_file_is_kept(ddsc, three_groups, tmp_path):
    (tmp_path / "Z.npy").write_text("mine")
    assert "exists" in ddsc("embed", three_groups, "-o", tmp_path / "Z.npy", code=2).stderr
    assert (tmp_path / "Z.npy").read_text() == "mine"
