"""Common kinds of tables: columns by name, other separators, rows in any order, names preserved."""
import gzip
import json
import os

import numpy as np
import pytest

from conftest import not_sanitized

HEADER = "sample,patient,condition,w,CD3,CD4,pERK\n"
ROWS = ["s1,1,ref,1,10,1,5", "s2,1,stim,2,20,2,6", "s1,1,ref,3,11,3,7", "s3,2,ref,1,30,4,8",
        "s2,1,stim,2,21,5,9", "s3,2,ref,1,31,6,1"]


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "cells.csv"
    path.write_text(HEADER + "\n".join(ROWS) + "\n")
    return path


def info(ddsc, *words):
    done = ddsc("info", *words, "--json")
    return json.loads(done.stdout), done.stderr


def names(data):
    return [c["name"] for c in data["coordinates"]]


def test_no_id_column_names_candidates_and_option(ddsc, table):
    error = ddsc("info", table, code=3).stderr
    assert "--id" in error and "sample" in error and "patient" in error


def test_columns_by_role(ddsc, table):
    data, _ = info(ddsc, table, "--id", "sample", "--weight", "w", "--label", "condition")
    assert data["items"] == 3 and names(data) == ["patient", "CD3", "CD4", "pERK"]
    assert [c["name"] for c in data["classes"]] == ["ref", "stim"]
    assert data["coordinates"][0]["one_value_per_item"]
    data, said = info(ddsc, table, "--id", "sample", "--drop", "w,pat*", "--label", "condition")
    assert names(data) == ["CD3", "CD4", "pERK"] and not said
    data, said = info(ddsc, table, "--id", "sample", "--columns", "pERK,cd?")
    assert names(data) == ["pERK", "CD3", "CD4"]
    assert data["coordinates"][1]["low"] == 10 and data["coordinates"][1]["high"] == 31


def test_text_columns_are_named_not_refused(ddsc, table):
    data, said = info(ddsc, table, "--id", "sample", "--drop", "patient,w")
    assert names(data) == ["CD3", "CD4", "pERK"]
    assert "excluded the columns without numbers: condition" in said
    assert "not a number" in ddsc("info", table, "--id", "sample", "--columns", "condition,CD3",
                                  code=3).stderr


def test_rows_in_any_order_are_the_same_set(ddsc, table, tmp_path):
    ordered = tmp_path / "ordered.csv"
    ordered.write_text(HEADER + "\n".join(sorted(ROWS, key=lambda r: r[:2])) + "\n")
    out = [tmp_path / "a.npz", tmp_path / "b.npz"]
    for path, to in zip((table, ordered), out):
        ddsc("convert", path, "--id", "sample", "--columns", "CD*", "--weight", "w", "-o", to)
    assert out[0].read_bytes() == out[1].read_bytes()


def test_several_id_columns_and_where(ddsc, table):
    done = ddsc("convert", table, "--id", "patient,condition", "--columns", "CD3", "--where",
                "sample=s3", "-o", "-", "--format", "csv")
    assert done.stdout.splitlines() == ["id,weight,CD3", "2/ref,0.5,30", "2/ref,0.5,31"]
    assert "none of its 6 rows" in ddsc("info", table, "--id", "sample", "--where", "sample=x",
                                        code=3).stderr


@pytest.mark.parametrize("separator", [",", "\t", ";", "|"])
@pytest.mark.parametrize("packed", [False, True])
def test_separators(ddsc, table, tmp_path, separator, packed):
    text = table.read_text().replace(",", separator).encode()
    path = tmp_path / "other"
    path.write_bytes(gzip.compress(text) if packed else text)
    data, _ = info(ddsc, path, "--id", "sample", "--columns", "CD3,CD4,pERK")
    assert data["items"] == 3 and names(data) == ["CD3", "CD4", "pERK"]


def test_decimal_commas_between_semicolons(ddsc, tmp_path):
    path = tmp_path / "german.csv"
    path.write_text("id;x;y\na;1,5;-2\nb;2,25;3e1\n")
    data, said = info(ddsc, path)
    assert [(c["low"], c["high"]) for c in data["coordinates"]] == [(1.5, 2.25), (-2, 30)]
    assert not said


@pytest.mark.parametrize("rows", ["a;1,234;0.5\nb;2;1\n", "a;1.234;1\nb;0,5;1\n", "a;1;2\nb;1,5;2.5\n"])
def test_commas_and_points_in_one_file_are_refused(ddsc, tmp_path, rows):
    """One of the two characters separates thousands, and a wrong guess would cause a factor of 1,000."""
    path = tmp_path / "both.csv"
    path.write_text("id;x;y\n" + rows)
    assert "numbers have commas (line" in ddsc("info", path, code=3).stderr
    path.write_text("id;x\na;1.234,5\nb;2\nc;3\n")
    assert '"1.234,5" is not a number' in ddsc("info", path, code=3).stderr


@pytest.mark.parametrize("name", ["", '""', "Unnamed: 0"])
def test_row_numbers_are_no_coordinate(ddsc, tmp_path, name):
    """pandas and R write row numbers before the first column by default."""
    path = tmp_path / "rows.csv"
    path.write_text(f"{name},id,x\n0,a,1.5\n1,a,2\n2,b,3\n")
    data, said = info(ddsc, path)
    assert names(data) == ["x"] and "column 1 has no name and was excluded" in said


def test_missing_values_are_counted(ddsc, tmp_path):
    path = tmp_path / "holes.csv"
    path.write_text("id,x,y,note\na,1,2,\na,,3,\nb,NA,4,seen\n")
    error = ddsc("info", path, code=3).stderr
    assert "line 3, column 2" in error and "2 of the 3 rows" in error and "--drop" in error
    data, said = info(ddsc, path, "--drop", "x")
    assert names(data) == ["y"] and "note" in said


def test_a_first_value_that_is_a_mistake_is_an_error(ddsc, tmp_path):
    path = tmp_path / "odd.csv"
    path.write_text("id,x,y\na,oops,2\na,1,3\nb,5,4\n")
    error = ddsc("info", path, code=3).stderr
    assert 'line 2, column 2 ("x"): "oops" is not a number' in error


@pytest.mark.parametrize("words, said", [
    (["--id", "smaple"], "smaple"), (["--id", "sample", "--columns", "CD9"], "CD9"),
    (["--id", "sample", "--drop", "CD9*"], "CD9*"), (["--id", "sample", "--label", "k"], '"k"'),
    (["--id", "sample", "--weight", "k"], '"k"'), (["--id", "sample", "--where", "k=1"], '"k"'),
    (["--id", "sample", "--drop", "*"], "no coordinate columns")])
def test_unknown_columns(ddsc, table, words, said):
    assert said in ddsc("info", table, *words, code=3).stderr


def test_options_of_tables_are_refused_elsewhere(ddsc, three_groups):
    for option, value in (("--id", "a"), ("--columns", "a"), ("--drop", "a"), ("--where", "a=1")):
        assert "applies only to csv" in ddsc("info", three_groups, option, value, code=2).stderr


def test_arcsinh(ddsc, table, tmp_path):
    ddsc("convert", table, "--id", "sample", "--columns", "CD3,CD4", "--arcsinh", 5, "-o",
         tmp_path / "t.npz")
    with np.load(tmp_path / "t.npz") as data:
        assert np.allclose(np.sort(data["points"][:, 0]), np.arcsinh(np.array([10, 11, 20, 21, 30, 31]) / 5))
        assert data["coordinate_names"].tolist() == ["CD3", "CD4"]


def test_names_reach_the_model_and_are_checked(ddsc, tmp_path):
    rng = np.random.default_rng(1)
    lines = [f"i{i},{x:.3f},{y:.3f}" for i in range(12) for x, y in rng.normal(5 * (i % 2), 1, (6, 2))]
    path, other = tmp_path / "a.csv", tmp_path / "b.csv"
    path.write_text("id,CD3,CD4\n" + "\n".join(lines) + "\n")
    other.write_text("id,CD4,CD3\n" + "\n".join(lines[:12]) + "\n")
    ddsc("cluster", path, "-k", 2, "-o", tmp_path / "out")
    with np.load(tmp_path / "out" / "model.npz") as model:
        assert model["coordinate_names"].tolist() == ["CD3", "CD4"]
    ddsc("assign", tmp_path / "out" / "model.npz", path)
    error = ddsc("assign", tmp_path / "out" / "model.npz", other, code=3).stderr
    assert '"CD4"' in error and '"CD3"' in error


def test_names_with_reserved_words_survive_csv(ddsc, tmp_path):
    np.savez(tmp_path / "x.npz", points=np.eye(4), weights=np.ones(4), offsets=[0, 2, 4],
             coordinate_names=["id", "label", "x", "x"])
    done = ddsc("convert", tmp_path / "x.npz", "-o", tmp_path / "x.csv")
    header = (tmp_path / "x.csv").read_text().splitlines()[0].split(",")
    assert header[:2] == ["id", "weight"] and len(set(header)) == 6 and "x" in header, done
    data, _ = info(ddsc, tmp_path / "x.csv")
    assert data["dim"] == 4


@pytest.mark.parametrize("array", ["coordinate_names", "point_names", "titles"])
def test_wrong_number_of_names(ddsc, tmp_path, array):
    np.savez(tmp_path / "x.npz", points=np.eye(5), weights=np.ones(5), offsets=[0, 2, 5],
             **{array: ["a", "b", "c", "d"]})
    assert array in ddsc("info", tmp_path / "x.npz", code=3).stderr


@not_sanitized
def test_published_cytometry_table(ddsc, data_dir, tmp_path):
    path = data_dir / "cytometry" / "pbmc8-bcrxl.tsv.gz"
    if not path.exists():
        pytest.skip("no cytometry table")
    done = ddsc("cluster", path, "--id", "sample", "--label", "condition", "--drop", "patient",
                "--arcsinh", 5, "--metric", "lot", "-k", 2, "-o", tmp_path / "out")
    assert "warning" not in done.stderr
    result = json.loads((tmp_path / "out" / "result.json").read_text())
    assert result["scores"]["ami"] == 1
    with np.load(tmp_path / "out" / "model.npz") as model:
        assert "CD3" in model["coordinate_names"] and len(model["coordinate_names"]) == 24


def test_headers_that_are_no_utf8(ddsc, tmp_path):
    (tmp_path / "a.csv").write_bytes("id,größe,y\na,1,2\nb,3,4\n".encode("latin-1"))
    assert "column 2: not UTF-8" in ddsc("info", tmp_path / "a.csv", code=3).stderr


def test_folders_with_pipes_and_odd_names(ddsc, tmp_path):
    """A pipe contains no data and would block; a name that is not UTF-8 could not be read again."""
    (tmp_path / "f").mkdir()
    for k in range(2):
        (tmp_path / "f" / f"{k}.xyz").write_text("0 1 2\n3 4 5\n")
    os.mkfifo(tmp_path / "f" / "z.xyz")
    assert json.loads(ddsc("info", tmp_path / "f", "--json").stdout)["items"] == 2
    (tmp_path / "f" / "z.xyz").unlink()
    with open(os.fsencode(tmp_path / "f") + b"/\xff.xyz", "w") as file:
        file.write("0 1 2\n3 4 5\n")
    assert "not valid UTF-8" in ddsc("info", tmp_path / "f", code=3).stderr


def test_off_files_without_a_count_of_edges(ddsc, tmp_path):
    (tmp_path / "a.off").write_text("OFF\n3 1\n5 0 0\n6 0 0\n7 1 0\n3 0 1 2\n")
    told = json.loads(ddsc("info", tmp_path / "a.off", "--json").stdout)
    assert told["coordinates"][0]["low"] == 5 and told["coordinates"][0]["high"] == 7
    (tmp_path / "b.off").write_text("OFF\n3\n1\n0\n5 0 0\n6 0 0\n7 1 0\n3 0 1 2\n")
    assert "on one line" in ddsc("info", tmp_path / "b.off", code=3).stderr
    (tmp_path / "c.off").write_text("4OFF\n1 0 0\n5 0 0 1\n")
    assert "four coordinates" in ddsc("info", tmp_path / "c.off", code=3).stderr


def test_the_ending_of_a_file_not_of_its_folder(ddsc, tmp_path):
    (tmp_path / "x.d2dir").mkdir()
    (tmp_path / "x.d2dir" / "p.txt").write_text("0 1 2\n3 4 5\n6 7 9\n")
    assert json.loads(ddsc("info", tmp_path / "x.d2dir" / "p.txt", "--json").stdout)["items"] == 1


def test_usual_names_in_any_case(ddsc, tmp_path):
    (tmp_path / "a.csv").write_text("ID,Weight,Label,x\na,1,u,5\na,3,u,6\nb,1,v,7\n")
    data, said = info(ddsc, tmp_path / "a.csv")
    assert data["items"] == 2 and names(data) == ["x"] and not said
    assert [c["name"] for c in data["classes"]] == ["u", "v"]
    (tmp_path / "b.csv").write_text("id,weight,Weight,x\na,1,70,5\nb,1,80,7\n")
    assert names(info(ddsc, tmp_path / "b.csv")[0]) == ["Weight", "x"]
    (tmp_path / "c.csv").write_text("Label,x\na,1\nb,2\n")
    assert info(ddsc, tmp_path / "c.csv", "--id", "Label")[0]["items"] == 2


def test_an_id_column_twice(ddsc, table):
    assert 'contains the column "sample" twice' in ddsc("info", table, "--id", "sample,sample", code=3).stderr
