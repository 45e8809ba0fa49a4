"""Transforms: their effect, their storage, and their application to new items."""
import json

import numpy as np
import pytest


def write_cells(path, rng, n_items=6, n_cells=40, shift=0.0):
    """Two kinds of samples, which differ only in CD4 and pERK; the scales of the columns differ."""
    rows = ["id,label,CD3,CD4,pERK"]
    for i in range(n_items):
        kind = i % 2
        cells = rng.gamma(2, [20, 400 + 900 * kind, 3 + 2 * kind], (n_cells, 3)) + shift
        rows += [f"s{i},{'ab'[kind]}," + ",".join(repr(float(v)) for v in cell) for cell in cells]
    path.write_text("\n".join(rows) + "\n")
    return path


@pytest.fixture
def cells(tmp_path):
    return write_cells(tmp_path / "cells.csv", np.random.default_rng(1))


def load(ddsc, tmp_path, *words, code=0):
    out = tmp_path / "out.npz"
    said = ddsc("convert", *words, "-o", out, "--force", code=code).stderr
    return (dict(np.load(out)) if code == 0 else None), said


def points(data):
    return data["support"][data["indices"]] if "support" in data else data["points"]



def test_arcsinh_by_channel(ddsc, cells, tmp_path):
    raw, _ = load(ddsc, tmp_path, cells)
    data, _ = load(ddsc, tmp_path, cells, "--arcsinh", "cd*=5,perk=0.5")
    assert np.allclose(points(data), np.arcsinh(points(raw) / [5, 5, 0.5]), rtol=1e-15)
    data, _ = load(ddsc, tmp_path, cells, "--arcsinh", "CD4=7")
    assert np.allclose(points(data)[:, 1], np.arcsinh(points(raw)[:, 1] / 7), rtol=1e-15)
    assert np.array_equal(points(data)[:, [0, 2]], points(raw)[:, [0, 2]])
    assert list(data["coordinate_names"]) == ["CD3", "CD4", "pERK"]
    for bad in ("0", "x", "CD8=5", "CD4=-1", "inf"):
        assert "arcsinh" in ddsc("info", cells, "--arcsinh", bad, code=2).stderr


def biexponential(y, top, width, decades, more):
    """Return the inverse of the logicle scale as in Moore and Parks (2012), reflected below 0."""
    w, x2, b = width / (decades + more), more / (decades + more), (decades + more) * np.log(10)
    x1, x0 = x2 + w, x2 + 2 * w
    low, high = 1e-300, b
    for _ in range(200):  # 2 (ln d - ln b) + w (b + d) increases with d
        d = (low + high) / 2
        low, high = (d, high) if 2 * (np.log(d) - np.log(b)) + w * (b + d) < 0 else (low, d)
    d = b if w == 0 else d
    c_a = np.exp(x0 * (b + d))
    mf_a = np.exp(b * x1) - c_a / np.exp(d * x1)
    a = top / (np.exp(b) - mf_a - c_a / np.exp(d))
    up = x1 + np.abs(y - x1)
    return np.sign(y - x1) * (a * np.exp(b * up) - c_a * a * np.exp(-d * up) - mf_a * a)


@pytest.mark.parametrize("given", [(262144, 0.5, 4.5, 0), (1000, 0, 4, 0), (1e5, 1, 4, 1),
                                   (262144, 2.2, 4.5, -0.5), (10, 0.25, 2, 0.5)])
def test_logicle_is_the_inverse_of_its_formula(ddsc, tmp_path, given):
    top = given[0]
    x = np.concatenate([-top * np.logspace(-1, -9, 40), [0], top * np.logspace(-9, 0.1, 60)])
    (tmp_path / "a.csv").write_text("id,CD3,FSC\n" + "".join(f"a,{v!r},{v!r}\n" for v in x.tolist()))
    data, _ = load(ddsc, tmp_path, tmp_path / "a.csv", "--logicle",
                   "cd*=" + ":".join(str(v) for v in given))
    y = points(data)[:, 0]
    assert np.array_equal(points(data)[:, 1], x)
    assert np.all(np.diff(y) > 0)
    if given == (262144, 0.5, 4.5, 0):  # value of the published program for -500
        assert abs(biexponential(-0.1588, *given) + 500) < 2
    assert abs(y[40] - (given[3] + given[1]) / (given[2] + given[3])) < 1e-15
    # an error of 1e-14 in y is one of 1e-14 times the slope in x
    slope = (biexponential(y + 1e-6, *given) - biexponential(y - 1e-6, *given)) / 2e-6
    assert np.all(np.abs(biexponential(y, *given) - x) < 1e-13 * slope + 1e-14 * np.abs(x))
    (tmp_path / "top.csv").write_text(f"id,CD3\na,{top}\n")
    data, _ = load(ddsc, tmp_path, tmp_path / "top.csv", "--logicle", ":".join(str(v) for v in given))
    assert abs(points(data)[0, 0] - 1) < 1e-14


def test_logicle_fits_its_linear_part(ddsc, tmp_path):
    x = np.concatenate([-np.arange(1, 101.0), np.arange(900.0)])  # 5% quantile of the negative values: about -95
    (tmp_path / "a.csv").write_text("id,CD3\n" + "".join(f"a,{v}\n" for v in x))
    data, _ = load(ddsc, tmp_path, tmp_path / "a.csv", "--logicle", "262144")
    top, width, decades, more = data["transform_values"]
    assert (top, decades, more) == (262144, 4.5, 0)
    assert any(abs(width - (4.5 - np.log10(262144 / r)) / 2) < 1e-12 for r in range(93, 98))
    for bad in ("0", "-5", "262144:3", "262144:1:-1", "262144:-1", "1:x", "CD9=262144", "1:0:4:0:0", "nan"):
        assert "logicle" in ddsc("info", tmp_path / "a.csv", "--logicle", bad, code=2).stderr


def test_log1p(ddsc, cells, tmp_path):
    raw, _ = load(ddsc, tmp_path, cells)
    data, _ = load(ddsc, tmp_path, cells, "--log1p")
    assert np.allclose(points(data), np.log1p(points(raw)), rtol=1e-15)
    (tmp_path / "low.csv").write_text("id,x\na,1\na,-1\nb,3\n")
    assert "requires values above -1" in ddsc("info", tmp_path / "low.csv", "--log1p", code=3).stderr


def test_normalize(ddsc, cells, tmp_path):
    x, _ = load(ddsc, tmp_path, cells, "--normalize", "standard")
    w = x["weights"] / len(x["ids"])  # items have equal weight
    assert np.allclose(w @ points(x), 0, atol=1e-12)
    assert np.allclose(w @ points(x) ** 2, 1, atol=1e-12)
    x, _ = load(ddsc, tmp_path, cells, "--normalize", "robust")
    quartiles = np.quantile(points(x), [0.25, 0.5, 0.75], axis=0, method="inverted_cdf")
    assert np.allclose(quartiles[1], 0, atol=1e-12)
    assert np.allclose(quartiles[2] - quartiles[0], 1, atol=1e-12)
    raw, _ = load(ddsc, tmp_path, cells)
    x, _ = load(ddsc, tmp_path, cells, "--normalize", "rank")
    assert 0 <= points(x).min() < 0.01 and 0.99 < points(x).max() <= 1
    for k in range(3):
        order = np.argsort(points(raw)[:, k])
        rank = points(x)[order, k]
        assert np.all(np.diff(rank) >= 0)
        assert np.allclose(rank, np.linspace(0, 1, len(rank)), atol=0.01)


def test_constant_column_stays_finite(ddsc, tmp_path):
    (tmp_path / "a.csv").write_text("id,x,y\na,1,5\na,2,5\nb,3,5\nb,7,5\n")
    for how in ("standard", "robust", "rank"):
        data, _ = load(ddsc, tmp_path, tmp_path / "a.csv", "--normalize", how)
        assert len(set(points(data)[:, 1])) == 1


def test_pca(ddsc, cells, tmp_path):
    raw, _ = load(ddsc, tmp_path, cells, "--normalize", "standard")
    full, _ = load(ddsc, tmp_path, cells, "--normalize", "standard", "--pca", "3")
    two, _ = load(ddsc, tmp_path, cells, "--normalize", "standard", "--pca", "2")
    assert list(two["coordinate_names"]) == ["PC1", "PC2"]
    assert np.allclose(points(two), points(full)[:, :2], atol=1e-12)
    x, y = points(raw)[:60], points(full)[:60]
    gaps = [((z[:, None] - z[None]) ** 2).sum(2) for z in (x, y)]
    assert np.allclose(gaps[0], gaps[1], atol=1e-9)  # a rotation keeps distances
    moments = (full["weights"][:, None] * points(full)).T @ points(full)
    assert np.allclose(moments, np.diag(np.diag(moments)), atol=1e-9)
    assert np.all(np.diff(np.diag(moments)) < 0)
    assert "pca = 4: the points have 3 coordinates" in ddsc("info", cells, "--pca", "4", code=2).stderr


def test_per_item(ddsc, cells, tmp_path):
    raw, _ = load(ddsc, tmp_path, cells)
    data, _ = load(ddsc, tmp_path, cells, "--per-item", "10", "--seed", "3")
    again, _ = load(ddsc, tmp_path, cells, "--per-item", "10", "--seed", "3")
    other, _ = load(ddsc, tmp_path, cells, "--per-item", "10", "--seed", "4")
    assert np.all(np.diff(data["offsets"]) == 10) and np.allclose(data["weights"], 0.1)
    assert np.array_equal(points(data), points(again))
    assert not np.array_equal(points(data), points(other))
    rows = {tuple(p) for p in points(raw)}
    assert all(tuple(p) in rows for p in points(data))
    _, said = load(ddsc, tmp_path, cells, "--per-item", "100")
    assert "fewer than 100" in said


def test_per_item_draws_by_weight(ddsc, tmp_path):
    rows = ["id,weight,x"] + [f"a,{100 if k == 0 else 1},{k}" for k in range(101)] + ["b,1,0"]
    (tmp_path / "a.csv").write_text("\n".join(rows) + "\n")
    data, _ = load(ddsc, tmp_path, tmp_path / "a.csv", "--per-item", "20")
    x, w = points(data)[: data["offsets"][1], 0], data["weights"][: data["offsets"][1]]
    assert abs(w[x == 0][0] - 0.5) < 0.051 and abs(w.sum() - 1) < 1e-12


def moments(data, i):
    part = slice(data["offsets"][i], data["offsets"][i + 1])
    x, w = points(data)[part], data["weights"][part]
    mean = w @ x
    return mean, ((x - mean) * w[:, None]).T @ (x - mean)


@pytest.mark.parametrize("grid", [False, True])
def test_align(ddsc, tmp_path, grid):
    rng = np.random.default_rng(4)
    images = rng.integers(1, 9, (3, 12, 9)) * (rng.random((3, 12, 9)) < 0.6)
    cloud = [np.argwhere(image) + (0 if grid else rng.random((np.count_nonzero(image), 2)))
             for image in images]
    np.savez(tmp_path / "a.npz", points=np.vstack(cloud), weights=np.hstack([i[i > 0] for i in images]),
             offsets=np.cumsum([0] + [len(c) for c in cloud]))
    for how in ("center", "size", "deskew", "principal"):
        data, _ = load(ddsc, tmp_path, tmp_path / "a.npz", "--align", how)
        is_grid = json.loads(ddsc("info", tmp_path / "out.npz", "--json").stdout)["is_grid"]
        assert is_grid == grid, how
        for i in range(3):
            mean, second = moments(data, i)
            blur = 0.26 * np.diff(np.unique(points(data)[:, 0])).min() ** 2 if grid else 1e-9
            assert np.allclose(mean, 0, atol=1e-9), how
            if how == "size":
                assert abs(np.trace(second) - 1) <= 2 * blur
            if how in ("deskew", "principal"):
                assert abs(second[0, 1]) <= blur, how
            if how == "principal":
                assert second[0, 0] >= second[1, 1] - blur


def test_deskew_needs_two_coordinates(ddsc, cells):
    assert "two coordinates" in ddsc("info", cells, "--align", "deskew", code=3).stderr


def test_principal_axes_undo_a_turn(ddsc, tmp_path):
    rng = np.random.default_rng(8)
    cloud = rng.gamma(1, [5, 2, 1], (60, 3))
    turned = [cloud, cloud @ np.linalg.qr(rng.normal(size=(3, 3)))[0] + 7]
    turned[1] *= np.sign(np.linalg.det(turned[1][:3] - 7) * np.linalg.det(cloud[:3])) or 1
    np.savez(tmp_path / "a.npz", points=np.vstack(turned), weights=np.ones(120), offsets=[0, 60, 120])
    data, _ = load(ddsc, tmp_path, tmp_path / "a.npz", "--align", "principal")
    assert np.allclose(points(data)[:60], points(data)[60:], atol=1e-9)


WAYS = [("--arcsinh", "5"), ("--log1p",), ("--normalize", "standard"), ("--normalize", "robust"),
        ("--normalize", "rank"), ("--arcsinh", "5", "--normalize", "standard", "--pca", "2"),
        ("--align", "center"), ("--align", "size"), ("--align", "principal"),
        ("--per-item", "40", "--log1p"), ("--logicle", "262144")]


@pytest.mark.parametrize("way", WAYS)
def test_assign_repeats_what_the_model_did(ddsc, cells, tmp_path, way):
    ddsc("cluster", cells, *way, "-k", "2", "-o", tmp_path / "result")
    model = tmp_path / "result" / "model.npz"
    said = json.loads(ddsc("assign", model, cells, "--json").stdout)
    labels = [int(line.split(",")[1]) for line in
              (tmp_path / "result" / "labels.csv").read_text().split()[1:]]
    assert said["labels"] == labels
    # each item of the model is its own nearest neighbor, bit for bit
    assert said["n_far"] == 0 and max(said["distance"]) < 1e9
    info = json.loads(ddsc("info", model, "--json").stdout)
    assert len(info["transforms"]) == sum(word.startswith("--") for word in way)


def test_assign_refuses_other_transforms(ddsc, cells, tmp_path):
    ddsc("cluster", cells, "--arcsinh", "5", "--pca", "2", "-k", "2", "-o", tmp_path / "result")
    model = tmp_path / "result" / "model.npz"
    error = ddsc("assign", model, cells, "--arcsinh", "4", "--pca", "2", code=3).stderr
    assert "transformed differently" in error
    (tmp_path / "b.csv").write_text(cells.read_text().replace("CD3,CD4", "CD4,CD3"))
    assert '"CD4"' in ddsc("assign", model, tmp_path / "b.csv", code=3).stderr
    plain = tmp_path / "plain"
    ddsc("cluster", cells, "-k", "2", "-o", plain)
    ddsc("convert", cells, "--log1p", "-o", tmp_path / "log.npz")
    assert "transformed differently" in ddsc("assign", plain / "model.npz", tmp_path / "log.npz", code=3).stderr
    assert "transformed differently" in ddsc("info", cells, tmp_path / "log.npz", code=3).stderr


def test_a_file_without_a_place_for_transforms_says_so(ddsc, cells, tmp_path):
    said = ddsc("convert", cells, "--log1p", "-o", tmp_path / "a.csv").stderr
    assert "only npz stores fitted data (transforms)" in said
    for words in ((cells, "-o", tmp_path / "b.csv"), (cells, "--log1p", "-o", tmp_path / "b.npz")):
        assert "only npz" not in ddsc("convert", *words).stderr


def test_transforms_of_files_add_up(ddsc, cells, tmp_path):
    ddsc("convert", cells, "--arcsinh", "5", "-o", tmp_path / "a.npz")
    data, _ = load(ddsc, tmp_path, tmp_path / "a.npz", "--normalize", "standard")
    both, _ = load(ddsc, tmp_path, cells, "--arcsinh", "5", "--normalize", "standard")
    assert np.array_equal(points(data), points(both))
    assert np.array_equal(data["transform_steps"], both["transform_steps"])
    assert list(data["transform_inputs"]) == ["CD3", "CD4", "pERK"]


@pytest.mark.parametrize("change, words", [
    (lambda a: a.update(transform_steps=a["transform_steps"][:, :2]), "shape"),
    (lambda a: a.update(transform_values=a["transform_values"][:-1]), "do not match"),
    (lambda a: a.update(transform_values=a["transform_values"] * np.nan), "not finite"),
    (lambda a: a.pop("transform_values"), "no transform_values"),
    (lambda a: a["transform_steps"].__setitem__((0, 0), 99), "do not match"),
    (lambda a: a["transform_steps"].__setitem__((1, 1), 10**15), "do not match"),
    (lambda a: a.update(transform_inputs=np.array(["a"])), "for 3 coordinates"),
])
def test_damaged_transforms_are_refused(ddsc, cells, tmp_path, change, words):
    ddsc("convert", cells, "--arcsinh", "5", "--pca", "2", "-o", tmp_path / "a.npz")
    arrays = {name: np.array(value) for name, value in np.load(tmp_path / "a.npz").items()}
    change(arrays)
    np.savez(tmp_path / "b.npz", **arrays)
    assert words in ddsc("info", tmp_path / "b.npz", code=3).stderr


def test_deskewed_digits(ddsc, data_dir, tmp_path):
    """Deskewing 500 digits brings the clusters closer to the classes, and the digits stay on a grid."""
    mnist = data_dir / "mnist"
    ddsc("convert", mnist / "t10k-images-idx3-ubyte.gz", "--labels", mnist / "t10k-labels-idx1-ubyte.gz",
         "--subset-per-class", "50", "--seed", "1", "-o", tmp_path / "digits.npz")
    ami = {}
    for how in ("none", "deskew"):
        words = [] if how == "none" else ["--align", how]
        ddsc("cluster", tmp_path / "digits.npz", *words, "-k", "10", "--metric", "mmd", "-o", tmp_path / how)
        result = json.loads((tmp_path / how / "result.json").read_text())
        ami[how] = result["scores"]["ami"]
    assert ami["deskew"] > ami["none"]


def test_published_cytometry_table_in_one_command(ddsc, data_dir, tmp_path):
    table = data_dir / "cytometry" / "pbmc8-bcrxl.tsv.gz"
    ddsc("cluster", table, "--id", "sample", "--label", "condition", "--drop", "patient", "--arcsinh", "5",
         "-k", "2", "--metric", "lot", "-o", tmp_path / "result")
    info = json.loads(ddsc("info", tmp_path / "result" / "model.npz", "--json").stdout)
    names = [c["name"] for c in info["coordinates"]]
    assert len(names) == 24 and names[0] == "CD3" and names[-1] == "pS6"
    assert info["transforms"] == ["arcsinh"] and info["items"] == 16


def test_points_drawn_then_aligned(ddsc, cells, tmp_path):
    """One command is equivalent to two: aligning counts, or weights with sum 1."""
    for align in ("center", "size", "principal"):
        once, _ = load(ddsc, tmp_path, cells, "--per-item", 10, "--align", align)
        ddsc("convert", cells, "--per-item", 10, "-o", tmp_path / "drawn.npz", "--force")
        twice, _ = load(ddsc, tmp_path, tmp_path / "drawn.npz", "--align", align)
        assert np.allclose(points(once), points(twice), rtol=1e-9, atol=1e-9), align


@pytest.mark.parametrize("value", [0.1, 0.5, 1e6 / 3])
def test_a_constant_coordinate_is_left_at_its_scale(ddsc, tmp_path, value):
    x = np.random.default_rng(3).normal(size=(12, 7)) + 9 * (np.arange(12) % 2)[:, None]

    def write(name, y):
        rows = ["id,x,y"] + [f"i{i},{float(v)!r},{y!r}" for i in range(12) for v in x[i]]
        (tmp_path / name).write_text("\n".join(rows) + "\n")
        return tmp_path / name

    ddsc("cluster", write("old.csv", value), "--normalize", "standard", "-k", 2, "-o", tmp_path / "r", "-q")
    said = ddsc("assign", tmp_path / "r" / "model.npz", write("new.csv", value + 1e-9), "-o", tmp_path / "l.csv")
    assert "distant items: 0" in said.stdout + said.stderr


def test_forged_transforms_are_refused(ddsc, cells, tmp_path):
    """Counts whose sum overflows, and steps that place points outside every table of cells."""
    ddsc("cluster", cells, "--normalize", "standard", "-k", 2, "-o", tmp_path / "r", "-q")
    with np.load(tmp_path / "r" / "model.npz") as data:
        model = dict(data)
    big = 2**61
    steps = [[[7, big, big + 1], [4, 0, 2 * big], [4, 0, 2 * big], [2, 0, big], [7, 1, 2 * big]],
             [[4, 0, 2**63 - 1], [4, 0, 2**63 - 1], [4, 0, 2]], [[-1, 0, 0]], [[7, 3, 2**62]]]
    for k, forged in enumerate(steps):
        model["transform_steps"] = np.array(forged, dtype=np.int64)
        model["transform_values"] = np.zeros(1)
        np.savez(tmp_path / f"m{k}.npz", **model)
        assert "transforms" in ddsc("assign", tmp_path / f"m{k}.npz", cells, code=3).stderr


@pytest.mark.parametrize("words, scaled", [
    (["--normalize", "standard"], False), (["--align", "size"], False), (["--align", "deskew"], True),
    (["--align", "principal"], True), (["--pca", "2"], True)])
@pytest.mark.parametrize("unit", [2.0 ** -664, 2.0 ** 460])
def test_scales_whose_squares_leave_the_range(ddsc, tmp_path, words, scaled, unit):
    """Coordinates around 1e-200 (and 1e138) are transformed like the same coordinates around 1."""
    rng = np.random.default_rng(8)
    x = rng.normal([0, 3], [1, 4], (90, 2)) @ [[1, 0.5], [0, 1]] * (1 + np.repeat(np.arange(9) % 3, 10))[:, None]
    common = {"weights": np.ones(90), "offsets": np.arange(0, 91, 10)}
    np.savez(tmp_path / "a.npz", points=x, **common)
    np.savez(tmp_path / "b.npz", points=x * unit, **common)
    usual, _ = load(ddsc, tmp_path, tmp_path / "a.npz", *words)
    other, _ = load(ddsc, tmp_path, tmp_path / "b.npz", *words)
    assert np.allclose(points(other) / (unit if scaled else 1), points(usual), rtol=1e-12, atol=1e-12)
    ddsc("distance", tmp_path / "b.npz", *words, "-o", tmp_path / "d.npy")  # exit 0: every value is certified
    if not scaled:
        ddsc("cluster", tmp_path / "b.npz", *words, "-k", 2, "-q", "-o", tmp_path / "o")
