"""Ctrl-C: exit code 75, no stray files. Progress while waiting."""
import json
import signal
import subprocess
import time

import pytest


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("words", [["cluster", "-k", "3", "-o", "out"],
                                   ["distance", "-o", "D.npy"],
                                   ["neighbors", "--exact-graph", "full", "-o", "G.mtx"]])
def test_interrupted(program, slow_set, tmp_path, number, words):
    job = subprocess.Popen([program, words[0], str(slow_set), *words[1:], "--progress", "jsonl"],
                           cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    try:
        for line in job.stderr:
            event = json.loads(line)
            assert {"stage", "done", "total"} <= set(event)
            if event["seconds"] > 0.3:
                break
        job.send_signal(number)
        began = time.monotonic()
        rest = job.stderr.read()
        assert job.wait(timeout=60) == 75
        assert time.monotonic() - began < 20
        assert "interrupted" in rest
        assert list(tmp_path.iterdir()) == []
    finally:
        job.kill()
        job.wait()


def test_progress_as_json_lines(ddsc, three_groups):
    lines = ddsc("cluster", three_groups, "-k", "3", "--progress", "jsonl").stderr.splitlines()
    events = [json.loads(line) for line in lines if line.startswith("{")]
    assert events and all(e["done"] <= e["total"] or e["total"] == 0 for e in events)


@pytest.mark.parametrize("words", [["--progress", "none"], ["--quiet"], []])
def test_short_work_is_silent(ddsc, three_groups, words):
    assert ddsc("distance", three_groups, "-o", "-", *words, binary=True).stderr.count("\n") <= 1


def test_bar(ddsc, three_groups):
    assert "\r" in ddsc("distance", three_groups, "--progress", "bar", binary=True).stderr
