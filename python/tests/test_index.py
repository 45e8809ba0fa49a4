"""Tests of DDSC.open_index."""
import gc
import warnings

import numpy as np
import pytest

import ddsc


def make(n, seed, groups=3):
    rng = np.random.default_rng(seed)
    return [rng.normal(6 * (i % groups), 1, (12, 2)) for i in range(n)]


def same_graph(a, b):
    return a.data.tobytes() == b.data.tobytes() and np.array_equal(a.indices, b.indices) and np.array_equal(a.indptr, b.indptr)


@pytest.mark.parametrize("metric", ["w2", "mmd", "lot", "sinkhorn"])
@pytest.mark.parametrize("hubs", ["off", "always"])
def test_graph_equals_that_of_a_fit(metric, hubs):
    items = {str(i): x for i, x in enumerate(make(80, 1))}
    model = ddsc.DDSC(3, metric, hubs=hubs).fit(list(items.values()))
    graph = model.graph_.copy()
    with model.open_index() as index:
        assert same_graph(index.graph_, graph) and index.n_searched_ == 0
        for step, x in enumerate(make(9, 2)):
            index.insert([x])
            items[str(80 + step)] = x
            assert index.n_searched_ > 0
            if step % 3 == 2:
                gone = [7 * step, 80 + step - 1]
                index.remove(gone)
                for name in gone:
                    del items[str(name)]
                whole = ddsc.DDSC(like=model).fit(list(items.values()))
                assert index.ids == list(items) and len(index) == len(items)
                assert same_graph(index.graph_, whole.graph_)
    assert same_graph(model.graph_, graph) and len(model.labels_) == 80


def test_ids_and_weights():
    X = ddsc.Distributions(make(30, 1), ids=[f"a{i}" for i in range(30)])
    model = ddsc.DDSC(3).fit(X)
    new = make(5, 2)
    weights = [np.arange(1.0, 13.0)] * 2
    index = model.open_index()
    index.insert(new[:2], weights)
    index.insert(new[2:3], ids=["b"])
    index.insert(ddsc.Distributions(new[3:], ids=["c", "d"]))
    assert index.ids[30:] == ["30", "31", "b", "c", "d"]
    index.remove(["31", "d"])
    index.insert(new[4:])
    assert index.ids[30:] == ["30", "b", "c", "32"]  # numbers are not used again
    every = [*make(30, 1), new[0], new[2], new[3], new[4]]
    heavy = [np.ones(12)] * 30 + [weights[0]] + [np.ones(12)] * 3
    assert same_graph(index.graph_, ddsc.DDSC(like=model).fit(every, sample_weight=heavy).graph_)


def test_long_numbers_are_names():
    names = [str(i) for i in range(28)]
    model = ddsc.DDSC(3).fit(ddsc.Distributions(make(30, 1), ids=[*names, "9" * 19, "9" * 30]))
    with model.open_index() as index:
        index.insert(make(1, 2))
        assert index.ids[-1] == model.update(make(1, 2)).items_["id"][-1] == "30"


def test_progress_bars_end_with_each_change():
    with ddsc.DDSC(3, verbose=1).fit(make(80, 1)).open_index() as index:
        assert index._run.bar.stage == ""
        for step in range(2):
            index.insert(make(3, 2 + step))
            assert index._run.bar.stage == ""
        assert index.graph_.shape == (86, 86) and index._run.bar.stage == ""


def test_the_index_does_not_depend_on_the_model():
    model = ddsc.DDSC(3).fit(make(30, 1))
    index = model.open_index()
    model.fit([x[:, :1] for x in make(20, 3)])
    del model
    gc.collect()
    index.insert(make(2, 2))
    assert len(index) == 32 and index.graph_.shape == (32, 32)


def test_dropped_items():
    X = make(30, 1)
    X[4] = np.empty((0, 2))
    model = ddsc.DDSC(3, on_empty="drop").fit(X)
    with model.open_index() as index:
        assert index.ids == [str(i) for i in range(30) if i != 4]
        new = make(3, 2)
        new[1] = np.empty((0, 2))
        index.insert(new)
        assert index.ids[29:] == ["30", "32"]
        index.remove([5])
        rest = [x for i, x in enumerate(X) if i not in (4, 5)]
        assert same_graph(index.graph_, ddsc.DDSC(like=model).fit([*rest, new[0], new[2]]).graph_)


def test_what_an_index_refuses():
    model = ddsc.DDSC(3, n_neighbors=5).fit(make(30, 1))
    with pytest.raises(Exception, match="not fitted"):
        ddsc.DDSC(3).open_index()
    with pytest.raises(ValueError, match="estimated; use update"):
        ddsc.DDSC(3, "mmd", sample=0.5).fit(make(60, 1)).open_index()
    index = model.open_index()
    before = index.graph_
    with pytest.raises(ValueError, match="'7' is already in the index"):
        index.insert(make(1, 2), ids=[7])
    with pytest.raises(ValueError, match="'x' is already in the index"):
        index.insert(make(2, 2), ids=["x", "x"])
    with pytest.raises(ValueError, match="1 ids for 2 items"):
        index.insert(make(2, 2), ids=["x"])
    with pytest.raises(ValueError, match="3 features"):
        index.insert([np.zeros((4, 3))])
    with pytest.raises(ValueError, match="no item with the id 'y'"):
        index.remove(["y"])
    with pytest.raises(ValueError, match="occurs twice"):
        index.remove([3, "3"])
    with pytest.raises(ValueError, match="would remain"):
        index.remove(range(27))
    with pytest.raises(TypeError, match="single text"):
        index.remove("3")
    index.remove([])
    assert len(index) == 30 and same_graph(index.graph_, before)
    index.close()
    index.close()
    for call in (lambda: index.graph_, lambda: index.insert(make(1, 2)), lambda: index.remove([1]), index.__enter__):
        with pytest.raises(ValueError, match="closed"):
            call()
    assert len(index.ids) == 30 and "closed" in repr(index)


def test_an_interrupted_change():
    calls = []

    def stop(stage, done, total):
        if calls:
            raise KeyboardInterrupt

    model = ddsc.DDSC(3, "sinkhorn", callback=stop).fit(make(80, 1))
    index = model.open_index()
    calls.append(1)
    with warnings.catch_warnings(), pytest.raises(KeyboardInterrupt):
        index.insert(make(40, 2))
    calls.clear()
    assert len(index) == 80 and len(index.ids) == 80
    try:
        index.insert(make(40, 2))
        assert same_graph(index.graph_, ddsc.DDSC(like=model).fit(make(80, 1) + make(40, 2)).graph_)
    except ValueError as error:
        assert "open a new index" in str(error)
