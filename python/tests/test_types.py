"""Type checks of the package and of a user program with mistakes, and of the literals for option values."""

import inspect
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import typing

import pytest

import ddsc
from ddsc import _types, _words

PYTHON = pathlib.Path(__file__).resolve().parents[1]
USE = PYTHON / "tests" / "typed" / "use.py"


def wrong_lines():
    return {n for n, line in enumerate(USE.read_text().splitlines(), 1) if line.endswith("# wrong")}


def test_mypy(tmp_path):
    pytest.importorskip("mypy")
    words = ["--strict", "--ignore-missing-imports", "--cache-dir", str(tmp_path), "ddsc", str(USE)]
    done = subprocess.run([sys.executable, "-m", "mypy", *words], cwd=PYTHON, capture_output=True, text=True)
    errors = [line for line in done.stdout.splitlines() if ": error:" in line]
    others = [line for line in errors if "use.py" not in line]
    errors = [line for line in errors if "use.py" in line]
    assert not others, "\n".join(others)
    assert {int(re.search(r":(\d+):", line).group(1)) for line in errors} == wrong_lines(), done.stdout


def test_pyright():
    program = shutil.which("pyright") or str(pathlib.Path(sys.executable).parent / "pyright")
    if not os.path.exists(program):
        pytest.skip("pyright is not installed")
    words = ["--outputjson", "--pythonpath", sys.executable, "ddsc", str(USE)]
    done = subprocess.run([program, *words], cwd=PYTHON, capture_output=True, text=True)
    try:
        told = json.loads(done.stdout[done.stdout.index("{") :])
    except ValueError:
        pytest.skip("pyright does not run here: " + (done.stderr or done.stdout)[-200:])
    errors = [e for e in told["generalDiagnostics"] if e["severity"] == "error"]
    # Modules that are not installed are not checked. _base.py is not checked either, because _base.pyi describes it.
    errors = [e for e in errors if e.get("rule") != "reportMissingImports" and not e["file"].endswith("_base.py")]
    others = [f"{e['file']}:{e['range']['start']['line'] + 1} {e['message']}" for e in errors if "use.py" not in e["file"]]
    assert not others, "\n".join(others)
    assert {e["range"]["start"]["line"] + 1 for e in errors} == wrong_lines()


def public_signatures():
    for name in ddsc.__all__:
        thing = getattr(ddsc, name)
        if inspect.isfunction(thing):
            yield name, thing
        elif inspect.isclass(thing) and thing.__module__.startswith("ddsc"):
            own = {}
            for part in reversed([part for part in thing.__mro__ if part.__module__.startswith("ddsc")]):
                own.update(vars(part))
            for word, member in own.items():
                member = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
                if inspect.isfunction(member) and (not word.startswith("_") or word in ("__init__", "__getitem__")):
                    yield f"{name}.{word}", member
        elif inspect.ismodule(thing):
            for word in thing.__all__:
                if inspect.isfunction(getattr(thing, word)):
                    yield f"{name}.{word}", getattr(thing, word)


def test_no_any_in_public_signatures():
    found = dict(public_signatures())
    assert len(found) > 50
    for name, function in found.items():
        signature = inspect.signature(function)
        for p in signature.parameters.values():
            if p.name not in ("self", "cls"):
                assert p.annotation is not inspect.Parameter.empty, f"{name}({p.name}) has no type"
                assert "Any" not in re.findall(r"\w+", str(p.annotation)), f"{name}({p.name}: {p.annotation})"
        assert "Any" not in re.findall(r"\w+", str(signature.return_annotation)), f"{name} -> Any"


@pytest.mark.parametrize(
    ("type_", "table"),
    [
        ("Metric", "METRICS"), ("Cost", "COSTS"), ("SinkhornValue", "SINKHORN_VALUES"), ("Kernel", "KERNELS"),
        ("Estimator", "ESTIMATORS"), ("Reference", "REFERENCES"), ("ExactGraph", "GRAPHS"), ("Hubs", "HUBS"),
        ("Method", "METHODS"), ("VectorsFrom", "VECTORS"), ("Centers", "CENTERS"), ("OnEmpty", "ON_EMPTY"),
        ("BarycenterMethod", "BARYCENTERS"), ("Normalize", "NORMALIZE"), ("Align", "ALIGN"), ("Words", "WORDS"),
    ],
)  # fmt: skip
def test_words_are_those_of_the_tables(type_, table):
    assert set(typing.get_args(getattr(_types, type_))) == set(getattr(_words, table))


def test_settings_are_those_of_the_metrics():
    known = set(inspect.signature(_words.metric_settings).parameters) - {"metric"}
    assert set(_types.MetricSettings.__annotations__) == known
    joined = {len(m.split("+")) for m in typing.get_args(_types.JoinedMetric)}
    assert joined == {2, 3, 4, 5} and len(typing.get_args(_types.JoinedMetric)) == 26
