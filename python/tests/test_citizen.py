"""What people pass, and what scikit-learn does with a set of distributions."""

import numpy as np
import pytest

import ddsc


@pytest.fixture
def items():
    rng = np.random.default_rng(0)
    return [rng.normal(size=(6, 2)) + 6 * (i % 2) for i in range(24)]


def test_splitters_and_searches(items):
    model_selection = pytest.importorskip("sklearn.model_selection")
    y = np.arange(24) % 2
    X = ddsc.Distributions(items, labels=y)
    assert X.shape == (24,)
    train, test, y_train, y_test = model_selection.train_test_split(X, y, random_state=0)
    assert isinstance(train, ddsc.Distributions) and isinstance(test, ddsc.Distributions)
    assert len(train) + len(test) == 24
    assert (train.labels == y_train).all() and (test.labels == y_test).all()
    search = model_selection.GridSearchCV(
        ddsc.DDSC(n_clusters=2), {"metric": ["w2", "mmd"]}, scoring="adjusted_rand_score", cv=2
    )
    search.fit(X, y)
    assert search.best_score_ == 1
    scores = model_selection.cross_val_score(ddsc.DDSC(n_clusters=2), X, y, scoring="adjusted_rand_score", cv=2)
    assert (scores == 1).all()


def test_take(items):
    X = ddsc.Distributions(items)
    np.testing.assert_array_equal(X.take([3, 1])[0][0], X[3][0])
    with pytest.raises(ValueError):
        X.take([0], axis=1)


def test_ways_to_hold_items(items):
    weights = [np.arange(1.0, 7) for _ in items]
    plain = ddsc.Distributions(items, weights, ids=[f"p{i}" for i in range(24)])
    pairs = [*zip(items, weights)]
    objects = np.empty(24, dtype=object)
    objects[:] = pairs
    by_id = {f"p{i}": pair for i, pair in enumerate(pairs)}
    for given in (pairs, objects, by_id):
        X = ddsc.Distributions(given)
        np.testing.assert_array_equal(X.support, plain.support)
        np.testing.assert_array_equal(X[5][1], plain[5][1])
    assert ddsc.Distributions(by_id).ids == plain.ids
    labels = ddsc.DDSC(n_clusters=2).fit(pairs).labels_
    np.testing.assert_array_equal(labels, ddsc.DDSC(n_clusters=2).fit(plain).labels_)
    with pytest.raises(ValueError, match="once more"):
        ddsc.Distributions(pairs, weights)


def test_groupby(items):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(np.concatenate(items), columns=["x", "y"])
    frame["sample"] = np.repeat([f"s{i:02d}" for i in range(24)], 6)
    X = ddsc.Distributions(frame.groupby("sample"))
    assert X.ids[:2] == ["s00", "s01"] and X.dim == 2
    np.testing.assert_array_equal(X.support, ddsc.Distributions(items).support)


def test_what_is_no_number_is_refused(items):
    masked = np.ma.array(items[0], mask=np.zeros((6, 2)))
    masked.mask[0, 0] = True
    with pytest.raises(ValueError, match="masked"):
        ddsc.Distributions([masked, items[1]])
    with pytest.raises(TypeError, match="dates"):
        ddsc.Distributions([np.array([["2020-01-01"]], dtype="datetime64[D]")])
    with pytest.raises(ValueError, match="masked"):
        ddsc.emd([0.5, 0.5], [0.5, 0.5], np.ma.array(np.ones((2, 2)), mask=np.eye(2)))


def test_integers_that_floats_cannot_hold():
    with pytest.raises(ValueError, match="2\\*\\*53"):
        ddsc.pairwise([np.array([[2**60]]), np.array([[2**60 + 1]])])
    assert ddsc.pairwise([np.array([[2**53]]), np.array([[2**53 - 1]])])[0, 1] == 1


def test_frames_have_weights_and_labels_as_tables_do():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"who": ["a", "a", "b"], "weight": [1.0, 3.0, 1.0], "label": [4, 4, 7], "x": [0.0, 1.0, 5.0]})
    X = ddsc.Distributions.from_frame(frame, "who")
    assert X.coordinate_names == ["x"] and list(X.labels) == [4, 7]
    np.testing.assert_allclose(X[0][0].mean(), 0.5)
    assert ddsc.pairwise(X, squared=True)[0, 1] == pytest.approx(0.25 * 25 + 0.75 * 16)
    assert ddsc.Distributions.from_frame(frame, "who", columns=["x", "weight"]).dim == 2
