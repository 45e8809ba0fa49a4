"""--resume: stopped and killed runs are resumed and give the same bytes."""
import json
import os
import random
import re
import shutil
import signal
import subprocess
import time

import numpy as np
import pytest

from conftest import clouds

DEEP = bool(os.environ.get("DDSC_DEEP"))
# Sanitizers make the program several times slower; a few kills are enough to detect memory errors.
SLOW = bool(os.environ.get("DDSC_SANITIZED")) and not DEEP


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "slow.npz"
    np.savez(path, **clouds(3, 30, 60, 4, 3, separation=1.0))
    return path


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """Documents over a common vocabulary: the search uses cuts of solved pairs."""
    rng = np.random.default_rng(5)
    n, size, v = 120, 20, 300
    index = np.concatenate([rng.choice(v, size, replace=False) for _ in range(n)])
    path = tmp_path_factory.mktemp("data") / "shared.npz"
    np.savez(path, support=rng.normal(size=(v, 12)), indices=index,
             weights=rng.random(n * size) + 0.1, offsets=np.arange(n + 1) * size)
    return path


def contents(folder, ignore=("result.json", "report.html")):
    return {p.name: p.read_bytes() for p in folder.iterdir()
            if p.name not in ignore and not p.name.startswith(".")}


def killed(program, words, after):
    """Start the program, wait, and kill it. Return True if it finished before."""
    child = subprocess.Popen([program, *map(str, words)], stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
    try:
        child.wait(after)
    except subprocess.TimeoutExpired:
        child.send_signal(signal.SIGKILL)
        child.wait()
        return False
    assert child.returncode == 0
    return True


def test_many_kills_and_the_same_bytes(ddsc, program, data, tmp_path):
    """Each run lasts slightly longer than the previous one. The final result does not depend on the moment of the
    kill."""
    words = ["cluster", data, "-k", 3, "--metric", "sinkhorn", "--epsilon", "1%", "-j", 2]
    started = time.monotonic()
    ddsc(*words, "-o", tmp_path / "whole")
    whole = time.monotonic() - started
    wanted = contents(tmp_path / "whole")
    random.seed(7)
    kills, most = 0, 6 if SLOW else 30
    for attempt in range(200):
        if kills == most:
            break
        out, keep = tmp_path / "out", tmp_path / "keep"
        done = killed(program, [*words, "-o", out, "--resume", keep],
                      random.uniform(0.01, max(0.3, 0.7 * whole)))
        kills += not done
        if done:
            assert contents(out) == wanted
            shutil.rmtree(out)
            shutil.rmtree(keep)
    assert kills == most
    done = ddsc(*words, "-o", tmp_path / "out", "--resume", tmp_path / "keep")
    assert contents(tmp_path / "out") == wanted
    ours, theirs = (json.loads((tmp_path / f / "result.json").read_text()) for f in ("out", "whole"))
    for key in ("chosen", "sizes", "eigenvalues", "certificates", "advice"):
        assert ours[key] == theirs[key]


@pytest.mark.parametrize("metric", ["w2", "w1", "sinkhorn", "mmd", "lot"])
@pytest.mark.parametrize("verb", ["distance", "neighbors"])
def test_other_verbs(ddsc, program, data, tmp_path, metric, verb):
    words = [verb, data, "--metric", metric, "-q"]
    ddsc(*words, "-o", tmp_path / "whole")
    keep = tmp_path / "deep" / "keep"
    killed(program, [*words, "-o", tmp_path / "out", "--resume", keep], 0.25)
    again = json.loads(ddsc(*words, "-o", tmp_path / "out", "--force", "--json", "--resume", keep).stdout)
    assert (tmp_path / "out").read_bytes() == (tmp_path / "whole").read_bytes()
    last = json.loads(ddsc(*words, "-o", tmp_path / "out", "--force", "--json", "--resume", keep).stdout)
    assert last["resumed"] >= again["resumed"]
    if metric in ("w2", "w1", "sinkhorn"):
        assert last["resumed"] == last["solved"] == again["solved"]
    for key in ("max_gap", "iterations", "not_converged", "pairs"):
        assert last[key] == again[key]


def test_search_with_cuts(ddsc, shared, tmp_path):
    """A pair that is looked up gives no cut, so more pairs may be solved, but the graph is the same."""
    words = ["neighbors", shared, "--tau", 5, "-q"]
    ddsc(*words, "-o", tmp_path / "whole")
    for run in range(3):
        ddsc(*words, "-o", tmp_path / "out", "--force", "--resume", tmp_path / "keep")
        assert (tmp_path / "out").read_bytes() == (tmp_path / "whole").read_bytes()
        for chunk in sorted((tmp_path / "keep").glob("chunk-*"))[::2]:
            chunk.unlink()


def test_damaged_chunks_are_left_aside(ddsc, data, tmp_path):
    words = ["neighbors", data, "--metric", "sinkhorn", "-q", "--force", "--json",
             "--resume", tmp_path / "keep", "-o", tmp_path / "out"]
    first = json.loads(ddsc(*words).stdout)
    wanted = (tmp_path / "out").read_bytes()
    assert first["resumed"] == 0
    chunks = sorted((tmp_path / "keep").glob("chunk-*"))
    whole = [chunk.read_bytes() for chunk in chunks]
    for damage in ("flip", "cut", "empty", "head"):
        for chunk, old in zip(chunks, whole):
            new = bytearray(old)
            if damage == "flip":
                new[len(new) // 2] ^= 16
            elif damage == "cut":
                new = new[:-5]
            elif damage == "empty":
                new = b""
            else:
                new[3] ^= 1
            chunk.write_bytes(new)
        for other in set((tmp_path / "keep").glob("chunk-*")) - set(chunks):
            other.unlink()
        again = json.loads(ddsc(*words).stdout)
        assert again["resumed"] == 0 and (tmp_path / "out").read_bytes() == wanted


@pytest.mark.parametrize("change, word", [
    (["--tau", "4"], "tau"), (["--seed", "3"], "seed 3"), (["--metric", "mmd"], "metric"),
    (["-k", "4"], "k 4:4"), (["--gamma", "2"], "gamma"), (["--paper"], "neighbors 1"),
    (["--compress", "10"], "another input"), (["--sample", "0.5"], "sample")])
def test_changed_settings_are_refused(ddsc, data, tmp_path, change, word):
    words = ["cluster", data, "-k", 3, "--resume", tmp_path / "keep", "-q"]
    ddsc(*words)
    done = ddsc(*words, *change, code=3 if "input" in word else 2)
    assert word in done.stderr and "cannot be resumed" in done.stderr
    ddsc(*words, "--threads", 1, "--json")


def test_changed_input_is_refused(ddsc, data, tmp_path):
    arrays = dict(np.load(data))
    arrays["weights"] = arrays["weights"].copy()
    arrays["weights"][0] += 1e-9
    np.savez(tmp_path / "other.npz", **arrays)
    words = ["--resume", tmp_path / "keep", "-o", tmp_path / "g.mtx", "-q", "--force"]
    ddsc("neighbors", data, *words)
    assert "another input" in ddsc("neighbors", tmp_path / "other.npz", *words, code=3).stderr
    assert "other settings" in ddsc("distance", data, *words, code=2).stderr


def test_interrupted_runs_say_how_to_go_on(at_work, slow_set, tmp_path):
    words = ["distance", slow_set, "--metric", "sinkhorn", "--epsilon", "0.1%", "-o", tmp_path / "D.npy"]
    for resume in ([], ["--resume", tmp_path / "keep"]):
        child = at_work(*words, *resume)
        while resume and not list((tmp_path / "keep").glob("chunk-*")):
            assert child.poll() is None
            time.sleep(0.1)
        child.send_signal(signal.SIGINT)
        error = child.communicate(timeout=300)[1]
        assert child.returncode == 75
        assert ("the same command again" if resume else "with --resume DIR") in error
    assert list((tmp_path / "keep").glob("chunk-*"))


def test_files_of_a_half_written_result_are_replaced(ddsc, data, tmp_path):
    words = ["cluster", data, "-k", 3, "-q", "-o", tmp_path / "out", "--resume", tmp_path / "keep"]
    ddsc(*words)
    os.remove(tmp_path / "out" / "result.json")
    ddsc(*words)
    assert (tmp_path / "out" / "result.json").exists()


def test_other_items_of_the_same_run(ddsc, data, tmp_path):
    """The resamples of --stability have other items, so they neither use nor change the folder."""
    words = ["cluster", data, "-k", 3, "--stability", 2, "--resume", tmp_path / "keep", "--json", "-q"]
    first, again = json.loads(ddsc(*words).stdout), json.loads(ddsc(*words).stdout)
    assert first["resumed"] == 0 and again["resumed"] > 0 and first["labels"] == again["labels"]


def test_folders_that_cannot_be_used(ddsc, data, tmp_path):
    (tmp_path / "file").write_text("x")
    assert "not a directory" in ddsc("neighbors", data, "--resume", tmp_path / "file", code=2).stderr


@pytest.mark.parametrize("content, word, code", [
    ("", "damaged (it is empty)", 3), ("something else\n", "damaged", 3), ("cut", "damaged", 3),
    ("flip", "damaged", 3), ("ddsc-resume 1\nversion 0.1.0\n", "format 1", 2)])
def test_manifests_that_cannot_be_used(ddsc, data, tmp_path, content, word, code):
    """An incomplete manifest is reported as damaged, not as a run with other settings."""
    words = ["neighbors", data, "--resume", tmp_path / "keep", "-o", tmp_path / "g.mtx", "-f", "-q"]
    ddsc(*words)
    manifest = tmp_path / "keep" / "manifest"
    whole = manifest.read_text()
    manifest.write_text({"cut": whole[:len(whole) // 2], "flip": whole.replace("seed 0", "seed 1")}
                        .get(content, content))
    done = ddsc(*words, code=code)
    assert word in done.stderr and "other settings" not in done.stderr


# 100 kills each with DDSC_DEEP set (./run check kills), a few in the normal test.
KILLS = 100 if DEEP else 2 if SLOW else 10


def start(program, words):
    return subprocess.Popen([program, *map(str, words)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def test_four_processes_share_a_folder(program, ddsc, data, tmp_path):
    """Several processes start at once, with a new folder and with one that contains chunks. All finish with the same
    bytes."""
    words = ["neighbors", data, "--metric", "sinkhorn", "--epsilon", "1%", "-j", 1, "-q"]
    ddsc(*words, "-o", tmp_path / "whole")
    for _ in range(2):
        jobs = [start(program, [*words, "-f", "-o", tmp_path / f"out{p}", "--resume", tmp_path / "keep"])
                for p in range(4)]
        for p, job in enumerate(jobs):
            error = job.communicate(timeout=300)[1].decode()
            assert job.returncode == 0, error
            assert "damaged" not in error
            assert (tmp_path / f"out{p}").read_bytes() == (tmp_path / "whole").read_bytes()
    names = [path.name for path in (tmp_path / "keep").iterdir()]
    assert all(re.fullmatch(r"manifest|chunk-\d+-\d+-[\w.]+-\d+-\d+", name) for name in names)
    assert len({name.split("-")[4] for name in names if name != "manifest"}) >= 4
    last = json.loads(ddsc(*words, "-o", tmp_path / "out0", "-f", "--json", "--resume", tmp_path / "keep").stdout)
    assert last["resumed"] == last["solved"]


def test_kills_of_one_to_four_processes(program, ddsc, data, tmp_path):
    """Processes that share a folder are killed at random. The surviving and the later processes give the bytes of an
    undisturbed run, and no partial files remain."""
    words = ["neighbors", data, "--metric", "sinkhorn", "--epsilon", "1%", "-j", 1, "-q", "-f"]
    started = time.monotonic()
    ddsc(*words, "-o", tmp_path / "whole")
    whole, wanted = time.monotonic() - started, (tmp_path / "whole").read_bytes()
    random.seed(11)
    kills = rounds = 0
    keep = tmp_path / "keep"
    while kills < KILLS and rounds < 20 * KILLS:
        rounds += 1
        jobs = [start(program, [*words, "-o", tmp_path / f"out{p}", "--resume", keep])
                for p in range(random.randint(1, 4))]
        doomed = random.sample(jobs, random.randint(1, len(jobs)))
        time.sleep(random.uniform(0.005, max(0.3, 0.7 * whole)))
        for job in doomed:
            job.kill()
        for p, job in enumerate(jobs):
            error = job.communicate(timeout=300)[1].decode()
            assert job.returncode in ([0, -signal.SIGKILL] if job in doomed else [0]), error
            assert "damaged" not in error
            kills += job.returncode != 0
            if job.returncode == 0:
                assert (tmp_path / f"out{p}").read_bytes() == wanted
        if rounds % 4 == 0:  # otherwise a later round finds no remaining work
            shutil.rmtree(keep)
    assert kills >= KILLS
    ddsc(*words, "-o", tmp_path / "out0", "--resume", keep)
    assert (tmp_path / "out0").read_bytes() == wanted
    left = [path for folder in (tmp_path, keep) for path in folder.iterdir() if path.name.startswith(".")]
    assert left == []
    assert all(path.stat().st_size > 0 for path in keep.iterdir())


def test_a_run_killed_at_its_very_end_may_be_repeated(ddsc, shared, tmp_path):
    """The same command finds its own complete result and computes it again; another command is rejected."""
    words = ["cluster", shared, "-o", tmp_path / "out", "--resume", tmp_path / "keep", "-q"]
    ddsc(*words, "-k", 3)
    before = contents(tmp_path / "out")
    ddsc(*words, "-k", 3)
    assert contents(tmp_path / "out") == before
    assert "exists" in ddsc(*words, "-k", 4, code=2).stderr
    assert contents(tmp_path / "out") == before
