"""The Python example in docs/scale.md, and two nodes in namespaces."""
import os
import re
import shutil
import subprocess
import sys

import pytest

from conftest import BUILD, ENVIRONMENT, RANKS, SOURCE
from test_same import clouds


def test_example_for_mpi4py(tmp_path):
    pytest.importorskip("mpi4py", reason="skipped: no mpi4py")
    clouds(tmp_path / "clouds.npz", 3, 20, 6, 2, 1)
    code, = re.findall(r"```python\n(.*?)```", (SOURCE / "docs" / "scale.md").read_text(), re.S)
    (tmp_path / "example.py").write_text(code + "print(len(labels), len(set(labels)))\n")
    done = subprocess.run([sys.executable, "example.py"], cwd=tmp_path, capture_output=True, text=True, timeout=120,
                          env={**os.environ, **ENVIRONMENT, "PATH": f"{BUILD}:{os.environ['PATH']}"})
    assert done.returncode == 0, done.stderr
    assert "60 3" in done.stdout.splitlines()  # the ranks also write output


def test_two_nodes(ddsc, tmp_path):
    if os.getuid() != 0 or not shutil.which("ip") or subprocess.run(["unshare", "-nu", "true"]).returncode != 0:
        pytest.skip("skipped: no namespaces to be had")
    some = clouds(tmp_path / "some.npz", 3, 60, 8, 3, 1)
    ddsc("neighbors", some, "-o", tmp_path / "alone.mtx")
    done = subprocess.run([SOURCE / "bench" / "two_nodes.sh", "2", RANKS, "neighbors", some, "-o", tmp_path / "graph.mtx"],
                          capture_output=True, text=True, timeout=120)
    if "Operation not permitted" in done.stderr or "netns" in done.stderr:
        pytest.skip("skipped: no namespaces to be had")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "graph.mtx").read_bytes() == (tmp_path / "alone.mtx").read_bytes()
