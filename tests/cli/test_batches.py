"""Quantile normalization by batch: its values, its storage in sets and models, and the requirements for new items."""
import json
import pathlib
import subprocess
import sys

import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

KNOTS = 256
N_ITEMS = 8


def clouds(seed=1, n_points=60):
    """Two kinds of items, which differ in y. Every second pair was measured on another scale."""
    rng = np.random.default_rng(seed)
    items = [rng.normal([0, 3 * (i % 2)], 1, (n_points + i, 2)) for i in range(N_ITEMS)]
    batch = [["one", "two"][i // 2 % 2] for i in range(N_ITEMS)]
    return [x * [2, 5] + [1, -7] if b == "two" else x for x, b in zip(items, batch)], batch


def write_csv(path, items, batch, names=None):
    rows = ["sample,run,kind,x,y"]
    for i, (item, b) in enumerate(zip(items, batch)):
        name = names[i] if names else f"s{i}"
        rows += [f"{name},{b},{'ab'[i % 2]},{float(x)!r},{float(y)!r}" for x, y in item]
    path.write_text("\n".join(rows) + "\n")
    return path


WORDS = ("--id", "sample", "--label", "kind")


def load(ddsc, tmp_path, *words, code=0):
    out = tmp_path / "out.npz"
    said = ddsc("convert", *words, "-o", out, "--force", code=code).stderr
    return dict(np.load(out)) if code == 0 else said


def items_of(data):
    all_points = data["support"][data["indices"]] if "support" in data else data["points"]
    return np.split(all_points, data["offsets"][1:-1]), np.split(data["weights"], data["offsets"][1:-1])


def knots(values, mass):
    """Quantiles 0, 1/255, ..., 1: the least value with that much mass up to it."""
    order = np.argsort(values, kind="stable")
    upto = np.cumsum(mass[order]) / mass.sum()
    at = np.searchsorted(upto, np.linspace(0, 1, KNOTS) - 1e-12)
    return values[order][np.minimum(at, len(values) - 1)]


def mapped(x, own, pooled):
    """Interpolate linearly from the quantiles of the batch to those of all items. Equal values use their middle
    rank."""
    if x < own[0] or x > own[-1]:
        end = 0 if x < own[0] else -1
        return x + pooled[end] - own[end]
    same = np.flatnonzero(own == x)
    if len(same):
        return np.interp((same[0] + same[-1]) / 2, np.arange(KNOTS), pooled)
    return np.interp(np.interp(x, own, np.arange(KNOTS)), np.arange(KNOTS), pooled)


def expected(items, weights, batch):
    mass = [w / w.sum() for w in weights]
    out = [np.empty_like(x) for x in items]
    for k in range(items[0].shape[1]):
        pooled = knots(np.concatenate([x[:, k] for x in items]), np.concatenate(mass))
        for b in set(batch):
            mine = [i for i in range(len(items)) if batch[i] == b]
            own = knots(np.concatenate([items[i][:, k] for i in mine]),
                        np.concatenate([mass[i] for i in mine]))
            for i in mine:
                out[i][:, k] = [mapped(x, own, pooled) for x in items[i][:, k]]
    return out


def same_clouds(found, wanted):
    for a, b in zip(found, wanted):
        a, b = a[np.lexsort(a.T)], b[np.lexsort(b.T)]
        assert a.shape == b.shape and np.allclose(a, b, rtol=1e-9, atol=1e-9)


def test_the_definition(ddsc, tmp_path):
    items, batch = clouds()
    path = write_csv(tmp_path / "a.csv", items, batch)
    found, _ = items_of(load(ddsc, tmp_path, path, *WORDS, "--batch", "run"))
    same_clouds(found, expected(items, [np.ones(len(x)) for x in items], batch))
    assert list(np.load(tmp_path / "out.npz")["transform_batches"]) == ["run", "one", "two"]


def test_ties_and_weights(ddsc, tmp_path):
    """Repeated values stay equal and in order, and have the quantile of their mass."""
    rng = np.random.default_rng(4)
    batch = ["one", "two", "one", "two"]
    items = [rng.integers(0, 4 + 3 * (b == "two"), (30, 1)).astype(float) for b in batch]
    weights = [rng.integers(1, 5, 30).astype(float) for _ in batch]
    rows = ["id,weight,run,x"]
    for i in range(4):
        rows += [f"s{i},{w},{batch[i]},{x[0]}" for w, x in zip(weights[i], items[i])]
    (tmp_path / "a.csv").write_text("\n".join(rows) + "\n")
    merged = load(ddsc, tmp_path, tmp_path / "a.csv", "--drop", "run")
    before, mass = items_of(merged)
    found, _ = items_of(load(ddsc, tmp_path, tmp_path / "a.csv", "--batch", "run"))
    wanted = expected(before, mass, batch)
    same_clouds([np.unique(x, axis=0) for x in found], [np.unique(x, axis=0) for x in wanted])


def test_batches_become_alike_and_one_stays(ddsc, tmp_path):
    items, batch = clouds(seed=2, n_points=400)
    path = write_csv(tmp_path / "a.csv", items, batch)
    found, _ = items_of(load(ddsc, tmp_path, path, *WORDS, "--batch", "run"))
    for k in range(2):
        one, two = (np.concatenate([x[:, k] for x, b in zip(found, batch) if b == name])
                    for name in ("one", "two"))
        far = np.abs(np.quantile(one, np.linspace(0.05, 0.95, 19)) - np.quantile(two, np.linspace(0.05, 0.95, 19)))
        assert far.max() < 0.05 * np.ptp(one)
    single = write_csv(tmp_path / "b.csv", items, ["same"] * N_ITEMS)
    said = ddsc("convert", single, *WORDS, "--batch", "run", "-o", tmp_path / "b.npz").stderr
    assert "the same batch" in said
    same_clouds(items_of(np.load(tmp_path / "b.npz"))[0], items)


def test_a_shared_point_goes_where_its_batch_goes(ddsc, tmp_path):
    """Items on one grid: a point that two batches use becomes two."""
    batch = ["one", "two", "one", "two"]
    items = [np.argwhere(np.ones((3, 3)))[: 9 - i].astype(float) for i in range(4)]
    path = write_csv(tmp_path / "a.csv", items, batch)
    found, _ = items_of(load(ddsc, tmp_path, path, *WORDS, "--batch", "run"))
    wanted = expected(items, [np.ones(len(x)) for x in items], batch)
    same_clouds([np.unique(x, axis=0) for x in found], [np.unique(x, axis=0) for x in wanted])


def test_it_finds_what_the_batches_hid(ddsc, tmp_path):
    items, batch = clouds()
    path = write_csv(tmp_path / "a.csv", items, batch)
    ami = []
    for words in (("--drop", "run"), ("--batch", "run")):
        ddsc("cluster", path, *WORDS, *words, "-k", 2, "-o", tmp_path / words[0][2:])
        ami.append(json.loads((tmp_path / words[0][2:] / "result.json").read_text())["scores"]["ami"])
    assert ami[0] < 0.5 and ami[1] == 1
    result = json.loads((tmp_path / "batch" / "result.json").read_text())
    assert result["transforms"] == ["batch"] and result["batches"] == ["run", "one", "two"]


def test_it_stands_between_the_others(ddsc, tmp_path):
    items, batch = clouds()
    path = write_csv(tmp_path / "a.csv", [np.abs(x) for x in items], batch)
    words = ("--log1p", "--batch", "run", "--normalize", "standard", "--pca", 1, "--per-item", 50)
    data = load(ddsc, tmp_path, path, *WORDS, *words)
    info = json.loads(ddsc("info", tmp_path / "out.npz", "--json").stdout)
    assert info["transforms"] == ["per-item", "log1p", "batch", "standard", "pca"]
    assert info["batches"] == ["run", "one", "two"] and data["transform_steps"].shape == (5, 3)
    assert "batches of run: one, two" in ddsc("info", tmp_path / "out.npz").stdout
    mapped = (tmp_path / "out.npz").rename(tmp_path / "mapped.npz")
    assert "already been mapped by batch" in load(ddsc, tmp_path, mapped, "--batch", "run", code=3)


@pytest.fixture
def model(ddsc, tmp_path):
    items, batch = clouds()
    path = write_csv(tmp_path / "a.csv", items, batch)
    ddsc("cluster", path, *WORDS, "--batch", "run", "--arcsinh", 2, "-k", 2, "-o", tmp_path / "r", "-q")
    return path, tmp_path / "r" / "model.npz"


def test_assign_repeats_it(ddsc, tmp_path, model):
    path, file = model
    labels = [int(line.split(",")[1]) for line in (tmp_path / "r" / "labels.csv").read_text().split()[1:]]
    for words in ((), ("--batch", "run")):
        said = json.loads(ddsc("assign", file, path, *WORDS, *words, "--json").stdout)
        assert said["labels"] == labels and said["n_far"] == 0
    # with a metadata table, too, and for new items
    items, batch = clouds(seed=7)
    write_csv(tmp_path / "new.csv", items, batch, [f"n{i}" for i in range(N_ITEMS)])
    table = tmp_path / "new.csv"
    text = table.read_text().replace(",run,", ",other,")
    table.write_text(text)
    (tmp_path / "about.csv").write_text("sample,run\n" + "".join(f"n{i},{b}\n" for i, b in enumerate(batch)))
    said = json.loads(ddsc("assign", file, table, *WORDS, "--drop", "other", "--meta", tmp_path / "about.csv",
                           "--json").stdout)
    assert said["scores"]["ami"] == 1


@pytest.mark.parametrize("batch, words", [("three", 'belongs to "three"'), ("", 'no value in column "run"')])
def test_a_batch_must_be_known(ddsc, tmp_path, model, batch, words):
    items, given = clouds(seed=3)
    new = write_csv(tmp_path / "new.csv", items, [batch, *given[1:]])
    error = ddsc("assign", model[1], new, *WORDS, code=3).stderr
    assert '"s0"' in error and words in error


def test_items_must_name_their_batch(ddsc, tmp_path, model):
    path, file = model
    (tmp_path / "b.csv").write_text(path.read_text().replace(",run,", ",other,"))
    error = ddsc("assign", file, tmp_path / "b.csv", *WORDS, "--drop", "other", code=3).stderr
    assert 'no column "run"' in error and "--meta" in error
    error = ddsc("info", tmp_path / "b.csv", *WORDS, "--batch", "run", code=3).stderr
    assert 'no column "run"' in error
    mixed = path.read_text().replace("s0,one", "s0,two", 1)
    (tmp_path / "c.csv").write_text(mixed)
    error = ddsc("info", tmp_path / "c.csv", *WORDS, "--batch", "run", code=3).stderr
    assert 'line 3, column 2 ("run"): the value is "one"' in error and 'line 2 of the same item has "two"' in error


def test_private_leaves_the_names_of_batches_behind(ddsc, tmp_path, model):
    ddsc("cluster", model[0], *WORDS, "--batch", "run", "--private", "-k", 2, "-o", tmp_path / "p", "-q")
    data = np.load(tmp_path / "p" / "model.npz")
    assert "transform_batches" not in data and "meta" not in data
    for path in (tmp_path / "p").iterdir():
        if path.name == "result.json" or path.suffix == ".html":
            continue  # contains the command line
        assert b"two" not in path.read_bytes() and "two".encode("utf-32-le") not in path.read_bytes(), path
    assert "--private" in ddsc("assign", tmp_path / "p" / "model.npz", model[0], *WORDS, code=3).stderr
    ddsc("info", tmp_path / "p" / "model.npz")


def test_a_single_item_and_too_many_batches(ddsc, tmp_path):
    items, batch = clouds()
    path = write_csv(tmp_path / "a.csv", items, ["odd", *batch[1:]])
    assert 'batch "odd" has a single item' in ddsc("info", path, *WORDS, "--batch", "run").stderr
    rows = "".join(f"i{i},{i},{i % 7}\n" for i in range(1001))
    (tmp_path / "b.csv").write_text("id,run,x\n" + rows)
    assert "more than 1000" in ddsc("info", tmp_path / "b.csv", "--batch", "run", code=3).stderr


@pytest.mark.parametrize("change, words", [
    (lambda a: a.update(transform_batches=a["transform_batches"][:-1]), "for 3 batches"),
    (lambda a: a["transform_steps"].__setitem__((0, 1), 0), "do not match"),
    (lambda a: a["transform_steps"].__setitem__((0, 1), 2**60), "do not match"),
    (lambda a: a.update(transform_values=a["transform_values"][:-1]), "do not match"),
    (lambda a: a.update(transform_steps=np.repeat(a["transform_steps"], 2, 0),
                        transform_values=np.tile(a["transform_values"], 2)), "more than one batch step"),
])
def test_damaged_files(ddsc, tmp_path, change, words):
    items, batch = clouds()
    data = load(ddsc, tmp_path, write_csv(tmp_path / "a.csv", items, batch), *WORDS, "--batch", "run")
    arrays = {name: np.array(value) for name, value in data.items()}
    change(arrays)
    np.savez(tmp_path / "b.npz", **arrays)
    assert words in ddsc("info", tmp_path / "b.npz", code=3).stderr


def test_forged_quantiles_do_no_harm(program, tmp_path, model):
    """Unordered or extreme quantiles cause a result or a message, but no crash."""
    path, file = model
    arrays = dict(np.load(file))
    rng = np.random.default_rng(5)
    for values in (rng.permutation(arrays["transform_values"]), np.full_like(arrays["transform_values"], 1e308),
                   -arrays["transform_values"], np.zeros_like(arrays["transform_values"])):
        forged = {**arrays, "transform_values": np.where(np.isfinite(values), values, 0)}
        forged["transform_values"][:2] = arrays["transform_values"][:2]  # cofactors
        np.savez(tmp_path / "m.npz", **forged)
        done = subprocess.run([program, "assign", tmp_path / "m.npz", path, *WORDS], capture_output=True)
        assert done.returncode in (0, 3), done.stderr


def test_columns_of_h5ad(ddsc, tmp_path):
    pytest.importorskip("h5py")
    if "hdf5" not in ddsc("--version").stdout:
        pytest.skip("built without libhdf5")
    import h5ad
    items, batch = clouds()
    sample = np.repeat([f"s{i}" for i in range(N_ITEMS)], [len(x) for x in items])
    run = np.repeat(batch, [len(x) for x in items])
    for how in ("categorical", "string"):
        h5ad.write(tmp_path / "a.h5ad", np.vstack(items), ["x", "y"],
                   {"sample": (sample, how), "run": (run, how)})
        found, _ = items_of(load(ddsc, tmp_path, tmp_path / "a.h5ad", "--id", "sample", "--batch", "run"))
        same_clouds(found, expected(items, [np.ones(len(x)) for x in items], batch))
        run[3] = "two"
        h5ad.write(tmp_path / "b.h5ad", np.vstack(items), ["x", "y"],
                   {"sample": (sample, how), "run": (run, how)})
        error = ddsc("info", tmp_path / "b.h5ad", "--id", "sample", "--batch", "run", code=3).stderr
        assert 'row 3 has "two" in the column "run"' in error
        run[3] = "one"


def test_ids_may_hold_the_batch(ddsc, tmp_path):
    """--id patient,state --batch patient: the column is preserved in a csv file."""
    rng = np.random.default_rng(6)
    rows = [f"p{p},{s},{rng.normal(p)}" for p in range(3) for s in "ab" for _ in range(9)]
    (tmp_path / "a.csv").write_text("\n".join(["patient,state,x", *rows]) + "\n")
    ddsc("convert", tmp_path / "a.csv", "--id", "patient,state", "--batch", "patient", "-o", tmp_path / "b.csv")
    data = load(ddsc, tmp_path, tmp_path / "b.csv")
    assert list(data["ids"]) == [f"p{p}/{s}" for p in range(3) for s in "ab"]
    assert list(data["meta_names"]) == ["patient"] and list(data["meta"]) == ["p0", "p0", "p1", "p1", "p2", "p2"]


def test_one_batch_changes_nothing(ddsc, tmp_path):
    items, _ = clouds()
    path = write_csv(tmp_path / "b.csv", items, ["one"] * N_ITEMS)
    plain = load(ddsc, tmp_path, path, *WORDS, "--drop", "run")
    same = load(ddsc, tmp_path, path, *WORDS, "--batch", "run")
    assert np.array_equal(np.sort(plain["points"], axis=0),
                          np.sort(same["points"], axis=0))
