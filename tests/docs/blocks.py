"""Runs every code block of the pages: ```python and ```sh of docs/*.md and of the README files.

    build/venv/bin/python tests/docs/blocks.py [PAGE...]

The blocks of a page run in order, in a separate folder that contains small files with the names used on the pages
(standins.py). Python blocks share their names. A ```text block directly after a Python block must equal the output of
that block. A line <!-- not run: REASON --> before a block skips the block; skipped blocks are listed. In ```sh blocks, an
existing output is removed first, because pages show alternatives one after the other, and `open` only checks that the
file exists.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

import standins

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"(?:^<!-- not run: (?P<why>.*?) -->\n)?^```(?P<kind>\w*)\n(?P<code>.*?)^```$", re.M | re.S)
SHELL = """
open() { test -e "$1"; }
ddsc() {
    for word in "$@"; do
        if [ "${last:-}" = -o ]; then rm -rf "$word"; fi
        last=$word
    done
    last=
    command ddsc "$@"
}
"""
# Each Python block runs in its own exec, so that its output is separate.
PYTHON = """
import contextlib, io, json, sys, warnings
import matplotlib
matplotlib.use("Agg")
warnings.simplefilter("ignore")
names = {"__name__": "__main__"}
for line in sys.stdin:
    task = json.loads(line)
    told = io.StringIO()
    try:
        with contextlib.redirect_stdout(told):
            exec(compile(task["code"], task["where"], "exec"), names)
        answer = {"told": told.getvalue()}
    except BaseException as error:
        answer = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps(answer), flush=True)
"""


def pages(names):
    found = [ROOT / "README.md", ROOT / "python" / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    return [p for p in found if not names or p.name in names or str(p.relative_to(ROOT)) in names]


class Page:
    """A page, with the folder and the interpreter in which its blocks run."""

    def __init__(self, path, folder):
        self.path, self.folder, self.failed, self.ran, self.left_out = path, folder, [], 0, []
        self.told, self.behind = None, None
        paths = [str(ROOT / "build"), os.path.dirname(sys.executable), os.environ["PATH"]]
        self.environment = {**os.environ, "PATH": os.pathsep.join(paths)}
        self.python = subprocess.Popen([sys.executable, "-c", PYTHON], cwd=folder, text=True, env=self.environment,
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def run(self):
        text = self.path.read_text(encoding="utf-8")
        for found in BLOCK.finditer(text):
            where = f"{self.path.relative_to(ROOT)}:{text[: found.start('code')].count(chr(10)) + 1}"
            kind, code = found["kind"], found["code"]
            if kind == "text" and self.told is not None and not text[self.behind : found.start()].strip():
                if code.strip() != self.told.strip():
                    self.failed.append(f"{where}: the page shows\n{code}\nand it printed\n{self.told}")
            self.told = None
            if kind not in ("python", "sh"):
                continue
            if found["why"]:
                self.left_out.append(f"{where}: {found['why']}")
                continue
            self.ran += 1
            if kind == "python":
                self.python.stdin.write(json.dumps({"code": code, "where": where}) + "\n")
                self.python.stdin.flush()
                answer = json.loads(self.python.stdout.readline())
                self.told, self.behind = answer.get("told"), found.end()
                if "error" in answer:
                    self.failed.append(f"{where}: {answer['error']}")
            else:
                done = subprocess.run(["sh", "-eu", "-c", SHELL + code], cwd=self.folder, text=True,
                                      capture_output=True, env=self.environment)
                if done.returncode:
                    self.failed.append(f"{where}: exit code {done.returncode}\n{done.stderr[-600:]}")
        self.python.stdin.close()
        self.python.wait()


def main():
    ran, failed, left_out, begin = 0, [], [], time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        files = pathlib.Path(scratch, "files")
        files.mkdir()
        standins.write(files)
        for path in pages(sys.argv[1:]):
            folder = pathlib.Path(scratch, path.stem + str(len(path.parts)))
            shutil.copytree(files, folder)
            page = Page(path, folder)
            page.run()
            ran += page.ran
            failed += page.failed
            left_out += page.left_out
            shutil.rmtree(folder)
    for line in left_out:
        print("not run:", line)
    for line in failed:
        print("FAILED", line)
    print(f"blocks of code: {ran} run, {len(left_out)} not run, {len(failed)} failed, {time.monotonic() - begin:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
