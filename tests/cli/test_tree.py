"""The tree of the clusters, and the order of items along a line."""
import csv
import json

import numpy as np
import pytest


def write(path, clouds):
    sizes = [len(c) for c in clouds]
    np.savez(path, points=np.concatenate(clouds), weights=np.ones(sum(sizes)), offsets=np.concatenate([[0], np.cumsum(sizes)]))
    return path


@pytest.mark.parametrize("apart", [1.2, 4])
def test_near_groups_merge_first(ddsc, tmp_path, apart):
    """Two pairs of clusters, linked or not: each pair merges before the pairs merge."""
    rng = np.random.default_rng(0)
    centers = np.array([[0, 0], [20, 0], [20 + apart, 0], [apart, 0]])
    path = write(tmp_path / "g.npz", [rng.normal(size=(12, 2)) + centers[i % 4] for i in range(160)])
    ddsc("cluster", path, "-k", 4, "-o", tmp_path / "r", "-q")
    told = json.loads((tmp_path / "r" / "result.json").read_text())
    group = {c["label"]: c["representatives"][0]["row"] % 4 for c in told["clusters"]}
    pairs = [{group[m["a"]], group[m["b"]]} for m in told["tree"][:2]]
    assert sorted(map(sorted, pairs)) == [[0, 3], [1, 2]]
    heights = [m["height"] for m in told["tree"]]
    assert heights == sorted(heights) and 0 < heights[0] and heights[-1] <= 1 and told["tree"][-1]["size"] == 160
    assert (told["tree"][-1]["a"], told["tree"][-1]["b"]) == (4, 5)
    said = ddsc("explain", tmp_path / "r").stdout
    assert "merging the most strongly linked clusters" in said and "1 left" in said
    assert json.loads(ddsc("explain", tmp_path / "r", "--json").stdout)["tree"] == told["tree"]
    again = ddsc("cluster", path, "-k", 4, "--json", "-q", "-j", 1).stdout
    assert json.loads(again)["tree"] == told["tree"]


def test_order_is_a_permutation(ddsc, tmp_path):
    rng = np.random.default_rng(3)
    path = write(tmp_path / "l.npz", [rng.normal(size=(20, 3)) + [i / 8, 0, 0] for i in range(80)])
    for words in (["-m", "w2"], ["-m", "w2+mmd"], ["-m", "mmd", "--paper"], ["-m", "lot", "--method", "sc"]):
        ddsc("cluster", path, "-k", 3, "-o", tmp_path / "r", "-q", "--force", *words)
        with open(tmp_path / "r" / "items.csv", encoding="utf-8") as file:
            order = [int(row["order"]) for row in csv.DictReader(file)]
        assert sorted(order) == list(range(80)) and np.corrcoef(order, np.arange(80))[0, 1] > 0.95, words


def test_no_tree_without_a_graph(ddsc, tmp_path):
    ddsc("generate", "gaussians", "-o", tmp_path / "g.npz", "-q")
    told = json.loads(ddsc("cluster", tmp_path / "g.npz", "-k", 3, "--method", "kmeans", "--json", "-q").stdout)
    assert "tree" not in told


def test_parts_without_a_direction_have_no_order(ddsc, tmp_path):
    """Twelve separate gradients and K = 3: the order follows the gradient or is empty, but never follows the row
    number."""
    rng = np.random.default_rng(5)
    place = np.concatenate([[1000 * part + x for x in rng.permutation(30)] for part in range(12)])
    ddsc("cluster", write(tmp_path / "m.npz", [np.array([[x, 0.0]]) for x in place]), "-k", 3, "-o", tmp_path / "r", "-q")
    with open(tmp_path / "r" / "items.csv", encoding="utf-8") as file:
        order = [row["order"] for row in csv.DictReader(file)]
    for part in range(12):
        here = slice(30 * part, 30 * part + 30)
        ranks = [int(word) for word in order[here] if word]
        assert not ranks or abs(np.corrcoef(ranks, place[here])[0, 1]) > 0.95, part


def test_forged_trees_are_cut_short(ddsc, tmp_path):
    ddsc("generate", "gaussians", "--clusters", 5, "-o", tmp_path / "g.npz", "-q")
    ddsc("cluster", tmp_path / "g.npz", "-k", 5, "-o", tmp_path / "r", "-q")
    path = tmp_path / "r" / "result.json"
    told = json.loads(path.read_text())
    told["tree"] = [{"a": 4 + m, "b": 4 + m, "height": 0.5, "size": 9} for m in range(40)]
    path.write_text(json.dumps(told))
    said = ddsc("explain", tmp_path / "r").stdout
    assert len(said) < 20000 and "left" not in said


@pytest.mark.parametrize("away", [15, 17, 25])
def test_a_pair_on_a_faint_link_does_not_fold_the_order(ddsc, tmp_path, away):
    """A line of 2,000 items and two items next to it, to which the link is weak."""
    line = np.column_stack([np.arange(2000) + 0.01 * np.random.default_rng(1).random(2000), np.zeros(2000)])
    points = np.vstack([line, [[2000 / 3, away], [2000 / 3 + 0.5, away]]])
    ddsc("cluster", write(tmp_path / "l.npz", points[:, None]), "-k", 3, "--tau", 6, "-m", "w2", "-o", tmp_path / "r", "-q")
    with open(tmp_path / "r" / "items.csv", encoding="utf-8") as file:
        order = [int(row["order"]) for row in list(csv.DictReader(file))[:2000]]
    assert np.corrcoef(order, np.arange(2000))[0, 1] > 0.99
