"""Joined metrics (--metric w2+mmd), and options that do not support them."""
import json

import pytest


@pytest.fixture(name="groups")
def fixture_groups(ddsc, tmp_path):
    path = tmp_path / "groups.npz"
    ddsc("generate", "gaussians", "--clusters", "3", "--items", "30", "--points", "6", "--dim", "4", "-o", path)
    return path


def test_every_joined_metric_must_take_the_cost(ddsc, tmp_path):
    ddsc("generate", "gaussians", "--clusters", 2, "--items", 8, "-o", tmp_path / "g.npz", "-q")
    for words in (("cluster", "-m", "w2+mmd"), ("compare", "--metrics", "w2,mmd")):
        found = ddsc(words[0], tmp_path / "g.npz", "-k", 2, *words[1:], "--cost", "cosine", code=2)
        assert "mmd compares points with a kernel" in found.stderr
    ddsc("cluster", tmp_path / "g.npz", "-k", 2, "-m", "w2+sinkhorn", "--cost", "cosine", "-q")


def test_result(ddsc, groups, tmp_path):
    ddsc("cluster", groups, "-k", "3", "--metric", "mmd+w2+lot", "-o", tmp_path / "r")
    told = json.loads((tmp_path / "r" / "result.json").read_text())
    assert told["settings"]["metric"] == "mmd+w2+lot"
    assert [j["metric"] for j in told["joined"]] == ["mmd", "w2", "lot"]
    assert told["chosen"]["bandwidth"] > 0 and told["chosen"]["reference_size"] > 0
    assert "theory" not in told and not (tmp_path / "r" / "model.npz").exists()
    assert "mmd+w2+lot" in (tmp_path / "r" / "report.html").read_text()
    ddsc("report", tmp_path / "r", "-o", tmp_path / "page.html")


def test_same_labels_for_any_order_and_threads(ddsc, groups):
    a = ddsc("cluster", groups, "-k", "3", "--metric", "w2+mmd", "-j", "1").stdout
    assert a == ddsc("cluster", groups, "-k", "3", "--metric", "mmd+w2", "-j", "3").stdout


def test_no_model_is_said_before_and_after(ddsc, groups, tmp_path):
    done = ddsc("cluster", groups, "-k", "3", "--metric", "w2+mmd", "-o", tmp_path / "r")
    assert "model.npz will not be written" in " ".join(done.stderr.split())
    done = ddsc("assign", tmp_path / "r" / "model.npz", groups, code=3)
    assert "joined metrics (w2+mmd), baselines or precomputed distances cannot assign" in done.stderr


@pytest.mark.parametrize("words, told", [
    (["cluster", "x.npz", "-k", "2", "--metric", "w2+emd"], "'emd' in 'w2+emd' is not one of w2, w1, sinkhorn, mmd, lot; did you mean 'w2'?"),
    (["cluster", "x.npz", "-k", "2", "--metric", "w2+"], "'' in 'w2+'"),
    (["cluster", "x.npz", "-k", "2", "--metric", "+w2"], "'' in '+w2'"),
    (["cluster", "x.npz", "-k", "2", "--metric", "w2+mmd+w2"], "contains w2 twice"),
    (["cluster", "x.npz", "-k", "2", "--metric", "w2+mmd", "--stability", "3"], "cannot be combined with metrics joined by +"),
    (["distance", "x.npz", "--metric", "w2+mmd"], "which only 'ddsc cluster' supports"),
    (["neighbors", "x.npz", "--metric", "w2+mmd"], "which only 'ddsc cluster' supports"),
    (["cluster", "x.npz", "-k", "2", "--metric", "wasserstein"], "did you mean 'w2'?"),
    (["cluster", "x.npz", "-k", "2", "--metric", "W2"], "did you mean 'w2'?"),
])
def test_refused(ddsc, words, told):
    done = ddsc(*words, code=2)
    assert told in done.stderr


def test_headline_counts_what_was_found(ddsc, tmp_path):
    """Twenty copies of two items, with ten clusters requested: only two exist."""
    rows = "".join(f"{i},{p},{10 * (i % 2)}\n" for i in range(20) for p in (0, 1))
    (tmp_path / "two.csv").write_text("id,x,y\n" + rows)
    told = ddsc("cluster", tmp_path / "two.csv", "-k", "10", "-o", tmp_path / "r").stdout
    assert told.startswith("20 items in 2 clusters (10 requested), metric w2")


def test_resume_is_refused(ddsc, groups, tmp_path):
    done = ddsc("cluster", groups, "-k", "3", "--metric", "w2+mmd", "--resume", tmp_path / "r", code=2)
    assert "cannot be combined with joined metrics" in done.stderr
