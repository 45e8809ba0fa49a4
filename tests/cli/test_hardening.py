"""Cases found by adversarial tests: each has a correct result, a marked result, or an error."""
import json
import re

import numpy as np
import pytest
import scipy.io
import scipy.sparse.csgraph
import test_w2_oracle as w2_oracle

from conftest import not_sanitized


def write_line(path, places):
    path.write_text("id,x\n" + "".join(f"i{k},{x}\n" for k, x in enumerate(places)))
    return path


@pytest.mark.parametrize("words", [["-k", 3, "--paper"], ["-k", 10], ["-k", 2]])
def test_equal_items_stay_together(ddsc, tmp_path, words):
    data = write_line(tmp_path / "dup.csv", [0] * 10 + [5] * 10)
    labels = json.loads(ddsc("cluster", data, *words, "--json").stdout)["labels"]
    assert labels == [0] * 10 + [1] * 10


def test_components_and_eigenvalues_are_all_there(ddsc, tmp_path):
    """Small components have no eigenvector of their own, but they and their eigenvalues are counted."""
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
    said = " ".join(done.stderr.split())
    assert "Item 19 (of 20, counted from 0) is far from all others" in said
    assert "gamma = 0" not in said


@pytest.mark.parametrize("near", [2, 3, 5])
def test_a_far_item_among_few_is_named(ddsc, tmp_path, near):
    """So few distinct items may form one cluster, but not because they were considered equal."""
    data = write_line(tmp_path / "few.csv", [k / 100 for k in range(near)] + [10])
    done = json.loads(ddsc("cluster", data, "-k", 2, "--json").stdout)
    apart = done["labels"].count(done["labels"][-1]) == 1
    assert apart or f"Item {near} (of {near + 1}, counted from 0) is far" in done["advice"]
    assert "distinct" not in done["advice"]


def test_a_small_far_group_that_joined_others_is_named(ddsc, tmp_path):
    places = np.r_[np.random.default_rng(3).random(47), 100, 100.01, 100.02]
    data = write_line(tmp_path / "group.csv", places)
    done = json.loads(ddsc("cluster", data, "-k", 2, "--json").stdout)
    assert done["labels"].count(done["labels"][-1]) > 3
    assert "Item 47 (of 50, counted from 0) and the items near it (3 in total) are far" in done["advice"]
    done = json.loads(ddsc("cluster", data, "-k", 2, "--min-cluster", 0, "--json").stdout)
    assert done["labels"] == [0] * 47 + [1] * 3 and "are far" not in done["advice"]


def test_a_matrix_of_nan_is_refused(ddsc, tmp_path):
    np.save(tmp_path / "nan.npy", np.full((30, 30), np.nan))
    assert "no known distance" in ddsc("cluster", tmp_path / "nan.npy", "--precomputed", "-k", 2, code=3).stderr


def test_points_are_counted_within_their_item(ddsc, tmp_path):
    points = np.zeros((4, 2))
    points[2, 1] = np.nan
    np.savez(tmp_path / "bad.npz", points=points, weights=np.ones(4), offsets=[0, 2, 4])
    assert "item 1, point 0, coordinate 1" in ddsc("info", tmp_path / "bad.npz", code=3).stderr


# ---- exact W2: the certificate holds for the input itself (test_w2_oracle.py has 500 more cases) ----

def write_pair(path, x, a, y, b):
    np.savez(path, points=np.r_[x, y], weights=np.r_[a, b], offsets=[0, len(x), len(x) + len(y)])
    return path


def test_mass_below_the_rounding_of_the_total_is_moved(ddsc, tmp_path):
    """Weights 1e-16 and 1.1e-16 next to eight weights of 1: their difference moves a distance of 1e8."""
    rng = np.random.default_rng(1)
    x, y = np.r_[rng.random((8, 2)), [[1e8, 0]]], np.r_[rng.random((8, 2)), [[1e8, 0.5]]]
    a, b = np.r_[np.ones(8), 1e-16], np.r_[np.ones(8), 1.1e-16]
    data = write_pair(tmp_path / "far.npz", x, a, y, b)
    ddsc("distance", data, "-o", tmp_path / "far.npy")
    assert w2_oracle.close(np.load(tmp_path / "far.npy")[0, 1], w2_oracle.exact_w2(x, a, y, b))


def test_light_far_points_keep_their_certificate(ddsc, tmp_path):
    """One light, distant point in each item: the results were correct, but one pair in fifteen was marked."""
    rng = np.random.default_rng(2)
    items = []
    for _ in range(24):
        x = np.r_[rng.random((9, 2)), [rng.normal(size=2) * 10.0 ** rng.uniform(2, 5)]]
        items.append((x, np.r_[rng.random(9) + 0.1, 10.0 ** rng.uniform(-12, -2)]))
    np.savez(tmp_path / "light.npz", points=np.concatenate([x for x, _ in items]),
             weights=np.concatenate([a for _, a in items]), offsets=np.arange(0, 250, 10)[:25])
    ddsc("distance", tmp_path / "light.npz", "-o", tmp_path / "light.npy")


@pytest.mark.parametrize("unit", [1e-154, 1e-161, 1e-200, 1e-280])
def test_tiny_scales_keep_their_digits(ddsc, tmp_path, unit):
    x, y, a = np.array([[0.0], [3.0]]) * unit, np.array([[1.0], [7.0]]) * unit, np.ones(2)
    ddsc("distance", write_pair(tmp_path / "tiny.npz", x, a, y, a), "-o", tmp_path / "tiny.npy")
    assert w2_oracle.close(np.load(tmp_path / "tiny.npy")[0, 1], w2_oracle.exact_w2(x, a, y, a))


@pytest.mark.parametrize("words", [["distance", "--squared", "-o", "out.npy"],
                                   ["cluster", "-k", 2, "-o", "out"]])
def test_squares_that_cannot_be_written_are_marked(ddsc, tmp_path, words):
    data = write_line(tmp_path / "tiny.csv", [k * 1e-200 for k in range(12)])
    assert "not certified" in ddsc(words[0], data, *words[1:], code=4, cwd=tmp_path).stderr


def test_a_matrix_too_small_to_square_is_refused(ddsc, tmp_path):
    places = np.arange(12.0)
    np.save(tmp_path / "tiny.npy", np.abs(places[:, None] - places) * 1e-200)
    done = ddsc("cluster", tmp_path / "tiny.npy", "--precomputed", "-k", 2, code=3)
    assert "too small for a double" in done.stderr


@pytest.mark.parametrize("words", [["sinkhorn"], ["mmd"], ["mmd", "--mmd-kernel", "energy"]])
def test_coordinates_too_small_to_square_are_refused(ddsc, tmp_path, words):
    """Without scaling, 0.3 of the value was lost at 1e-150, and all of it at 1e-200."""
    rng = np.random.default_rng(0)
    x, y, a = rng.random((5, 2)), rng.random((5, 2)) + 1, np.ones(5)
    found = []
    for unit in (1, 1e-135):
        path = write_pair(tmp_path / "small.npz", x * unit, a, y * unit, a)
        ddsc("distance", path, "-m", *words, "-o", tmp_path / "d.npy", "-f")
        found.append(np.load(tmp_path / "d.npy")[0, 1])
    scale = {"sinkhorn": 1e-135, "mmd": 1}[words[0]] if len(words) == 1 else 1e-135 ** 0.5
    assert abs(found[1] / scale - found[0]) < 1e-6 * found[0]
    for unit in (1e-150, 1e-200):
        path = write_pair(tmp_path / "small.npz", x * unit, a, y * unit, a)
        done = ddsc("distance", path, "-m", *words, "-o", tmp_path / "d.npy", "-f", code=3)
        assert "too small for a double" in done.stderr


# ---- impossible settings are reported at once ----

def write_clouds(path, columns, items=20, points=6, of=None, seed=3):
    """Items of random points; of(item, point) returns one row."""
    rng = np.random.default_rng(seed)
    of = of or (lambda i, j: rng.random(len(columns)))
    rows = (",".join([f"i{i}", *map(repr, map(float, of(i, j)))])
            for i in range(items) for j in range(points))
    path.write_text(",".join(["id", *columns]) + "\n" + "\n".join(rows) + "\n")
    return path


def test_a_tolerance_that_cannot_be_met_is_refused(ddsc, tmp_path):
    data = write_clouds(tmp_path / "a.csv", "xy")
    done = ddsc("cluster", data, "-k", 2, "--metric", "sinkhorn", "--tolerance", 1e-17, code=2)
    assert "--tolerance" in done.stderr and "1e-15" in done.stderr
    ddsc("cluster", data, "-k", 2, "--metric", "sinkhorn", "--tolerance", 1e-15)


@pytest.mark.parametrize("verb", [["cluster", "-k", 2], ["neighbors", "-o", "graph.mtx"]])
def test_more_neighbors_than_items(ddsc, tmp_path, verb):
    data = write_clouds(tmp_path / "a.csv", "xy")
    done = ddsc(verb[0], data, *verb[1:], "--tau", 40, cwd=tmp_path)
    assert "only 19 other items" in done.stderr and "--tau" in done.stderr
    assert "other items" not in ddsc(verb[0], data, *verb[1:], "-f", "--tau", 19, cwd=tmp_path).stderr


@pytest.mark.parametrize("kernel", ["gaussian", "laplace"])
def test_a_bandwidth_far_from_the_points(ddsc, tmp_path, kernel):
    data = write_clouds(tmp_path / "clouds.csv", ["x", "y"])
    words = ["-m", "mmd", "--mmd-kernel", kernel, "-f", "-o", tmp_path / "out.npy", "--bandwidth"]
    for width, said in ((1e-3, "too small"), (1e8, "too large")):
        assert f"{said} to distinguish items" in ddsc("distance", data, *words, width).stderr
        for verb in (["cluster", data, "-k", 2], ["neighbors", data]):
            done = ddsc(*verb, *words[:4], "--bandwidth", width)
            assert f"{said} to distinguish items" in done.stderr
    for width in (0.05, 1, 100, "auto", "median"):
        assert "distinguish items" not in ddsc("distance", data, *words, width).stderr


@pytest.mark.parametrize("metric", ["w2", "w1", "sinkhorn", "mmd", "lot"])
def test_equal_items_are_one_place(ddsc, tmp_path, metric):
    points = np.random.default_rng(3).random((6, 2))
    data = write_clouds(tmp_path / "same.csv", "xy", of=lambda i, j: points[j])
    done = ddsc("cluster", data, "-k", 2, "--metric", metric)
    assert {line.split(",")[1] for line in done.stdout.splitlines()[1:]} == {"0"}
    assert "only 1 of the 20 items are distinct" in done.stderr and "(-k)" in done.stderr


def test_more_clusters_than_distinct_items(ddsc, tmp_path):
    data = write_line(tmp_path / "dup.csv", [0] * 10 + [5] * 10)
    assert "only 2 of the 20 items are distinct" in ddsc("cluster", data, "-k", 3).stderr
    assert "items are distinct" not in ddsc("cluster", data, "-k", 2).stderr


# ---- coordinates in different units ----

@pytest.mark.parametrize("verb", [["cluster", "-k", 2], ["distance", "-o", "d.npy"],
                                  ["neighbors", "-o", "graph.mtx"]])
def test_a_coordinate_that_drowns_the_others(ddsc, tmp_path, verb):
    rng = np.random.default_rng(3)
    data = write_clouds(tmp_path / "a.csv", "xyz",
                        of=lambda i, j: rng.random(3) * [1, 1000, 1])
    stderr = ddsc(verb[0], data, *verb[1:], cwd=tmp_path).stderr
    assert '2 of 3 coordinates spread less than 1/20 of the widest' in stderr
    assert '"y" (100%)' in stderr and "--normalize standard" in stderr


def test_an_id_read_as_a_coordinate(ddsc, tmp_path):
    rng = np.random.default_rng(3)
    data = write_clouds(tmp_path / "a.csv", ["x", "patient"],
                        of=lambda i, j: [rng.random(), 100 + i])
    assert 'coordinate "patient" is an integer' in ddsc("cluster", data, "-k", 2).stderr


def test_ordinary_coordinates_get_no_warning(ddsc, tmp_path):
    """Clouds, single points, varying integers, a thin grid."""
    rng = np.random.default_rng(3)
    sets = [dict(of=None), dict(of=lambda i, j: rng.integers(0, 9, 2)),
            dict(of=lambda i, j: [i, rng.random() * 9], points=1),
            dict(of=lambda i, j: [j % 3, 100 * (j // 3 + i % 2)])]
    for k, kind in enumerate(sets):
        data = write_clouds(tmp_path / f"{k}.csv", "xy", **kind)
        assert "warning" not in ddsc("cluster", data, "-k", 2).stderr, k


@not_sanitized
def test_real_sets_get_no_warning_about_coordinates(ddsc, data_dir, tmp_path):
    for name in ["more/animals.npz", "more/corel.npz", "d2/mountaindat.d2", "more/fingerprint.npz"]:
        done = ddsc("neighbors", data_dir / name, "--metric", "mmd", "--mmd-features", 16,
                    "--on-empty", "drop", "-o", tmp_path / "graph.mtx", "-f")
        assert "coordinate" not in done.stderr, name


@pytest.mark.parametrize("metric", ["w2", "lot"])
def test_recall_comes_with_an_interval(ddsc, tmp_path, metric):
    """Random clouds, whose neighbors are chance: the interval holds the recall of all items."""
    points = np.random.default_rng(4).random((600 * 6, 3))
    np.savez(tmp_path / "set.npz", points=points, weights=np.ones(3600), offsets=np.arange(0, 3601, 6))
    graphs = []
    for kind in ["exact", "approximate"]:
        words = ["--metric", metric, "--neighbors", kind, "--tau", 10, "-o", tmp_path / f"{kind}.mtx"]
        done = ddsc("neighbors", tmp_path / "set.npz", *words, "--json")
        graphs.append(scipy.io.mmread(tmp_path / f"{kind}.mtx").tocsc())
    found = json.loads(done.stdout)
    right = [np.isin(graphs[1][:, k].indices, graphs[0][:, k].indices).mean() for k in range(600)]
    assert found["recall_low"] <= np.mean(right) <= found["recall_high"]
    assert 0 < found["recall_low"] < found["recall_high"] <= 1 and found["recall_rows"] >= 24


@pytest.mark.parametrize("words", [["--arcsinh", "x=5,x=6"], ["--arcsinh", "X=5,x=6"], ["--arcsinh", "5,6"],
                                   ["--logicle", "x=10,x=20"]])
def test_one_coordinate_with_two_values_is_refused(ddsc, tmp_path, words):
    data = write_line(tmp_path / "a.csv", range(6))
    assert "has two values" in ddsc("info", data, *words, code=2).stderr
    ddsc("info", data, "--arcsinh", "*=5,x=6")  # a later name may be more specific than a pattern


def test_one_cluster_with_two_names_is_refused(ddsc, tmp_path):
    data = write_line(tmp_path / "a.csv", [0] * 6 + [5] * 6)
    ddsc("cluster", data, "-k", 2, "-o", tmp_path / "out", "-q")
    before = (tmp_path / "out" / "result.json").read_bytes()
    for words in (["0=a", "0=b"], ["1=c", "0=a", "00=b"]):
        assert "cluster 0 is named twice" in ddsc("name", tmp_path / "out", *words, code=2).stderr
    assert (tmp_path / "out" / "result.json").read_bytes() == before
    ddsc("name", tmp_path / "out", "0=a", "1=b", "-q")


def test_a_page_turns_no_text(ddsc, tmp_path):
    """Direction marks in a forged result are shown as escapes."""
    data = write_line(tmp_path / "a.csv", [0] * 6 + [5] * 6)
    out = tmp_path / "out"
    ddsc("cluster", data, "-k", 2, "-o", out, "-q")

    def forge(node):
        if isinstance(node, dict):
            return {key: forge(value) for key, value in node.items()}
        if isinstance(node, list):
            return [forge(value) for value in node]
        return node + "\u202eevil\u2066" if isinstance(node, str) else node

    result = json.loads((out / "result.json").read_text())
    result["input"] = forge(result["input"])
    result["clusters"] = [dict(c, name="\u202egpj.exe") for c in result["clusters"]]
    (out / "result.json").write_text(json.dumps(result, ensure_ascii=False), encoding="utf-8")
    ddsc("report", out, "-f", "-q")
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "\\u202egpj.exe" in page
    assert not any(mark in page for mark in "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def test_a_ply_with_a_property_twice_is_refused(ddsc, tmp_path):
    head = "ply\nformat ascii 1.0\nelement vertex 2\n{}end_header\n1 2 3 4\n2 3 4 5\n"
    names = "property float x\nproperty float y\nproperty float z\n"
    (tmp_path / "a.ply").write_text(head.format(names + "property float x\n"))
    assert 'two columns are named "x"' in ddsc("info", tmp_path / "a.ply", code=3).stderr
    (tmp_path / "b.ply").write_text(head.format(names + "property float w\n"))
    ddsc("info", tmp_path / "b.ply")
    gaps = "VERSION .7\nFIELDS x y _ _\nSIZE 4 4 4 4\nTYPE F F F F\nCOUNT 1 1 1 1\nWIDTH 2\nHEIGHT 1\nPOINTS 2\n" \
           "DATA ascii\n1 2 3 4\n2 3 4 5\n"
    (tmp_path / "c.pcd").write_text(gaps)
    ddsc("info", tmp_path / "c.pcd")
    (tmp_path / "d.pcd").write_text(gaps.replace("x y _ _", "x y _ y"))
    assert 'two columns are named "y"' in ddsc("info", tmp_path / "d.pcd", code=3).stderr


@pytest.mark.parametrize("seed", range(4))
def test_the_stated_recall_holds(ddsc, tmp_path, seed):
    """The terminal shows a lower bound of the recall of all items, not the share found in a small sample."""
    points = np.random.default_rng(0).normal(size=(600 * 5, 20))
    np.savez(tmp_path / "set.npz", points=points, weights=np.ones(3000), offsets=np.arange(0, 3001, 5))
    graphs = []
    for kind in ["exact", "approximate"]:
        done = ddsc("neighbors", tmp_path / "set.npz", "--neighbors", kind, "--tau", 10, "--seed", seed, "-o",
                    tmp_path / f"{kind}.mtx")
        graphs.append(scipy.io.mmread(tmp_path / f"{kind}.mtx").tocsc())
    stated = float(re.search(r"recall at least ([0-9.]+) \(95% confidence", done.stdout + done.stderr).group(1))
    right = [np.isin(graphs[1][:, k].indices, graphs[0][:, k].indices).mean() for k in range(600)]
    assert np.mean(right) - 0.2 < stated <= np.mean(right)
