"""update: one more cluster if new items form it, continued clusters, --resolve, names and classes."""
import json
from math import comb

import numpy as np
import pytest

from conftest import clouds


def make(path, groups, n, seed, named, labels=None):
    """Return n clouds of each of these groups. Group g is at (8 g, 0), and group 3 at (8, 12)."""
    rng = np.random.default_rng(seed)
    points, ids, label = [], [], []
    for g in groups:
        for i in range(n):
            center = np.array([8.0, 12.0] if g == 3 else [8.0 * g, 0.0])
            points.append(rng.normal(center, 1, (8, 2)))
            ids.append(f"{named}{g}-{i}")
            label.append(g if labels is None else labels[g])
    np.savez(path, points=np.concatenate(points), weights=rng.uniform(0.5, 1, 8 * len(ids)),
             offsets=8 * np.arange(len(ids) + 1), ids=np.array(ids), **({} if label is None else {"labels": np.array(label)}))
    return path


def result(folder):
    return json.loads((folder / "result.json").read_text())


def labels_of(folder):
    return dict(line.split(",") for line in (folder / "labels.csv").read_text().split()[1:])


def new_items(folder):
    with np.load(folder / "model.npz") as model:
        return list(model["new_items"]) if "new_items" in model else []


@pytest.fixture(scope="module")
def first(ddsc, tmp_path_factory):
    folder = tmp_path_factory.mktemp("growth")
    make(folder / "old.npz", (0, 1, 2), 40, 1, "a")
    ddsc("cluster", folder / "old.npz", "-k", 3, "-m", "lot", "-o", folder / "a")
    ddsc("name", folder / "a", "1=middle")
    return folder


def test_a_new_cluster_is_announced_once_it_has_enough_items(ddsc, first, tmp_path):
    before, numbers, k = first / "a", labels_of(first / "a"), []
    for batch in range(5):
        make(tmp_path / "new.npz", (0, 1, 2, 3), 4, 10 + batch, f"b{batch}-")
        done = ddsc("update", before, tmp_path / "new.npz", "-o", tmp_path / str(batch))
        before = tmp_path / str(batch)
        told = result(before)
        k.append(told["k"])
        assert ("K grows from 3 to 4" in done.stdout) == (k[-1] == 4 and k[-2:-1] != [4])
        now = labels_of(before)
        assert all(now[i] == numbers[i] for i in numbers), batch
    grown = k.index(4)
    assert 0 < grown and k == [3] * grown + [4] * (5 - grown)
    told = result(tmp_path / str(grown))
    (found,) = told["update"]["candidates"]
    assert found["accepted"] and found["cluster"] == 3 and found["k"] == 4
    assert found["size"] == found["new"] == 4 * (grown + 1) and found["overlap"] > 0.6
    assert told["settings"]["k"] == 4 and told["clusters"][1]["name"] == "middle"
    n, drawn = told["n"], found["size"]  # all old items are outside
    assert found["p_value"] == pytest.approx(comb(n - 120, drawn) / comb(n, drawn), rel=1e-6)
    inside = {i for i, label in labels_of(tmp_path / str(grown)).items() if label == "3"}
    assert inside == {f"b{b}-3-{i}" for b in range(grown + 1) for i in range(4)}
    # The items of an announced cluster are not new any more.
    items = [line.split(",")[0] for line in (tmp_path / str(grown) / "labels.csv").read_text().split()[1:]]
    assert {items[i] for i in new_items(tmp_path / str(grown))} == set(items[120:]) - inside


def test_k_is_kept_if_it_is_given(ddsc, first, tmp_path):
    make(tmp_path / "new.npz", (3,), 40, 5, "b")
    ddsc("update", first / "a", tmp_path / "new.npz", "-k", 3, "-o", tmp_path / "b")
    assert result(tmp_path / "b")["k"] == 3 and "candidates" not in result(tmp_path / "b")["update"]
    assert new_items(tmp_path / "b") == []
    done = ddsc("update", first / "a", tmp_path / "new.npz", "-o", tmp_path / "c")
    assert "K grows from 3 to 4" in done.stdout
    ddsc("cluster", first / "old.npz", "--like", tmp_path / "c", "-o", tmp_path / "d")
    assert result(tmp_path / "d")["k"] == 4
    # Once a result has 4 clusters, an update does not announce the fourth again.
    make(tmp_path / "more.npz", (3,), 10, 6, "c")
    told = ddsc("update", tmp_path / "c", tmp_path / "more.npz", "-o", tmp_path / "e").stdout
    assert "K grows" not in told and result(tmp_path / "e")["k"] == 4


@pytest.mark.parametrize("seed", range(3))
def test_more_of_the_same_is_not_announced(ddsc, first, tmp_path, seed):
    """Twice as many items of the same three groups, one of which is overrepresented."""
    before = first / "a"
    for batch in range(2):
        make(tmp_path / "new.npz", (0, 1, 2, 2), 15, 20 * seed + batch, f"b{batch}-")
        z = dict(np.load(tmp_path / "new.npz"))
        z["ids"] = np.array([f"b{batch}-{i}" for i in range(len(z["ids"]))])
        np.savez(tmp_path / "new.npz", **z)
        ddsc("update", before, tmp_path / "new.npz", "-o", tmp_path / str(batch))
        before = tmp_path / str(batch)
        assert result(before)["k"] == 3
    marks = new_items(before)
    assert marks == list(range(120, 240)), "all new items, which are half of the items"


def test_marks_move_with_the_items(ddsc, first, tmp_path):
    make(tmp_path / "new.npz", (0,), 5, 3, "b")
    ddsc("update", first / "a", tmp_path / "new.npz", "-o", tmp_path / "b")
    (tmp_path / "gone.txt").write_text("a0-0\nb0-1\n")
    ddsc("update", tmp_path / "b", "--remove", tmp_path / "gone.txt", "-o", tmp_path / "c")
    assert new_items(tmp_path / "c") == [119, 120, 121, 122]
    # At most half of the items are new, unless one update adds more.
    make(tmp_path / "many.npz", (0, 1, 2), 45, 4, "c")
    ddsc("update", tmp_path / "c", tmp_path / "many.npz", "-o", tmp_path / "d")
    assert new_items(tmp_path / "d") == list(range(123, 258))
    ddsc("update", tmp_path / "c", tmp_path / "many.npz", "-k", 3, "-o", tmp_path / "e")
    assert new_items(tmp_path / "e") == []


def test_clusters_continue_when_another_cut_is_as_good(ddsc, tmp_path):
    """A square of evenly spread items has several partitions with nearly the same objective."""
    rng = np.random.default_rng(2)

    def spread(path, n, name):
        centers = rng.uniform(0, 20, (n, 2))
        np.savez(path, points=np.concatenate([rng.normal(c, 1, (6, 2)) for c in centers]), weights=np.ones(6 * n),
                 offsets=6 * np.arange(n + 1), ids=np.array([f"{name}{i}" for i in range(n)]))
        return path
    ddsc("cluster", spread(tmp_path / "old.npz", 250, "a"), "-k", 5, "-m", "lot", "-o", tmp_path / "0")
    changed = 0
    for batch in range(4):
        ddsc("update", tmp_path / str(batch), spread(tmp_path / "new.npz", 10, f"{batch}-"), "-k", 5, "-o",
             tmp_path / str(batch + 1))
        before, now = labels_of(tmp_path / str(batch)), labels_of(tmp_path / str(batch + 1))
        changed += sum(before[i] != now[i] for i in before)
        assert {e["kind"] for e in result(tmp_path / str(batch + 1))["update"]["clusters"]} == {"same"}
    assert changed < 0.05 * 4 * 250


@pytest.mark.parametrize("metric", ["mmd", "lot", "sinkhorn", "w2"])
def test_resolve_equals_a_run_with_the_same_options(ddsc, tmp_path, metric):
    make(tmp_path / "old.npz", (0, 1, 2), 20, 1, "a")
    make(tmp_path / "new.npz", (0, 1, 2), 45, 2, "b")
    parts = [dict(np.load(tmp_path / f"{name}.npz")) for name in ("old", "new")]
    np.savez(tmp_path / "all.npz", offsets=8 * np.arange(196),
             **{k: np.concatenate([p[k] for p in parts]) for k in ("points", "weights", "ids", "labels")})
    options = {"mmd": ["--tau", 6], "lot": [], "sinkhorn": ["--epsilon", "7%"], "w2": ["--gamma", "median"]}[metric]
    ddsc("cluster", tmp_path / "old.npz", "-k", 3, "-m", metric, *options, "-o", tmp_path / "a")
    done = ddsc("update", tmp_path / "a", tmp_path / "new.npz", "--resolve", "-o", tmp_path / "b")
    ddsc("cluster", tmp_path / "all.npz", "-k", 3, "-m", metric, *options, "-o", tmp_path / "c")
    for name in ("graph.mtx", "eigenvalues.csv"):
        assert (tmp_path / "b" / name).read_bytes() == (tmp_path / "c" / name).read_bytes(), name
    told = {s["name"]: (s["before"], s["after"]) for s in result(tmp_path / "b")["update"]["settings"]}
    assert told["tau"] == ((6, 6) if metric == "mmd" else (8, 10)), told
    assert ("tau 8 -> 10" in done.stdout) == (metric != "mmd") and "settings" in done.stdout
    own = {"mmd": "bandwidth", "lot": "reference_size", "sinkhorn": "epsilon", "w2": "gamma"}[metric]
    assert own in told and (metric == "lot" or told[own][0] != told[own][1]), told
    # A second update chooses from the same rules.
    make(tmp_path / "more.npz", (0, 1, 2), 1, 3, "c")
    ddsc("update", tmp_path / "b", tmp_path / "more.npz", "-o", tmp_path / "d")
    ddsc("update", tmp_path / "d", tmp_path / "more.npz", "--resolve", "-o", tmp_path / "e", code=3)
    rules = [list(np.load(tmp_path / x / "model.npz")["requested_settings"]) for x in "abcd"]
    assert rules[0] == rules[1] == rules[2] == rules[3]
    assert "settings" not in result(tmp_path / "d")["update"]


def test_names_are_printed(ddsc, first, tmp_path):
    make(tmp_path / "new.npz", (0, 1, 2), 2, 7, "b")
    done = ddsc("update", first / "a", tmp_path / "new.npz", "-o", tmp_path / "b")
    line = next(x for x in done.stdout.splitlines() if x.startswith("  cluster 1"))
    assert line.startswith("  cluster 1    middle, 42 items")


def test_known_classes_are_carried_over(ddsc, tmp_path):
    old = make(tmp_path / "old.npz", (0, 1, 2), 20, 1, "a", ["left", "middle", "right"])
    ddsc("cluster", old, "-k", 3, "-m", "lot", "-o", tmp_path / "a")
    new = make(tmp_path / "new.npz", (2, 1, 3), 3, 2, "b", ["", "middle", "right", "top"])
    (tmp_path / "gone.txt").write_text("a0-0\na1-3\n")
    done = ddsc("update", tmp_path / "a", new, "--remove", tmp_path / "gone.txt", "-o", tmp_path / "b")
    told = result(tmp_path / "b")["scores"]
    assert "scores       AMI" in done.stdout and told["n"] == 67
    assert told["confusion"]["classes"] == ["left", "middle", "right", "top"]
    assert [sum(row) for row in told["confusion"]["counts"]] == [19, 22, 23, 3]
    # Items without a class do not count, and the classes survive the next update.
    bare = {k: v for k, v in clouds(1, 4, 5, 2, 9).items() if k != "labels"}
    np.savez(tmp_path / "bare.npz", ids=np.array(["x", "y", "z", "u"]), **bare)
    done = ddsc("update", tmp_path / "b", tmp_path / "bare.npz", "-o", tmp_path / "c")
    again = result(tmp_path / "c")["scores"]
    assert again["n"] == 67 and again["confusion"]["classes"] == told["confusion"]["classes"]
    assert "on the 67 items that have a class" in done.stdout


def test_classes_that_are_numbers_keep_them(ddsc, tmp_path):
    old = make(tmp_path / "old.npz", (0, 1, 2), 20, 1, "a", [7, 3, 12])
    ddsc("cluster", old, "-k", 3, "-m", "lot", "-o", tmp_path / "a")
    new = make(tmp_path / "new.npz", (0, 1), 3, 2, "b", [7, 5])
    ddsc("update", tmp_path / "a", new, "-o", tmp_path / "b")
    truth = dict(line.split(",") for line in (tmp_path / "b" / "truth.csv").read_text().split()[1:])
    assert truth["a0-1"] == "7" and truth["a2-19"] == "12" and truth["b1-2"] == "5"
    assert result(tmp_path / "b")["scores"]["confusion"]["classes"] == ["3", "5", "7", "12"]
    # Without classes in the old result, there are none in the new one.
    plain = {k: v for k, v in np.load(old).items() if k != "labels"}
    np.savez(tmp_path / "plain.npz", **plain)
    ddsc("cluster", tmp_path / "plain.npz", "-k", 3, "-m", "lot", "-o", tmp_path / "c")
    ddsc("update", tmp_path / "c", new, "-o", tmp_path / "d")
    assert not (tmp_path / "d" / "truth.csv").exists()
