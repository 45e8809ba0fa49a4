"""The baselines of `ddsc cluster`."""
import csv
import json

import numpy as np
import pytest


@pytest.mark.parametrize("words", [["d2"], ["d2", "--barycenter", "ibp"], ["pd2"], ["kmeans"], ["sc"]])
def test_three_groups(ddsc, three_groups, tmp_path, words):
    done = ddsc("cluster", three_groups, "-k", 3, "--method", *words, "-o", tmp_path / "r", "--json")
    data = json.loads(done.stdout)
    assert data["scores"]["ami"] == pytest.approx(1) and data["settings"]["method"] == words[0]
    assert data == json.loads((tmp_path / "r" / "result.json").read_text())
    assert len(list(csv.reader((tmp_path / "r" / "labels.csv").open()))) == 46
    if words[0] in ("d2", "pd2"):
        centers = np.load(tmp_path / "r" / "centers.npz")
        assert len(centers["offsets"]) == 4 and np.isfinite(centers["weights"]).all()


@pytest.mark.parametrize("method", ["d2", "pd2"])
def test_objective(ddsc, three_groups, method):
    data = json.loads(ddsc("cluster", three_groups, "-k", 4, "--method", method, "--center-size", 5,
                           "--restarts", 2, "--json").stdout)
    values = data["objectives"]
    assert values == sorted(values, reverse=True) and values[-1] == data["objective"]
    assert data["centers"]["points"] == 5 and data["centers"]["solved"] <= data["centers"]["pairs"]
    assert "barycenter" in data["settings"] or method == "pd2"


def test_threads_and_seeds(ddsc, three_groups):
    def run(*words):
        data = json.loads(ddsc("cluster", three_groups, "-k", 5, "--method", "d2", "--json", *words).stdout)
        del data["threads"], data["seconds"], data["command"]
        return data

    assert run("-j", 1) == run("-j", 3)
    assert run("-s", 1)["objectives"] != run("-s", 2)["objectives"]


def test_one_number_of_clusters(ddsc, three_groups):
    for k in ("2:4", "auto"):
        assert "needs a single number" in ddsc("cluster", three_groups, "-k", k, "--method", "d2", code=2).stderr


def test_options_of_other_methods_are_named(ddsc, three_groups):
    error = ddsc("cluster", three_groups, "-k", 3, "--center-size", 4, "--barycenter", "ibp",
                 "--vectors-from", "mean").stderr
    for option in ("--center-size", "--barycenter", "--vectors-from"):
        assert f"{option} has no effect" in error


def test_bag_of_words(ddsc, tmp_path):
    """Words with equal vectors: means do not distinguish the items, histograms do."""
    random = np.random.default_rng(0)
    histograms = np.zeros((30, 12))
    for i in range(30):
        histograms[i, random.choice(6, 4, replace=False) + 6 * (i % 2)] = 1
    support = random.normal(0, 1e-3, (12, 2))
    np.savez(tmp_path / "bag.npz", histograms=histograms, support=support,
             labels=np.arange(30) % 2)

    def ami(how):
        return json.loads(ddsc("cluster", tmp_path / "bag.npz", "-k", 2, "--method", "kmeans",
                               "--vectors-from", how, "--json").stdout)["scores"]["ami"]

    assert ami("histogram") == pytest.approx(1) == ami("auto") and ami("mean") < 0.9


def settings_of(ddsc, *words):
    return json.loads(ddsc("cluster", *words, "-k", 3, "--json").stdout)["settings"]


def test_d2_reports_what_was_given(ddsc, three_groups):
    """The cost determines the result. --metric has no effect, even if it joins several metrics."""
    words = ("--method", "d2", "--cost", "euclidean", "--barycenter", "admm", "--center-size", 6, "--restarts", 2)
    told = settings_of(ddsc, three_groups, *words)
    assert (told["method"], told["k"], told["cost"], told["barycenter"]) == ("d2", 3, "euclidean", "admm")
    assert (told["center_size"], told["restarts"]) == (6, 2)
    for metric in ("sinkhorn", "sinkhorn+mmd"):
        done = ddsc("cluster", three_groups, "-k", 3, *words, "--metric", metric, "--json")
        assert json.loads(done.stdout)["settings"] == told and "--metric has no effect" in done.stderr


@pytest.mark.parametrize("hubs", ["off", "auto", "always"])
def test_precomputed_reports_what_was_given(ddsc, three_groups, tmp_path, hubs):
    ddsc("distance", three_groups, "-o", tmp_path / "D.npy")
    given = ("--precomputed", "--tau", 6, "--sample", 0.9, "--min-cluster", 0.1)
    told = settings_of(ddsc, tmp_path / "D.npy", *given, "--hubs", hubs)
    assert (told["tau"], told["sample"], told["min_cluster"], told["hubs"]) == (6, 0.9, 0.1, hubs)
    assert "metric" not in told and told["squared_input"] is False
    told = settings_of(ddsc, tmp_path / "D.npy", *given)
    assert told["hubs"] == "auto" and settings_of(ddsc, tmp_path / "D.npy", *given[:1], "--paper")["hubs"] == "off"
