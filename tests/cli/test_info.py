"""ddsc info: what is in a file."""
import json

import numpy as np


def test_for_people(ddsc, three_groups):
    text = ddsc("info", three_groups).stdout
    for line in ("items        45", "dimensions   2", "3 classes: 0 (15), 1 (15), 2 (15)",
                 "problems     none"):
        assert line in text


def test_for_machines(ddsc, three_groups):
    data = json.loads(ddsc("info", three_groups, "--json").stdout)
    assert data["n"] == data["items"] == 45 and data["dim"] == 2
    assert data["support_sizes"] == {"min": 8, "median": 8, "max": 8}
    assert data["entries"] == data["support"] == 360 and data["shared"] == 0
    assert data["classes"][2] == {"label": 2, "size": 15}
    assert data["problems"] == [] and data["memory"] > 0 and not data["is_grid"]


def test_repairs_are_counted(ddsc, tmp_path):
    np.savez(tmp_path / "x.npz", points=[[0., 0], [1, 1], [1, 1], [2, 2], [3, 5]],
             weights=[1, 1, 1, 0, 1.], offsets=[0, 4, 5])
    data = json.loads(ddsc("info", tmp_path / "x.npz", "--json").stdout)
    assert data["zero_weights"] == 1 and data["merged"] == 1 and len(data["problems"]) == 3
    assert "1 points have weight zero" in ddsc("info", tmp_path / "x.npz").stdout


def test_dropped_items(ddsc, with_empty):
    assert "item 0" in ddsc("info", with_empty, code=3).stderr
    data = json.loads(ddsc("info", with_empty, "--on-empty", "drop", "--json").stdout)
    assert data["n"] == 24 and data["items"] == 22 and data["dropped_items"] == 2


def test_grid(ddsc, tmp_path):
    grid = np.stack(np.meshgrid(np.arange(4.), np.arange(3.), indexing="ij"), -1).reshape(-1, 2)
    np.savez(tmp_path / "h.npz", support=grid, histograms=np.ones((5, 12)))
    data = json.loads(ddsc("info", tmp_path / "h.npz", "--json").stdout)
    assert data["is_grid"] and sorted(data["grid_shape"]) == [3, 4] and data["is_shared"]
    assert "regular grid" in ddsc("info", tmp_path / "h.npz").stdout


def test_bad_file(ddsc, tmp_path):
    (tmp_path / "junk").write_bytes(b"\x01\x02\x03 no format at all")
    assert "junk" in ddsc("info", tmp_path / "junk", code=3).stderr
