"""Runs scikit-learn's estimator checks, and uses the package with its tools."""

import numpy as np
import pytest

import ddsc

sklearn = pytest.importorskip("sklearn")

from sklearn.base import clone  # noqa: E402
from sklearn.cluster import KMeans  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.model_selection import GridSearchCV  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.utils.estimator_checks import parametrize_with_checks  # noqa: E402

POINTS = "sample_weight weighs the points of an item, not the items: an (N, d) array has one point each"

# Checks that do not apply, and why.
EXCEPTIONS = {
    "check_sample_weights_invariance": POINTS,
    "check_sample_weight_equivalence": POINTS,
    "check_sample_weight_equivalence_on_dense_data": POINTS,
    "check_sample_weights_pandas_series": POINTS,
    "check_sample_weights_not_an_array": POINTS,
    "check_sample_weights_list": POINTS,
    "check_sample_weights_shape": POINTS,
    "check_sample_weights_not_overwritten": POINTS,
}


@parametrize_with_checks(
    [
        ddsc.DDSC(n_clusters=2, n_neighbors=5, n_jobs=1),
        ddsc.LinearOT(reference_size=3, n_jobs=1),
    ]
)
def test_estimator_checks(estimator, check):
    name = getattr(check, "func", check).__name__
    if name in EXCEPTIONS:
        pytest.xfail(EXCEPTIONS[name])
    check(estimator)


def test_clone_and_kind():
    model = ddsc.DDSC(3, metric="mmd", bandwidth=0.5, callback=None)
    again = clone(model)
    assert again is not model and again.get_params() == model.get_params()
    assert isinstance(model, sklearn.base.BaseEstimator)
    assert isinstance(model, sklearn.base.ClusterMixin)
    assert getattr(sklearn.base, "is_clusterer", lambda _: True)(model)
    fitted = ddsc.DDSC(2, n_neighbors=3).fit(ddsc.make_shapes(5))
    assert not hasattr(clone(fitted), "labels_")
    assert "DDSC" in model._repr_html_()


def test_pipelines():
    X = ddsc.make_gaussians(k=3, n=15)
    labels = make_pipeline(ddsc.LinearOT(), KMeans(3, n_init=5, random_state=0)).fit_predict(X)
    assert ddsc.adjusted_rand_score(X.labels, labels) == 1
    search = GridSearchCV(
        make_pipeline(ddsc.LinearOT(n_jobs=1), LogisticRegression()),
        {"linearot__reference_size": [2, 8], "linearot__reference": ["normal", "kmeans"]},
        cv=3,
    )
    items = [p for p, _ in X]
    search.fit(items, X.labels)
    assert search.best_score_ > 0.9
    nested = clone(search.best_estimator_).set_params(linearot__reference_size=4)
    assert nested.fit(items, X.labels).score(items, X.labels) > 0.9


def test_against_spectral_clustering_of_vectors():
    """Items with a single point have the same clusters as the points in scikit-learn."""
    from sklearn.datasets import make_blobs

    X, y = make_blobs(90, centers=3, cluster_std=0.4, random_state=0)
    assert ddsc.adjusted_rand_score(y, ddsc.DDSC(3).fit_predict(X)) == pytest.approx(1)


def test_affinity_goes_into_other_tools():
    from sklearn.neighbors import sort_graph_by_row_values

    X = ddsc.make_gaussians(k=2, n=10)
    G = ddsc.neighbors(X, 5)
    assert sort_graph_by_row_values(G, warn_when_not_sorted=True).nnz == 100
    assert np.all(np.diff(G.indptr) == 5)
