"""Ctrl-C: exit code 75, no stray files. Progress while waiting."""
import json
import signal

import pytest


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("words", [["cluster", "-k", "3", "-o", "out"],
                                   ["distance", "-o", "D.npy"],
                                   ["neighbors", "--exact-graph", "full", "-o", "G.mtx"]])
def test_interrupted(at_work, slow_set, tmp_path, number, words):
    job = at_work(words[0], slow_set, *words[1:], cwd=tmp_path)
    job.send_signal(number)
    rest = job.communicate(timeout=300)[1]
    assert job.returncode == 75 and "interrupted" in rest
    assert list(tmp_path.iterdir()) == []


def test_progress_as_json_lines(ddsc, three_groups):
    lines = ddsc("cluster", three_groups, "-k", "3", "--progress", "jsonl").stderr.splitlines()
    events = [json.loads(line) for line in lines if line.startswith("{")]
    assert events and all(e["done"] <= e["total"] or e["total"] == 0 for e in events)


@pytest.mark.parametrize("words", [["--progress", "none"], ["--quiet"], []])
def test_short_work_is_silent(ddsc, three_groups, words):
    assert ddsc("distance", three_groups, "-o", "-", *words, binary=True).stderr.count("\n") <= 1


def test_bar(ddsc, three_groups):
    assert "\r" in ddsc("distance", three_groups, "--progress", "bar", binary=True).stderr
