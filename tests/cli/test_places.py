"""Outputs on other file systems, outputs that are inputs, permissions of results."""
import gzip
import json
import os
import pathlib
import shutil
import signal
import stat
import subprocess
import tempfile

import numpy as np
import pytest
from test_faults import DEEP, OFTEN_NEW, faulty, files, owner, shim, two_results, which  # noqa: F401


class Mounted:
    """Make the folder place/out a mount point."""

    def __init__(self, kind, place):
        self.out, self.env, self.kind = place / "out", {}, kind
        self.out.mkdir()
        if kind == "fault":
            self.env = {"DDSC_FAULT_MOUNT": str(self.out)}
            return
        source = place.parent / f"{place.name}-source"
        source.mkdir()
        words = ["-t", "tmpfs", "tmpfs"] if kind == "tmpfs" else ["--bind", str(source)]
        done = subprocess.run(["mount", *words, str(self.out)], capture_output=True)
        if done.returncode != 0:
            self.kind = None
            pytest.skip("mounting is not allowed here")

    def close(self):
        if self.kind in ("tmpfs", "bind"):
            subprocess.run(["umount", str(self.out)], check=True)


KINDS = ["fault", "tmpfs", "bind"]


@pytest.fixture(params=KINDS)
def mounted(request, tmp_path):
    place = tmp_path / "place"
    place.mkdir()
    made = None
    try:
        made = Mounted(request.param, place)
        yield made
    finally:
        if made:
            made.close()


def test_a_result_in_a_mount_point(faulty, two_results, mounted):
    """With and without --force: --force is required, and no other files remain."""
    words, known = two_results
    place = mounted.out.parent
    first = [w for w in words[0] if w != "-f"]
    for out in ("out", "out/", "./out", mounted.out, "link"):
        if out == "link":
            (place / "link").symlink_to("out")
        for w, code in ((first, 0), (first, 2), (words[1], 0), (words[0], 0)):
            done = faulty([*w[:-1], out], "EIO", 0, place, **mounted.env)
            assert done.returncode == code, done.stderr
            assert not list(place.rglob(".ddsc-*"))
        assert files(mounted.out, OFTEN_NEW) == known[0]
        done = faulty([*words[1][:-1], "."], "EIO", 0, mounted.out, **mounted.env)
        assert done.returncode == 0 and files(mounted.out, OFTEN_NEW) == known[1], done.stderr
        for path in mounted.out.iterdir():
            path.unlink()


def test_a_file_in_a_mount_point(faulty, three_groups, mounted):
    place = mounted.out.parent
    for words in (["distance", three_groups, "-o", "out/D.npy"], ["convert", three_groups, "-o", "out/c.csv"]):
        for more, code in (([], 0), ([], 2), (["-f"], 0)):
            done = faulty([*words, "-q", *more], "EIO", 0, place, **mounted.env)
            assert done.returncode == code, done.stderr
    assert np.load(mounted.out / "D.npy").shape[0] > 0
    assert sorted(p.name for p in mounted.out.iterdir()) == ["D.npy", "c.csv"]


def start(faulty, words, mounted):
    done = faulty(words[0], "EIO", 0, mounted.out.parent, **mounted.env)
    assert done.returncode == 0, done.stderr
    (mounted.out / "notes.txt").write_text("mine")


def test_failures_in_a_mount_point(faulty, ddsc, two_results, mounted):
    """If any call fails, the old result is complete and readable."""
    words, known = two_results
    start(faulty, words, mounted)
    done = faulty(words[1], "EIO", 0, mounted.out.parent, **mounted.env)
    calls = done.calls
    assert done.returncode == 0 and len(calls) > 20, done.stderr
    start(faulty, words, mounted)
    for at in range(1, len(calls) + 1, 1 if DEEP or mounted.kind == "fault" else 5):
        fault = ("ENOSPC", "EIO")[at % 2]
        done = faulty(words[1], fault, at, mounted.out.parent, **mounted.env)
        assert done.returncode == 6 and "out" in done.stderr, f"{at}: {done.stderr}"
        assert which(mounted.out, known) == 0, f"{at}: {calls[at - 1]}"
        assert not list(mounted.out.parent.rglob(".ddsc-*"))
    ddsc("explain", "out", cwd=mounted.out.parent)


def test_kills_in_a_mount_point(faulty, two_results, mounted):
    """A kill leaves one complete result, or the next run (even a rejected one) restores the old one."""
    words, known = two_results
    start(faulty, words, mounted)
    n = len(faulty(words[1], "KILL", 0, mounted.out.parent, **mounted.env).calls)
    refused = [w for w in words[1] if w != "-f"]
    seen, brought_back = set(), 0
    for at in range(*((1, n + 1) if DEEP else (KINDS.index(mounted.kind) + 1, n + 1, 5))):
        start(faulty, words, mounted)
        assert which(mounted.out, known) == 0 and not list(mounted.out.parent.rglob(".ddsc-*"))
        done = faulty(words[1], "KILL", at, mounted.out.parent, **mounted.env)
        assert done.returncode == -signal.SIGKILL, f"{at}: {done.returncode} {done.stderr}"
        if (mounted.out / "result.json").exists():
            which(mounted.out, known)
        else:
            brought_back += 1
        assert faulty(refused, "EIO", 0, mounted.out.parent, **mounted.env).returncode == 2
        seen.add(which(mounted.out, known))
        assert not list(mounted.out.glob(".ddsc-*"))
    assert seen == {0, 1} and brought_back > 2


def test_a_kill_while_the_old_result_is_brought_back(faulty, two_results, tmp_path):
    words, known = two_results
    (tmp_path / "out").mkdir()
    env = {"DDSC_FAULT_MOUNT": str(tmp_path / "out")}
    refused = [w for w in words[1] if w != "-f"]

    out = tmp_path / "out"
    assert faulty(words[0], "EIO", 0, tmp_path, **env).returncode == 0
    calls = faulty(words[1], "KILL", 0, tmp_path, **env).calls
    assert faulty(words[0], "EIO", 0, tmp_path, **env).returncode == 0
    (out / "notes.txt").write_text("mine")
    at = max(k for k, c in enumerate(calls, 1) if c.startswith("rename ") and c.endswith("out/result.json"))
    assert faulty(words[1], "KILL", at, tmp_path, **env).returncode == -signal.SIGKILL
    assert not (out / "result.json").exists()
    shutil.copytree(out, tmp_path / "half")  # just before the new result.json is in place
    n = len(faulty(refused, "KILL", 0, tmp_path, **env).calls)
    assert n > 10 and which(out, known) == 0
    for at in range(1, n + 1):
        shutil.rmtree(out)
        shutil.copytree(tmp_path / "half", out)
        assert faulty(refused, "KILL", at, tmp_path, **env).returncode == -signal.SIGKILL
        assert faulty(refused, "EIO", 0, tmp_path, **env).returncode == 2
        assert which(out, known) == 0, at


@pytest.mark.parametrize("plain", ["1", "2"])
def test_file_systems_without_flags_of_rename(faulty, two_results, tmp_path, plain):
    words, known = two_results
    first = [w for w in words[0] if w != "-f"]
    for w, code in ((first, 0), (first, 2), (words[1], 0), (words[0], 0)):
        done = faulty(w, "EIO", 0, tmp_path, DDSC_FAULT_PLAIN=plain)
        assert done.returncode == code, done.stderr
    assert files(tmp_path / "out", OFTEN_NEW) == known[0] and not list(tmp_path.rglob(".ddsc-*"))
    for more, code in (([], 0), ([], 2), (["-f"], 0)):
        done = faulty(["generate", "shapes", "-o", "s.npz", *more], "EIO", 0, tmp_path, DDSC_FAULT_PLAIN=plain)
        assert done.returncode == code, done.stderr
    calls = faulty(words[1], "EIO", 0, tmp_path, DDSC_FAULT_PLAIN=plain).calls
    (tmp_path / "out" / "notes.txt").write_text("mine")
    faulty(words[0], "EIO", 0, tmp_path, DDSC_FAULT_PLAIN=plain)
    assert calls[-1].startswith("fsync")  # sync of the folder: the result is already complete, so this error is ignored
    for at in range(1, len(calls), 1 if DEEP else 3):
        assert faulty(words[1], "EIO", at, tmp_path, DDSC_FAULT_PLAIN=plain).returncode == 6
        assert which(tmp_path / "out", known) == 0


def test_places_are_tried_before_the_work(program, shim, three_groups, tmp_path):
    """If the first call on the disk fails, the run ends before the input is read."""
    for words in (["cluster", "missing.npz", "-k", 3, "-o", "out"], ["distance", "missing.npz", "-o", "D.npy"]):
        env = {**os.environ, "LD_PRELOAD": str(shim), "DDSC_FAULT": "ENOSPC", "DDSC_FAULT_AT": "1"}
        done = subprocess.run([program, *map(str, words)], env=env, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 6 and "No space left" in done.stderr and words[-1] in done.stderr, done.stderr
    (tmp_path / "nowhere").symlink_to("missing/place")
    for words in (["cluster", three_groups, "-k", 3, "-o", "nowhere"], ["convert", three_groups, "-o", "nowhere"]):
        done = subprocess.run([program, *map(str, words)], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode in (2, 6) and "nowhere" in done.stderr, done.stderr
        assert (tmp_path / "nowhere").is_symlink()


# ---- inputs ----


@pytest.fixture
def inputs(ddsc, three_groups, tmp_path):
    """Create a folder with an input of every kind."""
    ddsc("convert", three_groups, "-o", tmp_path / "items.csv")
    ddsc("convert", three_groups, "-o", tmp_path / "in.npz")
    ddsc("cluster", tmp_path / "in.npz", "-k", 3, "-q", "-o", tmp_path / "model")
    n = len((tmp_path / "model" / "labels.csv").read_text().splitlines()) - 1
    ids = [line.split(",")[0] for line in (tmp_path / "model" / "labels.csv").read_text().splitlines()[1:]]
    (tmp_path / "truth.csv").write_text("id,label\n" + "".join(f"{i},{k % 2}\n" for k, i in enumerate(ids)))
    (tmp_path / "meta.csv").write_text("id,age\n" + "".join(f"{i},{k}\n" for k, i in enumerate(ids)))
    (tmp_path / "docs.tsv").write_text("label\ttext\n" + "".join(f"{'ab'[k % 2]}\tthe cat sat on {k % 5}\n" for k in range(8)))
    (tmp_path / "words.txt").write_text("".join(f"{w} {k} 1\n" for k, w in enumerate("the cat sat on".split())))
    (tmp_path / "stop.txt").write_text("the\n")
    np.save(tmp_path / "D.npy", np.abs(np.subtract.outer(np.arange(12.0), np.arange(12.0))))
    np.save(tmp_path / "vectors.npy", np.eye(4))
    (tmp_path / "vectors.vocab").write_text("the\ncat\nsat\non\n")
    folder = tmp_path / "many"
    (folder / "a").mkdir(parents=True)
    for name in ("a/x.csv", "a/y.csv", "a/items.csv"):
        shutil.copy(tmp_path / "items.csv", folder / name)
    assert n > 0
    return tmp_path


CONFLICTS = {
    "cluster INPUT": ["cluster", "items.csv", "-k", 3, "-o", "."],
    "cluster --truth": ["cluster", "in.npz", "-k", 3, "--truth", "truth.csv", "-o", "."],
    "cluster --labels": ["cluster", "in.npz", "-k", 3, "--labels", "truth.csv", "-o", "."],
    "cluster --meta": ["cluster", "in.npz", "-k", 3, "--meta", "meta.csv", "--meta", "items.csv", "-o", "."],
    "cluster --precomputed": ["cluster", "model/map.npy", "--precomputed", "-k", 3, "-o", "model"],
    "cluster --cost": ["cluster", "in.npz", "-k", 3, "--cost", "model/map.npy", "-o", "model"],
    "cluster --reference": ["cluster", "in.npz", "-k", 3, "-m", "lot", "--reference", "model/model.npz", "-o", "model"],
    "cluster FOLDER": ["cluster", "many", "-k", 3, "-o", "many/a"],
    "cluster --dry-run": ["cluster", "items.csv", "-k", 3, "-o", ".", "-n"],
    "cluster --resume": ["cluster", "keep/manifest", "-k", 3, "--resume", "keep", "-o", "new"],
    "distance": ["distance", "in.npz", "-o", "in.npz"],
    "distance --cost": ["distance", "in.npz", "--cost", "D.npy", "-o", "D.npy"],
    "neighbors": ["neighbors", "D.npy", "--precomputed", "-o", "D.npy"],
    "embed": ["embed", "in.npz", "--reference", "items.csv", "-o", "items.csv"],
    "convert": ["convert", "items.csv", "-o", "items.csv"],
    "convert second": ["convert", "many/a/x.csv", "many/a/y.csv", "-o", "many/a/y.csv"],
    "convert FOLDER": ["convert", "many", "-o", "many/a/y.csv"],
    "convert --meta": ["convert", "in.npz", "--meta", "meta.csv", "-o", "meta.csv"],
    "assign MODEL": ["assign", "model/model.npz", "in.npz", "-o", "model/model.npz"],
    "assign INPUT": ["assign", "model/model.npz", "items.csv", "-o", "items.csv"],
    "assign --truth": ["assign", "model/model.npz", "in.npz", "--truth", "truth.csv", "-o", "truth.csv"],
    "text": ["text", "docs.tsv", "-o", "docs.tsv"],
    "text --vectors": ["text", "docs.tsv", "--vectors", "words.txt", "-o", "words.txt"],
    "text vocab": ["text", "docs.tsv", "--vectors", "vectors.npy", "--format", "npz", "-o", "vectors.vocab"],
    "text --stopwords": ["text", "docs.tsv", "--stopwords", "stop.txt", "-o", "stop.txt"],
    "report": ["report", "model", "-o", "model/items.csv"],
}


@pytest.mark.parametrize("what", CONFLICTS)
def test_an_input_is_never_overwritten(program, inputs, what):
    """Exit code 2 before any work, even with --force, under any name of the file."""
    words = [str(w) for w in CONFLICTS[what]]
    if "--resume" in words:
        (inputs / "keep").mkdir()
        shutil.copy(inputs / "in.npz", inputs / "keep" / "manifest")
    before = files(inputs)
    done = subprocess.run([program, *words, "-f"], cwd=inputs, capture_output=True, text=True)
    assert done.returncode == 2, done.stderr
    assert "is the same file as the input" in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr
    assert files(inputs, hidden=True) == before


@pytest.mark.parametrize("link", ["symlink", "hardlink", "folder", "stdin"])
def test_an_input_by_another_name(program, inputs, link):
    before = files(inputs)
    words, stdin = ["convert", "items.csv", "-o"], None
    if link == "symlink":
        (inputs / "other.csv").symlink_to("items.csv")
        words += ["other.csv"]
    elif link == "hardlink":
        os.link(inputs / "items.csv", inputs / "other.csv")
        words += ["other.csv"]
    elif link == "folder":
        (inputs / "there").symlink_to(".")
        words += ["there/many/../items.csv"]
    else:
        words, stdin = ["convert", "-", "-o", "items.csv"], open(inputs / "items.csv")
    done = subprocess.run([program, *words, "-f"], cwd=inputs, capture_output=True, text=True, stdin=stdin)
    assert done.returncode == 2 and "is the same file as the input" in done.stderr, done.stderr
    for name, content in before.items():
        assert (inputs / name).read_bytes() == content
    if link in ("symlink", "hardlink"):
        words = ["cluster", "other.csv", "-k", "3", "-o", "."]
        done = subprocess.run([program, *words, "-f"], cwd=inputs, capture_output=True, text=True)
        assert done.returncode == 2 and "is the same file as the input" in done.stderr, done.stderr


# Files that a reader opens in addition to the one that is named, with odd names.
TABLES = {"words.d2": "words.vocab0", ".words.d2": ".words.vocab0", "a.vocab.d2": "a.vocab.vocab0", "b.d2.d2": "b.d2.vocab0",
          "c.d2.gz": "c.d2.vocab0.gz", "costs.hist.d2": "costs.hist.hist0", "e.d2s": "e.d2s.hist0"}
WORDS = {"v.npy": "v.txt", ".v.npy": ".v.txt", "v.npy.npy": "v.npy.txt", "w.npy.gz": "w.vocab.gz", "odd.txt": "odd.txt.txt",
         "x.vocab.npy": "x.vocab.vocab"}


@pytest.mark.parametrize("given", [*TABLES, *WORDS])
def test_companions_are_never_overwritten(program, ddsc, inputs, given):
    """The run needs the companion file and does not replace it."""
    def write(name, content):
        (inputs / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)

    if given in TABLES:
        beside = TABLES[given]
        costs = "hist" in beside
        write(given, b"0 2 0.5 0.5\n0 2 0.1 0.9\n" if costs else b"0 2 0.5 0.5 1 2\n0 1 1 2\n")
        write(beside, b"2\n0 1\n1 0\n" if costs else b"1 2\n3 4\n")
        words = ["convert", given]
    else:
        beside = WORDS[given]
        np.save(inputs / "eye", np.eye(4))
        write(given, (inputs / "eye.npy").read_bytes())
        write(beside, b"the\ncat\nsat\non\n")
        words = ["text", "docs.tsv", "--vectors", given]
    content = (inputs / beside).read_bytes()
    for name in (beside, f"./many/../{beside}"):
        error = ddsc(*words, "--format", "npz", "-o", name, "-f", "-q", cwd=inputs, code=2).stderr
        assert "is the same file as the input" in error, error
    assert (inputs / beside).read_bytes() == content
    ddsc(*words, "-o", "new.npz", "-q", cwd=inputs)
    if given != "odd.txt":  # which is then read as text
        (inputs / beside).unlink()
        ddsc(*words, "-o", "newer.npz", "-q", cwd=inputs, code=3)


def test_other_files_are_overwritten(program, ddsc, inputs):
    """A file next to an input, a result in the folder of its input, a page in the folder of its result."""
    for words in (["convert", "items.csv", "-o", "items.tsv"], ["cluster", "in.npz", "-k", 3, "-o", "new"],
                  ["convert", "many", "-o", "many/all.npz"], ["report", "model"], ["text", "docs.tsv", "-o", "docs.npz"],
                  ["report", "model", "--plots", "svg"], ["distance", "in.npz", "-o", "in.txt.npy"],
                  ["neighbors", "D.npy", "--precomputed", "-o", "D.txt"]):
        for more in ([], ["-f"]):
            done = subprocess.run([program, *map(str, words), *more], cwd=inputs, capture_output=True, text=True)
            assert done.returncode == 0, (words, done.stderr)


# ---- permissions ----


def modes(folder):
    return {p.name: stat.S_IMODE(p.stat().st_mode) for p in folder.iterdir()}


@pytest.mark.parametrize("way", ["exchange", "one by one"])
def test_permissions_are_never_loosened(program, ddsc, three_groups, tmp_path, way):
    words = [program, "cluster", str(three_groups), "-q", "-o", "out"]

    def run(*more, mask=0o022):
        done = subprocess.run([*words, *more], cwd=tmp_path, umask=mask, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr

    run("-k", "3")
    out = tmp_path / "out"
    assert set(modes(out).values()) == {0o644} and stat.S_IMODE(out.stat().st_mode) == 0o755
    if way == "one by one":
        (out / "folder").mkdir(mode=0o755)
        (out / "folder" / "x").write_text("")
    for path in out.glob("*.*"):
        path.chmod(0o600)
    run("-k", "2:4", "-f")  # with sweep.csv, which is new
    assert {n: m for n, m in modes(out).items() if n != "folder"} == dict.fromkeys(set(modes(out)) - {"folder"}, 0o600)
    assert "sweep.csv" in modes(out)
    for path in out.glob("*.*"):
        path.chmod(0o664)
    (out / "labels.csv").chmod(0o640)
    (out / "result.json").chmod(0o755)
    out.chmod(0o750)
    run("-k", "3", "-f")
    assert modes(out)["labels.csv"] == 0o640
    assert modes(out)["result.json"] == modes(out)["items.csv"] == 0o644
    assert stat.S_IMODE(out.stat().st_mode) == 0o750
    run("-k", "3", "-f", mask=0o077)
    assert {m for n, m in modes(out).items() if n != "folder"} == {0o600}
    run("-k", "3", "-f")
    assert {m for n, m in modes(out).items() if n != "folder"} == {0o600}


@pytest.mark.parametrize("where, mode, code", [("place", 0o555, 0), ("place/out", 0o333, 0), ("place/out", 0o555, 6),
                                               ("place/out", 0o000, 6)])
def test_folders_without_permissions(program, three_groups, where, mode, code):
    """Not as root, because permissions do not restrict root: the old result or the new one, and nothing else."""
    other = {"user": 65534, "group": 65534, "extra_groups": []} if os.getuid() == 0 else {}
    with tempfile.TemporaryDirectory() as folder:
        given = pathlib.Path(shutil.copy(three_groups, folder))
        place = pathlib.Path(folder) / "place"
        place.mkdir()
        for path in (pathlib.Path(folder), place, given):
            os.chown(path, *((65534, 65534) if other else (-1, -1)))

        def run(k):
            words = [program, "cluster", given, "-k", str(k), "-q", "-f", "-o", "place/out"]
            try:
                return subprocess.run(words, cwd=folder, capture_output=True, text=True, **other)
            except PermissionError:
                pytest.skip("another user cannot run the program")

        assert run(2).returncode == 0
        changed = place.parent / where
        before = (place / "out" / "labels.csv").read_bytes()
        changed.chmod(mode)
        done = run(3)
        assert done.returncode == code, done.stderr
        assert stat.S_IMODE(changed.stat().st_mode) == mode
        changed.chmod(0o755)
        assert [p.name for p in place.iterdir()] == ["out"] and not list(place.rglob(".ddsc-*"))
        assert ((place / "out" / "labels.csv").read_bytes() == before) == (code != 0)


def test_nobody_reads_a_stage(program, shim, ddsc, three_groups, tmp_path):
    """While the files are written, other users cannot open them."""
    env = {**os.environ, "LD_PRELOAD": str(shim), "DDSC_FAULT": "KILL", "OMP_NUM_THREADS": "1"}
    log = tmp_path / "log"
    words = [program, "cluster", str(three_groups), "-k", "3", "-j", "1", "-q", "-o", "out"]
    (tmp_path / "a").mkdir()
    subprocess.run(words, cwd=tmp_path / "a", env={**env, "DDSC_FAULT_AT": "0", "DDSC_FAULT_LOG": str(log)}, check=True)
    at = max(k for k, line in enumerate(log.read_text().splitlines(), 1) if line.startswith("open"))
    (tmp_path / "b").mkdir()
    subprocess.run(words, cwd=tmp_path / "b", env={**env, "DDSC_FAULT_AT": str(at)})
    stage = [p for p in (tmp_path / "b").iterdir() if p.name.startswith(".ddsc-")]
    assert len(stage) == 1 and stat.S_IMODE(stage[0].stat().st_mode) == 0o700 and list(stage[0].iterdir())
    assert stat.S_IMODE((tmp_path / "a" / "out").stat().st_mode) == 0o777 & ~umask()


def umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


@pytest.mark.skipif(os.getuid() != 0, reason="needs other groups")
def test_groups_are_kept(program, ddsc, three_groups, tmp_path):
    ddsc("cluster", three_groups, "-k", 3, "-q", "-o", tmp_path / "out")
    ddsc("distance", three_groups, "-q", "-o", tmp_path / "D.npy")
    kept = [tmp_path / "out" / "labels.csv", tmp_path / "D.npy"]
    for path in kept:
        os.chown(path, -1, 12345)
        path.chmod(0o640)
    ddsc("cluster", three_groups, "-k", 3, "-q", "-f", "-o", tmp_path / "out")
    ddsc("distance", three_groups, "-q", "-f", "-o", tmp_path / "D.npy")
    for path in kept:
        assert path.stat().st_gid == 12345 and stat.S_IMODE(path.stat().st_mode) == 0o640


def test_an_access_control_list_is_not_loosened(ddsc, three_groups, tmp_path):
    """A group that the access control list denied has no access to the new file."""
    if not shutil.which("setfacl"):
        pytest.skip("no setfacl here")
    ddsc("cluster", three_groups, "-k", 3, "-q", "-o", tmp_path / "out")
    path = tmp_path / "out" / "labels.csv"
    if subprocess.run(["setfacl", "-m", "u:12345:r,g::-,o::-", str(path)]).returncode != 0:
        pytest.skip("no access control lists here")
    ddsc("cluster", three_groups, "-k", 3, "-q", "-f", "-o", tmp_path / "out")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert json.loads((tmp_path / "out" / "result.json").read_text())


def test_a_link_with_the_name_of_a_stage_is_not_followed(ddsc, owner, tmp_path):
    """Names of temporary folders can be predicted, so another user can place links with such names."""
    ddsc("generate", "gaussians", "--items", 12, "--points", 10, "-o", tmp_path / "a.npz", "-q")
    ddsc("cluster", tmp_path / "a.npz", "-k", 2, "-o", tmp_path / "old", "-q")
    before = sorted(p.name for p in (tmp_path / "old").iterdir())
    (tmp_path / "s" / "mine").mkdir(parents=True)
    (tmp_path / "s" / f"{owner}-4000000-0.tmp").symlink_to(tmp_path / "old")
    (tmp_path / "s" / "mine" / ".ddsc-x.old").symlink_to(tmp_path / "old")
    ddsc("cluster", tmp_path / "a.npz", "-k", 2, "-o", tmp_path / "s" / "mine", "-q")
    assert sorted(p.name for p in (tmp_path / "old").iterdir()) == before


def test_a_folder_with_the_name_of_the_probe_is_no_obstacle(ddsc, tmp_path):
    ddsc("generate", "gaussians", "--items", 12, "--points", 10, "-o", tmp_path / "a.npz", "-q")
    (tmp_path / "o" / "ddsc-try").mkdir(parents=True)
    ddsc("cluster", tmp_path / "a.npz", "-k", 2, "-o", tmp_path / "o", "-q")
