"""compress="auto": the number of points is chosen for the metric, as `--compress auto` of the program does."""
import json
import subprocess

import ddsc
import numpy as np
import pytest
from ddsc import DDSC

ACCURACY = ("sample_pairs", "sample_items", "error_median", "error_95", "neighbors", "neighbors_kept")


@pytest.fixture(scope="module")
def large_items():
    rng = np.random.default_rng(4)
    sizes = rng.integers(70, 131, 30)
    return ddsc.Distributions([rng.normal(size=(n, 4)) + [.2 * i, 0, 0, 0] for i, n in enumerate(sizes)])


@pytest.mark.parametrize("metric", ["w2", "mmd"])
def test_the_choice_is_that_of_the_program(program, tmp_path, large_items, metric):
    large_items.write(tmp_path / "in.npz")
    words = [program, "neighbors", tmp_path / "in.npz", "--metric", metric, "--json", "-q", "--compress"]
    for value in ("auto", "100%"):
        theirs = json.loads(subprocess.run([*words, value], check=True, capture_output=True, text=True).stdout)["compress"]
        small = large_items.compress(value, metric=metric)
        assert small.compression == pytest.approx(theirs, rel=1e-12)
        assert small.sizes.max() == theirs["m"] and small.max_w2_error == small.compression["max_w2"]
    model = DDSC(2, metric=metric, compress="100%").fit(large_items)
    assert model.compression_ == small.compression and model.stats_["compress_worst"] == small.max_w2_error
    plain = DDSC(2, metric=metric, compress=small.compression["m"]).fit(large_items)
    np.testing.assert_array_equal(plain.embedding_, model.embedding_)
    assert not set(ACCURACY) & set(plain.compression_) and set(ACCURACY) < set(model.compression_)


def test_like_uses_the_metric_of_the_model(large_items):
    model = DDSC(2, metric="w1").fit(large_items)
    later = DDSC(like=model, compress="50%").fit(large_items)
    assert later.compression_ == pytest.approx(large_items.compress("50%", metric="w1").compression, rel=1e-9)
    by_w2 = large_items.compress("50%").compression
    assert later.compression_["error_median"] != pytest.approx(by_w2["error_median"], rel=1e-3)


def test_methods_without_distances_choose_by_w2(large_items):
    model = DDSC(2, method="d2", compress="auto", center_size=4).fit(large_items)
    assert model.compression_ == large_items.compress("auto").compression


def test_small_items_stay_as_they_are():
    X = ddsc.make_gaussians(k=3, n=5, n_points=8, separation=5.0)
    small = X.compress("auto")
    assert small.compression is None and small.max_w2_error == 0 and small.ids == X.ids
    assert (small.sizes == X.sizes).all()
    before = X.compress(3)  # the estimator did not merge these
    model = DDSC(2, compress="auto").fit(before)
    assert model.compression_ is None and "compress_worst" not in model.stats_
    assert DDSC(2).fit(before).compression_ is None


def test_sets_with_dropped_items():
    points = [np.empty((0, 2)), *(np.arange(2. * n).reshape(n, 2) for n in (3, 4, 5, 3))]
    X = ddsc.Distributions(points, ids="vwxyz", labels=[3, 4, 3, 4, 4], on_empty="drop")
    for value in ("auto", 2):
        small = X.compress(value)
        assert small.ids == ["w", "x", "y", "z"] and small.labels.tolist() == [4, 3, 4, 4] and len(small) == 4
        assert (small.compression is None) == (value == "auto")
    assert (X.compress("auto").sizes == X.sizes).all()


@pytest.mark.parametrize("value", ["", "best", "0%", "101%", "5.5%", "%", 2.5, True, 0, -1])
def test_wrong_values_are_named(large_items, value):
    with pytest.raises(ValueError, match="compress|limit"):
        large_items.compress(value)
    with pytest.raises(ValueError, match="compress|limit"):
        DDSC(2, compress=value).fit(large_items)


def test_a_failed_trial_names_its_reason():
    X = ddsc.Distributions([np.ones((40, 2))] * 5 + [np.zeros((40, 2))])
    with pytest.raises(ValueError, match="has no direction"):
        X.compress("auto", cost="cosine")
