"""Metadata columns from a separate table, and sets that store only ids and numbers."""
import json

import numpy as np
import pytest

CELLS = "sample,label,title,point_name,x\na,cat,One,red,1\na,cat,One,vermilion,2\nb,dog,Two,red,3\nc,cat,Three,,9\n"
TABLE = "sample;batch;age\nc;2;41\na;1;\nzz;9;9\nb;1;37 years\n"


@pytest.fixture
def cells(tmp_path):
    (tmp_path / "cells.csv").write_text(CELLS)
    (tmp_path / "about.csv").write_text(TABLE)
    return tmp_path / "cells.csv"


def table(path):
    data = np.load(path)
    names = list(data["meta_names"])
    return dict(zip(data["ids"], data["meta"].reshape(-1, len(names)).tolist())), names


def test_meta_is_joined_by_id_and_kept(ddsc, cells, tmp_path):
    words = (cells, "--id", "sample", "--meta", tmp_path / "about.csv")
    ddsc("convert", *words, "-o", tmp_path / "a.npz")
    rows, names = table(tmp_path / "a.npz")
    assert names == ["batch", "age"]
    assert rows == {"a": ["1", ""], "b": ["1", "37 years"], "c": ["2", "41"]}
    ddsc("convert", tmp_path / "a.npz", "-o", tmp_path / "b.npz")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    ddsc("convert", tmp_path / "a.npz", "--subset-per-class", 1, "-o", tmp_path / "c.npz")
    part, _ = table(tmp_path / "c.npz")
    assert len(part) == 2 and all(rows[name] == values for name, values in part.items())
    ddsc("cluster", tmp_path / "a.npz", "-k", 1, "-o", tmp_path / "result")
    assert table(tmp_path / "result" / "model.npz")[0] == rows
    assert json.loads(ddsc("info", *words, "--json").stdout)["meta"] == names
    assert "metadata     batch, age" in ddsc("info", *words).stdout


def test_files_are_joined_with_their_columns(ddsc, cells, tmp_path):
    ddsc("convert", cells, "--id", "sample", "--meta", tmp_path / "about.csv", "-o", tmp_path / "a.npz")
    (tmp_path / "more.csv").write_text("id,x\nd,4\n")
    for order in (("a.npz", "more.csv"), ("more.csv", "a.npz")):
        ddsc("convert", *[tmp_path / name for name in order], "-o", tmp_path / "b.npz", "--force")
        rows, _ = table(tmp_path / "b.npz")
        assert rows["d"] == ["", ""] and rows["b"] == ["1", "37 years"]


@pytest.mark.parametrize("text, words", [
    ("name,age\na,1\n", "name, age"), ("id,age\nq,1\n", 'such as "q"'), ("id\na\n", "no columns except"),
    ("id,age\na,1\na,2\n", "line 3"), ("id,age\na\n", "1 fields"), ("id,age,age\na,1,2\n", "two columns"),
    ("", "contains no lines"), ("id,age\n", "no rows"),
])
def test_tables_that_do_not_fit(ddsc, cells, tmp_path, text, words):
    (tmp_path / "bad.csv").write_text(text)
    error = ddsc("info", cells, "--id", "sample", "--meta", tmp_path / "bad.csv", code=3).stderr
    assert "bad.csv" in error and words in error


def test_items_without_a_row_are_counted(ddsc, cells, tmp_path):
    (tmp_path / "part.csv").write_text("id,age\na,1\n")
    said = ddsc("info", cells, "--id", "sample", "--meta", tmp_path / "part.csv").stderr
    assert "no row for 2 of the 3 items" in said


def test_damaged_arrays(ddsc, cells, tmp_path):
    ddsc("convert", cells, "--id", "sample", "--meta", tmp_path / "about.csv", "-o", tmp_path / "a.npz")
    arrays = dict(np.load(tmp_path / "a.npz"))
    for change in (dict(meta=arrays["meta"][:-1]), dict(meta=None), dict(meta_names=None)):
        kept = {name: value for name, value in {**arrays, **change}.items() if value is not None}
        np.savez(tmp_path / "b.npz", **kept)
        ddsc("info", tmp_path / "b.npz", code=0 if "meta_names" in change else 3)


def test_private_keeps_ids_and_numbers(ddsc, cells, tmp_path):
    words = (cells, "--id", "sample", "--meta", tmp_path / "about.csv")
    ddsc("convert", *words, "--private", "-o", tmp_path / "a.npz")
    ddsc("convert", *words, "-o", tmp_path / "b.npz")
    a, b = dict(np.load(tmp_path / "a.npz")), dict(np.load(tmp_path / "b.npz"))
    assert set(b) - set(a) == {"titles", "point_names", "meta", "meta_names", "label_names"}
    assert set(a) <= set(b) and all(np.array_equal(a[name], b[name]) for name in a)
    ddsc("cluster", *words, "--private", "-k", 1, "-o", tmp_path / "result")
    for path in (tmp_path / "result").iterdir():
        data = path.read_bytes()
        for secret in ("Three", "37 years", "vermilion"):
            assert secret.encode() not in data and secret.encode("utf-32-le") not in data, path


def test_private_omits_the_command_line(ddsc, cells, tmp_path):
    """Neither paths nor columns of the command line are in any file, in any spelling of an option."""
    folder = tmp_path / "SECRETfolder"
    folder.mkdir()
    for path, name in (cells, "SECRETcells.csv"), (tmp_path / "about.csv", "SECRETmeta.csv"):
        (folder / name).write_text(path.read_text().replace("batch", "SECRETbatch", 1))
    (folder / "SECRETtruth.csv").write_text("id,label\na,SECRETa\nb,SECRETb\nc,SECRETb\n")
    words = [folder / "SECRETcells.csv", "--id", "sample", f"--meta={folder / 'SECRETmeta.csv'}", "--private",
             "--truth", folder / "SECRETtruth.csv", "--batch", "SECRETbatch", "-k1", "--seed=7"]
    ddsc("cluster", *words, "-q", "-o", tmp_path / "result")
    for path in (tmp_path / "result").iterdir():
        data = path.read_bytes()
        assert b"SECRET" not in data and "SECRET".encode("utf-32-le") not in data, path
    told = json.loads((tmp_path / "result" / "result.json").read_text())
    assert told["command"] == ("ddsc cluster ... --id ... --meta ... --private --truth ... --batch ... "
                               "--clusters 1 --seed 7 --quiet --output ...")
    ddsc("report", tmp_path / "result", "-o", tmp_path / "again.html")


def test_ids_of_several_columns(ddsc, tmp_path):
    (tmp_path / "a.csv").write_text("who,when,x\n" + "".join(
        f"{who},{when},{k}\n" for k, (who, when) in enumerate([("a", 1), ("a", 2), ("b", 1)])))
    (tmp_path / "m.csv").write_text("when,age,who\n1,30,a\n2,31,a\n1,40,b\n")
    ddsc("convert", tmp_path / "a.csv", "--id", "who,when", "--meta", tmp_path / "m.csv", "-o",
         tmp_path / "o.npz")
    data = np.load(tmp_path / "o.npz")
    assert list(data["ids"]) == ["a/1", "a/2", "b/1"]
    assert list(data["meta_names"]) == ["age"] and list(data["meta"]) == ["30", "31", "40"]


def test_every_name_comes_back_through_csv(ddsc, tmp_path):
    np.savez(tmp_path / "a.npz", points=[[0, 1], [2, 3], [4, 5]], weights=[1, 3, 1], offsets=[0, 2, 3],
             labels=[1, 0], label_names=["no, never", "yes"], ids=["a", 'b "quoted"'],
             coordinate_names=["CD3", "x;y"], point_names=["p", "q", "r"], titles=["First", "Second, too"],
             meta_names=["age", "bat,ch"], meta=["30", "one", "", "t,wo"])
    ddsc("convert", tmp_path / "a.npz", "-o", tmp_path / "first.npz")
    for ending in ("csv", "tsv", "csv.gz"):
        ddsc("convert", tmp_path / "first.npz", "-o", tmp_path / f"b.{ending}")
        ddsc("convert", tmp_path / f"b.{ending}", "-o", tmp_path / "back.npz", "--force")
        first, back = np.load(tmp_path / "first.npz"), np.load(tmp_path / "back.npz")
        assert set(first) == set(back)
        for name in set(first) - {"labels", "label_names"}:  # classes are numbered by appearance
            assert np.array_equal(first[name], back[name]), name
        assert [back["label_names"][k] for k in back["labels"]] == ["yes", "no, never"]


def test_several_tables_are_joined(ddsc, cells, tmp_path):
    (tmp_path / "more.csv").write_text("id,file\nb,b.fcs\na,a.fcs\n")
    words = (cells, "--id", "sample", "--meta", tmp_path / "about.csv", "--meta", tmp_path / "more.csv")
    said = ddsc("convert", *words, "-o", tmp_path / "a.npz").stderr
    rows, names = table(tmp_path / "a.npz")
    assert names == ["batch", "age", "file"] and "more.csv has no row for 1 of the 3 items" in said
    assert rows == {"a": ["1", "", "a.fcs"], "b": ["1", "37 years", "b.fcs"], "c": ["2", "41", ""]}
    # added to the columns of the file, but never the same column twice
    (tmp_path / "third.csv").write_text("id,site\na,x\nb,y\nc,z\n")
    ddsc("convert", tmp_path / "a.npz", "--meta", tmp_path / "third.csv", "-o", tmp_path / "b.npz")
    assert table(tmp_path / "b.npz")[1] == ["batch", "age", "file", "site"]
    for tables in (("about.csv", "about.csv"), ("more.csv", "third.csv", "more.csv")):
        given = [word for name in tables for word in ("--meta", tmp_path / name)]
        error = ddsc("info", cells, "--id", "sample", *given, code=3).stderr
        assert tables[-1] in error and "already" in error
    assert 'already have a metadata column "file"' in ddsc("info", tmp_path / "a.npz", "--meta", tmp_path / "more.csv", code=3).stderr


@pytest.fixture
def documents(tmp_path):
    words = ["ball", "goal", "team", "bank", "loan", "rate"]
    rows = ["id\tlabel\ttitle\ttext"]
    for i in range(12):
        half = words[3 * (i % 2):][:3]
        rows.append(f"d{i}\t{'ab'[i % 2]}\tSecret {i}\t" + " ".join(half[(i + k) % 3] for k in range(9)))
    (tmp_path / "docs.tsv").write_text("\n".join(rows) + "\n")
    (tmp_path / "about.csv").write_text("id,year\n" + "".join(f"d{i},{1990 + i}\n" for i in range(12)))
    return tmp_path / "docs.tsv"


def test_documents_get_columns_and_privacy(ddsc, documents, tmp_path):
    words = ("text", documents, "--meta", tmp_path / "about.csv")
    ddsc(*words, "-o", tmp_path / "a.npz")
    rows, names = table(tmp_path / "a.npz")
    assert names == ["year"] and rows["d3"] == ["1993"]
    ddsc(*words, "--private", "-o", tmp_path / "b.npz")
    open_, closed = dict(np.load(tmp_path / "a.npz")), dict(np.load(tmp_path / "b.npz"))
    assert set(open_) - set(closed) == {"titles", "point_names", "meta", "meta_names", "label_names",
                                        "text_words", "text_vectors", "text_df", "text_rules",
                                        "text_masses", "text_phrases", "count_words",
                                        "count_offsets", "count_indices", "count_values"} & set(open_)
    assert all(np.array_equal(open_[name], closed[name]) for name in closed)
    data = (tmp_path / "b.npz").read_bytes()
    for secret in ("Secret", "1993", "ball"):
        assert secret.encode() not in data and secret.encode("utf-32-le") not in data
    ddsc("cluster", tmp_path / "b.npz", "-k", 2, "-o", tmp_path / "r", "-q")
    (tmp_path / "bad.csv").write_text("id,year\nzz,1\n")
    assert "bad.csv" in ddsc("text", documents, "--meta", tmp_path / "bad.csv", "-o", tmp_path / "c.npz",
                             code=3).stderr
