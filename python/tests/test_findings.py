"""Tests of typical and ambiguous items, outliers, trees and stability."""

import json
import os
import pickle
import subprocess

import numpy as np
import pytest

import ddsc
from ddsc import DDSC, _core
from ddsc._base import NotFittedError
from ddsc._run import Run


@pytest.fixture(scope="module")
def groups():
    return ddsc.make_gaussians(k=3, n=20, n_points=12, separation=2.0, random_state=1)


@pytest.fixture(scope="module")
def fitted(groups):
    return DDSC(n_clusters=3, stability=4).fit(groups)


def check_standing(model):
    rows, labels = model.embedding_, model.labels_
    kept = labels >= 0
    centers = np.array([rows[labels == c].mean(axis=0) for c in range(model.n_clusters_)])
    away = np.linalg.norm(rows[kept][:, None] - centers, axis=2)
    every = np.arange(kept.sum())
    own = away[every, labels[kept]]
    np.testing.assert_allclose(model.center_distance_[kept], own, rtol=1e-9, atol=1e-12)
    away[every, labels[kept]] = np.inf
    np.testing.assert_allclose(away[every, model.next_cluster_[kept]], away.min(axis=1), rtol=1e-9)
    ambiguity = own / (own + away.min(axis=1))
    np.testing.assert_allclose(model.ambiguity_[kept], ambiguity, rtol=1e-9, atol=1e-12)
    assert np.isnan(model.ambiguity_[~kept]).all() and (model.next_cluster_[~kept] == -1).all()


def test_standing(groups, fitted):
    check_standing(fitted)
    check_standing(DDSC(3, metric="precomputed").fit(ddsc.pairwise(groups)))
    alone = DDSC(1).fit(groups)
    assert (alone.ambiguity_ == 0).all() and (alone.next_cluster_ == -1).all()


def test_dropped_items_have_no_ambiguity(clouds):
    points, weights = clouds
    weights = [w * (i not in (3, 10)) for i, w in enumerate(weights)]
    model = DDSC(2, on_empty="drop", stability=2).fit(points, sample_weight=weights)
    check_standing(model)
    assert model.labels_[[3, 10]].tolist() == [-1, -1]
    assert not np.isin([3, 10], np.concatenate(model.representatives(30))).any()
    told = model.stability_
    assert told["labels"].shape == (2, 24) and (told["labels"][:, [3, 10]] == -1).all()
    assert told["n_changed"].shape == (24,) and told["other"][3] == -1


def test_representatives(fitted):
    typical = fitted.representatives(4)
    assert [len(t) for t in typical] == [4, 4, 4]
    for c, rows in enumerate(typical):
        members = np.flatnonzero(fitted.labels_ == c)
        distance = fitted.center_distance_
        assert set(rows) <= set(members) and (np.diff(distance[rows]) >= 0).all()
        assert distance[rows].max() <= np.sort(distance[members])[3]
    assert sum(len(t) for t in fitted.representatives(1000)) == 60
    assert [len(t) for t in fitted.representatives(0)] == [0, 0, 0]
    assert [len(t) for t in fitted.representatives()] == [6, 6, 6]
    for wrong in (-1, 2.5, "3", True):
        with pytest.raises(ValueError, match="n="):
            fitted.representatives(wrong)
    with pytest.raises(NotFittedError):
        DDSC(3).representatives()


def test_same_as_the_program(groups, fitted, program, tmp_path):
    groups.write(tmp_path / "in.npz")
    command = [program, "cluster", str(tmp_path / "in.npz"), "-k", "3", "--json"]
    done = subprocess.run(command + ["--stability", "4", "--quiet"], check=True, capture_output=True)
    result = json.loads(done.stdout)
    for cluster, typical in zip(result["clusters"], fitted.representatives()):
        assert [item["row"] for item in cluster["representatives"]] == typical.tolist()
        for item in cluster["borderline"]:
            assert item["next"] == fitted.next_cluster_[item["row"]]
            assert item["ambiguity"] == pytest.approx(fitted.ambiguity_[item["row"]], rel=1e-14)
    told = result["stability"]
    for name in ("sin_theta", "zeta", "edges_kept", "ari", "ami"):
        assert told["mean"][name] == pytest.approx(fitted.stability_["mean"][name], rel=1e-14)


def test_stability(groups, fitted):
    told = fitted.stability_
    assert len(told["rows"]) == 4 and told["labels"].shape == (4, 60)
    for row, labels in zip(told["rows"], told["labels"]):
        assert (labels != fitted.labels_).sum() == row["n_changed"]
        assert row["ari"] == pytest.approx(ddsc.adjusted_rand_score(fitted.labels_, labels))
        assert 0 <= row["sin_theta"] <= told["sin_limit"] * (1 + 1e-12)
        assert row["sin_theta"] <= row["direct_bound"] * (1 + 1e-9)
    changed = (told["labels"] != fitted.labels_).sum(axis=0)
    np.testing.assert_array_equal(told["n_changed"], changed)
    assert ((told["other"] == -1) == (changed == 0)).all()
    assert told["n_ever"] == (changed > 0).sum() and told["n_often"] == (changed > 2).sum()
    ari = [row["ari"] for row in told["rows"]]
    assert told["mean"]["ari"] == pytest.approx(np.mean(ari)) and told["worst"]["ari"] == min(ari)
    assert told["words"]
    again = DDSC(3, stability=4, n_jobs=1).fit(groups)
    np.testing.assert_array_equal(again.stability_["labels"], told["labels"])
    np.testing.assert_array_equal(again.ambiguity_, fitted.ambiguity_)
    assert again.stability_["rows"] == told["rows"]
    assert again.set_params(stability=None).fit(groups).stability_ is None


def test_wrong_stability(groups):
    for wrong in (0, -3, 2.5, "4"):
        with pytest.raises(ValueError, match="stability="):
            DDSC(3, stability=wrong).fit(groups)
    with pytest.raises(ValueError, match="precomputed"):
        DDSC(3, metric="precomputed", stability=2).fit(ddsc.pairwise(groups))


def test_pickle(fitted):
    other = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(other.ambiguity_, fitted.ambiguity_)
    np.testing.assert_array_equal(other.stability_["n_changed"], fitted.stability_["n_changed"])
    assert [t.tolist() for t in other.representatives()] == [
        t.tolist() for t in fitted.representatives()
    ]


def test_projection():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(50, 6)) * [5, 3, 1, 0.5, 0.2, 0.1] + 2
    xy = np.empty((50, 2))
    with Run(n_jobs=1) as run:
        run(_core.project, xy, rows)
        spread = np.linalg.svd(rows - rows.mean(axis=0), compute_uv=False)[:2]
        np.testing.assert_allclose(np.linalg.norm(xy - xy.mean(axis=0), axis=0), spread, rtol=1e-9)
        rows[3, 2] = np.nan
        with pytest.raises(ValueError, match="row 3, column 2 is nan"):
            run(_core.project, xy, rows)
        with pytest.raises(ValueError, match="0 rows"):
            run(_core.project, np.empty((0, 2)), rows)


def test_rooms_are_checked(groups):
    with Run(n_jobs=1) as run:
        found = run(_core.cluster, groups._handle, {}, {"tau": 5}, {"k_min": 3, "k_max": 3})
        n, few = 60, np.empty(59)
        with pytest.raises(ValueError, match="distance has 59 numbers, but 60 are required"):
            run(_core.standing, found, few, None, None)
        with pytest.raises((TypeError, ValueError), match="next"):
            run(_core.standing, found, None, None, np.empty(n))
        run(_core.standing, found, None, None, None)
        with pytest.raises(ValueError, match="n_resamples"):
            run(_core.stability, groups._handle, found, {}, {}, {"k_min": 3, "k_max": 3}, 0)


def test_outliers_get_label_minus_one():
    """Outliers are only marked by default, and excluded with the parameter `outliers`."""
    rng = np.random.default_rng(2)
    clouds = [rng.normal(size=(8, 3)) + 6 * np.eye(3)[i % 3] for i in range(60)]
    clouds[9] = clouds[9] + 50
    plain = ddsc.DDSC(n_clusters=3).fit(clouds)
    model = ddsc.DDSC(n_clusters=3, outliers=True).fit(clouds)
    assert np.flatnonzero(plain.outliers_).tolist() == [9] and (plain.labels_ >= 0).all()
    assert model.labels_[9] == -1 and (np.delete(model.labels_, 9) == np.delete(plain.labels_, 9)).all()
    assert model.predict(clouds)[9] == plain.labels_[9]
    assert np.isfinite(model.map_).all() and "<!DOCTYPE" in model.report()
    assert sum(c["size"] for c in model.explain()) == 59
    assert (model.items_["label"] == model.labels_).all()
    with_range = ddsc.DDSC(n_clusters=(2, 4), outliers=True).fit(clouds)
    assert (with_range.sweep_labels_[:, 9] == -1).all()
    truth = [i % 3 for i in range(60)]
    assert ddsc.adjusted_mutual_info_score(truth, model.labels_) == 1.0


def test_tree_by_brute_force():
    """Compares merges, heights and cuts with a direct computation from the affinity."""
    X = ddsc.make_gaussians(k=6, n=15, n_points=10, separation=2.5, random_state=4)
    model = ddsc.DDSC(n_clusters=6, metric="mmd").fit(X)
    A, total = model.affinity_matrix_.toarray(), model.affinity_matrix_.sum()
    groups = {c: model.labels_ == c for c in range(6)}
    labels = model.labels_.copy()
    assert model.tree_.shape == (5, 4) and (np.diff(model.tree_[:, 2]) >= 0).all()
    below = {c: 1 for c in range(6)}
    for m, (a, b, height, count) in enumerate(model.tree_):
        heights = {}
        for i in groups:
            for j in groups:
                if i < j:
                    chance = A[groups[i]].sum() * A[groups[j]].sum() / total
                    heights[i, j] = 1 / (1 + A[np.ix_(groups[i], groups[j])].sum() / chance)
        assert height == pytest.approx(min(heights.values()), rel=1e-9)
        assert heights[a, b] == pytest.approx(height, rel=1e-9)
        groups[6 + m] = groups.pop(a) | groups.pop(b)
        assert model.result_json()["tree"][m]["size"] == groups[6 + m].sum()
        below[6 + m] = below[a] + below[b]
        assert count == below[6 + m] <= 6  # SciPy 1.16 and later reject a count above the number of leaves
        cut = model.cut_tree(5 - m)
        assert len(np.unique(cut)) == 5 - m and ddsc.adjusted_rand_score(cut, sum(g * k for k, g in groups.items())) == 1
        if m + 1 == 5 or model.tree_[m + 1, 2] > height:
            assert (cut == model.cut_tree(height=height)).all()
    assert (model.cut_tree(6) == labels).all()
    for bad in ({}, {"n_clusters": 7}, {"n_clusters": 2, "height": 0.5}):
        with pytest.raises(ValueError):
            model.cut_tree(**bad)


def test_order_follows_a_gradient():
    rng = np.random.default_rng(1)
    place = rng.permutation(60)
    clouds = [rng.normal(size=(40, 2)) + [place[i] / 6, 0] for i in range(60)]
    model = ddsc.DDSC(n_clusters=2).fit(clouds)
    assert sorted(model.order_) == list(range(60))
    assert abs(np.corrcoef(model.order_, place)[0, 1]) > 0.97
    assert np.corrcoef(model.order_, np.arange(60))[0, 1] >= 0
    apart = ddsc.DDSC(n_clusters=2).fit([c + [1000 * (place[i] > 40), 0] for i, c in enumerate(clouds)])
    assert apart.n_components_ == 2
    for part in (place <= 40, place > 40):  # each along its own gradient, the larger first
        assert abs(np.corrcoef(apart.order_[part], place[part])[0, 1]) > 0.97
    assert apart.order_[place <= 40].max() == 40


def lonely(n=31, empty=12, far=3):
    """Return clouds of two classes, with one cloud far from all others and one without mass."""
    rng = np.random.default_rng(4)
    points = [rng.normal(size=(8, 2)) + [9 * (i % 2), 0] for i in range(n)]
    points[far] = points[far] + 70
    return points, [np.full(8, float(i != empty)) for i in range(n)]


@pytest.mark.parametrize("method", ["ddsc", "sc"])
def test_compressed_items_keep_their_rows(method):
    points, weights = lonely()
    ids = [f"item {i}" for i in range(31)]
    X = ddsc.Distributions(points, weights, ids=ids, on_empty="drop")
    models = [DDSC(2, method=method, outliers=True, compress=m).fit(X) for m in (4, None)]
    for model in models:
        assert len(model.labels_) == len(model.map_) == len(model.outliers_) == len(model.order_) == 31
        assert all(len(column) == 31 for column in model.items_.values())
        assert np.flatnonzero(model.outliers_).tolist() == [3]
        assert np.flatnonzero(model.labels_ < 0).tolist() == [3, 12]
        assert model.order_[12] == -1 and sorted(np.delete(model.order_, 12)) == list(range(30))
        assert model.items_["id"].tolist() == ids and (model.items_["label"] == model.labels_).all()
    short, whole = ({name: column[12] for name, column in model.items_.items()} for model in models)
    assert repr(short) == repr(whole)  # a dropped row is the same either way


@pytest.mark.parametrize("compress", [None, 4])
def test_a_saved_model_keeps_outliers_left_out(tmp_path, compress):
    points, weights = lonely()
    model = DDSC(2, outliers=True, on_empty="drop", compress=compress).fit(points, sample_weight=weights)
    model.save(tmp_path / "a.npz")
    loaded = DDSC.load(tmp_path / "a.npz")
    there = np.arange(31) != 12
    assert loaded.labels_[3] == -1 and (loaded.labels_ == model.labels_[there]).all()
    assert (loaded.predict(points[:9]) == model.predict(points[:9])).all()
    loaded.save(tmp_path / "b.npz")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    with pytest.raises(FileExistsError):
        model.save(tmp_path / "a.npz")
    model.save(tmp_path / "a.npz", overwrite=True)
    (tmp_path / "a.npz").chmod(0o600)
    model.save(tmp_path / "a.npz", overwrite=True)
    assert (tmp_path / "a.npz").stat().st_mode & 0o777 == 0o600
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.npz", "b.npz"]


def test_a_model_with_outliers_goes_where_one_without_goes(tmp_path):
    """Standard output and pipes are written to instead of being replaced."""
    points, _ = lonely()
    model = DDSC(2, outliers=True).fit(points)
    model.save(tmp_path / "a.npz")
    with open(tmp_path / "stdout.npz", "wb") as file:
        kept = os.dup(1)
        try:
            os.dup2(file.fileno(), 1)
            model.save("-")
        finally:
            os.dup2(kept, 1)
            os.close(kept)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "stdout.npz").read_bytes()
    assert not os.path.exists("-")
    model.save(os.devnull)
    assert not os.path.isfile(os.devnull)
    with pytest.raises(IsADirectoryError):
        model.save(tmp_path)


def test_the_program_reads_a_model_with_outliers(program, tmp_path):
    points, _ = lonely()
    model = DDSC(2, outliers=True).fit(points)
    model.save(tmp_path / "a.npz")
    ddsc.Distributions(points[:9]).write(tmp_path / "new.npz")
    command = [program, "assign", str(tmp_path / "a.npz"), str(tmp_path / "new.npz"), "--quiet"]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    assert [int(line.split(",")[1]) for line in lines[1:]] == model.predict(points[:9]).tolist()


def test_a_fit_forgets_the_method_before():
    X = ddsc.make_shapes(8)
    model = DDSC(2)
    for method in ("d2", "ddsc", "kmeans", "sc", "pd2", "ddsc"):
        model.set_params(method=method).fit(X)
        fresh = DDSC(2, method=method).fit(X)
        assert vars(model).keys() == vars(fresh).keys(), method
        assert hasattr(model, "inertia_") == hasattr(model, "centers_") == (method not in ("ddsc", "sc"))
    model.set_params(metric="precomputed").fit(ddsc.pairwise(X))
    assert vars(model).keys() == vars(DDSC(2, metric="precomputed").fit(ddsc.pairwise(X))).keys()


def test_what_is_missing_is_named(monkeypatch):
    X = ddsc.make_shapes(8)
    alone = DDSC(1).fit(X)
    assert not hasattr(alone, "order_") and (alone.cut_tree(1) == 0).all()
    with pytest.raises(AttributeError, match="n_clusters=1"):
        alone.order_
    means = DDSC(2, method="kmeans").fit(X)
    for ask in (lambda: means.cut_tree(1), lambda: means.cut_tree(height=0.9), lambda: means.tree_):
        with pytest.raises(AttributeError, match="method='kmeans' computes no graph, so there is no tree"):
            ask()
    many = DDSC(2).fit(X)
    monkeypatch.setattr(DDSC, "tree_", np.empty((0, 4)))  # as above 1,000 clusters
    many.n_clusters_ = 1001
    assert (many.cut_tree(1001) == many.labels_).all()
    for level in ({"n_clusters": 1}, {"height": 0.9}):
        with pytest.raises(ValueError, match="no tree of 1001 clusters"):
            many.cut_tree(**level)
    for wrong in ({"vectors_from": "zzz"}, {"barycenter": "qq"}):
        with pytest.raises(ValueError, match=f"{[*wrong][0]}=.*must be one of"):
            DDSC(2, **wrong).fit(X)


def test_score_with_fewer_clusters_than_asked():
    X = [np.array([[i % 2 * 1.0, i % 2 * 1.0]]) for i in range(20)]
    assert np.isfinite(DDSC(5).fit(X).score(X))


@pytest.mark.parametrize("name", ["a\0b", "two\nlines", "\ud800", "\x1b[31m"])
def test_names_are_one_line_of_text(name):
    model = DDSC(2).fit(ddsc.make_shapes())
    with pytest.raises(ValueError, match="one line"):
        model.name({1: name})
    assert "<html" in model.report()
