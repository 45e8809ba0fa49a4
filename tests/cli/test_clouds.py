"""Point clouds, one per file: ply, off, pcd, rows of bare numbers, npy."""
import json
import pathlib
import sys

import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from clouds import FILES, NORMALS, POINTS, pcd, ply, rows  # noqa: E402


def read(ddsc, tmp_path, *words):
    out = tmp_path / "out.npz"
    said = ddsc("convert", *words, "-o", out, "--force").stderr
    return dict(np.load(out)), said


def cloud(data, i):
    part = slice(data["offsets"][i], data["offsets"][i + 1])
    points = data["support"][data["indices"][part]] if "support" in data else data["points"][part]
    return points[np.lexsort(points.T)], data["weights"][part]


def test_kinds_of_files_agree(ddsc, tmp_path):
    for name, data in FILES.items():
        (tmp_path / name).write_bytes(data)
    data, said = read(ddsc, tmp_path, *[tmp_path / name for name in FILES])
    assert list(data["ids"]) == [name[0] for name in FILES]
    assert list(data["coordinate_names"]) == ["x", "y", "z"]
    assert "p.pcd: omitted 1 points with coordinates that are not finite" in said
    for i, name in enumerate(FILES):
        points, weights = cloud(data, i)
        assert np.array_equal(points, POINTS[np.lexsort(POINTS.T)]), name
        assert np.allclose(weights, 0.25), name


def test_folder_of_npy_and_classes(ddsc, tmp_path):
    for k in range(4):
        where = tmp_path / "set" / ("near" if k < 2 else "far")
        where.mkdir(parents=True, exist_ok=True)
        np.save(where / f"{k}.npy", POINTS[:, :2] + 100 * (k > 1))
    data, _ = read(ddsc, tmp_path, tmp_path / "set")
    assert list(data["ids"]) == ["far/2", "far/3", "near/0", "near/1"]
    assert list(data["label_names"]) == ["far", "near"]
    alone = ddsc("info", tmp_path / "set" / "far" / "2.npy", code=3).stderr
    assert "(4, 2)" in alone and "--precomputed" in alone


def test_columns_of_a_cloud(ddsc, tmp_path):
    (tmp_path / "a.ply").write_bytes(ply())
    data, _ = read(ddsc, tmp_path, tmp_path / "a.ply", "--columns", "RED,x")
    assert list(data["coordinate_names"]) == ["red", "x"]
    data, _ = read(ddsc, tmp_path, tmp_path / "a.ply", "--drop", "z")
    assert list(data["coordinate_names"]) == ["x", "y"]
    assert "x, y, z, red" in ddsc("info", tmp_path / "a.ply", "--columns", "w", code=3).stderr
    (tmp_path / "b.xyz").write_text(rows(np.hstack([POINTS, NORMALS])))
    data, _ = read(ddsc, tmp_path, tmp_path / "b.xyz", "--columns", "1,2,3")
    assert np.array_equal(cloud(data, 0)[0], POINTS[np.lexsort(POINTS.T)])
    assert json.loads(ddsc("info", tmp_path / "b.xyz", "--json").stdout)["dim"] == 6


def test_numbers_that_are_d2_stay_d2(ddsc, tmp_path):
    (tmp_path / "a").write_text("2\n2\n0.5 0.5\n0 0\n1 1\n2\n1\n1\n3 3\n")
    assert json.loads(ddsc("info", tmp_path / "a", "--json").stdout)["items"] == 2
    (tmp_path / "b.d2").write_text("1 1 1 5\n1 1 1 6\n")
    assert json.loads(ddsc("info", tmp_path / "b.d2", "--json").stdout)["items"] == 2


@pytest.mark.parametrize("name, data, words", [
    ("a.ply", ply()[:-60], "points are missing"),
    ("a.ply", ply("binary_big_endian")[:-30], "ends early"),
    ("a.ply", b"ply\nformat ascii 1.0\nelement face 0\nproperty int i\nend_header\n", "without vertices"),
    ("a.ply", b"ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\n", "no end"),
    ("a.ply", b"ply\nformat odd 1.0\n", "odd"),
    ("a.ply", ply().replace(b"vertex 4", b"vertex -4"), "-4"),
    ("a.ply", ply().replace(b"vertex 4", b"vertex 0"), "no points"),
    ("a.ply", ply().replace(b"float x", b"floot x"), "property"),
    ("a.ply", ply().replace(b"float x", b"float u").replace(b"float y", b"float v")
     .replace(b"float z", b"float w"), "u, v, w, red"),
    ("a.ply", ply().replace(b"0.5", b"nan"), "not finite"),
    ("a.off", b"OFF\n4 0 0\n1 2 3\n4 5 6\n", "vertices are missing"),
    ("a.off", b"OFF\n1e300 0 0\n1 2 3\n", "vertices"),
    ("a.off", b"OFF\n2 0 0\n1 2 3\n4 5 x\n", '"x"'),
    ("a.off", b"OFF BINARY\n\1\2\3\n", "binary"),
    ("a.xyz", b"1 2 3\n4 5\n", "line 2"),
    ("a.xyz", b"1 2 3\n4 5 six\n", '"six"'),
    ("a.pts", b"5\n1 2 3\n4 5 6\n", "declares 5"),
    ("a.pcd", pcd("binary")[:-3], "declares"),
    ("a.pcd", pcd("ascii")[:-20], "points are missing"),
    ("a.pcd", pcd("binary_compressed")[:-3], "declares|ends early"),
    ("a.pcd", pcd("binary_compressed").replace(b"POINTS 4", b"POINTS 9"), "compressed"),
    ("a.pcd", pcd("ascii").replace(b"DATA ascii", b"DATA morse"), "morse"),
    ("a.pcd", pcd("ascii").replace(b"POINTS 4\n", b""), "POINTS"),
    ("a.pcd", pcd("ascii").replace(b"COUNT 1 1 1 1", b"COUNT 1 1 1 3"), "values"),
    ("a.pcd", pcd("binary").replace(b"SIZE 4", b"SIZE 2"), "2 bytes"),
    ("a.pcd", pcd("binary").replace(b"POINTS 4", b"POINTS 999999999999999999"), "points"),
])
def test_broken_clouds_are_refused_by_name(ddsc, tmp_path, name, data, words):
    (tmp_path / name).write_bytes(data)
    error = ddsc("info", tmp_path / name, code=3).stderr
    assert name in error and any(word in error for word in words.split("|")), error


def test_files_of_different_dimension_name_the_file(ddsc, tmp_path):
    for name, d in (("a.xyz", 3), ("b.xyz", 3), ("c.xyz", 2), ("d.xyz", 3)):
        (tmp_path / name).write_text(rows(POINTS[:, :d]))
    error = ddsc("info", *sorted(tmp_path.glob("*.xyz")), code=3).stderr
    assert "c.xyz: its points have 2 coordinates" in error


def test_100_off_files_in_one_command(ddsc, tmp_path):
    """Boxes and tetrahedra with points on their edges, in random positions: two classes."""
    rng = np.random.default_rng(2)
    corners = {"box": np.array([[i, j, k] for i in (0, 1) for j in (0, 1) for k in (0, 1)], float),
               "tetrahedron": np.array([[0, 0, 0], [1, 1, 0], [1, 0, 1], [0, 1, 1]], float)}
    for k in range(100):
        name = ("box", "tetrahedron")[k % 2]
        points = np.repeat(corners[name], 24 // len(corners[name]), axis=0)
        points = points + rng.normal(0, 0.05, points.shape)
        where = tmp_path / "shapes" / name
        where.mkdir(parents=True, exist_ok=True)
        (where / f"{k:03d}.off").write_text(f"OFF\n{len(points)} 0 0\n" + rows(points))
    ddsc("cluster", tmp_path / "shapes", "-k", "2", "-o", tmp_path / "result")
    result = json.loads((tmp_path / "result" / "result.json").read_text())
    assert result["scores"]["ami"] > 0.99
    table = (tmp_path / "result" / "labels.csv").read_text().split()
    assert table[1].startswith("box/000,") and len(table) == 101


def test_a_format_behind_properties_is_refused(ddsc, tmp_path):
    """The bytes would have been read in a sequence that belongs to no format."""
    head = "ply\nelement vertex 1\nproperty float x\nformat binary_big_endian 1.0\nend_header\n"
    (tmp_path / "a.ply").write_bytes(head.encode() + b"\x3f\x80\0\0")
    assert "precede the properties" in ddsc("info", tmp_path / "a.ply", code=3).stderr
