"""Tests of DDSC.update and DDSC.partial_fit."""
import numpy as np
import pytest

import ddsc


def make(n, seed, groups=3):
    rng = np.random.default_rng(seed)
    return [rng.normal(6 * (i % groups), 1, (12, 2)) for i in range(n)]


@pytest.mark.parametrize("metric", ["w2", "mmd", "lot", "sinkhorn"])
def test_update_equals_a_fit_like_this_one(metric):
    old, new = make(240, 1), make(15, 2)
    first = ddsc.DDSC(3, metric, hubs="off").fit(old)
    labels, graph = first.labels_.copy(), first.graph_.copy()
    later = first.update(new, remove=[4, 200])
    items = [x for i, x in enumerate(old) if i not in (4, 200)] + new
    whole = ddsc.DDSC(like=first).fit(items)
    assert np.array_equal(later.graph_.data, whole.graph_.data)
    assert np.array_equal(later.graph_.indices, whole.graph_.indices)
    assert np.allclose(later.eigenvalues_, whole.eigenvalues_, atol=1e-8, rtol=0)
    assert ddsc.adjusted_rand_score(later.labels_, whole.labels_) == 1
    assert later.update_["added"] == 15 and later.update_["removed"] == 2
    assert later.update_["lists_searched"] < 100
    assert np.array_equal(first.labels_, labels) and np.array_equal(first.graph_.data, graph.data)
    assert np.array_equal(later.predict(new), later.labels_[-15:])
    assert "update" in later.result_json()


def test_clusters_keep_their_number():
    old = make(240, 1)
    first = ddsc.DDSC(3).fit(old)
    later = first.update(make(9, 3), remove=[0, 3])  # item 1 comes first now
    kept = np.delete(np.arange(240), [0, 3])
    assert np.array_equal(later.labels_[:238], first.labels_[kept]) and later.labels_[0] == 1
    fewer = later.update(remove=[str(i) for i in kept[first.labels_[kept] == 2][:79]], n_clusters=3)
    assert fewer.update_["kept"] == 168


def test_partial_fit(tmp_path):
    X = make(240, 1)
    model = ddsc.DDSC(3, hubs="off")
    assert model.partial_fit(X) is model and not hasattr(model, "update_")
    expected = model.update(make(6, 5))
    assert model.partial_fit(make(6, 5)) is model
    assert len(model.labels_) == 246 and np.array_equal(model.labels_, expected.labels_)
    assert np.array_equal(model.graph_.data, expected.graph_.data)
    model.save(tmp_path / "model.npz")
    loaded = ddsc.DDSC.load(tmp_path / "model.npz").update(remove=[7])
    assert len(loaded.labels_) == 245


def test_what_update_refuses():
    model = ddsc.DDSC(3).fit(ddsc.Distributions(make(240, 1), ids=[f"a{i}" for i in range(240)]))
    with pytest.raises(ValueError, match="already in the model"):
        model.update(ddsc.Distributions(make(2, 3), ids=["b", "a7"]))
    with pytest.raises(ValueError, match="no item with the id '7'"):
        model.update(remove=[7])
    with pytest.raises(ValueError, match="removed twice"):
        model.update(remove=["a7", "a7"])
    with pytest.raises(ValueError, match="remove fewer items"):
        model.update(remove=[f"a{i}" for i in range(235)])
    with pytest.raises(ValueError, match="3 features"):
        model.update([np.zeros((4, 3))])
    with pytest.raises(ValueError, match="nothing to update"):
        model.update()
    with pytest.raises(TypeError, match="single text"):
        model.update(remove="a7")
    with pytest.raises(ValueError):
        ddsc.DDSC(3, "w2+mmd").fit(make(60, 1)).update(make(2, 1))
    assert len(model.labels_) == 240
    with pytest.raises(Exception, match="not fitted"):
        ddsc.DDSC(3).update(make(2, 1))


def test_a_new_cluster_is_added():
    first = ddsc.DDSC(3, "lot").fit(make(90, 1))
    far = [x + 30 for x in make(30, 2, groups=1)]
    later = first.update(far)
    (found,) = later.update_["candidates"]
    assert found["accepted"] and found["size"] == found["new"] == 30
    assert later.n_clusters_ == 4 and np.array_equal(later.labels_[:90], first.labels_)
    assert set(later.labels_[90:]) == {3}
    assert later.update(make(3, 7)).n_clusters_ == 4
    assert first.update(far, n_clusters=3).n_clusters_ == 3
    three = first.update([x + 30 for x in make(60, 2)])  # three groups
    assert three.n_clusters_ == 6 and [c["accepted"] for c in three.update_["candidates"]] == [True] * 3
    assert first.n_clusters_ == 3


def test_settings_are_chosen_again():
    first = ddsc.DDSC(3, "mmd", hubs="off").fit(make(60, 1))
    later = first.update(make(90, 2), resolve=True)
    whole = ddsc.DDSC(3, "mmd", hubs="off").fit(make(60, 1) + make(90, 2))
    assert np.array_equal(later.graph_.data, whole.graph_.data)
    told = {row["name"]: row for row in later.update_["settings"]}
    assert told["tau"]["before"] < told["tau"]["after"]
    assert told["bandwidth"]["after"] == pytest.approx(whole.stats_["bandwidth"], rel=1e-12)
    assert "settings" not in first.update(make(90, 2)).update_


@pytest.mark.parametrize("names", [None, ["left", "middle", "right"]])
def test_known_classes_are_kept(names, tmp_path):
    def labeled(n, seed, missing=False):
        labels = [i % 3 for i in range(n)]
        return ddsc.Distributions(make(n, seed), labels=labels if names is None else [names[i] for i in labels],
                                  ids=[f"{seed}-{i}" for i in range(n)])

    first = ddsc.DDSC(3, "lot").fit(labeled(90, 1))
    later = first.update(labeled(6, 2), remove=["1-0", "1-4"])
    assert len(later._classes) == 94 and list(later._classes[-3:]) == ([0, 1, 2] if names is None else names)
    assert list(later._classes[:2]) == ([1, 2] if names is None else names[1:])
    again = later.update(make(3, 3))
    assert list(again._classes[-3:]) == ([-1] * 3 if names is None else [""] * 3)
    assert ddsc.adjusted_rand_score(again.labels_[:94], later._classes) == 1
    again.report(tmp_path / "report.html")
    assert ddsc.DDSC(3, "lot").fit(make(90, 1)).update(labeled(6, 2))._classes is None
