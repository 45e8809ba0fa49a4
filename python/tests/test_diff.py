"""Tests of ddsc.diff for models and for folders."""

import csv
import json
import os
import pathlib
import subprocess

import numpy as np
import pytest

import ddsc

FORMER = pathlib.Path(__file__).resolve().parents[2] / "tests" / "data" / "v0.2.0"


def clouds(places, seed=0):
    random = np.random.default_rng(seed)
    return [random.normal(at, 0.3, (20, 2)) for at in places]


PLACES = [(0, 0)] * 12 + [(9, 0)] * 10 + [(9, 3)] * 10
IDS = [f"s{i:02}" for i in range(32)]


@pytest.fixture(scope="module")
def pair():
    first = ddsc.DDSC(2).fit(ddsc.Distributions(clouds(PLACES), ids=IDS))
    places = [(9, 0)] + PLACES[1:30] + [(0, 20)] * 10
    second = ddsc.Distributions(clouds(places, 1), ids=IDS[:30] + [f"n{i}" for i in range(10)])
    return first, ddsc.DDSC(4).fit(second)


def test_what_changed(pair):
    found = ddsc.diff(*pair)
    a, b = (dict(zip(m.items_["id"], m.labels_)) for m in pair)
    shared = [i for i in a if i in b]
    assert found.counts["added"] == 10 and found.counts["removed"] == 2 and found.counts["moved"] == 1
    assert found.scores["ari"] == pytest.approx(
        ddsc.adjusted_rand_score([a[i] for i in shared], [b[i] for i in shared]))
    kinds = list(found.clusters["kind"])
    assert kinds.count("split") == 1 and kinds.count("new") == 1
    moves = found.moves
    assert set(moves["id"]) == {i for i in shared if not _stays(found, a[i], b[i])}
    assert sum(found.flows["items"]) == 42 and "k" in list(found.settings["name"])
    assert repr(found).startswith("first (32 items, 2 clusters) -> second (40 items, 4 clusters)")


def _stays(found, before, after):
    return found.result_json()["second"]["clusters"][after]["same_as"] == before


def test_html_and_page(pair, tmp_path):
    first, second = pair
    first.name({0: "<b>zero</b>"})
    found = ddsc.diff(first, second)
    shown = found._repr_html_()
    assert "&lt;b&gt;" in shown and "<b>zero" not in shown and "is new: 10 items" in shown
    page = found.report(tmp_path / "changes.html")
    assert (tmp_path / "changes.html").read_text(encoding="utf-8") == page and '<svg class="flows"' in page
    with pytest.raises(FileExistsError):
        found.report(tmp_path / "changes.html")
    first.name({0: ""})


def test_models_and_folders_agree_with_the_program(pair, tmp_path):
    program = os.environ.get("DDSC")
    if not program:
        pytest.skip("needs the program")
    for name, k in ("a", 3), ("b", 4):
        with open(tmp_path / f"{name}.csv", "w", newline="") as file:
            out = csv.writer(file)
            out.writerow(["id", "x", "y"])
            out.writerows([i, *row] for i, cloud in zip(IDS, clouds(PLACES)) for row in cloud)
        subprocess.run([program, "cluster", tmp_path / f"{name}.csv", "-k", str(k), "-o", tmp_path / name, "-q"], check=True)
    said = subprocess.run([program, "diff", tmp_path / "a", tmp_path / "b", "--json"], check=True, capture_output=True)
    both = ddsc.diff(tmp_path / "a", str(tmp_path / "b"))
    assert both.result_json() == json.loads(said.stdout)
    mixed = ddsc.diff(ddsc.DDSC(3).fit(ddsc.Distributions(clouds(PLACES), ids=IDS)), tmp_path / "b")
    assert mixed.counts == both.counts and list(mixed.moves["id"]) == list(both.moves["id"])
    loaded = ddsc.diff(ddsc.DDSC.load(tmp_path / "a"), tmp_path / "a")
    assert loaded.counts["same"] == 32
    with pytest.raises(ValueError, match="both results are the folder"):
        ddsc.diff(tmp_path / "a", tmp_path / "a" / ".")


def test_baselines_keep_their_ids(pair):
    X = ddsc.Distributions(clouds(PLACES), ids=IDS)
    assert ddsc.diff(ddsc.DDSC(2, method="kmeans").fit(X), pair[0]).counts["same"] == 32


def test_row_numbers_warn():
    X = clouds(PLACES)
    with pytest.warns(UserWarning, match="row numbers"):
        assert ddsc.diff(ddsc.DDSC(2).fit(X), ddsc.DDSC(2).fit(X)).counts["same"] == 32


def test_former_version(pair):
    assert ddsc.diff(FORMER / "documents", ddsc.DDSC.load(FORMER / "documents")).scores["ami"] == pytest.approx(1)
    with pytest.raises(ValueError, match="no item in common"):
        ddsc.diff(FORMER / "documents", pair[0])


def test_wrong_arguments(pair, tmp_path):
    with pytest.raises(ValueError, match="fitted DDSC or a folder as the second"):
        ddsc.diff(pair[0], ddsc.DDSC())
    with pytest.raises(ValueError, match="result.json"):
        ddsc.diff(pair[0], tmp_path)
    with pytest.raises(ValueError, match="first result"):
        ddsc.diff(None, pair[0])


def test_plot(pair, tmp_path):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    found = ddsc.diff(*pair)
    _, ax = plt.subplots()
    assert ddsc.plot.diff(found, ax=ax) is ax
    assert len(ax.collections) == len(found.flows["items"])
    words = [t.get_text() for t in ax.texts]
    assert "absent (10)" in words and len(words) == 3 + 5
    assert len(ddsc.plot.diff(*pair).collections) == len(ax.collections)
    with pytest.raises(ValueError, match="either a Diff"):
        ddsc.plot.diff(pair[0])
    plt.close("all")


def test_over():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import datetime

    import matplotlib.pyplot as plt

    model = ddsc.DDSC(3).fit(ddsc.Distributions(clouds(PLACES), ids=IDS))
    days = [datetime.date(2024, 1 + i % 4, 2) for i in range(32)]
    days[3] = None
    ax = ddsc.plot.over(model, days)
    assert [t.get_text() for t in ax.get_xticklabels()] == [f"2024-{m:02}-02" for m in range(1, 5)]
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["cluster 0", "cluster 1", "cluster 2"]
    shares = np.array([box.lines[0].get_ydata() for box in ax.containers])
    np.testing.assert_allclose(shares.sum(axis=0), 1)
    kept = [i for i in range(32) if i % 4 == 1]
    np.testing.assert_allclose(shares[:, 1], [np.mean(model.labels_[kept] == c) for c in range(3)])
    with pytest.raises(ValueError, match="no metadata column 'when'"):
        ddsc.plot.over(model, "when")
    with pytest.raises(ValueError, match="5 values for 32 items"):
        ddsc.plot.over(model, list("abcde"))
    with pytest.raises(ValueError, match="one distinct value"):
        ddsc.plot.over(model, ["a"] * 32)
    plt.close("all")
