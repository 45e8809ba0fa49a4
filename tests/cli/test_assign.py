"""ddsc assign, end to end: the model that cluster writes, new items, bad models."""
import csv
import io
import json

import numpy as np
import pytest

from conftest import clouds, not_sanitized

METRICS = ["w2", "w1", "sinkhorn", "mmd", "lot"]


def table(text):
    rows = list(csv.DictReader(io.StringIO(text)))
    assert rows and list(rows[0]) == ["id", "label", "confidence", "far"]
    return (np.array([int(r["label"]) for r in rows]),
            np.array([float(r["confidence"]) for r in rows]),
            np.array([int(r["far"]) for r in rows]))


def column(path, name="label"):
    with open(path) as f:
        return np.array([int(row[name]) for row in csv.DictReader(f)])


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "fresh.npz"
    np.savez(path, **clouds(3, 10, 8, 2, 77))
    return path


@pytest.fixture(scope="module")
def results(ddsc, three_groups, tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    for metric in METRICS:
        ddsc("cluster", three_groups, "-k", 3, "--metric", metric, "-o", folder / metric)
    return folder


@pytest.mark.parametrize("metric", METRICS)
def test_new_items_join_their_groups(ddsc, results, three_groups, fresh, metric):
    model = results / metric / "model.npz"
    old = column(results / metric / "labels.csv")
    done = ddsc("assign", model, fresh)
    labels, confidence, far = table(done.stdout)
    assert (labels == old[np.load(fresh)["labels"] * 15]).all()
    assert ((0 <= confidence) & (confidence <= 1)).all() and confidence.mean() > 0.9
    assert far.sum() <= 5
    assert "30 new items assigned to 3 clusters of 45 items" in done.stderr
    assert "AMI 1.0000" in done.stderr
    own, _, _ = table(ddsc("assign", model, three_groups, "-q").stdout)
    assert (own == old).all()


def test_file_json_and_truth(ddsc, results, fresh, tmp_path):
    model, out = results / "mmd" / "model.npz", tmp_path / "labels.csv"
    truth = tmp_path / "truth.csv"
    truth.write_text("label\n" + "".join(f"{i // 10}\n" for i in range(30)))
    done = ddsc("assign", model, fresh, "-o", out, "--json", "--truth", truth)
    data = json.loads(done.stdout)
    assert data["n"] == 30 and data["model"]["k"] == 3 and data["model"]["metric"] == "mmd"
    assert data["scores"]["ami"] == pytest.approx(1) and sum(data["sizes"]) == 30
    assert data["far_neighbor"] <= 7 and data["far_distance"] > 0 and "labels" not in data
    assert (column(out, "far").sum()) == data["n_far"]
    assert "exists" in ddsc("assign", model, fresh, "-o", out, code=2).stderr
    data = json.loads(ddsc("assign", model, fresh, "--json").stdout)
    assert data["labels"] == column(out).tolist() and len(data["confidence"]) == 30
    assert [d > data["far_distance"] for d in data["distance"]] == [f == 1 for f in data["far"]]
    assert "standard output" in ddsc("assign", model, fresh, "--json", "-o", "-", code=2).stderr


def test_far_items_are_flagged(ddsc, results, tmp_path):
    path = tmp_path / "far.npz"
    arrays = clouds(1, 6, 8, 2, 5)
    arrays["points"] = arrays["points"] + 100
    np.savez(path, **arrays)
    for metric in METRICS:
        done = ddsc("assign", results / metric / "model.npz", path)
        assert table(done.stdout)[2].tolist() == [1] * 6
        assert "labels are unreliable" in done.stderr


def test_dropped_items_keep_their_row(ddsc, results, with_empty):
    done = ddsc("assign", results / "w2" / "model.npz", with_empty, "--on-empty", "drop")
    labels, confidence, far = table(done.stdout)
    assert (np.flatnonzero(labels < 0) == [0, 7]).all()
    assert (confidence[[0, 7]] == 0).all() and (far[[0, 7]] == 0).all()


def test_settings_are_kept(ddsc, three_groups, tmp_path):
    """Values that rules chose for the old items are used for the new ones."""
    for metric, name in (("sinkhorn", "epsilon"), ("mmd", "bandwidth")):
        out = tmp_path / metric
        ddsc("cluster", three_groups, "-k", 3, "--metric", metric, "-o", out, "--tau", 4)
        chosen = json.loads((out / "result.json").read_text())["chosen"]
        settings = dict(s.split("=") for s in np.load(out / "model.npz")["model_settings"])
        assert float(settings[name]) == pytest.approx(chosen[name], rel=1e-14)
        assert settings["tau"] == "4" and settings["k"] == "3" and settings["metric"] == metric


def test_no_model_without_items(ddsc, three_groups, tmp_path):
    ddsc("distance", three_groups, "-o", tmp_path / "D.npy")
    ddsc("cluster", tmp_path / "D.npy", "--precomputed", "-k", 3, "-o", tmp_path / "given")
    ddsc("cluster", three_groups, "--method", "sc", "-k", 3, "-o", tmp_path / "sc")
    assert not (tmp_path / "given" / "model.npz").exists()
    assert not (tmp_path / "sc" / "model.npz").exists()


def test_wrong_dimension(ddsc, results, tmp_path):
    np.savez(tmp_path / "deep.npz", **clouds(1, 4, 5, 3, 1))
    done = ddsc("assign", results / "w2" / "model.npz", tmp_path / "deep.npz", code=3)
    assert "3 coordinates" in done.stderr and "have 2" in done.stderr


BROKEN = {
    "version": ({"model_version": [3]}, "format 3"),
    "old": ({"model_version": [0]}, "format 0"),
    "no hub scales": ({"model_version": [2]}, "'hub_scale' is missing"),
    "hub scales": ({"model_version": [2], "hub_scale": np.zeros(45)}, "a scale for choosing neighbors"),
    "two versions": ({"model_version": [1, 1]}, "instead of one"),
    "no version": ({"model_version": None}, "is not a model"),
    "no centers": ({"centers": None}, "'centers' is missing"),
    "no settings": ({"model_settings": None}, "'model_settings' is missing"),
    "short": ({"radius": [1.0]}, "1 elements instead of 45"),
    "width": ({"centers": np.zeros((3, 2))}, "'centers' has the shape (3, 2)"),
    "nan": ({"scale": np.full(45, np.nan)}, "out of range"),
    "label": ({"labels": np.full(45, 7)}, "not less than k"),
    "center label": ({"center_labels": [0, 1, 9]}, "not less than k"),
    "text labels": ({"center_labels": ["a", "b", "c"]}, "center_labels"),
    "unknown setting": ({"model_settings": ["color=red"]}, "invalid setting"),
    "few settings": ({"model_settings": ["k=3"]}, "missing the setting"),
    "huge rows": ({"embedding": np.full((45, 30), 1e9)}, "unit length"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_models_are_refused(ddsc, results, fresh, tmp_path, name):
    arrays = dict(np.load(results / "mmd" / "model.npz"))
    change, message = BROKEN[name]
    for key, value in change.items():
        if value is None:
            del arrays[key]
        else:
            arrays[key] = np.array(value)
    np.savez(tmp_path / "model.npz", **arrays)
    assert message in ddsc("assign", tmp_path / "model.npz", fresh, code=3).stderr


def forged(arrays, what):
    """Models with one value out of range, and the messages."""
    settings = [str(s) for s in arrays["model_settings"]]
    run = [str(s) for s in arrays["run_settings"]]
    n, rows, centers = len(arrays["reach"]), arrays["embedding"], arrays["centers"]
    return {
        "reach -1": ({"reach": np.full(n, -1.0)}, "reach is out of range"),
        "reach inf": ({"reach": np.full(n, np.inf)}, "reach is out of range"),
        "tau 0": ({"model_settings": ["tau=0" if s.startswith("tau=") else s for s in settings]},
                  "k or tau"),
        "next_id -1": ({"run_settings": [*run, "next_id=-1"]}, "a setting of the run is out of range"),
        "next_id 2**62": ({"run_settings": [*run, f"next_id={2**62}"]}, "a setting of the run is out of range"),
        "eigenvalues -1": ({"eigenvalues": np.full(rows.shape[1], -1.0)}, "eigenvalues"),
        "eigenvalues in no order": ({"eigenvalues": np.linspace(0.5, 1, rows.shape[1])}, "decreasing order"),
        "centers 0": ({"centers": np.zeros_like(centers)}, "unit length"),
        "rows 0": ({"embedding": np.zeros_like(rows)}, "unit length"),
        "short rows": ({"embedding": rows / 2}, "unit length"),
    }[what]


@pytest.mark.parametrize("what", ["reach -1", "reach inf", "tau 0", "next_id -1", "next_id 2**62", "eigenvalues -1",
                                  "eigenvalues in no order", "centers 0", "rows 0", "short rows"])
def test_forged_models_are_refused(ddsc, results, fresh, tmp_path, what):
    arrays = dict(np.load(results / "w2" / "model.npz"))
    change, message = forged(arrays, what)
    assert set(change) <= set(arrays)
    np.savez(tmp_path / "model.npz", **{**arrays, **change})
    assert message in ddsc("assign", tmp_path / "model.npz", fresh, code=3).stderr


def test_files_that_are_no_model(ddsc, results, three_groups, fresh, tmp_path):
    assert "is not a model" in ddsc("assign", three_groups, fresh, code=3).stderr
    assert "is not a model" in ddsc("assign", results / "w2" / "labels.csv", fresh, code=3).stderr
    whole = (results / "w2" / "model.npz").read_bytes()
    for n in (0, 3, 100, len(whole) // 2, len(whole) - 1):
        (tmp_path / "cut.npz").write_bytes(whole[:n])
        assert ddsc("assign", tmp_path / "cut.npz", fresh, code=3).stderr
    assert "no input given" in ddsc("assign", code=2).stderr
    assert "missing" in ddsc("assign", results / "w2" / "model.npz", code=2).stderr


def test_same_bytes_for_any_number_of_threads(ddsc, three_groups, fresh, tmp_path):
    for threads in (1, 2):
        ddsc("cluster", three_groups, "-k", 3, "-o", tmp_path / str(threads), "-j", threads)
    one, two = ((tmp_path / str(t) / "model.npz").read_bytes() for t in (1, 2))
    assert one == two
    outputs = {ddsc("assign", tmp_path / "1" / "model.npz", fresh, "-j", t).stdout for t in (1, 2)}
    assert len(outputs) == 1


@not_sanitized
def test_digits_get_their_own_labels_back(ddsc, data_dir, tmp_path):
    """Held-out digits are assigned to clusters of similar digits; old ones receive their own label. bench/assign.py
    measures the agreement with clustering old and new together."""
    images = data_dir / "mnist" / "t10k-images-idx3-ubyte.gz"
    classes = data_dir / "mnist" / "t10k-labels-idx1-ubyte.gz"
    for seed, name in ((1, "old"), (2, "new")):
        ddsc("convert", images, "--labels", classes, "--subset-per-class", 60, "--seed", seed, "-o",
             tmp_path / f"{name}.npz")
    ddsc("cluster", tmp_path / "old.npz", "--metric", "mmd", "-k", 10, "-o", tmp_path / "r")
    labels, _, far = table(ddsc("assign", tmp_path / "r" / "model.npz", tmp_path / "old.npz").stdout)
    assert (labels == column(tmp_path / "r" / "labels.csv")).mean() >= 0.98
    assert far.sum() <= 12
    old = json.loads((tmp_path / "r" / "result.json").read_text())["scores"]["ami"]
    new = json.loads(ddsc("assign", tmp_path / "r" / "model.npz", tmp_path / "new.npz",
                          "--json").stdout)["scores"]["ami"]
    assert new > old - 0.1
