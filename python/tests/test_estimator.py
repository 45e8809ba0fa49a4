"""Tests of DDSC and LinearOT: results, parameters, new items, pickling."""

import json
import pickle
import subprocess
import warnings

import numpy as np
import pytest

import ddsc
from ddsc import DDSC, Distributions, LinearOT


@pytest.fixture(scope="module")
def groups():
    return ddsc.make_gaussians(k=3, n=20, n_points=15, random_state=1)


@pytest.mark.parametrize("metric", ["w2", "w1", "sinkhorn", "mmd", "lot"])
def test_groups_are_found(groups, metric):
    model = DDSC(n_clusters=3, metric=metric).fit(groups)
    assert ddsc.adjusted_mutual_info_score(groups.labels, model.labels_) == 1
    assert model.labels_.dtype == np.int32 and model.labels_.shape == (60,)
    assert model.n_clusters_ == 3 and model.n_features_in_ == 2 and model.converged_
    assert model.embedding_.shape[0] == 60
    np.testing.assert_allclose(np.linalg.norm(model.embedding_, axis=1), 1, rtol=1e-9)
    assert (np.diff(model.eigenvalues_) >= -1e-12).all() and model.eigenvalues_[0] < 1e-12
    assert model.stats_["n_pairs"] == 60 * 59 // 2
    assert DDSC(n_clusters=3, metric=metric).fit_predict(groups).tolist() == model.labels_.tolist()


def test_joined_metrics(groups):
    model = DDSC(n_clusters=3, metric="w2+mmd").fit(groups)
    assert ddsc.adjusted_mutual_info_score(groups.labels, model.labels_) == 1
    told = model.result_json()
    assert told["settings"]["metric"] == "w2+mmd" and [j["metric"] for j in told["joined"]] == ["w2", "mmd"]
    normal = []
    for metric in ("w2", "mmd"):
        A = DDSC(n_clusters=3, metric=metric).fit(groups).affinity_matrix_.toarray()
        root = np.sqrt(A.sum(axis=1))
        normal.append(A / root[:, None] / root)
    np.testing.assert_allclose(model.affinity_matrix_.toarray(), np.mean(normal, axis=0), rtol=1e-12, atol=1e-300)
    for call in (lambda: model.predict(groups), lambda: model.transform(groups), lambda: model.assign(groups),
                 lambda: model.save("never.npz")):
        with pytest.raises(ValueError, match="joined metrics cannot assign new items"):
            call()
    assert "w2+mmd" in model.report() and (pickle.loads(pickle.dumps(model)).labels_ == model.labels_).all()


@pytest.mark.parametrize("metric, told", [
    ("emd", "did you mean 'w2'"), ("Wasserstein", "did you mean 'w2'"), ("w2+w2", "twice"), ("w2+", "must be one of"),
    ("w2+emd", "did you mean 'w2'"), ("nothing", "must be one of"),
])
def test_names_of_metrics(groups, metric, told):
    with pytest.raises(ValueError, match=told):
        DDSC(n_clusters=3, metric=metric).fit(groups)
    with pytest.raises(ValueError, match="only DDSC accepts joined" if "+" in metric else told):
        ddsc.pairwise(groups, metric=metric)


def test_compare(groups):
    told = ddsc.compare(groups, metrics=("mmd", "w2", "lot"))
    assert told["k"] == 3 and [m["metric"] for m in told["metrics"]] == ["mmd", "w2", "lot"]
    assert told["sure"] == "no difference" and "same clusters" in told["words"] and 0 <= told["lead"] < 0.1
    for i, row in enumerate(told["metrics"]):
        alone = DDSC(3, metric=row["metric"]).fit(groups)
        assert (told["labels"][row["metric"]] == alone.labels_).all() and row["ami"] == row["ari"] == 1
        assert row["stability"] > 0.9 and told["ari"][i, i] == 1 and row["suggests_k"] == 3
    np.testing.assert_array_equal(told["ami"], told["ami"].T)
    alone = ddsc.compare(groups, 3, metrics=["lot"])
    assert [row["metric"] for row in alone["metrics"]] == ["lot"] and alone["metrics"][0]["structure"] == "clear"
    assert alone["metrics"][0]["level"] == "separate" and "suggests_k" not in alone["metrics"][0]
    with pytest.raises(ValueError, match="at least one metric"):
        ddsc.compare(groups, metrics=[])
    with pytest.raises(ValueError, match="did you mean 'w2'"):
        ddsc.compare(groups, metrics=["w2", "emd"])


def test_candidates(groups):
    model = DDSC(n_clusters="auto").fit(groups)
    assert model.candidates_[0]["k"] == model.n_clusters_ == 3
    assert all(np.isfinite(row["stability"]) for row in model.sweep_)
    assert DDSC(n_clusters=3).fit(groups).candidates_ == []


def test_affinity_matrix(groups):
    sparse = pytest.importorskip("scipy.sparse")
    model = DDSC(n_clusters=3, gamma=2.0, n_neighbors=6).fit(groups)
    A, G = model.affinity_matrix_, model.graph_
    assert sparse.issparse(A) and A.shape == (60, 60)
    assert abs(A - A.T).max() == 0 and A.diagonal().max() == 0
    weights = G.copy()
    weights.data = np.exp(-2.0 * G.data**2)
    np.testing.assert_allclose(((weights + weights.T) / 2).toarray(), A.toarray(), rtol=1e-12)
    degree = np.asarray(A.sum(axis=1)).ravel()
    M = A.toarray() / np.sqrt(np.outer(degree, degree))
    values = 1 - np.linalg.eigvalsh(M)[::-1]
    np.testing.assert_allclose(model.eigenvalues_, values[: len(model.eigenvalues_)], atol=1e-7)


def test_against_scikit_learn(groups):
    cluster = pytest.importorskip("sklearn.cluster")
    model = DDSC(n_clusters=3).fit(groups)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns of a graph in several components
        theirs = cluster.SpectralClustering(3, affinity="precomputed", random_state=0).fit_predict(
            model.affinity_matrix_.toarray()
        )
    assert ddsc.adjusted_rand_score(theirs, model.labels_) == 1


@pytest.mark.parametrize("metric", ["w2", "mmd", "lot", "sinkhorn"])
def test_the_command_line_gives_the_same_bytes(program, tmp_path, groups, metric):
    groups.write(tmp_path / "in.npz")
    command = [program, "cluster", str(tmp_path / "in.npz"), "-k", "3", "--metric", metric]
    command += ["--seed", "5", "-o", str(tmp_path / "out"), "--quiet"]
    subprocess.run(command, check=True, capture_output=True)
    model = DDSC(n_clusters=3, metric=metric, random_state=5).fit(ddsc.read(tmp_path / "in.npz"))
    rows = np.load(tmp_path / "out" / "embedding.npy")
    np.testing.assert_array_equal(rows, model.embedding_)
    labels = np.genfromtxt(tmp_path / "out" / "labels.csv", delimiter=",", skip_header=1)[:, 1]
    np.testing.assert_array_equal(labels, model.labels_)
    result = json.loads((tmp_path / "out" / "result.json").read_text())
    assert result["version"] == ddsc.__version__ or ddsc.__version__ in json.dumps(result)
    model.save(tmp_path / "model.npz")
    done = subprocess.run(
        [program, "assign", str(tmp_path / "model.npz"), str(tmp_path / "in.npz")],
        check=True,
        capture_output=True,
        text=True,
    )
    column = [int(line.split(",")[1]) for line in done.stdout.splitlines()[1:]]
    assert column == model.labels_.tolist()


def test_threads_do_not_matter(groups):
    models = [DDSC(n_clusters=3, n_jobs=j).fit(groups) for j in (1, 2, None, -1)]
    for other in models[1:]:
        np.testing.assert_array_equal(models[0].embedding_, other.embedding_)


def test_weights_of_points(clouds):
    points, weights = clouds
    a = DDSC(2).fit(points, sample_weight=weights)
    b = DDSC(2).fit(Distributions(points, weights))
    np.testing.assert_array_equal(a.embedding_, b.embedding_)
    with pytest.raises(ValueError, match="Distributions already have weights"):
        DDSC(2).fit(Distributions(points), sample_weight=weights)


def test_choosing_k(groups):
    model = DDSC(n_clusters="auto").fit(groups)
    assert model.n_clusters_ == 3
    model = DDSC(n_clusters=(2, 6)).fit(groups)
    assert [row["k"] for row in model.sweep_] == [2, 3, 4, 5, 6]
    assert model.sweep_labels_.shape == (5, 60)
    np.testing.assert_array_equal(model.sweep_labels_[model.n_clusters_ - 2], model.labels_)


# ---- precomputed distances ----


def test_precomputed(groups):
    D = ddsc.pairwise(groups)
    model = DDSC(3, metric="precomputed").fit(D)
    np.testing.assert_array_equal(model.labels_, DDSC(3).fit(groups).labels_)
    assert model.n_features_in_ == 60 and model.compression_ is None
    holes = D.copy()
    rng = np.random.default_rng(0)
    i, j = rng.integers(0, 60, (2, 600))
    holes[i, j] = holes[j, i] = np.nan
    partial = DDSC(3, metric="precomputed").fit(holes)
    assert ddsc.adjusted_rand_score(groups.labels, partial.labels_) == 1
    assert np.isnan(holes[i[0], j[0]]), "the caller's matrix is not touched"
    np.testing.assert_array_equal(model.predict(D), model.labels_)
    np.testing.assert_array_equal(model.transform(D), model.embedding_)
    np.testing.assert_array_equal(model.predict(D + 1e-7), model.labels_)
    assert (model.predict(np.where(rng.uniform(size=D.shape) < 0.3, np.nan, D)) == model.labels_).all()
    with pytest.raises(ValueError, match="square"):
        DDSC(3, metric="precomputed").fit(D[:10])
    with pytest.raises(ValueError, match="not Distributions"):
        DDSC(3, metric="precomputed").fit(groups)
    asymmetric = D.copy()
    asymmetric[0, 1] += 1
    with pytest.raises(ValueError, match="symmetric|differ"):
        DDSC(3, metric="precomputed").fit(asymmetric)
    with pytest.raises(ValueError, match="59 features"):
        model.predict(D[:, :59])


def test_sparse_precomputed_is_unknown_elsewhere(groups):
    sparse = pytest.importorskip("scipy.sparse")
    D = ddsc.pairwise(groups)
    G = ddsc.neighbors(groups, 20)
    both = sparse.csr_matrix(np.where((G.toarray() > 0) | (G.toarray().T > 0), D, 0))
    model = DDSC(3, metric="precomputed").fit(both)
    np.testing.assert_array_equal(model.labels_, DDSC(3).fit(groups).labels_)


def test_lists_of_neighbors(groups):
    """A sparse matrix is read row by row. It need not be symmetric, and no dense matrix is created."""
    sparse = pytest.importorskip("scipy.sparse")
    whole = DDSC(3).fit(groups)
    for make in (sparse.csr_matrix, sparse.coo_matrix, sparse.csc_matrix):
        model = DDSC(3, metric="precomputed").fit(make(ddsc.neighbors(groups, 10)))
        np.testing.assert_array_equal(model.labels_, whole.labels_)
        np.testing.assert_allclose(model.graph_.toarray(), whole.graph_.toarray(), rtol=1e-12)
        assert model.n_features_in_ == 60 and model.n_components_ == whole.n_components_
    wide = DDSC(3, metric="precomputed").fit(ddsc.neighbors(groups, 25))
    np.testing.assert_array_equal(wide.graph_.indices, model.graph_.indices)  # ten of them are kept
    np.testing.assert_array_equal(wide.predict(ddsc.pairwise(groups)), wide.labels_)


def test_lists_equal_the_matrix_with_holes(groups):
    """Entries that are not stored are unknown, in both formats."""
    sparse = pytest.importorskip("scipy.sparse")
    rng = np.random.default_rng(3)
    D = ddsc.pairwise(groups)
    gone = rng.uniform(size=D.shape) < 0.4
    D[gone | gone.T] = np.nan
    row, column = np.nonzero(~np.isnan(D) & ~np.eye(60, dtype=bool))
    S = sparse.coo_matrix((D[row, column], (row, column)), shape=D.shape)
    dense, lists = (DDSC(3, metric="precomputed").fit(X) for X in (D, S))
    np.testing.assert_array_equal(dense.labels_, lists.labels_)
    np.testing.assert_array_equal(dense.graph_.indices, lists.graph_.indices)
    np.testing.assert_allclose(dense.embedding_, lists.embedding_, atol=1e-9)


def test_lists_that_are_refused(groups):
    sparse = pytest.importorskip("scipy.sparse")
    G = ddsc.neighbors(groups, 10)
    fit = DDSC(3, metric="precomputed", n_neighbors=10).fit
    with pytest.raises(ValueError, match="square"):
        fit(G[:10])
    wrong = G.copy()
    wrong.data[5] = -1
    with pytest.raises(ValueError, match="must not be negative"):
        fit(wrong)
    wrong.data[5] = np.inf
    with pytest.raises(ValueError, match="finite"):
        fit(wrong)
    with pytest.raises(ValueError, match="diagonal must be 0"):
        fit(G + sparse.identity(60))
    D = ddsc.pairwise(groups)
    with pytest.raises(ValueError, match=r"one triangle of a symmetric matrix.*X \+ X.T"):
        fit(sparse.csr_matrix(np.triu(D, 1)))
    D[3, 4] *= 2
    with pytest.raises(ValueError, match="not symmetric"):
        fit(sparse.csr_matrix(D))
    with pytest.raises(ValueError, match="no lower bounds"):
        DDSC(3, metric="precomputed", exact_graph="pruned").fit(G)
    assert DDSC(3, metric="precomputed", sample=0.9).fit(sparse.csr_matrix(ddsc.pairwise(groups)))


def test_lists_without_scipy(groups):
    """The tuple used in place of SciPy's matrix is accepted as well."""
    from ddsc._arrays import CSR

    G = ddsc.neighbors(groups, 10)
    plain = CSR(G.data, G.indices, G.indptr, G.shape)
    model = DDSC(3, metric="precomputed").fit(plain)
    np.testing.assert_array_equal(model.labels_, DDSC(3).fit(groups).labels_)


def test_warnings_of_the_library(groups):
    model = DDSC(3).fit(groups)
    with pytest.warns(UserWarning, match="1 of 1 items are farther") as told:
        model.predict([np.full((3, 2), 1e3)])
    assert told[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(groups)


# ---- new items ----


@pytest.mark.parametrize("metric", ["w2", "w1", "sinkhorn", "mmd", "lot"])
def test_new_items(groups, metric):
    old, new = groups[::2], groups[1::2]
    model = DDSC(3, metric=metric, n_neighbors=6).fit(old)
    np.testing.assert_array_equal(model.predict(old), model.labels_)
    np.testing.assert_array_equal(model.transform(old), model.embedding_)
    assert ddsc.adjusted_rand_score(new.labels, model.predict(new)) == 1
    np.testing.assert_allclose(np.linalg.norm(model.transform(new), axis=1), 1, rtol=1e-9)
    one_by_one = [int(model.predict(new[[i]])[0]) for i in range(6)]
    np.testing.assert_array_equal(one_by_one, model.predict(new[:6]))
    found = model.assign(new)
    np.testing.assert_array_equal(found.labels, model.predict(new))
    assert (found.confidence > 0).all() and found.distance.shape == (30,)
    assert model.assign([new[0][0] + 1e4]).far.all()
    with pytest.raises(ValueError, match="3 features, but DDSC is expecting 2"):
        model.predict([np.zeros((2, 3))])


def test_most_held_back_digits_agree(data):
    images = data / "mnist" / "t10k-images-idx3-ubyte.gz"
    X = ddsc.read(images, labels=data / "mnist" / "t10k-labels-idx1-ubyte.gz")[:600]
    together = DDSC(10, metric="mmd").fit(X).labels_
    model = DDSC(10, metric="mmd").fit(X[:450])
    assert ddsc.adjusted_mutual_info_score(together[450:], model.predict(X[450:])) > 0.7


def test_dropped_items_keep_their_row():
    points = list(ddsc.make_gaussians(k=2, n=10).__iter__())
    items = [p for p, _ in points]
    weights = [w.copy() for _, w in points]
    weights[3][:] = 0
    with pytest.raises(ValueError, match="item 3"):
        DDSC(2).fit(items, sample_weight=weights)
    model = DDSC(2, on_empty="drop", n_neighbors=4).fit(items, sample_weight=weights)
    assert model.labels_[3] == -1 and (np.delete(model.labels_, 3) >= 0).all()
    assert np.isnan(model.embedding_[3]).all()
    assert model.affinity_matrix_.shape == (20, 20)
    assert model.affinity_matrix_.toarray()[3].sum() == 0
    again = model.predict(items, sample_weight=weights)
    np.testing.assert_array_equal(again, model.labels_)


# ---- parameters ----


def test_parameters_and_repr():
    model = DDSC(n_clusters=4, metric="mmd", bandwidth=2.0)
    params = model.get_params()
    assert params["n_clusters"] == 4 and params["bandwidth"] == 2.0 and params["n_jobs"] is None
    assert model.set_params(gamma="median") is model and model.gamma == "median"
    assert "n_clusters=4" in repr(model) and "metric='mmd'" in repr(model)
    with pytest.raises(ValueError, match="color"):
        model.set_params(color=1)
    assert DDSC().get_params()["n_neighbors"] == "auto"


@pytest.mark.parametrize(
    "params, words",
    [
        ({"n_clusters": 0}, "n_clusters"),
        ({"n_clusters": 2.5}, "n_clusters"),
        ({"n_clusters": "many"}, "n_clusters"),
        ({"n_clusters": 100}, "100 clusters were requested, but the number of items is 60"),
        ({"metric": "w3"}, "metric='w3'"),
        ({"memory_limit": "1G"}, "number of bytes"),
        ({"device": "cuda:"}, "must be auto, cpu, cuda"),
        ({"device": 0}, "device=0"),
        ({"n_neighbors": 0}, "n_neighbors"),
        ({"gamma": -1.0}, "gamma"),
        ({"gamma": "wide"}, "gamma"),
        ({"random_state": -1}, "random_state"),
        ({"random_state": "x"}, "random_state"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"epsilon": "x%", "metric": "sinkhorn"}, "epsilon"),
        ({"sinkhorn_value": "blunt"}, "regularized"),
        ({"bandwidth": 0.0, "metric": "mmd"}, "bandwidth"),
        ({"mmd_kernel": "cubic"}, "gaussian"),
        ({"reference": "zero", "metric": "lot"}, "reference"),
        ({"sample": 0.0}, "sample"),
        ({"exact_graph": "pruned", "metric": "mmd"}, "no lower bounds"),
        ({"min_cluster": 2.0}, "min_cluster"),
    ],
)
def test_bad_parameters_are_named(groups, params, words):
    with pytest.raises(ValueError, match=words):
        DDSC(**{"n_clusters": 3, **params}).fit(groups)


def test_random_states(groups):
    how = {"n_clusters": 3, "metric": "lot"}
    same = [DDSC(random_state=7, **how).fit(groups).embedding_ for _ in range(2)]
    np.testing.assert_array_equal(*same)
    for state in (None, np.random.RandomState(0), np.random.default_rng(0), np.int64(3)):
        assert DDSC(random_state=state, **how).fit(groups).converged_


def test_not_fitted_and_limits(groups):
    with pytest.raises(ValueError, match="not fitted"):
        DDSC().predict(groups)
    with pytest.raises(MemoryError, match="limit|memory"):
        DDSC(3, memory_limit=10000).fit(groups)
    with pytest.warns(ddsc.ConvergenceWarning, match="sinkhorn"):
        model = DDSC(3, metric="sinkhorn", epsilon="0.1%", max_iterations=2).fit(groups)
    assert not model.converged_


@pytest.mark.parametrize("metric", ["w2", "mmd", "lot", "precomputed"])
def test_pickle(groups, metric):
    X = ddsc.pairwise(groups) if metric == "precomputed" else groups
    model = DDSC(3, metric=metric).fit(X)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.labels_, model.labels_)
    new = X[:7] if metric == "precomputed" else X[:7]
    np.testing.assert_array_equal(again.transform(new), model.transform(new))
    assert again.get_params() == model.get_params()


# ---- linear transport ----


def test_linear_ot(groups):
    Z = LinearOT().fit_transform(groups)
    D = np.linalg.norm(Z[:, None] - Z[None], axis=2)
    np.testing.assert_allclose(D, ddsc.pairwise(groups, metric="lot"), rtol=1e-6, atol=1e-9)
    lot = LinearOT(reference="kmeans", reference_size=5).fit(groups)
    assert lot.transform(groups).shape == (60, lot.n_features_out_) == (60, 10)
    np.testing.assert_array_equal(lot.transform(groups[:4]), lot.transform(groups)[:4])
    own = LinearOT(reference=groups[0][0]).fit(groups)
    np.testing.assert_allclose(own.transform(groups[[0]]), 0, atol=1e-12)
    assert len(lot.get_feature_names_out()) == 10
    again = pickle.loads(pickle.dumps(lot))
    np.testing.assert_array_equal(again.transform(groups), lot.transform(groups))
    with pytest.raises(ValueError, match="not fitted"):
        LinearOT().transform(groups)
    with pytest.raises(ValueError, match="features"):
        lot.transform([np.zeros((2, 3))])


@pytest.fixture(scope="module")
def cloudy():
    """Return items around one center in many dimensions. The few items near the center are neighbors of most others."""
    random = np.random.default_rng(4)
    middle = random.normal(size=(240, 1, 60))
    middle[10:20] *= 0.4
    return list(middle + 0.3 * random.normal(size=(240, 3, 60)))


def test_hubs(cloudy):
    models = {hubs: DDSC(n_clusters=3, hubs=hubs).fit(cloudy) for hubs in ("auto", "off", "always")}
    auto, off = models["auto"].stats_, models["off"].stats_
    assert auto["hubs_rescaled"] and not off["hubs_rescaled"]
    assert 2 * auto["in_degree_largest"] < off["in_degree_largest"]
    assert auto["n_nobody"] < off["n_nobody"] and "rescaled" in models["auto"].advice_
    assert models["auto"].labels_.tolist() == models["always"].labels_.tolist()
    hub = int(np.bincount(models["off"].graph_.indices).argmax())
    said = f"Item {hub} (of 240, counted from 0) is a hub: it is a neighbor of {off['in_degree_largest']} items"
    assert said in models["off"].advice_
    assert not DDSC(n_clusters=3, paper=True).fit(cloudy).stats_["hubs_rescaled"]
    with pytest.raises(ValueError, match="hubs"):
        DDSC(n_clusters=3, hubs="never").fit(cloudy)


def test_neighbors_are_the_nearest_unless_asked(cloudy):
    distance = ddsc.pairwise(cloudy)
    np.fill_diagonal(distance, np.inf)
    index = np.argsort(distance, axis=1, kind="stable")[:, :5]
    scale = np.sort(distance, axis=1)[:, :5].mean(axis=1)
    chosen = np.argsort(distance**2 / scale, axis=1, kind="stable")[:, :5]
    for hubs, expected in (({}, index), ({"hubs": "always"}, chosen)):
        graph = ddsc.neighbors(cloudy, n_neighbors=5, **hubs).tocsr()
        found = [set(graph.indices[graph.indptr[i] : graph.indptr[i + 1]]) for i in range(240)]
        assert found == [set(row) for row in expected]


def test_hubs_of_a_matrix(cloudy):
    items = DDSC(n_clusters=3).fit(cloudy[:200])
    given = DDSC(n_clusters=3, metric="precomputed").fit(ddsc.pairwise(cloudy[:200]))
    assert given.stats_["hubs_rescaled"] and given.labels_.tolist() == items.labels_.tolist()
    again = pickle.loads(pickle.dumps(items))
    assert again.predict(cloudy[200:]).tolist() == items.predict(cloudy[200:]).tolist()
    away = ddsc.pairwise(cloudy[200:], cloudy[:200])
    assert np.mean(given.predict(away) == items.predict(cloudy[200:])) > 0.8


def test_like_repeats_the_settings_of_a_fit(tmp_path):
    X = ddsc.make_shapes()
    first = ddsc.DDSC(n_clusters=3, metric="mmd", n_neighbors=6).fit(X)
    again = ddsc.DDSC(like=first).fit(X)
    assert np.array_equal(first.labels_, again.labels_) and again.n_clusters_ == 3
    assert np.array_equal(first.graph_.data, again.graph_.data)
    first.save(tmp_path / "model.npz")
    third = ddsc.DDSC(like=tmp_path / "model.npz").fit(X)
    assert np.array_equal(first.graph_.data, third.graph_.data)
    with pytest.raises(ValueError, match="3 coordinates"):
        ddsc.DDSC(like=first).fit([np.zeros((4, 3))] * 9)
