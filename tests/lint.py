"""House rules that a compiler does not check: arrows between rooms, sizes of files and functions,
words that must not stay, formatting. Prints each breach and exits 1 when there is one."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# A room may include itself and the rooms below it (docs/architecture.md shows the picture).
BELOW = {
    "base": [],
    "linalg": ["base"],
    "kernel": ["base"],
    "data": ["linalg", "base"],
    "graph": ["linalg", "base"],
    "stream": ["base"],
    "format": ["stream", "graph", "data", "linalg", "base"],
    "text": ["format", "stream", "data", "linalg", "base"],
    "cost": ["data", "linalg", "kernel", "base"],
    "exact": ["cost", "data", "linalg", "kernel", "base"],
    "sinkhorn": ["cost", "data", "linalg", "base"],
    "bound": ["sinkhorn", "cost", "data", "linalg", "base"],
    "lot": ["exact", "cost", "data", "linalg", "base"],
    "mmd": ["cost", "data", "linalg", "base"],
    "engine": ["stream", "graph", "data", "linalg", "base"],
    "metric": ["engine", "bound", "sinkhorn", "exact", "lot", "mmd", "cost", "data", "linalg", "base"],
    "search": ["engine", "graph", "linalg", "base"],
    "plan": ["search", "metric", "engine", "bound", "lot", "mmd", "cost", "graph", "data", "linalg", "base"],
    "eigen": ["graph", "linalg", "base"],
    "baseline": ["plan", "metric", "exact", "cost", "mmd", "data", "linalg", "kernel", "base"],
    "cluster": ["baseline", "plan", "metric", "lot", "eigen", "graph", "data", "linalg", "base"],
    "theory": ["cluster", "plan", "metric", "lot", "exact", "eigen", "graph", "data", "linalg", "base"],
    "api": ["theory", "cluster", "baseline", "plan", "search", "metric", "engine", "text", "format", "stream", "lot",
            "bound", "sinkhorn", "exact", "mmd", "cost", "eigen", "graph", "data", "linalg", "base"],
}
# These headers belong to one room each.
OWNED = {"omp.h": "base", "pthread.h": "base", "cblas.h": "linalg", "lapacke.h": "linalg", "zlib.h": "stream"}
MAX_FILE, MAX_FUNCTION = 500, 100
LEFT_OVERS = re.compile(r"\b(TODO|FIXME|XXX|HACK|stub|placeholder|not implemented)\b")


def check_includes(path, lines):
    room = path.relative_to(ROOT / "src").parts[0]
    for number, line in enumerate(lines, 1):
        found = re.match(r'#include ["<]([^">]+)[">]', line)
        if not found:
            continue
        name = found.group(1)
        if name in OWNED and OWNED[name] != room:
            yield f"{path}:{number}: {name} belongs to {OWNED[name]}/"
        target = name.split("/")[0]
        if "/" in name and target in BELOW and target != room and target not in BELOW[room]:
            yield f"{path}:{number}: {room}/ must not include {target}/"


def public_calls():
    """Functions of the public header that may not be called inside the library: they would wipe the
    message, the details and the cancelling of the call at work. Those that only read, free or fill in
    defaults do not."""
    text = (ROOT / "include" / "ddsc" / "ddsc.h").read_text()
    names = set(re.findall(r"\b(ddsc_\w+)\(", text))
    return {n for n in names if not re.search(r"_(destroy|init|init_sized)$|_get_|^ddsc_version$", n)}


def check_calls(path, lines, public):
    for number, line in enumerate(lines, 1):
        if line[:1] not in (" ", "\t"):  # a definition
            continue
        for name in re.findall(r"\b(ddsc_\w+)\(", line):
            if name in public:
                yield f"{path}:{number}: {name} is a public call; use what it stands on"


def check_sizes(path, lines):
    if path.name == "ddsc.h":  # the whole public API in one header is meant to be long
        return
    limit = MAX_FILE if "tests" not in path.parts else 2 * MAX_FILE
    if len(lines) > limit:
        yield f"{path}: {len(lines)} lines, at most {limit}"
    start = None
    for number, line in enumerate(lines, 1):
        if line == "{":
            start = number
        elif line == "}" and start:
            if number - start > MAX_FUNCTION:
                yield f"{path}:{start}: a function of {number - start} lines, at most {MAX_FUNCTION}"
            start = None


def check_words(path, lines):
    for number, line in enumerate(lines, 1):
        if LEFT_OVERS.search(line):
            yield f"{path}:{number}: left-over word: {line.strip()}"


def check_format(files):
    try:
        done = subprocess.run(["clang-format", "--dry-run", "-Werror", *map(str, files)],
                              capture_output=True, text=True)
    except FileNotFoundError:
        print("lint: formatting skipped: clang-format is not here")
        return
    for line in done.stderr.splitlines():
        if "error:" in line:
            yield line


def main():
    tracked = subprocess.run(["git", "ls-files", "*.c", "*.h"], cwd=ROOT, capture_output=True,
                             text=True, check=True).stdout.split()
    files = [ROOT / name for name in tracked if (ROOT / name).exists()]
    breaches = []
    public = public_calls()
    for path in files:
        lines = path.read_text().split("\n")
        if path.is_relative_to(ROOT / "src"):
            breaches += check_includes(path, lines)
            breaches += check_calls(path, lines, public)
        breaches += check_sizes(path, lines)
        breaches += check_words(path, lines)
    breaches += check_format(files)
    for breach in breaches:
        print(str(breach).replace(str(ROOT) + "/", ""))
    print(f"lint: {len(files)} files, {len(breaches)} breaches")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
