"""Tests of creating sets from common kinds of data, and of rejected input."""

import os
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import ddsc
from ddsc import Distributions


def same(a, b):
    assert len(a) == len(b)
    for (p, v), (q, w) in zip(a, b):
        order, other = np.lexsort(p.T), np.lexsort(q.T)
        np.testing.assert_allclose(p[order], q[other], rtol=1e-6)
        np.testing.assert_allclose(v[order], np.asarray(w)[other], rtol=1e-6)


def test_lists(clouds):
    points, weights = clouds
    X = Distributions(points, weights)
    assert len(X) == X.n_items == 24 and X.dim == 3
    np.testing.assert_array_equal(X.sizes, [len(p) for p in points])
    same(X, [(p, w / w.sum()) for p, w in zip(points, weights)])
    assert X.ids[:2] == ["0", "1"] and X.labels is None
    same(Distributions([p.astype(np.float32) for p in points], weights), X)
    same(Distributions([np.asfortranarray(p) for p in points], weights), X)
    same(Distributions([p.tolist() for p in points], [w.tolist() for w in weights]), X)
    same(Distributions(iter(points), weights), X)
    assert not X.support.flags.writeable


def test_arrays_of_three_and_two_dimensions():
    rng = np.random.default_rng(0)
    cube = rng.normal(size=(4, 5, 2))
    same(Distributions(cube), Distributions(list(cube)))
    flat = rng.normal(size=(6, 3))
    same(Distributions(flat), Distributions([row[None] for row in flat]))
    same(Distributions(flat.tolist()), Distributions(flat))


def test_flat_arrays_and_offsets(clouds):
    points, weights = clouds
    offsets = np.cumsum([0] + [len(p) for p in points])
    X = Distributions.from_arrays(np.concatenate(points), offsets, np.concatenate(weights))
    same(X, Distributions(points, weights))
    with pytest.raises(ValueError, match="points has 6 numbers"):
        Distributions.from_arrays(np.zeros((3, 2)), [0, 5])
    with pytest.raises(ValueError, match="must not decrease"):
        Distributions.from_arrays(np.zeros((3, 2)), [0, 3, 2, 3])
    assert len(Distributions.from_arrays(np.zeros((3, 2)), [0.0, 1.0, 3.0])) == 2
    for offsets in ([0, 1.5, 3], [0, np.nan, 3]):
        with pytest.raises(ValueError, match="offsets must be integers, not (1.5|nan)"):
            Distributions.from_arrays(np.zeros((3, 2)), offsets)
    with pytest.raises(TypeError, match="offsets must be integers"):
        Distributions.from_arrays(np.zeros((3, 2)), ["0", "3"])


def test_shared_support():
    rng = np.random.default_rng(0)
    H = rng.uniform(size=(5, 8)) * (rng.uniform(size=(5, 8)) < 0.5)
    H[:, 0] += 0.1
    words = rng.normal(size=(8, 4))
    dense = Distributions.from_histograms(H, words)
    same(dense, [(words[h > 0], h[h > 0] / h.sum()) for h in H])
    indices = [np.flatnonzero(h) for h in H]
    indptr = np.cumsum([0] + [len(i) for i in indices])
    triple = (np.concatenate([h[h > 0] for h in H]), np.concatenate(indices), indptr)
    same(Distributions.from_csr(triple, words), dense)
    sparse = pytest.importorskip("scipy.sparse")
    same(Distributions.from_csr(sparse.csr_matrix(H), words), dense)
    same(Distributions.from_csr(sparse.coo_matrix(H).astype(np.float32), words), dense)
    with pytest.raises(ValueError, match="no row in the vocabulary"):
        Distributions.from_csr(sparse.csr_matrix(H), words[:4])
    for column in (-3, 7):
        with pytest.raises(ValueError, match=f"column {column} of the matrix has no row in the vocabulary"):
            Distributions.from_csr(([1.0, 1.0], [1, column], [0, 2]), words[:4])
    with pytest.raises(TypeError, match="from_csr"):
        Distributions(sparse.csr_matrix(H))


def test_images():
    images = np.zeros((2, 3, 4))
    images[0, 1, 2] = 5
    images[1, 0, 0] = images[1, 2, 3] = 1
    X = Distributions.from_histograms(images)
    same(X, [(np.array([[1.0, 2]]), [1.0]), (np.array([[0.0, 0], [2, 3]]), [0.5, 0.5])])


def test_frames():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(
        {
            "who": ["b", "a", "b", "c"],
            "w": [1.0, 1, 3, 1],
            "x": [0, 1, 2, 3],
            "y": [0.5, 1, 2, 3],
            "kind": ["s", "t", "s", "t"],
        }
    )
    X = Distributions.from_frame(frame, groupby="who", weight="w", label="kind")
    assert X.ids == ["b", "a", "c"] and list(X.labels) == ["s", "t", "t"]
    same(
        X,
        [
            (np.array([[0, 0.5], [2, 2]]), [0.25, 0.75]),
            (np.array([[1.0, 1]]), [1]),
            (np.array([[3.0, 3]]), [1]),
        ],
    )
    assert Distributions.from_frame(frame, "who", columns=["y"]).dim == 1
    assert list(ddsc.DDSC(2, n_neighbors=1).fit(X).labels_.shape) == [3]


def test_frames_that_contradict_themselves_are_refused():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"who": ["b", "a", "b"], "x": [0.0, 1, 2], "kind": ["s", "t", "t"]})
    with pytest.raises(ValueError, match="item 'b' has two labels: 's' and 't'"):
        Distributions.from_frame(frame, "who", label="kind")
    with pytest.warns(UserWarning, match="are ignored: kind"):
        assert Distributions.from_frame(frame, "who").coordinate_names == ["x"]
    with pytest.raises(ValueError, match="'who' names the items, but 1 of its 3 rows .* row 1"):
        Distributions.from_frame(frame.assign(who=["b", None, "b"]), "who", label="kind")


def test_columns_of_frames_keep_their_names():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(12, 2)), columns=["CD3", "CD4"])
    who = np.repeat(["a", "b", "c"], 4)
    groups = frame.assign(who=who).groupby("who")
    X = Distributions(groups)
    assert X.ids == ["a", "b", "c"] and X.coordinate_names == ["CD3", "CD4"]
    items = {name: group[["CD3", "CD4"]] for name, group in groups}
    assert Distributions(items).coordinate_names == ["CD3", "CD4"]
    model = ddsc.DDSC(2, n_neighbors=1).fit(items)
    with pytest.raises(ValueError, match='"CD4"'):
        model.predict(frame[["CD4", "CD3"]].assign(who=who).groupby("who"))
    items["b"] = items["b"][["CD4", "CD3"]]
    with pytest.raises(ValueError, match="item 1 has the columns"):
        Distributions(items)
    assert Distributions([pd.DataFrame(np.eye(2)), pd.DataFrame(np.eye(2))]).coordinate_names is None


def test_labels_are_joined_by_id():
    items = {name: np.full((1, 1), k) for k, name in enumerate("abc")}
    table = {"c": 2, "a": 0, "b": 1}
    assert Distributions(items, labels=table).labels.tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="items do not have the id 'z'"):
        Distributions(items, labels={**table, "z": 3})
    with pytest.raises(ValueError, match="labels do not have the id 'b'"):
        Distributions(items, labels={"a": 0, "c": 2})
    pd = pytest.importorskip("pandas")
    assert Distributions(items, labels=pd.Series(table)).labels.tolist() == [0, 1, 2]
    assert Distributions(items, labels=pd.Series([5, 6, 7], index=[2, 0, 1])).labels.tolist() == [5, 6, 7]
    assert Distributions(list(items.values()), labels=pd.Series(table)).labels.tolist() == [2, 0, 1]
    with pytest.raises(ValueError, match="duplicate ids"):
        Distributions(items, labels=pd.Series([0, 1, 2], index=["a", "a", "b"]))


def test_anndata():
    anndata = pytest.importorskip("anndata")
    pd = pytest.importorskip("pandas")
    sparse = pytest.importorskip("scipy.sparse")
    rng = np.random.default_rng(0)
    values = rng.normal(size=(30, 4))
    obs = pd.DataFrame(
        {"patient": [f"p{i % 3}" for i in range(30)], "group": ["u", "v", "u"] * 10},
        index=[str(i) for i in range(30)],
    )
    adata = anndata.AnnData(X=sparse.csr_matrix(values), obs=obs)
    adata.obsm["X_pca"] = values[:, :2]
    adata.layers["double"] = 2 * values
    X = Distributions.from_anndata(adata, groupby="patient", label="group")
    assert X.ids == ["p0", "p1", "p2"] and list(X.labels) == ["u", "v", "u"] and X.dim == 4
    same(X, [(values[i::3], np.full(10, 0.1)) for i in range(3)])
    assert Distributions.from_anndata(adata, "patient", obsm="X_pca").dim == 2
    doubled = Distributions.from_anndata(adata, "patient", layer="double")
    same(doubled, [(2 * p, w) for p, w in X])
    some = Distributions.from_anndata(adata, "patient", variables=list(adata.var_names[:3]))
    assert some.dim == 3


def test_files(tmp_path, clouds):
    X = Distributions(*clouds)
    for name in ("set.npz", "set.csv", "set.tsv.gz"):
        X.write(tmp_path / name)
        same(ddsc.read(tmp_path / name), X)
    named = Distributions(*clouds, ids=[f"i {k}" for k in range(24)], labels=list("ab") * 12)
    named.write(tmp_path / "named.npz")
    again = ddsc.read(tmp_path / "named.npz")
    assert again.ids == named.ids and again.labels.tolist() == [0, 1] * 12
    with pytest.raises(FileExistsError, match="set.npz"):
        X.write(tmp_path / "set.npz")
    X.write(tmp_path / "set.npz", overwrite=True)
    both = ddsc.read([tmp_path / "set.npz", tmp_path / "set.csv"])
    assert len(both) == 48
    (tmp_path / "bad.csv").write_text("id,weight,x\na,1,nan\n")
    with pytest.raises(ValueError, match="bad.csv"):
        ddsc.read(tmp_path / "bad.csv")
    with pytest.raises(FileNotFoundError):
        ddsc.read(tmp_path / "none.npz")
    with pytest.raises(OSError):
        X.write(tmp_path / "no" / "such" / "folder.npz")


def test_fcs(data):
    paths = sorted((data / "cytometry").glob("*.fcs"))
    X = ddsc.read(paths, arcsinh=5)
    assert len(X) == 2 and X.dim > 20


def test_documents(data):
    text = data / "text"
    X = ddsc.read_text(
        text / "bbcsport.tsv.gz",
        text / "glove.6B.100d.subset.txt.gz",
        stopwords=text / "stoplist2.txt",
        on_empty="drop",
    )
    assert len(X) == 737 and X.dim == 200 and X.sizes.max() <= 32
    assert set(X.labels) == {"athletics", "cricket", "football", "rugby", "tennis"}


def table(path, rows):
    path.write_text("label\ttext\n" + "".join(f"{label}\t{text}\n" for label, text in rows))
    return path


def test_words(tmp_path):
    """Vectors learned from the documents are stored with them and with the model, for later documents."""
    topics = ("ball goal team match coach", "bank loan rate price stock")
    draw = np.random.default_rng(3)
    rows = [(i % 2, " ".join(draw.choice(topics[i % 2].split(), 6))) for i in range(60)]
    docs, new = table(tmp_path / "d.tsv", rows[:40]), table(tmp_path / "new.tsv", rows[40:])
    X = ddsc.read_text(docs)
    assert X.dim == 10  # as many as there are words
    model = ddsc.DDSC(2, random_state=0).fit(X)
    model.save(tmp_path / "model.npz")
    later = ddsc.read_text(new, tmp_path / "model.npz")
    assert ddsc.adjusted_rand_score(later.labels, model.predict(later)) == 1
    with pytest.raises(ValueError, match="not fitted to the documents of the model"):
        model.predict(ddsc.read_text(new, words="own"))
    with pytest.warns(UserWarning, match=r"use read_text\(..., paper=True\)"):
        ddsc.DDSC(2, paper=True).fit(X)
    with pytest.raises(ValueError, match="paper requires words = general"):
        ddsc.read_text(new, words="own", paper=True)
    vectors = tmp_path / "v.txt"
    vectors.write_text("".join(f"{w} {i} {i % 3}\n" for i, w in enumerate(" ".join(topics).split())))
    assert ddsc.read_text(docs, vectors).dim == 12
    assert ddsc.read_text(docs, vectors, words="general").dim == 2
    with pytest.raises(ValueError, match="words='best'"):
        ddsc.read_text(docs, vectors, words="best")
    with pytest.raises(ValueError, match="words = general requires a file"):
        ddsc.read_text(docs, words="general")


def test_parts(clouds):
    points, weights = clouds
    X = Distributions(points, weights, ids=[f"i{k}" for k in range(24)], labels=range(24))
    same(X[3:5], list(X)[3:5])
    assert X[[5, 1]].ids == ["i5", "i1"] and list(X[[5, 1]].labels) == [5, 1]
    mask = np.zeros(24, bool)
    mask[7] = True
    assert X[mask].ids == ["i7"]
    np.testing.assert_array_equal(X[-1][0], X[23][0])
    with pytest.raises(IndexError):
        X[24]
    small = X.compress(3)
    assert small.sizes.max() <= 3 and small.ids == X.ids
    assert 0 < small.mean_w2_error <= small.max_w2_error
    across = [ddsc.pairwise([X[i][0], small[i][0]], n_jobs=1) for i in range(2)]
    assert len(across) == 2


def test_empty_items():
    points, weights = [np.zeros((2, 2)), np.ones((1, 2)), np.ones((2, 2))], [[1, 1], [0], [1, 1]]
    with pytest.raises(ValueError, match="item 1"):
        Distributions(points, weights)
    X = Distributions(points, weights, on_empty="drop")
    assert len(X) == 3 and X.n_items == 2 and list(X.rows) == [0, 2]
    assert X[1][0].shape == (0, 2)
    with pytest.raises(ValueError, match="on_empty"):
        Distributions(points, weights, on_empty="maybe")


@pytest.mark.parametrize(
    "points, weights, words",
    [
        ([np.zeros((2, 2)), np.zeros((2, 3))], None, "item 1 has points of 3"),
        ([np.zeros((2, 2))], [[1.0]], "item 0 has 2 points and 1 weights"),
        ([np.zeros((2, 2))], [[1.0, 1], [1.0]], "one array for each item"),
        ([np.zeros((2, 2))], [[1.0, -1]], "item 0"),
        ([np.zeros((2, 2))], [[np.nan, 1]], "item 0"),
        ([np.array([[0, np.inf]])], None, "inf"),
        ([np.zeros(3)], None, "reshape"),
        ([np.array([["a", "b"]])], None, "numbers"),
        ([np.array([[1j, 2]])], None, "omplex"),
        ([], None, "no items"),
        ([np.zeros((2, 0))], None, "0 feature"),
        (np.zeros(4), None, "Expected 2D"),
    ],
)
def test_bad_input_is_named(points, weights, words):
    with pytest.raises(ValueError, match=words):
        Distributions(points, weights)


def test_pickle_keeps_every_bit(clouds):
    X = Distributions(*clouds, labels=list("ab") * 12)
    Y = pickle.loads(pickle.dumps(X))
    np.testing.assert_array_equal(X.support, Y.support)
    np.testing.assert_array_equal(ddsc.pairwise(X), ddsc.pairwise(Y))
    assert Y.ids == X.ids and list(Y.labels) == list(X.labels)
    dropped = Distributions([np.zeros((1, 1))] * 2, [[1], [0]], on_empty="drop")
    again = pickle.loads(pickle.dumps(dropped))
    assert len(again) == 2 and again.n_items == 1


def test_nothing_is_copied_in_vain():
    """The library copies a large list of float32 arrays only once."""
    import tracemalloc

    items = [np.random.default_rng(i).normal(size=(20000, 4)).astype(np.float32) for i in range(4)]
    tracemalloc.start()
    X = Distributions(items)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(X) == 4
    assert peak < 0.2 * sum(i.nbytes for i in items)


def test_names_stay(tmp_path):
    path = tmp_path / "cells.csv"
    path.write_text("sample,w,title,kind,CD3,CD4\na,1,One,t,1,2\nb,2,Two,t,3,4\na,3,One,u,5,6\n")
    with pytest.warns(UserWarning, match="kind"):
        X = ddsc.read(path, id="sample", weight="w")
    assert X.ids == ["a", "b"]
    assert X.coordinate_names == ["CD3", "CD4"] and X.titles == ["One", "Two"]
    assert X.point_names is None
    again = pickle.loads(pickle.dumps(X.described(point_names=["p", "q", "r"])))
    assert again.coordinate_names == ["CD3", "CD4"] and again.titles == ["One", "Two"]
    assert again.point_names == ["p", "q", "r"]
    assert X[[1]].titles == ["Two"] and X[[1]].coordinate_names == ["CD3", "CD4"]
    X.write(tmp_path / "x.npz")
    assert ddsc.read(tmp_path / "x.npz").titles == ["One", "Two"]
    with pytest.raises(ValueError, match="coordinate_names: expected 2 names"):
        X.described(coordinate_names=["x"])
    chosen = ddsc.read(path, id="sample", columns=["CD*"], where="kind=t", arcsinh=5)
    assert chosen.n_items == 2 and np.allclose(chosen[0][0], np.arcsinh([[0.2, 0.4]]))


def test_names_of_frames():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"who": ["a", "a", "b"], "CD3": [1.0, 2, 3], "CD4": [4.0, 5, 6]})
    assert ddsc.Distributions.from_frame(frame, "who").coordinate_names == ["CD3", "CD4"]


def test_read_folder_of_images(tmp_path):
    rng = np.random.default_rng(3)
    pictures = rng.integers(1, 255, (4, 3, 5), dtype=np.uint8)
    for i, picture in enumerate(pictures):
        folder = tmp_path / "pictures" / f"class{i % 2}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"p{i}.pgm").write_bytes(b"P5 5 3 255\n" + picture.tobytes())
    X = ddsc.read(tmp_path / "pictures")
    assert list(X.ids) == ["class0/p0", "class0/p2", "class1/p1", "class1/p3"]
    assert list(X.labels) == ["class0", "class0", "class1", "class1"]
    assert list(X.coordinate_names) == ["row", "column"]
    points, weights = X[2]
    assert np.allclose(weights, (pictures[1] / pictures[1].sum()).ravel())
    assert ddsc.read(tmp_path / "pictures", as_="colors").dim == 3


def test_transformed_stays_with_the_model(tmp_path):
    rng = np.random.default_rng(7)
    clouds = [rng.gamma(2, [10, 300 + 900 * (i % 2)], (30, 2)) for i in range(12)]
    X = Distributions(clouds).described(coordinate_names=["CD3", "pERK"])
    Z = X.transformed(arcsinh={"CD*": 5}, normalize="robust")
    assert Z.transforms == ["arcsinh", "robust"] and X.transforms == []
    assert np.allclose(X.transformed(arcsinh=5)[0][0], np.arcsinh(X[0][0] / 5))
    model = ddsc.DDSC(n_clusters=2).fit(Z)
    assert np.array_equal(model.predict(X), model.predict(Z))
    assert np.array_equal(model.predict(X), model.labels_)
    with pytest.raises(ValueError, match="transformed differently"):
        model.predict(X.transformed(log1p=True))
    Z.write(tmp_path / "z.npz")
    assert ddsc.read(tmp_path / "z.npz").transforms == Z.transforms
    assert X.transformed(per_item=5).sizes.max() == 5
    again = pickle.loads(pickle.dumps(Z))
    assert again.transforms == Z.transforms and np.array_equal(model.predict(again), model.labels_)


def test_files_that_are_not_there(tmp_path):
    table = tmp_path / "c.csv"
    table.write_text("id,x\na,1\nb,2\n")
    for words in ({"meta": "/nope"}, {"meta": [table, "/nope"]}, {"labels": "/nope"}):
        with pytest.raises(FileNotFoundError, match="/nope"):
            ddsc.read(table, **words)
    for words in ({"meta": "/nope"}, {"stopwords": "/nope"}, {"vectors": "/nope"}):
        with pytest.raises(FileNotFoundError, match="/nope"):
            ddsc.read_text(ddsc.datasets.documents_path(), **words)


def test_read_patterns(tmp_path):
    for name in ("b", "a", "c[1]"):
        (tmp_path / f"{name}.xyz").write_text("0 0 1\n1 2 3\n")
    assert ddsc.read(tmp_path / "?.xyz").ids == ["a", "b"]
    assert ddsc.read(str(tmp_path / "*.xyz")).ids == ["a", "b", "c[1]"]
    assert ddsc.read(tmp_path / "c[1].xyz").ids == ["c[1]"]
    with pytest.raises(FileNotFoundError):
        ddsc.read(tmp_path / "*.ply")


def test_read_hdf5(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "a.h5", "w") as f:
        f["more/cells"] = np.arange(6.0).reshape(3, 2)
        f["sample"] = np.array([b"u", b"v", b"u"])
    try:
        X = ddsc.read(tmp_path / "a.h5", id="sample", matrix="more/cells")
    except ValueError as error:
        assert "libhdf5" in str(error)
        pytest.skip("built without libhdf5")
    assert X.ids == ["u", "v"] and X.sizes.tolist() == [2, 1]


def test_hdf5_is_read_by_name_and_in_a_child(tmp_path):
    """Other Python threads continue during the call, and a damaged file raises an error."""
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "a.h5", "w") as f:
        f["points"] = np.arange(60.0).reshape(30, 2)
        f["id"] = np.array([b"u", b"v", b"w"] * 10)
    whole = (tmp_path / "a.h5").read_bytes()
    try:
        expected = ddsc.read(tmp_path / "a.h5").ids
    except ValueError as error:
        assert "libhdf5" in str(error)
        pytest.skip("built without libhdf5")
    (tmp_path / "photo.png").write_bytes(whole)
    with pytest.raises(ValueError, match='format="h5ad"'):
        ddsc.read(tmp_path / "photo.png")
    assert ddsc.read(tmp_path / "photo.png", format="h5ad").ids == expected
    random = np.random.default_rng(1)
    paths = []
    for k in range(20):
        raw = bytearray(whole)
        for at in random.integers(0, len(raw), 4):
            raw[at] = random.integers(0, 256)
        paths.append(tmp_path / f"{k}.h5")
        paths[-1].write_bytes(raw)

    def outcome(path):
        try:
            return ddsc.read(path, read_timeout=2).ids
        except (ValueError, MemoryError):
            return None

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(outcome, [tmp_path / "a.h5", *paths] * 2))
    assert found[0] == found[21] == expected
    for wrong in (-1, float("nan"), "60"):
        with pytest.raises(ValueError, match="read_timeout"):
            ddsc.read(tmp_path / "a.h5", read_timeout=wrong)


def test_encoding(tmp_path):
    table, meta, labels = tmp_path / "a.csv", tmp_path / "m.csv", tmp_path / "l.csv"
    table.write_bytes("id,größe\nä,1\nb,2\n".encode("latin1"))
    meta.write_bytes("id,café\nä,ö\nb,ü\n".encode("latin1"))
    labels.write_bytes("id,label\nä,é\nb,x\n".encode("latin1"))
    for encoding in ("latin1", "iso-8859-1", "cp1252"):
        X = ddsc.read(table, meta=[meta], labels=labels, encoding=encoding)
        assert X.ids == ["ä", "b"] and X.meta == {"café": ["ö", "ü"]} and list(X.labels) == ["é", "x"]
        assert X.coordinate_names == ["größe"]
    X.write(tmp_path / "a.npz")
    assert ddsc.read(tmp_path / "a.npz").meta == X.meta
    for path, how in ((table, {}), (tmp_path / "a.npz", {"meta": meta}), (tmp_path / "a.npz", {"labels": labels})):
        with pytest.raises(ValueError, match="not UTF-8"):
            ddsc.read(path, **how)
    with pytest.raises(ValueError, match="encoding="):
        ddsc.read(table, encoding="utf-16")
    (tmp_path / "d.tsv").write_bytes(("text\n" + "Größe und Maß\nMaß und Zahl\n" * 3).encode("latin1"))
    with pytest.raises(ValueError, match="not UTF-8"):
        ddsc.read_text(tmp_path / "d.tsv")
    assert ddsc.read_text(tmp_path / "d.tsv", encoding="latin1").titles[0] == "Größe und Maß"


def test_logicle():
    X = ddsc.Distributions([np.array([[0.0], [262144.0], [-100.0]])]).transformed(logicle="262144:0.5")
    points = np.sort(X[0][0][:, 0])
    assert np.allclose(points[1:], [0.5 / 4.5, 1]) and 0 < points[0] < points[1]
    assert X.transforms == ["logicle"]


def test_transforms_by_batch():
    rng = np.random.default_rng(3)
    batch = ["a", "a", "b", "b"] * 2
    items = [rng.normal([0, 3 * (i % 2)], 1, (40, 2)) * (3 if batch[i] == "b" else 1) for i in range(8)]
    X = ddsc.Distributions(items, labels=[i % 2 for i in range(8)])
    Y = X.transformed(batch=batch, normalize="standard")
    assert Y.transforms == ["batch", "standard"] and Y.meta == {"batch": batch}
    named = X.described(meta={"run": batch, "n": range(8)})
    assert named.meta["n"] == [str(i) for i in range(8)]
    assert np.array_equal(named.transformed(batch="run", normalize="standard").support, Y.support)
    flat = ddsc.DDSC(n_clusters=2).fit(X.transformed(pca=1))  # new items are of two dimensions still
    assert (flat.predict(items) == flat.labels_).all()
    with pytest.raises(ValueError, match="3 coordinates"):
        flat.predict([np.zeros((2, 3))])
    model = ddsc.DDSC(n_clusters=2).fit(Y)
    assert ddsc.adjusted_mutual_info_score(X.labels, model.labels_) == 1
    new = ddsc.Distributions(items[:3])
    assert (model.predict(new.described(meta={"batch": batch[:3]})) == model.labels_[:3]).all()
    with pytest.raises(ValueError, match="no column"):
        model.predict(new)
    with pytest.raises(ValueError, match='belongs to "c"'):
        model.predict(new.described(meta={"batch": ["a", "c", "b"]}))
    with pytest.raises(ValueError, match="3 values of 'batch' for 8 items"):
        X.described(meta={"batch": batch[:3]})


def test_values_about_items_become_texts():
    X = ddsc.make_shapes(3)
    missing = [None, float("nan"), np.float32("nan"), np.datetime64("NaT"), "", "nan"]
    assert X.described(meta={"b": missing}).meta["b"] == ["", "", "", "", "", "nan"]
    numbers = [1.0, np.float64(2), -0.0, 1.5, 1e300, True]
    assert X.described(meta={"b": numbers}).meta["b"] == ["1", "2", "0", "1.5", "1e+300", "True"]
    with pytest.raises(ValueError, match="no batch|empty|no value"):
        X.transformed(batch=["a", None, "b", "a", "a", "b"])
    for wrong in ({"meta": {"b": ["a\0b"] * 6}}, {"meta": {"a\0b": "abcdef"}}, {"titles": ["a\0b"] * 6},
                  {"coordinate_names": ["x", "a\0b"]}):
        with pytest.raises(ValueError, match="NUL"):
            X.described(**wrong)
    with pytest.raises(ValueError, match="NUL"):
        ddsc.Distributions([np.eye(2)], ids=["a\0b"])


def test_values_missing_in_a_frame():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"run": [1, None, 2], "day": pandas.to_datetime(["2020-01-02", None, None])})
    frame["site"] = pandas.array(["x", None, "y"], dtype="string")
    told = ddsc.Distributions(np.eye(3)).described(meta={name: frame[name] for name in frame}).meta
    assert told["run"] == ["1", "", "2"] and told["site"] == ["x", "", "y"] and told["day"][1:] == ["", ""]


def test_a_column_batch_is_not_replaced():
    rng = np.random.default_rng(8)
    X = ddsc.Distributions(rng.normal(size=(6, 9, 2))).described(meta={"batch": "aabbab", "age": range(6)})
    Y = X.transformed(batch=list("aabbab"))
    assert Y.meta == X.meta and np.array_equal(Y.support, X.transformed(batch="batch").support)
    with pytest.raises(ValueError, match="column 'batch' with other values"):
        X.transformed(batch=list("ababab"))


def test_pickle_keeps_transforms_and_dropped_rows():
    rng = np.random.default_rng(5)
    items = [rng.normal(size=(9 + i, 2)) for i in range(5)]
    items.insert(2, np.empty((0, 2)))
    ids, labels = [f"i{k}" for k in range(6)], np.array(list("abxaba"))
    X = ddsc.Distributions(items, ids=ids, labels=labels, on_empty="drop")
    X = X.described(titles=[f"t{k}" for k in range(6)], meta={"run": list("1x0122"), "age": range(6)})
    for Y in (X, X.transformed(log1p=False, normalize="rank"), X.transformed(align="center")):
        again = pickle.loads(pickle.dumps(Y))
        assert len(again) == 6 and again.n_items == 5 and (again.rows == Y.rows).all()
        assert again.transforms == Y.transforms and again.meta == Y.meta and again.titles == Y.titles
        assert again.ids == ids and (again.labels == labels).all()
        assert np.array_equal(again.support, Y.support)
        assert all(np.array_equal(a[1], b[1]) for a, b in zip(again, Y))


def test_read_takes_every_transform(tmp_path):
    rng = np.random.default_rng(7)
    rows = [f"s{i},{'ab'[i % 2]},{x},{y}" for i in range(4) for x, y in rng.gamma(2, 50, (30, 2)).tolist()]
    (tmp_path / "a.csv").write_text("\n".join(["id,run,x,y", *rows]) + "\n")
    (tmp_path / "m.csv").write_text("id,age\ns0,1\ns1,2\ns2,3\ns3,4\n")
    (tmp_path / "n.csv").write_text("id,site\ns0,x\ns1,y\ns2,x\ns3,y\n")
    X = ddsc.read(tmp_path / "a.csv", drop=["run"], meta=[tmp_path / "m.csv", tmp_path / "n.csv"])
    assert X.meta == {"age": list("1234"), "site": list("xyxy")} and X.transforms == []
    ways = dict(per_item=20, arcsinh=5, logicle=262144, log1p=True, batch="run", normalize="robust", pca=1,
                align="center")
    Y = ddsc.read(tmp_path / "a.csv", **ways)
    assert Y.transforms == ["per-item", "arcsinh", "logicle", "log1p", "batch", "robust", "pca", "align center"]
    one = ddsc.read(tmp_path / "a.csv", drop=["run"], per_item=20, random_state=3)
    assert np.array_equal(one.support, X.transformed(per_item=20, random_state=3).support)
    with pytest.raises(TypeError, match="normal"):
        ddsc.read(tmp_path / "a.csv", normal="rank")


def test_paths_may_be_bytes(tmp_path):
    path = os.fsencode(tmp_path / "two.csv")
    (tmp_path / "two.csv").write_text("id,x\na,0\nb,1\n")
    (tmp_path / "meta.csv").write_text("id,age\na,3\nb,4\n")
    meta = os.fsencode(tmp_path / "meta.csv")
    for given in path, [path], tmp_path / "two.csv":
        assert ddsc.read(given, meta=meta).ids == ["a", "b"]
    with pytest.raises(FileNotFoundError):
        ddsc.read(b"/there/is/no/such/file")


@pytest.mark.parametrize("order", [1, -1])
def test_items_of_two_kinds_are_named(order):
    items = [np.zeros((3, 2)), (np.ones((2, 2)), np.ones(2))][::order]
    with pytest.raises(ValueError, match=r"item [01] is \(points, weights\), but item [01] is not; pass all"):
        ddsc.Distributions(items)
