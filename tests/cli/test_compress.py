"""--compress: the number of points, and the accuracy that is measured on the pairs of a few items."""
import json

import numpy as np
import pytest


@pytest.fixture(scope="module")
def large_items(tmp_path_factory):
    """30 items of 70 to 130 points in 4 dimensions, along a line."""
    rng = np.random.default_rng(4)
    sizes = rng.integers(70, 131, 30)
    points = np.concatenate([rng.normal(size=(n, 4)) + [.2 * i, 0, 0, 0] for i, n in enumerate(sizes)])
    path = tmp_path_factory.mktemp("compress") / "large.npz"
    np.savez(path, points=points, weights=np.ones(len(points)), offsets=np.concatenate([[0], np.cumsum(sizes)]))
    return path


def nearest(D, count):
    D = D + np.diag(np.full(len(D), np.inf))
    return [set(np.lexsort((np.arange(len(D)), row))[:count]) for row in D]


@pytest.mark.parametrize("metric", ["w2", "mmd"])
def test_accuracy_is_that_of_the_matrices(ddsc, large_items, tmp_path, metric):
    words = ["--metric", metric, "--bandwidth", "2"] if metric == "mmd" else ["--metric", metric]
    found = json.loads(ddsc("neighbors", large_items, *words, "--compress", 8, "--json").stdout)["compress"]
    assert found["m"] == 8 and found["points_after"] == 240 and found["sample_items"] == 24 and found["sample_pairs"] == 276
    ddsc("distance", large_items, *words, "-o", tmp_path / "before.npy")
    done = ddsc("distance", large_items, *words, "--compress", 8, "-o", tmp_path / "after.npy")
    assert "276 pairs of 24 items" in done.stderr and "5 nearest neighbors" in done.stderr
    few = [k * 30 // 24 for k in range(24)]
    before, after = (np.load(tmp_path / name)[np.ix_(few, few)] for name in ("before.npy", "after.npy"))
    pairs = np.triu_indices(24, 1)
    error = np.sort(abs(after - before)[pairs] / before[pairs])
    assert found["error_median"] == pytest.approx(error[275 // 2], rel=1e-6)
    assert found["error_95"] == pytest.approx(error[275 * 95 // 100], rel=1e-6)
    kept = np.mean([len(a & b) / 5 for a, b in zip(nearest(before, 5), nearest(after, 5))])
    assert found["neighbors_kept"] == pytest.approx(kept)


def test_points_are_chosen_for_the_neighbors(ddsc, large_items):
    found = {share: json.loads(ddsc("neighbors", large_items, "--compress", share, "--json", "-q").stdout)["compress"]
             for share in ("1%", "100%", "auto", "95%")}
    assert found["1%"]["m"] == 16 and found["1%"]["m"] <= found["auto"]["m"] <= found["100%"]["m"] == 32
    assert found["auto"] == found["95%"]
    again = json.loads(ddsc("distance", large_items, "--compress", "auto", "--json", "--threads", 1, "-q").stdout)
    assert again["compress"] == found["auto"]


def test_like_uses_the_metric_of_the_result(ddsc, large_items, tmp_path):
    ddsc("cluster", large_items, "-k", 2, "--metric", "w1", "-o", tmp_path / "r", "-q")
    calls = {"like": ["cluster", large_items, "--like", tmp_path / "r"],
             "w1": ["neighbors", large_items, "--metric", "w1"], "w2": ["neighbors", large_items]}
    found = {name: json.loads(ddsc(*call, "--compress", 8, "--json", "-q").stdout)["compress"]
             for name, call in calls.items()}
    assert found["like"] == pytest.approx(found["w1"], rel=1e-9)
    assert found["like"]["error_median"] != pytest.approx(found["w2"]["error_median"], rel=1e-3)


def test_the_message_has_plain_numbers(ddsc, large_items):
    told = ddsc("neighbors", large_items, "--compress", 1, "--json").stderr
    assert "at most 1 point per item" in told and "e+" not in told and "fewer than" not in told
    ddsc("generate", "shapes", "-o", large_items.with_name("shapes.npz"), "--force", "-q")
    told = ddsc("neighbors", large_items.with_name("shapes.npz"), "--compress", "auto", "--json").stderr
    assert "e+" not in told and "fewer than the 95% requested" in told


def test_a_result_has_the_accuracy(ddsc, large_items, tmp_path):
    """result.json, the summary and the page of cluster contain the values that neighbors prints."""
    done = ddsc("cluster", large_items, "-k", 2, "--compress", "auto", "-o", tmp_path / "r", "--verbose")
    stored = json.loads((tmp_path / "r/result.json").read_text())
    found = json.loads(ddsc("neighbors", large_items, "--compress", "auto", "--json", "-q").stdout)["compress"]
    assert stored["settings"]["compress"] == found["m"] and stored["compress"] == found
    kept = f"{100 * found['neighbors_kept']:.0f}%"
    assert f"on 276 pairs of 24 items, D changes by {100 * found['error_median']:.2g}%" in done.stdout + done.stderr
    assert f"{kept} of the 5 nearest neighbors stay the same" in done.stdout + done.stderr
    page = (tmp_path / "r/report.html").read_text()
    assert f"{100 * found['error_95']:.2g}% (95% quantile), and {kept} of the nearest neighbors stay the same" in page
    plain = ddsc("cluster", large_items, "-k", 2, "-o", tmp_path / "plain", "--verbose")
    assert "nearest neighbors stay" not in plain.stdout + (tmp_path / "plain/report.html").read_text()


def test_small_items_stay_as_they_are(ddsc, three_groups, tmp_path):
    done = ddsc("neighbors", three_groups, "--compress", "auto", "--json")
    assert "no points were merged" in done.stderr and "compress" not in json.loads(done.stdout)
    data = json.loads(ddsc("cluster", three_groups, "-k", 3, "--compress", "auto", "--json").stdout)
    assert "compress" not in data
    one = tmp_path / "one.npy"
    np.save(one, np.random.default_rng(0).normal(size=(2, 9, 2)))
    assert json.loads(ddsc("distance", one, "--compress", 4, "--json").stdout)["compress"]["points_after"] == 8


def test_convert_chooses_by_w2(ddsc, large_items, tmp_path):
    data = json.loads(ddsc("convert", large_items, "--compress", "50%", "--json", "-o", tmp_path / "x.npz").stdout)
    assert data["compress"]["m"] == 16 and data["compress"]["neighbors_kept"] >= .5
    assert "sample_pairs" not in json.loads(ddsc("convert", large_items, "--compress", 16, "--json", "-o",
                                                 tmp_path / "y.npz").stdout)["compress"]
    with np.load(tmp_path / "x.npz") as x, np.load(tmp_path / "y.npz") as y:
        assert (x["points"] == y["points"]).all()


def test_a_failed_trial_leaves_the_message_to_the_run(ddsc, tmp_path):
    np.save(tmp_path / "x.npy", np.concatenate([np.ones((5, 7, 2)), np.zeros((1, 7, 2))]))
    done = ddsc("distance", tmp_path / "x.npy", "--cost", "cosine", "--compress", 3, "--json", code=3)
    assert done.stderr.count("has no direction") == 1


@pytest.mark.parametrize("value", ["0", "-3", "5.5", "x", "0%", "101%", "5%%", "", "99999999999999999999"])
def test_wrong_values_are_named(ddsc, three_groups, value):
    done = ddsc("neighbors", three_groups, f"--compress={value}", code=2)
    assert "--compress" in done.stderr and "95%" in done.stderr
