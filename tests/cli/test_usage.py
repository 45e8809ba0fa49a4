"""Wrong usage: exit code 2, a helpful message, and no output files."""
import os
import pty
import select
import subprocess

import numpy as np
import pytest


@pytest.mark.parametrize("words, message", [
    (["clustr"], "unknown verb 'clustr'; did you mean 'cluster'?"),
    (["neighbours", "x"], "did you mean 'neighbors'?"),
    (["--frobnicate"], "unknown option '--frobnicate'"),
    (["cluster", "x", "--metrc", "w2"], "unknown option '--metrc'; did you mean '--metric'?"),
    (["cluster", "x", "--subset"], "did you mean '--subset-per-class'?"),
    (["cluster", "x", "-z"], "unknown option '-z'"),
    (["cluster", "x", "-k", "2", "--metric", "sinkhorm"], "did you mean 'sinkhorn'?"),
    (["cluster", "x", "-k", "2", "--metric", "kmeans"], "--method kmeans"),
    (["cluster", "x"], "-k 5, -k 2:10 or -k auto"),
    (["cluster", "-k", "2"], "no input given"),
    (["cluster", "x", "-k"], "needs a value"),
    (["cluster", "x", "-k", "0"], "'0' is not a number (5), a range (5:10) or auto"),
    (["cluster", "x", "-k", "7:3"], "'7:3' is not"),
    (["cluster", "x", "-k", "3x"], "'3x' is not"),
    (["cluster", "x", "-k", ""], "'' is not"),
    (["cluster", "x", "-k", "2", "--tau", "0"], "at least 1"),
    (["cluster", "x", "-k", "2", "--tau", "-4"], "'-4' is not an integer"),
    (["cluster", "x", "-k", "2", "--tau", "99999999999999999999"], "integer"),
    (["cluster", "x", "-k", "2", "--gamma", "-1"], "'-1' is not auto, local, median or a positive number"),
    (["cluster", "x", "-k", "2", "--gamma", "nan"], "'nan' is not"),
    (["cluster", "x", "-k", "2", "--epsilon", "5%%"], "'5%%' is not"),
    (["cluster", "x", "-k", "2", "--sample", "1.5"], "'1.5' is not a fraction"),
    (["cluster", "x", "-k", "2", "--memory", "8Q"], "'8Q' is not a number of bytes"),
    (["cluster", "x", "-k", "2", "--min-cluster", "2"], "'2' is not a fraction"),
    (["cluster", "x", "-k", "2", "--quiet=yes"], "--quiet does not take a value"),
    (["cluster", "x", "-k", "2:5", "--method", "kmeans"], "needs a single number of clusters"),
    (["cluster", "x", "-k", "2", "--precomputed", "--compress", "5"], "cannot be combined with"),
    (["distance", "x", "--precomputed"], "unknown option '--precomputed'"),
    (["distance", "x", "--json", "-o", "-"], "both use standard output"),
    (["score", "a"], "an operand is missing"),
    (["score", "a", "b", "c"], "unexpected operand 'c'"),
    (["generate", "shape", "-o", "x.npz"], "did you mean 'shapes'?"),
    (["generate", "shapes"], "-o FILE"),
    (["convert", "x"], "-o FILE"),
    (["help", "nothing"], "unknown verb 'nothing'"),
])
def test_bad_usage(ddsc, tmp_path, words, message):
    done = ddsc(*words, code=2, cwd=tmp_path)
    assert message in done.stderr
    assert done.stdout == ""
    assert "--help'" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("words", [
    ["--clusters=3", "--metric=lot"], ["--clusters", "3", "--metric", "lot"], ["-k3", "-m", "lot"],
    ["-k=3", "-mlot"], ["-qk", "3", "-mlot"]])
def test_ways_to_write_options(ddsc, three_groups, words):
    first = ddsc("cluster", three_groups, "-k", "3", "--metric", "lot").stdout
    assert ddsc("cluster", *words, three_groups).stdout == first


def test_two_dashes_end_the_options(ddsc, tmp_path, three_groups):
    (tmp_path / "-k").write_bytes(three_groups.read_bytes())
    assert "items        45" in ddsc("info", "--", "-k", cwd=tmp_path).stdout


def test_random_words_never_crash(ddsc, program, tmp_path):
    pieces = ["cluster", "info", "score", "generate", "--", "-", "-k", "5", "auto", "--tau", "-1",
              "--metric", "=", "--json", "-o", "x", "--progress=none", "-qj2", "\xff", "", "--epsilon",
              "5%", "--memory", "1G", "shapes", "--items", "2", "--help", "-kk", "--=", "---", "-=",
              "%s%n", "--clusters=99999999999999999999:3", "--seed", "a" * 5000]
    random = np.random.default_rng(4)
    for _ in range(60):
        words = list(random.choice(pieces, random.integers(1, 8)))
        done = subprocess.run([program, *words], cwd=tmp_path, input=b"", capture_output=True,
                              timeout=60)
        assert done.returncode in (0, 2, 3), (words, done.returncode, done.stderr)


def test_missing_file_is_bad_input(ddsc, tmp_path):
    done = ddsc("info", tmp_path / "none.npz", code=3)
    assert "none.npz" in done.stderr and done.stderr.startswith("ddsc: ")


def test_bad_weight_is_named(ddsc, tmp_path):
    path = tmp_path / "bad.npz"
    np.savez(path, points=np.zeros((4, 2)), weights=[1, 1, -0.5, 1], offsets=[0, 2, 4])
    message = ddsc("cluster", path, "-k", "2", code=3).stderr
    assert "bad.npz" in message and "item 1" in message and "-0.5" in message


def test_output_in_a_directory_that_is_not_there(ddsc, three_groups, tmp_path):
    done = ddsc("distance", three_groups, "-o", tmp_path / "no" / "D.npy", code=6)
    assert "its folder does not exist" in done.stderr


def test_k_above_n(ddsc, three_groups):
    ddsc("cluster", three_groups, "-k", "1000", code=2)


def test_options_without_effect_are_named(ddsc, three_groups):
    done = ddsc("cluster", three_groups, "-k", "3", "--epsilon", "1%", "--bandwidth", "2")
    assert "--epsilon has no effect" in done.stderr and "--bandwidth has no effect" in done.stderr
    assert ddsc("cluster", three_groups, "-k", "3", "--epsilon", "1%", "-q").stderr == ""


def on_terminal(program, words, env):
    """Return the standard error of a run whose stderr is a terminal."""
    try:
        master, slave = pty.openpty()
    except OSError:
        pytest.skip("no pseudo-terminals here")
    pid = os.fork()
    if pid == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(slave, 2)
        os.execve(program, [program, *words], env)
    os.close(slave)
    seen = b""
    while select.select([master], [], [], 60)[0]:
        try:
            part = os.read(master, 4096)
        except OSError:
            break
        if not part:
            break
        seen += part
    os.waitpid(pid, 0)
    os.close(master)
    return seen.decode()


def test_colors_only_on_terminals_and_not_with_no_color(ddsc, program):
    assert "\033" not in ddsc("clustr", code=2).stderr
    plain = {"PATH": os.environ["PATH"], "TERM": "xterm"}
    plain.update({k: v for k, v in os.environ.items() if k.startswith(("ASAN", "UBSAN", "LD_"))})
    assert "\033[1;31m" in on_terminal(program, ["clustr"], plain)
    assert "\033" not in on_terminal(program, ["clustr"], {**plain, "NO_COLOR": "1"})
    assert "\033" not in on_terminal(program, ["clustr"], {**plain, "TERM": "dumb"})


def test_full_disk_is_told(ddsc, three_groups, program):
    with open("/dev/full", "w") as full:
        done = subprocess.run([program, "info", str(three_groups)], stdout=full,
                              stderr=subprocess.PIPE, text=True)
    assert done.returncode == 6 and "standard output" in done.stderr


def test_closed_pipe_is_quiet(program, three_groups):
    done = subprocess.run(["bash", "-c", f"'{program}' neighbors '{three_groups}' -q | head -c 10"],
                          capture_output=True, text=True)
    assert done.stderr == "" and len(done.stdout) == 10
