"""--membership: how strongly items belong to clusters, from distances and from words."""
import csv
import json

import numpy as np
import pytest

from test_refine import column, docs, result, texts  # noqa: F401 (docs is a fixture)
from test_text import write_table


def memberships(folder):
    head, *rows = csv.reader(open(folder / "membership.csv", newline=""))
    assert head == ["id"] + [f"cluster{c}" for c in range(len(head) - 1)]
    return np.array([[float(v) if v else np.nan for v in row[1:]] for row in rows])


def check(folder):
    m, label = memberships(folder), column(folder, "label")
    known = label >= 0
    assert (np.isnan(m).all(axis=1) == ~known).all()
    np.testing.assert_allclose(m[known].sum(axis=1), 1, rtol=1e-12)
    assert (m[known] >= 0).all()
    own = m[known, label[known]]
    assert (own == m[known].max(axis=1)).all()
    told = result(folder)["membership"]
    assert told["softness"] > 0 and 0 <= (told["held_out_agreement"] or 0) <= 1
    return m, told


@pytest.fixture
def blobs(tmp_path):
    """Three clusters that overlap, with their classes."""
    random = np.random.default_rng(0)
    middle = np.array([[0, 0], [3.2, 0], [0, 3.2]])
    points = np.concatenate([c + random.normal(size=(80, 1, 2)) + random.normal(size=(80, 5, 2)) / 5 for c in middle])
    np.savez(tmp_path / "b.npz", points=points.reshape(-1, 2), weights=np.ones(240 * 5),
             offsets=np.arange(0, 1201, 5), labels=np.repeat([0, 1, 2], 80))
    return tmp_path


@pytest.mark.parametrize("options", [[], ["--metric", "mmd"], ["--metric", "w2+lot"], ["--method", "sc"], ["--outliers"],
                                     ["-k", "2:4"], ["-k", "1"]])
def test_by_distance(ddsc, blobs, options):
    ddsc("cluster", blobs / "b.npz", *([] if "-k" in options else ["-k", 3]), *options, "--membership", "-o",
         blobs / "r", "-q")
    m, told = check(blobs / "r")
    assert told["by"] == "distances" and told["items_by_words"] == 0
    if m.shape[1] > 1:
        assert abs(told["held_out_confidence"] - told["held_out_agreement"]) < .08
        assert 0 < np.nanmin(m) and np.nanmax(m) < 1


def test_less_certain_between_clusters(ddsc, blobs):
    ddsc("cluster", blobs / "b.npz", "-k", 3, "--membership", "-o", blobs / "r", "-q")
    most = check(blobs / "r")[0].max(axis=1)
    with np.load(blobs / "b.npz") as z:
        x, truth = z["points"].reshape(240, 5, 2).mean(axis=1), z["labels"]
    away = np.sort(np.linalg.norm(x[:, None] - np.array([[0, 0], [3.2, 0], [0, 3.2]]), axis=2), axis=1)
    between = away[:, 1] - away[:, 0]
    assert most[between < .5].mean() + .05 < most[between > 2].mean()


def test_precomputed(ddsc, blobs):
    ddsc("distance", blobs / "b.npz", "-o", blobs / "d.npy", "-q")
    ddsc("cluster", blobs / "d.npy", "--precomputed", "-k", 3, "--membership", "-o", blobs / "r", "-q")
    check(blobs / "r")


def test_by_words(ddsc, docs):
    ddsc("cluster", docs / "d.npz", "-k", 3, "--membership", "-o", docs / "r", "-q")
    m, told = check(docs / "r")
    assert told["by"] == "words" and told["items_by_words"] == 120
    with np.load(docs / "r" / "model.npz") as z:
        place = {w: j for j, w in enumerate(z["count_words"][z["mixture_words"]].tolist())}
        theta, share, softness = z["mixture_theta"], z["mixture_share"], z["softness"][1]
    assert softness == pytest.approx(told["softness"], rel=1e-14)
    L = np.array([np.log(share) + sum(np.log(theta[place[w]]) for w in t.split() if w in place) for t in texts()])
    p = np.exp((L - L.max(axis=1, keepdims=True)) / softness)
    np.testing.assert_allclose(m, p / p.sum(axis=1, keepdims=True), rtol=1e-7)


def test_long_documents_are_not_certain(ddsc, tmp_path):
    """Documents on two topics whose words occur in bursts: uncalibrated posteriors of the mixture are all 0 or 1."""
    random = np.random.default_rng(1)
    words = [[f"{t}{k}" for k in range(200)] for t in "ab"]
    rows = []
    for i in range(200):
        mix = random.choice([.3, .5, .7])
        bag = [random.choice(words[0] if random.random() < mix else words[1]) for _ in range(40)]
        rows.append([str(i), " ".join(np.repeat(bag, 5))])
    write_table(tmp_path / "d.tsv", ["id", "text"], rows)
    ddsc("text", tmp_path / "d.tsv", "-o", tmp_path / "d.npz", "-q")
    ddsc("cluster", tmp_path / "d.npz", "-k", 2, "--membership", "-o", tmp_path / "r", "-q")
    m, told = check(tmp_path / "r")
    assert told["softness"] > 3 and abs(told["held_out_confidence"] - told["held_out_agreement"]) < .08
    assert (m.max(axis=1) < .9).mean() > .2


def test_same_bytes_and_dropped_documents(ddsc, docs):
    rows = [[f"d{i}", t] for i, t in enumerate(texts())]
    rows.insert(5, ["nothing", "nowhere"])
    write_table(docs / "e.tsv", ["id", "text"], rows)
    ddsc("text", docs / "e.tsv", "-o", docs / "e.npz", "--on-empty", "drop", "-q")
    for threads in (1, 3):
        ddsc("cluster", docs / "e.npz", "-k", 3, "--membership", "-o", docs / f"r{threads}", "--threads", threads, "-q")
    check(docs / "r1")
    assert (docs / "r1" / "membership.csv").read_bytes() == (docs / "r3" / "membership.csv").read_bytes()


def test_few_items(ddsc, tmp_path):
    np.savez(tmp_path / "few.npz", points=[[0.], [1.], [5.]], weights=[1., 1., 1.], offsets=[0, 1, 2, 3])
    ddsc("cluster", tmp_path / "few.npz", "-k", 2, "--membership", "-o", tmp_path / "r", "-q")
    m, label = memberships(tmp_path / "r"), column(tmp_path / "r", "label")
    assert result(tmp_path / "r")["membership"]["held_out"] == 0
    assert (m.argmax(axis=1) == label).all()


def test_refused(ddsc, blobs):
    assert "-o DIR" in ddsc("cluster", blobs / "b.npz", "-k", 3, "--membership", code=2).stderr
    assert "baselines lack" in ddsc("cluster", blobs / "b.npz", "-k", 3, "--method", "d2", "--membership", "-o",
                                    blobs / "r", code=2).stderr


def assigned(text):
    head, *rows = csv.reader(text.splitlines())
    assert head[:4] == ["id", "label", "confidence", "far"]
    assert head[4:] == [f"cluster{c}" for c in range(len(head) - 4)]
    values = np.array([[float(v) if v else np.nan for v in row[4:]] for row in rows])
    return np.array([int(row[1]) for row in rows]), values


def test_of_new_items(ddsc, blobs):
    """Memberships from assign: one row per input row, largest at the label, as csv and as JSON."""
    ddsc("cluster", blobs / "b.npz", "-k", 3, "-o", blobs / "r", "-q")
    random = np.random.default_rng(5)
    weights = np.ones(60)
    weights[10:15] = 0  # the third item has no mass and is dropped
    np.savez(blobs / "new.npz", points=random.normal(1, 2, size=(60, 2)), weights=weights, offsets=np.arange(0, 61, 5))
    call = ["assign", blobs / "r" / "model.npz", blobs / "new.npz", "--on-empty", "drop", "--membership"]
    ddsc(*call, "-o", blobs / "new.csv", "-q")
    label, m = assigned((blobs / "new.csv").read_text())
    assert label[2] == -1 and np.isnan(m[2]).all() and m.shape == (12, 3)
    known = label >= 0
    assert known.sum() == 11 and not np.isnan(m[known]).any()
    np.testing.assert_allclose(m[known].sum(axis=1), 1, rtol=1e-12)
    assert (m[known].argmax(axis=1) == label[known]).all() and (m[known].max(axis=1) < .999).any()
    found = json.loads(ddsc(*call, "--json", "-q").stdout)
    assert found["membership"][2] == [] and found["labels"] == label.tolist()
    np.testing.assert_allclose(np.array([row for row in found["membership"] if row]), m[known], rtol=1e-14)
    plain = ddsc(*call[:-1], "-q").stdout
    assert plain.splitlines()[0] == "id,label,confidence,far"


def test_of_new_documents(ddsc, docs):
    ddsc("cluster", docs / "d.npz", "-k", 3, "-o", docs / "r", "-q")
    label, m = assigned(ddsc("assign", docs / "r" / "model.npz", docs / "d.npz", "--membership", "-q").stdout)
    known = label >= 0
    assert known.sum() > 20 and (m[known].argmax(axis=1) == label[known]).all()
    np.testing.assert_allclose(m[known].sum(axis=1), 1, rtol=1e-12)
