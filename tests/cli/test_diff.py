"""ddsc diff: two results, compared by id."""
import csv
import io
import json
import pathlib
import shutil

import numpy as np
import pytest

FORMER = pathlib.Path(__file__).resolve().parent.parent / "data" / "v0.2.0"


def write(path, places, ids, seed=0):
    random = np.random.default_rng(seed)
    rows = ["id,u,v"]
    for name, at in zip(ids, places):
        rows += [f"{name},{a:.6f},{b:.6f}" for a, b in random.normal(at, .3, (20, 2))]
    path.write_text("\n".join(rows) + "\n")
    return path


@pytest.fixture(scope="module")
def pair(tmp_path_factory, ddsc):
    """Three groups, of which the last two form one cluster in the first result. In the second result, item s00 moves,
    two items leave, and a new group of ten is added, in another order."""
    path = tmp_path_factory.mktemp("pair")
    places = [(0, 0)] * 12 + [(9, 0)] * 10 + [(9, 3)] * 10
    ids = [f"s{i:02}" for i in range(32)]
    ddsc("cluster", write(path / "a.csv", places, ids), "-k", 2, "-o", path / "a", "-q")
    places = [(9, 0)] + places[1:30] + [(0, 20)] * 10
    ids = ids[:30] + [f"n{i}" for i in range(10)]
    turn = np.random.default_rng(1).permutation(40)
    ddsc("cluster", write(path / "b.csv", [places[i] for i in turn], [ids[i] for i in turn], 1), "-k", 4, "-o", path / "b",
         "-q")
    return path


def labels(folder):
    with open(folder / "labels.csv") as file:
        return {row["id"]: int(row["label"]) for row in csv.DictReader(file)}


def test_what_changed(ddsc, pair):
    told = json.loads(ddsc("diff", pair / "a", pair / "b", "--json", "-o", pair / "moves.csv").stdout)
    a, b = labels(pair / "a"), labels(pair / "b")
    assert told["shared"] == 30 and not told["matched_by_row"]
    assert told["first"]["only_here"] == ["s30", "s31"] and sorted(told["second"]["only_here"]) == [f"n{i}" for i in range(10)]
    assert told["items"]["same"] == 11 + 10 and told["items"]["moved"] == 1 or told["items"]["split"] > 0
    assert sum(told["items"].values()) == 42
    kinds = {event["kind"]: event for event in told["events"]}
    assert set(kinds) == {"same", "split", "new"}
    assert kinds["split"]["cluster"] == a["s12"]
    assert {part["cluster"] for part in kinds["split"]["parts"]} == {b["s12"], b["s25"]}
    assert kinds["new"]["cluster"] == b["n0"] and kinds["new"]["size"] == 10 and kinds["new"]["shared"] == 0
    flows = {(flow["from"], flow["to"]): flow["items"] for flow in told["flows"]}
    assert flows[a["s01"], b["s01"]] == 11 and flows[None, b["n0"]] == 10 and flows[a["s30"], None] == 2
    with open(pair / "moves.csv") as file:
        rows = {row["id"]: row for row in csv.DictReader(file)}
    assert rows["s30"]["to"] == "" and rows["s30"]["change"] == "removed" and rows["n0"]["change"] == "added"
    assert rows["s00"]["change"] == "moved" and int(rows["s00"]["to"]) == b["s12"]
    assert {move["id"] for move in told["moves"]} == {name for name in rows if name[0] == "s" and name < "s30"}
    assert [row["name"] for row in told["settings"]].count("k") == 1


def test_agreement_is_that_of_score(ddsc, pair, tmp_path):
    told = json.loads(ddsc("diff", pair / "a", pair / "b", "--json").stdout)
    a, b = labels(pair / "a"), labels(pair / "b")
    shared = [name for name in a if name in b]
    for name, found in ("a", a), ("b", b):
        (tmp_path / name).write_text("id,label\n" + "".join(f"{i},{found[i]}\n" for i in shared))
    scores = json.loads(ddsc("score", tmp_path / "b", tmp_path / "a", "--json").stdout)
    assert told["scores"]["ami"] == pytest.approx(scores["ami"], abs=1e-12)
    assert told["scores"]["ari"] == pytest.approx(scores["ari"], abs=1e-12)


def test_text_names_and_page(ddsc, pair, tmp_path):
    shutil.copytree(pair / "a", tmp_path / "a")
    ddsc("name", tmp_path / "a", "0=<one> & two", "-q")
    short = ddsc("diff", tmp_path / "a", pair / "b", "--report", tmp_path / "page.html").stdout
    assert len(short.splitlines()) <= 25 and "shared       30 items" in short and "0 (<one> & two)" in short
    assert "cluster" in short and "split into" in short and "is new: 10 items" in short
    full = ddsc("diff", tmp_path / "a", pair / "b", "-v").stdout
    assert len(full) > len(short) and " stays: " in full and "n9" in full
    page = (tmp_path / "page.html").read_text()
    assert "&lt;one&gt; &amp; two" in page and "<one>" not in page and '<svg class="flows"' in page
    links = {part.split('"')[0] for part in page.split('href="#')[1:]} - {"main"}
    assert links and all(f'id="{link}"' in page for link in links)


def test_a_result_equals_its_copy(ddsc, pair, tmp_path):
    shutil.copytree(pair / "a", tmp_path / "copy")
    told = json.loads(ddsc("diff", pair / "a", tmp_path / "copy", "--json").stdout)
    assert told["items"]["same"] == 32 and told["settings"] == [] and told["scores"]["ami"] == pytest.approx(1)
    assert told["clusters"] == {"same": 2, "split": 0, "merged": 0, "new": 0, "vanished": 0} and told["moves"] == []
    assert "settings     the same" in ddsc("diff", pair / "a", tmp_path / "copy").stdout


def test_threads_do_not_matter(ddsc, pair):
    assert ddsc("diff", pair / "a", pair / "b", "--json", "-j", 1).stdout == ddsc("diff", pair / "a", pair / "b", "--json",
                                                                                  "-j", 2).stdout


def test_results_of_version_0_2_0(ddsc, tmp_path):
    shutil.copytree(FORMER / "documents", tmp_path / "copy")
    told = json.loads(ddsc("diff", FORMER / "documents", tmp_path / "copy", "--json").stdout)
    assert told["clusters"]["same"] == told["first"]["k"] and told["first"]["version"] == "0.2.0"


def test_row_numbers_are_a_warning(ddsc, tmp_path):
    shutil.copytree(FORMER / "clouds", tmp_path / "copy")
    done = ddsc("diff", FORMER / "clouds", tmp_path / "copy")
    assert "row numbers" in done.stderr and "matched by row number" in done.stdout


def test_baselines_and_outliers(ddsc, pair, tmp_path):
    """Without a model.npz, ids come from labels.csv."""
    ddsc("cluster", pair / "a.csv", "-k", 2, "--method", "kmeans", "-o", tmp_path / "k", "-q")
    told = json.loads(ddsc("diff", pair / "a", tmp_path / "k", "--json").stdout)
    assert told["items"]["same"] == 32 and not told["matched_by_row"]
    lines = (tmp_path / "k" / "labels.csv").read_text().splitlines()
    lines[1], lines[2] = "s00,-1", "s01,-1"
    (tmp_path / "k" / "labels.csv").write_text("\n".join(lines) + "\n")
    told = json.loads(ddsc("diff", pair / "a", tmp_path / "k", "--json").stdout)
    assert told["items"]["left"] == 2 and {move["to"] for move in told["moves"]} == {-1}


@pytest.mark.parametrize("words, code, said", [
    (("a", "a"), 2, "are the same folder"),
    (("a",), 2, "DIR1 DIR2"),
    (("a", "b", "c"), 2, ""),
    (("a", "missing"), 3, "missing/result.json"),
    (("a", "a.csv"), 3, "a.csv/result.json"),
    (("a", "b", "--json", "-o", "-"), 2, "standard output"),
    (("a", "b", "-o", "x.csv", "--report", "x.csv"), 2, "the same file"),
    (("a", "b", "-o", "a/labels.csv", "-f"), 2, "is the same file as the input"),
    (("a", "b", "-o", "b/result.json", "-f"), 2, "is the same file as the input"),
    (("a", "b", "-o", "a.csv"), 2, "exists"),
    (("a", "b", "-o", "no/such/x.csv"), 6, ""),
])
def test_wrong_calls(ddsc, pair, words, code, said):
    paths = [word if word.startswith("-") else pair / word for word in words]
    done = ddsc("diff", *paths, code=code)
    assert said in done.stderr and not (pair / "x.csv").exists()


@pytest.mark.parametrize("name, change, said", [
    ("labels.csv", lambda t: t.replace("s01,", "s00,"), 'the same id "s00"'),
    ("labels.csv", lambda t: t.replace("s00,", "s00,9"), "line 2: expected an id and a label from -1 to 1"),
    ("labels.csv", lambda t: t[:-10], "labels"),
    ("labels.csv", lambda t: t + "more,0\n", "more labels than result.json has items (32)"),
    ("labels.csv", lambda t: t.replace("id,label", "id,cluster"), 'expected the header "id,label"'),
    ("labels.csv", lambda t: t.replace("s", "t"), "have no item in common"),
    ("result.json", lambda t: "{", "result.json"),
    ("result.json", lambda t: t.replace('"n": 32', '"n": 4611686018427387904'), ""),
    ("result.json", lambda t: t.replace('"format_version": 2', '"format_version": 99'), "newer version"),
])
def test_damaged_results(ddsc, pair, tmp_path, name, change, said):
    shutil.copytree(pair / "b", tmp_path / "b")
    shutil.copytree(pair / "a", tmp_path / "a")
    file = tmp_path / "a" / name
    text = file.read_text()
    file.write_text(change(text))
    assert file.read_text() != text
    done = ddsc("diff", tmp_path / "a", tmp_path / "b", code=3)
    assert said in done.stderr and done.stdout == ""


def test_table_on_standard_output(ddsc, pair):
    done = ddsc("diff", pair / "a", pair / "b", "-o", "-")
    assert len(list(csv.DictReader(io.StringIO(done.stdout)))) == 12 + json.loads(
        ddsc("diff", pair / "a", pair / "b", "--json").stdout)["moves"].__len__()
