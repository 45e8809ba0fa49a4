"""Runs scanpy on the AnnData of a fit. python/tests/scanpy.sh installs scanpy; without it, these tests are skipped."""

import numpy as np
import pytest

import ddsc

pytest.importorskip("anndata")
matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
sc = pytest.importorskip("scanpy")

pytestmark = pytest.mark.filterwarnings("ignore")  # scanpy's own deprecations


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    clouds = [rng.normal(size=(30, 3)) + [i / 5, 0, 0] for i in range(40)]  # a gradient
    X = ddsc.Distributions(clouds, ids=[f"s{i}" for i in range(40)]).described(coordinate_names=["a", "b", "c"])
    return X, ddsc.DDSC(3, n_neighbors=6, n_jobs=1).fit(X)


@pytest.fixture(params=["means", "embedding"])
def samples(request, fitted):
    X, model = fitted
    yield model.to_anndata(X if request.param == "means" else None)
    matplotlib.pyplot.close("all")


def test_embedding_has_the_colors_of_the_report(samples):
    ax = sc.pl.embedding(samples, "X_ddsc_map", color="cluster", show=False)
    drawn = {matplotlib.colors.to_hex(c) for c in ax.collections[0].get_facecolors()}
    assert drawn == set(ddsc.plot.COLORS[:3])
    sc.pl.embedding(samples, "X_ddsc", color=["cluster_name", "ambiguity"], show=False)


def test_leiden(samples):
    pytest.importorskip("leidenalg")
    sc.tl.leiden(samples, resolution=0.5)
    assert 2 <= samples.obs["leiden"].nunique() <= 10
    pytest.importorskip("igraph")
    sc.tl.leiden(samples, flavor="igraph", n_iterations=2, directed=False, key_added="second")
    score = ddsc.adjusted_mutual_info_score(samples.obs["second"], samples.obs["cluster"])
    assert score > 0.3


def test_umap_and_dpt(samples):
    sc.tl.umap(samples, maxiter=20)
    assert np.isfinite(samples.obsm["X_umap"]).all()
    sc.tl.diffmap(samples)
    sc.tl.dpt(samples)
    time = samples.obs["dpt_pseudotime"]
    assert time.iloc[samples.uns["iroot"]] == 0
    assert time.corr(samples.obs["order"], method="spearman") > 0.9


def test_dendrogram_is_the_tree_of_the_clusters(samples, fitted):
    from scipy.cluster.hierarchy import dendrogram

    ax = sc.pl.dendrogram(samples, "cluster", show=False)
    assert sorted(text.get_text() for text in ax.get_xticklabels()) == ["0", "1", "2"]
    entry = samples.uns["dendrogram_cluster"]
    assert entry["categories_idx_ordered"] == dendrogram(fitted[1].tree_, no_plot=True)["leaves"]
    sc.pl.matrixplot(samples, samples.var_names[:3], "cluster", dendrogram=True, show=False)
    expected = set(entry)
    sc.tl.dendrogram(samples, "cluster")  # scanpy's own tree
    assert set(samples.uns["dendrogram_cluster"]) == expected


def test_two_components():
    S = ddsc.make_shapes(12)
    model = ddsc.DDSC(2, n_jobs=1).fit(S)
    assert model.n_components_ == 2
    samples = model.to_anndata(S)
    sc.tl.umap(samples, maxiter=5)
    sc.tl.dpt(samples)
    sc.tl.leiden(samples, flavor="igraph", n_iterations=2, directed=False)
    assert np.isfinite(samples.obsm["X_umap"]).all()


def test_the_entries_are_those_of_pp_neighbors(samples):
    other = samples.copy()
    sc.pp.neighbors(other, n_neighbors=7, use_rep="X_ddsc", method="gauss", transformer="sklearn")
    mine, theirs = samples.uns["neighbors"], other.uns["neighbors"]
    assert set(mine) == set(theirs) and set(theirs["params"]) <= set(mine["params"])
    assert mine["params"]["n_neighbors"] == theirs["params"]["n_neighbors"]
    for name in ("distances", "connectivities"):
        assert type(samples.obsp[name]) is type(other.obsp[name]) and samples.obsp[name].shape == other.obsp[name].shape
    assert (np.diff(samples.obsp["distances"].indptr) == np.diff(other.obsp["distances"].indptr)).all()


def test_cells_and_back():
    cells = sc.datasets.blobs(n_variables=4, n_centers=3, n_observations=240)
    cells.obs["sample"] = [f"s{i % 12}" for i in range(240)]
    sc.pp.pca(cells, n_comps=3)
    X = ddsc.Distributions.from_anndata(cells, "sample", obsm="X_pca")
    model = ddsc.DDSC(2, n_neighbors=4, n_jobs=1).fit(X)
    model.label_cells(cells, "sample")
    sc.pl.embedding(cells, "X_pca", color="ddsc_cluster", show=False)
    assert cells.obs["ddsc_cluster"].nunique() == 2
