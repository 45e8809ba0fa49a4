"""Descriptions of clusters: words and coordinates in result.json, in the text output and on the page."""
import csv
import gzip
import json
import os
import random
import struct

import numpy as np
import pytest

from conftest import not_sanitized

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
    """Whole documents, and documents merged to a few points, whose names are joined."""
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


def write_documents(path, topics, n=90, common="the of and with it said", phrase=None):
    """Documents of 12 topic words each among common words. `phrase` is added to most documents of the first topic."""
    rng = random.Random(7)
    lines = ["label\ttext"]
    for k in range(n):
        topic = list(topics)[k % len(topics)]
        words = rng.choices(topics[topic].split(), k=12) + rng.choices(common.split(), k=10)
        rng.shuffle(words)
        if phrase and k % len(topics) == 0 and k % 5 < 4:
            words.insert(rng.randrange(len(words)), phrase)
        lines.append(f"{topic}\t{' '.join(words)}")
    path.write_text("\n".join(lines) + "\n")


def explained(ddsc, tmp_path, k):
    ddsc("text", tmp_path / "d.tsv", "-o", tmp_path / "d.npz", "-q", "--force")
    ddsc("cluster", tmp_path / "d.npz", "-k", k, "-o", tmp_path / "r", "-q", "--force")
    return clusters_of(tmp_path / "r")


def words_of(cluster):
    return [w["word"] for w in cluster["words"]]


def test_clusters_differ_from_their_nearest(ddsc, documents, tmp_path):
    """The words that separate two clusters have more weight in one of them; all outputs show the same words."""
    ddsc("text", documents, "--support", 0, "-o", tmp_path / "t.npz", "-q")
    ddsc("cluster", tmp_path / "t.npz", "-k", 3, "-o", tmp_path / "r", "-q")
    z = np.load(tmp_path / "t.npz")
    labels = np.loadtxt(tmp_path / "r" / "labels.csv", delimiter=",", skiprows=1, usecols=1, dtype=int)
    share = np.zeros((len(labels), len(z["point_names"])))
    for i in range(len(labels)):
        part = slice(z["offsets"][i], z["offsets"][i + 1])
        np.add.at(share[i], z["indices"][part], z["weights"][part] / z["weights"][part].sum())
    names = list(z["point_names"])
    clusters = clusters_of(tmp_path / "r")
    told, page = ddsc("explain", tmp_path / "r").stdout, (tmp_path / "r" / "report.html").read_text()
    for cluster in clusters:
        own, nearest = cluster["label"], cluster["nearest"]
        assert nearest["label"] != own and nearest["more"] and nearest["less"]
        off = share[labels == own].mean(axis=0) - share[labels == nearest["label"]].mean(axis=0)
        assert all(off[names.index(word)] > 0 for word in nearest["more"])
        assert all(off[names.index(word)] < 0 for word in nearest["less"])
        for w in cluster["words"]:
            column = share[:, names.index(w["word"])]
            assert w["share"] == pytest.approx(column[labels == own].mean(), rel=1e-9)
            assert w["elsewhere"] == pytest.approx(column[labels != own].mean(), rel=1e-9, abs=1e-12)
        more, less = ", ".join(nearest["more"]), ", ".join(nearest["less"])
        assert f"nearest: cluster {nearest['label']}; more here: {more}; more there: {less}" in told
        assert f"; more here: {more}; more there: {less}</p>" in page
    assert "moves" not in told and "moves" not in clusters[0]


def test_function_words_name_no_topic(ddsc, tmp_path):
    """Pronouns and auxiliary verbs have more weight in one topic, as in English news, but never describe it. For
    documents in another language, there is no list, so words that look like English function words may describe a
    topic."""
    english = {"match": "goal coach striker penalty he his him had", "law": "court judge appeal verdict its be were"}
    write_documents(tmp_path / "d.tsv", english, common="the of and with it said to in is that")
    for cluster in explained(ddsc, tmp_path, 2):
        assert len(cluster["words"]) >= 3
        assert not set(words_of(cluster)) & set("he his him had its be were the of and with".split())
    turkish = {"kitap": "kitap yazar roman her can", "deniz": "deniz gemi liman yelken balik"}
    write_documents(tmp_path / "d.tsv", turkish, common="ve bir bu ile daha gibi sonra kadar")
    found = [set(words_of(cluster)) for cluster in explained(ddsc, tmp_path, 2)]
    assert any({"her", "can"} <= words for words in found)
    assert not any(words & set("ve bir bu ile daha gibi sonra kadar".split()) for words in found)


def test_plurals_and_words_of_phrases_are_listed_once(ddsc, tmp_path):
    topics = {"state": "election vote party votes parties elections minister", "sea": "ship ships sail harbour wave bus buses",
              "farm": "cow barn tractor harvest field"}
    write_documents(tmp_path / "d.tsv", topics, n=150, phrase="prime minister")
    ddsc("text", tmp_path / "d.tsv", "-o", tmp_path / "d.npz", "-q")
    phrases = np.load(tmp_path / "d.npz")["text_phrases"].tolist()
    assert phrases == ["prime minister"]
    clusters = explained(ddsc, tmp_path, 3)
    for cluster in clusters:
        words = words_of(cluster)
        for one, more in (("vote", "votes"), ("party", "parties"), ("election", "elections"), ("ship", "ships"), ("bus", "buses")):
            assert len({one, more} & set(words)) <= 1, words
        assert "prime" not in words and ("prime minister" in words) == bool({"vote", "votes"} & set(words))
        assert "prime minister" not in words or "minister" not in words
    line = next(", ".join(words_of(c)[:6]) for c in clusters if "prime minister" in words_of(c))
    ddsc("cluster", tmp_path / "d.npz", "-k", 3, "-o", tmp_path / "r2", "--private", "-q")
    assert "prime" not in (tmp_path / "r2" / "result.json").read_text()
    done = ddsc("cluster", tmp_path / "d.npz", "-k", 3, "-o", tmp_path / "r3")
    assert line in done.stdout and line in (tmp_path / "r3" / "report.html").read_text()


def test_pairs_that_are_no_phrases(ddsc, tmp_path):
    """Frequent words that are adjacent by chance, rare pairs, and words between which a word was removed."""
    write_documents(tmp_path / "d.tsv", TOPICS, n=120)
    with open(tmp_path / "d.tsv", "a") as f:
        f.write("sea\tship blue whale sail\n" * 3)  # three documents are no evidence
        f.write("farm\tcow bread and butter barn\n" * 6)
    (tmp_path / "stop.txt").write_text("and\n")
    ddsc("text", tmp_path / "d.tsv", "--stopwords", tmp_path / "stop.txt", "-o", tmp_path / "d.npz", "-q")
    found = np.load(tmp_path / "d.npz").get("text_phrases", np.array([])).tolist()
    assert "blue whale" not in found and "bread butter" not in found and not any("the" in p.split() for p in found)
    ddsc("text", tmp_path / "d.tsv", "-o", tmp_path / "d2.npz", "-q")
    assert "bread butter" not in np.load(tmp_path / "d2.npz").get("text_phrases", np.array([])).tolist()


@pytest.mark.parametrize("phrases", [["no-blank"], ["a b c"], [""], [" "], ["ship sail"] * 3, ["ship ship"]])
def test_any_phrases_of_a_file_are_accepted(ddsc, documents, tmp_path, phrases):
    ddsc("text", documents, "-o", tmp_path / "t.npz", "-q")
    arrays = dict(np.load(tmp_path / "t.npz"))
    arrays["text_phrases"] = np.array(phrases)
    np.savez(tmp_path / "u.npz", **arrays)
    ddsc("cluster", tmp_path / "u.npz", "-k", 3, "-o", tmp_path / "r", "-q")
    assert all(len(set(words_of(c))) == len(c["words"]) for c in clusters_of(tmp_path / "r"))
    arrays["text_phrases"] = np.zeros((2, 2))
    np.savez(tmp_path / "v.npz", **arrays)
    assert "text_phrases" in ddsc("cluster", tmp_path / "v.npz", "-k", 3, "-o", tmp_path / "r2", "-q", code=3).stderr


def test_repeated_stories_are_listed_once(ddsc, tmp_path):
    write_documents(tmp_path / "d.tsv", TOPICS)
    rows = (tmp_path / "d.tsv").read_text().splitlines()
    (tmp_path / "d.tsv").write_text("\n".join(rows + rows[1::3]) + "\n")
    clusters = explained(ddsc, tmp_path, 3)
    result = json.loads((tmp_path / "r" / "result.json").read_text())
    assert result["repeated"] == 30
    copies = []
    for cluster in clusters:
        for which in ("representatives", "borderline"):
            titles = [item["title"] for item in cluster[which]]
            assert len(set(titles)) == len(titles)
            copies += [item["copies"] for item in cluster[which] if "copies" in item]
    assert copies and set(copies) == {2}
    assert "(2 copies)" in ddsc("explain", tmp_path / "r").stdout
    assert "(2 copies)" in (tmp_path / "r" / "report.html").read_text()
    assert "30 items have the title" in ddsc("cluster", tmp_path / "d.npz", "-k", 3, "-o", tmp_path / "r2").stdout
    explained_once = [rows[0]] + sorted(set(rows[1:]))
    (tmp_path / "d.tsv").write_text("\n".join(explained_once) + "\n")
    explained(ddsc, tmp_path, 3)
    assert "repeated" not in json.loads((tmp_path / "r" / "result.json").read_text())


def test_words_alike_everywhere_are_no_sign(ddsc, tmp_path):
    names = np.array(["boat", "car", "of", "the"])
    rows = [[0, 2, 3] if i % 2 else [1, 2, 3] for i in range(40)]
    np.savez(tmp_path / "w.npz", support=np.array([[0.0, 0], [9, 0], [4, 1], [5, 1]]), indices=np.concatenate(rows).astype(np.int32),
             weights=np.ones(120), offsets=np.arange(0, 121, 3), point_names=names)
    ddsc("cluster", tmp_path / "w.npz", "-k", 2, "-o", tmp_path / "r", "-q")
    for cluster in clusters_of(tmp_path / "r"):
        assert len(cluster["words"]) == 1
        assert {*cluster["nearest"]["more"], *cluster["nearest"]["less"]} == {"boat", "car"}


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
    """CD20 is two standard deviations higher in half of the items; CD3 has another unit and is uninformative."""
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


@not_sanitized
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
        words = " ".join(w["word"] for w in cluster["words"][:6]).split()
        assert len(set(words) & set(classes[main].split())) >= 2, (main, words)


def test_real_cells(ddsc, data_dir, tmp_path):
    """The published table, unchanged: stimulated and reference samples differ in CD20 and signaling markers."""
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
    """Nearest other cluster, ambiguity and neighbors agree with the graph; the item far from all others has the largest
    score."""
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
    """Mean and difference of images compared with a direct computation; terminal output, pictures and excluded
    items."""
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
