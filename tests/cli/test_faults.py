"""Disks that are full or fail, and killed processes, at every call that writes, using a preloaded library
(tests/faults)."""
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import time

import pytest

# More cases with DDSC_DEEP (./run check kills).
DEEP = bool(os.environ.get("DDSC_DEEP"))
OFTEN_NEW = ("result.json", "report.html")  # hold times


@pytest.fixture(scope="module")
def shim(program):
    path = pathlib.Path(os.environ.get("DDSC_BUILD", pathlib.Path(program).parent)) / "tests" / "faults.so"
    library = pathlib.Path(program).parent / "libddsc.so"
    if not path.exists() or b"__gcov_" in library.read_bytes():  # which writes its own files
        pytest.skip("no library of faults in this build")
    return path


@pytest.fixture
def faulty(program, shim, tmp_path):
    """Run with a fault at call `at` and return the finished process. `count` is the number of calls."""
    log = tmp_path / "calls.log"

    def run(words, fault, at, cwd, **more):
        log.unlink(missing_ok=True)
        env = {**os.environ, "LD_PRELOAD": str(shim), "DDSC_FAULT": fault, "DDSC_FAULT_AT": str(at),
               "DDSC_FAULT_LOG": str(log), "OMP_NUM_THREADS": "1", **more}
        done = subprocess.run([program, *map(str, words)], env=env, cwd=cwd, capture_output=True, timeout=300)
        done.stderr = done.stderr.decode()
        done.calls = log.read_text().splitlines() if log.exists() else []
        return done

    return run


CHANGED = "changed by another program while it was being read"


@pytest.mark.parametrize("change", ["GROW", "SHRINK", "REWRITE"])
@pytest.mark.parametrize("name", ["a.npz", "a.csv", "a.csv.gz", "a.npy"])
def test_inputs_that_change_while_they_are_read(program, ddsc, shim, tmp_path, name, change):
    """At every read, the changed file is rejected, or its old contents are read completely."""
    source = tmp_path / "source.npz"
    ddsc("generate", "gaussians", "--clusters", 2, "--items", 60, "--points", 40, "-o", source)
    verb = ["distance", "-o", tmp_path / "d.npy"] if name != "a.npy" else ["cluster", "-k", 2, "-o", tmp_path / "r"]
    if name == "a.npy":
        ddsc("distance", source, "-o", tmp_path / "given.npy")
        verb.append("--precomputed")
    else:
        ddsc("convert", source, "-o", tmp_path / f"given{name[1:]}")
    given = next(p for p in tmp_path.iterdir() if p.name == f"given{name[1:]}").read_bytes()
    log, path, told = tmp_path / "reads.log", tmp_path / name, []

    def run(at):
        path.write_bytes(given)
        log.unlink(missing_ok=True)
        env = {**os.environ, "LD_PRELOAD": str(shim), "DDSC_FAULT": change, "DDSC_FAULT_AT": str(at),
               "DDSC_FAULT_FILE": str(path), "DDSC_FAULT_LOG": str(log), "OMP_NUM_THREADS": "1"}
        done = subprocess.run([program, verb[0], path, *map(str, verb[1:]), "-f", "-q"], env=env,
                              capture_output=True, timeout=300)
        return done.returncode, done.stderr.decode()

    assert run(0)[0] == 0
    n_reads = log.read_text().count("pread")
    assert n_reads >= 1
    for at in range(1, n_reads + 1):
        code, stderr = run(at)
        told.append(CHANGED in stderr)
        assert code == 3, (at, stderr)
    assert all(told) if change != "SHRINK" else any(told), told


def files(folder, ignore=(), hidden=False):
    """Return names and bytes of the files, except those that a killed run leaves to the next one."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*"))
            if p.is_file() and p.name not in ignore and (hidden or ".ddsc-" not in str(p.relative_to(folder)))}


@pytest.fixture(scope="module")
def docs(tmp_path_factory):
    path = tmp_path_factory.mktemp("docs") / "docs.tsv"
    path.write_text("label\ttext\n" + "".join(f"{'ab'[k % 2]}\tthe cat sat on mat number {k % 5}\n" for k in range(8)))
    return path


@pytest.fixture(scope="module")
def model(ddsc, three_groups, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "result"
    ddsc("cluster", three_groups, "-k", 3, "-q", "-o", path)
    return path


# The output of each verb and its name. INPUT, MODEL and DOCS are replaced.
WRITERS = {
    "cluster": ["cluster", "INPUT", "-k", 3, "-o", "out"],
    "cluster to stdout": ["cluster", "INPUT", "-k", 3],
    "cluster, resumed": ["cluster", "INPUT", "-k", 3, "--metric", "sinkhorn", "--resume", "keep", "-o", "out"],
    "distance": ["distance", "INPUT", "-o", "D.npy"],
    "neighbors": ["neighbors", "INPUT", "-o", "g.mtx"],
    "embed": ["embed", "INPUT", "-o", "E.npy"],
    "convert": ["convert", "INPUT", "-o", "c.csv"],
    "convert, packed": ["convert", "INPUT", "-o", "c.csv.gz"],
    "generate": ["generate", "shapes", "-o", "s.npz"],
    "assign": ["assign", "MODEL/model.npz", "INPUT", "-o", "labels.csv"],
    "report": ["report", "MODEL", "-o", "page.html"],
    "pictures": ["report", "MODEL", "--plots", "svg", "-o", "figures"],
    "text": ["text", "DOCS", "--on-empty", "drop", "-o", "t.npz"],
    "demo": ["demo", "-o", "demo"],
}


@pytest.mark.parametrize("what", WRITERS)
def test_every_write_may_fail(faulty, three_groups, model, docs, tmp_path, what):
    """Exit code 6, a message that names the file and the reason, and no incomplete file."""
    put = {"INPUT": three_groups, "DOCS": docs, "MODEL/model.npz": model / "model.npz", "MODEL": model}
    words = [put.get(word, word) for word in WRITERS[what]] + ["-j", 1, "-q"]
    place = tmp_path / "whole"
    place.mkdir()
    done = faulty(words, "EIO", 0, place)
    assert done.returncode == 0, done.stderr
    whole, calls = files(place, OFTEN_NEW), done.calls
    assert calls
    step = 1 if DEEP or what != "demo" else 3  # half a second each
    for at in range(1, len(calls) + 1, step):
        fault = ("ENOSPC", "EIO")[at % 2]
        place = tmp_path / f"at{at}"
        place.mkdir()
        done = faulty(words, fault, at, place)
        told = f"call {at}, {calls[at - 1]}: {done.stderr}"
        assert done.returncode == 6, told
        assert {"ENOSPC": "No space left", "EIO": "Input/output error"}[fault] in done.stderr, told
        names = [str(w) for w in words if "/" not in str(w)]
        assert any(n in done.stderr for n in names) or "standard output" in done.stderr, told
        assert ".ddsc-" not in done.stderr, told
        left = files(place, OFTEN_NEW, hidden=True)
        journal = {n for n in left if n.startswith("keep/")}
        assert all(left[n] == whole.get(n) for n in set(left) - journal), told
        assert not any(".ddsc-" in n or left[n] == b"" for n in left), told
        assert not [p for p in place.rglob(".ddsc-*")], told
        if what.startswith("cluster"):
            assert set(left) == journal, told  # the complete result, or nothing
        shutil.rmtree(place)


def test_every_sync_side_by_side_may_fail(faulty, three_groups, tmp_path):
    """With threads: if a file does not reach the disk, no result remains, for any order of the sync calls."""
    words = ["cluster", three_groups, "-k", 3, "-j", 4, "-q", "-o", "out"]
    (tmp_path / "whole").mkdir()
    calls = faulty(words, "EIO", 0, tmp_path / "whole").calls
    syncs = [at for at, call in enumerate(calls, 1) if call.startswith("fsync")]
    assert len(syncs) > 10  # files, the folder, the one that it is in
    for at in syncs:
        place = tmp_path / f"at{at}"
        place.mkdir()
        done = faulty(words, "EIO", at, place)
        told = f"call {at}: {done.stderr}"
        assert done.returncode == 6 and "Input/output error" in done.stderr and "out" in done.stderr, told
        assert ".ddsc-" not in done.stderr, told
        assert not list(place.iterdir()), told


@pytest.fixture(scope="module")
def two_results(ddsc, three_groups, tmp_path_factory):
    """Results with more files and with fewer files: commands and their output."""
    place = tmp_path_factory.mktemp("two")
    words = [["cluster", three_groups, "-k", "2:4", "-j", 1, "-q", "-f", "-o", "out"],
             ["cluster", three_groups, "-k", 2, "--method", "kmeans", "-j", 1, "-q", "-f", "-o", "out"]]
    known = []
    for k, w in enumerate(words):
        (place / str(k)).mkdir()
        ddsc(*w, cwd=place / str(k))
        known.append(files(place / str(k) / "out", OFTEN_NEW))
    assert set(known[0]) != set(known[1])
    return words, known


def which(folder, known):
    """Return 0 or 1: which of the two results the folder contains completely. It never contains a mixture."""
    there = files(folder, (*OFTEN_NEW, "notes.txt"))
    assert (folder / "notes.txt").read_text() == "mine"
    number = known.index(there)
    result = json.loads((folder / "result.json").read_text())
    assert ("kmeans" in result["command"]) == (number == 1)
    assert ("--method kmeans" in (folder / "report.html").read_text()) == (number == 1)
    return number


def start_with_the_first(ddsc, words, place):
    ddsc(*words[0], cwd=place)
    (place / "out" / "notes.txt").write_text("mine")


def test_killed_at_every_call_of_an_overwrite(faulty, ddsc, two_results, tmp_path):
    words, known = two_results
    place = tmp_path / "place"
    place.mkdir()
    start_with_the_first(ddsc, words, place)
    n = len(faulty(words[1], "KILL", 0, place).calls)
    assert n > 20
    seen = set()
    for at in range(1, n + 1):
        ddsc(*words[0], cwd=place)
        assert which(place / "out", known) == 0
        assert [p.name for p in place.iterdir()] == ["out"]  # the remains of the last run are gone
        assert not list((place / "out").glob(".ddsc-*"))
        done = faulty(words[1], "KILL", at, place)
        assert done.returncode == -signal.SIGKILL, f"{at}: {done.returncode} {done.stderr}"
        seen.add(which(place / "out", known))
    assert seen == {0, 1}


@pytest.mark.parametrize("fault", ["ENOSPC", "EIO"])
def test_a_failed_overwrite_leaves_the_old_result(faulty, ddsc, two_results, tmp_path, fault):
    words, known = two_results
    start_with_the_first(ddsc, words, tmp_path)
    calls = faulty(words[1], fault, 0, tmp_path).calls
    for at in range(1, len(calls) + 1):
        ddsc(*words[0], cwd=tmp_path)
        done = faulty(words[1], fault, at, tmp_path)
        assert done.returncode == 6 and "out" in done.stderr, f"{at}: {done.stderr}"
        assert which(tmp_path / "out", known) == 0
        assert not list(tmp_path.glob(".ddsc-*"))


def test_a_failed_overwrite_leaves_the_old_file(faulty, three_groups, tmp_path):
    words = ["convert", three_groups, "-o", "c.csv", "-f", "-q"]
    (tmp_path / "c.csv").write_text("old")
    calls = faulty(words, "EIO", 0, tmp_path).calls
    assert calls[-1].startswith("fsync") and calls[-2].startswith("renameat2")
    for at in range(1, len(calls) + 1):
        (tmp_path / "c.csv").write_text("old")
        done = faulty(words, "EIO", at, tmp_path)
        assert done.returncode == 6 and (tmp_path / "c.csv").read_text() == "old", f"{at}: {done.stderr}"
        assert not list(tmp_path.glob(".ddsc-*"))


def test_killed_at_random_while_overwriting(program, ddsc, two_results, tmp_path):
    """Each run starts with the remains of the previous one."""
    words, known = two_results
    start_with_the_first(ddsc, words, tmp_path)
    began = time.monotonic()
    ddsc(*words[0], cwd=tmp_path)
    whole = time.monotonic() - began
    random.seed(3)
    kills = rounds = 0
    while kills < (100 if DEEP else 20) and rounds < 2000:
        job = subprocess.Popen([program, *map(str, words[rounds % 2])], cwd=tmp_path, stderr=subprocess.DEVNULL)
        time.sleep(random.uniform(0.2, 1.1) * whole)
        job.kill()
        kills += job.wait() != 0
        rounds += 1
        which(tmp_path / "out", known)
    assert kills >= 20
    ddsc(*words[1], cwd=tmp_path)
    assert which(tmp_path / "out", known) == 1 and not list(tmp_path.glob(".ddsc-*"))


def test_several_overwrite_at_once(program, ddsc, two_results, tmp_path):
    words, known = two_results
    start_with_the_first(ddsc, words, tmp_path)
    for _ in range(5):
        jobs = [subprocess.Popen([program, *map(str, words[p % 2])], cwd=tmp_path) for p in range(4)]
        assert [job.wait(timeout=300) for job in jobs] == [0] * 4
        which(tmp_path / "out", known)
        assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_folders_that_cannot_change_places(faulty, ddsc, two_results, tmp_path):
    """A folder that contains folders, and the working directory: files are moved one by one, and if result.json exists,
    all files belong to one result."""
    words, known = two_results
    start_with_the_first(ddsc, words, tmp_path)
    (tmp_path / "out" / "figures").mkdir()
    (tmp_path / "out" / "figures" / "map.svg").write_text("mine")
    n = len(faulty(words[1], "KILL", 0, tmp_path).calls)
    for at in range(1, n + 1, 1 if DEEP else 3):
        ddsc(*words[0], cwd=tmp_path)
        assert faulty(words[1], "KILL", at, tmp_path).returncode == -signal.SIGKILL
        assert (tmp_path / "out" / "figures" / "map.svg").read_text() == "mine"
        assert (tmp_path / "out" / "notes.txt").read_text() == "mine"
        if (tmp_path / "out" / "result.json").exists():
            there = files(tmp_path / "out", (*OFTEN_NEW, "notes.txt", "map.svg"))
            assert there in known
    inside = [*words[1][:-1], "."]
    before = (tmp_path / "out").stat().st_ino
    ddsc(*inside, cwd=tmp_path / "out")
    assert (tmp_path / "out").stat().st_ino == before
    assert files(tmp_path / "out", (*OFTEN_NEW, "notes.txt", "map.svg")) == known[1]
    assert not list(tmp_path.rglob(".ddsc-*"))


class Stopped:
    """Start a run that stops before call `at` until it is continued."""

    def __init__(self, program, shim, words, at, cwd, **more):
        env = {**os.environ, "LD_PRELOAD": str(shim), "DDSC_FAULT": "STOP", "DDSC_FAULT_AT": str(at),
               "OMP_NUM_THREADS": "1", **more}
        self.job = subprocess.Popen([program, *map(str, words)], cwd=cwd, env=env, stderr=subprocess.PIPE, text=True)
        assert os.WIFSTOPPED(os.waitpid(self.job.pid, os.WUNTRACED)[1])

    def end(self):
        self.job.send_signal(signal.SIGCONT)
        error = self.job.communicate(timeout=300)[1]
        assert self.job.returncode == 0, error


@pytest.fixture
def owner(program, shim, tmp_path):
    """Return the beginning of the names of temporary files on this machine, up to the process id."""
    (tmp_path / "names").mkdir()
    job = Stopped(program, shim, ["generate", "shapes", "-o", "s.npz", "-q"], 2, tmp_path / "names")
    name = next((tmp_path / "names").iterdir()).name
    job.end()
    shutil.rmtree(tmp_path / "names")
    assert name.startswith(".ddsc-") and name.endswith(f"-{job.job.pid}-0.tmp")
    return name[:-len(f"-{job.job.pid}-0.tmp")]


@pytest.mark.parametrize("where", ["here", "container"])
def test_a_live_temporary_file_is_not_removed(program, shim, faulty, three_groups, two_results, tmp_path, where):
    """While a file is written into the folder, other runs replace the folder and write other files."""
    words, known = two_results
    first = []
    if where == "container":  # in which the process id of the first run does not exist
        first = ["unshare", "--pid", "--fork"]
        if subprocess.run([*first, "true"], capture_output=True).returncode != 0:
            pytest.skip("no namespaces of process ids here")
    for w in (words[0], ["distance", three_groups, "-o", "x.npy", "-q"]):
        subprocess.run([program, *map(str, w)], cwd=tmp_path, check=True)
    (tmp_path / "out" / "notes.txt").write_text("mine")
    write = ["distance", three_groups, "-o", "out/D.npy", "-q"]
    n = len(faulty([*write[:3], "y.npy", "-q"], "KILL", 0, tmp_path).calls)
    for at in (2, n - 2, n - 1):  # two calls before the rename, and the rename itself
        job = Stopped(program, shim, write, at, tmp_path)
        for w in (["distance", three_groups, "-o", "out/E.npy", "-q", "-f"], words[1]):
            subprocess.run([*first, program, *map(str, w)], cwd=tmp_path, check=True)
        job.end()
        assert (tmp_path / "out" / "D.npy").read_bytes() == (tmp_path / "x.npy").read_bytes()
        (tmp_path / "out" / "D.npy").unlink()
        (tmp_path / "out" / "E.npy").unlink()
        assert which(tmp_path / "out", known) == 1
        assert not list(tmp_path.rglob(".ddsc-*"))


def test_the_folder_is_locked_while_it_is_exchanged(program, shim, faulty, two_results, tmp_path):
    """A run waits for another run that replaces the files, and then locks the folder that has the name."""
    words, known = two_results
    locks, out = tmp_path / "locks", tmp_path / "out"
    subprocess.run([program, *map(str, words[0])], cwd=tmp_path, check=True)
    (out / "notes.txt").write_text("mine")
    calls = faulty(words[1], "KILL", 0, tmp_path).calls
    subprocess.run([program, *map(str, words[0])], cwd=tmp_path, check=True)
    at = next(k for k, c in enumerate(calls, 1) if c.startswith("renameat2") and c.endswith("/out"))
    more = {"DDSC_FAULT_LOCKS": str(locks)}
    one = Stopped(program, shim, words[1], at, tmp_path, **more)
    assert locks.read_text().split()[0] == "locked"
    env = {**os.environ, "LD_PRELOAD": str(shim), **more}
    # For the second run, the folder is the working directory.
    inside = [program, *map(str, words[0][:-1]), "."]
    two = subprocess.Popen(inside, cwd=out, env=env)
    three = subprocess.Popen([program, *map(str, words[0])], cwd=tmp_path, env=env)
    while not all(locks.read_text().count(f"busy {job.pid}\n") > 2 for job in (two, three)):
        assert two.poll() is None and three.poll() is None
        time.sleep(0.01)
    one.end()
    assert (two.wait(timeout=300), three.wait(timeout=300)) == (0, 0)
    assert which(out, known) == 0
    seen = locks.read_text().split()
    assert "unlocked" not in seen and seen.count("locked") == 3
    assert not list(tmp_path.rglob(".ddsc-*"))


@pytest.mark.parametrize("what", ["moved", "deleted", "created"])
def test_a_folder_that_changes_during_the_run(program, shim, faulty, two_results, tmp_path, what):
    """The new result appears under the name that was given, and other folders stay as they are."""
    words, known = two_results
    out = tmp_path / "out"
    n = len(faulty(words[1], "KILL", 0, tmp_path).calls)
    faulty(words[0], "KILL", 0, tmp_path)
    (out / "notes.txt").write_text("mine")
    if what == "created":
        out.rename(tmp_path / "other")
    job = Stopped(program, shim, words[1], n // 2, tmp_path)
    if what == "deleted":
        shutil.rmtree(out)
    else:
        (tmp_path / "other").rename(out) if what == "created" else out.rename(tmp_path / "other")
    job.end()
    if what == "moved":
        assert which(tmp_path / "other", known) == 0
    if what != "created":
        (out / "notes.txt").write_text("mine")
    assert which(out, known) == 1 and not list(tmp_path.glob(".ddsc-*"))


def test_only_what_the_dead_left_is_removed(ddsc, owner, three_groups, tmp_path):
    """Temporary files of live processes, of other machines, containers and programs stay."""
    gone = subprocess.Popen(["true"])
    gone.wait()
    place = owner[:-1] + ("0" if owner[-1] != "0" else "1")  # another container, or before the last boot
    dead = [f"{owner}-{gone.pid}-0.tmp", f"{owner}-{gone.pid}-1.tmp"]
    stay = [f"{owner}-{os.getpid()}-0.tmp", f"{place}-{gone.pid}-0.tmp", f"{owner[:-9]}-{gone.pid}-0.tmp", ".ddsc-rc",
            "x.tmp", f"{owner}-{gone.pid}-0.tmp.bak"]
    for name in [dead[0], *stay]:
        (tmp_path / name).write_text("x")
    (tmp_path / dead[1]).mkdir()
    (tmp_path / dead[1] / "labels.csv").write_text("x")
    ddsc("cluster", three_groups, "-k", 3, "-o", tmp_path / "out", "-q")
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(["out", *stay])
    (tmp_path / dead[0]).write_text("x")
    ddsc("neighbors", three_groups, "-o", tmp_path / "g.mtx", "-q")
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(["out", "g.mtx", *stay])
    # Files that ddsc did not create are never removed, even from a folder with a name like ours.
    (tmp_path / dead[1]).mkdir()
    (tmp_path / dead[1] / "thesis.tex").write_text("mine")
    ddsc("cluster", three_groups, "-k", 3, "-o", tmp_path / "out", "-q", "-f")
    assert (tmp_path / dead[1] / "thesis.tex").read_text() == "mine"
