"""--refine: the word counts stored by ddsc text, and the mixture of words compared with a second implementation."""
import collections
import csv
import json

import numpy as np
import pytest

from test_text import write_table, write_vectors

WORDS = {t: [f"{t}{k}" for k in range(30)] for t in ("sport", "money", "film")}
BOTH = [f"all{k}" for k in range(12)]
VOCABULARY = sum(WORDS.values(), []) + BOTH


def texts(n=120, length=7, seed=0, topics=WORDS):
    """Documents on three topics with common words; each contains a unique rare word."""
    random = np.random.default_rng(seed)
    names = list(topics)
    out = []
    for i in range(n):
        own = random.choice(topics[names[i % len(names)]], length)
        out.append(" ".join([*own, *random.choice(BOTH, 4), f"only{i}"]))
    return out


@pytest.fixture
def docs(ddsc, tmp_path):
    rows = [[f"d{i}", str(i % 3), t] for i, t in enumerate(texts())]
    write_table(tmp_path / "d.tsv", ["id", "label", "text"], rows)
    ddsc("text", tmp_path / "d.tsv", "-o", tmp_path / "d.npz", "-q")
    return tmp_path


def counts_of(path):
    """One dictionary per item."""
    with np.load(path) as z:
        words, at = z["count_words"].tolist(), z["count_offsets"]
        return [{words[w]: int(c) for w, c in zip(z["count_indices"][a:b], z["count_values"][a:b])}
                for a, b in zip(at, at[1:])]


def result(folder):
    return json.loads((folder / "result.json").read_text())


def items(folder):
    return list(csv.DictReader(open(folder / "items.csv", newline="")))


def evidence(folder):
    """The evidence for the verdict, independent of the numbering of the clusters."""
    found = result(folder)["verdict"]["evidence"]
    clusters = sorted(sorted((k, str(v)) for k, v in c.items() if k != "label") for c in found.pop("clusters", []))
    return found, clusters


def column(folder, name):
    return np.array([int(row[name]) for row in items(folder)])


# ---- counts ----

def test_counts_are_those_of_the_texts(docs):
    plain = [collections.Counter(t.split()) for t in texts()]
    df = collections.Counter(w for c in plain for w in c)
    assert counts_of(docs / "d.npz") == [{w: n for w, n in c.items() if df[w] >= 2} for c in plain]


def test_counts_survive_merging_subsets_and_joins(ddsc, docs):
    whole = counts_of(docs / "d.npz")
    for name, options in (("c", ["--compress", "3"]), ("s", ["--subset-per-class", "20"])):
        ddsc("convert", docs / "d.npz", "-o", docs / f"{name}.npz", *options, "-q")
        with np.load(docs / f"{name}.npz") as z:
            rows = [int(i[1:]) for i in z["ids"]]
        assert counts_of(docs / f"{name}.npz") == [whole[r] for r in rows]
    ddsc("convert", docs / "d.npz", docs / "s.npz", "-o", docs / "both.npz", "-q")
    assert counts_of(docs / "both.npz") == whole + counts_of(docs / "s.npz")


def test_same_bytes(ddsc, docs):
    for threads in (1, 3):
        ddsc("text", docs / "d.tsv", "-o", docs / f"{threads}.npz", "--threads", threads, "-q")
    assert (docs / "1.npz").read_bytes() == (docs / "3.npz").read_bytes() == (docs / "d.npz").read_bytes()


def test_dropped_documents(ddsc, docs):
    rows = [[f"d{i}", t] for i, t in enumerate(texts())]
    rows.insert(5, ["nothing", "nowhere"])
    write_table(docs / "e.tsv", ["id", "text"], rows)
    ddsc("text", docs / "e.tsv", "-o", docs / "e.npz", "-q")
    assert counts_of(docs / "e.npz") == counts_of(docs / "d.npz")


@pytest.mark.parametrize("array, change, expected", [
    ("count_values", lambda a: a * 0, "out of range"),
    ("count_values", lambda a: a[1:], "elements instead of"),
    ("count_indices", lambda a: a + 1000000, "out of range"),
    ("count_indices", lambda a: a - 50, "out of range"),
    ("count_indices", lambda a: a[::-1].copy(), "not ascending"),
    ("count_offsets", lambda a: a + 1, "offsets must begin with 0"),
    ("count_offsets", lambda a: a[::-1].copy(), "offsets must begin with 0"),
    ("count_offsets", lambda a: a[:-1], "elements for 120 items"),
    ("count_offsets", lambda a: a * 2**40, "elements instead of"),
    ("count_words", lambda a: a[:1], "out of range"),
    ("count_words", lambda a: np.repeat(a[:1], len(a)), "twice"),
    ("count_words", lambda a: None, "some of the arrays")])
def test_bad_counts_are_rejected(ddsc, docs, array, change, expected):
    arrays = dict(np.load(docs / "d.npz"))
    arrays[array] = change(arrays[array])
    np.savez(docs / "bad.npz", **{k: v for k, v in arrays.items() if v is not None})
    assert expected in ddsc("info", docs / "bad.npz", code=3).stderr


# ---- the mixture ----

def mixture(counts, labels, k):
    """Run expectation maximization from labels. Return labels and the number of rounds."""
    df = collections.Counter(w for c in counts for w in c)
    place = {w: j for j, w in enumerate(sorted(w for w in df if df[w] >= 2))}
    X = np.zeros((len(counts), len(place)))
    for i, c in enumerate(counts):
        for w, n in c.items():
            if w in place:
                X[i, place[w]] = n
    R, labels, rounds = np.eye(k)[labels], labels.copy(), 0
    while rounds < 60:
        N = R.T @ X
        theta = 2 / 3 * N / N.sum(1, keepdims=True) + 1 / 3 / X.shape[1]
        L = np.log((R.sum(0) + 1) / (len(X) + k)) + X @ np.log(theta).T
        new, rounds = L.argmax(1), rounds + 1
        R = np.exp(L - L.max(1, keepdims=True))
        R /= R.sum(1, keepdims=True)
        changed, labels = (new != labels).sum(), new
        if 1000 * changed < len(X):
            break
    return labels, rounds


@pytest.mark.parametrize("k", [2, 3, 5])
def test_labels_are_those_of_the_mixture(ddsc, docs, k):
    ddsc("cluster", docs / "d.npz", "-k", k, "-o", docs / "r", "-q")
    told = result(docs / "r")
    spectral, label = column(docs / "r", "spectral_label"), column(docs / "r", "label")
    expected, rounds = mixture(counts_of(docs / "d.npz"), spectral, k)
    assert (label == expected).all()
    assert told["refinement"] == {"by": "words", "rounds": rounds, "moved": int((label != spectral).sum()),
                                  "stopped_early": False}
    assert told["settings"]["refine"] == "auto" and len(set(label)) == k
    assert list(dict.fromkeys(label)) == sorted(set(label))  # numbered by first appearance
    ddsc("cluster", docs / "d.npz", "-k", k, "-o", docs / "off", "--refine", "off", "-q")
    plain = column(docs / "off", "label")
    assert len(set(zip(plain, spectral))) == k  # the same partition
    assert "refinement" not in result(docs / "off") and "spectral_label" not in items(docs / "off")[0]
    assert evidence(docs / "r") == evidence(docs / "off")


def test_same_bytes_for_any_number_of_threads(ddsc, docs):
    for threads in (1, 4):
        ddsc("cluster", docs / "d.npz", "-k", 3, "-o", docs / f"t{threads}", "--threads", threads, "-q")
    for name in ("labels.csv", "items.csv", "model.npz"):
        assert (docs / "t1" / name).read_bytes() == (docs / "t4" / name).read_bytes()


@pytest.mark.parametrize("options", [["-k", "2:4"], ["-k", "auto"], ["-k", "3", "--metric", "w2+mmd"],
                                     ["-k", "3", "--metric", "lot"], ["-k", "1"]])
def test_works_with(ddsc, docs, options):
    ddsc("cluster", docs / "d.npz", *options, "--refine", "words", "-o", docs / "r", "-q")
    told = result(docs / "r")
    assert len(set(column(docs / "r", "label"))) == told["k"]
    assert ("refinement" in told) == (told["k"] > 1)


def test_given_vectors(ddsc, docs):
    write_vectors(docs / "v.txt", {w: np.random.default_rng(k).normal(size=6) for k, w in enumerate(VOCABULARY)})
    ddsc("text", docs / "d.tsv", "--vectors", docs / "v.txt", "-o", docs / "v.npz", "-q")
    assert counts_of(docs / "v.npz") == counts_of(docs / "d.npz")
    ddsc("cluster", docs / "v.npz", "-k", 3, "-o", docs / "r", "-q")
    expected, _ = mixture(counts_of(docs / "v.npz"), column(docs / "r", "spectral_label"), 3)
    assert (column(docs / "r", "label") == expected).all()


def test_refused_without_counts(ddsc, docs, tmp_path):
    ddsc("generate", "shapes", "-o", tmp_path / "shapes.npz", "-q")
    done = ddsc("cluster", tmp_path / "shapes.npz", "-k", 2, "--refine", "words", code=3)
    assert "word counts" in done.stderr
    done = ddsc("cluster", docs / "d.npz", "-k", 2, "--refine", "words", "--method", "d2", code=2)
    assert "--refine words cannot be combined" in done.stderr
    done = ddsc("cluster", docs / "d.npz", "-k", 2, "--refine", "words", "--paper", code=2)
    assert "refine = off" in done.stderr
    ddsc("cluster", docs / "d.npz", "-k", 3, "--paper", "-o", docs / "paper", "-q")
    assert result(docs / "paper")["settings"]["refine"] == "off" and "refinement" not in result(docs / "paper")


def test_no_cluster_vanishes(ddsc, docs):
    """With many clusters for two kinds of identical documents, the mixture would empty some of them."""
    random = np.random.default_rng(3)
    rows = [[f"d{i}", " ".join(random.choice([f"w{i % 2}{j}" for j in range(40)], 12))] for i in range(60)]
    write_table(docs / "two.tsv", ["id", "text"], rows)
    ddsc("text", docs / "two.tsv", "-o", docs / "two.npz", "-q")
    done = ddsc("cluster", docs / "two.npz", "-k", 20, "--min-cluster", 0, "-o", docs / "r", "-q")
    told = result(docs / "r")
    assert len(set(column(docs / "r", "label"))) == 20
    if told["refinement"]["stopped_early"]:
        assert "would have become empty" in done.stderr


def test_private_has_no_words_but_the_same_labels(ddsc, docs):
    ddsc("cluster", docs / "d.npz", "-k", 3, "-o", docs / "r", "-q")
    ddsc("cluster", docs / "d.npz", "-k", 3, "--private", "-o", docs / "p", "-q")
    assert (column(docs / "r", "label") == column(docs / "p", "label")).all()
    with np.load(docs / "p" / "model.npz") as z:
        assert not [n for n in z.files if n.startswith(("count_", "mixture_", "text_"))]
    for file in (docs / "p").iterdir():
        data = file.read_bytes()
        for coding in ("utf-8", "utf-32-le"):
            assert "sport11".encode(coding) not in data and "money22".encode(coding) not in data, file


# ---- new documents ----

def test_assign_uses_the_mixture(ddsc, docs):
    ddsc("cluster", docs / "d.npz", "-k", 3, "-o", docs / "r", "-q")
    again = list(csv.DictReader(ddsc("assign", docs / "r" / "model.npz", docs / "d.npz").stdout.splitlines()))
    assert [int(row["label"]) for row in again] == column(docs / "r", "label").tolist()
    fresh = texts(n=30, seed=9)
    write_table(docs / "new.tsv", ["id", "text"], [[f"n{i}", t] for i, t in enumerate(fresh)])
    ddsc("text", docs / "new.tsv", "--vectors", docs / "r" / "model.npz", "-o", docs / "new.npz", "-q")
    done = json.loads(ddsc("assign", docs / "r" / "model.npz", docs / "new.npz", "--json").stdout)
    with np.load(docs / "r" / "model.npz") as z:
        words = z["count_words"][z["mixture_words"]].tolist()
        theta, share = z["mixture_theta"], z["mixture_share"]
    place = {w: j for j, w in enumerate(words)}
    L = [np.log(share) + sum(np.log(theta[place[w]]) for w in t.split() if w in place) for t in fresh]
    assert done["labels"] == np.argmax(L, axis=1).tolist()
    arrays = {k: v for k, v in np.load(docs / "new.npz").items() if not k.startswith("count_")}
    np.savez(docs / "bare.npz", **arrays)
    done = ddsc("assign", docs / "r" / "model.npz", docs / "bare.npz")
    assert "labels are assigned by the nearest center" in done.stderr


@pytest.mark.parametrize("array, change", [
    ("mixture_theta", lambda a: a * 0), ("mixture_theta", lambda a: a[:-1]), ("mixture_theta", lambda a: a[:, :-1]),
    ("mixture_theta", lambda a: a * np.nan), ("mixture_share", lambda a: -a), ("mixture_share", lambda a: a[1:]),
    ("mixture_words", lambda a: a + 10**6), ("mixture_words", lambda a: a[::-1].copy()),
    ("mixture_words", lambda a: a[:0]), ("softness", lambda a: a * 0 - 1), ("softness", lambda a: a[:1]),
    ("count_words", lambda a: a[:-1]), ("mixture_share", lambda a: None)])
def test_bad_models_are_rejected(ddsc, docs, array, change):
    ddsc("cluster", docs / "d.npz", "-k", 3, "-o", docs / "r", "-q")
    arrays = dict(np.load(docs / "r" / "model.npz"))
    arrays[array] = change(arrays[array])
    np.savez(docs / "bad.npz", **{k: v for k, v in arrays.items() if v is not None})
    ddsc("assign", docs / "bad.npz", docs / "d.npz", code=3)


# ---- texts without clusters ----

def test_refinement_does_not_make_null_texts_reproducible(ddsc, tmp_path):
    """Words drawn independently from one distribution: the verdict is the same as without refinement."""
    random = np.random.default_rng(4)
    share = 1 / np.arange(1, 301)
    rows = [[str(i), " ".join(random.choice([f"w{j}" for j in range(300)], 20, p=share / share.sum()))]
            for i in range(300)]
    write_table(tmp_path / "null.tsv", ["id", "text"], rows)
    ddsc("text", tmp_path / "null.tsv", "-o", tmp_path / "null.npz", "-q")
    for name in ("auto", "off"):
        ddsc("cluster", tmp_path / "null.npz", "-k", 4, "--refine", name, "-o", tmp_path / name, "-q")
    told, plain = result(tmp_path / "auto"), result(tmp_path / "off")
    assert told["refinement"]["moved"] > 0
    assert told["verdict"]["level"] == plain["verdict"]["level"] not in ("separate", "partly", "reproducible")
    assert evidence(tmp_path / "auto") == evidence(tmp_path / "off")


# ---- updates ----

def test_update_refines_like_a_run_on_all_documents(ddsc, docs):
    ddsc("cluster", docs / "d.npz", "-k", 3, "-o", docs / "r", "-q")
    write_table(docs / "new.tsv", ["id", "text"], [[f"n{i}", t] for i, t in enumerate(texts(n=21, seed=9))])
    ddsc("text", docs / "new.tsv", "--vectors", docs / "r" / "model.npz", "-o", docs / "new.npz", "-q")
    (docs / "gone.txt").write_text("d0\nd7\nd50\n")
    ddsc("update", docs / "r", docs / "new.npz", "--remove", docs / "gone.txt", "-o", docs / "u", "-q")
    told, spectral, label = result(docs / "u"), column(docs / "u", "spectral_label"), column(docs / "u", "label")
    whole = counts_of(docs / "u" / "model.npz")
    kept = [c for i, c in enumerate(counts_of(docs / "d.npz")) if i not in (0, 7, 50)]
    assert whole[:117] == kept and len(whole) == len(label) == 138
    assert (label == mixture(whole, spectral, told["k"])[0]).all()
    assert told["refinement"]["moved"] == (label != spectral).sum()
    before = [int(row["label"]) for row in items(docs / "r") if row["id"] not in ("d0", "d7", "d50")]
    assert (label[:117] == before).mean() > .95  # clusters keep their numbers
    again = list(csv.DictReader(ddsc("assign", docs / "u" / "model.npz", docs / "new.npz").stdout.splitlines()))
    assert [int(row["label"]) for row in again] == label[117:].tolist()
    ddsc("cluster", docs / "u" / "model.npz", "--like", docs / "r", "-o", docs / "l", "-q")
    assert len(set(zip(column(docs / "l", "label"), label))) == told["k"]
    ddsc("cluster", docs / "d.npz", "-k", 3, "--refine", "off", "-o", docs / "off", "-q")
    ddsc("update", docs / "off", docs / "new.npz", "-o", docs / "u2", "-q")
    assert "refinement" not in result(docs / "u2")
