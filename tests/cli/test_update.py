"""cluster --like, which repeats the settings of a result."""
import json

import numpy as np
import pytest

from conftest import clouds

METRICS = ["w2", "mmd", "lot", "sinkhorn"]


def save(path, sizes, seed, named="item", weighted=True):
    """Three groups of clouds with weights of many digits."""
    arrays = clouds(3, sizes, 12, 2, seed)
    n, rng = len(arrays["offsets"]) - 1, np.random.default_rng(seed)
    if weighted:
        arrays["weights"] = rng.uniform(0.1, 1, len(arrays["points"]))
    arrays["ids"] = np.array([f"{named}{i}" for i in range(n)])
    np.savez(path, **{k: v for k, v in arrays.items() if k != "labels"})
    return path


def joined(path, *parts):
    """The items of several files as one file."""
    z = [dict(np.load(p)) for p in parts]
    starts = np.cumsum([0] + [len(a["points"]) for a in z])
    offsets = [a["offsets"][:-1] + s for a, s in zip(z, starts)] + [[starts[-1]]]
    np.savez(path, offsets=np.concatenate(offsets),
             **{k: np.concatenate([a[k] for a in z]) for k in ("points", "weights", "ids")})
    return path


@pytest.fixture(scope="module")
def sets(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sets")
    old, new = save(folder / "old.npz", 30, 1), save(folder / "new.npz", 4, 2, "new")
    return old, new, joined(folder / "all.npz", old, new)


@pytest.mark.parametrize("metric", METRICS)
def test_like_repeats_a_run(ddsc, sets, tmp_path, metric):
    old, _, every = sets
    ddsc("cluster", old, "-k", 3, "-m", metric, "--arcsinh", 5, "-o", tmp_path / "a")
    ddsc("cluster", old, "--like", tmp_path / "a", "-o", tmp_path / "b")
    for name in ("graph.mtx", "labels.csv", "embedding.npy", "eigenvalues.csv"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes(), name
    ddsc("cluster", every, "--like", tmp_path / "a" / "model.npz", "-o", tmp_path / "c")
    told = json.loads((tmp_path / "c" / "result.json").read_text())
    assert told["k"] == 3 and told["settings"]["metric"] == metric and told["settings"]["hubs"] == "off"


def test_values_of_old_pairs_are_the_same(ddsc, sets, tmp_path):
    """Weights with many digits: their sums must not depend on the other items."""
    old, _, every = sets
    for metric in METRICS:
        where = tmp_path / metric
        ddsc("cluster", old, "-k", 3, "-m", metric, "-o", where / "a")
        ddsc("cluster", every, "--like", where / "a", "-o", where / "b")
        pairs = [{tuple(line.split()[:2]): line.split()[2] for line in
                  (where / x / "graph.mtx").read_text().splitlines()[3:]} for x in "ab"]
        common = pairs[0].keys() & pairs[1].keys()
        assert len(common) > 300
        assert all(pairs[0][p] == pairs[1][p] for p in common)


def test_like_is_refused(ddsc, sets, tmp_path):
    old = sets[0]
    ddsc("cluster", old, "-k", 3, "-o", tmp_path / "a")
    assert "--metric cannot be combined with --like" in ddsc(
        "cluster", old, "--like", tmp_path / "a", "-m", "mmd", code=2).stderr
    assert "-k auto cannot be combined" in ddsc(
        "cluster", old, "--like", tmp_path / "a", "-k", "auto", code=2).stderr
    assert "cannot open" in ddsc("cluster", old, "--like", tmp_path / "none", code=3).stderr
    plane = tmp_path / "plane.npz"
    np.savez(plane, **{k: v for k, v in clouds(2, 5, 6, 3, 1).items() if k != "labels"})
    assert "3 coordinates" in ddsc("cluster", plane, "--like", tmp_path / "a", code=3).stderr
    assert "same file as the input" in ddsc("cluster", old, "--like", tmp_path / "a", "-o",
                                            tmp_path / "a", "--force", code=2).stderr


def test_models_of_earlier_versions_lack_settings(ddsc, sets, tmp_path):
    ddsc("cluster", sets[0], "-k", 3, "-o", tmp_path / "a")
    arrays = dict(np.load(tmp_path / "a" / "model.npz"))
    for name in ("run_settings", "graph_offsets", "graph_indices", "graph_d2"):
        del arrays[name]
    np.savez(tmp_path / "old.npz", **arrays)
    told = ddsc("cluster", sets[0], "--like", tmp_path / "old.npz", code=3).stderr
    assert "version 0.2.0, which did not store all settings" in told
    ddsc("assign", tmp_path / "old.npz", sets[1])


# ---- ddsc update ----

SAME = ("graph.mtx", "eigenvalues.csv")


def changed(path, old, gone, new):
    """Return a file with the items of `old` without `gone`, followed by those of `new`."""
    z = dict(np.load(old))
    keep = [i for i, name in enumerate(z["ids"]) if name not in gone]
    parts = [slice(*z["offsets"][i:i + 2]) for i in keep]
    left = path.with_name("left.npz")
    np.savez(left, ids=z["ids"][keep], offsets=np.cumsum([0] + [p.stop - p.start for p in parts]),
             points=np.concatenate([z["points"][p] for p in parts]),
             weights=np.concatenate([z["weights"][p] for p in parts]))
    return joined(path, left, new)


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Sets with more items than those for which all distances are computed."""
    folder = tmp_path_factory.mktemp("large")
    return save(folder / "old.npz", 75, 3), save(folder / "new.npz", 6, 4, "new")


@pytest.mark.parametrize("metric", [*METRICS, "w1"])
@pytest.mark.parametrize("hubs", ["off", "always"])
def test_update_equals_a_run_like_the_old_one(ddsc, large, tmp_path, metric, hubs):
    old, new = large
    gone = ["item3", "item80", "item224"]
    (tmp_path / "gone.txt").write_text("\n".join(gone) + "\n")
    whole = changed(tmp_path / "whole.npz", old, gone, new)
    ddsc("cluster", old, "-k", 3, "-m", metric, "--hubs", hubs, "--arcsinh", 5, "-o", tmp_path / "a")
    ddsc("update", tmp_path / "a", new, "--remove", tmp_path / "gone.txt", "-o", tmp_path / "b")
    ddsc("cluster", whole, "--like", tmp_path / "a", "-o", tmp_path / "c")
    for name in SAME:
        assert (tmp_path / "b" / name).read_bytes() == (tmp_path / "c" / name).read_bytes(), name
    b, c = ((tmp_path / x / "labels.csv").read_text().splitlines() for x in "bc")
    assert [line.split(",")[0] for line in b] == [line.split(",")[0] for line in c]
    told = json.loads((tmp_path / "b" / "result.json").read_text())
    assert told["update"]["added"] == 18 and told["update"]["removed"] == 3
    assert told["unused_numbers"] == []
    searched = told["update"]["lists_searched"]
    assert 18 < searched <= (told["n"] if hubs == "always" else told["n"] / 2)  # the hub rule rescales old items


def test_updates_one_after_another(ddsc, large, tmp_path):
    """Inserts and removals in several steps, with any number of threads, give the same bytes."""
    old, new = large
    z = dict(np.load(new))
    ddsc("cluster", old, "-k", 3, "-o", tmp_path / "0")
    for i in range(3):
        part = slice(i * 6, i * 6 + 6)
        at = z["offsets"][i * 6:i * 6 + 7]
        np.savez(tmp_path / "part.npz", ids=z["ids"][part], offsets=at - at[0],
                 points=z["points"][at[0]:at[-1]], weights=z["weights"][at[0]:at[-1]])
        ddsc("update", tmp_path / str(i), tmp_path / "part.npz", "-o", tmp_path / str(i + 1), "--threads", 1 + i)
    (tmp_path / "gone.txt").write_bytes(b"\xef\xbb\xbfitem7\r\n\r\nnew2\r\n")
    ddsc("update", tmp_path / "3", "--remove", tmp_path / "gone.txt", "-o", tmp_path / "3", "--force")
    whole = joined(tmp_path / "all.npz", old, new)
    final = changed(tmp_path / "final.npz", whole, ["item7", "new2"], save(tmp_path / "x.npz", 1, 9, "x"))
    (tmp_path / "x.txt").write_text("x0\nx1\nx2\n")
    ddsc("update", tmp_path / "0", new, "-o", tmp_path / "all")
    ddsc("cluster", final, "--like", tmp_path / "0", "-o", tmp_path / "f")
    ddsc("update", tmp_path / "f", "--remove", tmp_path / "x.txt", "-o", tmp_path / "g")
    for name in SAME:
        assert (tmp_path / "3" / name).read_bytes() == (tmp_path / "g" / name).read_bytes(), name


def test_numbers_of_removed_items_are_not_used_again(ddsc, large, tmp_path):
    def unnamed(name, source):
        np.savez(tmp_path / name, **{k: v for k, v in np.load(source).items() if k != "ids"})
        return tmp_path / name

    def ids(folder):
        return [line.split(",")[0] for line in (tmp_path / folder / "labels.csv").read_text().splitlines()[1:]]

    old, new = unnamed("old.npz", large[0]), unnamed("new.npz", large[1])
    ddsc("cluster", old, "-k", 3, "-m", "lot", "-o", tmp_path / "a")
    n, n_new = len(ids("a")), len(np.load(new)["offsets"]) - 1
    (tmp_path / "gone.txt").write_text(f"{n - 2}\n{n - 1}\n")
    ddsc("update", tmp_path / "a", "--remove", tmp_path / "gone.txt", "-o", tmp_path / "b")
    (tmp_path / "gone.txt").write_text("0\n")
    ddsc("update", tmp_path / "b", "--remove", tmp_path / "gone.txt", "-o", tmp_path / "c")
    ddsc("update", tmp_path / "c", new, "-o", tmp_path / "d")
    assert ids("c") == [str(i) for i in range(1, n - 2)]
    assert ids("d")[n - 3:] == [str(n + i) for i in range(n_new)]


def picked(path, source, order):
    """The items of a file in another order."""
    z = dict(np.load(source))
    parts = [slice(*z["offsets"][i:i + 2]) for i in order]
    np.savez(path, ids=z["ids"][order], offsets=np.cumsum([0] + [p.stop - p.start for p in parts]),
             points=np.concatenate([z["points"][p] for p in parts]),
             weights=np.concatenate([z["weights"][p] for p in parts]))
    return path


def labels_of(folder):
    return dict(line.split(",") for line in (folder / "labels.csv").read_text().split()[1:])


def test_clusters_keep_number_and_name(ddsc, large, tmp_path):
    """Without item0, a run would give the number 0 to another cluster."""
    old = picked(tmp_path / "old.npz", large[0], np.r_[0, 75:225, 1:75])
    ddsc("cluster", old, "-k", 3, "-o", tmp_path / "a")
    ddsc("name", tmp_path / "a", "0=first", "2=third")
    (tmp_path / "gone.txt").write_text("item0")
    done = ddsc("update", tmp_path / "a", large[1], "--remove", tmp_path / "gone.txt", "-o", tmp_path / "b")
    told = json.loads((tmp_path / "b" / "result.json").read_text())
    before, now = labels_of(tmp_path / "a"), labels_of(tmp_path / "b")
    assert all(now[i] == before[i] for i in before if i != "item0") and now["item75"] == "1"
    assert {e["kind"] for e in told["update"]["clusters"]} == {"same"}
    assert [c.get("name") for c in told["clusters"]] == ["first", None, "third"]
    assert "3 clusters keep their number" in done.stdout
    assert "third" in (tmp_path / "b" / "report.html").read_text()


def test_a_vanished_cluster_leaves_an_unused_number(ddsc, large, tmp_path):
    old, _ = large
    ddsc("cluster", old, "-k", 3, "-o", tmp_path / "a")
    labels = [line.split(",") for line in (tmp_path / "a" / "labels.csv").read_text().split()[1:]]
    (tmp_path / "gone.txt").write_text("\n".join(i for i, label in labels if label == "1"))
    ddsc("update", tmp_path / "a", "--remove", tmp_path / "gone.txt", "-k", 2, "-o", tmp_path / "b")
    told = json.loads((tmp_path / "b" / "result.json").read_text())
    assert told["unused_numbers"] == [1]
    assert {e["kind"] for e in told["update"]["clusters"]} == {"same", "vanished"}
    assert "168 items in 2 clusters" in ddsc("update", tmp_path / "b", large[1], "-o", tmp_path / "c").stdout
    for verb in (("report",), ("explain",)):
        ddsc(*verb, tmp_path / "b", *(("-o", tmp_path / "page.html") if verb == ("report",) else ()))
    again = json.loads((tmp_path / "c" / "result.json").read_text())
    assert again["unused_numbers"] == [1] and again["update"]["kept"] == 150
    ddsc("assign", tmp_path / "b" / "model.npz", large[1])


def test_what_update_refuses(ddsc, large, tmp_path):
    old, new = large
    gone = tmp_path / "gone.txt"
    ddsc("cluster", old, "-k", 3, "-o", tmp_path / "a")
    before = {p.name: p.read_bytes() for p in (tmp_path / "a").iterdir()}

    def refused(*words, code=3):
        return ddsc("update", tmp_path / "a", *words, code=code).stderr

    assert 'the id "item0" is already in the model' in refused(old, "-o", tmp_path / "b")
    twice = joined(tmp_path / "twice.npz", new, new)
    assert "new0" in refused(twice, "-o", tmp_path / "b")
    plane = tmp_path / "plane.npz"
    np.savez(plane, **{k: v for k, v in clouds(2, 5, 6, 3, 1).items() if k != "labels"})
    assert "3 coordinates" in refused(plane, "-o", tmp_path / "b")
    empty = dict(np.load(new))
    empty["weights"][empty["offsets"][2]:empty["offsets"][3]] = 0
    np.savez(tmp_path / "empty.npz", **empty)
    assert "new2" in refused(tmp_path / "empty.npz", "-o", tmp_path / "b")
    gone.write_text("item1\nnobody\n")
    assert f'{gone}: line 2: the result has no item with the id "nobody"' in refused(
        "--remove", gone, "-o", tmp_path / "b")
    gone.write_text("item1\nitem1\n")
    assert "line 2: repeated id" in refused("--remove", gone, "-o", tmp_path / "b")
    gone.write_bytes(b"item1\0\nitem2\n")
    assert "contains a zero byte" in refused("--remove", gone, "-o", tmp_path / "b")
    gone.write_text("\n".join(f"item{i}" for i in range(220)))
    assert "remove fewer items" in refused("--remove", gone, "-o", tmp_path / "b")
    assert "cannot be read" in refused("--remove", tmp_path / "none", "-o", tmp_path / "b")
    assert "use --force to replace it" in refused(new, "-o", tmp_path / "a", code=2)
    assert "nothing to update" in refused("-o", tmp_path / "b", code=2)
    assert "output folder is missing" in refused(new, code=2)
    assert "-k auto cannot be used" in refused(new, "-k", "auto", "-o", tmp_path / "b", code=2)
    assert not (tmp_path / "b").exists()
    assert before == {p.name: p.read_bytes() for p in (tmp_path / "a").iterdir()}
    arrays = dict(np.load(tmp_path / "a" / "model.npz"))
    arrays["graph_indices"][5] = arrays["graph_indices"][4]
    np.savez(tmp_path / "a" / "model.npz", **arrays)
    assert "the model is damaged" in refused(new, "-o", tmp_path / "b")
    for name in ("run_settings", "graph_offsets", "graph_indices", "graph_d2"):
        del arrays[name]
    np.savez(tmp_path / "a" / "model.npz", **arrays)
    assert "stored neither the neighbor lists nor all settings" in refused(new, "-o", tmp_path / "b")


def test_a_failed_update_loses_nothing(ddsc, large, tmp_path):
    old, new = large
    ddsc("cluster", old, "-k", 3, "-o", tmp_path / "a")
    before = {p.name: p.read_bytes() for p in (tmp_path / "a").iterdir()}
    ddsc("update", tmp_path / "a", new, "-o", tmp_path / "a", "--force", "--memory", "3M", code=5)
    assert before == {p.name: p.read_bytes() for p in (tmp_path / "a").iterdir()}
    ddsc("update", tmp_path / "a", new, "-o", tmp_path / "a", "--force")
    assert len((tmp_path / "a" / "labels.csv").read_text().splitlines()) == 244


def test_documents(ddsc, tmp_path):
    """New documents are encoded with the words of the result."""
    rng = np.random.default_rng(3)
    words = [[f"{topic}{k}" for k in range(30)] for topic in ("bank", "sport", "film")]

    def write(name, first, n):
        lines = [f"d{i}\t" + " ".join(rng.choice(words[i % 3], 20)) for i in range(first, first + n)]
        (tmp_path / name).write_text("id\ttext\n" + "\n".join(lines) + "\n")
        return lines

    a, b = write("old.tsv", 0, 240), write("new.tsv", 240, 12)
    (tmp_path / "all.tsv").write_text("id\ttext\n" + "\n".join(a + b) + "\n")
    ddsc("text", tmp_path / "old.tsv", "-o", tmp_path / "old.npz")
    ddsc("cluster", tmp_path / "old.npz", "-k", 3, "--hubs", "off", "-o", tmp_path / "a")
    for name in ("new", "all"):
        ddsc("text", tmp_path / f"{name}.tsv", "--like", tmp_path / "a", "-o", tmp_path / f"{name}.npz")
    ddsc("update", tmp_path / "a", tmp_path / "new.npz", "-o", tmp_path / "b")
    ddsc("cluster", tmp_path / "all.npz", "--like", tmp_path / "a", "-o", tmp_path / "c")
    for name in SAME:
        assert (tmp_path / "b" / name).read_bytes() == (tmp_path / "c" / name).read_bytes(), name
    ddsc("text", tmp_path / "new.tsv", "-o", tmp_path / "other.npz")
    told = ddsc("update", tmp_path / "a", tmp_path / "other.npz", "-o", tmp_path / "d", code=3).stderr
    assert "not fitted to the documents of the model" in told or "those of the model" in told
    assert "choose one" in ddsc("text", tmp_path / "new.tsv", "--like", tmp_path / "a", "--vectors", "x", "-o",
                                tmp_path / "y.npz", code=2).stderr
