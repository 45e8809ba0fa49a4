"""tools/paper.py: what it does without data, and one small table with them."""
import os
import subprocess
import sys


def run(source, tmp_path, *words, data=None):
    env = {**os.environ, "DDSC_DATA": str(data or tmp_path / "none")}
    return subprocess.run([sys.executable, source / "tools" / "paper.py", "--quick", "--results", tmp_path, *words],
                          capture_output=True, text=True, env=env, timeout=300)


def test_without_data(source, tmp_path):
    done = run(source, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "skipped" in done.stderr and "skipped" in done.stdout
    assert "| w2 | 1.000 | 1.000 |" in done.stdout and "| d2 | .000 |" in done.stdout


def test_appendix(source, tmp_path, data_dir):
    done = run(source, tmp_path, "--only", "noise", "complexity", data=data_dir)
    assert done.returncode == 0, done.stderr
    rows = {line.split(" | ")[0]: line.split(" | ")[1:] for line in done.stdout.splitlines() if line.startswith("| ")}
    assert len(rows["| w2"]) == 3 and "| sinkhorn, epsilon 500" in rows  # the last table that has a row w2
    assert all(float(row[0]) == 0 for name, row in rows.items() if "epsilon" in name)  # no noise, no error


def test_one_set(source, tmp_path, data_dir):
    words = ["--only", "mnist", "--methods", "mmd", "lot"]
    done = run(source, tmp_path, *words, data=data_dir)
    assert done.returncode == 0, done.stderr
    assert "**DDSC mmd**" in done.stdout and "defaults, no labels" in done.stdout
    again = run(source, tmp_path, *words, data=data_dir)
    assert again.stdout == done.stdout and "0 runs of ddsc" in again.stderr
