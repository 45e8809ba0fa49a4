"""ddsc compare: output and rejected input."""
import json

import numpy as np
import pytest


@pytest.fixture(name="groups")
def fixture_groups(ddsc, tmp_path):
    path = tmp_path / "groups.npz"
    ddsc("generate", "gaussians", "--clusters", "3", "--items", "20", "--points", "6", "--dim", "2", "-o", path)
    return path


def test_table(ddsc, groups):
    told = ddsc("compare", groups, "-k", "3", "--metrics", "mmd,w2").stdout
    assert "items in 3 clusters" in told and "sinkhorn" not in told and "AMI" in told
    assert "recommended" in told and "verdict" in told and "suggests K" not in told
    assert "suggests K" in ddsc("compare", groups, "--metrics", "mmd,w2").stdout
    assert "--metric=" not in ddsc("compare", "--help").stdout


def test_one_metric_alone(ddsc, groups):
    told = json.loads(ddsc("compare", groups, "-k", "3", "--metrics", "lot", "--json", "-q").stdout)
    assert [m["metric"] for m in told["metrics"]] == ["lot"] and told["sure"] == "no difference"
    assert told["metrics"][0]["agreement"] is None  # with nobody
    said = ddsc("compare", groups, "-k", "1", "--metrics", "lot", "-q").stdout
    row = next(line for line in said.splitlines() if line.strip().startswith("lot"))
    assert "60 items in 1 cluster\n" in said and row.split()[4] == "-"


def test_structure_is_the_verdict(ddsc, groups):
    told = json.loads(ddsc("compare", groups, "-k", "3", "--json", "-q").stdout)
    for m in told["metrics"]:
        alone = json.loads(ddsc("cluster", groups, "-k", "3", "-m", m["metric"], "--json", "-q").stdout)
        assert m["structure"] == alone["verdict"]["structure"] and m["level"] == alone["verdict"]["level"]


def test_structure_of_few_items_is_the_verdict(ddsc, tmp_path):
    """Too few items for gaps, but their points show that they differ."""
    rng = np.random.default_rng(5)
    lines = [f"{i},{x},{y}" for i in range(20) for x, y in rng.normal(size=(15, 2)) + (3 * (i % 2), 0)]
    path = tmp_path / "few.csv"
    path.write_text("id,x,y\n" + "\n".join(lines))
    told = json.loads(ddsc("compare", path, "-k", "2", "--metrics", "w2,mmd", "--json", "-q").stdout)
    for m in told["metrics"]:
        verdict = json.loads(ddsc("cluster", path, "-k", "2", "-m", m["metric"], "--json", "-q").stdout)["verdict"]
        assert "items_alike_p" in verdict["evidence"] and m["structure"] == verdict["structure"] == "undecided"


def test_stable_borders_without_clusters_are_passed_over(ddsc, tmp_path):
    """Three clusters divided into two: clear with w2, and unstable. A narrow kernel depends only on the mass at the
    common point, which forms a line that is always cut at the same position."""
    rng = np.random.default_rng(1)
    lines = ["id,weight,x,y"]
    for i in range(120):
        a, mass = 2 * np.pi * (i % 3) / 3, rng.uniform(0, 0.5)
        lines.append(f"{i},{mass},0,0")
        for x, y in 100 * np.array([np.cos(a), np.sin(a)]) + 3 * rng.normal(size=(20, 2)):
            lines.append(f"{i},{(1 - mass) / 20},{x},{y}")
    path = tmp_path / "common.csv"
    path.write_text("\n".join(lines))
    words = ["compare", path, "-k", "2", "--metrics", "w2,mmd", "--bandwidth", "0.001", "-q"]
    told = json.loads(ddsc(*words, "--json").stdout)
    w2, mmd = told["metrics"]
    assert w2["structure"] == "clear" and mmd["structure"] == "weak"
    assert mmd["stability"] > w2["stability"] + 0.06  # a clear lead
    assert told["recommended"] == "w2" and told["sure"] == "slight"
    assert "Only w2 finds separate clusters" in told["words"]
    assert told["words"].endswith("Not recommended, because their clusters are not confirmed: mmd.")
    assert "* w2" in ddsc(*words).stdout


def test_no_clusters_at_all_is_said(ddsc, tmp_path):
    rng = np.random.default_rng(2)
    path = tmp_path / "noise.csv"
    path.write_text("id,x,y\n" + "\n".join(f"{i},{x},{y}" for i in range(200) for x, y in rng.normal(size=(15, 2))))
    told = json.loads(ddsc("compare", path, "-k", "3", "--metrics", "w2,mmd", "--json", "-q").stdout)
    assert {m["structure"] for m in told["metrics"]} == {"none"}
    assert told["words"].endswith("No metric confirms its clusters, so do not rely on the cluster boundaries.")


def test_json_is_what_cluster_finds(ddsc, groups):
    told = json.loads(ddsc("compare", groups, "-k", "3", "--json", "-q").stdout)
    assert [m["metric"] for m in told["metrics"]] == ["w2", "sinkhorn", "mmd", "lot"]
    for m in told["metrics"]:
        alone = json.loads(ddsc("cluster", groups, "-k", "3", "-m", m["metric"], "--json", "-q").stdout)
        assert m["scores"]["ami"] == alone["scores"]["ami"]
    assert told["recommended"] in ("w2", "sinkhorn", "mmd", "lot")
    assert told["sure"] in ("no difference", "slight", "clear")


def test_same_for_any_threads(ddsc, groups):
    def told(threads):
        found = json.loads(ddsc("compare", groups, "--json", "-q", "-j", threads).stdout)
        for m in found["metrics"]:
            del m["seconds"]
        return found
    assert told(1) == told(3)


def test_k_left_open(ddsc, groups):
    """A K is suggested only if it was not specified."""
    for words, suggested in (((), True), (("-k", "auto"), True), (("-k", "2:4"), True), (("-k", 3), False)):
        told = json.loads(ddsc("compare", groups, *words, "--json", "-q").stdout)
        assert told["k"] == 3 and all(("suggests_k" in m) == suggested for m in told["metrics"])


@pytest.mark.parametrize("words, told", [
    (["--metrics", "w2,emd"], "separated by commas"),
    (["--metrics", "w2,,mmd"], "separated by commas"),
    (["--metrics", "w2,w2"], "separated by commas"),
    (["--metric", "w2"], "--metrics"),
    (["-k", "0"], "a number"),
])
def test_refused(ddsc, groups, words, told):
    assert told in ddsc("compare", groups, *words, code=2).stderr


def test_the_lead_is_no_confidence(ddsc, groups, tmp_path):
    """The lead in stability does not predict the gain (docs/metrics.md), so no words rate it."""
    noise = tmp_path / "noise.csv"
    rng = np.random.default_rng(5)
    noise.write_text("id,x,y\n" + "\n".join(f"{i},{x},{y}" for i in range(100) for x, y in rng.normal(size=(9, 2)) + (i % 7, 0)))
    for path, k in ((groups, 3), (noise, 4)):
        told = json.loads(ddsc("compare", path, "-k", k, "--metrics", "w2,mmd", "--json", "-q").stdout)
        said = ddsc("compare", path, "-k", k, "--metrics", "w2,mmd", "-q").stdout
        best = max(m["stability"] for m in told["metrics"])
        least = min(m["stability"] for m in told["metrics"])
        assert told["lead"] == pytest.approx(best - least)
        assert f"recommended  {told['recommended']}. {told['words']}" in said and f"* {told['recommended']}" in said
        assert not any(word in told["words"] for word in ("chance", "clear", "no difference"))
    assert "does not show how much better" in told["words"]
