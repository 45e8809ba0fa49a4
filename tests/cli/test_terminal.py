"""Ids and names of files with control characters: visible on a terminal, unchanged in files and pipes."""
import os
import pty
import subprocess

import numpy as np
import pytest

from conftest import clouds

EVIL = "a\x1b]0;owned\x07b\u202ec\x9bd"


@pytest.fixture(scope="module")
def evil(tmp_path_factory):
    path = tmp_path_factory.mktemp("evil") / "evil.npz"
    parts = clouds(2, 6, 5, 2, 1)
    np.savez(path, **parts, ids=np.array([EVIL] + [f"i{k}" for k in range(11)]))
    return path


def on_a_terminal(words, cwd=None):
    """Return the standard output and standard error of a command on a terminal."""
    mine, theirs = pty.openpty()
    job = subprocess.Popen([str(w) for w in words], stdout=theirs, stderr=theirs, cwd=cwd,
                           env={**os.environ, "TERM": "xterm"})
    os.close(theirs)
    shown = b""
    while True:
        try:
            piece = os.read(mine, 65536)
        except OSError:  # the other end is closed
            piece = b""
        if not piece:
            break
        shown += piece
    os.close(mine)
    job.wait(timeout=300)
    return shown


def is_safe(shown):
    text = shown.decode()
    return "\x1b]" not in text and "\u202e" not in text and "\x9b" not in text and "\x07" not in text


@pytest.mark.parametrize("words", [
    ["cluster", "EVIL", "-k", 2], ["cluster", "EVIL", "-k", 2, "--json"],
    ["convert", "EVIL", "--format", "csv", "-o", "-"], ["cluster", "EVIL", "-k", 2, "-o", "out"]])
def test_ids_on_a_terminal(program, evil, tmp_path, words):
    words = [evil if w == "EVIL" else w for w in words]
    shown = on_a_terminal([program, *words], tmp_path)
    assert is_safe(shown)
    if "out" not in words and "--json" not in words:
        assert b"a\\x1b]0;owned\\x07b\\u202ec\\x9bd" in shown


def test_names_of_files_on_a_terminal(program, evil, tmp_path):
    shown = on_a_terminal([program, "info", f"{tmp_path}/no\x1b]0;owned\x07.npz"])
    assert is_safe(shown) and b"no\\x1b]0;owned\\x07.npz" in shown
    shown = on_a_terminal([program, "cluster", evil, "-k", "2", "-o", f"out\u202e"], tmp_path)
    assert is_safe(shown) and b"out\\u202e" in shown


def test_files_and_pipes_get_the_bytes(ddsc, evil, tmp_path):
    piped = ddsc("cluster", evil, "-k", 2, "-q").stdout
    ddsc("cluster", evil, "-k", 2, "-q", "-o", tmp_path / "out")
    assert EVIL in piped and EVIL in (tmp_path / "out" / "labels.csv").read_text()
    assert "\x1b]" in ddsc("info", f"{tmp_path}/no\x1b].npz", code=3).stderr
