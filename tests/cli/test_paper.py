"""tools/paper.py: single rows, resuming, and the page, which is generated only from the stored rows."""
import json
import os
import pathlib
import subprocess
import sys

import pytest


def run(source, tmp_path, *words, data=None, code=0):
    env = {**os.environ, "DDSC_DATA": str(data or tmp_path / "none"), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([sys.executable, source / "tools" / "paper.py", "--results", tmp_path, *map(str, words)],
                          capture_output=True, text=True, env=env, timeout=300)
    assert done.returncode == code, done.stderr
    return done


def test_committed_page_is_made_from_the_stored_rows(source, tmp_path):
    """Regenerate the page with: ./run paper --page"""
    run(source, tmp_path, "--page", "-o", tmp_path / "paper.md")
    assert (tmp_path / "paper.md").read_text() == (source / "docs" / "paper.md").read_text()
    details = pathlib.Path("notes", "paper-details.md")
    assert (tmp_path / details).read_text() == (source / "docs" / details).read_text()
    picture = tmp_path / "noise.svg"
    assert not picture.exists() or picture.read_text() == (source / "docs" / "noise.svg").read_text()
    assert len((source / "docs" / "paper.md").read_text().split()) <= 2500


def test_list(source, tmp_path):
    lines = run(source, tmp_path, "--list").stdout.splitlines()
    names = [line.split()[0] for line in lines[:-1]]
    assert len(names) == len(set(names)) and all("CPU s" in line for line in lines)
    for name in ("mnist/mmd-paper", "bbc/w2-best", "reuters/lot-defaults", "incomplete/columns-10", "causes/bbc-lemmas"):
        assert name in names
    assert [n for n in names if n.startswith("fashion-mnist/")] == [
        line.split()[0] for line in run(source, tmp_path, "--list", "--only", "fashion-mnist").stdout.splitlines()[:-1]]
    assert len(run(source, tmp_path, "--list", "--only", "text", "--method", "lot").stdout.splitlines()) == 10
    assert "see --list" in run(source, tmp_path, "--row", "no-such-row", code=2).stderr


def test_shapes(source, tmp_path):
    """Stored rows are not computed again; other rows are shown as missing."""
    words = ["--quick", "--only", "synthetic", "--row", "w2", "kmeans"]
    page = run(source, tmp_path, *words).stdout
    assert "|w2|1.0|1.000|1.000|" in page and "|mmd|1.0|not computed|not computed|" in page
    again = run(source, tmp_path, *words)
    assert again.stdout == page and "0 CPU seconds" in again.stderr
    kept = json.loads((tmp_path / "paper-quick" / "rows" / "synthetic--w2.json").read_text())
    assert kept["ami"] == 1 and kept["runs"] == 2 and kept["command"] == "ddsc cluster shapes.npz --clusters=2 --metric=w2 --paper"
    assert "rows have not been computed yet" in page
    assert run(source, tmp_path, "--quick", "--only", "synthetic", "--row", "lot", "--budget", 0).stdout == page


def test_without_data(source, tmp_path):
    done = run(source, tmp_path, "--quick", "--only", "mnist", "--row", "lot-paper")
    assert "mnist/lot-paper skipped" in done.stderr and "|**lot**|.675/.499|not computed|" in done.stdout


def test_rows_of_real_data(source, tmp_path, data_dir, ddsc):
    """The command shown on the page gives the value stored in the row."""
    rows = ["--row", "lot-paper", "lot-defaults", "lot-best", "sc-pixels"]
    page = run(source, tmp_path, "--quick", "--only", "mnist", *rows, data=data_dir).stdout
    folder = tmp_path / "paper-quick"
    kept = json.loads((folder / "rows" / "mnist--lot-paper.json").read_text())
    assert kept["command"] in page and kept["command"].startswith("ddsc cluster mnist-0.npz --paper --metric=lot")
    done = json.loads(ddsc(*kept["command"].split()[1:], "--json", cwd=folder).stdout)
    # Each of two runs differs from their mean by the standard deviation.
    assert abs(done["scores"]["ami"] - kept["ami"]) == pytest.approx(kept["ami_sd"], abs=1e-4)
    assert page.count("not computed") > 50


@pytest.mark.parametrize("metric", ["mmd", "sinkhorn", "w2", "lot"])
def test_stored_rows_are_current(source, tmp_path, data_dir, ddsc, metric):
    """The current program gives the values of the stored rows with the commands on the page."""
    rows = source / "tools" / "paper_tables" / "rows"
    made = json.loads((rows / "data--bbcsport.json").read_text())["command"].split()[1:]
    kept = json.loads((rows / f"bbcsport--{metric}-paper.json").read_text())
    for word in made[1:]:
        if (data_dir / "text" / word).exists():
            (tmp_path / word).symlink_to(data_dir / "text" / word)
    ddsc(*made, cwd=tmp_path)
    done = json.loads(ddsc(*kept["command"].split()[1:], "--json", cwd=tmp_path).stdout)
    for score in ("ami", "ari"):  # the row is the mean of five runs, of which this is the first
        assert done["scores"][score] == pytest.approx(kept[score], abs=3 * kept[score + "_sd"] + 1e-4)


def test_noise(source, tmp_path, data_dir):
    done = run(source, tmp_path, "--quick", "--only", "noise", "--row", "shapes-w2", "digits-W_eps-epsilon-500", data=data_dir)
    assert "|W_eps(500)|+" in done.stdout
    kept = json.loads((tmp_path / "paper-quick" / "rows" / "noise--shapes-w2.json").read_text())
    assert kept["errors"][0] == 0 and kept["errors"][3] > kept["errors"][1] > 0


def test_running_time(source, tmp_path, data_dir):
    page = run(source, tmp_path, "--quick", "--only", "time", "--row", "mnist-w2", data=data_dir).stdout
    kept = json.loads((tmp_path / "paper-quick" / "rows" / "time--mnist-w2.json").read_text())
    assert kept["full"] > 0 and kept["pruned"] > 0 and "|1545.5; " in page


@pytest.mark.parametrize("changes, expected", [
    ((.01, .04, ""), "b"), ((.04, .05, .01), "a, b"), ((.01, -.2, ""), "none of these"), ((.01, None, ""), "not computed")])
def test_causes(source, changes, expected):
    """A cause is listed if it raises a row from .05 below the paper to within .02."""
    code = f"from paper_tables.page import explained; print(explained(-.05, {changes!r}, 'abc'))"
    done = subprocess.run([sys.executable, "-B", "-c", code], cwd=source / "tools", capture_output=True, text=True)
    assert done.stdout.strip() == expected, done.stderr
