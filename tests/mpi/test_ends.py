"""How a job ends, by an error on all ranks or on one rank: one message, the right exit code, and nothing hangs."""
import json
import os
import pathlib
import random
import signal
import time

import numpy as np
import pytest

from conftest import DEEP, RANKS
from test_same import clouds


@pytest.fixture(scope="module")
def some(tmp_path_factory):
    return clouds(tmp_path_factory.mktemp("ends") / "some.npz", 3, 60, 8, 3, 1)


@pytest.mark.parametrize("words, code, told", [
    (["cluster", "{set}"], 2, "the number of clusters is missing"), (["cluster", "missing.npz", "-k", 3], 3, "missing.npz"),
    (["cluster", "{set}", "-k", 1000], 2, "1000"), (["cluster", "{set}", "-k", 3, "--meta", "none.csv"], 3, "none.csv"),
    (["neighbors", "{set}", "-o", "/proc/none/g.mtx"], 6, "cannot be written"), (["clustr"], 2, "did you mean"),
    (["cluster", "{set}", "-k", 3, "--memory", "10K"], 5, "memory"), (["distance", "{set}"], 2, "terminal")])
def test_alike(ranks, some, words, code, told):
    job = ranks(3, *(str(some) if word == "{set}" else word for word in words), code=code)
    assert job.err.count("ddsc: ") == 1 and told in job.err


def test_options_that_do_not_fit_the_input(ranks, tmp_path):
    np.savez(tmp_path / "plain.npz", points=np.arange(12.0).reshape(6, 2), weights=np.ones(6), offsets=np.arange(7))
    job = ranks(3, "cluster", tmp_path / "plain.npz", "-k", 2, "--subset-per-class", 2, code=2)
    assert job.err.count("ddsc: ") == 1 and "requires class labels" in job.err


# mpirun takes a command for each rank: one of them may differ.
def apart(ranks, common, of_one, rank, code, **how):
    """Three ranks with the same arguments, except for one rank."""
    commands = []
    for r in range(3):
        commands += [":", "-n", 1, RANKS] * (r > 0) + (of_one if r == rank else common)
    return ranks(1, *commands, code=code, **how)


@pytest.mark.parametrize("rank, code", [(0, 5), (1, 7), (2, 7)])
def test_one_rank_out_of_memory(ranks, some, rank, code):
    """An error of the reading rank is reported by all ranks; an error of another rank only by that rank."""
    words = ["cluster", some, "-k", 3]
    job = apart(ranks, words, words + ["--memory", "50K"], rank, code, timeout=60)
    assert job.err.count("ddsc: ") == 1 and "out of memory" in job.err
    assert rank == 0 or f"rank {rank} of 3" in job.err


def test_the_first_rank_reads_for_all(ddsc, ranks, some, tmp_path):
    """The other ranks never access the files, and receive the data of the first rank."""
    files = [tmp_path / name for name in ("costs.npy", "reference.npz", "full.npy")]
    random = np.random.default_rng(1)
    costs = random.random((30, 30))
    np.save(files[0], (costs + costs.T) * (1 - np.eye(30)))
    np.savez(files[1], points=random.normal(0, 2, (9, 3)), weights=np.ones(9), offsets=[0, 9])
    rows = tmp_path / "rows.npz"  # of the matrix of costs
    np.savez(rows, points=random.integers(0, 30, (300, 1)).astype(float), weights=random.random(300) + 1, offsets=np.arange(0, 301, 5))
    ddsc("distance", some, "-o", files[2])
    ddsc("cluster", some, "-k", 3, "-o", tmp_path / "model")
    for verb, one, more in (("neighbors", [some], []), ("neighbors", [rows], ["--cost", files[0]]),
                            ("neighbors", [some], ["--metric", "lot", "--reference", files[1]]),
                            ("neighbors", [files[2]], ["--precomputed"]),
                            ("assign", [tmp_path / "model" / "model.npz", some], [])):
        ddsc(verb, *one, *more, "-o", tmp_path / "alone", "--force")
        other = [tmp_path / "elsewhere" for _ in one]
        gone = [tmp_path / "elsewhere" if word in files else word for word in more]
        rest = ["-o", tmp_path / "graph", "--force"]
        for rank in (1, 2):
            apart(ranks, [verb, *one, *more, *rest], [verb, *other, *gone, *rest], rank, 0, timeout=60)
            assert (tmp_path / "graph").read_bytes() == (tmp_path / "alone").read_bytes(), (verb, more)
        job = apart(ranks, [verb, *one, *more, *rest], [verb, *other, *gone, *rest], 0, 3, timeout=60)
        assert job.err.count("ddsc: ") == 1 and "elsewhere" in job.err


def test_standard_input(ddsc, ranks, some, tmp_path):
    ddsc("neighbors", some, "-o", tmp_path / "alone.mtx")
    with open(some, "rb") as stream:
        ranks(3, "neighbors", "-", "-o", tmp_path / "graph.mtx", stdin=stream)
    assert (tmp_path / "graph.mtx").read_bytes() == (tmp_path / "alone.mtx").read_bytes()


# ---- killed ----

def processes():
    """Return name, parent and session of every running process."""
    found = {}
    for place in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            name, rest = place.read_text().split("(", 1)[1].rsplit(")", 1)
        except OSError:
            continue
        state, parent, _, session = rest.split()[:4]
        if state != "Z":
            found[int(place.parent.name)] = name, int(parent), int(session)
    return found


def own_ranks(job, name="ddsc-mpi-rank"):
    """Return the process ids of the ranks, in order, or of their guards. `job` has its own session."""
    return sorted(pid for pid, (own, _, session) in processes().items() if own == name and session == job.pid)


def assert_gone(job):
    """mpirun waits for the guards; a rank ends right after its guard."""
    end = time.monotonic() + 20
    while own_ranks(job) + own_ranks(job, "ddsc-guard") and time.monotonic() < end:
        time.sleep(0.05)
    assert not own_ranks(job) and not own_ranks(job, "ddsc-guard")


def wait_for(job, done):
    """Wait until the first rank reports this progress. Return False if the job ended before."""
    for line in job.stderr:
        if line.startswith("{") and json.loads(line).get("done", 0) >= done:
            return True
    return False


@pytest.fixture(scope="module")
def long_set(tmp_path_factory):
    """Seconds of work on free processors, so that a signal sent through mpirun arrives before the end."""
    return clouds(tmp_path_factory.mktemp("long") / "long.npz", 3, 200, 60, 3, 7)


LONG = ["--exact-graph", "full", "--threads", 1, "--progress", "jsonl"]


@pytest.mark.parametrize("n, then, victim", [(2, 3, 1), (3, 2, 0), (4, 1, 3)])
def test_a_killed_rank_ends_all_and_the_folder_goes_on(ddsc, ranks, start, long_set, tmp_path, n, then, victim):
    ddsc("neighbors", long_set, *LONG[:2], "-o", tmp_path / "alone.mtx")
    words = ["neighbors", long_set, *LONG, "--resume", tmp_path / "kept", "-o", tmp_path / "graph.mtx"]
    job = start(n, *words)
    assert wait_for(job, 2000)
    began = time.monotonic()
    os.kill(own_ranks(job)[victim], signal.SIGKILL)
    told = job.communicate(timeout=60)[1]
    assert time.monotonic() - began < 30 and job.returncode == 7
    assert told.count("ddsc: ") == told.count("was lost: killed by signal 9") == 1 and "resumes from its --resume" in told
    assert_gone(job)
    assert not (tmp_path / "graph.mtx").exists()
    ranks(then, *words)
    assert (tmp_path / "graph.mtx").read_bytes() == (tmp_path / "alone.mtx").read_bytes()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV])
def test_all_ranks_killed(start, long_set, number):
    """The guards see it at the same time; one of them speaks."""
    job = start(4, "neighbors", long_set, *LONG, "-o", "-")
    assert wait_for(job, 2000)
    for rank in own_ranks(job):
        os.kill(rank, number)
    told = job.communicate(timeout=60)[1]
    assert job.returncode == 7 and told.count("ddsc: ") == told.count(f"was lost: killed by signal {int(number)}") == 1


def test_a_killed_guard_leaves_no_rank(start, long_set):
    job = start(3, "neighbors", long_set, *LONG, "-o", "-")
    assert wait_for(job, 2000)
    os.kill(own_ranks(job, "ddsc-guard")[1], signal.SIGKILL)
    job.communicate(timeout=60)
    assert job.returncode != 0
    assert_gone(job)


def test_mpirun_killed(start, long_set):
    job = start(3, "neighbors", long_set, *LONG, "-o", "-")
    assert wait_for(job, 2000)
    job.kill()
    job.communicate(timeout=60)
    assert_gone(job)


def test_interrupted(start, ranks, ddsc, long_set, tmp_path):
    words = ["neighbors", long_set, *LONG, "--resume", tmp_path / "kept", "-o", tmp_path / "graph.mtx"]
    job = start(2, *words)
    assert wait_for(job, 2000)
    job.send_signal(signal.SIGTERM)
    told = job.communicate(timeout=60)[1]
    assert told.count("ddsc: ") == told.count("interrupted; run the same command") == 1
    assert job.returncode != 0
    assert_gone(job)
    assert not (tmp_path / "graph.mtx").exists()
    ranks(3, *words)
    ddsc("neighbors", long_set, *LONG[:2], "-o", tmp_path / "alone.mtx")
    assert (tmp_path / "graph.mtx").read_bytes() == (tmp_path / "alone.mtx").read_bytes()


def test_interrupted_all_at_once(start, long_set, tmp_path):
    """Like Slurm: a rank receives the signal twice, the second time from its guard, and stops as after one signal."""
    job = start(2, "neighbors", long_set, *LONG, "--resume", tmp_path / "kept", "-o", tmp_path / "graph.mtx")
    assert wait_for(job, 2000)
    for pid in own_ranks(job, "ddsc-guard") + own_ranks(job):
        os.kill(pid, signal.SIGTERM)
    told = job.communicate(timeout=60)[1]
    assert job.returncode == 75 and told.count("ddsc: ") == told.count("interrupted; run the same command") == 1
    assert_gone(job)


def test_interrupted_in_eigenvectors(start, tmp_path):
    """SLEPc receives a tolerance that it cannot reach, so it would never end."""
    many = clouds(tmp_path / "many.npz", 3, 1000, 4, 3, 2)
    job = start(2, "cluster", many, "-k", 3, "--metric", "mmd", "--threads", 1, "--progress", "jsonl", "-o", tmp_path / "result",
                env={"PETSC_OPTIONS": "-ddsc_eps_true_residual -ddsc_eps_tol 1e-300 -ddsc_eps_max_it 100000000"})
    assert any('"eigenvectors"' in line for line in job.stderr)
    time.sleep(1)
    for guard in own_ranks(job, "ddsc-guard"):  # mpirun would kill them a little later
        os.kill(guard, signal.SIGTERM)
    told = job.communicate(timeout=60)[1]
    assert job.returncode == 75 and told.count("ddsc: ") == told.count("interrupted") == 1
    assert_gone(job)
    assert not (tmp_path / "result").exists()


N_KILLS = 20 if DEEP else 4


def test_random_kills(ddsc, ranks, start, long_set, tmp_path):
    """A random rank is killed at a random moment, repeatedly with one folder, each time with another number of
    ranks."""
    draw = random.Random(1)
    ddsc("neighbors", long_set, *LONG[:2], "-o", tmp_path / "alone.mtx")
    graph, kept, n_kills, n_folders, n = tmp_path / "graph.mtx", "kept0", 0, 1, 2
    while n_kills < N_KILLS:
        words = ["neighbors", long_set, *LONG, "--resume", tmp_path / kept, "-o", graph]
        n = draw.choice([other for other in (2, 3, 4) if other != n])
        job = start(n, *words)
        time.sleep(draw.uniform(0.1, 6))
        alive = own_ranks(job)
        if alive:
            os.kill(draw.choice(alive), signal.SIGKILL)
            n_kills += 1
        told = job.communicate(timeout=60)[1]
        assert job.returncode in ((0, 7) if alive else (0,)), (job.returncode, told)
        assert told.count("ddsc: ") == told.count("was lost: killed by signal 9") == (job.returncode == 7)
        assert graph.exists() or job.returncode == 7
        if graph.exists():  # the job had finished, or a rank was lost after the file was written: start again
            assert graph.read_bytes() == (tmp_path / "alone.mtx").read_bytes()
            graph.unlink()
            kept, n_folders = f"kept{n_folders}", n_folders + 1
    ranks(3, *words[:-3], tmp_path / kept, "-o", graph)
    assert graph.read_bytes() == (tmp_path / "alone.mtx").read_bytes()
