"""--sample-columns and --sample: number of pairs, results, and messages if there are too few pairs."""
import json

import numpy as np
import pytest

from conftest import clouds


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "many.npz"
    np.savez(path, **clouds(3, 60, 8, 2, 11))
    return path


@pytest.mark.parametrize("metric", ["w2", "w1", "sinkhorn", "mmd", "lot"])
def test_columns(ddsc, many, metric):
    found = json.loads(ddsc("cluster", many, "-k", 3, "--metric", metric, "--sample-columns", 0.2,
                            "--json").stdout)
    assert found["pairs"]["columns"] == 36 and 0 <= found["pairs"]["columns_error"] < 0.5
    assert found["pairs"]["solved"] == 36 * 144 + 36 * 35 // 2
    assert found["settings"]["sample_columns"] == 0.2
    assert found["scores"]["ari"] == 1


def test_better_than_a_mask(ddsc, tmp_path):
    """With the same number of distances, columns find clusters that a random sample of the pairs divides."""
    np.savez(tmp_path / "x.npz", **clouds(4, 60, 12, 2, 5, separation=2.0))
    ami = {}
    for option, part in (("--sample-columns", 0.05), ("--sample", 0.0975)):
        found = json.loads(ddsc("cluster", tmp_path / "x.npz", "-k", 4, option, part, "--json", "-q").stdout)
        ami[option] = found["scores"]["ami"]
        assert found["pairs"]["solved"] == pytest.approx(0.0975 * 28680, rel=0.1)
    assert ami["--sample-columns"] > ami["--sample"] + 0.05


def test_neighbors_warns_of_few_columns(ddsc, many):
    """A clustering reports it in the advice. The graph alone has no advice, so the library warns."""
    few = ddsc("neighbors", many, "--sample-columns", 0.03, "--json")
    assert "ddsc: warning: 5 columns are too few to estimate" in few.stderr
    assert "warning" not in ddsc("neighbors", many, "--sample-columns", 0.5, "--json").stderr
    quiet = ddsc("neighbors", many, "--sample-columns", 0.03, "--json", "-q")
    assert quiet.stderr == ""


def test_all_columns_are_the_plain_graph(ddsc, many):
    graphs = [ddsc("neighbors", many, "-o", "-", *words).stdout
              for words in ([], ["--sample-columns", 1])]
    assert graphs[0] == graphs[1]


def test_neighbors_says_so(ddsc, many):
    found = json.loads(ddsc("neighbors", many, "--sample-columns", 0.25, "--json").stdout)
    assert found["columns"] == 45 and found["edges"] == 180 * found["tau"]
    assert "(18 whole columns)" in ddsc("cluster", many, "-k", 3, "--sample-columns", 0.1, "-v").stderr


def test_precomputed(ddsc, many, tmp_path):
    ddsc("distance", many, "-o", tmp_path / "d.npy", "-q")
    words = ["-k", 3, "--sample-columns", 0.3]
    given = ddsc("cluster", tmp_path / "d.npy", "--precomputed", *words, "-q").stdout
    assert given.split()[1:] == ddsc("cluster", many, *words, "-q").stdout.split()[1:]


def test_stability_with_columns(ddsc, many):
    found = json.loads(ddsc("cluster", many, "-k", 3, "--sample-columns", 0.2, "--stability", 2,
                            "--json", "-q").stdout)
    assert found["stability"]["items_ever_changed"] == 0


def test_too_few(ddsc, many):
    assert "1 columns; at least 2 are" in ddsc("cluster", many, "-k", 3, "--sample-columns", 0.004,
                                                code=2).stderr
    assert "too few to estimate" in " ".join(
        ddsc("cluster", many, "-k", 3, "--sample-columns", 0.05).stderr.split())
    assert "selects none of the 16110 pairs" in ddsc("cluster", many, "-k", 3, "--sample", 1e-9,
                                                    code=2).stderr
    said = " ".join(ddsc("cluster", many, "-k", 3, "--sample", 0.01).stderr.split())
    assert "Number of items without a neighbor at a known distance" in said and "Raise the sample" in said


def test_usage(ddsc, many, tmp_path):
    assert "only one of them" in ddsc("cluster", many, "-k", 3, "--sample", 0.5, "--sample-columns",
                                      0.5, code=2).stderr
    assert "fraction" in ddsc("cluster", many, "-k", 3, "--sample-columns", 2, code=2).stderr
    assert "stores nothing" in ddsc("cluster", many, "-k", 3, "--sample-columns", 0.5, "--resume",
                                   tmp_path / "keep").stderr
    assert "no effect with --sample-columns" in ddsc(
        "cluster", many, "-k", 3, "--sample-columns", 0.5, "--exact-graph", "pruned").stderr
