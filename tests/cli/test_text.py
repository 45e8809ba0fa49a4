"""Compares ddsc text with a second implementation of its rules, on synthetic and real documents. Word vectors are not
fitted here; test_words.py tests fitted vectors."""
import collections
import gzip
import json
import math
import shlex

import numpy as np
import ot
import pytest

from conftest import SOURCE, not_sanitized

PUNCTUATION = str.maketrans({c: " " for c in '!"#$%&()*+,-./:;<=>?@[\\]^_`{|}~'})


@pytest.fixture
def ddsc(ddsc):
    """Run the program with the unchanged vectors of the file."""
    def run(verb, *words, **how):
        return ddsc(verb, *words, "--words", "general", **how)

    return run


# ---- the oracle ----

def tokenize(text, rule):
    text = text.lower()
    if rule == "letters":
        return [w for w in "".join(c if c.isalpha() else " " for c in text).split() if len(w) > 1]
    return text.translate(PUNCTUATION).split()


def oracle(texts, vectors, stop=(), rule="punctuation", weighting="tfidf", idf="plain"):
    """Return {vector as a tuple: weight} for each document with mass, and the counts."""
    counts = [collections.Counter(w for w in tokenize(t, rule) if w not in stop) for t in texts]
    df = collections.Counter(w for c in counts for w in c)
    n, items = len(texts), []
    for c in counts:
        item = collections.defaultdict(float)
        for word, count in c.items():
            if word not in vectors:
                continue
            rare = 1.0
            if weighting == "tfidf":
                rare = (math.log((1 + n) / (1 + df[word])) + 1 if idf == "smooth"
                        else math.log2(n / df[word]))
            item[tuple(vectors[word])] += count * rare
        total = sum(item.values())
        if total > 0:
            items.append({x: w / total for x, w in item.items() if w > 0})
    every = sum(counts, collections.Counter())
    covered = {w: k for w, k in every.items() if w in vectors}
    return items, {"words": len(every), "words_covered": len(covered),
                   "tokens": sum(every.values()), "tokens_covered": sum(covered.values())}


def items_of(path):
    """Return the same from a file written by the program."""
    with np.load(path) as z:
        offsets, weights = z["offsets"], z["weights"]
        points = z["support"][z["indices"]] if "support" in z else z["points"]
    return [{tuple(points[p]): weights[p] for p in range(offsets[i], offsets[i + 1])}
            for i in range(len(offsets) - 1)]


def assert_same_items(found, wanted):
    assert len(found) == len(wanted)
    for a, b in zip(found, wanted):
        assert a.keys() == b.keys()
        for x in b:
            assert a[x] == pytest.approx(b[x], abs=1e-12)


def write_vectors(path, vectors, header=False, end=""):
    lines = [f"{len(vectors)} {len(next(iter(vectors.values())))}\n"] if header else []
    lines += [word + "".join(" %.17g" % x for x in v) + end + "\n" for word, v in vectors.items()]
    data = "".join(lines).encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def write_table(path, head, rows):
    data = "".join("\t".join(row) + "\n" for row in [head, *rows]).encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


# ---- synthetic corpora ----

PIECES = ["a", "I", "cat", "Cat's", "DOG", "naïve", "ÉTÉ", "Ångström", "Ωμέγα", "Москва", "ŽIŽEK",
          "x2y", "3.14", "'quoted'", '"said"', "e-mail", "don't", "well_known", "日本", "£5", "½",
          "ſ", "the", "of", "\u00a0", "\u2003", "–", "“curly”", "ß", "Þorn", "Ÿ"]


def corpus(seed, n_documents=25):
    random = np.random.default_rng(seed)
    texts = [" ".join(random.choice(PIECES, random.integers(3, 40))) for _ in range(n_documents)]
    words = sorted({w for t in texts for r in ("letters", "punctuation") for w in tokenize(t, r)})
    random.shuffle(words)
    kept = words[:int(len(words) * 0.8)] + ["unused", "cat", "dog"]
    return texts, {w: random.normal(size=4) for w in kept}


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("rule", ["punctuation", "letters"])
@pytest.mark.parametrize("weighting", ["tf", "tfidf"])
@pytest.mark.parametrize("idf", ["plain", "smooth"])
def test_every_word_has_the_weight_of_the_oracle(ddsc, tmp_path, seed, rule, weighting, idf):
    texts, vectors = corpus(seed)
    stop = ["The", "of", "don't", "ÉTÉ"]
    (tmp_path / "stop").write_text(" ".join(stop[:2]) + "\n\t" + "\n".join(stop[2:]))
    docs = write_table(tmp_path / "d.tsv.gz", ["n", "text"],
                       [[str(i), t] for i, t in enumerate(texts)])
    write_vectors(tmp_path / "v.txt.gz", vectors, header=seed % 2, end=" " * (seed % 2))
    done = ddsc("text", docs, "--vectors", tmp_path / "v.txt.gz", "--tokens", rule, "--weighting",
                weighting, "--idf", idf, "--stopwords", tmp_path / "stop", "--support", "0",
                "--on-empty", "drop", "--json", "-o", tmp_path / "o.npz")
    items, counts = oracle(texts, vectors, {s.lower() for s in stop}, rule, weighting, idf)
    assert_same_items(items_of(tmp_path / "o.npz"), items)
    coverage = json.loads(done.stdout)["coverage"]
    assert {k: coverage[k] for k in counts} == counts
    assert coverage["word_share"] == pytest.approx(counts["words_covered"] / counts["words"])
    assert coverage["token_share"] == pytest.approx(counts["tokens_covered"] / counts["tokens"])


# Capitals without a simple lowercase letter, and rare blocks whose case is not changed (docs/documents.md).
UNFOLDED = {0x130, *range(0x180, 0x250), *range(0x370, 0x380), *range(0x3cf, 0x400)}


@pytest.mark.parametrize("rule", ["punctuation", "letters"])
def test_characters_are_sorted_and_folded_as_unicode_says(ddsc, tmp_path, rule):
    """Every character of Latin, Greek and Cyrillic, between letters."""
    codes = [c for c in [*range(0x20, 0x530), *range(0x1e00, 0x1f00), *range(0x2000, 0x2070)]
             if c not in UNFOLDED and len(chr(c).lower()) == 1 and c not in (0x1e9e, 0x85)]
    texts = [f"qw{chr(c)}er" for c in codes]
    words = {w for t in texts for w in tokenize(t, rule)}
    docs = write_table(tmp_path / "d.tsv", ["text"], [[t] for t in texts])
    write_vectors(tmp_path / "v.txt", {w: [float(i)] for i, w in enumerate(sorted(words))})
    data = json.loads(ddsc("text", docs, "--vectors", tmp_path / "v.txt", "--weighting", "tf",
                           "--tokens", rule, "--support", "0", "--json", "-o",
                           tmp_path / "o.npz").stdout)
    assert data["coverage"]["words"] == data["coverage"]["words_covered"] == len(words)


def test_bytes_that_are_not_utf8_are_refused(ddsc, tmp_path):
    (tmp_path / "d.tsv").write_bytes("text\nÉté\n".encode() + "ÉTÉ\n".encode("latin-1"))
    write_vectors(tmp_path / "v.txt", {"été": [1.0, 2.0]})
    error = ddsc("text", tmp_path / "d.tsv", "--vectors", tmp_path / "v.txt", "--weighting", "tf", "-o",
                 tmp_path / "o.npz", code=3).stderr
    assert "d.tsv: line 3: not UTF-8" in error and "--encoding" in error


# ---- columns and rows ----

VECTORS = {w: [float(i), float(i * i)] for i, w in enumerate("alpha beta gamma delta".split())}


@pytest.fixture
def run(ddsc, tmp_path):
    """Pass rows (or the bytes of a table) to the verb. Return the summary and the items."""
    write_vectors(tmp_path / "v.txt", VECTORS)

    def call(head, rows, *words):
        docs = write_table(tmp_path / "d.tsv", head, rows)
        done = ddsc("text", docs, "--vectors", tmp_path / "v.txt", "--weighting", "tf", "--json",
                    "-f", "-o", tmp_path / "o.npz", *words)
        return json.loads(done.stdout), items_of(tmp_path / "o.npz")

    return call


@pytest.mark.parametrize("head, used", [
    (["body", "title", "abstract", "text"], "text"), (["body", "title", "abstract"], "abstract"),
    (["body", "title"], "title,body"), (["body", "other"], "body")])
def test_text_columns_by_default(run, head, used):
    words = dict(zip(head, VECTORS))
    data, items = run(head, [[words[h] for h in head]])
    assert data["columns"]["text"] == used
    assert items[0].keys() == {tuple(VECTORS[words[h]]) for h in used.split(",")}


def test_columns_are_joined_by_a_blank(run):
    _, items = run(["x", "y"], [["al", "pha beta"], ["", "alpha"]], "--text", "x,y")
    assert items == [{(1.0, 1.0): 1.0}, {(0.0, 0.0): 1.0}]


def test_labels_ids_and_a_filter(run, tmp_path):
    head = ["kind", "part", "no", "text", "keep"]
    rows = [["b", "x", "1", "alpha", "yes"], ["a", "x", "2", "beta", "no"],
            ["a", "y", "1", "gamma", "yes"], ["", "y", "2", "delta", "yes"]]
    data, items = run(head, rows, "--label", "kind", "--id", "part,no", "--where", "keep=yes")
    assert (data["n"], data["rows"]) == (3, 4) and len(items) == 3
    assert data["columns"] == {"text": "text", "label": "kind", "id": "part,no"}
    with np.load(tmp_path / "o.npz") as z:
        assert z["ids"].tolist() == ["x/1", "y/1", "y/2"]
        assert z["labels"].tolist() == [0, 1, -1]


def test_quotes_are_data(run):
    data, items = run(["text", "label"], [['"alpha', "1"], ['beta"', "2"]])
    assert [list(x.values()) for x in items] == [[1.0], [1.0]]
    assert data["columns"]["label"] == "label"


def test_byte_order_mark_and_windows_lines(ddsc, tmp_path):
    write_vectors(tmp_path / "v.txt", VECTORS)
    (tmp_path / "v.txt").write_bytes(b"\xef\xbb\xbf" + (tmp_path / "v.txt").read_bytes()
                                     .replace(b"\n", b"\r\n"))
    (tmp_path / "d.tsv").write_bytes(b"\xef\xbb\xbftext\tn\r\nalpha beta\t1\r\n\r\nbeta\t2")
    ddsc("text", tmp_path / "d.tsv", "--vectors", tmp_path / "v.txt", "--weighting", "tf", "-o",
         tmp_path / "o.npz")
    assert items_of(tmp_path / "o.npz") == [{(0.0, 0.0): .5, (1.0, 1.0): .5}, {(1.0, 1.0): 1.0}]


def test_equal_vectors_are_one_point(ddsc, tmp_path):
    (tmp_path / "v.txt").write_text("one 1 2\ntwo 1 2\nthree 5 6\n")
    write_table(tmp_path / "d.tsv", ["text"], [["one two three three"]])
    ddsc("text", tmp_path / "d.tsv", "--vectors", tmp_path / "v.txt", "--weighting", "tf", "-o",
         tmp_path / "o.npz")
    assert items_of(tmp_path / "o.npz") == [{(1.0, 2.0): .5, (5.0, 6.0): .5}]


def test_duplicate_vectors_the_first_counts(ddsc, tmp_path):
    (tmp_path / "v.txt").write_text("one 1 2\nother 0 0\none 3 4\nother 1 1\n")
    write_table(tmp_path / "d.tsv", ["text"], [["one"]])
    data = json.loads(ddsc("text", tmp_path / "d.tsv", "--vectors", tmp_path / "v.txt",
                           "--weighting", "tf", "--json", "-o", tmp_path / "o.npz").stdout)
    assert items_of(tmp_path / "o.npz") == [{(1.0, 2.0): 1.0}]
    assert data["coverage"]["duplicate_vectors"] == 1 and data["coverage"]["vectors"] == 4


def test_words_with_blanks_in_the_vectors_file_are_passed_over(ddsc, tmp_path):
    (tmp_path / "v.txt").write_text("one 1 2\n. . . 5 6\nat name@domain.com 7 8\n.\t9 1e-3 \n")
    write_table(tmp_path / "d.tsv", ["text"], [["one at"]])
    data = json.loads(ddsc("text", tmp_path / "d.tsv", "--vectors", tmp_path / "v.txt",
                           "--weighting", "tf", "--json", "-o", tmp_path / "o.npz").stdout)
    assert data["coverage"]["vectors"] == 4 and data["coverage"]["words_covered"] == 1


# ---- documents without weight ----

EMPTY = [["a", "alpha"], ["b", "nothing"], ["c", ""], ["d", "beta"]]


def test_empty_documents_are_named(ddsc, tmp_path):
    write_vectors(tmp_path / "v.txt", VECTORS)
    docs = write_table(tmp_path / "d.tsv", ["id", "text"], EMPTY)
    words = ["text", docs, "--vectors", tmp_path / "v.txt", "-o", tmp_path / "o.npz"]
    message = ddsc(*words, "--on-empty", "error", code=3).stderr
    assert "d.tsv: 2 of 4 documents" in message and 'line 3 ("b"), line 4 ("c")' in message
    assert "--on-empty drop" in message and not (tmp_path / "o.npz").exists()
    done = ddsc(*words)  # drop is the default
    assert "line 3 (b), line 4 (c)" in done.stdout and "2 items" in done.stdout
    data = json.loads(ddsc(*words, "--on-empty", "drop", "-f", "--json").stdout)
    assert data["empty"] == {"count": 2, "first": [{"row": 1, "line": 3, "id": "b"},
                                                   {"row": 2, "line": 4, "id": "c"}]}
    assert (data["n"], data["items"]) == (4, 2)
    with np.load(tmp_path / "o.npz") as z:
        assert z["ids"].tolist() == ["a", "d"]


def test_of_many_empty_documents_ten_are_named(ddsc, tmp_path):
    write_vectors(tmp_path / "v.txt", VECTORS)
    docs = write_table(tmp_path / "d.tsv", ["text"], [["alpha"]] + [["nothing"]] * 25)
    message = ddsc("text", docs, "--vectors", tmp_path / "v.txt", "-o", tmp_path / "o", "--on-empty",
                   "error", code=3).stderr
    assert "25 of 26" in message and "line 12, ..." in message and "line 13" not in message


def test_words_in_every_document_weigh_nothing(ddsc, tmp_path):
    write_vectors(tmp_path / "v.txt", VECTORS)
    docs = write_table(tmp_path / "d.tsv", ["text"], [["alpha"], ["alpha"]])
    words = ["text", docs, "--vectors", tmp_path / "v.txt", "-o", tmp_path / "o.npz"]
    assert "smooth idf or tf" in ddsc(*words, "--on-empty", "drop", code=3).stderr
    ddsc(*words, "--idf", "smooth")


# ---- lemmas ----

def test_noun_lemmas(ddsc, tmp_path):
    (tmp_path / "noun.exc").write_text("geese goose\nfeet foot\naxes ax axis\n")
    (tmp_path / "index.noun").write_text("  1 licence\n" + "".join(
        f"{w} n 1 0 1 0 00001\n" for w in "cat glass box quiz church bush man city gas goose "
        "foot mas ab".split()))
    forms = {"cats": "cat", "glasses": "glass", "boxes": "box", "churches": "church",
             "bushes": "bush", "men": "men", "women": "women", "cities": "city", "gases": "gas",
             "geese": "goose", "feet": "foot", "axes": "ax", "mass": "mass", "dogs": "dogs",
             "s": "s", "abs": "ab", "salesmen": "salesmen", "Cats": "cat", "cat": "cat"}
    bases = sorted(set(forms.values()))
    write_vectors(tmp_path / "v.txt", {b: [float(i)] for i, b in enumerate(bases)})
    docs = write_table(tmp_path / "d.tsv", ["text"], [[f] for f in forms])
    words = ["text", docs, "--vectors", tmp_path / "v.txt", "--weighting", "tf", "-o",
             tmp_path / "o.npz"]
    ddsc(*words, "--lemmas", tmp_path)
    assert items_of(tmp_path / "o.npz") == [{(float(bases.index(b)),): 1.0} for b in forms.values()]
    (tmp_path / "index.noun").unlink()
    assert "index.noun" in ddsc(*words, "-f", "--lemmas", tmp_path, code=3).stderr


# ---- the same bytes ----

def test_bytes_do_not_depend_on_threads_or_packing(ddsc, tmp_path):
    texts, vectors = corpus(7, 60)
    docs = write_table(tmp_path / "d.tsv", ["text"], [[t] for t in texts])
    packed = write_table(tmp_path / "d.tsv.gz", ["text"], [[t] for t in texts])
    write_vectors(tmp_path / "v.txt", vectors)
    write_vectors(tmp_path / "v.txt.gz", vectors, header=True)
    first = None
    for d, v, threads in [(docs, "v.txt", 1), (packed, "v.txt", 2), ("-", "v.txt.gz", 5)]:
        out = ddsc("text", d, "--vectors", tmp_path / v, "--support", "4", "--threads", threads,
                   "-o", "-", stdin=packed.read_bytes(), binary=True).stdout
        assert out[:2] == b"PK" and (first is None or out == first)
        first = out


# ---- bad files ----

GOOD_DOCS, GOOD_VECTORS = b"text\tlabel\nalpha\t1\nbeta\t2\n", b"alpha 1 2\nbeta 3 4\n"
BAD = {
    "empty documents": (b"", GOOD_VECTORS, [], "d.tsv: is empty"),
    "header alone": (b"text\n", GOOD_VECTORS, [], "has a header but no documents"),
    "no text column": (b"a\tb\nx\ty\n", GOOD_VECTORS, [], "--text"),
    "commas": (b"name,label\nx,y\n", GOOD_VECTORS, [], "the columns are: name, label"),
    "missing text column": (GOOD_DOCS, GOOD_VECTORS, ["--text", "text,bdy"], 'the name "bdy"'),
    "missing label column": (GOOD_DOCS, GOOD_VECTORS, ["--label", "class"], 'the name "class"'),
    "missing id column": (GOOD_DOCS, GOOD_VECTORS, ["--id", "nr"], 'the name "nr"'),
    "missing where column": (GOOD_DOCS, GOOD_VECTORS, ["--where", "x=1"], 'the name "x"'),
    "nothing matches": (GOOD_DOCS, GOOD_VECTORS, ["--where", "label=9"], "none of its 2 rows"),
    "column twice": (b"text\ttext\na\tb\n", GOOD_VECTORS, [], "1 and 2 both have the name"),
    "id twice": (b"id\ttext\nq\talpha\nq\tbeta\n", GOOD_VECTORS, [], 'line 3: the id "q"'),
    "id empty": (b"id\ttext\n\talpha\n", GOOD_VECTORS, [], "line 2: the id is empty"),
    "ragged row": (b"text\tlabel\nalpha\t1\nbeta\n", GOOD_VECTORS, [], "line 3 has 1 fields"),
    "long row": (b"text\tlabel\nalpha\t1\t2\n", GOOD_VECTORS, [], "line 2 has 3 fields"),
    "label not text": (b"label\ttext\n\xff\talpha\n", GOOD_VECTORS, [], "line 2, column 1: not UTF-8"),
    "id not text": (b"text\tid\nalpha\t\xff\n", GOOD_VECTORS, [], "line 2, column 2: not UTF-8"),
    "zero byte": (b"text\nal\0pha\n", GOOD_VECTORS, [], "line 2 contains a zero byte"),
    "no words": (b"text\n...\n", GOOD_VECTORS, [], "contain no words"),
    "cut gzip": (gzip.compress(GOOD_DOCS)[:-12], GOOD_VECTORS, [], "truncated"),
    "bzip2": (GOOD_DOCS, b"BZh91AY&SY", [], "bzip2"),
    "empty vectors": (GOOD_DOCS, b"", [], "v.txt: is empty"),
    "blank vectors": (GOOD_DOCS, b"\n \n", [], "contains no word vectors"),
    "header alone in vectors": (GOOD_DOCS, b"0 5\n", [], "contains no word vectors"),
    "binary vectors": (GOOD_DOCS, b"2 2\nalpha \0\0\x80\x3f", [], "at most 10 bytes follow"),
    "late zero byte": (GOOD_DOCS, b"word 1 2\n" * 1000 + b"w\0 1 2\n", [], "line 1001 contains a zero"),
    "npz for vectors": (GOOD_DOCS, b"PK\3\4\0\0\0\0", [], "damaged zip archive"),
    "prose for vectors": (GOOD_DOCS, b"Dear reader, hello\n", [], '"reader," is not a number'),
    "word alone": (GOOD_DOCS, b"alpha\n", [], "is not a word vector"),
    "short vector": (GOOD_DOCS, b"alpha 1 2\nbeta 3\n", [], "line 2 has 1 numbers"),
    "long vector": (GOOD_DOCS, b"alpha 1 2\nbeta 3 4 5\n", [], "line 2 has 3 numbers"),
    "no word": (GOOD_DOCS, b"alpha 1 2\n 3 4\n", [], "line 2 has 1 numbers"),
    "nan": (GOOD_DOCS, b"alpha 1 2\nbeta nan 4\n", [], 'word "beta": "nan" is not a finite number'),
    "nan unused": (GOOD_DOCS, b"alpha 1 2\nbeta 3 4\nrest 5 NaN\n", [], "line 3, word \"rest\""),
    "inf": (GOOD_DOCS, b"alpha 1 -inf\nbeta 3 4\n", [], '"-inf" is not a finite number'),
    "overflow": (GOOD_DOCS, b"alpha 1 1e999\nbeta 3 4\n", [], '"1e999" is not a finite number'),
    "too large to square": (GOOD_DOCS, b"alpha 1 1e200\nbeta 3 4\n", [], "too large to square"),
    "no number": (GOOD_DOCS, b"alpha 1 2-3\nbeta 3 4\n", [], '"2-3" is not a number'),
    "header promises more": (GOOD_DOCS, b"3 2\n" + GOOD_VECTORS, [], "declares 3 words, but 2"),
    "header promises less": (GOOD_DOCS, b"1 2\n" + GOOD_VECTORS, [], "declares 1 words, but 2"),
    "header lies about dim": (GOOD_DOCS, b"2 9999999999\n" + GOOD_VECTORS, [], "line 2 has 2"),
    "header of dim 0": (GOOD_DOCS, b"2 0\n" + GOOD_VECTORS, [], "is not a word vector"),
    "no overlap": (GOOD_DOCS, b"other 1 2\n", [], 'any of the 2 words of the documents ("alpha"'),
    "capitals": (GOOD_DOCS, b"Alpha 1 2\n", [], "lower case"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_files(ddsc, tmp_path, name):
    docs, vectors, words, message = BAD[name]
    (tmp_path / "d.tsv").write_bytes(docs)
    (tmp_path / "v.txt").write_bytes(vectors)
    done = ddsc("text", tmp_path / "d.tsv", "--vectors", tmp_path / "v.txt", "-o",
                tmp_path / "o.npz", *words, code=3)
    assert message in done.stderr
    assert done.stdout == "" and not (tmp_path / "o.npz").exists()


def test_overlong_words_do_no_harm(ddsc, tmp_path):
    long = "w" * 3_000_000
    (tmp_path / "d.tsv").write_text(f"text\nalpha {long}\n{long} beta\n")
    (tmp_path / "v.txt").write_text(f"alpha 1 2\n{long} 5 6\n{long}x 7 8\nbeta 3 4\n")
    ddsc("text", tmp_path / "d.tsv", "--vectors", tmp_path / "v.txt", "--weighting", "tf", "-o",
         tmp_path / "o.npz")
    assert len(items_of(tmp_path / "o.npz")[0]) == 2
    (tmp_path / "v.txt").write_text(f"alpha 1 2\n{long} 5 x\n")
    message = ddsc("text", tmp_path / "d.tsv", "--vectors", tmp_path / "v.txt", "-f", "-o",
                   tmp_path / "o.npz", code=3).stderr
    assert "line 2" in message and len(message) < 1000


@pytest.mark.parametrize("words, message", [
    (["d.tsv", "-o", "x.npz"], "words = general requires a file of vectors"),
    (["d.tsv", "--vectors", "v.txt"], "-o FILE"),
    (["--vectors", "v.txt", "-o", "x.npz"], "no input given"),
    (["d.tsv", "--vectors", "v.txt", "-o", "-", "--json"], "both use standard output"),
    (["d.tsv", "--vectors", "v.txt", "-o", "x", "--where", "nonsense"], "is not COLUMN=VALUE"),
    (["d.tsv", "--vectors", "v.txt", "-o", "x", "--support", "-1"], "at least 0"),
    (["d.tsv", "--vectors", "v.txt", "-o", "x", "--idf", "smoth"], "did you mean 'smooth'?"),
    (["-", "--vectors", "-", "-o", "x.npz"], "only one file can be read from standard input"),
])
def test_bad_usage(ddsc, tmp_path, words, message):
    done = ddsc("text", *words, code=2, cwd=tmp_path)
    assert message in done.stderr and list(tmp_path.iterdir()) == []


# ---- the sets of the paper ----

def read_table(path):
    with gzip.open(path, "rt", encoding="utf-8") as f:
        head = next(f).rstrip("\n").split("\t")
        return [dict(zip(head, line.rstrip("\n").split("\t"))) for line in f]


@pytest.fixture(scope="module")
def glove(data_dir):
    path = data_dir / "text" / "glove.6B.100d.subset.txt.gz"
    with gzip.open(path, "rt", encoding="utf-8") as f:
        rows = (line.rstrip("\n").split(" ") for line in f)
        return path, {r[0]: [float(x) for x in r[1:]] for r in rows}


def paper_words(data_dir, name):
    """Return the command of docs/notes/words.md, without its -o."""
    commands = (SOURCE / "docs" / "notes" / "words.md").read_text().replace("\\\n", " ").splitlines()
    line, = (c for c in commands if c.startswith(f"ddsc text {name}."))
    words = shlex.split(line)[1:-2]
    text = data_dir / "text"
    files = {"glove.6B.100d.txt.gz": text / "glove.6B.100d.subset.txt.gz",
             "stoplist2.txt": text / "stoplist2.txt", f"{name}.tsv.gz": text / f"{name}.tsv.gz"}
    return [files.get(word, word) for word in words]


@pytest.mark.parametrize("name, n, n_empty", [
    ("bbcsport", 737, 0), ("bbc", 2225, 1), ("reuters5", 1203, 0)])
@not_sanitized
def test_sets_of_the_paper_word_by_word(ddsc, tmp_path, data_dir, glove, name, n, n_empty):
    rows = [r for r in read_table(data_dir / "text" / f"{name}.tsv.gz")
            if r.get("modapte", "yes") == "yes"]
    stop = set((data_dir / "text" / "stoplist2.txt").read_text().split())
    reuters = name == "reuters5"
    texts = [r["title"] + " " + r["body"] if reuters else r["abstract"] for r in rows]
    items, counts = oracle(texts, glove[1], stop, "letters" if reuters else "punctuation", "tfidf",
                           "smooth" if reuters else "plain")
    data = json.loads(ddsc(*paper_words(data_dir, name), "--support", "0", "--json", "-o",
                           tmp_path / "o.npz").stdout)
    assert (data["n"], data["empty"]["count"]) == (n, n_empty)
    assert {k: data["coverage"][k] for k in counts} == counts
    assert_same_items(items_of(tmp_path / "o.npz"), items)
    with np.load(tmp_path / "o.npz") as z:
        assert len(set(z["ids"])) == n - n_empty
        names = {r["newid"] if reuters else f"{r['label']}/{r['doc']}": r["label"] for r in rows}
        assert len({(label, names[i]) for label, i in zip(z["labels"], z["ids"])}) == 5


@not_sanitized
def test_merged_documents_have_16_points_and_the_error_told(ddsc, tmp_path, data_dir):
    words = paper_words(data_dir, "bbcsport")
    ddsc(*words, "--support", "0", "-o", tmp_path / "all.npz")
    data = json.loads(ddsc(*words, "--json", "-o", tmp_path / "few.npz").stdout)
    before, after, errors = items_of(tmp_path / "all.npz"), items_of(tmp_path / "few.npz"), []
    assert max(map(len, after)) == 16 and data["compress"]["m"] == 16
    assert data["compress"]["points_before"] == sum(map(len, before))
    assert data["compress"]["points_after"] == sum(map(len, after))
    for a, b in zip(before, after):
        if len(a) <= 16:
            assert a.keys() == b.keys()
            errors.append(0)
            continue
        x, y = np.array(list(a)), np.array(list(b))
        p, q = np.array(list(a.values())), np.array(list(b.values()))
        assert q.sum() == pytest.approx(1, abs=1e-12)
        assert np.allclose(p @ x, q @ y, atol=1e-9)  # merging keeps the mean
        errors.append(ot.emd2(p, q / q.sum() * p.sum(), ot.dist(x, y)) ** 0.5)
    assert data["compress"]["mean_w2"] == pytest.approx(np.mean(errors), rel=1e-6)
    assert data["compress"]["max_w2"] == pytest.approx(np.max(errors), rel=1e-6)
