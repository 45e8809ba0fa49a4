"""Tests that tables have the same numbers as items.csv, the report and `explain`, with and without pandas."""

import html
import subprocess
import sys

import numpy as np
import pytest

import ddsc
from ddsc._frames import Table, typed


@pytest.fixture(scope="module")
def cells():
    X = ddsc.datasets.load_cells(8, 40)
    meta = {"age": [20 + i for i in range(16)], "plate": [f"0{i % 3}" for i in range(16)], "label": ["x"] * 16}
    X = X.described(meta=meta)
    return X, ddsc.DDSC(2, n_jobs=1).fit(X)


def test_items_frame(cells):
    pd = pytest.importorskip("pandas")
    X, model = cells
    frame = model.items_frame()
    assert isinstance(frame, pd.DataFrame) and len(frame) == 16
    assert list(frame.columns[:5]) == ["id", "label", "next", "ambiguity", "order"]
    assert {"neighbor1", "distance3"} <= set(frame.columns) and not any("neighbour" in c for c in frame.columns)
    assert frame["id"].tolist() == X.ids and (frame["label"] == model.labels_).all()
    np.testing.assert_array_equal(frame["ambiguity"], model.ambiguity_)
    nearest = [X.ids[model.graph_.indices[model.graph_.indptr[i]]] for i in range(16)]
    assert frame["neighbor1"].tolist() == nearest
    assert frame["age"].dtype == np.int64 and frame["age"].tolist() == list(range(20, 36))
    assert frame["plate"].tolist()[:3] == ["00", "01", "02"]  # not numbers: the zero would be lost
    assert frame["meta:label"].tolist() == ["x"] * 16  # "label" is the cluster


def test_clusters(cells):
    pytest.importorskip("pandas")
    X, model = cells
    frame = model.clusters_
    labels = model.labels_
    assert frame["size"].tolist() == np.bincount(labels).tolist() and frame["share"].sum() == pytest.approx(1)
    assert frame["name"].tolist() == model.names_
    for c in range(2):
        mine = labels == c
        assert frame["ambiguity"][c] == pytest.approx(model.ambiguity_[mine].mean())
        assert frame["typical"][c] == X.ids[model.representatives(1)[c][0]]
        names, counts = np.unique(np.asarray(X.labels)[mine], return_counts=True)
        assert frame["class"][c] == names[counts.argmax()]
        assert frame["class_share"][c] == counts.max() / mine.sum()
    assert "class" not in ddsc.DDSC(2).fit(ddsc.pairwise(X)).clusters_
    with pytest.raises(AttributeError, match="not fitted"):
        ddsc.DDSC(2).clusters_


def test_explain_frame(cells):
    pytest.importorskip("pandas")
    _, model = cells
    frame, told = model.explain_frame(), model.explain()
    assert len(frame) == sum(len(cluster["markers"]) for cluster in told)
    first = frame[(frame["cluster"] == 1) & (frame["rank"] == 1)].iloc[0]
    assert first["marker"] == told[1]["markers"][0]["name"] and first["effect"] == told[1]["markers"][0]["effect"]
    assert first["name"] == model.names_[1] and first["size"] == told[1]["size"]
    words = ddsc.DDSC(5).fit(ddsc.datasets.load_documents())
    frame = words.explain_frame()
    assert list(frame.columns[4:]) == ["word", "share", "elsewhere", "items"]
    assert frame["word"][0] == words.explain()[0]["words"][0]["word"]
    plain = ddsc.DDSC(2, metric="precomputed").fit(ddsc.pairwise(ddsc.make_shapes(5))).explain_frame()
    assert len(plain) == 0 and list(plain.columns[:2]) == ["cluster", "name"]


def names_in_report(model):
    """Return the names of the clusters in the answer to "What are they?"."""
    page = model.report()
    answer = page[page.index("What are they?") :]
    answer = answer[: answer.index("</dd>")]
    parts = answer.split('<a href="#cluster-')[1:]
    return [html.unescape(part[part.index(">") + 1 : part.index("</a>")]) for part in parts]


def test_names_are_those_of_the_report(cells):
    _, model = cells
    digits = ddsc.DDSC(6, n_jobs=1).fit(ddsc.datasets.load_digits()[:120])
    documents = ddsc.DDSC(5, n_jobs=1).fit(ddsc.datasets.load_documents())
    plain = ddsc.DDSC(2, n_jobs=1).fit(ddsc.make_shapes(6))
    for fitted in (model, digits, documents, plain):
        assert fitted.names_ == names_in_report(fitted) and len(fitted.names_) == fitted.n_clusters_
    assert any(name.endswith(")") for name in digits.names_)  # the same markers twice
    assert plain.names_ == ["cluster 0", "cluster 1"]
    plain.name({1: "a <b> & c"})
    assert plain.names_ == ["cluster 0", "a <b> & c"] == names_in_report(plain)
    plain.name({0: "same", 1: "same"})
    assert plain.names_ == ["same (0)", "same (1)"] == names_in_report(plain)
    assert plain.explain()[0]["name"] == "same"


def test_baselines_and_dropped_items():
    pytest.importorskip("pandas")
    items = [np.random.default_rng(i).normal(i % 2 * 6, 1, (8, 2)) for i in range(20)] + [np.zeros((0, 2))]
    X = ddsc.Distributions(items, on_empty="drop", labels=["a", "b"] * 10 + ["a"])
    kmeans = ddsc.DDSC(2, method="kmeans").fit(X).clusters_
    assert kmeans["size"].tolist() == [10, 10] and np.isnan(kmeans["ambiguity"]).all()
    frame = ddsc.DDSC(2).fit(X).items_frame()
    assert len(frame) == 21 and frame["label"].tolist()[-1] == -1 and np.isnan(frame["ambiguity"].iloc[-1])
    one = ddsc.DDSC(1).fit(X)
    assert one.names_ == ["cluster 0"] and len(one.clusters_) == 1


def test_types_of_metadata():
    assert typed(np.array(["1", "-2", "30"])).dtype == np.int64
    assert typed(np.array(["1", "", "2.5e3"])).tolist()[::2] == [1, 2500]
    for texts in (["007", "1"], ["1e", "2"], ["nan", "1"], ["", ""], ["12345678901234567890x"]):
        assert typed(np.array(texts)).tolist() == texts


def test_tables_without_pandas():
    table = Table({"cluster": np.arange(12), "name": np.array(["<i>"] * 12, dtype=object)})
    assert table.columns == ["cluster", "name"] and len(table) == 12 and table.shape == (12, 2)
    assert list(table) == ["cluster", "name"] and table["cluster"][3] == 3
    assert "and 2 more rows" in repr(table) and "&lt;i&gt;" in table._repr_html_() and "<i>" not in table._repr_html_()
    code = (
        "import sys; sys.modules['pandas'] = None\n"
        "import ddsc; m = ddsc.DDSC(2).fit(ddsc.make_shapes(5))\n"
        "print(m.items_frame().columns[:2], len(m.clusters_), m.explain_frame().columns[0], len(m._repr_html_()) > 500)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['id', 'label'] 2 cluster True"
