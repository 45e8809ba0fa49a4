"""Compares the names in docs/options.md with the program, Python and C."""

import inspect
import pathlib
import re
import subprocess

import pytest

import ddsc
from ddsc import _words

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORDS = ("-", "take the root first")


def rows():
    text = (ROOT / "docs" / "options.md").read_text()
    found = re.findall(r"^\| (.+) \| (.+) \| (.+) \|$", text, re.M)
    return [row for row in found if row[0] != "program"]


def names(cell):
    return [] if cell in WORDS else re.findall(r"`([^`]+)`", cell)


def test_the_program_has_these_options(program):
    script = subprocess.run([program, "completion", "fish"], check=True, capture_output=True, text=True).stdout
    lines = [x for x in script.split("\n") if "__fish_seen_subcommand_from cluster'" in x]
    options = {re.search(r"-l ([a-z0-9-]+)", line).group(1) for line in lines if " -l " in line}
    letters = {m.group(2): m.group(1) for m in (re.search(r"-l ([a-z0-9-]+) -s (\w)", x) for x in lines) if m}
    told = [name for row in rows() for name in names(row[0])]
    assert sorted(n[2:] for n in told if n.startswith("--")) == sorted(options)
    for row in rows():
        for name in names(row[0]):
            if not name.startswith("--"):
                assert f"--{letters[name[1:]]}" in names(row[0])


def test_python_has_these_parameters():
    told = [name for row in rows() for name in names(row[1])]
    seen = set()
    for name in told:
        path, bracket, parameter = name.partition("(")
        thing = ddsc
        for part in path.split("."):
            if thing is ddsc.DDSC and part.endswith("_"):
                documented = re.search(rf"^\s+{part}\b", inspect.getsource(ddsc.DDSC), re.M)
                assert documented or isinstance(getattr(ddsc.DDSC, part, None), property), name
                break
            thing = getattr(thing, part)
        else:
            parameter = parameter.rstrip(")").split("=")[0]
            if parameter:
                assert parameter in inspect.signature(thing).parameters, name
            if thing is ddsc.DDSC:
                seen.add(parameter)
        assert bracket or path.endswith("_"), name
    assert seen == set(inspect.signature(ddsc.DDSC).parameters)
    reading = {n.split("(")[1][:-1] for n in told if n.startswith("read(")}
    assert reading == set(inspect.signature(ddsc.read).parameters) - {"path", "transforms"}
    changing = {n.split("(")[1][:-1] for n in told if n.startswith("Distributions.transformed(")}
    assert changing == set(inspect.signature(ddsc.Distributions.transformed).parameters) - {"self", "random_state"}


def test_the_header_has_these_names():
    header = (ROOT / "include" / "ddsc" / "ddsc.h").read_text()
    for row in rows():
        struct = ""
        for name in names(row[2]):
            struct, dot, field = name.partition(".") if name.startswith("ddsc_") else (struct, ".", name)
            assert re.search(rf"\b{struct}\b", header), name
            if dot:
                body = re.search(rf"typedef struct {struct} {{(.*?)}} {struct};", header, re.S)
                assert body and re.search(rf"\b{field}\b", body.group(1)), name


@pytest.mark.parametrize("struct", ["metric", "graph", "cluster", "read", "transform"])
def test_no_setting_of_c_is_forgotten(struct):
    """All settings are listed, except those that neither the program nor Python offers, and deprecated spellings."""
    inner = {"normalise", "struct_size", "metric", "graph", "eigen_tolerance", "eigen_max_iterations", "joined", "max_bytes", "cost_size"}
    header = (ROOT / "include" / "ddsc" / "ddsc.h").read_text()
    body = re.search(rf"typedef struct ddsc_{struct}_settings {{(.*?)}} ", header, re.S).group(1)
    body = re.sub(r"/\*.*?\*/", "", body, flags=re.S)
    fields = {f.strip(" *") for line in re.findall(r"[\w ]+ ([\w*, ]+);", body) for f in line.split(",")}
    told = {n.split(".")[-1] for row in rows() if f"ddsc_{struct}_settings" in row[2] for n in names(row[2])}
    told |= {"arcsinh"} if struct == "read" else set()
    assert fields - inner <= told, fields - inner - told


def test_metrics_are_also_called_the_same():
    source = (ROOT / "cli" / "metrics.c").read_text()
    table = source[source.index("also_called[]") : source.index("};", source.index("also_called[]"))]
    theirs = dict(re.findall(r'\{"([^"]+)", "([^"]+)"\}', table))
    ours = {name: metric for name, metric in _words.ALSO_CALLED.items() if name not in _words.METRICS}
    assert len(theirs) > 10 and ours == theirs
