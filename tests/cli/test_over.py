"""--over: the clusters per period of a column, in explain, report and cluster."""
import datetime
import json
import math

import numpy as np
import pytest


@pytest.fixture(scope="module")
def stream(tmp_path_factory, ddsc):
    """Two groups throughout 2024, and a third one from July on. Group 0 shifts in its second coordinate in October."""
    path = tmp_path_factory.mktemp("stream")
    random = np.random.default_rng(4)
    rows, about, kinds = ["id,u,v"], ["id,date,size,site,name"], []
    for i in range(240):
        day = datetime.date(2024, 1, 1) + datetime.timedelta(days=int(i * 1.5))
        kind = i % 3 if day.month >= 7 else i % 2
        kinds.append(kind)
        at = [(0, .5 if day.month >= 10 else 0), (9, 0), (20, 0)][kind]
        rows += [f"s{i:03},{a:.5f},{b:.5f}" for a, b in random.normal(at, .4, (12, 2))]
        about.append(f"s{i:03},{'' if i == 5 else day},{i / 2},site {i % 12},{i}x")
    (path / "a.csv").write_text("\n".join(rows) + "\n")
    (path / "about.csv").write_text("\n".join(about) + "\n")
    ddsc("cluster", path / "a.csv", "-k", 3, "-o", path / "r", "-q")
    ddsc("cluster", path / "a.csv", "-k", 3, "-o", path / "m", "--meta", path / "about.csv", "--over", "date", "-q")
    return path, kinds


def test_new_cluster_and_counts(ddsc, stream):
    path, kinds = stream
    words = ("explain", path / "r", "--meta", path / "about.csv", "--over", "date")
    told = json.loads(ddsc(*words, "--json").stdout)["over"]
    assert told["unit"] == "month" and told["kind"] == "date" and told["missing"] == 1
    assert [p["name"] for p in told["periods"]] == [f"2024-{m:02}" for m in range(1, 13)]
    assert sum(p["items"] for p in told["periods"]) == 239
    found = {c["cluster"]: c for c in told["clusters"] if c["new"]}
    (number, new), = found.items()
    assert new["first"] == 6 and new["p_new"] < 1e-6 and not any(c["vanished"] for c in told["clusters"])
    assert sum(p["items"] for p in new["periods"]) == kinds.count(2)
    for c in told["clusters"]:
        for p, whole in zip(c["periods"], told["periods"]):
            k, n, z = p["items"], whole["items"], 1.959963984540054
            half = z * math.sqrt(k / n * (1 - k / n) / n + z * z / 4 / n / n)
            assert p["share"] == pytest.approx(k / n)
            assert p["low"] == pytest.approx(max((k / n + z * z / 2 / n - half) / (1 + z * z / n), 0), abs=1e-12)
            assert p["high"] == pytest.approx(min((k / n + z * z / 2 / n + half) / (1 + z * z / n), 1), abs=1e-12)
    changed = [(c["cluster"], t, m["name"]) for c in told["clusters"] for t, p in enumerate(c["periods"])
               for m in p.get("changed", []) if m["effect"] > .5 and m["name"] == "v"]
    assert {t for _, t, _ in changed} == {9, 10, 11} and len({c for c, _, _ in changed}) == 1
    text = ddsc(*words).stdout
    assert f"cluster {number}, new since 2024-07 (p " in text and "1 item has no value and is left out" in text
    assert ddsc(*words, "--json", "-j", 1).stdout == ddsc(*words, "--json", "-j", 2).stdout


def test_cluster_writes_it(ddsc, stream):
    path, _ = stream
    inside = json.loads((path / "m" / "result.json").read_text())["over"]
    after = json.loads(ddsc("explain", path / "r", "--meta", path / "about.csv", "--over", "date", "--json").stdout)["over"]
    assert inside == after == json.loads(ddsc("explain", path / "m", "--over", "date", "--json").stdout)["over"]
    page = (path / "m" / "report.html").read_text()
    assert "Clusters over date" in page and "new since 2024-07" in page and 'aria-label="over"' in page
    assert "Clusters over" not in (path / "r" / "report.html").read_text()


def test_report_page_and_pictures(ddsc, stream, tmp_path):
    path, _ = stream
    ddsc("report", path / "m", "--over", "site", "-o", tmp_path / "page.html", "-q")
    page = (tmp_path / "page.html").read_text()
    assert "Clusters over site" in page and page.index("<td>site 2</td>") < page.index("<td>site 10</td>")
    ddsc("report", path / "m", "--plots", "svg", "-o", tmp_path / "figures", "-q")
    assert (tmp_path / "figures" / "over.svg").read_text().count("<") > 200


def test_kinds(ddsc, stream):
    path, _ = stream
    for column, kind, unit, n in ("size", "number", "interval", 12), ("site", "text", "value", 12):
        told = json.loads(ddsc("explain", path / "m", "--over", column, "--json").stdout)["over"]
        assert (told["kind"], told["unit"], len(told["periods"])) == (kind, unit, n)


@pytest.mark.parametrize("words, code, said", [
    (("explain", "m", "--over", "nothing"), 2, "the columns are date, size, site, name"),
    (("explain", "m", "--over", "name"), 2, "240 different texts"),
    (("explain", "r", "--over", "date"), 2, "no such columns"),
    (("explain", "r", "--meta", "about.csv"), 2, "--meta is used only with --over"),
    (("report", "r", "--meta", "about.csv", "-o", "-"), 2, "--meta is used only with --over"),
    (("explain", "r", "--meta", "about.csv", "--over", "dat"), 2, "did you mean 'date'"),
    (("explain", "m", "s000", "s001", "--over", "date"), 2, "not available for two items"),
    (("explain", "none", "--over", "date"), 3, "result.json"),
    (("cluster", "a.csv", "-k", 3, "--over", "date"), 2, "the items have no column 'date'; add one with --meta"),
    (("cluster", "a.csv", "-k", 3, "--meta", "about.csv", "--over", "day"), 2, "the columns are date, size"),
])
def test_wrong_calls(ddsc, stream, words, code, said):
    done = ddsc(*words, code=code, cwd=stream[0])
    assert said in done.stderr and done.stdout == ""
