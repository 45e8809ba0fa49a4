"""ddsc distance: formats and limits of the matrix, and values compared with POT."""
import io
import json
import os
import stat

import numpy as np
import ot
import pytest


@pytest.fixture(scope="module")
def matrix(ddsc, three_groups, tmp_path_factory):
    path = tmp_path_factory.mktemp("distance") / "D.npy"
    ddsc("distance", three_groups, "-o", path)
    return np.load(path)


def test_equals_pot(three_groups, matrix):
    data = np.load(three_groups)
    offsets, points = data["offsets"], data["points"]
    for i, j in [(0, 1), (3, 20), (14, 44), (30, 31)]:
        x, y = (points[offsets[k]:offsets[k + 1]] for k in (i, j))
        assert matrix[i, j] ** 2 == pytest.approx(ot.emd2([], [], ot.dist(x, y)), rel=1e-9)
    assert (matrix == matrix.T).all() and (np.diag(matrix) == 0).all()


def test_forms(ddsc, three_groups, tmp_path, matrix):
    above = np.triu_indices(45, 1)
    done = ddsc("distance", three_groups, "--condensed", "--squared", "-o", tmp_path / "c.npy")
    condensed = np.load(tmp_path / "c.npy")
    assert condensed.shape == (990,) and np.allclose(condensed, matrix[above] ** 2)
    assert "990" in done.stdout
    on_stdout = ddsc("distance", three_groups, binary=True).stdout
    assert (np.load(io.BytesIO(on_stdout)) == matrix).all()
    assert (np.load(io.BytesIO(ddsc("distance", "-", "-o", "-", binary=True,
                                    stdin=three_groups.read_bytes()).stdout)) == matrix).all()


def test_json(ddsc, three_groups, tmp_path):
    data = json.loads(ddsc("distance", three_groups, "--metric", "sinkhorn", "--json").stdout)
    assert data["n"] == 45 and data["pairs"] == 990 and data["epsilon"] > 0
    assert data["bytes"] == 8 * 45 * 45 and data["converged"]
    assert data["settings"]["sinkhorn_value"] == "regularized"
    path = tmp_path / "D.npy"
    data = json.loads(ddsc("distance", three_groups, "--json", "-o", path, "--metric", "mmd",
                           "--bandwidth", "1.5").stdout)
    assert data["bandwidth"] == 1.5 and np.load(path).shape == (45, 45)


def test_existing_file_is_kept(ddsc, three_groups, tmp_path):
    path = tmp_path / "D.npy"
    path.write_text("mine")
    assert "--force" in ddsc("distance", three_groups, "-o", path, code=2).stderr
    assert path.read_text() == "mine"
    ddsc("distance", three_groups, "-o", path, "--force")
    assert np.load(path).shape == (45, 45)
    assert [p.name for p in tmp_path.iterdir()] == ["D.npy"]


@pytest.mark.parametrize("condensed", [False, True])
def test_dropped_items_are_unknown(ddsc, with_empty, tmp_path, condensed):
    words = ["--condensed"] if condensed else []
    ddsc("distance", with_empty, "--on-empty", "drop", *words, "-o", tmp_path / "D.npy")
    found = np.load(tmp_path / "D.npy")
    full = np.full((24, 24), np.nan)
    if condensed:
        full[np.triu_indices(24, 1)] = found
        full = np.where(np.isnan(full), full.T, full)
    else:
        full = found.copy()
    np.fill_diagonal(full, 0)
    known = np.delete(np.arange(24), [0, 7])
    assert np.isfinite(full[np.ix_(known, known)]).all()
    assert np.isnan(np.delete(full[0], 0)).all() and np.isnan(np.delete(full[7], 7)).all()
    data = np.load(with_empty)
    points, offsets = data["points"], data["offsets"]
    x, y = points[offsets[5]:offsets[6]], points[offsets[20]:offsets[21]]
    assert full[5, 20] ** 2 == pytest.approx(ot.emd2([], [], ot.dist(x, y)), rel=1e-9)


def test_matrix_over_the_memory_limit(ddsc, tmp_path):
    np.save(tmp_path / "many.npy", np.random.default_rng(0).normal(size=(3000, 1, 1)))
    message = ddsc("distance", tmp_path / "many.npy", "--memory", "20M", code=5).stderr
    assert "3,000 x 3,000" in message and "68.7 MiB" in message and "neighbors" in message


def test_devices_are_written_to_not_replaced(ddsc, three_groups):
    ddsc("distance", three_groups, "-o", "/dev/null")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
