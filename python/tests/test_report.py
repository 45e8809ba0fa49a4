"""Tests of the report of a fit, whose text is the same as in the program's report."""

import html
import json
import pickle
import re
import subprocess

import numpy as np
import pytest

import ddsc
from ddsc import DDSC
from ddsc._base import NotFittedError

TIMES = ("command", "input", "threads", "seconds", "plan", "program")


def without_times(told):
    return {k: v for k, v in told.items() if k not in TIMES}


def page_without_times(page):
    """Return the page without file names, the command and times."""
    page = re.sub(r'<p class="faint">.*?</p>', "", page, count=1)
    page = re.sub(r"<li><b>[^<]*</b>seconds</li>", "", page)
    page = re.sub(r"<h2>Command to reproduce this result</h2>\s*<pre>.*?</pre>\n", "", page, flags=re.S)
    return re.sub(r"<h2>Seconds by stage</h2>.*?</table></div>", "", page, flags=re.S)


def test_a_notebook_shows_the_page_in_a_frame():
    page = DDSC(n_clusters=2).fit(ddsc.make_shapes()).report()
    shown = page._repr_html_()
    assert isinstance(page, str) and page.startswith("<!DOCTYPE html>")
    inside = re.fullmatch(r'<iframe srcdoc="([^"]*)" [^<>]*></iframe>', shown).group(1)
    assert html.unescape(inside) == page and "allow-same-origin" not in shown
    assert pickle.loads(pickle.dumps(page)) == page


@pytest.fixture(scope="module")
def groups():
    X = ddsc.make_gaussians(k=3, n=10, n_points=8, separation=3.0, random_state=1)
    odd = ["<b>&\"'", "</script>", *(f"item {i}" for i in range(2, len(X)))]
    return ddsc.Distributions([X[i][0] for i in range(len(X))], ids=odd, labels=np.repeat([4, 5, 7], 10))


@pytest.mark.parametrize("metric", ["w2", "mmd"])
def test_the_same_as_the_program(program, groups, tmp_path, metric):
    groups.write(tmp_path / "set.npz")
    words = [program, "cluster", "set.npz", "-k", "3", "--metric", metric, "--tau", "5", "-o", "out", "-q"]
    subprocess.run(words, cwd=tmp_path, check=True)
    model = DDSC(3, metric=metric, n_neighbors=5).fit(ddsc.read(tmp_path / "set.npz"))
    wanted = json.loads((tmp_path / "out" / "result.json").read_text())
    assert without_times(model.result_json()) == without_times(wanted)
    stages, of_program = ([r["stage"] for r in told["seconds"]["stages"]] for told in (model.result_json(), wanted))
    assert set(stages) < set(of_program) and not {"distances", "eigenvectors", "verdict"} - set(stages)
    assert "start" in of_program and "start" not in stages  # a process of Python's did other things before
    wanted = (tmp_path / "out" / "report.html").read_text()
    assert page_without_times(model.report()) == page_without_times(wanted)


def test_a_page_over_several_k_is_the_programs(program, tmp_path):
    """The page contains the data for the slider over K, the neighbors and the heat map."""
    clouds = np.random.default_rng(2).normal(size=(40, 8, 2)) + 5 * (np.arange(40) % 2)[:, None, None]
    clouds[3] += 70
    ddsc.Distributions(clouds).write(tmp_path / "set.npz")
    words = [program, "cluster", "set.npz", "-k", "2:4", "--outliers", "-o", "out", "-q"]
    subprocess.run(words, cwd=tmp_path, check=True)
    model = DDSC((2, 4), outliers=True).fit(ddsc.read(tmp_path / "set.npz"))
    wanted = (tmp_path / "out" / "report.html").read_text()
    assert page_without_times(model.report()) == page_without_times(wanted)


def test_ids_and_labels_of_python(groups, tmp_path):
    model = DDSC(3, n_neighbors=5, stability=2).fit(groups)
    told = model.result_json()
    assert told["scores"]["ami"] == pytest.approx(ddsc.adjusted_mutual_info_score(groups.labels, model.labels_))
    assert told["scores"]["confusion"]["classes"] == ["4", "5", "7"]
    assert told["stability"]["resamples"] == 2 and told["seed"] == 0
    shown = {item["id"] for c in told["clusters"] for item in c["representatives"] + c["borderline"]}
    assert shown <= set(groups.ids)
    page = model.report(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == page
    assert page.count("<script") == 2 and "<b>&\"" not in page
    with pytest.raises(FileExistsError):
        model.report(tmp_path / "page.html")
    model.report(tmp_path / "page.html", overwrite=True)


def test_dropped_items_and_matrices(groups):
    weights = [np.full(8, i not in (0, 7)) for i in range(30)]
    dropped = DDSC(3, n_neighbors=4, on_empty="drop").fit([groups[i][0] for i in range(30)], sample_weight=weights)
    assert dropped.result_json()["n"] == 30 and dropped.result_json()["sizes"]["items"] == 28
    assert "<canvas" in dropped.report()
    matrix = DDSC(3, metric="precomputed", n_neighbors=4).fit(ddsc.pairwise(groups))
    assert "metric" not in matrix.result_json()["settings"]
    assert "<canvas" in matrix.report()


def test_pickled(groups):
    model = DDSC(3, n_neighbors=5).fit(groups)
    again = pickle.loads(pickle.dumps(model))
    assert again.result_json() == model.result_json()
    assert again.report() == model.report()


def test_before_fit():
    with pytest.raises(NotFittedError):
        DDSC().report()
    with pytest.raises(NotFittedError):
        DDSC().result_json()


def test_what_was_read_is_never_overwritten(tmp_path):
    """A derived set, a model or a page does not overwrite the input file either, under any of its names."""
    ddsc.make_shapes(6, 10).write(tmp_path / "a.npz")
    ddsc.make_shapes(6, 10).write(tmp_path / "folder.csv")
    (tmp_path / "many").mkdir()
    (tmp_path / "folder.csv").rename(tmp_path / "many" / "b.csv")
    (tmp_path / "link.npz").symlink_to("a.npz")
    given = {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
    X = ddsc.read(tmp_path / "link.npz")
    model = DDSC(n_clusters=2).fit(X)
    many = ddsc.read(tmp_path / "many")
    for name in ("a.npz", "link.npz"):
        for made in (X, X.compress(4), X.subset([0, 1]), X.transformed(pca=1), X.described(titles=["t"] * len(X))):
            with pytest.raises(ValueError, match="was read from this file"):
                made.write(tmp_path / name, overwrite=True)
        for write in (model.report, model.save):
            with pytest.raises(ValueError, match="was read from this file"):
                write(tmp_path / name, overwrite=True)
    with pytest.raises(ValueError, match="was read from this file"):
        many.write(tmp_path / "many" / "b.csv", overwrite=True)
    assert {p: p.read_bytes() for p in given} == given
    X.write(tmp_path / "c.npz")
    X.write(tmp_path / "c.npz", overwrite=True)
    many.write(tmp_path / "many" / "c.npz")
    model.report(tmp_path / "page.html")
    assert str(tmp_path).encode() not in pickle.dumps(model)  # which may go elsewhere


def test_companions_of_what_was_read_are_never_overwritten(tmp_path):
    (tmp_path / ".a.d2").write_text("0 2 0.5 0.5 1 2\n0 1 1 2\n")
    (tmp_path / ".a.vocab0").write_text("1 2\n3 4\n")
    (tmp_path / "docs.tsv").write_text("label\ttext\n" + "a\tthe cat\nb\ta dog\n" * 3)
    np.save(tmp_path / "v.npy.npy", np.eye(4))
    (tmp_path / "v.npy.txt").write_text("the\ncat\na\ndog\n")
    tables = ddsc.read(tmp_path / ".a.d2")
    texts = ddsc.read_text(tmp_path / "docs.tsv", tmp_path / "v.npy.npy", words="general")
    for X, name in ((tables, ".a.vocab0"), (texts, "v.npy.txt"), (texts, "v.npy.npy"), (texts, "docs.tsv")):
        before = (tmp_path / name).read_bytes()
        with pytest.raises(ValueError, match="was read from this file"):
            X.write(tmp_path / name, overwrite=True)
        assert (tmp_path / name).read_bytes() == before
