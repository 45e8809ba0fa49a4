"""The terminal summary: six lines, one for the candidates if K is not specified, one per cluster, and everything with
-v."""
import re

import numpy as np
import pytest


@pytest.fixture(scope="module")
def sets(tmp_path_factory, ddsc, source):
    folder = tmp_path_factory.mktemp("sets")
    ddsc("generate", "shapes", "--items", 10, "--points", 8, "-o", folder / "shapes.npz", "-q")
    ddsc("generate", "gaussians", "--clusters", 20, "--items", 12, "--points", 10, "--separation", 30,
         "-o", folder / "twenty.npz", "-q")
    documents = source / "tests" / "data" / "v0.2.0" / "documents" / "model.npz"
    return {"shapes": (folder / "shapes.npz", 2), "documents": (documents, 3), "twenty": (folder / "twenty.npz", 20)}


@pytest.mark.parametrize("name", ["shapes", "documents", "twenty"])
@pytest.mark.parametrize("k", ["K", "2:K", "auto"])
def test_lines(ddsc, sets, tmp_path, name, k):
    path, n = sets[name]
    words = ("cluster", path, "-k", k.replace("K", str(n)) if k != "2:K" or n > 2 else "2:4", "-o", tmp_path / "r")
    lines = ddsc(*words).stdout.splitlines()
    clusters = [line for line in lines if re.match(r"  cluster \d+ ", line)]
    found = int(re.search(r"items in ([\d,]+) cluster", lines[0]).group(1))
    more = [line for line in lines if re.fullmatch(r" +and \d+ more", line)]
    assert len(clusters) == min(found, 10) and len(lines) - len(clusters) - len(more) <= (6 if k == "K" else 7)
    assert [line.split()[1] for line in more] == ([str(found - 10)] if found > 10 else [])
    assert lines[1].startswith("  verdict ") and lines[-1].split() == ["report", str(tmp_path / "r" / "report.html")]
    assert lines[-2].startswith("  next ")
    assert [line.split()[:3] for line in lines if "candidates" in line] == ([] if k == "K" else [["candidates", "K", "="]])
    whole = ddsc(*words, "-v", "-f").stdout.splitlines()
    brief = [line for line in lines if line not in more]
    assert [line for line in whole if line in brief] == brief and len(whole) > len(lines)
    assert len([line for line in whole if re.match(r"  cluster \d+ ", line)]) == found
    assert any(line.startswith("  seconds ") for line in whole) and not any("seconds" in line for line in lines)


def test_words_of_documents(ddsc, sets):
    """Clusters are shown with their words, and with typical items if there are neither words nor markers."""
    lines = ddsc("cluster", sets["documents"][0], "-k", 3).stderr.splitlines()
    assert any(re.search(r"6 items: .*\brose\b", line) for line in lines)
    assert "  report       none; -o DIR writes one" in lines


def test_typical_items(ddsc, tmp_path):
    rng = np.random.default_rng(0)
    np.save(tmp_path / "x.npy", rng.normal(size=(12, 3, 70)) + np.repeat([0, 9], 6)[:, None, None])
    lines = ddsc("cluster", tmp_path / "x.npy", "-k", 2).stderr.splitlines()
    assert sum(bool(re.search(r"cluster \d +6 items: typical \d+, \d+, \d+$", line)) for line in lines) == 2


def test_one_line_per_note(ddsc, three_groups):
    """Each note of the advice is one line, whatever its length."""
    notes = [line for line in ddsc("cluster", three_groups, "-k", 2, "--tau", 3).stderr.splitlines()
             if line.startswith("ddsc: ")]
    assert notes and all(line.startswith("ddsc: advice: ") and line.endswith(".") for line in notes)
