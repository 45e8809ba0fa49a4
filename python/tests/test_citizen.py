"""Tests of common input types, and of sets of distributions as input to scikit-learn."""

import pathlib
import subprocess
import sys

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
    with pytest.raises(ValueError, match="given twice"):
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


class Foreign:
    """Simulates an array of another library that supports only one protocol."""

    def __init__(self, array):
        self.array = array


class ByArray(Foreign):
    def __array__(self, dtype=None, copy=None):
        return self.array if dtype is None else self.array.astype(dtype)


class ByDlpack(Foreign):
    def __dlpack__(self, **settings):
        return self.array.__dlpack__(**settings)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


@pytest.mark.parametrize("kind", [ByArray, ByDlpack])
def test_arrays_of_other_libraries(items, kind):
    plain = ddsc.Distributions(items)
    np.testing.assert_array_equal(ddsc.Distributions([kind(i) for i in items]).support, plain.support)
    np.testing.assert_array_equal(ddsc.Distributions(kind(np.stack(items))).support, plain.support)
    D = ddsc.pairwise(items)
    labels = ddsc.DDSC(2, metric="precomputed").fit(kind(D)).labels_
    np.testing.assert_array_equal(labels, ddsc.DDSC(2, metric="precomputed").fit(D).labels_)
    assert ddsc.emd(None, None, kind(D)) == ddsc.emd(None, None, D)


def test_tensors(items):
    torch = pytest.importorskip("torch")
    plain = ddsc.Distributions(items)
    tensors = [torch.as_tensor(i) for i in items]
    np.testing.assert_array_equal(ddsc.Distributions(tensors).support, plain.support)
    np.testing.assert_array_equal(ddsc.Distributions(torch.stack(tensors)).support, plain.support)
    with pytest.raises((RuntimeError, TypeError), match="grad"):
        ddsc.Distributions([t.requires_grad_() for t in tensors])


def test_jax_arrays(items):
    numpy = pytest.importorskip("jax.numpy")
    X = ddsc.Distributions([numpy.asarray(i) for i in items])
    np.testing.assert_allclose(X.support, ddsc.Distributions(items).support, rtol=1e-6)


def test_ragged_arrays(items):
    awkward = pytest.importorskip("awkward")
    ragged = [item[: 3 + i % 3] for i, item in enumerate(items)]
    X = ddsc.Distributions(awkward.Array(ragged))
    np.testing.assert_array_equal(X.support, ddsc.Distributions(ragged).support)
    labels = ddsc.DDSC(2).fit_predict(awkward.Array(ragged))
    np.testing.assert_array_equal(labels, ddsc.DDSC(2).fit_predict(ragged))


def test_what_is_ragged_otherwise_is_refused_with_a_sentence():
    with pytest.raises((TypeError, ValueError), match="ragged|has entries that are not numbers"):
        ddsc.Distributions([[[0.0, 1.0], [2.0]], [[1.0, 1.0]]])
    with pytest.raises((TypeError, ValueError), match="not numbers"):
        ddsc.Distributions([np.array([["a", "b"]])])
    for lists, told in (([["a"], ["b"]], "not numbers"), ([[1, 2], [3]], "ragged"), ([[1j], [2]], "[Cc]omplex")):
        with pytest.raises((TypeError, ValueError), match=told):
            ddsc.Distributions(lists)


def test_score(items):
    model_selection = pytest.importorskip("sklearn.model_selection")
    y = np.arange(24) % 2
    X = ddsc.Distributions(items)
    model = ddsc.DDSC(2).fit(X)
    assert model.score(X, y) == 1 and model.score(X, np.roll(y, 1)) == 1
    assert model.score(X, np.arange(24) // 12) < 0.1
    assigned = model.assign(X).confidence
    assert model.score(X) == pytest.approx(assigned.mean(), abs=1e-9)
    blurred = ddsc.Distributions([i - 6 * (k % 2) + 0.3 * (k % 2) for k, i in enumerate(items)])
    assert ddsc.DDSC(2).fit(blurred).score(blurred) < model.score(X)
    D = ddsc.pairwise(items)
    assert ddsc.DDSC(2, metric="precomputed").fit(D).score(D) == pytest.approx(model.score(X), abs=1e-6)
    assert ddsc.DDSC(1).fit(X).score(X) == pytest.approx(1)
    search = model_selection.GridSearchCV(ddsc.DDSC(), {"n_clusters": [2, 3]}, cv=2)
    assert search.fit(X, y).best_params_ == {"n_clusters": 2}
    assert search.fit(items, y).best_params_ == {"n_clusters": 2}
    assert len(model_selection.cross_val_score(ddsc.DDSC(2), X, cv=3)) == 3
    halving = pytest.importorskip("sklearn.model_selection").RandomizedSearchCV
    assert halving(ddsc.DDSC(2), {"metric": ["w2", "mmd"]}, n_iter=2, cv=2).fit(X, y).best_score_ == 1


def test_joblib_and_pipelines(items):
    joblib = pytest.importorskip("joblib")
    pipeline = pytest.importorskip("sklearn.pipeline")
    base = pytest.importorskip("sklearn.base")
    y = np.arange(24) % 2
    X = ddsc.Distributions(items, ids=[f"p{i}" for i in range(24)])
    rows = joblib.Parallel(n_jobs=2)(
        joblib.delayed(ddsc.DDSC(2, metric=m, n_jobs=1).fit_predict)(X) for m in ("w2", "mmd", "lot")
    )
    for labels in rows:
        np.testing.assert_array_equal(labels, rows[0])
    pipe = pipeline.make_pipeline(ddsc.DDSC(2))
    np.testing.assert_array_equal(base.clone(pipe).fit_predict(X), rows[0])
    from sklearn.linear_model import LogisticRegression

    chain = pipeline.make_pipeline(ddsc.DDSC(2).set_output(transform="default"), LogisticRegression())
    assert chain.fit(X, y).score(X, y) == 1
    pandas = pytest.importorskip("pandas")
    frame = ddsc.DDSC(2).set_output(transform="pandas").fit_transform(X)
    assert isinstance(frame, pandas.DataFrame) and list(frame.columns)[:1] == ["ddsc0"]


def test_an_example_fits_many_models():
    pytest.importorskip("joblib")
    path = pathlib.Path(__file__).resolve().parents[1] / "examples" / "many_models.py"
    done = subprocess.run([sys.executable, str(path)], check=True, capture_output=True, text=True)
    assert done.stdout.count("\n") == 17
