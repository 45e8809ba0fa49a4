"""cluster --like, which repeats the settings of a result."""
import json

import numpy as np
import pytest

from conftest import clouds

METRICS = ["w2", "mmd", "lot", "sinkhorn"]


def save(path, sizes, seed, named="item", weighted=True):
    """Three groups of clouds with weights of many digits."""
    arrays = clouds(3, sizes, 12, 2, seed)
    n, rng = len(arrays["offsets"]) - 1, np.random.default_rng(seed)
    if weighted:
        arrays["weights"] = rng.uniform(0.1, 1, len(arrays["points"]))
    arrays["ids"] = np.array([f"{named}{i}" for i in range(n)])
    np.savez(path, **{k: v for k, v in arrays.items() if k != "labels"})
    return path


def joined(path, *parts):
    """The items of several files as one file."""
    z = [dict(np.load(p)) for p in parts]
    starts = np.cumsum([0] + [len(a["points"]) for a in z])
    offsets = [a["offsets"][:-1] + s for a, s in zip(z, starts)] + [[starts[-1]]]
    np.savez(path, offsets=np.concatenate(offsets),
             **{k: np.concatenate([a[k] for a in z]) for k in ("points", "weights", "ids")})
    return path


@pytest.fixture(scope="module")
def sets(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sets")
    old, new = save(folder / "old.npz", 30, 1), save(folder / "new.npz", 4, 2, "new")
    return old, new, joined(folder / "all.npz", old, new)


@pytest.mark.parametrize("metric", METRICS)
def test_like_repeats_a_run(ddsc, sets, tmp_path, metric):
    old, _, every = sets
    ddsc("cluster", old, "-k", 3, "-m", metric, "--arcsinh", 5, "-o", tmp_path / "a")
    ddsc("cluster", old, "--like", tmp_path / "a", "-o", tmp_path / "b")
    for name in ("graph.mtx", "labels.csv", "embedding.npy", "eigenvalues.csv"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes(), name
    ddsc("cluster", every, "--like", tmp_path / "a" / "model.npz", "-o", tmp_path / "c")
    told = json.loads((tmp_path / "c" / "result.json").read_text())
    assert told["k"] == 3 and told["settings"]["metric"] == metric and told["settings"]["hubs"] == "off"


def test_values_of_old_pairs_are_the_same(ddsc, sets, tmp_path):
    """Weights with many digits: their sums must not depend on the other items."""
    old, _, every = sets
    for metric in METRICS:
        where = tmp_path / metric
        ddsc("cluster", old, "-k", 3, "-m", metric, "-o", where / "a")
        ddsc("cluster", every, "--like", where / "a", "-o", where / "b")
        pairs = [{tuple(line.split()[:2]): line.split()[2] for line in
                  (where / x / "graph.mtx").read_text().splitlines()[3:]} for x in "ab"]
        common = pairs[0].keys() & pairs[1].keys()
        assert len(common) > 300
        assert all(pairs[0][p] == pairs[1][p] for p in common)


def test_like_is_refused(ddsc, sets, tmp_path):
    old = sets[0]
    ddsc("cluster", old, "-k", 3, "-o", tmp_path / "a")
    assert "--metric cannot be combined with --like" in ddsc(
        "cluster", old, "--like", tmp_path / "a", "-m", "mmd", code=2).stderr
    assert "-k auto cannot be combined" in ddsc(
        "cluster", old, "--like", tmp_path / "a", "-k", "auto", code=2).stderr
    assert "cannot open" in ddsc("cluster", old, "--like", tmp_path / "none", code=3).stderr
    plane = tmp_path / "plane.npz"
    np.savez(plane, **{k: v for k, v in clouds(2, 5, 6, 3, 1).items() if k != "labels"})
    assert "3 coordinates" in ddsc("cluster", plane, "--like", tmp_path / "a", code=3).stderr
    assert "same file as the input" in ddsc("cluster", old, "--like", tmp_path / "a", "-o",
                                            tmp_path / "a", "--force", code=2).stderr


def test_models_of_earlier_versions_lack_settings(ddsc, sets, tmp_path):
    ddsc("cluster", sets[0], "-k", 3, "-o", tmp_path / "a")
    arrays = dict(np.load(tmp_path / "a" / "model.npz"))
    for name in ("run_settings", "graph_offsets", "graph_indices", "graph_d2"):
        del arrays[name]
    np.savez(tmp_path / "old.npz", **arrays)
    told = ddsc("cluster", sets[0], "--like", tmp_path / "old.npz", code=3).stderr
    assert "version 0.2.0, which did not store all settings" in told
    ddsc("assign", tmp_path / "old.npz", sets[1])
