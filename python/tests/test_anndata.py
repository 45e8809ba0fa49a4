"""Tests of AnnData input (cells grouped by sample) and output (one row per sample)."""

import json

import numpy as np
import pytest

import ddsc
from ddsc import Distributions

anndata = pytest.importorskip("anndata")
pd = pytest.importorskip("pandas")
sparse = pytest.importorskip("scipy.sparse")

N_SAMPLES, N_CELLS = 12, 20
NAMES = [f"s{i:02d}" for i in range(N_SAMPLES)]


@pytest.fixture
def cells():
    """Return cells in random order, from samples of two classes, with one unused category."""
    rng = np.random.default_rng(0)
    rows = np.repeat(np.arange(N_SAMPLES), N_CELLS)
    values = rng.gamma(1.0, 1.0, (len(rows), 4)).astype(np.float32)
    values[rows % 2 == 0, 0] += 4
    values[rng.uniform(size=values.shape) < 0.2] = 0
    age = np.where(np.arange(N_SAMPLES) == 3, np.nan, np.arange(N_SAMPLES) + 20.0)
    obs = pd.DataFrame(
        {
            "sample": pd.Categorical([NAMES[i] for i in rows], categories=[*NAMES, "unused"]),
            "condition": pd.Categorical(np.array(["ill", "well"])[rows % 2]),
            "age": age[rows],
            "site": np.array(["north", "south", "west"])[rows % 3],
            "cell_type": rng.choice(["T", "B"], len(rows)),
            "depth": rng.normal(size=len(rows)),
            "empty": [None] * len(rows),
        },
        index=[f"c{i}" for i in range(len(rows))],
    )
    mixed = rng.permutation(len(rows))
    made = anndata.AnnData(sparse.csr_matrix(values[mixed]), obs.iloc[mixed])
    made.var_names = ["g0", "g1", "g2", "g3"]
    made.layers["twice"] = 2 * values[mixed]
    made.obsm["X_pca"] = values[mixed, :2]
    made.obsm["frame"] = pd.DataFrame(values[mixed, 1:3], columns=["u", "v"], index=made.obs_names)
    return made


def expected(cells, values):
    """Return the cloud of each sample, in order of first appearance."""
    samples = cells.obs["sample"].astype(str)
    return {name: values[(samples == name).to_numpy()] for name in samples.unique()}


def check(X, clouds):
    assert X.ids == list(clouds)
    for (points, weights), cloud in zip(X, clouds.values()):
        found, counts = np.unique(cloud.astype(float), axis=0, return_counts=True)
        order = np.lexsort(points.T[::-1])
        np.testing.assert_allclose(points[order], found)
        np.testing.assert_allclose(weights[order], counts / counts.sum())


@pytest.mark.parametrize("kind", ["csr_matrix", "csc_matrix", "csr_array", "dense"])
def test_matrices(cells, kind):
    values = cells.X.toarray()
    cells.X = values if kind == "dense" else getattr(sparse, kind)(values)
    check(Distributions.from_anndata(cells, "sample"), expected(cells, values))
    some = Distributions.from_anndata(cells, "sample", variables=["g2", "g0"])
    assert some.coordinate_names == ["g2", "g0"]
    check(some, expected(cells, values[:, [2, 0]]))


def test_layers_and_embeddings(cells):
    X = Distributions.from_anndata(cells, "sample", layer="twice", variables=["g1"])
    check(X, expected(cells, cells.layers["twice"][:, 1:2]))
    check(Distributions.from_anndata(cells, "sample", obsm="X_pca"), expected(cells, cells.obsm["X_pca"]))
    named = Distributions.from_anndata(cells, "sample", obsm="frame")
    assert named.coordinate_names == ["u", "v"]
    for wrong, told in (
        ({"layer": "thrice"}, r"no layers\['thrice'\]; it has 'twice'"),
        ({"obsm": "X_umap"}, "no obsm"),
        ({"obsm": "X_pca", "layer": "twice"}, "cannot be combined"),
        ({"variables": ["g9"]}, "'g9' is not among the 4 variables"),
        ({"label": "status"}, "obs has no column 'status'"),
        ({"meta": ["cell_type"]}, "not constant within each sample"),
    ):
        with pytest.raises(ValueError, match=told):
            Distributions.from_anndata(cells, "sample", **wrong)
    with pytest.raises(ValueError, match="obs has no column 'patient'"):
        Distributions.from_anndata(cells, "patient")


@pytest.mark.parametrize("dense", [False, True])
def test_backed_files(cells, tmp_path, dense):
    if dense:
        cells.X = cells.X.toarray()
    cells.obs["empty"] = "x"
    cells.write_h5ad(tmp_path / "cells.h5ad")
    backed = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")
    for settings in ({}, {"variables": ["g3", "g1"]}, {"layer": "twice"}, {"obsm": "X_pca"}):
        X, Y = (Distributions.from_anndata(a, "sample", **settings) for a in (cells, backed))
        assert X.ids == Y.ids and X.meta == Y.meta
        np.testing.assert_array_equal(X.support, Y.support)
    backed.file.close()


def test_metadata_of_samples(cells):
    X = Distributions.from_anndata(cells, "sample", label="condition")
    rows = [NAMES.index(name) for name in X.ids]
    assert list(X.meta) == ["age", "site"]  # not the cell type, the depth, the label or the empty column
    assert X.meta["age"] == ["" if i == 3 else str(20 + i) for i in rows]
    assert X.meta["site"] == [("north", "south", "west")[i % 3] for i in rows]
    assert list(X.labels) == [("ill", "well")[i % 2] for i in rows]
    assert Distributions.from_anndata(cells, "sample", meta=False).meta == {}
    assert list(Distributions.from_anndata(cells, "sample", meta=["site"]).meta) == ["site"]
    assert list(Distributions.from_anndata(cells, "sample").meta) == ["condition", "age", "site"]


def test_samples_by_number(cells):
    cells.obs["number"] = pd.Categorical([int(name[1:]) for name in cells.obs["sample"]])
    X = Distributions.from_anndata(cells, "number", obsm="X_pca")
    assert sorted(map(int, X.ids)) == list(range(N_SAMPLES))
    cells.obs.loc[cells.obs_names[4], "sample"] = None
    with pytest.raises(ValueError, match="no value; the first is row 4"):
        Distributions.from_anndata(cells, "sample")


@pytest.fixture
def fitted(cells):
    X = Distributions.from_anndata(cells, "sample", label="condition")
    return X, ddsc.DDSC(2, n_neighbors=4, n_jobs=1).fit(X)


def test_to_anndata(fitted):
    X, model = fitted
    made = model.to_anndata(X)
    assert made.shape == (N_SAMPLES, 4) and list(made.obs_names) == X.ids and list(made.var_names) == X.coordinate_names
    np.testing.assert_allclose(made.X, [weights @ points for points, weights in X])
    assert made.obs["cluster"].cat.categories.tolist() == ["0", "1"]
    assert made.obs["cluster"].astype(int).tolist() == model.labels_.tolist()
    assert made.obs["cluster_name"].tolist() == [model.names_[label] for label in model.labels_]
    assert made.obs["class"].tolist() == list(X.labels)
    np.testing.assert_array_equal(made.obs["ambiguity"], model.ambiguity_)
    np.testing.assert_array_equal(made.obs["order"], model.order_)
    assert made.obs["age"].dtype == float and made.obs["age"].isna().sum() == 1
    np.testing.assert_array_equal(made.obsm["X_ddsc"], model.embedding_)
    np.testing.assert_array_equal(made.obsm["X_ddsc_map"], model.map_)
    assert made.obs_names[made.uns["iroot"]] == X.ids[int(np.argmin(model.order_))]
    assert made.uns["ddsc"]["verdict"] == model.verdict_["text"] and json.loads(made.uns["ddsc"]["settings"])["k"] == 2
    assert made.uns["cluster_colors"] == list(ddsc.plot.COLORS[:2])
    plain = model.to_anndata()
    np.testing.assert_array_equal(plain.X, model.embedding_)
    with pytest.raises(ValueError, match="not the set that was passed to fit"):
        model.to_anndata(X[::-1])


def test_distances_are_not_squared(fitted):
    X, model = fitted
    made = model.to_anndata()
    D = ddsc.pairwise(X)
    near = made.obsp["distances"].tocoo()
    assert near.nnz == 4 * N_SAMPLES == (made.uns["neighbors"]["params"]["n_neighbors"] - 1) * N_SAMPLES
    np.testing.assert_allclose(near.data, D[near.row, near.col], rtol=1e-9)
    affinity = made.obsp["connectivities"]
    assert (affinity != affinity.T).nnz == 0 and (affinity != model.affinity_matrix_).nnz == 0


def test_round_trip_through_a_file(fitted, tmp_path):
    X, model = fitted
    made = model.to_anndata(X)
    made.write_h5ad(tmp_path / "samples.h5ad")
    read = anndata.read_h5ad(tmp_path / "samples.h5ad")
    assert read.obs["cluster"].tolist() == made.obs["cluster"].tolist() and read.uns["iroot"] == made.uns["iroot"]
    assert list(read.uns["ddsc"]["names"]) == model.names_
    assert (read.obsp["distances"] != made.obsp["distances"]).nnz == 0


def test_dropped_items_and_outliers():
    rng = np.random.default_rng(0)
    items = [rng.normal(size=(9, 2)) for _ in range(40)]
    items[7] += 25
    items[9] = np.zeros((0, 2))
    model = ddsc.DDSC(2, outliers=True, on_empty="drop", n_jobs=1).fit(items)
    made = model.to_anndata()
    assert made.n_obs == 39 and "9" not in made.obs_names
    assert made.obs.loc["7", "is_outlier"] and pd.isna(made.obs.loc["7", "cluster"])
    assert np.isfinite(made.obsm["X_ddsc"]).all() and made.obsp["distances"].shape == (39, 39)
    row = made.obs_names.get_loc("10")
    near = made.obs_names[made.obsp["distances"][row].indices]
    assert set(near) == {str(i) for i in model.graph_[10].indices}
    with pytest.raises(AttributeError, match="kmeans"):
        ddsc.DDSC(2, method="kmeans").fit(items[:5]).to_anndata()


def test_labels_of_cells(fitted, cells):
    X, model = fitted
    model.label_cells(cells, "sample")
    label = dict(zip(X.ids, model.labels_))
    assert cells.obs["ddsc_cluster"].astype(int).tolist() == [label[name] for name in cells.obs["sample"]]
    assert set(cells.obs["ddsc_cluster_name"]) == set(model.names_)
    assert cells.uns["ddsc_cluster_colors"] == list(ddsc.plot.COLORS[:2])
    ambiguity = dict(zip(X.ids, model.ambiguity_))
    np.testing.assert_array_equal(cells.obs["ddsc_ambiguity"], [ambiguity[name] for name in cells.obs["sample"]])
    few = ddsc.DDSC(2, n_neighbors=3, n_jobs=1).fit(X[:8])
    few.label_cells(cells, "sample", key="few")
    known = cells.obs["sample"].isin(X.ids[:8])
    assert (cells.obs["few_cluster"].notna() == known).all() and (cells.obs["few_ambiguity"].notna() == known).all()
    with pytest.raises(ValueError, match="no id of an item"):
        model.label_cells(cells, "site")
    with pytest.raises(ValueError, match="not a column of obs"):
        model.label_cells(cells, "patient")


def test_types_are_states(cells):
    """The types of from_anndata are the states of ddsc.states, and those that the program reads from the file."""
    values = cells.X.toarray()
    X = Distributions.from_anndata(cells, "sample", type="cell_type")
    found = ddsc.states(X)
    samples, kinds = cells.obs["sample"].astype(str).to_numpy(), cells.obs["cell_type"].to_numpy()
    if len(np.unique(values, axis=0)) == len(values):  # otherwise some cells are equal
        assert found["given"] and sorted(found["names"]) == ["B", "T"]
        share = [(kinds[samples == name] == found["names"][0]).mean() for name in X.ids]
        assert found["shares"][:, 0] == pytest.approx(share)
    cells.X = np.zeros_like(values)
    cells.X[:, 0] = kinds == "T"
    equal = Distributions.from_anndata(cells, "sample", type="cell_type")
    assert sorted(equal.point_names) == ["B", "T"]
    cells.obs["cell_type"] = [None if i % 2 else "A" for i in range(len(values))]
    assert set(Distributions.from_anndata(cells, "sample", type="cell_type").point_names) <= {"", "A", "A + ", " + A"}
    with pytest.raises(ValueError, match="no column 'cel_type'"):
        Distributions.from_anndata(cells, "sample", type="cel_type")
