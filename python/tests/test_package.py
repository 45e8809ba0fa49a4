"""Tests of the files in the package."""

import json
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
    recipe = ("packaging/conda-forge/recipe.yaml", f'version: "{version}"')
    for file, wanted in (("CITATION.cff", f"version: {version}\n"), ("man/ddsc.1", f'"ddsc {version}"'), recipe,
                         ("r/ddsc/DESCRIPTION", f"Version: {version}\n")):
        if (ROOT / file).exists():
            assert wanted in (ROOT / file).read_text(), file


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
        "c/cli/main.c",
        "c/include/ddsc/ddsc.h",
        "c/src/base/version.h.in",
        "c/src/distance/exact/simplex.c",
    ):
        assert wanted in names, wanted
    assert not any("__pycache__" in n or n.startswith("c/tests") for n in names)
    assert os.path.getsize(path) < 2_000_000


def run_module(*words, **more):
    return subprocess.run([sys.executable, "-m", "ddsc", *words], capture_output=True, text=True, **more)


def test_the_program_is_inside(tmp_path):
    done = run_module("--version")
    assert done.returncode == 0 and done.stdout.split()[:2] == ["ddsc", ddsc.__version__]
    assert run_module("clutser").returncode == 2
    assert run_module("generate", "shapes", "-o", str(tmp_path / "s.npz")).returncode == 0
    found = run_module("cluster", str(tmp_path / "s.npz"), "-k", "2", "--json")
    labels = ddsc.DDSC(2).fit_predict(ddsc.read(tmp_path / "s.npz"))
    assert json.loads(found.stdout)["labels"] == labels.tolist()
    piped = run_module("score", "-", "--help", input="")
    assert piped.returncode == 0 and "Usage" in piped.stdout


def test_nothing_is_loaded_before_it_is_asked_for():
    code = "import sys, ddsc; assert not {'numpy', 'sklearn', 'ddsc._core'} & set(sys.modules); print(ddsc.__version__)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == ddsc.__version__
    assert set(ddsc.__all__) <= set(dir(ddsc))
    assert all(getattr(ddsc, name) is not None for name in ddsc.__all__)
    with pytest.raises(AttributeError, match="no attribute 'DDCS'"):
        ddsc.DDCS


def test_pickles_of_version_0_2_0_find_their_classes():
    from ddsc import _distributions, _estimator

    assert _estimator._Model.__getstate__ and _estimator.DDSC is ddsc.DDSC
    assert _distributions._Files(()).__reduce__()[0] is _distributions._Files
    assert _distributions.Distributions is ddsc.Distributions
