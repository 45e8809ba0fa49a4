"""The build names a missing library and the command that installs it."""
import os
import pathlib
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
pytestmark = [
    pytest.mark.skipif(bool(os.environ.get("DDSC_SANITIZED")), reason="skipped: the build is no other with sanitizers"),
    pytest.mark.skipif(not shutil.which("cmake"), reason="skipped: no cmake"),
]


def configure(source, folder, *hidden):
    """Return the output of CMake if libraries are not found. An empty name is a library that was not found."""
    command = ["cmake", "-S", source, "-B", folder, "-DPython_EXECUTABLE=/usr/bin/python3"]
    done = subprocess.run([*command, *(f"-D{word}" for word in hidden)], capture_output=True, text=True)
    return done.returncode, " ".join(done.stderr.split())


@pytest.mark.parametrize("hidden, told, package", [
    ("OPENBLAS_LIBRARY=", "OpenBLAS", "libopenblas-openmp-dev"),
    ("CBLAS_INCLUDE=", "cblas.h", "libopenblas-openmp-dev"),
    ("LAPACKE_LIBRARY=", "LAPACKE", "liblapacke-dev"),
    ("LAPACKE_INCLUDE=", "lapacke.h", "liblapacke-dev"),
    ("JANSSON_LIBRARY=", "jansson", "libjansson-dev"),
    ("JANSSON_INCLUDE=", "jansson.h", "libjansson-dev"),
    ("CMOCKA_LIBRARY=", "cmocka (or -DDDSC_TESTS=OFF)", "libcmocka-dev"),
    ("CMAKE_DISABLE_FIND_PACKAGE_ZLIB=ON", "zlib", "zlib1g-dev"),
    ("CMAKE_DISABLE_FIND_PACKAGE_OpenMP=ON", "OpenMP (libgomp)", "gcc"),
])
def test_what_is_missing_is_named(tmp_path, hidden, told, package):
    code, said = configure(ROOT, tmp_path, hidden, "DDSC_TESTS=ON")
    assert code != 0 and f"not found: {told}. On Debian or Ubuntu: sudo apt install {package} " in said + " "


def test_all_is_named_at_once(tmp_path):
    code, said = configure(ROOT, tmp_path, "OPENBLAS_LIBRARY=", "LAPACKE_LIBRARY=", "JANSSON_LIBRARY=")
    assert code != 0 and "sudo apt install libopenblas-openmp-dev liblapacke-dev libjansson-dev " in said


def test_the_python_package_says_the_same(tmp_path):
    hidden = ("OPENBLAS_LIBRARY=", "JANSSON_LIBRARY=")
    code, said = configure(ROOT / "python", tmp_path / "a", *hidden)
    assert code != 0 and "sudo apt install libopenblas-openmp-dev libjansson-dev" in said
    assert "pip install scipy-openblas32" in said
    code, said = configure(ROOT / "python", tmp_path / "b", "CMAKE_DISABLE_FIND_PACKAGE_Python=ON")
    assert code != 0 and "sudo apt install python3-dev" in said


def test_what_is_optional_is(tmp_path):
    hidden = ("CMAKE_DISABLE_FIND_PACKAGE_PNG=ON", "CMAKE_DISABLE_FIND_PACKAGE_JPEG=ON", "ZSTD_LIBRARY=", "HDF5_LIBRARY=",
              "CAIRO_LIBRARY=")
    code, said = configure(ROOT, tmp_path, "DDSC_TESTS=OFF", *hidden)
    assert code == 0, said
