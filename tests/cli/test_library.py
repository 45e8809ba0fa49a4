"""The library never prints, exits, installs signal handlers or keeps global state. The test checks the symbols of the
shared library, so it need not run every path."""
import os
import pathlib
import re
import subprocess

import pytest

# libhdf5 is shared by the whole process and not thread-safe, so one lock protects it.
OF_LIBHDF5 = {"turn_lock"}
# Symbols that the compiler and its runtime add to every library.
OF_THE_COMPILER = {"completed.0", "__dso_handle", "__TMC_END__", "__cpu_features2", "__cpu_model"}
# The child process that runs libhdf5 uses these functions.
OF_THE_CHILD = {"fork", "_exit", "signal"}
FORBIDDEN = re.compile(
    r"stdin|stdout|stderr|v?f?printf|f?puts|f?putc|putchar|perror|__\w*printf_chk|"  # prints
    r"_?exit|_Exit|quick_exit|abort|atexit|raise|system|popen|fork|exec\w*|"  # ends, starts
    r"signal|sigaction|alarm|setitimer|"  # handlers
    r"setlocale|setenv|putenv|chdir|umask|"  # the process's state
    r"s?rand|s?random|[dls]rand48|strtok|localtime|gmtime|asctime|ctime|lgamma")  # hidden state


@pytest.fixture(scope="module")
def library(program):
    path = pathlib.Path(program).parent / "libddsc.so"
    if os.environ.get("DDSC_SANITIZED") or b"__gcov_" in path.read_bytes():
        pytest.skip("built with a runtime of its own")
    return path


def output(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def test_no_forbidden_calls(library):
    used = {line.split()[-1].split("@")[0] for line in output("nm", "-D", "-u", library).splitlines()}
    assert {"malloc", "memcpy"} <= used  # otherwise the output of nm is not parsed
    assert [name for name in sorted(used - OF_THE_CHILD) if FORBIDDEN.fullmatch(name)] == []


def test_the_child_alone_forks(source):
    calls = re.compile(r"\b(fork|_exit|signal)\(")
    users = [p.name for p in (source / "src").rglob("*.c")
             if calls.search(re.sub(r"/\*.*?\*/", "", p.read_text(), flags=re.S))]
    assert users == ["child.c"]


def test_jumps_are_libjpegs(source):
    """libpng has no other way to report an error; no other code uses longjmp."""
    users = [p.name for p in (source / "src").rglob("*.[ch]") if re.search(r"\blongjmp\(", p.read_text())]
    assert users in ([], ["jpeg.c"])


def test_no_global_state(library):
    """Constant tables with addresses are in .data.rel.ro, which is read-only at run time."""
    rows = [line.split() for line in output("objdump", "-t", library).splitlines()]
    sections = {".data", ".bss", ".tdata", ".tbss"}
    kept = {row[-1] for row in rows if sections & set(row[1:-1]) and row[-1] not in sections}
    assert any(".text" in row for row in rows)
    assert sorted(kept - OF_THE_COMPILER - OF_LIBHDF5) == []
