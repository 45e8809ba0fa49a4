"""Text that is not UTF-8 is rejected by every reader, or converted with --encoding. Every written file can be read."""
import json
import struct

import numpy as np
import pytest

WORDS = "Größe", "âge", "naïf"
NEXT = {"latin1": "latin1", "iso-8859-1": "latin1", "cp1252": "cp1252", "windows-1252": "cp1252"}


def table(rows, encoding):
    return "".join(",".join(map(str, row)) + "\n" for row in rows).encode(encoding)


@pytest.fixture
def items(ddsc, tmp_path):
    ddsc("generate", "gaussians", "--items", "10", "--points", "10", "-o", tmp_path / "g.npz", "-q")
    return tmp_path / "g.npz"


def write_meta(path, encoding, name="café", value="Ü"):
    path.write_bytes(table([("id", name)] + [(i, f"{value}{i % 3}") for i in range(30)], encoding))
    return path


def open_all(ddsc, folder, items):
    """ddsc reads every file of a result."""
    for name in sorted(p.name for p in folder.iterdir()):
        path = folder / name
        if name.endswith(".csv"):
            path.read_text(encoding="utf-8")
            if name == "labels.csv":
                ddsc("score", path, path)
        elif name == "model.npz":
            ddsc("assign", path, items, "-q")
            ddsc("info", path)
        elif name == "result.json":
            ddsc("report", folder, "-f", "-q")
            ddsc("explain", folder, "0", "1")
            ddsc("name", folder, "0=ä", "-q")
            json.loads(path.read_text(encoding="utf-8"))
        elif name == "graph.mtx":
            assert path.read_bytes().startswith(b"%%MatrixMarket")
        elif name.endswith(".npy"):
            np.load(path)
        else:
            path.read_text(encoding="utf-8")
            assert name == "report.html", f"how is {name} opened?"


@pytest.mark.parametrize("header", [True, False])
def test_meta_is_refused_before_the_work(ddsc, tmp_path, items, header):
    meta = tmp_path / "m.csv"
    write_meta(meta, "latin1", *(("café", "x") if header else ("cafe", "é")))
    error = ddsc("cluster", items, "-k", "3", "--meta", meta, "-o", tmp_path / "o", "-q", code=3).stderr
    assert f"m.csv: line {1 if header else 2}, column 2: not UTF-8" in error and "--encoding" in error
    assert not (tmp_path / "o").exists()
    ddsc("convert", items, "--meta", meta, "-o", tmp_path / "c.npz", "-q", code=3)
    assert not (tmp_path / "c.npz").exists()


@pytest.mark.parametrize("encoding", NEXT)
def test_meta_is_converted_and_every_file_can_be_read(ddsc, tmp_path, items, encoding):
    meta = write_meta(tmp_path / "m.csv", NEXT[encoding])
    out = tmp_path / "o"
    ddsc("cluster", items, "-k", "3", "--meta", meta, "--encoding", encoding, "-o", out, "-q")
    assert list(np.load(out / "model.npz")["meta_names"]) == ["café"]
    assert "Ü1" in (out / "items.csv").read_text(encoding="utf-8")
    open_all(ddsc, out, items)
    ddsc("convert", items, "--meta", meta, "--encoding", encoding, "-o", tmp_path / "c.npz", "-q")
    assert "café" in ddsc("info", tmp_path / "c.npz").stdout


def test_windows_1252_is_more_than_latin1(ddsc, tmp_path, items):
    meta = write_meta(tmp_path / "m.csv", "cp1252", "prix €", "“Š”")
    ddsc("convert", items, "--meta", meta, "--encoding", "cp1252", "-o", tmp_path / "c.npz", "-q")
    data = np.load(tmp_path / "c.npz")
    assert list(data["meta_names"]) == ["prix €"] and data["meta"][1] == "“Š”1"


def test_marks(ddsc, tmp_path, items):
    """A byte order mark of UTF-8 overrides the option; UTF-16 is reported by name."""
    meta = write_meta(tmp_path / "m.csv", "utf-8-sig")
    for words in ((), ("--encoding", "latin1"), ("--encoding", "utf-8")):
        ddsc("convert", items, "--meta", meta, *words, "-o", tmp_path / "c.npz", "-q", "-f")
        assert list(np.load(tmp_path / "c.npz")["meta_names"]) == ["café"]
    for encoding in ("utf-16", "utf-16-le"):
        write_meta(meta, encoding)
        error = ddsc("convert", items, "--meta", meta, "-o", tmp_path / "d.npz", code=3).stderr
        assert ("UTF-16" if encoding == "utf-16" else "not a UTF-8 text file") in error


def test_latin1_that_is_also_utf8(ddsc, tmp_path, items):
    """The option is used even if the bytes are valid UTF-8: É» in Latin-1 is one character in UTF-8."""
    meta = write_meta(tmp_path / "m.csv", "latin1", "«CAFÉ»")
    ddsc("convert", items, "--meta", meta, "--encoding", "latin1", "-o", tmp_path / "c.npz", "-q")
    assert list(np.load(tmp_path / "c.npz")["meta_names"]) == ["«CAFÉ»"]


def documents(tmp_path, encoding):
    texts = ["Größe und Maß", "Größe oder Maß", "Maß und Größe Straße"] * 4
    (tmp_path / "d.tsv").write_bytes(("text\n" + "\n".join(texts) + "\n").encode(encoding))
    (tmp_path / "d.jsonl").write_bytes("".join(json.dumps({"text": t}, ensure_ascii=False) + "\n"
                                               for t in texts).encode(encoding))
    (tmp_path / "txt").mkdir(exist_ok=True)
    for k, text in enumerate(texts):
        (tmp_path / "txt" / f"{k}.txt").write_bytes(text.encode(encoding))
    return [tmp_path / name for name in ("d.tsv", "d.jsonl", "txt")]


def test_documents(ddsc, tmp_path):
    for path in documents(tmp_path, "latin1"):
        error = ddsc("text", path, "-o", tmp_path / "o.npz", "-q", "-f", code=3).stderr
        assert "not UTF-8" in error and "--encoding" in error
        ddsc("text", path, "--encoding", "latin1", "-o", tmp_path / "o.npz", "-q", "-f")
        assert "größe" in list(np.load(tmp_path / "o.npz")["text_words"])
        assert "Größe und Maß" in list(np.load(tmp_path / "o.npz")["titles"])


def test_vectors_and_stop_words(ddsc, tmp_path):
    docs = documents(tmp_path, "utf-8")[0]
    vectors = "größe 1 2\nmaß 3 4\nstraße 1 1\n"
    plain = tmp_path / "v.txt"
    for name, text in (("--vectors", vectors), ("--stopwords", "maß\n")):
        plain.write_bytes(text.encode("latin1"))
        error = ddsc("text", docs, name, plain, "-o", tmp_path / "o.npz", "-q", code=3).stderr
        assert "v.txt: line 1" in error and "not UTF-8" in error
    both = documents(tmp_path, "latin1")[0]
    binary = tmp_path / "v.bin"
    binary.write_bytes(b"2 2\n" + "größe ".encode("latin1") + struct.pack("<2f", 1, 2) + b"\n"
                       + "maß ".encode("latin1") + struct.pack("<2f", 3, 4) + b"\n")
    plain.write_bytes(vectors.encode("latin1"))
    np.save(tmp_path / "m.npy", np.eye(2))
    (tmp_path / "m.vocab").write_bytes("größe\nmaß\n".encode("latin1"))
    for path in (plain, binary, tmp_path / "m.npy"):
        ddsc("text", both, "--vectors", path, "--encoding", "latin1", "--words", "general",
             "--weighting", "tf", "-o", tmp_path / "o.npz", "-q", "-f")


CLASSES = "id,label\n" + "".join(f"{i},{'Größe' if i < 5 else 'b'}\n" for i in range(30))


def test_labels_and_truth(ddsc, tmp_path, items):
    truth = tmp_path / "t.csv"
    truth.write_bytes(CLASSES.encode("latin1"))
    plain = tmp_path / "u.csv"
    plain.write_text(CLASSES, encoding="utf-8")
    for words in (("score", truth, truth), ("cluster", items, "-k", "2", "--truth", truth, "-o", tmp_path / "o"),
                  ("info", items, "--labels", truth)):
        assert "t.csv: line 2, column 2: not UTF-8" in ddsc(*words, code=3).stderr
        ddsc(*words, "--encoding", "latin1")
    assert "Größe" in ddsc("info", items, "--labels", truth, "--encoding", "latin1").stdout


def test_tables_of_points_and_patterns(ddsc, tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(table([("id", "größe", "title"), ("ä", 1, "ö"), ("b", 2, "ü")], "latin1"))
    assert "line 1, column 2: not UTF-8" in ddsc("info", path, code=3).stderr
    ddsc("convert", path, "--encoding", "latin1", "-o", tmp_path / "a.npz", "-q")
    data = np.load(tmp_path / "a.npz")
    assert list(data["ids"]) == ["ä", "b"] and list(data["coordinate_names"]) == ["größe"]
    assert list(data["titles"]) == ["ö", "ü"]


def test_quoted_fields_over_lines(ddsc, tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes('id,x\n"ä\nö",1\n"é""",2\n'.encode("latin1"))
    ddsc("convert", path, "--encoding", "latin1", "-o", tmp_path / "a.npz", "-q")
    assert list(np.load(tmp_path / "a.npz")["ids"]) == ["ä\nö", 'é"']


def test_matrices(ddsc, tmp_path):
    path = tmp_path / "m.csv"
    path.write_bytes("x,ä,b\nä,0,1\nb,1,0\n".encode("latin1"))
    error = ddsc("cluster", path, "--precomputed", "-k", "1", code=3).stderr
    assert "m.csv: line 1, column 2: not UTF-8" in error
    ddsc("info", path, "--encoding", "nonsense", code=2)


def test_point_clouds(ddsc, tmp_path):
    path = tmp_path / "a.ply"
    head = "ply\nformat ascii 1.0\ncomment Größe\nelement vertex 2\nproperty float x\nproperty float y\n" \
           "property float z\nproperty float é\nend_header\n1 2 3 4\n2 3 4 5\n"
    path.write_bytes(head.encode("latin1"))
    assert "line 3: not UTF-8" in ddsc("info", path, code=3).stderr
    ddsc("convert", path, "--columns", "*", "--encoding", "latin1", "-o", tmp_path / "a.npz", "-q")
    assert list(np.load(tmp_path / "a.npz")["coordinate_names"]) == ["x", "y", "z", "é"]


def fcs(path, names, encoding="latin1", tot=4):
    data = struct.pack("<8f", *range(8))
    text = ("/$BEGINANALYSIS/0/$ENDANALYSIS/0/$BEGINSTEXT/0/$ENDSTEXT/0/$BEGINDATA/400/"
            f"$ENDDATA/{399 + len(data)}/$BYTEORD/1,2,3,4/$DATATYPE/F/$MODE/L/$NEXTDATA/0/$PAR/2/$TOT/{tot}/"
            + "".join(f"$P{k + 1}B/32/$P{k + 1}E/0,0/$P{k + 1}N/{name}/$P{k + 1}R/1000/"
                      for k, name in enumerate(names))).encode(encoding)
    head = b"FCS3.1    " + b"%8d%8d%8d%8d%8d%8d" % (58, 57 + len(text), 400, 399 + len(data), 0, 0)
    path.write_bytes((head + text).ljust(400) + data)


def test_channels(ddsc, tmp_path):
    fcs(tmp_path / "a.fcs", ["µ", "b"])
    assert "$P1N is not UTF-8" in ddsc("info", tmp_path / "a.fcs", code=3).stderr
    ddsc("convert", tmp_path / "a.fcs", "--encoding", "latin1", "-o", tmp_path / "a.npz", "-q")
    assert list(np.load(tmp_path / "a.npz")["coordinate_names"]) == ["µ", "b"]


@pytest.mark.parametrize("tot", [4, 3, 2, 1])
def test_events_that_are_not_counted(ddsc, tmp_path, tot):
    """Not dropped silently: one less than there are is as wrong as two."""
    fcs(tmp_path / "a.fcs", ["a", "b"], tot=tot)
    if tot == 4:
        assert "points       4 in total" in ddsc("info", tmp_path / "a.fcs").stdout
    else:
        assert "contains more" in ddsc("info", tmp_path / "a.fcs", code=3).stderr


def test_names_of_files(ddsc, tmp_path):
    """They become ids, so that they must be UTF-8."""
    folder = tmp_path / "d"
    folder.mkdir()
    for name in (b"caf\xe9.txt", b"b.txt"):
        with open(bytes(folder) + b"/" + name, "wb") as file:
            file.write(b"some words of some text\n")
    assert "the file name is not valid UTF-8" in ddsc("text", folder, "-o", tmp_path / "o.npz", code=3).stderr
    for name in (b"caf\xe9.csv", b"b.csv"):
        with open(bytes(tmp_path) + b"/" + name, "wb") as file:
            file.write(b"id,x\na,1\n")
    ddsc("convert", "b.csv", b"caf\xe9.csv".decode("utf-8", "surrogateescape"), "-o", "o.npz", "-q",
         cwd=tmp_path)
