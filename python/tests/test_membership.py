"""Memberships: `membership_` and `predict_proba`."""
import pickle

import numpy as np
import pytest

import ddsc


def check(model, proba, labels):
    assert proba.shape == (len(labels), model.n_clusters_)
    known = np.isfinite(proba).all(axis=1)
    assert (known == (labels >= 0)).all()
    np.testing.assert_allclose(proba[known].sum(axis=1), 1)
    assert (proba[known, labels[known]] == proba[known].max(axis=1)).all()


@pytest.fixture
def documents(tmp_path):
    random = np.random.default_rng(0)
    words = [[f"{t}{k}" for k in range(30)] for t in "abc"]
    texts = [" ".join([*random.choice(words[i % 3], 7), *random.choice(["x", "y", "z", "v"], 2)]) for i in range(150)]
    (tmp_path / "d.tsv").write_text("text\n" + "\n".join(texts) + "\n")
    return ddsc.read_text(tmp_path / "d.tsv")


@pytest.mark.parametrize("settings", [{}, {"metric": "mmd"}, {"method": "sc"}, {"compress": 3}, {"n_clusters": (2, 4)}])
def test_items(settings):
    X = ddsc.make_shapes()
    model = ddsc.DDSC(**{"n_clusters": 3, **settings}).fit(X)
    check(model, model.membership_, model.labels_)
    if "method" not in settings:
        check(model, model.predict_proba(X[:7]), model.predict(X[:7]))


def test_documents(documents, tmp_path):
    model = ddsc.DDSC(n_clusters=3, random_state=0).fit(documents)
    assert model.result_json()["refinement"]["moved"] >= 0
    check(model, model.membership_, model.labels_)
    np.testing.assert_array_equal(model.predict(documents), model.labels_)
    np.testing.assert_allclose(model.predict_proba(documents), model.membership_, rtol=1e-12)
    model.save(tmp_path / "m.npz")
    loaded = ddsc.DDSC.load(tmp_path / "m.npz")
    np.testing.assert_array_equal(loaded.predict_proba(documents), model.predict_proba(documents))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).membership_, model.membership_)


def test_counts_follow_the_documents(documents, tmp_path):
    half = documents[:100]
    again = pickle.loads(pickle.dumps(half))
    one, two, off = (ddsc.DDSC(n_clusters=3, refine=r).fit(x) for r, x in
                     (("words", half), ("words", again), ("off", half)))
    np.testing.assert_array_equal(one.labels_, two.labels_)
    spectral = one.items_["spectral_label"]
    assert len(set(zip(spectral.tolist(), off.labels_.tolist()))) == 3
    with pytest.raises(ValueError, match="word counts"):
        ddsc.DDSC(n_clusters=2, refine="words").fit(ddsc.make_shapes())
    with pytest.raises(ValueError, match="refine='some'"):
        ddsc.DDSC(n_clusters=2, refine="some").fit(half)


def test_precomputed_has_memberships_but_no_new_items():
    X = ddsc.make_shapes()
    model = ddsc.DDSC(n_clusters=2, metric="precomputed").fit(ddsc.pairwise(X))
    check(model, model.membership_, model.labels_)
    with pytest.raises(ValueError, match="precomputed"):
        model.predict_proba(np.ones((1, len(X))))
