"""Documents and vectors in common formats: csv, JSON lines, folders, word2vec binary, npy."""
import csv
import gzip
import json
import struct

import numpy as np
import pytest

from conftest import not_sanitized

ROWS = [("a", "pets", "Cats, \"dogs\"\nand cats"), ("b", "food", "bread and butter"),
        ("c", "pets", "dogs; cats | birds"), ("d", "food", "butter bread wine")]
WORDS = ["cats", "dogs", "and", "bread", "butter", "birds"]
TABLE = np.random.default_rng(3).normal(size=(len(WORDS), 4)).astype("<f4")


def quoted(text):
    return '"' + text.replace('"', '""') + '"'


def write_csv(path, separator):
    lines = [separator.join(("id", "label", "text"))]
    lines += [separator.join((i, k, quoted(t))) for i, k, t in ROWS]
    path.write_text("\n".join(lines) + "\n")


@pytest.fixture
def vectors(tmp_path):
    path = tmp_path / "glove.txt"
    path.write_text("".join(f"{w} {' '.join(repr(float(x)) for x in v)}\n" for w, v in zip(WORDS, TABLE)))
    return path


@pytest.fixture
def reference(ddsc, tmp_path, vectors):
    path = tmp_path / "docs.tsv"
    path.write_text("id\tlabel\ttext\n" + "".join(
        f"{i}\t{k}\t{t}\n".replace("\nand", " and") for i, k, t in ROWS))
    return encode(ddsc, path, vectors, tmp_path)[0]


def encode(ddsc, path, vectors, tmp_path, *more):
    out = tmp_path / "out.npz"
    paths = path if isinstance(path, list) else [path]
    done = ddsc("text", *paths, "--vectors", vectors, "--words", "general", "--support", 0, "--idf",
                "smooth", *more, "-o", out, "-f", "--json")
    with np.load(out) as data:
        return {name: data[name] for name in data.files}, json.loads(done.stdout)


def assert_same(a, b, names=("points", "support", "indices", "weights", "offsets", "labels", "ids",
                             "label_names", "titles", "point_names")):
    for name in names:
        assert (name in a) == (name in b), name
        assert name not in a or np.array_equal(a[name], b[name]), name


@pytest.mark.parametrize("separator", [",", ";", "|"])
def test_csv(ddsc, tmp_path, vectors, reference, separator):
    path = tmp_path / "docs.csv"
    write_csv(path, separator)
    assert_same(reference, encode(ddsc, path, vectors, tmp_path)[0])


def test_json_lines(ddsc, tmp_path, vectors, reference):
    path = tmp_path / "docs.jsonl"
    lines = [json.dumps({"label": k, "meta": {"x": [1, "}"]}, "text": t, "n": None, "id": i},
                        ensure_ascii=i != "a") for i, k, t in ROWS]
    path.write_text("\n" + "\n\n".join(lines) + "\n")
    assert_same(reference, encode(ddsc, path, vectors, tmp_path)[0])
    packed = tmp_path / "docs.jsonl.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert_same(reference, encode(ddsc, packed, vectors, tmp_path)[0])
    done = ddsc("text", "-", "--vectors", vectors, "-o", tmp_path / "stdin.npz",
                stdin=path.read_bytes())
    assert "4 documents" in done.stdout


def test_json_escapes(ddsc, tmp_path):
    path = tmp_path / "docs.jsonl"
    text = "été \U0001f600 \t\"x\" ab\\cd"
    path.write_text("".join(json.dumps({"text": text + f" same {i // 2}"}) + "\n" for i in range(4)))
    ddsc("text", path, "--words", "own", "-o", tmp_path / "o.npz")
    with np.load(tmp_path / "o.npz") as data:
        assert data["titles"][0] == "été \U0001f600 \"x\" ab\\cd same 0"


@pytest.mark.parametrize("line, said", [
    ('{"text": "a"', "comma or a closing brace"), ('{"text": "a\\x"}', "escape"),
    ('{"text" "a"}', "a colon"), ('["a"]', "opening brace"), ('{"text": "a', "closing quote"),
    ('{"text": [1, {"x": 2}', "closing bracket"), ('{"text": "a"} x', "end of the line"),
    ('{text: 1}', "key in quotes"), ('{"text": "\\ud8"}', "escape"), ('{"text":,}', "a value")])
def test_bad_json(ddsc, tmp_path, line, said):
    path = tmp_path / "docs.jsonl"
    path.write_text('{"text": "good words"}\n' + line + "\n")
    error = ddsc("text", path, "-o", tmp_path / "o.npz", code=3).stderr
    assert "line 2" in error and said in error


def test_folder(ddsc, tmp_path, vectors, reference):
    folder = tmp_path / "docs"
    for i, k, t in ROWS:
        (folder / k).mkdir(parents=True, exist_ok=True)
        (folder / k / f"{i}.txt").write_text(t)
    (folder / "notes.md").write_text("not a document")
    data, said = encode(ddsc, folder, vectors, tmp_path)
    assert data["ids"].tolist() == ["food/b", "food/d", "pets/a", "pets/c"]
    assert data["label_names"].tolist() == ["food", "pets"]
    assert said["columns"]["text"] == "text" and said["rows"] == 4
    files = [folder / k / f"{i}.txt" for i, k, _ in ROWS]
    listed = encode(ddsc, files, vectors, tmp_path)[0]
    assert "labels" not in listed
    assert_same(listed, reference, ("support", "points", "weights", "offsets", "ids", "titles"))
    (tmp_path / "empty").mkdir()
    assert "no .txt files" in ddsc("text", tmp_path / "empty", "-o", tmp_path / "o.npz", code=3).stderr
    (folder / "bad.txt").write_bytes(b"a\0b")
    assert "zero byte" in ddsc("text", folder, "-o", tmp_path / "o.npz", code=3).stderr


def word2vec(words, table, newline=b"\n"):
    return b"%d %d\n" % table.shape + b"".join(
        w.encode() + b" " + v.tobytes() + newline for w, v in zip(words, table))


@pytest.mark.parametrize("newline", [b"", b"\n"])
@pytest.mark.parametrize("packed", [False, True])
def test_word2vec_binary(ddsc, tmp_path, vectors, reference, newline, packed):
    data = word2vec(WORDS, TABLE, newline)
    path = tmp_path / "vectors.bin"
    path.write_bytes(gzip.compress(data) if packed else data)
    found, said = encode(ddsc, tmp_path / "docs.tsv", path, tmp_path)
    assert_same(reference, found)
    assert said["coverage"]["vectors"] == len(WORDS)
    assert said["coverage"]["missing"] == "wine (1)"


@pytest.mark.parametrize("data, said", [
    (word2vec(WORDS, TABLE)[:-3], "early|at most"), (b"9 4\n" + word2vec(WORDS, TABLE)[4:], "early|at most"),
    (b"99999999999 4\na \0\0\0\0", "at most"), (b"1 99999999999\na \0\0\0\0", "count and dimension"),
    (b"\0\1\2", "count and dimension|early"), (b"1 1\ncats " + struct.pack("<f", np.inf) + b"\0", "not finite"),
    (b"1 1\n" + b"a" * 3000 + b" \0\0\0\0", "damaged"), (b"2 4\n" + word2vec(WORDS, TABLE)[4:], "more bytes follow")])
def test_bad_binary_vectors(ddsc, tmp_path, data, said):
    (tmp_path / "docs.tsv").write_text("text\ncats dogs\ncats\n")
    (tmp_path / "v.bin").write_bytes(data)
    error = ddsc("text", tmp_path / "docs.tsv", "--vectors", tmp_path / "v.bin", "-o",
                 tmp_path / "o.npz", code=3).stderr
    assert any(part in error for part in said.split("|")), error


def test_matrix_of_vectors(ddsc, tmp_path, reference):
    np.save(tmp_path / "m.npy", TABLE)
    words = ["text", tmp_path / "docs.tsv", "--vectors", tmp_path / "m.npy", "-o", tmp_path / "o.npz"]
    assert ".vocab" in ddsc(*words, code=3).stderr
    (tmp_path / "m.vocab").write_text("\n".join(WORDS) + "\n")
    assert_same(reference, encode(ddsc, tmp_path / "docs.tsv", tmp_path / "m.npy", tmp_path)[0])
    (tmp_path / "m.vocab").write_text("\n".join(WORDS[1:]) + "\n")
    assert "5 lines" in ddsc(*words, code=3).stderr


def test_fasttext_vec(ddsc, tmp_path, vectors, reference):
    path = tmp_path / "wiki.vec"
    path.write_text(f"{len(WORDS)} 4\n" + vectors.read_text().replace("\n", " \n"))
    assert_same(reference, encode(ddsc, tmp_path / "docs.tsv", path, tmp_path)[0])


def test_empty_documents_are_dropped_and_counted(ddsc, tmp_path, vectors):
    path = tmp_path / "docs.csv"
    path.write_text("id,text\na,cats dogs\nb,zzz\nc,bread cats\nd,dogs butter\n")
    done = ddsc("text", path, "--vectors", vectors, "--words", "general", "-o", tmp_path / "o.npz")
    assert "1 document dropped" in done.stdout and "zzz (1)" in done.stdout
    error = ddsc("text", path, "--vectors", vectors, "--words", "general", "--on-empty", "error", "-f",
                 "-o", tmp_path / "o.npz", code=3).stderr
    assert '"b"' in error


def test_names_of_words_and_titles(ddsc, tmp_path, vectors, reference):
    assert set(reference["point_names"]) == set(WORDS)
    assert reference["titles"][1] == "bread and butter"
    merged = tmp_path / "merged.npz"
    ddsc("text", tmp_path / "docs.tsv", "--vectors", vectors, "--support", 1, "-o", merged)
    with np.load(merged) as data:
        names = {" + ".join(sorted(name.split(" + "))) for name in data["point_names"]}
        assert "bread + butter" in names and data["titles"][1] == "bread and butter"


def test_columns_that_files_have_not(ddsc, tmp_path):
    (tmp_path / "a").mkdir()
    for k in range(2):
        (tmp_path / "a" / f"{k}.txt").write_text("a cat and a dog")
    for words, name in ((["--where", "year=1"], "year"), (["--text", "body"], "body")):
        error = ddsc("text", tmp_path / "a", *words, "-o", tmp_path / "o.npz", code=3).stderr
        assert f'no column has the name "{name}"; files have the columns: id, text' in error


@not_sanitized
def test_bbc_as_csv_with_titles_and_word2vec(ddsc, data_dir, tmp_path):
    """News in a table with quotes and vectors in word2vec format: one command, which preserves titles and words."""
    if not (data_dir / "text" / "bbc.tsv.gz").exists():
        pytest.skip("no news")
    with gzip.open(data_dir / "text" / "bbc.tsv.gz", "rt", encoding="utf-8") as f:
        rows = [line.rstrip("\n").split("\t") for line in f]
    with open(tmp_path / "bbc.csv", "w", newline="", encoding="utf-8") as f:
        csv.writer(f).writerows([rows[0], *rows[1::8]])
    with gzip.open(data_dir / "text" / "glove.6B.100d.subset.txt.gz", "rt", encoding="utf-8") as f:
        lines = [line.split() for line in f]
    (tmp_path / "vectors.bin").write_bytes(b"%d 100\n" % len(lines) + b"".join(
        line[0].encode() + b" " + np.array(line[1:], "<f4").tobytes() + b"\n" for line in lines))
    ddsc("text", tmp_path / "bbc.csv", "--vectors", tmp_path / "vectors.bin", "--text", "title,abstract",
         "--id", "label,doc", "-o", tmp_path / "docs.npz")
    data = np.load(tmp_path / "docs.npz")
    titles = {f"{r[0]}/{r[1]}": " ".join(r[2].split()) for r in rows[1::8]}
    assert len(data["ids"]) > 270
    assert all(titles[i].startswith(t[:20]) for i, t in zip(data["ids"], data["titles"]))
    ddsc("cluster", tmp_path / "docs.npz", "-k", 5, "-o", tmp_path / "topics")
    told = json.loads((tmp_path / "topics" / "result.json").read_text())
    assert told["scores"]["ami"] > 0.6
    assert "microsoft" in json.dumps(told) or "film" in json.dumps(told)


def test_a_key_twice_is_refused(ddsc, tmp_path):
    (tmp_path / "a.jsonl").write_text('{"id": "a", "text": "cats", "text": "dogs"}\n')
    error = ddsc("text", tmp_path / "a.jsonl", "-o", tmp_path / "o.npz", code=3).stderr
    assert '"text" occurs twice' in error and "line 1" in error
