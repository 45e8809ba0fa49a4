"""ddsc compare: what it prints, and what it refuses."""
import json

import pytest


@pytest.fixture(name="groups")
def fixture_groups(ddsc, tmp_path):
    path = tmp_path / "groups.npz"
    ddsc("generate", "gaussians", "--groups", "3", "--items", "20", "--points", "6", "--dim", "2", "-o", path)
    return path


def test_table(ddsc, groups):
    told = ddsc("compare", groups, "-k", "3", "--metrics", "mmd,w2").stdout
    assert "items in 3 clusters" in told and "sinkhorn" not in told and "AMI" in told
    assert "to take" in told and "structure" in told
    assert "--metric=" not in ddsc("compare", "--help").stdout


def test_one_metric_alone(ddsc, groups):
    told = json.loads(ddsc("compare", groups, "-k", "3", "--metrics", "lot", "--json", "-q").stdout)
    assert [m["metric"] for m in told["metrics"]] == ["lot"] and told["sure"] == "no difference"
    assert told["metrics"][0]["agreement"] is None  # with nobody
    said = ddsc("compare", groups, "-k", "1", "--metrics", "lot", "-q").stdout
    row = next(line for line in said.splitlines() if line.strip().startswith("lot"))
    assert "60 items in 1 cluster\n" in said and row.split()[5] == "-"


def test_structure_is_the_verdict(ddsc, groups):
    told = json.loads(ddsc("compare", groups, "-k", "3", "--json", "-q").stdout)
    for m in told["metrics"]:
        alone = json.loads(ddsc("cluster", groups, "-k", "3", "-m", m["metric"], "--json", "-q").stdout)
        assert m["structure"] == alone["verdict"]["structure"]


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
    assert json.loads(ddsc("compare", groups, "--json", "-q").stdout)["k"] == 3


@pytest.mark.parametrize("words, told", [
    (["--metrics", "w2,emd"], "separated by commas"),
    (["--metrics", "w2,,mmd"], "separated by commas"),
    (["--metrics", "w2,w2"], "separated by commas"),
    (["--metric", "w2"], "--metrics"),
    (["-k", "0"], "a number"),
])
def test_refused(ddsc, groups, words, told):
    assert told in ddsc("compare", groups, *words, code=2).stderr


def test_no_star_where_nothing_differs(ddsc, groups):
    told = json.loads(ddsc("compare", groups, "-k", 3, "--json", "-q").stdout)
    said = ddsc("compare", groups, "-k", 3, "-q").stdout
    assert ("the most stable" in said) == (told["sure"] != "no difference")
