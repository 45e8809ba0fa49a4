"""What each cluster is: words and coordinates, in result.json, in the lines for people and on the page."""
import csv
import gzip
import json
import os
import random
import struct

import numpy as np
import pytest

TOPICS = {"sea": "ship sail harbour wave anchor", "farm": "cow barn tractor harvest field",
          "city": "tram street office tower crowd"}


def clusters_of(folder):
    return json.loads((folder / "result.json").read_text())["clusters"]


@pytest.fixture(scope="module")
def documents(tmp_path_factory):
    rng = random.Random(5)
    path = tmp_path_factory.mktemp("docs") / "docs.tsv"
    lines = ["label\ttext"]
    for k in range(60):
        topic = list(TOPICS)[k % 3]
        words = rng.choices(TOPICS[topic].split(), k=14) + rng.choices("the of and with it said".split(), k=8)
        rng.shuffle(words)
        lines.append(f"{topic}\t{' '.join(words)}")
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("support", [0, 4])
def test_words_name_their_topic(ddsc, documents, tmp_path, support):
    """Whole documents, and documents merged down to a few points, whose names are joined."""
    ddsc("text", documents, "--support", support, "-o", tmp_path / "t.npz", "-q")
    done = ddsc("cluster", tmp_path / "t.npz", "-k", 3, "-o", tmp_path / "r")
    truth = [line.split("\t")[0] for line in documents.read_text().splitlines()[1:]]
    labels = [int(line.rsplit(",", 1)[1]) for line in (tmp_path / "r" / "labels.csv").read_text().splitlines()[1:]]
    page = (tmp_path / "r" / "report.html").read_text()
    for cluster in clusters_of(tmp_path / "r"):
        topics = {t for t, label in zip(truth, labels) if label == cluster["label"]}
        assert len(topics) == 1
        words = [w["word"] for w in cluster["words"]][:5]
        assert set(words) == set(TOPICS[topics.pop()].split())
        assert ", ".join(words) in done.stdout and ", ".join(words) in page
        for w in cluster["words"]:
            assert w["share"] > w["elsewhere"] >= 0 and 1 < w["items"] <= cluster["size"]


def test_words_that_move_by_transport(ddsc, documents, tmp_path):
    """Against linear programming: the same least work, carried by the words named."""
    optimize = pytest.importorskip("scipy.optimize")
    ddsc("text", documents, "--support", 0, "-o", tmp_path / "t.npz", "-q")
    ddsc("cluster", tmp_path / "t.npz", "-k", 3, "-o", tmp_path / "r", "-q")
    z = np.load(tmp_path / "t.npz")
    labels = np.loadtxt(tmp_path / "r" / "labels.csv", delimiter=",", skiprows=1, usecols=1, dtype=int)
    share = np.zeros((len(labels), len(z["point_names"])))
    for i in range(len(labels)):
        part = slice(z["offsets"][i], z["offsets"][i + 1])
        np.add.at(share[i], z["indices"][part], z["weights"][part] / z["weights"][part].sum())
    names = list(z["point_names"])
    for cluster in clusters_of(tmp_path / "r"):
        own = labels == cluster["label"]
        off = share[own].mean(axis=0) - share[~own].mean(axis=0)
        more, less = np.flatnonzero(off > 1e-12), np.flatnonzero(off < -1e-12)
        cost = np.linalg.norm(z["support"][more][:, None] - z["support"][less][None], axis=2)
        rows = np.kron(np.eye(len(more)), np.ones(len(less)))
        columns = np.kron(np.ones(len(more)), np.eye(len(less)))
        told = optimize.linprog(cost.ravel(), A_eq=np.vstack([rows, columns]),
                                b_eq=np.r_[off[more] / off[more].sum(), off[less] / off[less].sum()])
        carried = dict(zip((names[p] for p in more), (told.x.reshape(cost.shape) * cost).sum(axis=1) / told.fun))
        assert 0 < len(cluster["moves"]) <= 6
        for move in cluster["moves"]:
            assert move["mass"] == pytest.approx(off[names.index(move["word"])], rel=1e-9)
            assert names.index(move["to"]) in less
        assert sum(m["share"] for m in cluster["moves"]) <= 1 + 1e-9
        assert sum(carried[m["word"]] for m in cluster["moves"]) == pytest.approx(
            sum(m["share"] for m in cluster["moves"]), abs=0.05)
    told = ddsc("explain", tmp_path / "r").stdout
    assert " -> " in told and "moves: " in told and "moves: " in (tmp_path / "r" / "report.html").read_text()


def test_moves_do_not_depend_on_the_order_of_documents(ddsc, documents, tmp_path):
    """Merged points hold several words, whose places are means over all of them."""
    head, *lines = documents.read_text().splitlines()
    told = []
    for name, rows in (("a", lines), ("b", lines[::-1])):
        (tmp_path / f"{name}.tsv").write_text("\n".join([head, *rows]) + "\n")
        ddsc("text", tmp_path / f"{name}.tsv", "--support", 4, "-o", tmp_path / f"{name}.npz", "-q")
        ddsc("cluster", tmp_path / f"{name}.npz", "-k", 3, "-o", tmp_path / name, "-q")
        told.append({tuple(sorted(w["word"] for w in c["words"][:5])): {m["word"]: m["share"] for m in c["moves"]}
                     for c in clusters_of(tmp_path / name)})
    assert told[0].keys() == told[1].keys()
    for words, moves in told[0].items():
        other = told[1][words]
        last = max(min(moves.values()), min(other.values()))  # words that nearly tie for the last row may be on one list only
        for word in moves.keys() | other.keys():
            assert moves.get(word, last) == pytest.approx(other.get(word, last), abs=0.05)


def test_words_alike_everywhere_are_no_sign(ddsc, tmp_path):
    names = np.array(["boat", "car", "of", "the"])
    rows = [[0, 2, 3] if i % 2 else [1, 2, 3] for i in range(40)]
    np.savez(tmp_path / "w.npz", support=np.array([[0.0, 0], [9, 0], [4, 1], [5, 1]]), indices=np.concatenate(rows).astype(np.int32),
             weights=np.ones(120), offsets=np.arange(0, 121, 3), point_names=names)
    ddsc("cluster", tmp_path / "w.npz", "-k", 2, "-o", tmp_path / "r", "-q")
    for cluster in clusters_of(tmp_path / "r"):
        assert len(cluster["words"]) == 1 and len(cluster["moves"]) == 1
        assert {cluster["moves"][0]["word"], cluster["moves"][0]["to"]} == {"boat", "car"}


@pytest.mark.parametrize("cost, near, far", [("sqeuclidean", np.hypot(9, 0.9), np.hypot(1.5, 0.9)), ("cosine", 0, 1), ("cityblock", 9.9, 2.4)])
def test_moves_go_by_the_costs_of_the_run(ddsc, tmp_path, cost, near, far):
    """From `turned` it is no way to `near` by direction; by place the ways are these."""
    names = np.array(["turned", "near", "far", "base"])
    rows = [[0, 3] if i % 2 else [1, 2, 3] for i in range(40)]
    np.savez(tmp_path / "w.npz", support=np.array([[1.0, 0.1], [10, 1], [-0.5, 1.0], [0.1, 5]]),
             indices=np.concatenate(rows).astype(np.int32), weights=np.concatenate([np.r_[[6 / (len(r) - 1)] * (len(r) - 1), 1] for r in rows]),
             offsets=np.cumsum([0, *map(len, rows)]), point_names=names)
    metric = ["-m", "w1", "--cost", cost] if cost == "cityblock" else ["-m", "w2", "--cost", cost]
    ddsc("cluster", tmp_path / "w.npz", "-k", 2, *metric, "-o", tmp_path / "r", "-q")
    moves = {m["word"]: m for c in clusters_of(tmp_path / "r") for m in c["moves"]}
    # what `near` and `far` have is all `turned`'s, so both shares are their ways
    assert moves["near"]["share"] / moves["far"]["share"] == pytest.approx(near / far, rel=1e-6, abs=1e-6)


def test_clusters_without_moves_say_so(ddsc, tmp_path):
    n = 104
    points = np.array([[i % 13 * 10.0, i // 13 * 10.0] for i in range(n)])
    index = np.repeat(np.arange(n), 3)
    np.savez(tmp_path / "w.npz", support=points, indices=index.astype(np.int32), weights=np.ones(3 * n),
             offsets=np.arange(3 * n + 1), point_names=np.array([f"w{i}" for i in range(n)]))
    ddsc("cluster", tmp_path / "w.npz", "-k", n, "--tau", 2, "-o", tmp_path / "r", "-q")
    told = [("moves" in c, c.get("moves_left_out")) for c in clusters_of(tmp_path / "r")]
    assert told == [(True, None)] * 100 + [(False, True)] * (n - 100)
    assert ddsc("explain", tmp_path / "r").stdout.count("computed only for") == n - 100
    assert (tmp_path / "r" / "report.html").read_text().count("Moves were not computed") == n - 100


def test_shares_are_means_over_items(ddsc, documents, tmp_path):
    ddsc("text", documents, "--support", 0, "-o", tmp_path / "t.npz", "-q")
    ddsc("cluster", tmp_path / "t.npz", "-k", 3, "-o", tmp_path / "r", "-q")
    z = np.load(tmp_path / "t.npz")
    labels = np.loadtxt(tmp_path / "r" / "labels.csv", delimiter=",", skiprows=1, usecols=1, dtype=int)
    for cluster in clusters_of(tmp_path / "r"):
        for w in cluster["words"]:
            point = list(z["point_names"]).index(w["word"])
            share = np.zeros(len(labels))
            for i in range(len(labels)):
                part = slice(z["offsets"][i], z["offsets"][i + 1])
                share[i] = z["weights"][part][z["indices"][part] == point].sum() / z["weights"][part].sum()
            own = labels == cluster["label"]
            assert w["share"] == pytest.approx(share[own].mean(), rel=1e-9)
            assert w["elsewhere"] == pytest.approx(share[~own].mean(), rel=1e-9, abs=1e-12)
            assert w["items"] == (share[own] > 0).sum()


def write_table(path, names, of, n=20, points=30):
    rows = [f"id,{','.join(names)}"]
    for i in range(n):
        for x in of(i, points):
            rows.append(f"i{i}," + ",".join(f"{v:.17g}" for v in x))
    path.write_text("\n".join(rows) + "\n")


def test_markers_with_direction_and_size(ddsc, tmp_path):
    """CD20 lies two spreads higher in one half of the items; CD3 has another unit and tells nothing."""
    rng = np.random.default_rng(2)
    write_table(tmp_path / "cells.csv", ["CD3", "CD20", "pS6"],
                lambda i, n: rng.normal(size=(n, 3)) * [10, 1, 1] + [0, 25 * (i % 2), -2 * (i % 2)])
    done = ddsc("cluster", tmp_path / "cells.csv", "-k", 2, "-o", tmp_path / "r")
    clusters = clusters_of(tmp_path / "r")
    z = np.genfromtxt(tmp_path / "cells.csv", delimiter=",", skip_header=1, usecols=(1, 2, 3))
    labels = np.loadtxt(tmp_path / "r" / "labels.csv", delimiter=",", skiprows=1, usecols=1, dtype=int).repeat(30)
    stats = pytest.importorskip("scipy.stats")
    for cluster in clusters:
        assert [m["name"] for m in cluster["markers"]] == ["CD20", "pS6", "CD3"]
        own = labels == cluster["label"]
        for m in cluster["markers"]:
            x = z[:, m["coordinate"]]
            want = stats.wasserstein_distance(x[own], x[~own]) / x.std()
            assert abs(m["effect"]) == pytest.approx(want, rel=1e-9)
            assert np.sign(m["effect"]) == np.sign(x[own].mean() - x[~own].mean())
            assert m["mean"] == pytest.approx(x[own].mean()) and m["elsewhere"] == pytest.approx(x[~own].mean())
    assert "CD20 +" in done.stdout and "CD20 -" in done.stdout


def test_names_are_data_on_the_page(ddsc, tmp_path):
    rng = np.random.default_rng(2)
    write_table(tmp_path / "a.csv", ["<script>alert(1)</script>", "y"],
                lambda i, n: rng.normal(size=(n, 2)) + [9 * (i % 2), 0])
    ddsc("cluster", tmp_path / "a.csv", "-k", 2, "-o", tmp_path / "r")
    page = (tmp_path / "r" / "report.html").read_text()
    assert "<script>alert" not in page and "&lt;script&gt;alert" in page


def test_nothing_to_say(ddsc, tmp_path):
    """One cluster, as many clusters as items, a coordinate with one value: no empty words, no NaN."""
    write_table(tmp_path / "a.csv", ["x", "y"], lambda i, n: np.c_[np.arange(n) + i, np.zeros(n)], n=6)
    for k in (1, 6):
        ddsc("cluster", tmp_path / "a.csv", "-k", k, "-o", tmp_path / "r", "-f")
        assert all("markers" not in c for c in clusters_of(tmp_path / "r"))
    ddsc("cluster", tmp_path / "a.csv", "-k", 2, "-o", tmp_path / "r", "-f")
    assert all([m["name"] for m in c["markers"]] == ["x"] for c in clusters_of(tmp_path / "r"))


def test_a_saved_result_tells_the_same(ddsc, documents, tmp_path):
    ddsc("text", documents, "-o", tmp_path / "t.npz", "-q")
    ddsc("cluster", tmp_path / "t.npz", "-k", 3, "-o", tmp_path / "r", "-q")
    ddsc("report", tmp_path / "r", "-o", tmp_path / "again.html")
    assert 'class="traits"' in (tmp_path / "again.html").read_text()


@pytest.mark.parametrize("name,classes", [
    ("bbc", {"business": "shares economy growth oil profits", "tech": "microsoft internet mobile web net",
             "entertainment": "film awards oscar actor star", "politics": "election blair labour",
             "sport": "cup england chelsea injury"}),
    ("bbcsport", {"athletics": "indoor olympic doping holmes", "cricket": "pakistan test cricket india",
                  "football": "chelsea liverpool manchester arsenal", "rugby": "rugby nations six wales",
                  "tennis": "tennis open roddick henman"})])
def test_real_documents(ddsc, data_dir, tmp_path, name, classes):
    """At least two of the top six words of a cluster are words of its class."""
    text = data_dir / "text"
    ddsc("text", text / f"{name}.tsv.gz", "--vectors", text / "glove.6B.100d.subset.txt.gz", "-o",
         tmp_path / "t.npz", "-q")
    ddsc("cluster", tmp_path / "t.npz", "-k", 5, "-m", "mmd" if name == "bbc" else "w2", "-o", tmp_path / "r", "-q")
    told = json.loads((tmp_path / "r" / "result.json").read_text())
    table = told["scores"]["confusion"]
    for c, cluster in enumerate(told["clusters"]):
        counts = [row[c] for row in table["counts"]]
        main = table["classes"][counts.index(max(counts))]
        words = [w["word"] for w in cluster["words"]][:6]
        assert len(set(words) & set(classes[main].split())) >= 2, (main, words)


def test_real_cells(ddsc, data_dir, tmp_path):
    """The published table as it is: stimulated against reference, told by CD20 and signalling markers."""
    table = data_dir / "cytometry" / "pbmc8-bcrxl.tsv.gz"
    lines = gzip.open(table, "rt").read().splitlines()
    (tmp_path / "part.tsv").write_text("\n".join([lines[0], *lines[1::40]]) + "\n")
    ddsc("cluster", tmp_path / "part.tsv", "--id", "sample", "--label", "condition", "--drop", "patient",
         "--arcsinh", 5, "-k", 2, "-m", "mmd", "-o", tmp_path / "r", "-q")
    told = json.loads((tmp_path / "r" / "result.json").read_text())
    assert told["scores"]["ami"] > 0.5
    names = {m["name"] for m in told["clusters"][0]["markers"]}
    assert len(names & {"pBtk", "pS6", "pNFkB", "pp38", "pSlp76", "CD20"}) >= 4


def test_titles_stand_on_the_cards(ddsc, documents, tmp_path):
    lines = documents.read_text().splitlines()
    titled = [lines[0] + "\ttitle"] + [f"{line}\tStory <{k}>" for k, line in enumerate(lines[1:])]
    (tmp_path / "t.tsv").write_text("\n".join(titled) + "\n")
    ddsc("text", tmp_path / "t.tsv", "-o", tmp_path / "t.npz", "-q")
    ddsc("cluster", tmp_path / "t.npz", "-k", 3, "-o", tmp_path / "r", "-q")
    page = (tmp_path / "r" / "report.html").read_text()
    for cluster in clusters_of(tmp_path / "r"):
        for item in cluster["representatives"]:
            assert item["title"] == f"Story <{item['id']}>" and f"Story &lt;{item['id']}&gt;" in page


def test_a_line_for_every_item(ddsc, tmp_path):
    """Next cluster, ambiguity, neighbors as in the graph; the item far from all has the largest score."""
    rng = np.random.default_rng(4)
    write_table(tmp_path / "a.csv", ["x", "y"],
                lambda i, n: rng.normal(size=(n, 2)) * 0.1 + [9 * (i % 2), 40 if i == 7 else 0.1 * i])
    ddsc("cluster", tmp_path / "a.csv", "-k", 2, "-o", tmp_path / "r")
    ddsc("distance", tmp_path / "a.csv", "-o", tmp_path / "d.npy")
    with open(tmp_path / "r" / "items.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    labels = (tmp_path / "r" / "labels.csv").read_text().splitlines()[1:]
    assert [f"{r['id']},{r['label']}" for r in rows] == labels
    distance = np.load(tmp_path / "d.npy")
    scores = [float(r["outlier"]) for r in rows]
    assert int(np.argmax(scores)) == 7 and scores[7] > 3
    for i, r in enumerate(rows):
        near = np.sort(np.delete(distance[i], i))[:3]
        assert [float(r[f"distance{k}"]) for k in (1, 2, 3)] == pytest.approx(near, rel=1e-9)
        assert distance[i, int(r["neighbor1"][1:])] == pytest.approx(near[0], rel=1e-9)
        assert r["next"] != r["label"] and 0 <= float(r["ambiguity"]) <= 0.5


def test_scores_tell_how_many_items_they_are_of(ddsc, tmp_path):
    rng = np.random.default_rng(4)
    write_table(tmp_path / "a.csv", ["x"], lambda i, n: rng.normal(size=(n, 1)) + 9 * (i % 2))
    (tmp_path / "t.csv").write_text("id,label\n" + "".join(f"i{i},{i % 2 if i < 12 else -1}\n" for i in range(20)))
    said = ddsc("cluster", tmp_path / "a.csv", "-k", 2, "--truth", tmp_path / "t.csv", "-o", tmp_path / "r").stdout
    assert "on the 12 items that have a class" in said


def test_planar_items_have_a_mean_picture(ddsc, tmp_path):
    """Mean and difference of images against a plain computation; terminal, pictures and left-out items."""
    rng = np.random.default_rng(0)
    images = rng.integers(0, 60, (40, 9, 7)) * (rng.random((40, 9, 7)) < 0.3)
    images[::2, :4] += rng.integers(80, 190, (20, 4, 7))
    images[1::2, 5:] += rng.integers(80, 190, (20, 4, 7))
    (tmp_path / "i.idx").write_bytes(struct.pack(">BBBBIII", 0, 0, 8, 3, *images.shape) + images.astype(np.uint8).tobytes())
    ddsc("cluster", tmp_path / "i.idx", "-k", 2, "-m", "mmd", "-o", tmp_path / "r", "-q")
    shares = images / images.sum(axis=(1, 2), keepdims=True)
    labels = np.loadtxt(tmp_path / "r" / "labels.csv", delimiter=",", skiprows=1, usecols=1, dtype=int)
    for cluster in clusters_of(tmp_path / "r"):
        p, mine = cluster["picture"], labels == cluster["label"]
        assert p["side"] == 9
        mean, rest = shares[mine].mean(axis=0), shares[~mine].mean(axis=0)
        cells = {k: np.array([[int(line[i:i + 2], 16) for i in range(0, len(line), 2)] for line in p[k]]) for k in ("mean", "difference")}
        assert p["mean_most"] == pytest.approx(mean.max()) and p["difference_most"] == pytest.approx(abs(mean - rest).max())
        assert abs(cells["mean"][:, :7] - 255 * mean / mean.max()).max() <= 0.51
        assert abs(cells["difference"][:, :7] - 128 - 127 * (mean - rest) / abs(mean - rest).max()).max() <= 0.51
    said = ddsc("explain", tmp_path / "r").stdout
    assert "typical: " in said and "|  #######" in said and "|  =======" in said
    ddsc("report", tmp_path / "r", "--plots", "svg", "-o", tmp_path / "figures", "-q")
    assert (tmp_path / "figures" / "means.svg").stat().st_size > 1000


def test_a_damaged_picture_does_no_harm(ddsc, tmp_path):
    ddsc("generate", "shapes", "-o", tmp_path / "s.npz", "-q")
    ddsc("cluster", tmp_path / "s.npz", "-k", 2, "-o", tmp_path / "r", "-q")
    told = json.loads((tmp_path / "r" / "result.json").read_text())
    assert told["clusters"][0]["picture"]["side"] > 1
    told["clusters"][0]["picture"].update(side=10**9, mean=["zz", 5, "0"], difference=None)
    told["clusters"][1]["picture"]["mean"] = ["0"]
    (tmp_path / "r" / "result.json").write_text(json.dumps(told))
    ddsc("explain", tmp_path / "r")
    ddsc("report", tmp_path / "r", "--plots", "svg", "-o", tmp_path / "figures", "-q")


@pytest.mark.parametrize("name", ["two\nlines", "tab\there", "\x1b[31mred", "a\rb", "\u202eturned", "\x85", "\u2028",
                                  b"\xff"])
def test_names_are_one_line(ddsc, tmp_path, name):
    rng = np.random.default_rng(3)
    write_table(tmp_path / "a.csv", ["x"], lambda i, n: rng.normal(size=(n, 1)) + 5 * (i % 2))
    ddsc("cluster", tmp_path / "a.csv", "-k", 2, "-o", tmp_path / "r", "-q")
    before = (tmp_path / "r" / "result.json").read_bytes()
    word = f"0={name}" if isinstance(name, str) else os.fsdecode(b"0=" + name)
    assert "one line" in ddsc("name", tmp_path / "r", word, code=2).stderr
    assert (tmp_path / "r" / "result.json").read_bytes() == before
    ddsc("name", tmp_path / "r", "0=Größe, 北京 & Söhne")
    assert "Größe, 北京 & Söhne" in ddsc("explain", tmp_path / "r").stdout
