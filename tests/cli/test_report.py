"""report.html and `ddsc report`: a self-contained page, regenerated from a result, and its figures."""
import base64
import csv
import hashlib
import html
import json
import re

import numpy as np
import pytest


@pytest.fixture(scope="module")
def shapes(ddsc, tmp_path_factory):
    where = tmp_path_factory.mktemp("report")
    ddsc("generate", "shapes", "-o", where / "shapes.npz", "-q")
    ddsc("cluster", where / "shapes.npz", "-k", "2:4", "-o", where / "out", "-q")
    return where / "out"


def parts(page):
    style = re.search(r"<style>(.*?)</style>", page, re.S)[1]
    script = re.search(r"<script>(.*?)</script>", page, re.S)[1]
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[1]
    return style, script, json.loads(data)


def words16(text):
    return np.frombuffer(base64.b64decode(text), "<u2")


def test_policy_names_the_style_and_the_script_alone(shapes):
    page = (shapes / "report.html").read_text()
    style, script, _ = parts(page)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    rules = dict(rule.split(maxsplit=1) for rule in policy.split("; "))
    assert rules["default-src"] == "'none'" and len(page.split("<script")) == 3
    for rule, text in (("style-src", style), ("script-src", script)):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert rules[rule] == f"'sha256-{digest}'"
    assert not re.search(r'style="|\son[a-z]+="|https?:|src="|<link|@import|url\(', page)


def test_data_of_the_map(shapes):
    _, _, data = parts((shapes / "report.html").read_text())
    rows = list(csv.DictReader((shapes / "labels.csv").open()))
    assert data["n"] == 40 and list(words16(data["label"])) == [int(r["label"]) for r in rows]
    assert data["ids"] == [row["id"] for row in rows] if "ids" in data else True
    place = np.stack([words16(data["x"]), words16(data["y"])], 1).astype(float)
    xy = np.load(shapes / "map.npy")
    assert xy.shape == (40, 2) and np.isfinite(xy).all()
    scale = 65534 / np.ptp(xy, axis=0).max()  # one scale for both axes
    assert np.abs(np.diff(place, axis=0) - scale * np.diff(xy, axis=0)).max() < 2
    side = data["pictures"]["side"]
    cells = np.frombuffer(base64.b64decode(data["pictures"]["cells"]), np.uint8)
    assert cells.size == 40 * side * side // 2
    drawn = np.stack([cells >> 4, cells & 15], 1).reshape(40, side, side)
    assert (drawn.max(axis=(1, 2)) == 15).all() and (drawn > 0).sum(axis=(1, 2)).min() > 10


def test_neighbors_lie_near_each_other(ddsc, three_groups, tmp_path):
    ddsc("cluster", three_groups, "-k", "3", "-o", tmp_path / "out", "-q")
    xy, truth = np.load(tmp_path / "out" / "map.npy"), np.load(three_groups)["labels"]
    distance = np.linalg.norm(xy[:, None] - xy[None], axis=2)
    np.fill_diagonal(distance, np.inf)
    assert (truth[distance.argmin(axis=1)] == truth).all()


def test_typical_and_ambiguous_items(shapes):
    result = json.loads((shapes / "result.json").read_text())
    labels = [int(row["label"]) for row in csv.DictReader((shapes / "labels.csv").open())]
    embedding = np.load(shapes / "embedding.npy")
    assert [c["label"] for c in result["clusters"]] == list(range(result["k"]))
    for cluster in result["clusters"]:
        members = np.flatnonzero(np.array(labels) == cluster["label"])
        assert cluster["size"] == len(members)
        center = embedding[members].mean(axis=0)
        order = members[np.argsort(np.linalg.norm(embedding[members] - center, axis=1), kind="stable")]
        shown = [item["row"] for item in cluster["representatives"]]
        assert np.linalg.norm(embedding[shown[0]] - center) <= np.linalg.norm(
            embedding[order[0]] - center) + 1e-12 and set(shown) <= set(members)
        ambiguity = [item["ambiguity"] for item in cluster["borderline"]]
        assert ambiguity == sorted(ambiguity, reverse=True)
        assert all(item["next"] != cluster["label"] for item in cluster["borderline"])
    neighbors = result["neighbors"]
    assert sum(neighbors["counts"]) == 40 * result["chosen"]["tau"]


def test_confusion_adds_up(shapes):
    table = json.loads((shapes / "result.json").read_text())["scores"]["confusion"]
    assert len(table["classes"]) == 2 and np.array(table["counts"]).sum() == 40


def test_command_repeats_the_run(shapes):
    command = json.loads((shapes / "result.json").read_text())["command"]
    assert command.startswith("ddsc cluster ") and "-k 2:4" in command
    assert command in (shapes / "report.html").read_text()


def test_names_are_escaped(ddsc, three_groups, tmp_path):
    arrays = dict(np.load(three_groups))
    ids = np.array([f'</script><b>&"{i}' for i in range(45)])
    np.savez(tmp_path / "ids.npz", ids=ids, **arrays)
    ddsc("cluster", tmp_path / "ids.npz", "-k", "3", "-o", tmp_path / "out", "-q")
    page = (tmp_path / "out" / "report.html").read_text()
    assert "<b>&" not in page and "&lt;/script&gt;&lt;b&gt;&amp;&quot;" in page
    assert parts(page)[2]["ids"] == list(ids)
    rows = list(csv.DictReader((tmp_path / "out" / "labels.csv").open()))
    assert [row["id"] for row in rows] == list(ids)


def test_report_again_gives_the_same_page(ddsc, shapes, tmp_path):
    assert "report.html" in ddsc("report", shapes).stdout  # nothing to change, so nothing is rejected
    ddsc("report", shapes, "-o", tmp_path / "page.html")
    assert (tmp_path / "page.html").read_bytes() == (shapes / "report.html").read_bytes()
    (tmp_path / "page.html").write_text("mine")
    assert "exists" in ddsc("report", shapes, "-o", tmp_path / "page.html", code=2).stderr
    ddsc("report", shapes, "-o", tmp_path / "page.html", "--force")
    assert (tmp_path / "page.html").read_bytes() == (shapes / "report.html").read_bytes()


def test_stability_is_told(ddsc, three_groups, tmp_path):
    ddsc("cluster", three_groups, "-k", "3", "--stability", "2", "-o", tmp_path / "out", "-q")
    words = json.loads((tmp_path / "out" / "result.json").read_text())["stability"]["words"]
    assert html.escape(words) in (tmp_path / "out" / "report.html").read_text()


@pytest.mark.parametrize("form, head", [("png", b"\x89PNG\r\n\x1a\n"), ("pdf", b"%PDF-"),
                                        ("svg", b"<?xml")])
def test_pictures(ddsc, shapes, tmp_path, form, head):
    if "cairo" not in ddsc("--version").stdout:
        pytest.skip("built without Cairo")
    ddsc("report", shapes, "--plots", form, "-o", tmp_path / "a")
    ddsc("report", shapes, "--plots", form, "-o", tmp_path / "b", "-q")
    names = {path.name for path in (tmp_path / "a").iterdir()}
    assert names == {f"{name}.{form}" for name in ("map", "representatives", "means", "eigenvalues", "sizes",
                                                   "neighbors", "confusion")}
    for name in names:
        one = (tmp_path / "a" / name).read_bytes()
        assert one.startswith(head) and one == (tmp_path / "b" / name).read_bytes()


def test_kmeans_has_no_map(ddsc, three_groups, tmp_path):
    ddsc("cluster", three_groups, "-k", "3", "--method", "kmeans", "-o", tmp_path / "out", "-q")
    page = (tmp_path / "out" / "report.html").read_text()
    assert 'id="view"' not in page and "items in each cluster" in page


def test_dropped_items_are_not_drawn(ddsc, tmp_path):
    rows = ["id,weight,x,y"] + [f"{i},{0 if i == 3 else 1},{i % 5},{i // 5}" for i in range(20)]
    (tmp_path / "a.csv").write_text("\n".join(rows) + "\n")
    ddsc("cluster", tmp_path / "a.csv", "-k", "2", "--on-empty", "drop", "-o", tmp_path / "out", "-q")
    assert np.isnan(np.load(tmp_path / "out" / "map.npy")[3]).all()
    data = parts((tmp_path / "out" / "report.html").read_text())[2]
    assert words16(data["label"])[3] == 65535
    assert ddsc("report", tmp_path / "out").returncode == 0


@pytest.mark.parametrize("name, text, words", [
    ("result.json", None, "specify a folder"), ("result.json", "{", "line 1"),
    ("result.json", "{}", "n and k"), ("result.json", '{"n": 40, "k": 1e9}', "n and k"),
    ("labels.csv", "id,label\na,0\n", "number of labels"),
    ("labels.csv", "id,label\n" + "a,7\n" * 40, "not in the range from -1 to K - 1"), ("map.npy", "x", "map.npy"),
    ("embedding.npy", "x", "embedding.npy"), ("graph.mtx", "%%MatrixMarket\n40 40 2\n2 1 0.5\n", "ends after 1 of 2"),
    ("graph.mtx", "39 39 0\n", "size of the graph"), ("graph.mtx", "40 40 1\n41 1 0.5\n", "invalid edge"),
    ("graph.mtx", "40 40 999999999999\n", "edges"), ("graph.mtx", "40 40 2\n1 3 1\n1 2 1\n", "line 3"),
    ("sweep.csv", "id,k2,k3,k4\n" + "a,0,0,0\n" * 39, "number of rows"),
    ("sweep.csv", "id,k2,k3,k4\n" + "a,0,0,4\n" * 40, "out of range for 4"), ("sweep.csv", "id\na\n", "each K")])
def test_broken_results_are_refused(ddsc, shapes, tmp_path, name, text, words):
    for path in shapes.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / name).unlink() if text is None else (tmp_path / name).write_text(text)
    assert words in ddsc("report", tmp_path, "-o", "-", code=3).stderr


def forge(ddsc, tmp_path, change):
    ddsc("generate", "gaussians", "-o", tmp_path / "g.npz", "-q")
    ddsc("cluster", tmp_path / "g.npz", "-k", "2:4", "-o", tmp_path / "r", "-q")
    path = tmp_path / "r" / "result.json"
    told = json.loads(path.read_text())
    change(told)
    path.write_text(json.dumps(told))
    ddsc("report", tmp_path / "r", "-f", "-q")
    return (tmp_path / "r" / "report.html").read_text()


def test_a_forged_verdict_is_text(ddsc, tmp_path):
    bad = '"><meta http-equiv="refresh" content="0;url=https://example.org/"><b class="'
    page = forge(ddsc, tmp_path, lambda told: told["verdict"].update(structure=bad, level=bad, color=bad))
    assert bad not in page and page.count("<meta http-equiv") == 1


def test_forged_counts_stay_within_the_set(ddsc, tmp_path):
    def change(told):
        told["sweep"][0]["k"] = 10**12
        told["clusters"] *= 3
        told["outliers"] = {"count": 1, "items": [{"row": 10**9, "score": 1}]}

    page = forge(ddsc, tmp_path, change)
    assert '"k":1000000000000' not in page and "[1000000000," not in page
    k = json.loads((tmp_path / "r" / "result.json").read_text())["k"]
    assert len(re.findall(r'id="cluster-\d+"', page)) <= k


def test_naming_leaves_a_damaged_folder_alone(ddsc, tmp_path):
    ddsc("generate", "gaussians", "-o", tmp_path / "g.npz", "-q")
    ddsc("cluster", tmp_path / "g.npz", "-k", "3", "-o", tmp_path / "r", "-q")
    graph = tmp_path / "r" / "graph.mtx"
    graph.write_text("".join(graph.read_text().splitlines(True)[:40]))
    before = {p.name: p.read_bytes() for p in (tmp_path / "r").iterdir()}
    ddsc("name", tmp_path / "r", "0=hello", code=3)
    assert {p.name: p.read_bytes() for p in (tmp_path / "r").iterdir()} == before


def test_items_all_alike_differ_from_nothing(ddsc, tmp_path):
    (tmp_path / "s.csv").write_text("id,x,y\n" + "".join(f"i{i},{p},{p}\n" for i in range(20) for p in range(4)))
    ddsc("cluster", tmp_path / "s.csv", "-k", "2", "-o", tmp_path / "r", "-q")
    told = json.loads((tmp_path / "r" / "result.json").read_text())
    for cluster in told["clusters"]:
        for line in cluster.get("picture", {}).get("difference", []):
            assert set(re.findall("..", line)) == {"80"}


def test_an_approximation_says_how_far_off(ddsc, tmp_path):
    """The answer to "Can I trust the result?" lists the approximations that the settings requested, if any."""
    def believe(*words):
        ddsc("cluster", tmp_path / "g.npz", "-k", 3, *words, "-q", "-f", "-o", tmp_path / "out")
        page = (tmp_path / "out" / "report.html").read_text()
        told = json.loads((tmp_path / "out" / "result.json").read_text())
        return html.unescape(re.search(r"Can I trust the result\?(.*?)</div>", page, re.S)[1]), told
    ddsc("generate", "gaussians", "--clusters", 3, "--items", 40, "--points", 12, "--dim", 2, "-q", "-o", tmp_path / "g.npz")
    said, _ = believe("-m", "w2")
    assert "computed exactly as requested.</dd>" in said
    said, told = believe("-m", "lot")
    assert f"distances approximate w2 with a relative error of {100 * told['approximation']['error_median']:.2g}%" in said
    said, told = believe("-m", "mmd", "--mmd-features", 100)
    assert f"with an error of {told['approximation']['error_median']:.2g} in D^2 (median" in said
    said, told = believe("-m", "w2", "--compress", 4, "--neighbors", "approximate")
    assert f"changed an item by {told['compress']['mean_w2']:.2g} on average" in said
    assert f"at least {100 * told['pairs']['recall_low']:.3g}% were found (95% confidence" in said
    said, told = believe("-m", "mmd", "--sample-columns", 0.3)
    assert f"median error of {told['pairs']['columns_error']:.2g} of their spread" in said
    said, told = believe("-m", "mmd", "--sample", 0.5)
    assert "only a random sample of the pairs was computed: 50%" in said
    assert f"median error of {told['pairs']['details']['filled_error']:.2g} of their spread" in said
    said, told = believe("-m", "mmd", "--sample", 0.5, "--paper")
    assert "computed: 50%" in said and "filled_error" not in told["pairs"].get("details", {})


def test_cards_agree_with_the_answers(ddsc, tmp_path):
    """Cards list an item as ambiguous only if the answers count it, and a repeated title once."""
    rng = np.random.default_rng(2)
    lines = ["id,x,y"]
    for i in range(60):
        lines += [f"s{i},{x},{y}" for x, y in rng.normal(size=(6, 2)) + [3 * (i % 2), 0]]
    (tmp_path / "in.csv").write_text("\n".join(lines) + "\n")
    ddsc("cluster", tmp_path / "in.csv", "-k", 2, "-m", "mmd", "-o", tmp_path / "r", "-q")
    path = tmp_path / "r/result.json"
    told = json.loads(path.read_text())
    for cluster in told["clusters"]:
        cluster["representatives"][0].update(title="the same story", copies=2)
        cluster["representatives"].append({key: cluster["borderline"][0][key] for key in ("row", "id")})  # as in clusters of few items
        for at, item in enumerate(cluster["borderline"]):
            item["ambiguity"] = 0.46 - 0.02 * at
    told["ambiguous"] = 2
    path.write_text(json.dumps(told))
    ddsc("report", tmp_path / "r", "-f", "-q")
    page = (tmp_path / "r/report.html").read_text()
    assert page.count("the same story") == 2 and page.count("(2 copies)") == 2
    for cluster in told["clusters"]:
        card = page[page.index(f'id="cluster-{cluster["label"]}"'):].split("</section>")[0]
        shown = card.count("(or ")
        assert shown == sum(item["ambiguity"] > 0.45 for item in cluster["borderline"]) == 1
    answers = page[page.index('class="answers"'):page.index("</dl>")]
    first = [cluster["borderline"][0]["row"] for cluster in told["clusters"]]  # equally ambiguous
    assert [int(row) for row in re.findall(r'data-row="(\d+)"', answers[answers.index("most of all"):])[:2]] == sorted(first)
