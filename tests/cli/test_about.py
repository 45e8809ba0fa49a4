"""Association of metadata columns with the clusters, names of clusters, and ddsc explain."""
import csv
import itertools
import json

import numpy as np
import pytest


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Two clusters of clouds. site agrees with the clusters, age does in part, coin does not; id names the items."""
    folder = tmp_path_factory.mktemp("about")
    rng = np.random.default_rng(0)
    lines, about = ["id,CD3,CD4"], ["id,site,age,coin,code"]
    for i in range(80):
        group = i % 2
        for x, y in rng.normal(size=(12, 2)) + [6 * group, 0]:
            lines.append(f"s{i},{x},{y}")
        age = "" if i == 5 else f"{30 + 10 * group + rng.normal() * 10:.1f}"
        about.append(f"s{i},{'north' if group else 'south'},{age},{rng.integers(2)},c{i}")
    (folder / "cells.csv").write_text("\n".join(lines) + "\n")
    (folder / "about.csv").write_text("\n".join(about) + "\n")
    return folder


def cluster(ddsc, made, out, *more):
    return ddsc("cluster", made / "cells.csv", "--meta", made / "about.csv", "-k", 2, "-m", "mmd", "-o", out, "-v", *more)


def test_effects_and_p(ddsc, made, tmp_path):
    done = cluster(ddsc, made, tmp_path / "r")
    rows = {row["column"]: row for row in json.loads((tmp_path / "r/result.json").read_text())["about"]}
    assert set(rows) == {"site", "age", "coin"}  # all items have 12 points, and codes identify items
    assert rows["site"]["value"] == pytest.approx(1) and rows["site"]["p"] == pytest.approx(0.001) and rows["site"]["predicts"]
    assert 0.05 < rows["age"]["value"] < 0.6 and rows["age"]["p"] < 0.05 and rows["age"]["items"] == 79
    assert rows["coin"]["p"] > 0.05 and not rows["coin"]["predicts"]
    assert "site (Cramer's V 1.00" in done.stdout
    # eta squared computed by NumPy
    labels = np.loadtxt(tmp_path / "r/labels.csv", delimiter=",", skiprows=1, usecols=1, dtype=int)
    age = np.array([float(line.split(",")[2] or "nan") for line in (made / "about.csv").read_text().splitlines()[1:]])
    known = ~np.isnan(age)
    age, labels = age[known], labels[known]
    between = sum((labels == k).sum() * (age[labels == k].mean() - age.mean()) ** 2 for k in (0, 1))
    assert rows["age"]["value"] == pytest.approx(between / ((age - age.mean()) ** 2).sum())
    assert [rows[c]["p_holm"] >= rows[c]["p"] for c in rows] == [True] * 3


def test_tiny_effects_are_no_finding(ddsc, tmp_path):
    """One percent of the variance of 800 items is significant, but does not describe the clusters."""
    rng = np.random.default_rng(1)
    lines, about = ["id,x,y"], ["id,age,size"]
    for i in range(800):
        lines += [f"s{i},{x},{y}" for x, y in rng.normal(size=(4, 2)) + [8 * (i % 2), 0]]
        about.append(f"s{i},{0.35 * (i % 2) + rng.normal():.3f},{2 * (i % 2) + rng.normal():.3f}")
    (tmp_path / "cells.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "about.csv").write_text("\n".join(about) + "\n")
    done = cluster(ddsc, tmp_path, tmp_path / "r")
    rows = {row["column"]: row for row in json.loads((tmp_path / "r/result.json").read_text())["about"]}
    assert rows["age"]["p_holm"] < 0.05 and 0 < rows["age"]["value"] < 0.05
    assert "size (eta squared" in done.stdout and "age (eta" not in done.stdout


def test_blocks(ddsc, made, tmp_path):
    """The clusters do not vary within a site, so the association with age cannot be tested."""
    cluster(ddsc, made, tmp_path / "r", "--block", "site")
    rows = {row["column"]: row for row in json.loads((tmp_path / "r/result.json").read_text())["about"]}
    assert rows["age"]["p"] == 1 and rows["site"]["p"] == 1
    assert "the metadata has no column" in cluster_fails(ddsc, made, tmp_path)


def cluster_fails(ddsc, made, tmp_path):
    return ddsc("cluster", made / "cells.csv", "--meta", made / "about.csv", "-k", 2, "-o", tmp_path / "x", "--block", "ward",
                code=2).stderr


def test_values_that_are_missing_or_far_from_zero(ddsc, made, tmp_path):
    """A value that occurs only outside the blocks, NA among numbers, and numbers with a large offset."""
    lines = ["id,place,group,stray,years,day"]
    for i in range(80):
        word = "north" if i % 2 else "south"
        lines.append(f"s{i},{'' if i == 3 else 'p' + str(i // 20)},{word},{'west' if i == 3 else word},"
                     f"{'NA' if i == 7 else 30 + 10 * (i % 2) + i / 80},{1.7e9 + 1000 * (i % 2) + i}")
    (tmp_path / "m.csv").write_text("\n".join(lines) + "\n")
    ddsc("cluster", made / "cells.csv", "--meta", tmp_path / "m.csv", "--block", "place", "-k", 2, "-m", "mmd", "-o",
         tmp_path / "r", "-q")
    rows = {row["column"]: row for row in json.loads((tmp_path / "r/result.json").read_text())["about"]}
    assert rows["stray"]["value"] == pytest.approx(rows["group"]["value"]) == pytest.approx(1)
    assert rows["years"]["effect"] == rows["day"]["effect"] == "eta squared"
    assert rows["years"]["items"] == 78 and rows["day"]["value"] > 0.99


def test_number_of_points_is_told(ddsc, tmp_path):
    rng = np.random.default_rng(1)
    lines = ["id,x"]
    for i, _ in itertools.product(range(60), range(1)):
        for x in rng.normal(size=5 + 40 * (i % 2)) + 8 * (i % 2):
            lines.append(f"{i},{x}")
    (tmp_path / "c.csv").write_text("\n".join(lines) + "\n")
    done = ddsc("cluster", tmp_path / "c.csv", "-k", 2, "-m", "mmd", "-o", tmp_path / "r", "-v")
    (row,) = json.loads((tmp_path / "r/result.json").read_text())["about"]
    assert row["column"] == "number of distinct points" and row["predicts"] and "number of distinct points" in done.stdout


def test_items_have_names_and_columns(ddsc, made, tmp_path):
    """Names of clusters and metadata columns in items.csv; naming again replaces, other columns stay."""
    points, meta = made / "cells.csv", made / "about.csv"
    ddsc("cluster", points, "--meta", meta, "-k", 2, "-o", tmp_path / "r", "-q")

    def table():
        with open(tmp_path / "r" / "items.csv", encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    plain = table()
    with open(meta, encoding="utf-8") as file:
        about = {row["id"]: row for row in csv.DictReader(file)}
    for row in plain:
        assert all(row[f"meta:{name}"] == value for name, value in about[row["id"]].items() if name != "id")
    for names in ({"0": 'a "b", c', "1": "d"}, {"0": "xy", "1": "d"}, {"0": "", "1": ""}):
        ddsc("name", tmp_path / "r", *(f"{k}={v}" for k, v in names.items()), "-q")
        now = table()
        assert [row.pop("name") for row in now] == [names[row["label"]] for row in plain]
        assert now == plain


def test_explain_and_names(ddsc, made, tmp_path):
    cluster(ddsc, made, tmp_path / "r")
    told = ddsc("explain", tmp_path / "r").stdout
    assert "cluster 0: 40 items" in told and "CD3" in told and "predicts the clusters" in told
    verdict = json.loads((tmp_path / "r/result.json").read_text())["verdict"]["text"]
    assert told.startswith(verdict)
    ddsc("name", tmp_path / "r", "0=the <left>", "1=right")
    ddsc("name", tmp_path / "r", "1=")
    assert "cluster 0 the <left>: 40 items" in ddsc("explain", tmp_path / "r").stdout
    clusters = json.loads(ddsc("explain", tmp_path / "r", "--json").stdout)["clusters"]
    assert clusters[0]["name"] == "the <left>" and "name" not in clusters[1]
    page = (tmp_path / "r/report.html").read_text()
    assert "the &lt;left&gt;</h3>" in page and "cluster 0, 40 items" in page and 'id="cluster-0"' in page
    ddsc("report", tmp_path / "r", "-o", tmp_path / "again.html")
    assert (tmp_path / "again.html").read_text() == page


def test_why_two_items_are_near(ddsc, tmp_path):
    """The flows of the plan, by names of points. Masses sum to one."""
    (tmp_path / "t.csv").write_text("id,weight,x,point_name\na,3,0,oil\na,1,5,ship\nb,3,1,gas\nb,1,5,ship\nc,1,9,tree\n")
    ddsc("cluster", tmp_path / "t.csv", "-k", 2, "-o", tmp_path / "r", "-q")
    (tmp_path / "t.csv").rename(tmp_path / "moved.csv")  # the items of the model
    told = ddsc("explain", tmp_path / "r", "a", "b").stdout.splitlines()
    assert told == ddsc("explain", tmp_path / "r", "--pair", "a", "b").stdout.splitlines()
    assert told[0].startswith(f"W2 distance {0.75 ** 0.5:.6g}")
    assert [line.split("%")[1].strip() for line in told[1:]] == ["oil -> gas, distance 1", "ship -> ship, distance 0"]
    assert sum(float(line.split("%")[0]) for line in told[1:]) == pytest.approx(100)
    assert "no item has the id 'z'" in ddsc("explain", tmp_path / "r", "--pair", "a", "z", code=3).stderr
    ddsc("cluster", tmp_path / "moved.csv", "-k", 2, "-m", "w1", "-o", tmp_path / "w1", "-q")
    assert "squared Euclidean" in ddsc("explain", tmp_path / "w1", "a", "b", code=2).stderr
    for words in (["a"], ["--pair", "a"], ["--pair"]):
        assert "two items" in ddsc("explain", tmp_path / "r", *words, code=2).stderr
    (tmp_path / "r/model.npz").unlink()
    assert "has no model.npz" in ddsc("explain", tmp_path / "r", "a", "b", code=3).stderr


def test_why_two_clouds_are_near(ddsc, tmp_path):
    """Points without names: the contributions of the coordinates sum to the squared distance; the direction of the
    flow."""
    (tmp_path / "t.csv").write_text("id,CD4,CD8,CD20\na,0,0,0\na,10,0,0\nb,0,3,0\nb,10,3,0\nc,0,-1,7\n")
    ddsc("cluster", tmp_path / "t.csv", "-k", 2, "-o", tmp_path / "r", "-q")
    told = ddsc("explain", tmp_path / "r", "a", "b").stdout.splitlines()
    assert told[0].startswith("W2 distance 3; the squared distance by coordinate")
    assert told[1].split() == ["100.0%", "CD8", "mean", "shift", "+3"]
    assert "mean shift -3" in ddsc("explain", tmp_path / "r", "b", "a").stdout
    parts = [line.split() for line in ddsc("explain", tmp_path / "r", "a", "c").stdout.splitlines()[1:4]]
    assert [p[1] for p in parts] == ["CD4", "CD20", "CD8"] and parts[0][4] == "-5"
    assert [float(p[0][:-1]) for p in parts] == [50.0, 49.0, 1.0]  # of 50 + 49 + 1


@pytest.mark.parametrize("word", ["left", "2=x", "-1=x", "=x", "0"])
def test_wrong_names(ddsc, made, tmp_path, word):
    cluster(ddsc, made, tmp_path / "r")
    before = (tmp_path / "r/result.json").read_bytes()
    assert "CLUSTER=NAME" in ddsc("name", tmp_path / "r", "--", word, code=2).stderr
    assert (tmp_path / "r/result.json").read_bytes() == before
    assert "cannot" in ddsc("explain", tmp_path / "none", code=3).stderr
