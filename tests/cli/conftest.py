"""Fixtures of the end-to-end tests: the program and small sets."""
import json
import os
import pathlib
import subprocess

import numpy as np
import pytest

PROGRAM = os.path.abspath(os.environ.get("DDSC", "build/ddsc"))
SOURCE = pathlib.Path(__file__).resolve().parents[2]


# Large sets take up to a minute in a program with sanitizers, and reach no code that small sets do not.
not_sanitized = pytest.mark.skipif(bool(os.environ.get("DDSC_SANITIZED")) and not os.environ.get("DDSC_DEEP"),
                               reason="skipped: takes too long with sanitizers, unless DDSC_DEEP is set")


@pytest.fixture(scope="session")
def program():
    return PROGRAM


@pytest.fixture(scope="session")
def source():
    return SOURCE


@pytest.fixture(scope="session")
def data_dir():
    path = pathlib.Path(os.environ.get("DDSC_DATA", SOURCE.parent / "shared" / "data"))
    if not path.is_dir():
        pytest.skip("no folder of real data")
    return path


@pytest.fixture(scope="session")
def ddsc():
    """Run the program and check its exit code. Standard output is text unless binary=True."""

    def run(*words, code=0, stdin=None, binary=False, cwd=None, env=None):
        done = subprocess.run([PROGRAM, *map(str, words)], input=stdin, capture_output=True,
                              cwd=cwd, env={**os.environ, **(env or {})}, timeout=300)
        done.stderr = done.stderr.decode()
        if not binary:
            done.stdout = done.stdout.decode()
        assert done.returncode == code, f"{words}: exit {done.returncode}: {done.stderr}"
        return done

    return run


@pytest.fixture
def at_work(program):
    """Start the program and wait until it reports progress, so that it receives signals sent afterwards."""
    jobs = []

    def start(*words, cwd=None, preexec_fn=None):
        job = subprocess.Popen([program, *map(str, words), "--progress", "jsonl"], cwd=cwd,
                               stderr=subprocess.PIPE, text=True, preexec_fn=preexec_fn)
        jobs.append(job)
        for line in job.stderr:
            if line.startswith("{") and json.loads(line).get("done", 0) > 0:
                return job
        raise AssertionError(f"{words} ended before it reported progress: {job.wait()}")

    yield start
    for job in jobs:
        job.kill()
        job.wait()


def clouds(n_groups, n_items, n_points, dim, seed, separation=8.0):
    """Return clusters of normal clouds as the arrays of an npz file."""
    random = np.random.default_rng(seed)
    points, labels = [], []
    for g in range(n_groups):
        for _ in range(n_items):
            center = np.zeros(dim)
            center[0] = separation * g
            points.append(random.normal(center, 1, (n_points, dim)))
            labels.append(g)
    sizes = [len(p) for p in points]
    return {"points": np.vstack(points), "weights": np.ones(sum(sizes)),
            "offsets": np.concatenate([[0], np.cumsum(sizes)]), "labels": np.array(labels)}


@pytest.fixture(scope="session")
def three_groups(tmp_path_factory):
    """Three well separated clusters of 15 clouds, with labels."""
    path = tmp_path_factory.mktemp("data") / "three.npz"
    np.savez(path, **clouds(3, 15, 8, 2, 1))
    return path


@pytest.fixture(scope="session")
def with_empty(tmp_path_factory):
    """Two clusters of 12 clouds; rows 0 and 7 have no mass."""
    path = tmp_path_factory.mktemp("data") / "empty.npz"
    parts = clouds(2, 12, 6, 2, 2)
    for row in (0, 7):
        parts["weights"][parts["offsets"][row]:parts["offsets"][row + 1]] = 0
    np.savez(path, **parts)
    return path


@pytest.fixture(scope="session")
def slow_set(tmp_path_factory):
    """Items whose exact distances take minutes."""
    path = tmp_path_factory.mktemp("data") / "slow.npz"
    np.savez(path, **clouds(4, 75, 150, 5, 3, separation=1.0))
    return path
