"""ddsc cluster, end to end: files, scores, baselines, precomputed distances, dropped items."""
import csv
import io
import json
import os
import re
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest
import scipy.io
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score

from conftest import PROGRAM

FILES = {"labels.csv", "items.csv", "result.json", "embedding.npy", "eigenvalues.csv", "graph.mtx",
         "map.npy", "model.npz", "truth.csv", "report.html"}


def read_labels(text):
    rows = list(csv.DictReader(io.StringIO(text)))
    assert rows and list(rows[0]) == ["id", "label"]
    return np.array([int(row["label"]) for row in rows])


@pytest.fixture(scope="module")
def result(ddsc, three_groups, tmp_path_factory):
    where = tmp_path_factory.mktemp("cluster") / "deep" / "result"
    done = ddsc("cluster", three_groups, "-k", "3", "-o", where, "--seed", "5", "--threads", "2")
    return where, done, json.loads((where / "result.json").read_text())


def test_writes_every_file_and_nothing_else(result):
    where, done, _ = result
    assert {path.name for path in where.iterdir()} == FILES
    assert "45 items in 3 clusters" in done.stdout and str(where) in done.stdout
    assert "AMI 1.0000" in done.stdout and "labels in the input" in done.stdout


def test_labels_find_the_groups(result, three_groups):
    labels = read_labels((result[0] / "labels.csv").read_text())
    assert adjusted_rand_score(np.load(three_groups)["labels"], labels) == 1


def test_result_json(result):
    _, _, data = result
    assert {"version", "features", "settings", "seed", "sizes", "gaps", "components", "pairs",
            "certificates", "scores", "eigenvalues", "sweep", "chosen", "advice"} <= set(data)
    assert list(data)[-3:] == ["command", "threads", "seconds"]
    assert data["seed"] == 5 and data["n"] == 45 and data["k"] == 3 and data["threads"] == 2
    assert data["settings"]["metric"] == "w2" and data["settings"]["method"] == "ddsc"
    assert sum(data["sizes"]["clusters"]) == 45
    assert data["chosen"]["tau"] >= 6
    assert data["certificates"]["converged"] and data["certificates"]["certified"]
    assert data["certificates"]["max_gap"] <= 1e-10
    assert {"pairs", "solved", "bounds", "pruned"} <= set(data["pairs"])
    assert data["pairs"]["pairs"] == 45 * 44 // 2
    assert data["scores"]["ami"] == pytest.approx(1)
    assert {"read", "distances", "eigen", "kmeans", "verdict", "total", "stages"} == set(data["seconds"])


def test_all_time_is_accounted(result):
    """Every stage and every file is listed, and their times add up to the total. Each moment belongs to exactly one
    stage, so the test does not depend on the clock."""
    where, done, data = result
    rows = {row["stage"]: row for row in data["seconds"]["stages"]}
    assert {"start", "read", "merge", "distances", "affinity", "eigenvectors", "k-means", "sweep", "map", "findings",
            "verdict", "other"} <= set(rows)
    assert FILES - {"result.json"} <= set(rows)
    assert sum(row["wall"] for row in rows.values()) == pytest.approx(data["seconds"]["total"], abs=1e-7)
    assert all(row["wall"] >= 0 and row["cpu"] >= 0 for row in rows.values())
    assert list(data["seconds"]["stages"][-1].values())[0] == "other"
    page = (where / "report.html").read_text()
    assert "<h2>Seconds by stage</h2>" in page and "graph.mtx</td>" in page


def test_stages_begin_with_the_process(three_groups, tmp_path):
    """The stages contain all CPU time of the process until the file was written, including its start, and not more."""
    began = time.monotonic()
    child = subprocess.Popen([PROGRAM, "cluster", three_groups, "-k", "3", "-q", "-o", tmp_path / "out"])
    _, status, used = os.wait4(child.pid, 0)
    lasted = time.monotonic() - began
    assert status == 0
    stages = json.loads((tmp_path / "out" / "result.json").read_text())["seconds"]["stages"]
    assert stages[0]["stage"] == "start" and stages[0]["wall"] >= stages[0]["cpu"] > 0
    assert sum(row["wall"] for row in stages) <= lasted
    assert sum(row["cpu"] for row in stages) <= 1.02 * (used.ru_utime + used.ru_stime) + 0.02  # two clocks


def test_stages_have_the_names_that_the_page_lists(result):
    page = (Path(__file__).parents[2] / "docs" / "notes" / "performance.md").read_text()
    table = page.split("## Names of stages")[1].split("\n## ")[0]
    listed = {name for row in table.split("\n| ") for name in re.findall("`([^`]+)`", row.split("|")[0])}
    assert {row["stage"] for row in result[2]["seconds"]["stages"]} <= listed | FILES


@pytest.mark.skipif(not os.environ.get("DDSC_DEEP"), reason="DDSC_DEEP is not set")
def test_a_program_that_was_another_one_before(three_groups, tmp_path):
    """If a process executed this program long after it started, that time does not count as the program's start."""
    words = f"exec {PROGRAM} cluster {three_groups} -k 3 -q -o {tmp_path}/out"
    subprocess.run(["sh", "-c", f"sleep 10.5; {words}"], check=True)
    stages = json.loads((tmp_path / "out" / "result.json").read_text())["seconds"]["stages"]
    assert "start" not in [row["stage"] for row in stages]


def test_arrays_agree_with_each_other(result):
    where, _, data = result
    embedding = np.load(where / "embedding.npy")
    assert embedding.shape[0] == 45 and np.isfinite(embedding).all()
    rows = list(csv.DictReader((where / "eigenvalues.csv").open()))
    values = np.array([float(row["eigenvalue"]) for row in rows])
    assert np.allclose(values, data["eigenvalues"], atol=1e-14)
    assert (np.diff(values) >= -1e-12).all() and values[0] == pytest.approx(0, abs=1e-9)
    graph = scipy.io.mmread(where / "graph.mtx").tocsc()
    assert graph.shape == (45, 45)
    assert set(np.diff(graph.indptr)) == {data["chosen"]["tau"]}


def test_existing_results_are_kept(ddsc, result, three_groups):
    where = result[0]
    before = (where / "labels.csv").read_bytes()
    message = ddsc("cluster", three_groups, "-k", "2", "-o", where, code=2).stderr
    assert "exists" in message and "--force" in message
    assert (where / "labels.csv").read_bytes() == before


def test_force_leaves_no_files_of_the_run_before(ddsc, three_groups, tmp_path):
    ddsc("cluster", three_groups, "-k", "2:4", "-o", tmp_path, "-q")
    assert (tmp_path / "sweep.csv").exists()
    ddsc("cluster", three_groups, "-k", "3", "-o", tmp_path, "-q", "--force")
    assert {path.name for path in tmp_path.iterdir()} == FILES


def test_a_single_existing_file_is_refused(ddsc, three_groups, tmp_path):
    (tmp_path / "graph.mtx").write_text("mine")
    ddsc("cluster", three_groups, "-k", "2", "-o", tmp_path, code=2)
    assert [path.name for path in tmp_path.iterdir()] == ["graph.mtx"]


def test_output_that_is_a_file(ddsc, three_groups, tmp_path):
    (tmp_path / "file").write_text("mine")
    assert "not a directory" in ddsc("cluster", three_groups, "-k", "2", "-o", tmp_path / "file",
                                     code=2).stderr


def test_labels_on_standard_output(ddsc, three_groups):
    done = ddsc("cluster", three_groups, "-k", "3")
    assert set(read_labels(done.stdout)) == {0, 1, 2}
    assert "45 items in 3 clusters" in done.stderr
    assert ddsc("cluster", three_groups, "-k", "3", "-o", "-").stdout == done.stdout
    assert ddsc("cluster", three_groups, "-k", "3", "--quiet").stderr == ""


def test_standard_input(ddsc, three_groups):
    by_name = ddsc("cluster", three_groups, "-k", "3").stdout
    assert ddsc("cluster", "-", "-k", "3", stdin=three_groups.read_bytes()).stdout == by_name


def test_json_on_standard_output(ddsc, three_groups):
    done = ddsc("cluster", three_groups, "-k", "3", "--json")
    data = json.loads(done.stdout)
    assert len(data["labels"]) == 45 and data["scores"]["ari"] == pytest.approx(1)
    assert done.stderr == ""


@pytest.mark.parametrize("metric", ["w2", "w1", "sinkhorn", "mmd", "lot"])
def test_every_metric(ddsc, three_groups, metric):
    data = json.loads(ddsc("cluster", three_groups, "-k", "3", "--metric", metric, "--json").stdout)
    assert data["scores"]["ami"] == pytest.approx(1)
    key = {"w2": "tau", "w1": "tau", "sinkhorn": "epsilon", "mmd": "bandwidth", "lot": "reference_size"}[metric]
    assert data["chosen"][key] > 0


@pytest.mark.parametrize("method", ["kmeans", "sc"])
def test_baselines(ddsc, three_groups, tmp_path, method):
    ddsc("cluster", three_groups, "-k", "3", "--method", method, "-o", tmp_path)
    data = json.loads((tmp_path / "result.json").read_text())
    assert data["settings"]["method"] == method and data["scores"]["ami"] == pytest.approx(1)
    names = {path.name for path in tmp_path.iterdir()}
    assert names == (FILES - {"model.npz"} if method == "sc" else
                     {"labels.csv", "truth.csv", "result.json", "report.html"})


def test_sweep(ddsc, three_groups, tmp_path):
    done = ddsc("cluster", three_groups, "-k", "2:5", "-o", tmp_path)
    data = json.loads((tmp_path / "result.json").read_text())
    assert [row["k"] for row in data["sweep"]] == [2, 3, 4, 5]
    assert data["sweep"][1]["scores"]["ami"] == pytest.approx(1)
    rows = list(csv.DictReader((tmp_path / "sweep.csv").open()))
    assert list(rows[0]) == ["id", "k2", "k3", "k4", "k5"] and len(rows) == 45
    assert len({row["k4"] for row in rows}) == 4
    labels = read_labels((tmp_path / "labels.csv").read_text())
    assert [int(row[f"k{data['k']}"]) for row in rows] == list(labels)
    assert "sweep" in done.stdout


def test_chosen_k(ddsc, three_groups):
    data = json.loads(ddsc("cluster", three_groups, "-k", "auto", "--json").stdout)
    assert data["k"] == 3 and data["settings"]["k"] == "auto"


def test_paper_and_gamma(ddsc, three_groups):
    data = json.loads(ddsc("cluster", three_groups, "-k", "3", "--paper", "--json").stdout)
    assert data["settings"]["paper"] and data["chosen"]["gamma"] > 0
    data = json.loads(ddsc("cluster", three_groups, "-k", "3", "--gamma", "0.25", "--json").stdout)
    assert data["chosen"]["gamma"] == 0.25


def test_given_distances(ddsc, three_groups, tmp_path):
    ddsc("distance", three_groups, "-o", tmp_path / "D.npy")
    ddsc("distance", three_groups, "--squared", "-o", tmp_path / "D2.npy")
    direct = ddsc("cluster", three_groups, "-k", "3", "-q").stdout
    for words in (["D.npy"], ["D2.npy", "--squared-input"]):
        done = ddsc("cluster", *words, "--precomputed", "-k", "3", cwd=tmp_path)
        assert (read_labels(done.stdout) == read_labels(direct)).all()
        assert "AMI" not in done.stderr
    np.savetxt(tmp_path / "truth.csv", np.load(three_groups)["labels"], fmt="%d")
    done = ddsc("cluster", "D.npy", "--precomputed", "-k", "3", "--truth", "truth.csv", "-o", "out",
                cwd=tmp_path)
    assert "AMI 1.0000" in done.stdout and "truth.csv" in done.stdout


def test_unknown_distances(ddsc, three_groups, tmp_path):
    ddsc("distance", three_groups, "-o", tmp_path / "D.npy")
    matrix = np.load(tmp_path / "D.npy")
    matrix[0, 40] = matrix[40, 0] = np.nan
    np.save(tmp_path / "N.npy", matrix)
    ddsc("cluster", "N.npy", "--precomputed", "-k", "3", cwd=tmp_path)
    matrix[1, 2] += 1
    np.save(tmp_path / "bad.npy", matrix)
    ddsc("cluster", "bad.npy", "--precomputed", "-k", "3", cwd=tmp_path, code=3)


def test_truth_file(ddsc, three_groups, tmp_path):
    truth = np.arange(45) % 3
    (tmp_path / "truth.csv").write_text("id,label\n" + "".join(f"{i},{t}\n" for i, t in enumerate(truth)))
    data = json.loads(ddsc("cluster", three_groups, "-k", "3", "--truth", tmp_path / "truth.csv",
                           "--json").stdout)
    assert data["scores"]["ami"] == pytest.approx(
        adjusted_mutual_info_score(truth, data["labels"]), abs=1e-10)
    (tmp_path / "short.csv").write_text("id,label\n0,1\n")
    message = ddsc("cluster", three_groups, "-k", "3", "--truth", tmp_path / "short.csv",
                   code=3).stderr
    assert 'contains the id "1"' not in message and "1 labels" in message and "45 items" in message


def test_dropped_items_keep_their_row(ddsc, with_empty, tmp_path):
    message = ddsc("cluster", with_empty, "-k", "2", code=3).stderr
    assert "item 0" in message
    ddsc("cluster", with_empty, "-k", "2", "--on-empty", "drop", "-o", tmp_path)
    labels = read_labels((tmp_path / "labels.csv").read_text())
    assert len(labels) == 24 and list(np.flatnonzero(labels < 0)) == [0, 7]
    embedding = np.load(tmp_path / "embedding.npy")
    assert np.isnan(embedding[[0, 7]]).all() and np.isfinite(np.delete(embedding, [0, 7], 0)).all()
    graph = scipy.io.mmread(tmp_path / "graph.mtx").tocsc()
    assert graph.shape == (24, 24) and graph[:, [0, 7]].nnz == 0 == graph[[0, 7], :].nnz
    data = json.loads((tmp_path / "result.json").read_text())
    assert data["n"] == 24 and data["sizes"]["items"] == 22 and data["scores"]["n"] == 22


def test_balanced_subset(ddsc, three_groups):
    words = ["cluster", three_groups, "-k", "3", "--subset-per-class", "8", "--json"]
    data = json.loads(ddsc(*words).stdout)
    assert data["n"] == 24 and sorted(data["sizes"]["clusters"]) == [8, 8, 8]
    again = json.loads(ddsc(*words, "--seed", "9").stdout)
    assert again["n"] == 24 and again["eigenvalues"] != data["eigenvalues"]


def test_compress_first(ddsc, three_groups):
    data = json.loads(ddsc("cluster", three_groups, "-k", "3", "--compress", "4", "--json").stdout)
    assert data["compress"]["points_after"] == 4 * 45 and data["compress"]["max_w2"] > 0
    assert data["scores"]["ami"] == pytest.approx(1)


def test_not_converged_is_marked_and_written(ddsc, three_groups, tmp_path):
    done = ddsc("cluster", three_groups, "-k", "3", "--metric", "sinkhorn", "--epsilon", "0.01%",
                "--tolerance", "1e-14", "--max-iterations", "1", "-o", tmp_path, code=4)
    data = json.loads((tmp_path / "result.json").read_text())
    assert data["certificates"]["converged"] is False
    assert data["certificates"]["pairs_not_converged"] > 0
    assert "not converge" in done.stderr
    assert "did not converge" in (tmp_path / "report.html").read_text()


def test_memory_limit(ddsc, three_groups, tmp_path):
    ddsc("cluster", three_groups, "-k", "3", "--memory", "10K", "-o", tmp_path / "x", code=5)
    assert not (tmp_path / "x").exists()


def test_disconnected_graph_gets_advice(ddsc, three_groups):
    done = ddsc("cluster", three_groups, "-k", "2", "--tau", "3")
    assert "component" in done.stderr and "ddsc: advice: " in done.stderr


def test_fcs_and_images(ddsc, data_dir, tmp_path):
    images = data_dir / "mnist" / "t10k-images-idx3-ubyte.gz"
    labels = data_dir / "mnist" / "t10k-labels-idx1-ubyte.gz"
    data = json.loads(ddsc("cluster", images, "--labels", labels, "--subset-per-class", "20",
                           "--metric", "mmd", "-k", "10", "--json").stdout)
    assert data["n"] == 200 and data["scores"]["ami"] > 0.3
    assert data["scores"]["truth"] == str(labels)


def test_candidates_in_summary_and_report(ddsc, three_groups, tmp_path):
    done = ddsc("cluster", three_groups, "-k", "auto", "-o", tmp_path / "r", "-v")
    line = next(line for line in done.stdout.splitlines() if line.startswith("  candidates"))
    assert "K = 3 (chosen, widest relative gap" in line
    assert "Worth examining: K = 3 (chosen" in (tmp_path / "r/report.html").read_text()


@pytest.mark.parametrize("k, words", [(1, "With K = 1, all items are in one cluster"), (45, "every item is its own cluster"),
                                      (40, "consist of a single item")])
def test_extreme_k_gets_a_sentence(ddsc, three_groups, k, words):
    told = json.loads(ddsc("cluster", three_groups, "-k", k, "--json", "--min-cluster", 0).stdout)
    assert words in told["advice"]


def test_a_single_gamma_needs_a_clear_gap(ddsc, tmp_path):
    """Items of one distribution whose scales vary: most links are one-sided, but no gap supports a single gamma."""
    rng = np.random.default_rng(10)
    x = np.concatenate([s * rng.normal(size=(1, 10)) for s in 1 + 3 * rng.random(150)])
    np.savez(tmp_path / "s.npz", points=x, weights=np.ones(150), offsets=np.arange(151))
    for k in ("2", "2:10"):
        told = json.loads(ddsc("cluster", tmp_path / "s.npz", "-k", k, "-m", "w2", "--hubs", "off", "--json").stdout)
        assert told["chosen"]["gamma"] == "local scaling"
        assert all(row["relative_gap"] < 2 for row in told["sweep"])


def test_candidates_for_k(ddsc, three_groups, tmp_path):
    """The chosen K comes first, each candidate has its reasons, and the advice says how reliable the choice is."""
    for words in ["-k", "auto"], ["-k", "2:9"]:
        result = json.loads(ddsc("cluster", three_groups, *words, "--json").stdout)
        sweep, found = result["sweep"], result["candidates"]
        assert found[0]["k"] == result["k"] and 1 <= len(found) <= 4
        assert len({c["k"] for c in found}) == len(found)
        best = max(r["stability"] for r in sweep)
        expected = {"widest_gap": max(sweep, key=lambda r: r["relative_gap"])["k"],
                    "highest_modularity": max(sweep, key=lambda r: r["modularity"])["k"],
                    "halves_agree": [r["k"] for r in sweep if r["stability"] >= best - 0.05][-1]}
        for key, k in expected.items():
            assert [c["k"] for c in found if c[key]] == [k]
        others = [c["k"] for c in found[1:]]
        assert all(f"K = {k} is also worth examining (" in result["advice"] for k in others)
        assert "correct in one of four" in result["advice"] and not any(c["large_may_hide"] for c in found)
    assert "candidates" not in json.loads(ddsc("cluster", three_groups, "-k", 3, "--json").stdout)


def test_item_sizes_are_not_taken_for_classes(ddsc, tmp_path):
    """The biased estimator depends on the number of points. Numbers unrelated to the class must not determine the
    clusters."""
    random = np.random.default_rng(8)
    classes = np.arange(120) % 3
    sizes = random.integers(4, 60, 120)
    points = np.concatenate([random.normal(size=(m, 3)) + 1.5 * np.eye(3)[c] for c, m in zip(classes, sizes)])
    weights = np.concatenate([np.full(m, 1 / m) for m in sizes])
    np.savez(tmp_path / "in.npz", points=points, weights=weights, offsets=np.concatenate([[0], np.cumsum(sizes)]),
             labels=classes)
    np.savetxt(tmp_path / "sizes.csv", sizes > np.median(sizes), fmt="%d", header="label", comments="")
    words = ["cluster", tmp_path / "in.npz", "-k", 3, "--metric", "mmd", "--json"]
    default = json.loads(ddsc(*words).stdout)
    assert default["settings"]["mmd_estimator"] == "biased" and default["scores"]["ami"] > 0.6
    by_size = json.loads(ddsc(*words, "--truth", tmp_path / "sizes.csv").stdout)
    assert by_size["scores"]["ami"] < 0.1


@pytest.mark.parametrize("n", [2, 3, 4])
def test_as_many_clusters_as_items(ddsc, tmp_path, n):
    rows = "".join(f"i{i},{3 ** i}\ni{i},{3 ** i + 1}\n" for i in range(n))
    (tmp_path / "few.csv").write_text("id,x\n" + rows)
    told = json.loads(ddsc("cluster", tmp_path / "few.csv", "-k", n, "--json", "-q").stdout)
    assert sorted(told["labels"]) == list(range(n))


def test_a_lopsided_gap_is_told(ddsc, tmp_path):
    """Twelve items far from a ring of sixty: the gap is clear, and the structure of the sixty remains open."""
    angle = np.linspace(0, 2 * np.pi, 61)[:-1]
    place = np.concatenate([np.stack([np.cos(angle), np.sin(angle)], 1) * 10, [[200 + i / 10, i % 3] for i in range(12)]])
    np.savez(tmp_path / "ring.npz", points=place, weights=np.ones(72), offsets=np.arange(73))
    done = ddsc("cluster", tmp_path / "ring.npz", "-k", "auto", "--json")
    told = json.loads(done.stdout)
    assert told["k"] == 2 and "12 to 60 items" in told["advice"]
    larger = [c["k"] for c in told["candidates"] if c["large_may_hide"]]
    assert larger and larger == [c["k"] for c in told["candidates"] if c["k"] > 2]
    assert "contains classes, which " + " or ".join(f"K = {k}" for k in larger) + " may show" in told["advice"]
