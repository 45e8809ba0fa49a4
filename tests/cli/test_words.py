"""ddsc text --words: vectors fitted to the documents, compared with a second implementation and tested by their
properties; and their use for later documents."""
import json

import numpy as np
import pytest

from conftest import not_sanitized
from test_text import items_of, write_table, write_vectors

TOPICS = {"sport": "ball goal team match player coach cup league".split(),
          "money": "bank loan rate market price trade stock fund".split()}


def documents(seed=0, n=40, length=6, extra=None):
    """Documents on two topics, one class each; `extra` adds a word to the documents on a topic."""
    random = np.random.default_rng(seed)
    rows = []
    for i in range(n):
        topic = list(TOPICS)[i % 2]
        words = list(random.choice(TOPICS[topic], length)) + ["and"] * (i % 3 > 0)
        rows.append([f"d{i}", topic, " ".join(words + (extra or {}).get(topic, []))])
    return rows


@pytest.fixture
def files(tmp_path):
    random = np.random.default_rng(5)
    known = [w for words in TOPICS.values() for w in words[:6]] + ["and"]
    write_vectors(tmp_path / "v.txt", {w: random.normal(size=5) + 1 for w in known})
    write_table(tmp_path / "d.tsv", ["id", "label", "text"], documents())
    return tmp_path


def words_of(path):
    with np.load(path) as z:
        return dict(zip(z["text_words"].tolist(), z["text_vectors"].astype(float)))


def read_vectors(path):
    rows = (line.split() for line in path.read_text().splitlines())
    return {r[0]: np.array(r[1:], float) for r in rows}


# ---- against a second implementation ----

def oracle(rows, general):
    """Return {word: (fitted general part or None, unit context, learned part)} by the formulas in
    docs/notes/words.md."""
    texts = [set(r[2].split()) for r in rows]
    words = sorted(set().union(*texts))
    B = np.array([[w in t for w in words] for t in texts], float)
    df, d = B.sum(0), len(next(iter(general.values())))
    known = np.array([w in general for w in words])
    G = np.array([general.get(w, np.zeros(d)) for w in words])
    mean = G[known].mean(0)
    C = np.where(known[:, None], G - mean, 0)
    W = C * np.log(len(texts) / df)[:, None]
    X = B.T @ (B @ W) - df[:, None] * W
    X /= np.maximum(np.linalg.norm(X, axis=1), 1e-300)[:, None]
    length = np.linalg.norm(C, axis=1)
    typical = np.sort(length[known])[known.sum() // 2]
    fitted = mean + .7 * C + .3 * length[:, None] * X
    keep = df >= 2
    together = B[:, keep].T @ B[:, keep]
    np.fill_diagonal(together, 0)
    met = together.sum(1)
    with np.errstate(divide="ignore"):
        M = np.maximum(np.log(together * met.sum() / np.outer(met, met)), 0)
    value, U = np.linalg.eigh(M)
    E = U * np.sqrt(abs(value))
    E /= np.linalg.norm(E, axis=1)[:, None]
    return words, known, fitted, X, mean, typical, keep, E, met


def test_vectors_are_those_of_the_formulas(ddsc, files):
    done = json.loads(ddsc("text", files / "d.tsv", "--vectors", files / "v.txt", "--json", "-o",
                           files / "o.npz").stdout)
    words, known, fitted, X, mean, typical, keep, E, met = oracle(documents(),
                                                                  read_vectors(files / "v.txt"))
    found = words_of(files / "o.npz")
    assert sorted(found) == words and keep.all()
    general = np.array([found[w][:5] for w in words])
    own = np.array([found[w][5:] for w in words])
    assert np.allclose(general[known], fitted[known], atol=1e-5)
    # words without a vector: a fixed distance from a share of the mean, closer to their context than to a random
    # direction
    away = general[~known] - .8 * mean
    assert np.allclose(np.linalg.norm(away, axis=1), typical, atol=1e-5)
    assert ((away * X[~known]).sum(1) / typical > .3).all()
    # learned vectors up to a rotation
    wanted = E * (typical * np.sqrt(met / (met + HALF)))[:, None]
    assert np.allclose(own @ own.T, wanted @ wanted.T, atol=1e-4)
    assert done["settings"]["words"] == "fitted" and done["dim"] == general.shape[1] + own.shape[1]
    assert done["words"] == {"used": len(words), "token_share": 1.0, "placed": (~known).sum(),
                             "own": len(words), "own_dim": own.shape[1], "given": 0}
    assert done["coverage"]["words_covered"] == known.sum()


HALF = 100  # frequency at which learned vectors have 1 / sqrt(2) of their length


# ---- properties of the vectors ----

def test_a_word_without_a_vector_goes_where_its_company_is(ddsc, tmp_path):
    """Even in a set with little other information: general vectors in two clusters, one new word."""
    random = np.random.default_rng(1)
    center = {t: random.normal(size=20) * 3 for t in TOPICS}
    vectors = {w: center[t] + random.normal(size=20) * .5 for t in TOPICS for w in TOPICS[t]}
    write_vectors(tmp_path / "v.txt", vectors)
    write_table(tmp_path / "d.tsv", ["id", "label", "text"], documents(extra={"sport": ["zidane"]}))
    ddsc("text", tmp_path / "d.tsv", "--vectors", tmp_path / "v.txt", "-o", tmp_path / "o.npz")
    found = words_of(tmp_path / "o.npz")
    far = {t: min(np.linalg.norm(found["zidane"] - found[w]) for w in TOPICS[t]) for t in TOPICS}
    assert far["sport"] < .7 * far["money"]
    # a word of the file moves towards its context, not away
    for part in (slice(0, 20), slice(20, None)):
        inside = np.mean([found[a][part] @ found[b][part] for t in TOPICS for a in TOPICS[t]
                          for b in TOPICS[t] if a != b])
        across = np.mean([found[a][part] @ found[b][part] for a in TOPICS["sport"]
                          for b in TOPICS["money"]])
        assert inside > across


def test_own_vectors_need_no_file(ddsc, files):
    done = ddsc("text", files / "d.tsv", "-o", files / "o.npz")
    assert "no vector file" in done.stdout and "learned" in done.stdout
    ddsc("text", files / "d.tsv", "--words", "own", "-o", files / "p.npz")
    assert (files / "o.npz").read_bytes() == (files / "p.npz").read_bytes()
    result = json.loads(ddsc("cluster", files / "o.npz", "-k", "2", "--json").stdout)
    assert result["scores"]["ami"] > .999


def test_words_met_once_or_alone(ddsc, tmp_path):
    """A word in one document, documents with one word, and sets that are too small to learn from."""
    write_vectors(tmp_path / "v.txt", {"a": [1., 2.], "b": [2., 1.]})
    for rows, used in (([["a b x"], ["a"]], {"a", "b"}), ([["a"], ["b"]], {"a", "b"}),
                       ([["a y"], ["y"], ["b"]], {"a", "b", "y"})):
        write_table(tmp_path / "d.tsv", ["text"], rows)
        ddsc("text", tmp_path / "d.tsv", "--vectors", tmp_path / "v.txt", "-f", "--weighting", "tf",
             "--on-empty", "drop", "-o", tmp_path / "o.npz")
        assert set(words_of(tmp_path / "o.npz")) == used
    write_table(tmp_path / "d.tsv", ["text"], [["a"], ["b"]])
    ddsc("text", tmp_path / "d.tsv", "--vectors", tmp_path / "v.txt", "-f", "-o", tmp_path / "o.npz")
    assert np.array_equal(words_of(tmp_path / "o.npz")["a"], [1, 2])  # no context: unchanged
    message = ddsc("text", tmp_path / "d.tsv", "-f", "-o", tmp_path / "o.npz", code=3).stderr
    assert "no vectors can be learned" in message


def test_overlong_words_are_left_out(ddsc, files):
    rows = documents(extra={"sport": ["w" * 65, "v" * 64]})
    write_table(files / "d.tsv", ["id", "label", "text"], rows)
    ddsc("text", files / "d.tsv", "--vectors", files / "v.txt", "-o", files / "o.npz")
    assert "v" * 64 in words_of(files / "o.npz") and "w" * 65 not in words_of(files / "o.npz")


def test_bytes_do_not_depend_on_threads(ddsc, files):
    for vectors in (["--vectors", files / "v.txt"], []):
        made = {ddsc("text", files / "d.tsv", *vectors, "--threads", t, "-o", "-",
                     binary=True).stdout for t in (1, 2, 5)}
        assert len(made) == 1


# ---- unfitted vectors ----

def test_paper_means_general(ddsc, files):
    words = ["text", files / "d.tsv", "--vectors", files / "v.txt", "--on-empty", "drop", "-o", "-"]
    plain = ddsc(*words, "--paper", binary=True).stdout
    assert plain == ddsc(*words, "--words", "general", binary=True).stdout
    assert plain != ddsc(*words, binary=True).stdout
    (files / "general.npz").write_bytes(plain)
    with np.load(files / "general.npz") as z:
        assert not [name for name in z if name.startswith("text_")]


def test_the_plain_algorithm_warns_of_fitted_words(ddsc, files):
    for mode, warned in (("fitted", True), ("general", False)):
        ddsc("text", files / "d.tsv", "--vectors", files / "v.txt", "--words", mode, "-f",
             "--on-empty", "drop", "-o", files / "o.npz")
        done = ddsc("cluster", files / "o.npz", "-k", "2", "--paper")
        assert ("text --paper" in done.stderr) == warned
        assert "text --paper" not in ddsc("cluster", files / "o.npz", "-k", "2").stderr


# ---- later documents ----

@pytest.fixture
def fitted(ddsc, files):
    """A set, its clustering and its model."""
    ddsc("text", files / "d.tsv", "--vectors", files / "v.txt", "--idf", "smooth", "--tokens",
         "letters", "--support", "3", "-o", files / "o.npz")
    ddsc("cluster", files / "o.npz", "-k", "2", "-o", files / "result")
    return files


def test_the_same_documents_get_the_same_bytes(ddsc, fitted):
    for kept in ("o.npz", "result/model.npz"):
        done = ddsc("text", fitted / "d.tsv", "--vectors", fitted / kept, "--support", "3", "-f",
                    "-o", fitted / "again.npz")
        assert (fitted / "again.npz").read_bytes() == (fitted / "o.npz").read_bytes()
        assert "from another set" in done.stdout


def test_a_document_alone_is_what_it_was_in_its_set(ddsc, fitted):
    rows = documents()
    write_table(fitted / "one.tsv", ["id", "label", "text"], [[*rows[7][:2], rows[7][2] + " unheard"]])
    data = json.loads(ddsc("text", fitted / "one.tsv", "--vectors", fitted / "result" / "model.npz",
                           "--support", "3", "--json", "-o", fitted / "one.npz").stdout)
    assert items_of(fitted / "one.npz") == [items_of(fitted / "o.npz")[7]]
    assert data["words"]["given"] == len(words_of(fitted / "o.npz")) > data["words"]["used"]


def test_new_documents_are_assigned(ddsc, fitted):
    write_table(fitted / "new.tsv", ["id", "label", "text"], documents(seed=9))
    ddsc("text", fitted / "new.tsv", "--vectors", fitted / "result" / "model.npz", "-o",
         fitted / "new.npz")
    data = json.loads(ddsc("assign", fitted / "result" / "model.npz", fitted / "new.npz",
                           "--json").stdout)
    assert data["scores"]["ami"] > .999
    # vectors of another fit are rejected, even if they have the same number of coordinates
    ddsc("text", fitted / "new.tsv", "--vectors", fitted / "v.txt", "-o", fitted / "other.npz")
    message = ddsc("assign", fitted / "result" / "model.npz", fitted / "other.npz", code=3).stderr
    assert "not fitted to the documents of the model" in message and "--vectors MODEL.npz" in message
    assert "fitted together" in ddsc("cluster", fitted / "o.npz", fitted / "other.npz", "-k", "2",
                                     code=3).stderr
    # items that say nothing of their words: done, with a word
    with np.load(fitted / "new.npz") as z:
        np.savez(fitted / "bare.npz", **{k: z[k] for k in z if not k.startswith("text_")})
    done = ddsc("assign", fitted / "result" / "model.npz", fitted / "bare.npz", "--json")
    assert json.loads(done.stdout)["labels"] == data["labels"] and "MODEL.npz" in done.stderr


def test_words_pass_through_convert_and_info(ddsc, fitted):
    ddsc("convert", fitted / "o.npz", "--compress", "2", "-o", fitted / "few.npz")
    data = json.loads(ddsc("info", fitted / "few.npz", "--json").stdout)
    assert data["words"] == len(words_of(fitted / "o.npz")) == len(words_of(fitted / "few.npz"))
    assert "fitted to the documents" in ddsc("info", fitted / "few.npz").stdout


# ---- invalid arguments ----

def spoil(arrays, name):
    if name == "missing":
        del arrays["text_df"]
    elif name == "short":
        arrays["text_vectors"] = arrays["text_vectors"][1:]
    elif name == "narrow":
        arrays["text_vectors"] = arrays["text_vectors"][:, 1:]
    elif name == "nan":
        arrays["text_vectors"][3, 1] = np.nan
    elif name == "large":
        arrays["text_vectors"] = arrays["text_vectors"].astype(float) + 1e300
    elif name == "df 0":
        arrays["text_df"][2] = 0
    elif name == "df too large":
        arrays["text_df"][2] = 41
    elif name == "df short":
        arrays["text_df"] = arrays["text_df"][1:]
    elif name == "rules":
        arrays["text_rules"][2] = 7
    elif name == "rules short":
        arrays["text_rules"] = arrays["text_rules"][:3]
    elif name == "no documents":
        arrays["text_rules"][0] = 0
    elif name == "empty":
        arrays["text_words"] = arrays["text_words"][:0]


@pytest.mark.parametrize("name, message", [
    ("missing", "not all"), ("short", "vectors have shape"), ("narrow", "but word vectors with"),
    ("nan", "not finite"), ("large", "not finite"), ("df 0", "element 2 is 0"),
    ("df too large", "element 2 is 41"), ("df short", "elements instead of"),
    ("rules", "invalid settings"), ("rules short", "instead of 5"), ("no documents", "invalid settings"),
    ("empty", "is empty")])
def test_bad_words(ddsc, fitted, name, message):
    with np.load(fitted / "o.npz") as z:
        arrays = {k: z[k] for k in z}
    spoil(arrays, name)
    np.savez(fitted / "bad.npz", **arrays)
    assert message in ddsc("info", fitted / "bad.npz", code=3).stderr
    if name != "narrow":  # which concerns the items, not the words
        assert message in ddsc("text", fitted / "d.tsv", "--vectors", fitted / "bad.npz", "-f", "-o",
                               fitted / "x.npz", code=3).stderr


def test_npz_without_words(ddsc, files):
    ddsc("text", files / "d.tsv", "--vectors", files / "v.txt", "--paper", "--on-empty", "drop",
         "-o", files / "o.npz")
    assert "contains no words" in ddsc("text", files / "d.tsv", "--vectors", files / "o.npz", "-f",
                                    "-o", files / "x.npz", code=3).stderr


def test_lemmas_are_asked_for_again(ddsc, files):
    (files / "noun.exc").write_text("geese goose\n")
    (files / "index.noun").write_text("ball n 1\n")
    words = ["text", files / "d.tsv", "--vectors", files / "v.txt", "--lemmas", files]
    ddsc(*words, "-o", files / "o.npz")
    again = ["text", files / "d.tsv", "--vectors", files / "o.npz", "-o", files / "p.npz"]
    assert "created with lemmas" in ddsc(*again, code=3).stderr
    ddsc(*again, "--lemmas", files)
    assert (files / "p.npz").read_bytes() == (files / "o.npz").read_bytes()


@pytest.mark.parametrize("words, message", [
    (["--words", "own", "--vectors", "v.txt"], "words = own learns the vectors from the documents"),
    (["--words", "general"], "words = general requires a file of vectors"),
    (["--paper"], "words = general requires a file of vectors"),
    (["--paper", "--words", "own"], "paper requires words = general"),
    (["--paper", "--words", "fitted", "--vectors", "v.txt"], "--words fitted contradicts --paper"),
    (["--paper", "--tokens", "words", "--vectors", "v.txt"], "--tokens words contradicts --paper"),
    (["--words", "fited"], "did you mean 'fitted'?")])
def test_bad_usage(ddsc, files, words, message):
    assert message in ddsc("text", "d.tsv", "-o", "x.npz", *words, code=2, cwd=files).stderr
    assert not (files / "x.npz").exists()


# ---- real documents ----

@not_sanitized
def test_fitted_words_find_the_sports(ddsc, tmp_path, data_dir):
    text, score = data_dir / "text", {}
    for mode, vectors in (("general", ["--vectors", text / "glove.6B.100d.subset.txt.gz"]),
                          ("fitted", ["--vectors", text / "glove.6B.100d.subset.txt.gz"]), ("own", [])):
        ddsc("text", text / "bbcsport.tsv.gz", *vectors, "--words", mode, "--text", "abstract",
             "--stopwords", text / "stoplist2.txt", "-f", "-o", tmp_path / "o.npz")
        found = json.loads(ddsc("cluster", tmp_path / "o.npz", "-k", "5", "--refine", "off", "--json").stdout)
        score[mode] = found["scores"]["ami"]
    assert score["fitted"] > score["general"] + .02
    assert score["own"] > score["general"] - .06


# ---- the default rule for words ----

def test_words_keep_their_punctuation(ddsc, tmp_path):
    texts = ["C# and .NET, node.js", "c# or ASP.NET with node.js", ".net; AT&T café 机器学习",
             "at&amp;t cafe\u0301 asp.net 机器学习"]
    write_table(tmp_path / "d.tsv", ["text"], [[t] for t in texts])
    ddsc("text", tmp_path / "d.tsv", "-o", tmp_path / "o.npz")
    assert set(words_of(tmp_path / "o.npz")) >= {"c#", ".net", "node.js", "asp.net", "at&t", "café", "机器", "学习"}
    ddsc("text", tmp_path / "d.tsv", "--tokens", "punctuation", "-o", tmp_path / "p.npz")
    assert set(words_of(tmp_path / "p.npz")) >= {"c", "net", "node", "js", "机器学习"}
    # later documents are split by the rule of the stored words
    write_table(tmp_path / "new.tsv", ["text"], [["C#, Node.js"]])
    ddsc("text", tmp_path / "new.tsv", "--vectors", tmp_path / "o.npz", "-o", tmp_path / "new.npz")
    with np.load(tmp_path / "new.npz") as z:
        assert len(z["weights"]) == 2


def test_words_of_the_paper(ddsc, files):
    json_of = ddsc("text", files / "d.tsv", "--vectors", files / "v.txt", "--paper", "--json", "-o", files / "o.npz").stdout
    assert json.loads(json_of)["settings"]["tokens"] == "punctuation"
