"""--dry-run, and the estimate before long runs."""
import json
import os
import pty
import subprocess

import numpy as np
import pytest

from conftest import not_sanitized


@pytest.mark.parametrize("verb", ["cluster", "distance", "neighbors"])
@pytest.mark.parametrize("metric", ["w2", "w1", "sinkhorn", "mmd", "lot"])
def test_says_what_would_be_done(ddsc, three_groups, tmp_path, verb, metric):
    words = [verb, three_groups, "--metric", metric, "--dry-run", "-o", tmp_path / "out"]
    words += ["-k", 3] if verb == "cluster" else []
    text = ddsc(*words).stdout
    assert text.startswith("would read   45 items of 360 points in 2 dimensions")
    assert metric in text and "990" in text and "about" in text and "threads" in text
    assert ("tau" in text) == (verb != "distance")
    data = json.loads(ddsc(*words, "--json").stdout)
    assert data["dry_run"] and data["n"] == 45 and data["pairs"] == 990 and data["verb"] == verb
    assert 0 < data["seconds_low"] <= data["seconds"] <= data["seconds_high"] and data["bytes"] > 0 and data["sampled"] == 45
    assert not (tmp_path / "out").exists()


@not_sanitized
def test_estimate_is_of_the_right_size(ddsc, slow_set):
    """The estimate for all pairs of 300 items of 150 points, from a few pairs, is within a factor of twenty of twenty
    times the time of a twentieth of the pairs."""
    told = json.loads(ddsc("neighbors", slow_set, "--metric", "sinkhorn", "-n", "--json").stdout)
    part = json.loads(ddsc("neighbors", slow_set, "--metric", "sinkhorn", "--sample", "0.05", "--json",
                            "-q").stdout)
    assert told["sampled"] < 300 and told["pairs"] == 300 * 299 // 2
    assert 1 / 20 < told["seconds"] / (20 * part["seconds"]) < 20
    matrix = json.loads(ddsc("distance", slow_set, "-n", "--json").stdout)
    assert matrix["bytes"] > 8 * 300 * 300


def test_mistakes_are_still_mistakes(ddsc, three_groups, tmp_path):
    assert "no such" in ddsc("cluster", tmp_path / "x.npz", "-k", 3, "-n", code=3).stderr.lower()
    assert "46 clusters were requested, but the number of items is 45" in ddsc("cluster", three_groups, "-k", 46, "-n", code=2).stderr
    (tmp_path / "D.npy").write_bytes(b"")
    assert "exists" in ddsc("distance", three_groups, "-n", "-o", tmp_path / "D.npy", code=2).stderr


def test_given_distances_and_baselines(ddsc, three_groups, tmp_path):
    np.save(tmp_path / "D.npy", np.ones((5, 5)) - np.eye(5))
    done = ddsc("cluster", tmp_path / "D.npy", "--precomputed", "-k", 2, "-n")
    assert "5 items, precomputed distances" in done.stdout
    assert "45 items as vectors" in ddsc("cluster", three_groups, "-k", 3, "--method", "kmeans", "-n").stdout


def test_a_run_to_be_taken_up_is_named(ddsc, three_groups, tmp_path):
    words = ["neighbors", three_groups, "--resume", tmp_path / "keep", "-q"]
    assert "unfinished" not in ddsc(*words, "-n").stdout
    assert not (tmp_path / "keep").exists()
    ddsc(*words)
    assert "unfinished" in ddsc(*words, "-n").stdout


def test_estimate_before_long_runs_only(ddsc, program, three_groups, slow_set):
    quick = ddsc("neighbors", three_groups, "--progress", "jsonl", "--json").stderr
    assert "estimate" not in quick
    child = subprocess.Popen([program, "distance", slow_set, "--metric", "sinkhorn", "--epsilon", "0.1%",
                              "--progress", "jsonl", "--json"], stderr=subprocess.PIPE, text=True,
                             stdout=subprocess.DEVNULL)
    first = json.loads(child.stderr.readline())
    child.kill()
    child.wait()
    assert first["stage"] == "estimate" and first["estimated_high"] > 10 and first["estimated_bytes"] > 0


def test_estimate_on_a_terminal(program, slow_set):
    ours, theirs = pty.openpty()
    child = subprocess.Popen([program, "distance", slow_set, "--metric", "sinkhorn", "--epsilon", "0.1%",
                              "--json"], stderr=theirs, stdout=subprocess.DEVNULL,
                             env={**os.environ, "TERM": "xterm"})
    text = os.read(ours, 4096).decode()
    child.kill()
    child.wait()
    os.close(ours)
    os.close(theirs)
    assert "estimated cost" in text and "--resume DIR" in text


def clouds(path, n, points, dim, shift):
    rng = np.random.default_rng(1)
    values = rng.normal(size=(n * points, dim))
    values[:, 0] += shift * np.repeat(np.arange(n), points)
    np.savez(path, points=values, weights=np.ones(n * points), offsets=np.arange(0, n * points + 1, points))
    return path


@not_sanitized
def test_says_what_bounds_can_skip(ddsc, tmp_path):
    """For distant clouds, the bounds exclude nearly all pairs; for samples of one distribution, they exclude fewer."""
    found = {}
    for shift in (0, 50):
        path = clouds(tmp_path / f"{shift}.npz", 300, 300, 50, shift)
        words = ["neighbors", path, "-n", "--json", "--threads", 1]
        found[shift] = json.loads(ddsc(*words).stdout)
        assert 16 <= found[shift]["bounds_sampled"] <= 128 and found[shift]["seconds_low"] > 0
    assert 0 <= found[0]["bounds_skip"] < found[50]["bounds_skip"] <= 1


@not_sanitized
def test_names_alternatives_to_long_runs(ddsc, tmp_path):
    alike = clouds(tmp_path / "alike.npz", 4000, 100, 20, 0)
    done = ddsc("neighbors", alike, "-n", "--threads", 1)
    assert "bounds can skip" in done.stdout and "--compress auto, --metric lot, --metric mmd" in done.stdout
    data = json.loads(ddsc("distance", alike, "-n", "--json", "--threads", 1).stdout)
    assert data["alternatives"].startswith("--compress auto") and "bounds_skip" not in data
    assert "faster" not in ddsc("neighbors", alike, "-n", "--metric", "mmd", "--mmd-features", 64).stdout
    assert "faster" not in ddsc("neighbors", alike, "-n", "--compress", 2, "-q").stdout
