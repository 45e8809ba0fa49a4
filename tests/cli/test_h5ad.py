"""HDF5 files: AnnData's h5ad by sample, layer and embedding, plain tables, and hostile ones."""
import csv
import gzip
import json
import pathlib
import sys
import zlib

import numpy as np
import pytest

h5py = pytest.importorskip("h5py")
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import h5ad  # noqa: E402

MARKERS = ["CD3", "CD4", "CD8", "CD19", "CD56"]


@pytest.fixture(autouse=True)
def built_in(ddsc):
    if "hdf5" not in ddsc("--version").stdout:
        pytest.skip("built without libhdf5")


def cells(n_samples=16, per_sample=30, seed=1):
    """Counts of cells in random order. Cells in the second half of the samples have more CD19."""
    random = np.random.default_rng(seed)
    sample = random.permutation(np.repeat(np.arange(n_samples), per_sample))
    values = random.poisson(1.0, (len(sample), len(MARKERS))).astype("f4")
    values[:, 3] += 9 * (sample >= n_samples // 2)
    names = np.array([f"s{k:02d}" for k in range(n_samples)])[sample]
    group = np.where(sample < n_samples // 2, "healthy", "ill")
    return values, names, group


def write(path, kind="dense", how="categorical", **more):
    values, sample, group = cells()
    h5ad.write(path, values, MARKERS, {"sample": (sample, how), "disease": (group, how)}, kind,
               **more)
    return values, sample, group


def test_weights_that_may_be_missing_are_refused(ddsc, tmp_path):
    """A group with values and a mask is not a plain column, but is not ignored."""
    write(tmp_path / "a.h5ad")
    with h5py.File(tmp_path / "a.h5ad", "a") as f:
        made = f["obs"].create_group("weight")
        made.create_dataset("values", data=np.ones(480))
        made.create_dataset("mask", data=np.zeros(480, bool))
    for words in ((), ("--weight", "weight")):
        assert "weights must be numbers" in ddsc("info", tmp_path / "a.h5ad", "--id", "sample", *words, code=3).stderr


def read_npz(ddsc, path, tmp_path, *words):
    out = tmp_path / "out.npz"
    ddsc("convert", path, *words, "-o", out, "--force")
    return np.load(out)


def check(data, values, sample):
    """The set contains every cell once, with its sample (equal values of one sample are merged)."""
    support = data["support"] if "support" in data else data["points"]
    index = data["indices"] if "indices" in data else np.arange(len(support))
    ids = list(data["ids"])
    assert sorted(ids) == sorted(set(sample))
    for i, name in enumerate(ids):
        at = slice(data["offsets"][i], data["offsets"][i + 1])
        rows, counts = np.unique(values[sample == name], axis=0, return_counts=True)
        order = np.lexsort(support[index[at]].T[::-1])
        assert np.array_equal(support[index[at]][order], rows)
        assert np.allclose(data["weights"][at][order], counts / counts.sum())


def test_one_command_keeps_names(ddsc, tmp_path):
    write(tmp_path / "cells.h5ad", "csr", compression="gzip")
    out = tmp_path / "result"
    ddsc("cluster", tmp_path / "cells.h5ad", "--id", "sample", "--label", "disease", "--log1p", "-k", 2,
         "-o", out)
    result = json.loads((out / "result.json").read_text())
    assert result["n"] == 16 and result["scores"]["ari"] == 1
    text = json.dumps(result)
    assert "CD19" in text and "ill" in text
    assert list(np.load(out / "model.npz")["coordinate_names"]) == MARKERS
    new = ddsc("assign", out / "model.npz", tmp_path / "cells.h5ad", "--id", "sample").stdout
    assert "s00" in new


@pytest.mark.parametrize("kind", ["dense", "csr", "csc"])
@pytest.mark.parametrize("how", ["categorical", "string", "old"])
def test_every_layout_is_the_same_set(ddsc, tmp_path, kind, how):
    values, sample, group = write(tmp_path / "a.h5ad", kind, how, **(
        {"compression": "gzip", "chunks": (7, 2)} if kind == "dense" else {}))
    data = read_npz(ddsc, tmp_path / "a.h5ad", tmp_path, "--id", "sample", "--label", "disease")
    check(data, values, sample)
    assert list(data["coordinate_names"]) == MARKERS
    assert [data["label_names"][k] for k in data["labels"]] == \
        [group[list(sample).index(i)] for i in data["ids"]]


def test_newest_file_version_and_gzip(ddsc, tmp_path):
    values, sample, _ = write(tmp_path / "a.h5ad", libver="latest")
    check(read_npz(ddsc, tmp_path / "a.h5ad", tmp_path, "--id", "sample"), values, sample)
    packed = tmp_path / "a.h5ad.gz"
    packed.write_bytes(gzip.compress((tmp_path / "a.h5ad").read_bytes()))
    check(read_npz(ddsc, packed, tmp_path, "--id", "sample"), values, sample)
    out = ddsc("info", "-", "--id", "sample", "--format", "h5ad", stdin=packed.read_bytes()).stdout
    assert "16" in out and "CD56" in out


def test_layers_embeddings_and_columns(ddsc, tmp_path):
    path = tmp_path / "a.h5ad"
    values, sample, _ = cells()
    h5ad.write(path, values, MARKERS, {"sample": (sample, "string")},
               layers={"counts": 2 * values}, obsm={"X_pca": values[:, :2] - 1})
    for name in ("counts", "layers/counts"):
        check(read_npz(ddsc, path, tmp_path, "--id", "sample", "--matrix", name), 2 * values, sample)
    data = read_npz(ddsc, path, tmp_path, "--id", "sample", "--matrix", "X_pca")
    check(data, values[:, :2] - 1, sample)
    assert list(data["coordinate_names"]) == ["pca1", "pca2"]
    data = read_npz(ddsc, path, tmp_path, "--id", "sample", "--columns", "CD56,cd?", "--drop", "CD4")
    check(data, values[:, [4, 0, 2]], sample)
    assert list(data["coordinate_names"]) == ["CD56", "CD3", "CD8"]
    error = ddsc("info", path, "--id", "sample", "--matrix", "X_umap", code=3).stderr
    assert "X_umap" in error and "X_pca" in error
    error = ddsc("info", path, "--id", "sample", "--columns", "CD99", code=3).stderr
    assert "CD99" in error and "CD19" in error


def test_rows_chosen_and_weighed(ddsc, tmp_path):
    values, sample, group = cells()
    values = values + np.random.default_rng(0).random(values.shape)  # no two cells are equal
    weight = np.arange(len(sample)) % 7 + 0.5
    h5ad.write(tmp_path / "a.h5ad", values, MARKERS, {
        "sample": (sample, "categorical"), "disease": (group, "categorical"),
        "batch": (np.where(sample < "s04", 1, 2), "number"), "w": (weight, "number")})
    data = read_npz(ddsc, tmp_path / "a.h5ad", tmp_path, "--id", "disease,sample", "--where",
                    "batch=1", "--weight", "w")
    assert sorted(data["ids"]) == [f"healthy/s0{k}" for k in range(4)]
    i = list(data["ids"]).index("healthy/s02")
    at = slice(data["offsets"][i], data["offsets"][i + 1])
    mine = weight[sample == "s02"]
    assert np.allclose(sorted(data["weights"][at]), sorted(mine / mine.sum()))


def test_plain_tables(ddsc, tmp_path):
    values, sample, _ = cells()
    with h5py.File(tmp_path / "plain.h5", "w") as f:
        f["points"] = values.astype("f8")
        f["id"] = np.char.encode(sample)
        f["more/numbers"] = values.astype("i4")
        f["more/who"] = np.unique(sample, return_inverse=True)[1]
    check(read_npz(ddsc, tmp_path / "plain.h5", tmp_path), values, sample)
    data = read_npz(ddsc, tmp_path / "plain.h5", tmp_path, "--matrix", "more/numbers", "--id",
                    "more/who")
    check(data, values, np.unique(sample, return_inverse=True)[1].astype(str))


def test_meta_joins_samples(ddsc, tmp_path):
    write(tmp_path / "a.h5ad")
    (tmp_path / "meta.csv").write_text("sample,age\n" + "".join(
        f"s{k:02d},{20 + k}\n" for k in range(16)))
    data = read_npz(ddsc, tmp_path / "a.h5ad", tmp_path, "--id", "sample", "--meta",
                    tmp_path / "meta.csv")
    assert list(data["meta_names"]) == ["age"]
    assert list(data["meta"]) == [str(20 + int(i[1:])) for i in data["ids"]]


def described(path, n=6, seed=2, prefix="p"):
    """30 cells of each of n samples, with columns that describe samples or cells."""
    rng = np.random.default_rng(seed)
    number = rng.permutation(np.repeat(np.arange(n), 30))
    sample = np.array([f"{prefix}{k}" for k in range(n)])[number]
    h5ad.write(path, rng.normal(size=(30 * n, 3)), ["a", "b", "c"], {
        "sample": (sample, "categorical"), "sex": (np.array(["f", "m"])[number % 2], "categorical"),
        "site": (np.where(number == 2, "", "here"), "old"), "note": (np.where(number < 3, "x", "y z"), "string"),
        "age": (np.where(number == 1, np.nan, 40 + number), "number"), "smoker": (number % 2 == 0, "number"),
        "mixed": (np.where(np.arange(30 * n) == 7, "other", "same"), "string"),
        "depth": (rng.integers(0, 99, 30 * n), "number"), "void": (np.full(30 * n, ""), "categorical")})
    with h5py.File(path, "a") as f:
        made = f["obs"].create_group("stage")
        made.create_dataset("values", data=number)
        made.create_dataset("mask", data=number == 0)
        f["obs"].create_dataset("table", data=np.zeros((30 * n, 2)))
        f["obs"].create_dataset("packed", data=number, compression="lzf")
    return [f"p{k}" for k in number[np.sort(np.unique(number, return_index=True)[1])]]


def meta_of(ddsc, tmp_path, *words):
    ddsc("convert", *words, "-o", tmp_path / "meta.csv", "--force", "-q")
    with open(tmp_path / "meta.csv", newline="") as f:
        return {row["id"]: {name[5:]: value for name, value in row.items() if name.startswith("meta:")}
                for row in csv.DictReader(f)}


def test_columns_that_describe_samples_are_metadata(ddsc, tmp_path):
    order = described(tmp_path / "a.h5ad")
    done = ddsc("info", tmp_path / "a.h5ad", "--id", "sample")
    assert '"packed" of obs was skipped' in done.stderr and "filter" in done.stderr
    found = meta_of(ddsc, tmp_path, tmp_path / "a.h5ad", "--id", "sample")
    assert list(found) == order
    for k in range(6):
        assert found[f"p{k}"] == {"age": "" if k == 1 else str(40 + k), "note": "x" if k < 3 else "y z",
                                  "sex": "fm"[k % 2], "site": "" if k == 2 else "here", "smoker": str(int(k % 2 == 0)),
                                  "stage": str(k) if k else ""}
    # columns with another role are not repeated
    some = meta_of(ddsc, tmp_path, tmp_path / "a.h5ad", "--id", "sample", "--label", "sex", "--where", "note=x")
    assert set(some) == {"p0", "p1", "p2"} and set(some["p0"]) - {"mixed"} == {"age", "site", "smoker", "stage"}
    (tmp_path / "more.csv").write_text("id,age\n" + "".join(f"p{k},{k}\n" for k in range(6)))
    table = meta_of(ddsc, tmp_path, tmp_path / "a.h5ad", "--id", "sample", "--meta", tmp_path / "more.csv")
    assert table["p3"] == {"age": "3"}
    ddsc("cluster", tmp_path / "a.h5ad", "--id", "sample", "-k", 2, "--metric", "mmd", "-q", "-o", tmp_path / "out")
    test = json.loads(ddsc("test", tmp_path / "out", "--by", "sex", "--json").stdout)
    assert test["terms"][0]["p"] > 0


def test_metadata_of_several_files(ddsc, tmp_path):
    described(tmp_path / "a.h5ad")
    described(tmp_path / "b.h5ad", 3, 5, "q")
    found = meta_of(ddsc, tmp_path, tmp_path / "a.h5ad", tmp_path / "b.h5ad", "--id", "sample")
    assert len(found) == 9 and all(set(row) == {"age", "note", "sex", "site", "smoker", "stage"} for row in found.values())


def test_raw_counts_are_reported(ddsc, tmp_path):
    write(tmp_path / "counts.h5ad")
    words = ["info", tmp_path / "counts.h5ad", "--id", "sample"]
    told = ddsc(*words).stderr
    assert "raw counts (whole numbers from 0 to" in told and "--matrix X_pca" in told and "--log1p" in told
    for more in (["--log1p"], ["--normalize", "rank"], ["--columns", "CD3"]):
        assert "raw counts" not in ddsc("convert", *words[1:], *more, "-o", tmp_path / "x.npz", "--force").stderr
    values, sample, _ = cells()
    h5ad.write(tmp_path / "log.h5ad", np.log1p(values), MARKERS, {"sample": (sample, "string")}, obsm={"X_pca": values})
    for more in ([], ["--matrix", "X_pca"]):
        assert "raw counts" not in ddsc("info", tmp_path / "log.h5ad", "--id", "sample", *more).stderr


def test_a_dense_copy_larger_than_the_memory_is_refused(ddsc, tmp_path):
    """2 million rows x 60,000 columns are 960 GB, but the file contains only 16 MB."""
    n, d = 2_000_000, 60_000
    with h5py.File(tmp_path / "big.h5ad", "w") as f:
        x = f.create_group("X")
        x.attrs.update({"encoding-type": "csr_matrix", "shape": np.array([n, d])})
        x.create_dataset("data", data=np.ones(1))
        x.create_dataset("indices", data=np.zeros(1, "i4"))
        x.create_dataset("indptr", data=np.minimum(np.arange(n + 1), 1), compression="gzip")
        f.create_dataset("obs/sample/codes", data=np.arange(n) % 4, compression="gzip")
        f.create_dataset("obs/sample/categories", data=list("abcd"), dtype=h5py.string_dtype())
        f.create_dataset("var/_index", data=[f"g{k}" for k in range(d)], dtype=h5py.string_dtype())
    words = ["info", tmp_path / "big.h5ad", "--id", "sample"]
    assert "choose columns (--columns) or an embedding" in ddsc(*words, code=3).stderr
    assert "items        4" in ddsc(*words, "--columns", "g0,g1").stdout


def test_messages(ddsc, tmp_path):
    write(tmp_path / "a.h5ad")
    error = ddsc("info", tmp_path / "a.h5ad", code=3).stderr
    assert "--id" in error and "sample" in error and "disease" in error
    error = ddsc("info", tmp_path / "a.h5ad", "--id", "donor", code=3).stderr
    assert "donor" in error and "disease" in error
    error = ddsc("info", tmp_path / "a.h5ad", "--id", "sample", "--where", "sample=x", code=3).stderr
    assert "none of its 480 rows" in error


def broken(path, change):
    write(path, "csr")
    with h5py.File(path, "r+") as f:
        change(f)


def replace(f, name, *words, **how):
    if name in f:
        del f[name]
    return f.create_dataset(name, *words, **how)


def swap(f, name, value):
    del f[name]
    f[name] = value


HOSTILE = {
    "external link": (lambda f: swap(f, "X", h5py.ExternalLink("/etc/hosts.h5", "X")), "not supported"),
    "soft link": (lambda f: swap(f, "X", h5py.SoftLink("/layers/X")), "not supported"),
    "external storage": (lambda f: replace(f, "X", (480, 5), "f4", external=[("/etc/passwd", 0, 9600)]),
                         "other files"),
    "huge, nothing stored": (lambda f: replace(f, "X", (2**40, 2**20), "f8", chunks=(1024, 16)),
                             "bytes are stored"),
    "huge pieces": (lambda f: replace(f, "X", (480, 5), "f8", chunks=(2**16, 2**12),
                                      maxshape=(None, None)), "chunks"),
    "unknown filter": (lambda f: replace(f, "X", data=np.ones((480, 5)), compression="lzf"), "filter"),
    "index beyond": (lambda f: f["X/indices"].__setitem__(3, 99), "contains 99"),
    "negative index": (lambda f: f["X/indices"].__setitem__(3, -1), "contains -1"),
    "falling starts": (lambda f: f["X/indptr"].__setitem__(3, 10**6), "decreases"),
    "few starts": (lambda f: replace(f, "X/indptr", data=np.arange(3)), "do not match"),
    "lying shape": (lambda f: f["X"].attrs.__setitem__("shape", np.array([2**50, 2**50])), "declares"),
    "code beyond": (lambda f: f["obs/sample/codes"].__setitem__(0, 100), "category 100"),
    "no id": (lambda f: f["obs/sample/codes"].__setitem__(0, -1), "row 0 has no id"),
    "few names": (lambda f: replace(f, "var/gene", data=np.arange(3)), "names, but"),
    "few rows": (lambda f: replace(f, "obs/sample/codes", data=np.zeros(3, "i1")), "3 elements"),
    "float codes": (lambda f: replace(f, "obs/sample/codes", data=np.zeros(480, "f4")),
                    "contains floating-point numbers"),
    "float indices": (lambda f: replace(f, "X/indices", data=f["X/indices"][:].astype("f8")),
                      "contains floating-point numbers"),
    "codes in a table": (lambda f: replace(f, "obs/sample/codes", data=np.zeros((480, 2), "i1")),
                         "2 axes (480 x 2"),
    "compound": (lambda f: replace(f, "X", (480,), "f4,i4"), "neither numbers"),
    "texts": (lambda f: replace(f, "X", data=np.full((480, 5), b"x")), "not a numeric table"),
    "scalar": (lambda f: replace(f, "X", data=1.0), "axes"),
    "nan": (lambda f: f["X/data"].__setitem__(0, np.nan), "not finite"),
    "two labels": (lambda f: f["obs/disease/codes"].__setitem__(slice(0, 400), 0), "label"),
    "no kind": (lambda f: f["X"].attrs.__setitem__("encoding-type", "dict"), "not a matrix"),
    "old anndata": (lambda f: swap(f, "obs", np.zeros(480, "i4,f4")), "before 0.7"),
    "latin": (lambda f: replace(f, "var/gene", data=np.array([b"a", b"b\xe8", b"c", b"d", b"e"])),
              "UTF-8"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_are_refused(ddsc, tmp_path, name):
    change, text = HOSTILE[name]
    broken(tmp_path / "bad.h5ad", change)
    error = ddsc("info", tmp_path / "bad.h5ad", "--id", "sample", "--label", "disease",
                 "--memory", "1G", code=3).stderr
    assert text in error and "bad.h5ad" in error and "\nHDF5-DIAG" not in error


def test_many_texts_that_are_one_long_one(ddsc, tmp_path):
    """Variable-length texts are references to a heap: a thousand texts may share sixteen megabytes."""
    path = tmp_path / "bad.h5ad"
    broken(path, lambda f: replace(f, "obs/who", data=np.array(["y" * 3_000_000] + ["x"] * 479,
                                                               dtype=object),
                                   dtype=h5py.string_dtype()))
    raw = path.read_bytes()
    with h5py.File(path, "r") as f:
        at, n = f["obs/who"].id.get_offset(), 16
    first = raw[at:at + n]
    path.write_bytes(raw[:at] + first * 480 + raw[at + 480 * n:])
    error = ddsc("info", path, "--id", "who", "--memory", "1G", code=3).stderr
    assert "too long" in error


def test_cut_file(ddsc, tmp_path):
    write(tmp_path / "a.h5ad")
    whole = (tmp_path / "a.h5ad").read_bytes()
    for part in (9, 100, 2000, len(whole) // 2, len(whole) - 10):
        (tmp_path / "cut.h5ad").write_bytes(whole[:part])
        error = ddsc("info", tmp_path / "cut.h5ad", "--id", "sample", code=3).stderr
        assert "cut.h5ad" in error


def test_many_references_to_one_text_are_bounded(ddsc, tmp_path):
    """A small file whose 60,000 ids all refer to one text of 60 kB would expand to gigabytes."""
    n, text = 60000, "x" * 60000
    with h5py.File(tmp_path / "a.h5", "w") as f:
        f.create_dataset("points", data=np.zeros((n, 1), "i1"), compression="gzip", chunks=(n, 1))
        f.create_dataset("id", (n,), dtype=h5py.string_dtype(), chunks=(n,), compression="gzip")
        f.create_dataset("text", (1,), dtype=h5py.string_dtype())[0] = text
    # an element of this array is a length, the position of its heap and an index in it: the same for all
    raw = (tmp_path / "a.h5").read_bytes()
    with h5py.File(tmp_path / "a.h5", "a") as f:
        one = raw[f["text"].id.get_offset():][:16]
        f["id"].id.write_direct_chunk((0,), zlib.compress(one * n))
    assert (tmp_path / "a.h5").stat().st_size < 400000
    done = ddsc("info", tmp_path / "a.h5", "--memory", "1G", code=3)
    assert "total more than" in done.stderr


@pytest.mark.parametrize("how", ["categorical", "string"])
def test_types_of_cells(ddsc, tmp_path, how):
    """--type COLUMN of obs: the states are the types, with the shares of the table."""
    values, sample, group = cells()
    values = values + np.random.default_rng(2).normal(size=values.shape).astype("f4") / 8  # no two cells are equal
    kind = np.where(values[:, 3] > 5, "B cell", np.where(values[:, 0] > 1, "T cell", "other"))
    h5ad.write(tmp_path / "a.h5ad", values, MARKERS, {"sample": (sample, how), "kind": (kind, how)}, "dense")
    ddsc("cluster", tmp_path / "a.h5ad", "--id", "sample", "--type", "kind", "--metric", "mmd", "-k", 2, "-o", tmp_path / "r")
    told = json.loads(ddsc("states", tmp_path / "r", "--json").stdout)
    names = [row["name"] for row in told["states"]]
    assert told["given"] and sorted(names) == ["B cell", "T cell", "other"]
    for item in told["items"]:
        own = kind[sample == item["id"]]
        assert item["shares"] == pytest.approx([(own == name).mean() for name in names])
    assert "knd" in ddsc("cluster", tmp_path / "a.h5ad", "--id", "sample", "--type", "knd", "-k", 2, code=3).stderr
