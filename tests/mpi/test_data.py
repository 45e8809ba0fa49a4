"""Real data on MPI ranks and on virtual ranks: graph and number of solves equal those of ddsc."""
import os
import subprocess

import pytest

from conftest import BUILD, DEEP
from test_same import facts

CASES = [("digits", "--metric", "w2"), ("digits", "--metric", "sinkhorn"), ("digits", "--metric", "mmd"), ("digits", "--metric", "lot"),
         ("digits", "--metric", "w2", "--neighbors", "approximate"), ("bbc", "--metric", "w2"), ("bbc", "--metric", "lot", "--neighbors", "approximate")]
TEAMS = [(n, threads) for n in (1, 2, 3, 4) for threads in (1, 2)] if DEEP else [(1, 2), (2, 1), (3, 2), (4, 1)]


@pytest.fixture(scope="module")
def real(ddsc, data_dir, tmp_path_factory):
    folder = tmp_path_factory.mktemp("real")
    ddsc("convert", data_dir / "mnist" / "t10k-images-idx3-ubyte.gz", "--labels", data_dir / "mnist" / "t10k-labels-idx1-ubyte.gz",
         "--subset-per-class", 50, "-o", folder / "digits.npz")
    ddsc("text", data_dir / "text" / "bbc.tsv.gz", "--text", "abstract", "--label", "label", "--vectors",
         data_dir / "text" / "glove.6B.100d.subset.txt.gz", "-o", folder / "bbc.npz")
    return folder


@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(map(str, case)).replace("---", "-"))
def test_graphs(ddsc, ranks, real, tmp_path, case):
    name, *words = case
    words = ["neighbors", real / f"{name}.npz", *words, "--json", "-o"]
    alone = facts(ddsc(*words, tmp_path / "alone.mtx").stdout)
    for n, threads in TEAMS:
        job = ranks(n, *words, tmp_path / "graph.mtx", "--force", "--threads", threads)
        assert (tmp_path / "graph.mtx").read_bytes() == (tmp_path / "alone.mtx").read_bytes(), (n, threads)
        assert facts(job.out) == alone, (n, threads)


@pytest.mark.parametrize("name, metric, n", [("digits", "w2", 500), ("digits", "sinkhorn", 200), ("digits", "mmd", 500), ("digits", "lot", 500),
                                             ("bbc", "w2", 700)])
def test_virtual_ranks(real, name, metric, n):
    words = [BUILD / "tests" / "bench_ranks", real / f"{name}.npz", metric, n, 10, 1, 7, 64]
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=600, env={**os.environ, "OMP_NUM_THREADS": "1"})
    assert done.returncode == 0, done.stderr
    head, *rows = [line.split() for line in done.stdout.splitlines()]
    found = [(row[head.index("solved")], row[head.index("hash")]) for row in rows]
    assert len(found) == 3 and found[1] == found[0] and found[2] == found[0]
