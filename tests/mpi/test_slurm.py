"""Slurm jobs: bench/slurm.sh simulates two nodes on this machine. Skipped without slurm-wlm, munge or root."""
import os
import re
import signal
import subprocess
import time

import pytest

from conftest import BUILD, ENVIRONMENT, SOURCE
from test_ends import LONG, long_set, processes  # noqa: F401, a fixture


@pytest.fixture(scope="module")
def cluster():
    """Return the environment of a cluster that exists until its shell reaches the end of its input."""
    job = subprocess.Popen([SOURCE / "bench" / "slurm.sh", "sh", "-c", "env; echo; cat"], stdin=subprocess.PIPE,
                           stdout=subprocess.PIPE, text=True,
                           env={**os.environ, **ENVIRONMENT, "PATH": f"{BUILD}:{os.environ['PATH']}"})
    lines = []
    for line in job.stdout:
        if line.startswith("skipped"):
            pytest.skip(line.strip())
        if line == "\n":
            break
        lines.append(line.rstrip("\n").partition("="))
    yield {name: value for name, equals, value in lines if equals}
    job.communicate(timeout=120)


def submit(cluster, folder, command, n_tasks=4):
    """The number of a job of two nodes which runs one command."""
    words = ["sbatch", "--parsable", "--no-requeue", "--nodes=2", f"--ntasks={n_tasks}", "--output=told", "--wrap", command]
    return subprocess.run(words, env=cluster, cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


def ended(cluster, job):
    """Return state and exit code of a job after its end."""
    for _ in range(600):
        told = subprocess.run(["scontrol", "show", "job", job], env=cluster, check=True, capture_output=True, text=True).stdout
        state, code = re.search(r"JobState=(\S+)", told)[1], re.search(r"ExitCode=(\d+)", told)[1]
        if state in ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT"):
            return state, int(code)
        time.sleep(0.2)
    raise AssertionError(f"job {job} does not end: {told}")


def begun(folder):
    """Wait until the folder contains a file."""
    for _ in range(600):
        if list(folder.glob("kept/chunk-*")):
            return
        time.sleep(0.1)
    raise AssertionError((folder / "told").read_text())


def neighbors(long_set):  # noqa: F811
    return f"ddsc-mpi neighbors {long_set} --exact-graph full --threads 1 --resume kept -o graph.mtx"


@pytest.mark.parametrize("launcher", ["srun --kill-on-bad-exit=1", "mpirun -q -n $SLURM_NTASKS"])
def test_ends_and_goes_on(ddsc, cluster, long_set, tmp_path, launcher):  # noqa: F811
    """A rank is killed, then Slurm signals the time limit, then other ranks finish with the bytes of ddsc."""
    ddsc("neighbors", long_set, *LONG[:2], "-o", tmp_path / "alone.mtx")
    job = submit(cluster, tmp_path, f"exec {launcher} {neighbors(long_set)}")
    begun(tmp_path)
    found = [pid for pid, (name, _, _) in processes().items()
             if name == "ddsc-mpi-rank" and str(long_set) in open(f"/proc/{pid}/cmdline").read()]
    assert len(found) == 4
    os.kill(found[-1], signal.SIGKILL)
    state, code = ended(cluster, job)
    told = (tmp_path / "told").read_text()
    # srun returns the largest exit code of its tasks, and ends the remaining ones by a signal.
    assert state == "FAILED" and (code >= 7 if launcher.startswith("srun") else code == 7)
    assert told.count("was lost: killed by signal 9") == 1
    if launcher.startswith("srun"):
        n_kept = len(list(tmp_path.glob("kept/chunk-*")))
        job = submit(cluster, tmp_path, f"exec {launcher} {neighbors(long_set)}", 3)
        while len(list(tmp_path.glob("kept/chunk-*"))) == n_kept:
            time.sleep(0.1)
        subprocess.run(["scancel", "--signal=TERM", job], env=cluster, check=True)
        assert ended(cluster, job) == ("FAILED", 75)
        assert "interrupted; run the same command again" in (tmp_path / "told").read_text()
    assert not (tmp_path / "graph.mtx").exists()
    job = submit(cluster, tmp_path, f"exec {launcher} {neighbors(long_set)}", 2)
    assert ended(cluster, job) == ("COMPLETED", 0)
    assert (tmp_path / "graph.mtx").read_bytes() == (tmp_path / "alone.mtx").read_bytes()
