"""Tests that the estimator and the program have the same defaults and labels and read each other's files."""
import csv
import json
import os
import subprocess

import numpy as np
import pytest

import ddsc
from ddsc import DDSC

METRICS = ["w2", "sinkhorn", "mmd", "lot"]


@pytest.fixture
def groups():
    return ddsc.make_gaussians(k=3, n=20, n_points=8, separation=5.0, random_state=1)


def run_program(program, folder, X, *words):
    X.write(folder / "in.npz", overwrite=True)
    out = folder / "out"
    command = [program, "cluster", str(folder / "in.npz"), "-o", str(out), "-f", "-q", *words]
    subprocess.run(command, check=True, capture_output=True)
    return out


@pytest.mark.parametrize("metric", METRICS)
def test_every_default_is_the_programs(program, tmp_path, groups, metric):
    """Return all settings as reported by the library, so that this test needs no list of them."""
    out = run_program(program, tmp_path, groups, "-k", "5", "--metric", metric)
    theirs = json.loads((out / "result.json").read_text())
    ours = DDSC(metric=metric).fit(ddsc.read(tmp_path / "in.npz")).result_json()
    assert ours["settings"] == theirs["settings"]
    assert (ours["chosen"], ours["seed"]) == (theirs["chosen"], theirs["seed"])
    assert len(theirs["settings"]) > 10


def test_defaults_of_a_choice_of_k(program, tmp_path, groups):
    out = run_program(program, tmp_path, groups, "-k", "auto")
    theirs = json.loads((out / "result.json").read_text())
    ours = DDSC("auto").fit(ddsc.read(tmp_path / "in.npz")).result_json()
    assert ours["settings"] == theirs["settings"] and ours["chosen"] == theirs["chosen"]


@pytest.mark.parametrize("name", ["bbcsport", "mnist", "cytometry", "shapes"])
def test_labels_of_real_sets(program, tmp_path, data, name):
    if name == "mnist":
        X = ddsc.read(data / "mnist" / "t10k-images-idx3-ubyte.gz")[:600]
    elif name == "bbcsport":
        X = ddsc.read_text(data / "text" / "bbcsport.tsv.gz")
    elif name == "cytometry":
        cells = ddsc.read(
            data / "cytometry" / "pbmc8-bcrxl.tsv.gz", id="sample", label="condition", drop=["patient"], arcsinh=5
        )
        X = cells.transformed(per_item=100)
    else:
        X = ddsc.make_shapes()
    out = run_program(program, tmp_path, X, "-k", "5")
    with open(out / "labels.csv", newline="") as file:
        theirs = [int(row["label"]) for row in csv.DictReader(file)]
    assert DDSC().fit(ddsc.read(tmp_path / "in.npz")).labels_.tolist() == theirs
    assert DDSC().fit(X).labels_.tolist() == theirs


LARGE = pytest.mark.skipif(not os.environ.get("DDSC_DEEP"), reason="DDSC_DEEP is not set")


@pytest.mark.parametrize("name,k,metric", [
    ("shapes", 2, "w2"), pytest.param("digits", 10, "w2", marks=LARGE), pytest.param("bbc", 5, "w2", marks=LARGE),
    ("blood", 2, "mmd")])
def test_labels_of_the_sets_that_the_r_package_compares(program, tmp_path, data, name, k, metric):
    """R, Python and the program agree on the sets and settings of r/ddsc/tests/testthat/test-program.R."""
    source, words, read = tmp_path / "x.npz", [], {}
    if name == "shapes":
        make = ["generate", "shapes"]
    elif name == "digits":
        images, labels = (data / "mnist" / f"t10k-{part}-ubyte.gz" for part in ("images-idx3", "labels-idx1"))
        make = ["convert", str(images), "--labels", str(labels), "--subset-per-class", "100", "--seed", "1"]
    elif name == "bbc":
        make = ["text", str(data / "text" / "bbc.tsv.gz")]
    else:
        make, source = [], data / "cytometry" / "pbmc8-bcrxl.tsv.gz"
        words = ["--id", "sample", "--label", "condition", "--drop", "patient", "--arcsinh", "5"]
        read = {"id": "sample", "label": "condition", "drop": ["patient"], "arcsinh": 5}
    if make:
        subprocess.run([program, *make, "-o", str(source), "-q"], check=True)
    out = tmp_path / "out"
    subprocess.run([program, "cluster", str(source), "-k", str(k), "-m", metric, *words, "-o", str(out), "-q"], check=True)
    with open(out / "labels.csv", newline="") as file:
        theirs = [(row["id"], int(row["label"])) for row in csv.DictReader(file)]
    X = ddsc.read(source, **read)
    assert list(zip(map(str, X.ids), DDSC(k, metric=metric).fit(X).labels_.tolist())) == theirs


def test_items_are_those_of_the_program(program, tmp_path, groups):
    out = run_program(program, tmp_path, groups, "-k", "3")
    items = DDSC(3).fit(ddsc.read(tmp_path / "in.npz")).items_
    with open(out / "items.csv", newline="") as file:
        theirs = list(csv.DictReader(file))
    assert list(items) == list(theirs[0])
    for name, values in items.items():
        column = [row[name] for row in theirs]
        if values.dtype == object:
            assert values.tolist() == column
        else:
            np.testing.assert_array_equal(values, [float(v) if v else np.nan for v in column])
    pandas = pytest.importorskip("pandas")
    assert len(pandas.DataFrame(items)) == len(theirs)


def test_map_is_the_programs(program, tmp_path, groups):
    out = run_program(program, tmp_path, groups, "-k", "3")
    model = DDSC(3).fit(ddsc.read(tmp_path / "in.npz"))
    np.testing.assert_array_equal(model.map_, np.load(out / "map.npy"))
    assert model.map_ is model.map_


def test_load(program, tmp_path, groups):
    out = run_program(program, tmp_path, groups, "-k", "3")
    fitted = DDSC(3).fit(ddsc.read(tmp_path / "in.npz"))
    fitted.save(tmp_path / "model.npz")
    with pytest.raises(FileExistsError):
        fitted.save(tmp_path / "model.npz")
    new = ddsc.make_gaussians(k=3, n=5, n_points=8, separation=5.0, random_state=2)
    for place in (tmp_path / "model.npz", out, str(out / "model.npz")):
        model = DDSC.load(place)
        assert (model.metric, model.n_clusters_, model.n_features_in_) == ("w2", 3, groups.dim)
        np.testing.assert_array_equal(model.labels_, fitted.labels_)
        np.testing.assert_array_equal(model.embedding_, fitted.embedding_)
        np.testing.assert_array_equal(model.transform(new), fitted.transform(new))
        np.testing.assert_array_equal(model.assign(new).labels, fitted.predict(new))
        with pytest.raises(ValueError, match="loaded model"):
            model.items_
    assert DDSC.load(out).result_json()["k"] == 3
    with pytest.raises(FileNotFoundError, match="No such file"):
        DDSC.load(tmp_path / "none.npz")


@pytest.mark.parametrize("settings", [
    {"metric": "w1", "cost": "cityblock"}, {"metric": "sinkhorn", "sinkhorn_value": "sharp"},
    {"metric": "mmd", "mmd_kernel": "laplace"}, {"metric": "lot"}, {"gamma": "median"}])
def test_a_loaded_model_fits_as_it_was_fitted(tmp_path, groups, settings):
    fitted = DDSC(3, hubs="off", **settings).fit(groups)
    fitted.save(tmp_path / "model.npz")
    again = DDSC.load(tmp_path / "model.npz").set_params(hubs="off").fit(groups)
    np.testing.assert_allclose(again.graph_.toarray(), fitted.graph_.toarray(), rtol=1e-9)
    np.testing.assert_array_equal(again.labels_, fitted.labels_)


def test_a_loaded_matrix_of_costs(tmp_path):
    cost = np.abs(np.subtract.outer(np.arange(4.0), np.arange(4.0))) ** 0.5
    X = ddsc.Distributions([[[i % 4], [(i // 4) % 4]] for i in range(16)])
    DDSC(2, metric="w1", cost=cost).fit(X).save(tmp_path / "model.npz")
    np.testing.assert_array_equal(DDSC.load(tmp_path / "model.npz").cost, cost)


def test_resume_with_the_program(program, tmp_path, groups):
    """Python reuses pairs that the program solved, and vice versa."""
    folder = tmp_path / "kept"
    plain = DDSC(3).fit(groups)
    first = DDSC(3, resume=folder).fit(groups)
    again = DDSC(3, resume=folder).fit(groups)
    np.testing.assert_array_equal(first.embedding_, plain.embedding_)
    np.testing.assert_array_equal(again.embedding_, plain.embedding_)
    groups.write(tmp_path / "in.npz")
    command = [program, "cluster", str(tmp_path / "in.npz"), "-k", "3", "--resume", str(folder)]
    done = subprocess.run(command + ["--json"], check=True, capture_output=True, text=True)
    assert json.loads(done.stdout)["labels"] == plain.labels_.tolist()
    with pytest.raises(ValueError, match="other settings|settings"):
        DDSC(3, metric="sinkhorn", resume=folder).fit(groups)


def test_further_settings(groups):
    for settings in ({"approximate": True}, {"sample_columns": 0.5}, {"restarts": 3}, {"compress": 4}):
        model = DDSC(3, **settings).fit(groups)
        assert ddsc.adjusted_mutual_info_score(groups.labels, model.labels_) > 0.9
    assert model.stats_["compress_worst"] > 0
    for settings in ({"approximate": "yes"}, {"sample_columns": 2.0}, {"restarts": 0}, {"compress": 0}):
        with pytest.raises(ValueError):
            DDSC(3, **settings).fit(groups)
    D = ddsc.pairwise(groups)
    for settings in ({"compress": 3}, {"resume": "kept"}):
        with pytest.raises(ValueError, match="precomputed"):
            DDSC(3, metric="precomputed", **settings).fit(D)



def test_compress_keeps_rows():
    rng = np.random.default_rng(3)
    points = [rng.normal(9 * (i % 2), 1, (6, 2)) for i in range(12)]
    weights = [np.ones(6) if i != 4 else np.zeros(6) for i in range(12)]
    model = DDSC(2, compress=3, on_empty="drop").fit(points, sample_weight=weights)
    assert model.labels_.tolist() == [0, 1, 0, 1, -1, 1, 0, 1, 0, 1, 0, 1]
    assert model.report().startswith("<!DOCTYPE html>")


@pytest.mark.parametrize("method", ["kmeans", "sc", "d2", "pd2"])
@pytest.mark.parametrize("seed", [0, 7])
def test_baselines_are_the_programs(program, tmp_path, groups, method, seed):
    out = run_program(program, tmp_path, groups, "-k", "3", "--method", method, "--seed", str(seed))
    theirs = json.loads((out / "result.json").read_text())
    model = DDSC(3, method=method, random_state=seed).fit(ddsc.read(tmp_path / "in.npz"))
    ours = model.result_json()
    for part in ("settings", "chosen", "scores", "verdict", "advice"):
        assert ours[part] == theirs[part], part
    with open(out / "labels.csv", newline="") as file:
        assert model.labels_.tolist() == [int(row["label"]) for row in csv.DictReader(file)]
    assert model.report().startswith("<!DOCTYPE html>")
    assert model.n_clusters_ == 3 and model.converged_
    if method in ("d2", "pd2"):
        np.testing.assert_allclose(model.inertia_, theirs["objective"], rtol=1e-14)
        near = ddsc.pairwise(groups, model.centers_).argmin(axis=1)
        assert (near == model.labels_).all()
    with pytest.raises(ValueError, match="new items"):
        model.predict(groups[:2])


def test_settings_of_baselines(program, tmp_path, groups):
    words = ["-k", "3", "--method", "d2", "--barycenter", "ibp", "--center-size", "4", "--restarts", "2"]
    theirs = json.loads((run_program(program, tmp_path, groups, *words) / "result.json").read_text())
    model = DDSC(3, method="d2", barycenter="ibp", center_size=4, restarts=2).fit(groups)
    assert model.result_json()["settings"] == theirs["settings"]
    assert model.centers_.sizes.max() == 4
    words = ["-k", "2:5", "--method", "sc", "--vectors-from", "mean", "--tau", "6"]
    theirs = json.loads((run_program(program, tmp_path, groups, *words) / "result.json").read_text())
    model = DDSC((2, 5), method="sc", vectors_from="mean", n_neighbors=6).fit(groups)
    assert model.result_json()["settings"] == theirs["settings"]
    assert model.n_clusters_ == theirs["k"] and model.map_.shape == (60, 2)
    assert len(model.items_["ambiguity"]) == 60


def test_a_baseline_refuses_what_it_cannot(groups):
    for settings, words in (
        ({"method": "means"}, "must be one of"),
        ({"method": "kmeans", "n_clusters": "auto"}, "single number"),
        ({"method": "d2", "stability": 3}, "stability"),
        ({"method": "pd2", "cost": "cityblock"}, "cost"),
        ({"method": "d2", "barycenter": "ibp", "cost": np.eye(3)}, "cost"),
        ({"method": "kmeans", "cost": "cosine"}, "cost"),
        ({"method": "d2", "center_size": 0}, "center_size"),
        ({"method": "d2", "barycenter": "projected"}, "barycenter"),
        ({"method": "kmeans", "restarts": 0}, "restarts"),
        ({"method": "kmeans", "vectors_from": "sum"}, "vectors_from"),
        ({"method": "sc", "metric": "precomputed"}, "precomputed"),
        ({"method": "d2", "outliers": True}, "outliers"),
    ):
        with pytest.raises(ValueError, match=words):
            DDSC(**{"n_clusters": 3, **settings}).fit(groups)
    model = DDSC(3).fit(groups)
    model.set_params(method="kmeans").fit(groups)
    assert not hasattr(model, "embedding_") and not hasattr(model, "map_") and not hasattr(model, "items_")
    assert (model.set_params(method="ddsc").fit(groups).predict(groups) == model.labels_).all()


def test_baselines_keep_dropped_rows_and_pickle():
    import pickle

    points = [np.full((3, 2), 9.0 * (i % 2)) + np.arange(3)[:, None] for i in range(8)]
    weights = [np.ones(3) if i != 4 else np.zeros(3) for i in range(8)]
    for method in ("kmeans", "sc", "d2"):
        model = DDSC(2, method=method, on_empty="drop", compress=2).fit(points, sample_weight=weights)
        assert model.labels_.tolist() == [0, 1, 0, 1, -1, 1, 0, 1], method
        again = pickle.loads(pickle.dumps(model))
        assert (again.labels_ == model.labels_).all() and again.report() == model.report()


def test_cosine_centers_are_those_of_directions(groups):
    clouds = [groups[i][0] for i in range(len(groups))]
    far = [np.abs(c) + 1 for c in clouds]
    unit = [c / np.linalg.norm(c, axis=1, keepdims=True) for c in far]
    assert np.allclose(ddsc.barycenter(far[:6], cost="cosine").points, ddsc.barycenter(unit[:6]).points, atol=1e-6)
    one, other = DDSC(3, method="d2", cost="cosine").fit(far), DDSC(3, method="d2").fit(unit)
    assert (one.labels_ == other.labels_).all() and one.result_json()["settings"]["cost"] == "cosine"


def test_centers_by_distances(program, tmp_path, groups):
    for cost in ("euclidean", "cityblock"):
        out = run_program(program, tmp_path, groups, "-k", "3", "--method", "d2", "--cost", cost)
        theirs = json.loads((out / "result.json").read_text())
        model = DDSC(3, method="d2", cost=cost).fit(groups)
        assert model.result_json()["settings"] == theirs["settings"]
        np.testing.assert_allclose(model.inertia_, theirs["objective"], rtol=1e-14)
    line = [np.array([[v]]) for v in (0.0, 1.0, 5.0)]
    assert ddsc.barycenter(line, cost="euclidean").points.tolist() == [[1.0]]
    rows = ddsc.barycenter(line[:2] + [np.array([[2.0]])], cost=[[0, 1, 9], [1, 0, 1], [9, 1, 0]])
    assert rows.points.tolist() == [[1.0]] and rows.objective[-1] == pytest.approx(2 / 3)
    model = DDSC(2, method="d2", cost=1 - np.eye(2)).fit([np.array([[i % 2]]) for i in range(6)])
    assert model.labels_.tolist() == [0, 1] * 3 and model.result_json()["settings"]["cost"] == "matrix"
    for wrong in ({"method": "ibp", "cost": "cityblock"}, {"cost": np.ones((2, 3))}, {"cost": "cityblok"}):
        with pytest.raises(ValueError, match="cost"):
            ddsc.barycenter(line, **wrong)


def test_no_new_item_goes_to_an_empty_cluster():
    """A cluster without items has no center."""
    from ddsc._new_items import _nystrom
    embedding = np.array([[1., 0], [1, 0], [0, 1], [0, 1]])
    fitted = {"embedding": embedding, "radius": np.ones(4), "labels": np.array([0, 0, 2, 2])}
    rows, labels = _nystrom(fitted, np.array([0., .1]), 1.0, np.array([[0, 1], [3, 2]]), np.full((2, 2), .1), np.array([-1, -1]))
    assert labels.tolist() == [0, 2] and np.isfinite(rows).all()
