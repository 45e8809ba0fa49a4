"""Project rules that a compiler does not check: arrows between layers and modules, sizes of files and functions,
left-over words, formatting. Prints each breach and exits 1 if there is one."""
import collections
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# The layers of src/ and the modules of each layer, bottom to top. A module may include only modules before it.
LAYERS = {
    "base": [],
    "numeric": ["linalg", "graph", "eigen", "kmeans", "labels"],
    "data": [],
    "io": ["stream", "image", "hdf5", "format"],
    "distance": ["simd", "cost", "exact", "sinkhorn", "bound", "lot", "mmd"],
    "text": [],
    "neighbors": ["pairs", "metric", "search", "planner"],
    "cluster": ["baseline", "spectral"],
    "assess": ["identity", "cohort", "quality"],
    "report": ["result", "traits", "content", "render", "diff"],
}
# The exact includes of each module, described in docs/architecture.md.
BELOW = {
    "base": [],
    "numeric/linalg": ["base"],
    "numeric/graph": ["base"],
    "numeric/eigen": ["base", "numeric/graph", "numeric/linalg"],
    "numeric/kmeans": ["base", "numeric/linalg"],
    "numeric/labels": ["base"],
    "data": ["base", "numeric/linalg"],
    "io/stream": ["base"],
    "io/image": ["data", "io/stream"],
    "io/hdf5": ["io/stream"],
    "io/format": ["base", "data", "io/hdf5", "io/image", "io/stream", "numeric/graph", "numeric/linalg"],
    "distance/simd": ["base"],
    "distance/cost": ["base", "data", "distance/simd", "numeric/linalg"],
    "distance/exact": ["base", "data", "distance/cost", "numeric/linalg"],
    "distance/sinkhorn": ["base", "data", "distance/cost", "numeric/linalg"],
    "distance/bound": ["base", "data", "distance/cost", "distance/sinkhorn", "numeric/linalg"],
    "distance/lot": ["base", "data", "distance/exact", "numeric/kmeans", "numeric/linalg"],
    "distance/mmd": ["base", "data", "distance/cost", "numeric/linalg"],
    "text": ["base", "distance/exact", "io/format", "numeric/eigen", "numeric/linalg"],
    "neighbors/pairs": ["base", "data", "io/stream", "numeric/graph", "numeric/linalg"],
    "neighbors/metric": ["base", "distance/bound", "distance/cost", "distance/exact", "distance/lot", "distance/mmd",
                         "distance/sinkhorn", "neighbors/pairs", "numeric/linalg"],
    "neighbors/search": ["base", "neighbors/pairs", "numeric/graph", "numeric/linalg"],
    "neighbors/planner": ["base", "data", "distance/bound", "distance/exact", "distance/lot", "distance/mmd", "neighbors/metric",
                          "neighbors/search", "numeric/graph", "numeric/linalg"],
    "cluster/baseline": ["base", "data", "distance/exact", "distance/simd", "neighbors/metric", "neighbors/planner",
                         "numeric/linalg"],
    "cluster/spectral": ["base", "data", "distance/lot", "io/format", "neighbors/metric", "neighbors/planner", "numeric/eigen",
                         "numeric/graph", "numeric/kmeans", "numeric/labels", "numeric/linalg"],
    "assess/identity": ["base", "cluster/spectral", "data", "distance/exact", "neighbors/planner"],
    "assess/cohort": ["base", "data", "distance/exact", "numeric/kmeans", "numeric/linalg"],
    "assess/quality": ["assess/identity", "base", "cluster/spectral", "data", "neighbors/planner", "numeric/labels",
                       "numeric/linalg"],
    "report/result": ["base"],
    "report/traits": ["base", "io/stream", "report/result"],
    "report/content": ["base", "report/result", "report/traits"],
    "report/render": ["base", "io/stream", "report/content", "report/result", "report/traits"],
    "report/diff": ["base", "io/stream", "report/render", "report/result", "report/traits"],
}
# Prefixes of the internal functions of each module, which prevent clashes in static libraries. No two modules share a
# prefix.
PREFIXES = {
    "base": ["arena", "clock", "ctx", "device", "hash", "invariant", "mem", "number", "paper", "parallel", "pool",
             "progress", "rng", "scratch", "select", "serial", "sized", "sort", "spin", "stage", "stats", "sum", "team", "text",
             "tree", "workspace"],
    "numeric/linalg": ["la"],
    "numeric/graph": ["affinity", "components", "graph", "operator", "sparse"],
    "numeric/eigen": ["block", "dense", "eigen", "filter", "fresh", "order", "panel"],
    "numeric/kmeans": ["kmeans", "lloyd"],
    "numeric/labels": ["scores"],
    "data": ["check", "compress", "measures", "model", "parts", "recipe", "texts", "units"],
    "io/stream": ["fields", "files", "numbers", "folder", "owner", "stream", "writer", "zip"],
    "io/image": ["image"],
    "io/hdf5": ["h5"],
    "io/format": ["archive", "cloud", "csv", "d2", "fcs", "h5ad", "idx", "io", "label", "labels", "mtx", "npy", "npz",
                  "sets", "table"],
    "distance/simd": ["kernels"],
    "distance/cost": ["cost", "ground", "points"],
    "distance/exact": ["arcs", "basis", "exact", "simplex", "start"],
    "distance/sinkhorn": ["sinkhorn"],
    "distance/bound": ["bound"],
    "distance/lot": ["lot"],
    "distance/mmd": ["mmd"],
    "text": ["corpus", "documents", "jsonl", "lemmas", "phrases", "token", "tokens", "weights", "words"],
    "neighbors/pairs": ["journal", "nearest", "pairs", "prefilter", "tile", "tiles"],
    "neighbors/metric": ["metric"],
    "neighbors/search": ["pruned", "search"],
    "neighbors/planner": ["plan"],
    "cluster/baseline": ["barycenter", "center", "centers", "d2run", "fit", "method", "moments", "plane",
                         "transport"],
    "cluster/spectral": ["advice", "choose", "cluster", "decompose", "decomposition", "embed", "halves", "membership",
                         "mixture", "modularity",
                         "small", "spectral"],
    "assess/identity": ["identity"],
    "assess/cohort": ["dispersion", "effects", "over", "permanova", "shuffle", "states", "variable"],
    "assess/quality": ["gaps", "lemma", "outliers", "permutation", "spectra", "spectrum", "stability", "subspace", "tears",
                       "theory", "verdict"],
    "report/result": ["buffer", "picture", "put", "result"],
    "report/traits": ["traits"],
    "report/content": ["content"],
    "report/render": ["chart", "html", "plot", "report"],
    "report/diff": ["diff"],
}
# Each of these headers belongs to one module, or to two.
OWNED = {"omp.h": "base", "pthread.h": "base", "dlfcn.h": "base", "cblas.h": "numeric/linalg", "lapacke.h": "numeric/linalg",
         "zlib.h": "io/stream", "zstd.h": "io/stream", "jansson.h": "report/result, report/render",
         "png.h": "io/image", "jpeglib.h": "io/image", "hdf5.h": "io/hdf5"}
# Only mpi/ may use these headers; the library and the program must not depend on them.
OF_MPI = re.compile(r'#include ["<](mpi|slepc\w*|petsc\w*)\.h[">]')
MAX_FILE, MAX_FUNCTION = 500, 100
MAX_FILES = 34  # in a module: more do not fit on one screen
MAX_PYTHON = 600  # documentation of parameters makes Python files longer
# Phrases that a native technical writer would not use, with replacements. Matched case-insensitively in comments,
# messages and pages, except for docs/notes and this file.
IDIOMS = {
    r"anew": "again",
    r"foretell\w*|foretold": "predict",
    r"mended": "fixed",
    r"dearer|dear": "more expensive, expensive",
    r"without a word": "silently",
    r"on the fence": "on the cluster boundary",
    r"(?:is|are|be|was|were) told": "is reported",
    r"nobody's": "name the subject",
    r"win(?:s)? memory": "saves memory",
    r"lent": "borrowed",
    r"of its own accord": "by itself",
    r"tells? of": "reports",
    r"hangs? on": "depends on",
    r"lies? apart": "is far",
    r"beside": "next to, compared with",
    r"one an? (?:line|item|row)": "one per line",
    r"what is left": "the remaining ...",
    r"asked for": "requested",
    r"(?:first|second|fresh|quick) looks?": "check, evaluation",
    r"hears?|heard": "receives",
    r"speaks?|spoken": "says, means",
    r"gives? way": "yields",
    r"makes? place": "makes space",
    r"by (?:entry|node|stripe)": "one per entry",
}
# British spellings, in comments, strings and pages. The files of FORMER_NAMES read the names of version 0.2.0.
FORMER_NAMES = {"cli/options.c", "cli/cmd_name.c", "src/io/format/model.c", "src/io/format/model_settings.c",
                "src/report/result/upgrade.c"}
BRITISH = re.compile(r"\b(?<!aria-)(neighbour|centre|colour|behaviour|labell|normalis|regularis|standardis|cancell(?!ation))\w*", re.I)
IDIOM = re.compile(r"\b(" + "|".join(IDIOMS) + r")\b", re.I)
LEFT_OVERS = re.compile(r"\b(TODO|FIXME|XXX|HACK|stub|placeholder|not implemented)\b")


def module_of(path):
    """"distance/exact" of src/distance/exact/arcs.c, "base" of src/base/rng.c."""
    return path.parent.relative_to(ROOT / "src").as_posix()


def check_picture():
    """Check BELOW against LAYERS: includes go from a layer to lower layers, and within a layer to earlier modules."""
    order = [f"{layer}/{module}" if module else layer for layer, modules in LAYERS.items() for module in modules or [""]]
    if sorted(order) != sorted(BELOW) or sorted(order) != sorted(PREFIXES):
        yield f"tests/lint.py: LAYERS, BELOW and PREFIXES name other modules: {set(order) ^ set(BELOW) | set(order) ^ set(PREFIXES)}"
    for module, targets in BELOW.items():
        for target in targets:
            if order.index(target) >= order.index(module):
                yield f"tests/lint.py: {module} stands below {target} and must not see it"


def includes(path, lines):
    for number, line in enumerate(lines, 1):
        found = re.match(r'#include ["<]([^">]+)[">]', line)
        if found:
            yield number, found.group(1)


def check_includes(path, lines, used):
    """Record the includes between modules that the file uses in `used`."""
    module = module_of(path)
    if module not in BELOW:
        yield f"{path}: src/{module} is no module; tests/lint.py lists them"
        return
    for number, name in includes(path, lines):
        if name in OWNED and module not in OWNED[name].split(", "):
            yield f"{path}:{number}: {name} belongs to {OWNED[name]}/"
        target = name.rpartition("/")[0]
        if target not in BELOW or target == module:
            continue
        used.add((module, target))
        if target not in BELOW[module]:
            yield f"{path}:{number}: {module}/ must not include {target}/"


def check_used(used):
    for module, targets in BELOW.items():
        for target in targets:
            if (module, target) not in used:
                yield f"tests/lint.py: {module}/ may include {target}/ and does not: take it out of BELOW"


def public_calls():
    """Return the functions of the public header that must not be called inside the library, because they would clear
    the message, the details and the cancellation of the current call. Functions that only read, free or fill in
    defaults are allowed."""
    text = (ROOT / "include" / "ddsc" / "ddsc.h").read_text()
    names = set(re.findall(r"\b(ddsc_\w+)\(", text))
    return {n for n in names if not re.search(r"_(destroy|init|init_sized)$|_get_|^ddsc_version$", n)}


def check_calls(path, lines, public):
    if module_of(path).startswith("report/"):  # it stands on the public calls, under ctx_hold
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
    limit = MAX_PYTHON if path.suffix == ".py" else MAX_FILE
    limit *= 2 if "tests" in path.relative_to(ROOT).parts else 1
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


def check_opening(path, lines):
    if path.suffix == ".c" and not lines[0].startswith("/*"):
        yield f"{path}:1: no comment says what the file does"


def check_words(path, lines):
    for number, line in enumerate(lines, 1):
        if LEFT_OVERS.search(line):
            yield f"{path}:{number}: left-over word: {line.strip()}"


def prose_of(path):
    """(line number, text) of comments and string literals of C, of comments and docstrings of Python, and of pages
    outside code blocks."""
    text = path.read_text()
    if path.suffix == ".py":
        for found in re.finditer(r'"""(.*?)"""|(?m:^\s*#[^\n]*$)', text, flags=re.S):
            first = text.count("\n", 0, found.start()) + 1
            yield from enumerate(found.group().split("\n"), first)
        return
    if path.suffix == ".md":
        text = re.sub(r"(?ms)^```.*?^```", lambda found: "\n" * found.group().count("\n"), text)
        yield from enumerate(re.sub(r"`[^`\n]*`", "", text).split("\n"), 1)
        return
    for found in re.finditer(r'/\*.*?\*/|"(?:[^"\\\n]|\\.)*"', text, flags=re.S):
        first = text.count("\n", 0, found.start()) + 1
        yield from enumerate(found.group().split("\n"), first)


def check_idioms(path):
    for number, line in prose_of(path):
        for found in IDIOM.finditer(line):
            plain = next(value for key, value in IDIOMS.items() if re.fullmatch(key, found.group(), re.I))
            yield f'{path}:{number}: "{found.group()}": write {plain}'
        if not line.startswith('"') or path.relative_to(ROOT).as_posix() not in FORMER_NAMES:
            for found in BRITISH.finditer(re.sub(r"`[^`]*`", "", line)):
                yield f"{path}:{number}: {found.group()}: American spelling is used here"


# What src/report says about a result; cli/ takes it over from there.
OF_A_RESULT = re.compile(r'ddsc_(standing|theory|layout|project)_run\(|<(html|svg|table)\b|'
                         r'"(certificates|chosen|eigenvalues|gaps|borderline|theorem_2)"')


def check_program(path, lines):
    for number, line in enumerate(lines, 1):
        if OF_A_RESULT.search(line):
            yield f"{path}:{number}: said by src/report, not by the program: {line.strip()}"
        if re.match(r'#include "(?!ddsc/)[^"]*/', line):
            yield f"{path}:{number}: cli/ knows the public header alone"


def strip_comments(text):
    return re.sub(r"/\*.*?\*/", lambda found: "\n" * found.group().count("\n"), text, flags=re.S)


def functions(text):
    """Return (name, is static) of every function definition: a header that is followed by a line "{"."""
    for found in re.finditer(r"(?m)^((?:[A-Za-z_][^\n;{}]*\n)(?:[ \t][^\n;{}]*\n)*)\{$", text):
        header = re.sub(r"__attribute__\(\((?:[^()]|\([^()]*\))*\)\)", "", found.group(1))
        name = re.search(r"(\w+)\(", header)
        if name:
            yield name.group(1), "static" in header or header.startswith(("BOTH ", "OP ", "SIMD_INLINE "))


def check_names(sources):
    """Find structs and functions with the same name in two files, and internal functions without the prefix of their
    module."""
    owner = {}
    for module, prefixes in PREFIXES.items():
        for prefix in prefixes:
            if prefix in owner:
                yield f"tests/lint.py: prefix {prefix}_ of both {owner[prefix]}/ and {module}/"
            owner[prefix] = module
    places = {}
    for path in sources:
        text = strip_comments(path.read_text())
        module = module_of(path)
        for name in re.findall(r"(?m)^(?:typedef )?struct (\w+) \{", text):
            places.setdefault(f"struct {name}", set()).add(path)
        for name, is_static in functions(text):
            places.setdefault(name, set()).add(path)
            if not is_static and not name.startswith("ddsc_"):
                if not any(name.startswith(prefix + "_") for prefix in PREFIXES.get(module, [])):
                    yield f"{path}: {name} has no prefix of {module}/"
    for name, files in sorted(places.items()):
        if len(files) > 1:
            yield f"{name} stands in {', '.join(sorted(str(path) for path in files))}"


def check_modules(sources):
    count = collections.Counter(module_of(path) for path in sources)
    for module, n in count.items():
        if n > MAX_FILES:
            yield f"src/{module}: {n} files, more than {MAX_FILES}"


def check_pins():
    """Check that actions are pinned by commit, images by digest and packages from PyPI by hash, because the contents of
    a name may change."""
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
    used = set()
    breaches = [*check_picture()]
    public = public_calls()
    for path in files:
        lines = path.read_text().split("\n")
        if path.is_relative_to(ROOT / "src"):
            breaches += check_includes(path, lines, used)
            breaches += check_calls(path, lines, public)
            breaches += check_opening(path, lines)
        if path.is_relative_to(ROOT / "cli"):
            breaches += check_program(path, lines)
        breaches += check_mpi(path, lines)
        breaches += check_sizes(path, lines)
        breaches += check_words(path, lines)
    scripts = subprocess.run(["git", "ls-files", "*.py", ":!tools/paper.py"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    for path in [ROOT / name for name in scripts]:
        if path.exists():
            breaches += check_sizes(path, path.read_text(encoding="utf-8").split("\n"))
    pages = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    for path in files + [ROOT / name for name in pages + scripts if not name.startswith("docs/notes/")]:
        if path.exists() and not {"tests", "fuzz"} & set(path.relative_to(ROOT).parts):
            breaches += check_idioms(path)
    breaches += check_used(used)
    sources = [path for path in files if path.is_relative_to(ROOT / "src")]
    breaches += [*check_names(sources), *check_modules(sources)]
    breaches += check_pins()
    breaches += check_format(files)
    for breach in breaches:
        print(str(breach).replace(str(ROOT) + "/", ""))
    print(f"lint: {len(files)} files, {len(breaches)} breaches")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
