"""Coordinates in different units: the warning, --normalize auto, and the table of `ddsc info`."""
import json

import numpy as np
import pytest


def write(path, scales, seed=0, law="normal", names=None):
    random = np.random.default_rng(seed)
    names = names or [f"c{k}" for k in range(len(scales))]
    draw = random.standard_normal if law == "normal" else lambda n: random.standard_t(1.5, n)
    rows = [f"i{i}," + ",".join(f"{v:.8g}" for v in draw(len(scales)) * scales) for i in range(30) for _ in range(12)]
    path.write_text("id," + ",".join(names) + "\n" + "\n".join(rows) + "\n")
    return path


def said(ddsc, path, *words):
    return ddsc("neighbors", path, "-m", "mmd", "-o", path.parent / "g.mtx", "-f", *words).stderr


UNITS = [1000, 900, 1, .8, .5]


def test_warning(ddsc, tmp_path):
    text = said(ddsc, write(tmp_path / "a.csv", UNITS, names=["area", "length", "u", "v", "w"]))
    assert "3 of 5 coordinates" in text and '"area" (' in text and '"length" (' in text and '"u"' not in text
    assert text.count("warning") == 1 and "--normalize standard" in text
    assert "--normalize rank with w2" in said(ddsc, write(tmp_path / "a.csv", UNITS, law="heavy"))
    assert "--log1p" in said(ddsc, write(tmp_path / "a.csv", list(10 ** np.linspace(0, 2, 12))))


@pytest.mark.parametrize("scales, words", [
    (UNITS, ["--normalize", "standard"]), (UNITS, ["--normalize", "rank"]), (UNITS, ["--normalize", "auto"]),
    ([1, 1, 1], []), ([10, 1, 1, 1], []), ([1, 2, 4, 8, 12], []), ([1, 1e-9, 0, 0], ["--columns", "c0"]),
    ([1] * 9 + [.01], []),
])
def test_no_warning(ddsc, tmp_path, scales, words):
    assert "warning" not in said(ddsc, write(tmp_path / "a.csv", scales), *words)


@pytest.mark.parametrize("scales, law, metric, choice", [
    (UNITS, "normal", "w2", "standard"), (UNITS, "normal", "mmd", "standard"), (UNITS, "heavy", "mmd", "standard"),
    (UNITS, "heavy", "w2", "rank"), ([1, 2, 3], "normal", "w2", None),
    (list(10 ** np.linspace(0, 2, 12)), "normal", "w2", None),
])
def test_auto(ddsc, tmp_path, scales, law, metric, choice):
    path = write(tmp_path / "a.csv", scales, law=law)
    run = ddsc("cluster", path, "-m", metric, "-k", 2, "--normalize", "auto", "-o", tmp_path / "r", "--force")
    assert f"normalize auto: {choice or 'none'}, because" in run.stderr
    assert json.loads((tmp_path / "r" / "result.json").read_text()).get("transforms", []) == ([choice] if choice else [])
    ddsc("cluster", path, "-m", metric, "-k", 2, "--normalize", choice or "none", "-o", tmp_path / "s", "--force", "-q")
    assert (tmp_path / "r" / "labels.csv").read_bytes() == (tmp_path / "s" / "labels.csv").read_bytes()


def test_table(ddsc, tmp_path):
    path = write(tmp_path / "a.csv", UNITS)
    told = json.loads(ddsc("info", path, "--json").stdout)
    points = np.loadtxt(path, delimiter=",", skiprows=1, usecols=range(1, 6))
    spread = points.std(0)
    rows = told["coordinates"]
    assert np.allclose([row["spread"] for row in rows], spread)
    assert np.allclose([row["share"] for row in rows], spread ** 2 / (spread ** 2).sum())
    square = np.sort((points - points.mean(0)) ** 2, 0)[::-1]
    n = len(points) / 100  # 3.6 points
    want = (square[:3].sum(0) + (n - 3) * square[3]) / square.sum(0)
    assert np.allclose([row["outliers"] for row in rows], want)
    assert told["units"]["differ"] and told["units"]["advice"] == "standard" and told["units"]["small"] == 3
    shown = ddsc("info", path).stdout
    assert "  3 coordinates spread less than 1/20 of the widest" in shown and len(told["problems"]) == 1
    assert json.loads(ddsc("info", write(tmp_path / "b.csv", [1, 1, 1]), "--json").stdout)["problems"] == []
    assert "spread" in shown and all(f"\n  c{k} " in shown for k in range(5))


def test_real_sets(ddsc, data_dir, tmp_path):
    """The warning appears for the kidney set and for raw cytometry, but not for transformed cytometry or images of
    segments."""
    def fires(path, *words):
        return "1/20 of the widest" in ddsc("neighbors", path, "-m", "mmd", "--mmd-features", 8, *words, "--on-empty", "drop",
                                            "-o", tmp_path / "g.mtx", "-f").stderr
    for name in "animals", "corel", "fingerprint":
        assert not fires(data_dir / "more" / f"{name}.npz"), name
    cells = [data_dir / "cytometry" / "pbmc8-bcrxl.tsv.gz", "--id", "sample", "--drop", "patient,condition", "--per-item", 200]
    if cells[0].exists():
        assert fires(*cells) and not fires(*cells, "--arcsinh", 5)
    kidney = data_dir / "cohort" / "Kidney_IgAN_G.h5ad"
    if kidney.exists() and "hdf5" in ddsc("--version").stdout:
        assert fires(kidney, "--id", "sampleID") and not fires(kidney, "--id", "sampleID", "--normalize", "standard")
