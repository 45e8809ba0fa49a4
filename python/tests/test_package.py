"""What is shipped."""

import os
import pathlib
import re
import subprocess
import sys
import tarfile

import pytest

import ddsc

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_versions_agree():
    header = (ROOT / "include" / "ddsc" / "ddsc.h").read_text()
    version = ".".join(re.findall(r"^#define DDSC_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$", header, re.M))
    package = re.search(r'^version = "([0-9.]+)"', (ROOT / "python" / "pyproject.toml").read_text(), re.M)
    assert version == package.group(1) == ddsc.__version__


def test_the_library_and_the_types_are_inside():
    folder = pathlib.Path(ddsc.__file__).parent
    assert (folder / "py.typed").exists() and (folder / "_core.pyi").exists()
    if "site-packages" in str(folder):
        assert (folder / "lib" / "libddsc.so").exists()
        with open("/proc/self/maps") as maps:
            loaded = {line.split()[-1] for line in maps if "libddsc" in line}
        assert loaded == {str(folder / "lib" / "libddsc.so")}


def test_the_source_distribution_holds_the_library(tmp_path):
    pytest.importorskip("scikit_build_core")
    code = f"import scikit_build_core.build as b; print(b.build_sdist({str(tmp_path)!r}))"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT / "python", check=True, capture_output=True)
    (path,) = tmp_path.glob("*.tar.gz")
    names = {n.split("/", 1)[1] for n in tarfile.open(path).getnames() if "/" in n}
    for wanted in (
        "pyproject.toml",
        "CMakeLists.txt",
        "LICENSE",
        "ddsc/__init__.py",
        "ddsc/py.typed",
        "src/module.c",
        "c/CMakeLists.txt",
        "c/cmake/Dependencies.cmake",
        "c/include/ddsc/ddsc.h",
        "c/src/base/version.h.in",
        "c/src/exact/simplex.c",
    ):
        assert wanted in names, wanted
    assert not any("__pycache__" in n or n.startswith("c/tests") for n in names)
    assert os.path.getsize(path) < 2_000_000
