"""Outliers: marked in items.csv; with --outliers, they have the label -1 and belong to no cluster."""
import csv
import json

import numpy as np
import pytest


def write(path, clouds, labels=None):
    sizes = [len(c) for c in clouds]
    more = {} if labels is None else {"labels": np.asarray(labels)}
    np.savez(path, points=np.concatenate(clouds), weights=np.ones(sum(sizes)),
             offsets=np.concatenate([[0], np.cumsum(sizes)]), **more)
    return path


def table(folder):
    with open(folder / "items.csv", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def groups(seed=0, n=90, d=3):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(8, d)) + 6 * np.eye(d)[i % 3] for i in range(n)]


def planted(tmp_path):
    clouds = groups()
    clouds[4] = clouds[4] + [40, 0, 0]
    clouds[71] = clouds[71] - [0, 0, 30]
    return write(tmp_path / "p.npz", clouds, [i % 3 for i in range(len(clouds))])


@pytest.mark.parametrize("metric", ["w2", "w1", "sinkhorn", "mmd", "lot"])
def test_planted_items_are_marked(ddsc, tmp_path, metric):
    ddsc("cluster", planted(tmp_path), "-k", 3, "-m", metric, "-o", tmp_path / "r", "-q")
    rows = table(tmp_path / "r")
    told = json.loads((tmp_path / "r" / "result.json").read_text())["outliers"]
    assert [i for i, r in enumerate(rows) if r["is_outlier"] == "1"] == [4, 71]
    assert [(o["row"], o["id"], str(o["cluster"])) for o in told["items"]] == [(i, str(i), rows[i]["label"]) for i in (4, 71)]
    assert told["count"] == 2 and told["left_out"] is False
    assert all((float(r["outlier"]) > told["from"]) == (r["is_outlier"] == "1") for r in rows)
    assert all(r["label"] != "-1" for r in rows)


def test_clean_sets_have_hardly_any(ddsc, tmp_path):
    marked = 0
    for seed, (n, d) in enumerate([(90, 3), (150, 10), (300, 3), (150, 50)]):
        ddsc("cluster", write(tmp_path / f"{seed}.npz", groups(seed, n, d)), "-k", 3, "-m", "mmd", "-o", tmp_path / f"r{seed}", "-q")
        marked += sum(r["is_outlier"] == "1" for r in table(tmp_path / f"r{seed}"))
    assert marked <= 2
    ddsc("generate", "shapes", "-o", tmp_path / "s.npz", "-q")
    ddsc("cluster", tmp_path / "s.npz", "-k", 2, "-o", tmp_path / "s", "-q")
    assert all(r["is_outlier"] == "0" for r in table(tmp_path / "s"))


def test_left_out_everywhere(ddsc, tmp_path):
    """Labels, sizes, typical items, scores and confusion agree on the outliers, and the page can be generated again."""
    path = planted(tmp_path)
    done = ddsc("cluster", path, "-k", "2:4", "--outliers", "-o", tmp_path / "r")
    folder = tmp_path / "r"
    labels = [int(line.split(",")[1]) for line in (folder / "labels.csv").read_text().splitlines()[1:]]
    told = json.loads((folder / "result.json").read_text())
    assert [i for i, v in enumerate(labels) if v == -1] == [4, 71]
    assert [r["label"] for r in table(folder)] == list(map(str, labels))
    assert told["sizes"]["clusters"] == [labels.count(c) for c in range(told["k"])]
    assert sum(told["sizes"]["clusters"]) == 88 == told["scores"]["n"] == sum(map(sum, told["scores"]["confusion"]["counts"]))
    shown = {m["row"] for c in told["clusters"] for m in c["representatives"] + c["borderline"]}
    assert not shown & {4, 71}
    assert "2 items are far from all others" in done.stdout and "not outliers" in done.stdout
    sweep = (folder / "sweep.csv").read_text().splitlines()
    assert sweep[1 + 4].split(",")[1:] == ["-1", "-1", "-1"]
    scored = json.loads(ddsc("score", folder / "labels.csv", folder / "truth.csv", "--json").stdout)
    assert abs(scored["ami"] - told["scores"]["ami"]) < 1e-12
    page = (folder / "report.html").read_text()
    ddsc("report", folder, "--force", "-q")
    assert (folder / "report.html").read_text() == page
    straight = ddsc("cluster", path, "-k", told["k"], "--outliers", "--json", "-q").stdout
    assert json.loads(straight)["labels"] == labels
    assert "label -1" in ddsc("explain", folder).stdout


def test_a_small_far_group_keeps_its_items(ddsc, tmp_path):
    """A distant cluster is a cluster, not outliers."""
    clouds = groups()
    for i in range(4):
        clouds[i] = clouds[i] + [300, 0, 0]
    path = write(tmp_path / "g.npz", clouds)
    ddsc("cluster", path, "-k", 4, "--min-cluster", 0, "--outliers", "-o", tmp_path / "r", "-q")
    told = json.loads((tmp_path / "r" / "result.json").read_text())
    assert min(told["sizes"]["clusters"]) > 0 and sum(told["sizes"]["clusters"]) + told["outliers"]["count"] == 90


def test_copies_are_no_reason(ddsc, tmp_path):
    """If many items are equal, the others are not all outliers."""
    clouds = groups(n=60)
    write(tmp_path / "c.npz", [clouds[0]] * 40 + clouds)
    ddsc("cluster", tmp_path / "c.npz", "-k", 3, "-o", tmp_path / "r", "-q")
    rows = table(tmp_path / "r")
    assert sum(r["is_outlier"] == "1" for r in rows) <= 3 and not any(r["outlier"] == "inf" for r in rows)


def test_refused_without_a_graph(ddsc, tmp_path):
    done = ddsc("cluster", planted(tmp_path), "-k", 3, "--method", "kmeans", "--outliers", code=2)
    assert "graph" in done.stderr


def test_an_item_apart_from_many_twins(ddsc, tmp_path):
    """Duplicates have no score. The only item with a score must not determine the limit."""
    clouds = [np.zeros((1, 2))] * 39 + [np.array([[5.0, 0]])]
    ddsc("cluster", write(tmp_path / "t.npz", clouds), "-k", 1, "--outliers", "-o", tmp_path / "r", "-q")
    assert [i for i, row in enumerate(table(tmp_path / "r")) if row["is_outlier"] == "1"] == [39]


def test_sizes_in_the_tree_leave_outliers_out(ddsc, tmp_path):
    ddsc("cluster", planted(tmp_path), "-k", 3, "--outliers", "-o", tmp_path / "r", "-q")
    told = json.loads((tmp_path / "r" / "result.json").read_text())
    assert told["tree"][-1]["size"] == sum(told["sizes"]["clusters"]) == 88
