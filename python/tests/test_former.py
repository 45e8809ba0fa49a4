"""Names, results and models of version 0.2.0 still work; old names cause a warning."""

import inspect
import pathlib
import warnings

import numpy as np
import pytest

import ddsc

OLD = pathlib.Path(__file__).resolve().parents[2] / "tests" / "data" / "v0.2.0"


@pytest.fixture(scope="module")
def fitted():
    return ddsc.DDSC(n_clusters=2).fit(ddsc.make_shapes(8))


@pytest.mark.parametrize("old, new", [("doubt_", "ambiguity_"), ("centre_distance_", "center_distance_")])
def test_attributes(fitted, old, new):
    with pytest.warns(FutureWarning, match=f"'{old}' is deprecated; use '{new}'"):
        value = getattr(fitted, old)
    assert value is getattr(fitted, new)
    assert not hasattr(ddsc.DDSC(), old)


def test_parameters(fitted):
    with pytest.warns(FutureWarning, match="center_size"):
        model = ddsc.DDSC(2, method="d2", centre_size=3)
    assert model.center_size == 3 and "centre_size" not in inspect.signature(ddsc.DDSC).parameters
    model.fit(ddsc.make_shapes(8))
    with pytest.warns(FutureWarning):
        assert model.centres_ is model.centers_ and model.centers_.sizes.max() == 3
    with pytest.raises(TypeError, match="same argument"), pytest.warns(FutureWarning):
        ddsc.DDSC(2, centre_size=3, center_size=3)


def test_transforms():
    X = ddsc.make_shapes(4)
    Y = X.transformed(normalize="rank", align="center")
    with pytest.warns(FutureWarning, match="normalize"):
        Z = X.transformed(normalise="rank", align="centre")
    assert Y.transforms == Z.transforms == ["rank", "align center"] and np.array_equal(Y.support, Z.support)


def test_values_are_accepted_silently():
    X = ddsc.make_shapes(4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        old = ddsc.pairwise(X, metric="sinkhorn", sinkhorn_value="regularised")
        new = ddsc.pairwise(X, metric="sinkhorn", sinkhorn_value="regularized")
        assert np.array_equal(old, new)
        with pytest.raises(FileNotFoundError):
            ddsc.read("/nowhere/x.png", as_="colours")
    with pytest.raises(ValueError, match="'regularized', 'sharp', 'debiased'"):
        ddsc.pairwise(X, metric="sinkhorn", sinkhorn_value="blunt")


@pytest.mark.parametrize("name", ["clouds", "documents"])
def test_old_results(name):
    model = ddsc.DDSC.load(OLD / name)
    found = model.result_json()
    assert found["format_version"] == 2 and "neighbors" in found and "neighbours" not in found
    assert 0 <= model.explain()[0]["borderline"][0]["ambiguity"] <= 0.5
    assert model.sinkhorn_value == "regularized"
    rows = (OLD / name / "labels.csv").read_text().split()[1:]
    assert model.labels_.tolist() == [int(row.split(",")[1]) for row in rows]
    assert np.array_equal(model.predict(ddsc.read(OLD / name / "model.npz")), model.labels_)
