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
    "device": ["base"],
    "linalg": ["base"],
    "kernel": ["base"],
    "kmeans": ["linalg", "base"],
    "data": ["linalg", "base"],
    "graph": ["linalg", "base"],
    "stream": ["base"],
    "image": ["stream", "data", "base"],
    "hdf5": ["stream", "base"],
    "format": ["image", "hdf5", "stream", "graph", "data", "linalg", "base"],
    "text": ["format", "stream", "eigen", "graph", "data", "linalg", "base"],
    "cost": ["data", "linalg", "kernel", "base"],
    "exact": ["cost", "data", "linalg", "kernel", "base"],
    "sinkhorn": ["cost", "data", "linalg", "base"],
    "bound": ["sinkhorn", "device", "cost", "data", "linalg", "base"],
    "lot": ["exact", "kmeans", "cost", "data", "linalg", "base"],
    "mmd": ["cost", "data", "linalg", "base"],
    "engine": ["stream", "graph", "data", "linalg", "base"],
    "metric": ["engine", "device", "bound", "sinkhorn", "exact", "lot", "mmd", "cost", "data", "linalg", "base"],
    "search": ["engine", "device", "graph", "linalg", "base"],
    "plan": ["search", "metric", "engine", "bound", "lot", "mmd", "cost", "graph", "data", "linalg", "base"],
    "eigen": ["device", "graph", "linalg", "base"],
    "baseline": ["plan", "metric", "exact", "cost", "mmd", "data", "linalg", "kernel", "base"],
    "cluster": ["baseline", "plan", "metric", "lot", "kmeans", "eigen", "graph", "data", "linalg", "base"],
    "theory": ["cluster", "plan", "metric", "lot", "kmeans", "exact", "eigen", "graph", "data", "linalg", "base"],
    "api": ["theory", "cluster", "baseline", "plan", "search", "metric", "engine", "text", "format", "stream", "lot",
            "bound", "sinkhorn", "exact", "mmd", "cost", "eigen", "graph", "data", "linalg", "base"],
    "result": ["theory", "cluster", "stream", "base"],
    "report": ["result", "cluster", "stream", "base"],
}
# What hidden functions of a room begin with, so that a static library disturbs nobody; no prefix is that of two
# rooms. A room that is not here has not been gone through, and its names are not looked at.
PREFIXES = {
    "base": ["arena", "clock", "ctx", "hash", "mem", "parallel", "pool", "progress", "rng", "scratch", "select", "stage",
             "serial", "sized", "sort", "spin", "stats", "sum", "team", "tree", "workspace"],
    "device": ["device"],
    "linalg": ["la"],
    "kernel": ["kernels"],
    "kmeans": ["kmeans", "lloyd"],
    "data": ["check", "compress", "measures", "model", "parts", "recipe", "texts"],
    "cost": ["cost", "ground", "points"],
    "exact": ["arcs", "basis", "exact", "simplex", "start"],
    "sinkhorn": ["sinkhorn"],
    "bound": ["bound"],
    "lot": ["lot"],
    "mmd": ["mmd"],
    "engine": ["journal", "nearest", "pairs", "prefilter", "tile", "tiles"],
    "metric": ["metric"],
    "search": ["pruned", "search"],
    "plan": ["plan"],
    "baseline": ["barycenter", "centre", "centres", "d2run", "fit", "method", "moments", "plane", "transport"],
    "graph": ["affinity", "components", "graph", "operator", "sparse"],
    "eigen": ["block", "dense", "eigen", "filter", "fresh", "order", "panel"],
    "stream": ["fields", "files", "folder", "number", "owner", "room", "stream", "text", "writer", "zip"],
    "image": ["image"],
    "hdf5": ["h5"],
    "format": ["h5ad", "archive", "cloud", "csv", "d2", "fcs", "idx", "io", "label", "labels", "mtx", "npy", "npz", "sets", "table"],
    "text": ["corpus", "documents", "jsonl", "lemmas", "token", "tokens", "weights", "words"],
    "cluster": ["advice", "choose", "cluster", "decompose", "decomposition", "embed", "halves", "modularity", "scores",
                "small", "spectral"],
    "api": ["api"],
    "theory": ["spectra", "spectrum", "stability", "subspace", "theory"],
    "result": ["buffer", "picture", "put", "result"],
    "report": ["chart", "html", "plot", "report"],
}
# These headers belong to one room each, or to two.
OWNED = {"omp.h": "base", "pthread.h": "base", "cblas.h": "linalg", "lapacke.h": "linalg", "zlib.h": "stream", "zstd.h": "stream",
         "jansson.h": "result, report", "png.h": "image", "jpeglib.h": "image", "hdf5.h": "hdf5",
         "dlfcn.h": "device"}
# Of the folder mpi/ alone: neither the library nor the program may need them.
OF_MPI = re.compile(r'#include ["<](mpi|slepc\w*|petsc\w*)\.h[">]')
MAX_FILE, MAX_FUNCTION = 500, 100
LEFT_OVERS = re.compile(r"\b(TODO|FIXME|XXX|HACK|stub|placeholder|not implemented)\b")


def check_includes(path, lines):
    room = path.relative_to(ROOT / "src").parts[0]
    for number, line in enumerate(lines, 1):
        found = re.match(r'#include ["<]([^">]+)[">]', line)
        if not found:
            continue
        name = found.group(1)
        if name in OWNED and room not in OWNED[name].split(", "):
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
    if path.parent.name in ("result", "report"):  # they stand on the public calls, under ctx_hold
        return
    for number, line in enumerate(lines, 1):
        if line[:1] not in (" ", "\t"):  # a definition
            continue
        for name in re.findall(r"\b(ddsc_\w+)\(", line):
            if name in public:
                yield f"{path}:{number}: {name} is a public call; use what it stands on"


def check_mpi(path, lines):
    where = path.relative_to(ROOT).parts
    if where[0] == "mpi" or where[:2] == ("tests", "mpi"):
        return
    for number, line in enumerate(lines, 1):
        if OF_MPI.match(line):
            yield f"{path}:{number}: MPI and SLEPc belong to mpi/"


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


def gone_through(path):
    return path.relative_to(ROOT / "src").parts[0] in PREFIXES


def check_opening(path, lines):
    if path.suffix == ".c" and gone_through(path) and not lines[0].startswith("/*"):
        yield f"{path}:1: no comment says what the file does"


def check_words(path, lines):
    for number, line in enumerate(lines, 1):
        if LEFT_OVERS.search(line):
            yield f"{path}:{number}: left-over word: {line.strip()}"


# What src/result and src/report tell of a result; cli/ takes it over from there.
OF_A_RESULT = re.compile(r'ddsc_(standing|theory|layout|project)_run\(|<(html|svg|table)\b|'
                         r'"(certificates|chosen|eigenvalues|gaps|borderline|neighbours|theorem_2)"')


def check_program(path, lines):
    for number, line in enumerate(lines, 1):
        if OF_A_RESULT.search(line):
            yield f"{path}:{number}: told by src/result and src/report, not by the program: {line.strip()}"
        if re.match(r'#include "(?!ddsc/)[^"]*/', line):
            yield f"{path}:{number}: cli/ knows the public header alone"


def strip_comments(text):
    return re.sub(r"/\*.*?\*/", lambda found: "\n" * found.group().count("\n"), text, flags=re.S)


def functions(text):
    """(name, is static) of every function defined: a header that ends in a line "{"."""
    for found in re.finditer(r"(?m)^((?:[A-Za-z_][^\n;{}]*\n)(?:[ \t][^\n;{}]*\n)*)\{$", text):
        header = re.sub(r"__attribute__\(\((?:[^()]|\([^()]*\))*\)\)", "", found.group(1))
        name = re.search(r"(\w+)\(", header)
        if name:
            yield name.group(1), "static" in header or header.startswith(("BOTH ", "OP ", "SIMD_INLINE "))


def check_names(sources):
    """Structs and functions of one name in two files, and hidden functions without a prefix of their room."""
    rooms_of = {}
    for room, prefixes in PREFIXES.items():
        for prefix in prefixes:
            if prefix in rooms_of:
                yield f"tests/lint.py: prefix {prefix}_ of both {rooms_of[prefix]}/ and {room}/"
            rooms_of[prefix] = room
    places = {}
    for path in sources:
        text = strip_comments(path.read_text())
        room = path.relative_to(ROOT / "src").parts[0]
        for name in re.findall(r"(?m)^(?:typedef )?struct (\w+) \{", text):
            places.setdefault(f"struct {name}", set()).add(path)
        for name, is_static in functions(text):
            places.setdefault(name, set()).add(path)
            if not is_static and not name.startswith("ddsc_") and gone_through(path):
                if not any(name.startswith(prefix + "_") for prefix in PREFIXES[room]):
                    yield f"{path}: {name} has no prefix of {room}/"
    for name, files in sorted(places.items()):
        if len(files) > 1 and any(map(gone_through, files)):
            yield f"{name} stands in {', '.join(sorted(str(path) for path in files))}"


def check_pins():
    """Actions by commit, images by digest, packages of PyPI by hash: what a name stands for may change, these cannot."""
    for path in sorted((ROOT / ".github" / "workflows").glob("*.yml")):
        for number, line in enumerate(path.read_text().split("\n"), 1):
            if re.search(r"\buses: ", line) and not re.search(r"@[0-9a-f]{40} # v\d", line):
                yield f"{path}:{number}: an action must be pinned by commit, with its tag in a comment"
            if re.search(r"\b(container|image): ", line) and not re.search(r"@sha256:[0-9a-f]{64}", line):
                yield f"{path}:{number}: an image must be pinned by digest"
    for path in sorted((ROOT / "tools" / "pip").glob("*.txt")):
        pinned = re.findall(r"(?m)^([\w.-]+)==\S+(.*)$", path.read_text())
        for name, rest in pinned if path.name != "debian.txt" else []:
            if not rest.endswith("\\"):  # the lines that follow have the hashes
                yield f"{path}: {name} has no hash; run tools/pip/refresh.sh"


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
            breaches += check_opening(path, lines)
        if path.is_relative_to(ROOT / "cli"):
            breaches += check_program(path, lines)
        breaches += check_mpi(path, lines)
        breaches += check_sizes(path, lines)
        breaches += check_words(path, lines)
    breaches += check_names([path for path in files if path.is_relative_to(ROOT / "src")])
    breaches += check_pins()
    breaches += check_format(files)
    for breach in breaches:
        print(str(breach).replace(str(ROOT) + "/", ""))
    print(f"lint: {len(files)} files, {len(breaches)} breaches")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
