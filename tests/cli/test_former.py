"""Results, options and values of version 0.2.0 still work, and new output has the American names."""
import csv
import json
import pathlib
import re
import shutil

import numpy as np
import pytest

OLD = pathlib.Path(__file__).resolve().parents[1] / "data" / "v0.2.0"
BRITISH = re.compile(r"neighbour|centre|normalis|colour|labell|regularis|doubt|nobody", re.I)


@pytest.fixture(params=["clouds", "documents"])
def old(request, tmp_path):
    """A result folder of version 0.2.0."""
    shutil.copytree(OLD / request.param, tmp_path / "old")
    return tmp_path / "old"


def rows(text):
    return list(csv.DictReader(text.splitlines()))


def names(value):
    """Return all keys of a JSON tree, and its values except sentences and names from the data."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            if key not in ("command", "input", "id", "title", "features", "why", "text", "advice"):
                yield from names(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from names(inner)
    elif isinstance(value, str):
        yield value


def test_assign(ddsc, old):
    """The items of a model receive the labels of the old result."""
    labels = rows((old / "labels.csv").read_text())
    again = rows(ddsc("assign", old / "model.npz", old / "model.npz").stdout)
    assert [(r["id"], r["label"]) for r in again] == [(r["id"], r["label"]) for r in labels]


def test_assign_new_items(ddsc):
    """New items receive the same labels as in version 0.2.0."""
    now = rows(ddsc("assign", OLD / "clouds" / "model.npz", OLD / "new.csv").stdout)
    then = rows((OLD / "assigned.csv").read_text())
    assert [(r["id"], r["label"], r["far"]) for r in now] == [(r["id"], r["label"], r["far"]) for r in then]
    for a, b in zip(now, then):
        assert float(a["confidence"]) == pytest.approx(float(b["confidence"]), abs=1e-9)


def test_report(ddsc, old):
    """The page of an old result shows its charts and ambiguous items."""
    ddsc("report", old)
    page = (old / "report.html").read_text()
    assert "Distances between neighbors" in page and "mbiguous items" in page
    assert "format_version" not in json.loads((old / "result.json").read_text())  # only the page is written


def test_explain(ddsc, old):
    found = json.loads(ddsc("explain", old, "--json").stdout)
    assert found["format_version"] == 2 and not [n for n in names(found) if BRITISH.search(n)]
    then = json.loads((old / "result.json").read_text())["clusters"]
    for now, before in zip(found["clusters"], then):
        assert [i["ambiguity"] for i in now["borderline"]] == [i["doubt"] for i in before["borderline"]]
    assert f"cluster 0: {then[0]['size']} items" in ddsc("explain", old).stdout
    labels = rows((old / "labels.csv").read_text())
    ddsc("explain", old, labels[0]["id"], labels[1]["id"])


def test_name(ddsc, old):
    """A named result has the current format; the values in items.csv do not change."""
    before = rows((old / "items.csv").read_text())
    ddsc("name", old, "0=first")
    found = json.loads((old / "result.json").read_text())
    after = rows((old / "items.csv").read_text())
    assert found["format_version"] == 2 and found["clusters"][0]["name"] == "first"
    assert not [n for n in [*names(found), *after[0]] if BRITISH.search(n)]
    assert [r["ambiguity"] for r in after] == [r["doubt"] for r in before]
    assert [r["neighbor2"] for r in after] == [r["neighbour2"] for r in before]
    assert {r["name"] for r in after if r["label"] == "0"} == {"first"}
    keys = list(json.loads((OLD / "clouds" / "result.json").read_text()))
    assert len(keys) == len(set(keys)) and "first" in ddsc("explain", old).stdout


def test_a_newer_format_is_refused(ddsc, old):
    found = json.loads((old / "result.json").read_text())
    (old / "result.json").write_text(json.dumps({**found, "format_version": 3}))
    assert "newer version" in ddsc("report", old, code=3).stderr


def test_a_model_with_both_spellings_twice_is_refused(ddsc, tmp_path):
    arrays = dict(np.load(OLD / "clouds" / "model.npz"))
    arrays["model_settings"] = np.append(arrays["model_settings"], "far_neighbor=3")
    np.savez(tmp_path / "m.npz", **arrays)
    assert "invalid setting" in ddsc("assign", tmp_path / "m.npz", OLD / "new.csv", code=3).stderr


def test_former_name_of_clusters(ddsc, tmp_path):
    for option in ("--groups", "--clusters"):
        ddsc("generate", "gaussians", option, 5, "-o", tmp_path / f"{option}.npz", "-q")
    assert (tmp_path / "--groups.npz").read_bytes() == (tmp_path / "--clusters.npz").read_bytes()


@pytest.mark.parametrize("old_words, words", [
    (("--normalise", "standard"), ("--normalize", "standard")),
    (("--normalise=rank", "--align=centre"), ("--normalize=rank", "--align=center")),
    (("--metric", "sinkhorn", "--sinkhorn-value", "regularised"),
     ("--metric", "sinkhorn", "--sinkhorn-value", "regularized")),
    (("--method", "d2", "--centre-size", 3), ("--method", "d2", "--center-size", 3)),
])
def test_british_options(ddsc, three_groups, tmp_path, old_words, words):
    found = []
    for name, used in (("a", old_words), ("b", words)):
        ddsc("cluster", three_groups, "-k", 3, *used, "-o", tmp_path / name)
        found.append(json.loads((tmp_path / name / "result.json").read_text()))
        found[-1] = {k: v for k, v in found[-1].items() if k not in ("command", "seconds")}
    assert found[0] == found[1] and found[0]["format_version"] == 2
    assert not [n for n in names(found[0]) if BRITISH.search(n)]
    for file in (tmp_path / "b").glob("*.csv"):
        assert not BRITISH.search(file.read_text().splitlines()[0]), file
    assert not list((tmp_path / "b").glob("*centre*"))
    if (tmp_path / "b" / "model.npz").exists():
        model = np.load(tmp_path / "b" / "model.npz")
        assert not [n for n in [*model.files, *model["model_settings"]] if BRITISH.search(n)]


def test_british_values_of_images(ddsc, source, tmp_path):
    assert "'blue' is not one of pixels|ink|colors" in ddsc("info", "x", "--as", "blue", code=2).stderr
    assert "not one of" not in ddsc("info", tmp_path / "x.png", "--as", "colours", code=3).stderr


def test_no_british_name_in_help(ddsc):
    for words in (("help", "--man"), ("help", "cluster"), ("completion", "bash"), ("completion", "zsh")):
        assert not BRITISH.findall(ddsc(*words).stdout), words


def test_every_json_output_has_a_version(ddsc, three_groups, tmp_path):
    calls = [("cluster", three_groups, "-k", 3), ("info", three_groups), ("generate", "shapes", "-o", tmp_path / "s.npz"),
             ("distance", three_groups, "-o", tmp_path / "d.npy"), ("score", three_groups, three_groups),
             ("neighbors", three_groups, "-o", tmp_path / "g.mtx"), ("cluster", three_groups, "-k", 3, "--dry-run")]
    for words in calls:
        found = json.loads(ddsc(*words, "--json").stdout)
        assert found["format_version"] == 2, words


def test_update_says_what_is_missing(ddsc, old, tmp_path):
    (tmp_path / "gone.txt").write_text((old / "labels.csv").read_text().split()[1].split(",")[0] + "\n")
    for more in ([], ["--resolve"]):
        told = ddsc("update", old, "--remove", tmp_path / "gone.txt", *more, "-o", tmp_path / "new", code=3).stderr
        assert "version 0.2.0, which stored neither the neighbor lists nor all settings of the run" in told
    assert not (tmp_path / "new").exists()
