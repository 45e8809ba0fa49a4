"""./run and missing Debian packages: one question on a terminal, none elsewhere. A copy of the script runs with
replacements of dpkg-query, apt-get, cmake and the program."""
import os
import pty
import re
import shutil
import subprocess

import pytest

# cmake fails for ./run test: the build and everything after it are not the subject here.
TOOLS = {
    "dpkg-query": 'for name; do :; done; case " $INSTALLED " in *" $name "*) printf installed ;; *) exit 1 ;; esac',
    "apt-get": 'echo "apt-get $*" >>"$LOG"; case " $* " in *" chromium "*) exit ${CHROMIUM:-0} ;; esac',
    "cmake": 'echo cmake >>"$LOG"; exit ${CMAKE:-0}',
    "sudo": '"$@"',
    "ddsc": 'echo "ddsc $*" >>"$LOG"',
}


class Run:
    def __init__(self, source, folder):
        self.log, self.folder = folder / "log", folder
        (folder / "bin").mkdir()
        (folder / "build").mkdir()
        (folder / "tmp").mkdir()
        shutil.copy(source / "run", folder)
        for name, text in TOOLS.items():
            path = folder / ("build" if name == "ddsc" else "bin") / name
            path.write_text(f"#!/bin/sh\n{text}\n")
            path.chmod(0o755)

    def environment(self, variables):
        outer = {k: v for k, v in os.environ.items() if k not in ("CI", "DDSC_RUN_YES")}
        return {**outer, "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}", "LOG": str(self.log),
                "TMPDIR": str(self.folder / "tmp"), **variables}

    def did(self):
        """Return the executed commands; no file remains in the temporary directory."""
        assert list((self.folder / "tmp").iterdir()) == []
        return self.log.read_text().splitlines() if self.log.exists() else []

    def piped(self, *words, **variables):
        done = subprocess.run(["./run", *words], cwd=self.folder, env=self.environment(variables), text=True, timeout=60,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.returncode, done.stdout

    def on_a_terminal(self, *words, answer, **variables):
        mine, theirs = pty.openpty()
        job = subprocess.Popen(["./run", *words], cwd=self.folder, env=self.environment(variables), stdin=theirs,
                               stdout=theirs, stderr=theirs)
        os.close(theirs)
        os.write(mine, answer.encode())
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
        return job.wait(timeout=60), shown.decode()


@pytest.fixture
def run(source, tmp_path):
    return Run(source, tmp_path)


def installs(did):
    return [line for line in did if line.startswith("apt-get install")]


def test_a_terminal_is_asked_once(run):
    code, shown = run.on_a_terminal("demo", "-q", answer="y\n")
    assert code == 0 and shown.count("[y/N]") == 1
    listed = re.search(r"missing Debian packages: (.*?)\r", shown).group(1).split()
    assert {"gcc", "cmake"} <= set(listed) and "chromium" not in listed
    did = run.did()
    assert installs(did) == ["apt-get install -y -qq --no-install-recommends " + " ".join(listed)]
    assert did[-1] == "ddsc demo -q"


@pytest.mark.parametrize("answer", ["n\n", "\n", "maybe\n", "\x04"])
@pytest.mark.parametrize("word", ["demo", "test", "setup"])
def test_any_other_answer_installs_nothing(run, word, answer):
    code, shown = run.on_a_terminal(word, answer=answer)
    assert code == 1 and "nothing was installed; these Debian packages are required: gcc" in shown
    assert run.did() == []


def test_no_question_without_a_terminal_with_y_or_in_ci(run):
    code, shown = run.piped("demo")
    assert code == 0 and "[y/N]" not in shown and "installing gcc" in shown
    for words, variables in (["-y", "demo"], {}), (["demo"], {"CI": "true"}):
        code, shown = run.on_a_terminal(*words, answer="", **variables)
        assert code == 0 and "[y/N]" not in shown
    assert len(installs(run.did())) == 3


def test_only_setup_installs_chromium(run):
    code, shown = run.on_a_terminal("test", answer="y\n", CMAKE="1")
    assert "the build failed" in shown and shown.count("[y/N]") == 1
    assert len(installs(run.did())) == 1 and "chromium" not in " ".join(run.did())
    code, shown = run.on_a_terminal("setup", answer="y\n")
    assert code == 0 and shown.count("[y/N]") == 1 and "chromium" in " ".join(run.did())


def test_setup_goes_on_without_chromium(run):
    code, shown = run.piped("-y", "setup", CHROMIUM="100")
    assert code == 0 and "continuing without: chromium chromium-driver" in shown


def test_what_is_installed_is_not_asked_for(run, source):
    names = re.search(r'^build_packages="(.*)"', (source / "run").read_text(), re.M).group(1)
    code, shown = run.on_a_terminal("demo", answer="", INSTALLED=names)
    assert code == 0 and "[y/N]" not in shown and run.did()[-1] == "ddsc demo"
    code, shown = run.on_a_terminal("demo", answer="y\n", INSTALLED=names.replace("cmake ", ""))
    assert code == 0 and installs(run.did()) == ["apt-get install -y -qq --no-install-recommends cmake"]


def test_a_failed_installation_shows_the_message_of_apt(run):
    (run.folder / "bin" / "apt-get").write_text("#!/bin/sh\necho no space left >&2; exit 100\n")
    code, shown = run.piped("demo")
    assert code == 1 and "no space left" in shown and "could not install gcc" in shown
    assert run.did() == []
