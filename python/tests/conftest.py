import ctypes
import os
import pathlib

import numpy as np
import pytest

import ddsc

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def data():
    """Return the folder of the real data sets. Tests that need it are skipped if it does not exist."""
    for folder in (os.environ.get("DDSC_DATA"), ROOT.parent / "shared" / "data"):
        if folder and os.path.isdir(folder):
            return pathlib.Path(folder)
    pytest.skip("no real data here (DDSC_DATA names their folder)")


def kernels():
    """Return the kernels of the OpenBLAS in this process, which NumPy may have loaded before the package."""
    _ = ddsc.__version__
    with open("/proc/self/maps") as maps:
        found = sorted({line.split()[-1] for line in maps if "libopenblas" in line}, key=lambda p: "ddsc" not in p)
    name = getattr(ctypes.CDLL(found[0]), "openblas_get_corename", None) if found else None
    if name is None:
        return None
    name.restype = ctypes.c_char_p
    return name().decode()


@pytest.fixture(scope="session")
def program():
    """Return the program built from the same sources, run with the same BLAS kernels so that results are byte-identical."""
    if "OPENBLAS_CORETYPE" not in os.environ and kernels():
        os.environ["OPENBLAS_CORETYPE"] = kernels()
    path = os.environ.get("DDSC", str(ROOT / "build" / "ddsc"))
    if not os.path.exists(path):
        pytest.skip("the program ddsc is not built")
    return path


@pytest.fixture
def clouds():
    """Return two groups of weighted clouds of different sizes."""
    rng = np.random.default_rng(5)
    points = [rng.normal(4 * (i % 2), 1, (rng.integers(4, 12), 3)) for i in range(24)]
    return points, [rng.uniform(0.1, 1, len(p)) for p in points]
