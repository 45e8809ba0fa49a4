"""Fixtures of the MPI tests: both programs, mpirun, and small sets."""
import os
import pathlib
import shutil
import signal
import subprocess

import pytest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
DEEP = bool(os.environ.get("DDSC_DEEP"))
BUILD = pathlib.Path(os.environ.get("DDSC_BUILD", "build")).resolve()
PROGRAM, RANKS = str(BUILD / "ddsc"), str(BUILD / "ddsc-mpi")
# Allows root and more ranks than processors; waiting ranks yield the processor.
ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_mpi_yield_when_idle": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_btl_base_warn_component_unused": "0"}


def pytest_collection_modifyitems(items):
    missing = None if shutil.which("mpirun") and os.path.exists(RANKS) else "skipped: no mpirun, or ddsc-mpi was not built"
    for item in items:
        if missing:
            item.add_marker(pytest.mark.skip(reason=missing))


@pytest.fixture(scope="session")
def data_dir():
    path = pathlib.Path(os.environ.get("DDSC_DATA", SOURCE.parent / "shared" / "data"))
    if not path.is_dir():
        pytest.skip("skipped: no folder of real data")
    return path


@pytest.fixture(scope="session")
def ddsc():
    def run(*words, code=0, cwd=None):
        done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, cwd=cwd, timeout=300)
        assert done.returncode == code, f"{words}: exit {done.returncode}: {done.stderr}"
        return done

    return run


@pytest.fixture(scope="session")
def start():
    """Start a job with this number of ranks of a program, in its own process group."""
    jobs = []

    def begin(n, *words, cwd=None, env=None, program=RANKS, each=(), stdin=subprocess.DEVNULL):
        command = ["mpirun", "-q", "--bind-to", "none", *each, "-n", str(n), program, *map(str, words)]
        job = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=cwd,
                               stdin=stdin, env={**os.environ, **ENVIRONMENT, **(env or {})},
                               start_new_session=True)
        jobs.append(job)
        return job

    yield begin
    for job in jobs:
        if job.poll() is None:
            os.killpg(job.pid, signal.SIGKILL)
            job.wait()


@pytest.fixture(scope="session")
def ranks(start):
    """Run the job to its end and check the exit code. A job that hangs fails the test."""

    def run(n, *words, code=0, timeout=240, **how):
        job = start(n, *words, **how)
        out, err = job.communicate(timeout=timeout)
        assert job.returncode == code, f"{words} on {n}: exit {job.returncode}: {err}"
        job.out, job.err = out, err
        return job

    return run
