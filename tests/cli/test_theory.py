"""cluster --stability and --truth: compares the values in result.json with the formulas."""
import csv
import json

import numpy as np
import pytest
from scipy.io import mmread

from conftest import clouds


@pytest.fixture(scope="module")
def noisy(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "noisy.npz"
    np.savez(path, **clouds(3, 15, 6, 2, 4, separation=1.0))
    return path


def rows(path):
    with open(path) as lines:
        return list(csv.DictReader(lines))


def test_separated(ddsc, three_groups, tmp_path):
    done = ddsc("cluster", three_groups, "-k", 3, "--stability", 4, "-v", "-o", tmp_path / "r")
    assert "stability    ARI 1.000" in done.stdout
    assert "4 resamples: the ARI between the labels is 1.000" in done.stderr
    result = json.loads((tmp_path / "r" / "result.json").read_text())
    found = result["stability"]
    assert found["resamples"] == len(found["runs"]) == 4 and result["settings"]["stability"] == 4
    assert found["items_ever_changed"] == 0 and found["worst"]["ari"] == 1
    assert found["worst"]["sin_theta"] < found["sin_limit"] / 2
    assert found["worst"]["sin_theta"] <= found["worst"]["direct_bound"]
    assert found["theorem_vacuous"] is True and found["worst"]["theorem_bound"] is None
    table = rows(tmp_path / "r" / "stability.csv")
    assert len(table) == 45 and all(r["changed"] == "0" and r["other"] == "" for r in table)
    assert result["theory"]["connected"] is True and result["theory"]["theorem_2"]["holds"] is False


def test_noisy(ddsc, noisy, three_groups, tmp_path):
    ddsc("cluster", noisy, "-k", 3, "--stability", 6, "-o", tmp_path / "r", "-q")
    found = json.loads((tmp_path / "r" / "result.json").read_text())["stability"]
    calm = json.loads(ddsc("cluster", three_groups, "-k", 3, "--stability", 6, "--json").stdout)
    assert found["mean"]["ari"] < 0.9 < calm["stability"]["mean"]["ari"]
    assert found["mean"]["sin_theta"] > calm["stability"]["mean"]["sin_theta"]
    table = rows(tmp_path / "r" / "stability.csv")
    changed = [int(r["changed"]) for r in table]
    assert sum(changed) == sum(r["items_changed"] for r in found["runs"])
    assert sum(c > 0 for c in changed) == found["items_ever_changed"]
    assert sum(2 * c > 6 for c in changed) == found["items_often_changed"]
    for r, c in zip(table, changed):
        assert float(r["fraction"]) == pytest.approx(c / 6)
        assert (r["other"] != "") == (c > 0) and r["other"] != r["label"]


@pytest.mark.parametrize("metric", ["w2", "w1", "sinkhorn", "mmd", "lot"])
def test_same_bytes(ddsc, noisy, tmp_path, metric):
    texts = []
    for threads in (1, 2):
        out = tmp_path / str(threads)
        ddsc("cluster", noisy, "-k", 3, "--metric", metric, "--stability", 2, "-o", out, "-q", "-j", threads)
        result = json.loads((out / "result.json").read_text())
        for key in ("command", "threads", "seconds"):
            result.pop(key)
        texts.append((json.dumps(result), (out / "stability.csv").read_bytes()))
    assert texts[0] == texts[1]


def test_neighbor_sets(ddsc, noisy, tmp_path):
    """Return counts, tolerance and components, computed from graph.mtx with NumPy."""
    from scipy.sparse.csgraph import connected_components
    ddsc("cluster", noisy, "-k", 3, "--gamma", 0.7, "--tau", 5, "--stability", 1, "-o", tmp_path / "r", "-q")
    graph = mmread(tmp_path / "r" / "graph.mtx").tocsc()
    truth = np.load(noisy)["labels"]
    theory = json.loads((tmp_path / "r" / "result.json").read_text())["theory"]
    weights = graph.copy()
    weights.data = np.exp(-0.7 * graph.data)
    a = ((weights + weights.T) / 2).toarray()  # Theorem 2 is about this matrix, not about the lists
    xi, intra_all, inter_all = [], [], []
    for i in range(len(truth)):
        listed = graph.indices[graph.indptr[i]:graph.indptr[i + 1]]
        intra_all.append((truth[listed] == truth[i]).sum())
        inter_all.append((truth[listed] != truth[i]).sum())
        own = (truth == truth[i]) & (a[i] > 0)
        xi.append((a[i][own].min() if own.any() else 0) - a[i][truth != truth[i]].max())
    assert theory["intra_neighbors"] == sum(intra_all) and theory["inter_neighbors"] == sum(inter_all)
    assert theory["xi"] == pytest.approx(min(xi), rel=1e-9)
    assert theory["items_with_positive_xi"] == sum(x > 0 for x in xi)
    assert theory["components"] == connected_components(graph, directed=False)[0]
    assert theory["classes"] == 3
    table = rows(tmp_path / "r" / "stability.csv")
    assert [int(r["intra"]) for r in table] == intra_all and [int(r["inter"]) for r in table] == inter_all
    assert np.allclose([float(r["xi"]) for r in table], xi)


@pytest.mark.parametrize("words, holds", [(["--tau", 7, "--gamma", 0.01], True), (["--tau", 7, "--gamma", 50], False),
                                          (["--tau", 9, "--gamma", 0.01], False)])
def test_theorem_2(ddsc, tmp_path, words, holds):
    """Complete clusters of 8 items. A large gamma makes zeta exceed xi / 2; more than 7 neighbors connect the clusters."""
    ddsc("generate", "gaussians", "--clusters", 2, "--items", 8, "--points", 200, "--separation", 20, "-o", tmp_path / "X.npz")
    done = json.loads(ddsc("cluster", tmp_path / "X.npz", "-k", 2, *words, "--paper", "--stability", 3, "--json").stdout)
    theorem = done["theory"]["theorem_2"]
    assert theorem["holds"] is holds
    assert theorem["zeta"] == done["stability"]["worst"]["zeta"] and theorem["zeta_allowed"] == done["theory"]["xi"] / 2
    components = words[1] == 7
    assert theorem["resamples_with_k_components"] == (3 if components else 0) and done["theory"]["connected"] is components
    assert holds == (components and theorem["zeta"] <= theorem["zeta_allowed"])


def test_lemmas(ddsc, noisy):
    """The bounds hold, every run has its number of components, and Lemma 1 has its constants."""
    done = json.loads(ddsc("cluster", noisy, "-k", 3, "-m", "sinkhorn", "--epsilon", 1, "--stability", 3, "--paper",
                           "--json").stdout)
    found, theorem = done["stability"], done["theory"]["theorem_2"]
    for run in found["runs"]:
        assert 0 < run["similarity_change"] <= run["lemma_2_bound"]
        assert run["laplacian_largest"] <= (run["lemma_3_bound"] or np.inf)
        assert run["components_equal_k"] == (run["components"] == 3)
    assert theorem["resamples_with_k_components"] == sum(run["components_equal_k"] for run in found["runs"])
    points = np.load(noisy)["points"]
    size = np.linalg.norm(np.ptp(points, axis=0))
    one = found["lemma_1"]
    assert one["kappa"] == pytest.approx(5 * size**2) and one["epsilon"] == 1
    assert one["log10_E"] == pytest.approx(np.log10(np.sqrt(2 / one["m"])) + one["kappa"] / np.log(10), rel=1e-2)


def test_dropped_rows(ddsc, with_empty, tmp_path):
    ddsc("cluster", with_empty, "-k", 2, "--on-empty", "drop", "--stability", 2, "-o", tmp_path / "r", "-q")
    table = rows(tmp_path / "r" / "stability.csv")
    assert len(table) == 24 and [r["label"] for r in table].count("-1") == 2
    assert table[0]["changed"] == "" and table[7]["changed"] == "" and table[1]["changed"] == "0"
    assert table[7]["intra"] == "" and table[8]["intra"] != ""


def test_precomputed_has_theory(ddsc, three_groups, tmp_path):
    ddsc("distance", three_groups, "-o", tmp_path / "d.npy", "-q")
    np.savetxt(tmp_path / "t.txt", np.load(three_groups)["labels"], fmt="%d")
    found = json.loads(ddsc("cluster", tmp_path / "d.npy", "--precomputed", "-k", 3, "--truth",
                            tmp_path / "t.txt", "--json").stdout)
    assert found["theory"]["connected"] is True and found["theory"]["inter_neighbors"] == 0


def test_no_leftovers(ddsc, three_groups, tmp_path):
    """A later run without --stability removes the old file."""
    ddsc("cluster", three_groups, "-k", 3, "--stability", 1, "-o", tmp_path / "r", "-q")
    ddsc("cluster", three_groups, "-k", 3, "-o", tmp_path / "r", "-q", "--force")
    assert not (tmp_path / "r" / "stability.csv").exists()


def test_refusals(ddsc, three_groups, tmp_path):
    assert "0" in ddsc("cluster", three_groups, "-k", 3, "--stability", 0, code=2).stderr
    ddsc("distance", three_groups, "-o", tmp_path / "d.npy", "-q")
    assert "--precomputed" in ddsc("cluster", tmp_path / "d.npy", "--precomputed", "-k", 3,
                                   "--stability", 2, code=2).stderr
    assert "baseline" in ddsc("cluster", three_groups, "-k", 3, "--method", "sc", "--stability", 2,
                              code=2).stderr


def test_documented_example(program, source, tmp_path):
    """The commands in docs/theory.md, and the statement about the item in the wrong cluster."""
    import os
    import subprocess
    block = (source / "docs" / "theory.md").read_text().split("```sh\n")[1].split("```")[0]
    done = subprocess.run(["sh", "-ec", block], cwd=tmp_path, capture_output=True, text=True, timeout=300,
                          env={**os.environ, "PATH": os.path.dirname(program) + ":" + os.environ["PATH"]})
    assert done.returncode == 0, done.stderr
    table = rows(tmp_path / "trust" / "stability.csv")
    changed = [int(r["changed"]) for r in table]
    assert np.argmax(changed) == 1 and changed[1] > 10 and done.stdout.splitlines()[-3].startswith("1,1,")
    truth = np.load(tmp_path / "clouds.npz")["labels"]
    label = np.array([int(r["label"]) for r in table])
    usual = [np.bincount(truth[label == c]).argmax() for c in label]
    assert [i for i in range(120) if truth[i] != usual[i]] == [1]
    found = json.loads((tmp_path / "trust" / "result.json").read_text())
    assert round(found["scores"]["ami"], 2) == 0.96 and found["stability"]["mean"]["ari"] > 0.85
