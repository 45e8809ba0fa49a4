"""Every documented exit code, with a realistic cause, and the files that remain after a failure."""
import os
import subprocess

import pytest


def test_good(ddsc, three_groups):
    ddsc("info", three_groups, code=0)


def test_output_that_cannot_be_written(ddsc, three_groups):
    if not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full here")
    assert "space" in ddsc("neighbors", three_groups, "-o", "/dev/full", code=6).stderr.lower()


def test_one_code_for_every_place_that_cannot_be_written(ddsc, program, three_groups, tmp_path):
    for place in ("missing/g.mtx", "/proc/none/g.mtx"):
        assert "cannot be written" in ddsc("neighbors", three_groups, "-o", place, cwd=tmp_path, code=6).stderr
    for words in (["cluster", three_groups, "-k", 3, "-o", "/proc/none"],
                  ["neighbors", three_groups, "-o", "g.mtx", "--resume", "/proc/none"]):
        assert "/proc" in ddsc(*words, cwd=tmp_path, code=6).stderr
    if os.path.exists("/dev/full"):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([program, "info", three_groups], stdout=full, stderr=subprocess.PIPE)
        assert done.returncode == 6 and b"standard output" in done.stderr


@pytest.mark.parametrize("words", [["clustr"], ["cluster"], ["cluster", "x.npz"],
                                   ["cluster", "x.npz", "-k", "many"], ["info", "--no-such-option"]])
def test_usage(ddsc, words):
    assert "--help" in ddsc(*words, code=2).stderr


def test_bad_input(ddsc, tmp_path):
    (tmp_path / "bad.csv").write_text("id,x\na,1\nb,nan\n")
    done = ddsc("cluster", tmp_path / "bad.csv", "-k", 1, code=3)
    assert "bad.csv" in done.stderr and "line 3" in done.stderr
    ddsc("info", tmp_path / "missing.npz", code=3)


@pytest.mark.parametrize("neighbors", ["exact", "approximate"])
def test_not_converged_is_marked(ddsc, three_groups, tmp_path, neighbors):
    done = ddsc("neighbors", three_groups, "--metric", "sinkhorn", "--max-iterations", 1, "--epsilon",
                "0.01%", "--neighbors", neighbors, "-o", tmp_path / "g.mtx", code=4)
    assert (tmp_path / "g.mtx").exists() and "did not converge" in done.stderr


def test_memory(ddsc, three_groups):
    assert "memory" in ddsc("neighbors", three_groups, "--memory", "20K", code=5).stderr


def test_a_result_is_whole_or_not_there(ddsc, three_groups, tmp_path):
    """If a later file cannot be written, the earlier ones are removed."""
    out = tmp_path / "out"
    (out / "report.html").mkdir(parents=True)
    ddsc("cluster", three_groups, "-k", 3, "-o", out, "--force", "-q", code=6)
    assert {path.name for path in out.iterdir()} == {"report.html"}


@pytest.mark.parametrize("words, name", [
    (["--channels", "1,2"], "channels"), (["--phase", "1"], "phase"),
    (["--phases", "2"], "phases")])
def test_options_of_another_format(ddsc, three_groups, words, name):
    done = ddsc("info", three_groups, *words, code=2)
    assert f"{name} applies only to" in done.stderr
    assert name in ddsc("info", three_groups, three_groups, *words, code=2).stderr
