"""Help, version, manual page and completion, all generated from the option tables."""
import os
import pty
import re
import select
import shutil
import subprocess
import time

import pytest

VERBS = ["cluster", "distance", "neighbors", "embed", "text", "convert", "generate", "score",
         "assign", "report", "explain", "name", "diff", "order", "test", "states", "info", "demo"]


def test_program_help_lists_the_verbs_in_order(ddsc):
    text = ddsc("--help").stdout
    places = [text.index(f"\n  {verb} ") for verb in VERBS]
    assert places == sorted(places)
    for code in ("0 success", "2 usage", "3 bad input", "75 interrupted"):
        assert code in text
    assert ddsc("help").stdout == text == ddsc("-h").stdout


def test_no_words_prints_the_help_as_an_error(ddsc):
    done = ddsc(code=2)
    assert done.stdout == "" and "Verbs:" in done.stderr


@pytest.mark.parametrize("verb", VERBS)
def test_help_of_a_verb(ddsc, verb):
    text = ddsc(verb, "--help").stdout
    assert text.startswith(f"Usage: ddsc {verb}")
    assert "Examples:" in text and "--help" in text
    assert max(map(len, text.split("Examples:")[0].splitlines())) <= 80
    assert max(map(len, text.splitlines())) <= 100
    assert ddsc("help", verb).stdout == text


@pytest.mark.parametrize("option", [
    "--metric", "--method", "-k,", "--tau", "--gamma", "--paper", "--epsilon", "--sinkhorn-value",
    "--tolerance", "--max-iterations", "--mmd-kernel", "--bandwidth", "--mmd-estimator",
    "--reference", "--reference-size", "--exact-graph", "--sample", "--precomputed",
    "--squared-input", "--truth", "--labels", "--subset-per-class", "--seed", "--threads",
    "--memory", "--quiet", "--progress", "--force", "--json", "-o,", "--compress", "--phase",
    "--channels", "--arcsinh", "--on-empty", "--min-cluster"])
def test_cluster_knows_the_words_of_the_contract(ddsc, option):
    assert f" {option}" in ddsc("cluster", "--help").stdout


def test_version(ddsc):
    lines = ddsc("--version").stdout.splitlines()
    assert lines[0].startswith("ddsc 0.")
    assert lines[1].startswith("features: ")
    assert lines[2].startswith("device: ")
    assert ddsc("-V").stdout.splitlines() == lines


def test_committed_man_page_is_up_to_date(ddsc, source):
    """Regenerate the page with: build/ddsc help --man > man/ddsc.1"""
    assert ddsc("help", "--man").stdout == (source / "man" / "ddsc.1").read_text()


def test_man_page_is_valid_roff(source):
    if not shutil.which("groff"):
        pytest.skip("no groff here")
    done = subprocess.run(["groff", "-man", "-ww", "-Tascii", source / "man" / "ddsc.1"],
                          capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == ""
    assert "EXIT STATUS" in re.sub(".\b", "", done.stdout)


def test_bash_completion(ddsc, tmp_path):
    script = tmp_path / "ddsc.bash"
    script.write_text(ddsc("completion", "bash").stdout)

    def complete(*words):
        quoted = " ".join(f"'{word}'" for word in words)
        done = subprocess.run(
            ["bash", "-c", f"source {script}; COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1};"
             "_ddsc; printf '%s\\n' \"${COMPREPLY[@]}\""], capture_output=True, text=True, cwd=tmp_path)
        assert done.stderr == ""
        return done.stdout.split()

    subprocess.run(["bash", "-n", script], check=True)
    assert complete("ddsc", "cl") == ["cluster"]
    assert set(VERBS) <= set(complete("ddsc", ""))
    assert complete("ddsc", "cluster", "--metric", "s") == ["sinkhorn"]
    assert complete("ddsc", "cluster", "--metric", "=", "m") == ["mmd"]
    assert complete("ddsc", "cluster", "-m", "s") == ["sinkhorn"]
    assert complete("ddsc", "completion", "b") == ["bash"]
    assert complete("ddsc", "help", "met") == ["metrics"]
    assert complete("ddsc", "cluster", "--sub") == ["--subset-per-class"]
    assert "ddsc.bash" in complete("ddsc", "info", "dd")


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_completion(ddsc, tmp_path, shell):
    text = ddsc("completion", shell).stdout
    for verb in VERBS:
        assert verb in text
    script = tmp_path / "script"
    script.write_text(text)
    try:
        subprocess.run([shell, "-n", script], check=True)
    except FileNotFoundError:
        pytest.skip(f"{shell} is not here: its script was not parsed")


def test_fish_completes(ddsc, tmp_path):
    if not shutil.which("fish"):
        pytest.skip("fish is not here")
    (tmp_path / "ddsc.fish").write_text(ddsc("completion", "fish").stdout)

    def complete(line):
        done = subprocess.run(["fish", "--no-config", "-c", f"source ddsc.fish; complete -C '{line}'"],
                              capture_output=True, text=True, cwd=tmp_path)
        assert done.stderr == ""
        return [row.split("\t")[0] for row in done.stdout.splitlines()]

    assert complete("ddsc clu") == ["cluster"]
    assert set(complete("ddsc cluster --metric ")) == {"w2", "w1", "sinkhorn", "mmd", "lot"}
    assert complete("ddsc cluster --resu") == ["--resume"]
    assert complete("ddsc generate s") == ["shapes"]
    assert "ddsc.fish" in complete("ddsc assign dds")


def test_zsh_completes(ddsc, tmp_path):
    """A zsh on its own terminal; a tab completes the line."""
    if not shutil.which("zsh"):
        pytest.skip("zsh is not here")
    (tmp_path / "_ddsc").write_text(ddsc("completion", "zsh").stdout)
    ours, theirs = pty.openpty()
    shell = subprocess.Popen(["zsh", "-f", "-i"], stdin=theirs, stdout=theirs, stderr=theirs,
                             cwd=tmp_path, env={**os.environ, "TERM": "dumb"}, start_new_session=True)

    def answer(text, wanted):
        """Return everything printed after `text` was typed, up to `wanted`."""
        os.write(ours, text.encode())
        seen, end = "", time.monotonic() + 20
        while wanted not in seen and time.monotonic() < end:
            if select.select([ours], [], [], 0.1)[0]:
                seen += os.read(ours, 65536).decode(errors="replace")
        assert wanted in seen, f"{text!r}: {seen!r}"

    try:
        answer(f"fpath=({tmp_path} $fpath); autoload -U compinit; compinit -u -D; bindkey '^I' complete-word; "
               "unsetopt beep; print RE''ADY\n", "READY")
        for typed, rest in (("ddsc clu\t", "cluster "), ("--metric s\t", "sinkhorn "),
                            ("--subs\t", "--subset-per-class"), ("3 _dd\t", "_ddsc ")):
            answer(typed, rest)
    finally:
        shell.kill()
        shell.wait()
        os.close(ours)
        os.close(theirs)


def test_completion_of_an_unknown_shell(ddsc):
    assert "bash, zsh or fish" in ddsc("completion", "csh", code=2).stderr


def test_help_lists_metrics_and_completion(ddsc):
    told = ddsc("help", "metrics").stdout
    for metric in ("w2", "w1", "sinkhorn", "mmd", "lot"):
        assert re.search(rf"^  {metric} ", told, re.M)
    assert max(map(len, told.splitlines())) <= 80
    assert re.search(r"^  completion +print", ddsc("--help").stdout, re.M)


def test_the_version_is_set_in_one_step(source, tmp_path):
    """tools/version.py before a release."""
    names = ["include/ddsc/ddsc.h", "python/pyproject.toml", "CITATION.cff", "r/ddsc/DESCRIPTION", "man/ddsc.1",
             "packaging/conda-forge/recipe.yaml", "CHANGELOG.md", "tools/version.py"]
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source / name, tmp_path / name)
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## Unreleased\n\n- A change.\n")

    def run(*words):
        return subprocess.run(["/usr/bin/python3", tmp_path / "tools" / "version.py", *words], capture_output=True, text=True)

    for _ in range(2):  # a second time changes nothing
        assert run("7.8.9", "2030-01-02").returncode == 0
    for name in names[1:-2]:
        assert "7.8.9" in (tmp_path / name).read_text(), name
    header = (tmp_path / names[0]).read_text()
    assert all(f"#define DDSC_VERSION_{part} {n}\n" in header for part, n in (("MAJOR", 7), ("MINOR", 8), ("PATCH", 9)))
    assert (tmp_path / "CHANGELOG.md").read_text() == "# Changelog\n\n## 7.8.9 - 2030-01-02\n\n- A change.\n"
    assert "usage" in run("7.8").stderr
    (tmp_path / "CITATION.cff").write_text("title: no version\n")
    assert "CITATION.cff: found 0 places" in run("7.9.0").stderr
