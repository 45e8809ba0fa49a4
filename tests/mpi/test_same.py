"""With any number of ranks, the results are byte-identical to those of ddsc."""
import json
import os
import subprocess

import numpy as np
import pytest

from conftest import BUILD


def clouds(path, n_groups, n_items, n_points, dim, seed, separation=3.0):
    random = np.random.default_rng(seed)
    centers = random.normal(0, separation, (n_groups, dim))
    sizes = random.integers(max(1, n_points // 2), n_points + 1, n_groups * n_items)
    points = np.vstack([random.normal(centers[i % n_groups], 1, (m, dim)) for i, m in enumerate(sizes)])
    np.savez(path, points=points, weights=random.random(len(points)) + 0.1,
             offsets=np.concatenate([[0], np.cumsum(sizes)]), labels=np.arange(len(sizes)) % n_groups)
    return path


def images(path, n, side, seed):
    """Blobs on a grid: the items share their points."""
    random = np.random.default_rng(seed)
    grid = np.stack(np.meshgrid(np.arange(side), np.arange(side)), -1).reshape(-1, 2)
    rows, points, weights = [0], [], []
    for i in range(n):
        center = side * (0.2 + 0.2 * (i % 4)) + random.normal(0, 1, 2)
        ink = np.exp(-np.sum((grid - center) ** 2, 1) / 6) * random.random(len(grid))
        kept = ink > 0.05
        kept[i % len(grid)] = True
        points.append(grid[kept])
        weights.append(ink[kept] + 0.01)
        rows.append(rows[-1] + kept.sum())
    np.savez(path, points=np.vstack(points).astype(float), weights=np.concatenate(weights), offsets=rows)
    return path


@pytest.fixture(scope="module")
def sets(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sets")
    return {"clouds": clouds(folder / "clouds.npz", 3, 60, 8, 3, 1), "images": images(folder / "images.npz", 150, 12, 2),
            "vectors": clouds(folder / "vectors.npz", 4, 100, 4, 2, 3), "few": clouds(folder / "few.npz", 2, 1, 5, 2, 4)}


# Results do not depend on the ranks, except for times and the number of ranks.
def facts(text):
    found = json.loads(text)
    return {key: found[key] for key in ("n", "tau", "edges", "solved", "pruned", "pairs") if key in found}


CASES = [("clouds", "--metric", "w2"), ("images", "--metric", "w2"), ("clouds", "--metric", "sinkhorn"),
         ("images", "--metric", "sinkhorn"), ("images", "--metric", "mmd"), ("clouds", "--metric", "mmd"),
         ("clouds", "--metric", "lot"), ("vectors", "--metric", "lot", "--neighbors", "approximate"),
         ("few", "--metric", "w2", "--tau", 1), ("clouds", "--metric", "w2", "--hubs", "always"),
         ("clouds", "--metric", "w2", "--sample", "0.5"), ("clouds", "--metric", "lot", "--sample-columns", "0.3"), ("images", "--metric", "w2", "--exact-graph", "full")]


@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(map(str, case)).replace("---", "-"))
def test_graphs(ddsc, ranks, sets, tmp_path, case):
    name, *words = case
    alone = facts(ddsc("neighbors", sets[name], *words, "-o", tmp_path / "alone.mtx", "--json").stdout)
    for n, threads in ((1, 2), (2, 1), (3, 1), (4, 2)):
        path = tmp_path / f"{n}.mtx"
        job = ranks(n, "neighbors", sets[name], *words, "-o", path, "--json", "--threads", threads)
        assert path.read_bytes() == (tmp_path / "alone.mtx").read_bytes(), n
        assert facts(job.out) == alone, n


@pytest.mark.parametrize("name, metric", [("clouds", "w2"), ("images", "sinkhorn"), ("vectors", "lot"), ("images", "mmd")])
def test_results(ddsc, ranks, sets, tmp_path, name, metric):
    """For small sets, LAPACK computes the eigenvectors on each rank, so all files are the same."""
    ddsc("cluster", sets[name], "-k", 3, "--metric", metric, "-o", tmp_path / "alone")
    for n in (2, 3):
        ranks(n, "cluster", sets[name], "-k", 3, "--metric", metric, "-o", tmp_path / f"{n}")
        for file in sorted((tmp_path / "alone").iterdir()):
            if file.name not in ("result.json", "report.html"):  # they contain seconds and the command
                assert (tmp_path / f"{n}" / file.name).read_bytes() == file.read_bytes(), (n, file.name)
        one, other = (json.loads((tmp_path / run / "result.json").read_text()) for run in ("alone", f"{n}"))
        assert one["pairs"] == other["pairs"] and one["sizes"] == other["sizes"]


def test_other_verbs_and_ways(ddsc, ranks, sets, tmp_path):
    ddsc("cluster", sets["clouds"], "-k", 3, "-o", tmp_path / "model")
    for words, ending in ((["distance", sets["clouds"]], "npy"), (["embed", sets["clouds"]], "npy"),
                          (["distance", sets["images"], "--metric", "sinkhorn", "--condensed"], "npy"),
                          (["assign", tmp_path / "model" / "model.npz", sets["clouds"]], "csv")):
        one, other = tmp_path / f"one.{ending}", tmp_path / f"other.{ending}"
        ddsc(*words, "-o", one, "--force")
        ranks(3, *words, "-o", other, "--force")
        assert other.read_bytes() == one.read_bytes(), words
    for words in (["-k", 3], ["-k", "2:5"], ["-k", "auto", "--metric", "lot"], ["-k", 3, "--metric", "w2+mmd"],
                  ["-k", 3, "--method", "d2"], ["-k", 3, "--method", "kmeans"], ["-k", 3, "--stability", 2]):
        assert ranks(2, "cluster", sets["clouds"], *words).out == ddsc("cluster", sets["clouds"], *words).stdout, words
    ddsc("distance", sets["clouds"], "-o", tmp_path / "full.npy")
    words = [tmp_path / "full.npy", "--precomputed", "-k", 3]
    assert ranks(2, "cluster", *words).out == ddsc("cluster", *words).stdout


def test_divided_eigenvectors(ddsc, ranks, tmp_path):
    """More items than LAPACK handles: each rank has its own rows. Distant groups of seven items are too small for a
    cluster and are excluded; their rows stay empty with every solver."""
    random = np.random.default_rng(6)
    centers = [[0, 0], [5, 0], [0, 5]] + [[200 + 90 * g, 300] for g in range(6)]
    group = np.concatenate([np.arange(720) % 3, 3 + np.arange(42) // 7])
    points = np.vstack([random.normal(centers[g], 1, (5, 2)) for g in group])
    np.savez(tmp_path / "set.npz", points=points, weights=np.ones(len(points)), offsets=np.arange(0, len(points) + 1, 5))
    for words in (["-k", 3], ["-k", "2:5"], ["-k", 3, "--metric", "w2+lot"], ["-k", 3, "--stability", 2]):
        words = ["cluster", tmp_path / "set.npz", "--metric", "lot", "--tau", 6, *words]
        alone = ddsc(*words).stdout
        for n in (2, 3):
            assert ranks(n, *words).out == alone, (n, words)


def test_eigenvectors_do_not_see_threads(ranks, tmp_path):
    """Each rank has enough entries for its threads to share the products, and the progress of the solver is
    reported."""
    random = np.random.default_rng(8)
    points = random.normal(0, 6, (5, 2))[np.arange(12000) % 5] + random.normal(0, 1, (12000, 2))
    np.savez(tmp_path / "set.npz", points=points, weights=np.ones(12000), offsets=np.arange(12001))
    words = ["cluster", tmp_path / "set.npz", "-k", 5, "--metric", "lot", "--tau", 60, "--progress", "jsonl"]
    for threads in (1, 3):
        told = ranks(2, *words, "--threads", threads, "-o", tmp_path / str(threads)).err
        steps = {json.loads(line)["done"] for line in told.splitlines() if '"eigenvectors"' in line}
        assert len(steps) > 3, steps
    for name in ("embedding.npy", "eigenvalues.csv", "labels.csv"):
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "3" / name).read_bytes(), name


def test_labels_that_may_differ_are_marked(ddsc, ranks, tmp_path):
    """Four clusters, K = 4: the same labels. A ring, whose eigenvalues are paired: K = 2 splits a pair, K = 3 does
    not."""
    random, turn = np.random.default_rng(0), 2 * np.pi * np.arange(900) / 900
    groups = random.normal(0, 8, (4, 2))[np.arange(900) % 4] + random.normal(0, 1, (900, 2))
    ring = 10 * np.column_stack([np.cos(turn), np.sin(turn)]) + random.normal(0, 1e-4, (900, 2))
    sentence = "The labels of some items may differ with another number of ranks."
    for name, points, k, clear in (("groups", groups, 4, True), ("ring", ring, 2, False), ("ring", ring, 3, True)):
        np.savez(tmp_path / f"{name}.npz", points=points, weights=np.ones(900), offsets=np.arange(901))
        words = ["cluster", tmp_path / f"{name}.npz", "-k", k, "--metric", "lot", "--force", "-o"]
        ddsc(*words, tmp_path / "alone")
        ranks(3, *words, tmp_path / "ranks")
        one, other = (json.loads((tmp_path / run / "result.json").read_text()) for run in ("alone", "ranks"))
        assert one["gaps"]["clear"] == other["gaps"]["clear"] == clear, (name, k)
        assert sentence not in one["advice"] and (sentence in other["advice"]) == (not clear)
        assert np.allclose(one["eigenvalues"], other["eigenvalues"], rtol=0, atol=1e-8)
        assert name == "ring" or (tmp_path / "alone" / "labels.csv").read_bytes() == (tmp_path / "ranks" / "labels.csv").read_bytes()


def test_ranks_do_without_devices(ddsc, ranks, sets, tmp_path, monkeypatch):
    """Only some ranks may have a device, depending on their machine, but all ranks use the same search."""
    monkeypatch.setenv("DDSC_PLUGIN_PATH", str(BUILD / "tests"))
    words = ["neighbors", sets["clouds"], "--metric", "lot", "--reference-size", 20, "--exact-graph", "pruned"]
    ddsc(*words, "-o", tmp_path / "alone.mtx")
    job = ranks(2, *words, "--device", "reference", "-o", tmp_path / "two.mtx", "--json")
    assert (tmp_path / "two.mtx").read_bytes() == (tmp_path / "alone.mtx").read_bytes()
    assert json.loads(job.out).get("device", "cpu") == "cpu"


def test_restarts_of_kmeans(ddsc, ranks, tmp_path):
    """Enough rows for the ranks to share the restarts; starts with different results, and more ranks than restarts."""
    random = np.random.default_rng(5)
    np.savez(tmp_path / "rows.npz", points=random.random((60000, 8)), weights=np.ones(60000), offsets=np.arange(60001))
    for more in ([], ["--restarts", 3]):
        words = ["cluster", tmp_path / "rows.npz", "-k", 12, "--method", "kmeans", "--seed", 3, *more]
        alone = ddsc(*words).stdout
        for n in (2, 4):
            assert ranks(n, *words, "--threads", 1).out == alone, (n, more)


def test_more_ranks_than_items(ddsc, ranks, sets):
    for words in (["cluster", sets["few"], "-k", 1], ["cluster", sets["few"], "-k", 2, "--metric", "lot"]):
        assert ranks(4, *words).out == ddsc(*words).stdout


def test_one_rank_speaks(ranks, sets):
    job = ranks(3, "cluster", sets["clouds"], "-k", 3, "-v", "--tau", 5, "--epsilon", "1%")
    assert job.err.count("warning:") == job.err.count("items in 3 clusters") == 1
    assert ranks(3, "info", sets["clouds"]).out.count("items ") == 1
    assert ranks(3, "--version").out.count("ddsc ") == 1
    assert ranks(2, "cluster", sets["clouds"], "-k", 3, "--dry-run").out.count("would read") == 1


def test_same_kernels(ddsc, ranks, sets):
    """Both programs use the same OpenBLAS kernels, on which the last bits depend."""
    told = {"OPENBLAS_VERBOSE": "2"}
    alone = subprocess.run([BUILD / "ddsc", "info", sets["few"]], capture_output=True, text=True, env={**os.environ, **told}).stderr
    job = ranks(1, "info", sets["few"], env=told)
    assert [line for line in job.err.splitlines() if "Core" in line][-1:] == [line for line in alone.splitlines() if "Core" in line][-1:]


def test_the_library_needs_no_mpi():
    for name in ("libddsc.so", "ddsc"):
        told = subprocess.run(["readelf", "-d", BUILD / name], capture_output=True, text=True, check=True).stdout
        assert "NEEDED" in told and not any(word in told for word in ("libmpi", "slepc", "petsc"))
