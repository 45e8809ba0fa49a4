"""Runs the program, stores its output, and prepares the data sets."""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import threading

import numpy as np

from .quoted import IMAGES

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = pathlib.Path(os.environ.get("DDSC_DATA", ROOT.parent / "shared" / "data"))
PROGRAM = pathlib.Path(os.environ.get("DDSC", ROOT / "build" / "ddsc")).resolve()
WORDNET = pathlib.Path("/usr/share/wordnet")
VECTORS = {"100": "glove.6B.100d.subset.txt.gz", "300": "googlenews.w2v.300d.subset.txt.gz"}
KS = range(5, 11)
K_RANGE = "5:10"
FULL = {"runs": 5, "per_class": 100, "taus": (5, 10, 20, 40), "gammas": (0.25, 1, 4), "epsilons": (1, 2, 5, 10),
        "bandwidths": {"text": ("near", "median", 2, 3, 10), "image": ("near", 1, 2)}, "again": 4, "noisy": 40,
        "incomplete_taus": (10, 20, 40), "sizes": {"N": (500, 1000, 2000), "m": (64, 128, 256)}}
QUICK = {"runs": 2, "per_class": 15, "taus": (10, 20), "gammas": (1,), "epsilons": (5,),
         "bandwidths": {"text": ("near",), "image": ("near", 1)}, "again": 1, "noisy": 6, "incomplete_taus": (10,),
         "sizes": {"N": (20, 40, 80), "m": (4, 8, 16)}}


def say(*words):
    print("paper:", *words, file=sys.stderr, flush=True)


class NoData(Exception):
    """Raised if a data set or a tool that a row needs is missing."""


class Bench:
    """Runs the program in a folder. A run is stored under its command and the hash of the library, so that an
    interrupted row continues where it stopped."""

    def __init__(self, plan, folder, jobs):
        self.plan, self.folder = plan, folder
        self.pool = concurrent.futures.ThreadPoolExecutor(jobs)
        self.lock, self.cpu = threading.Lock(), 0.0
        if not PROGRAM.exists():
            raise SystemExit(f"paper: {PROGRAM} does not exist; build it with ./run build, or set DDSC to another ddsc")
        library = next(iter(sorted(PROGRAM.parent.glob("libddsc.so*"))), PROGRAM)
        self.version = hashlib.sha256(library.read_bytes()).hexdigest()
        (folder / "runs").mkdir(parents=True, exist_ok=True)

    def key(self, *parts):
        return hashlib.sha256(json.dumps([self.version, *map(str, parts)]).encode()).hexdigest()[:20]

    def ddsc(self, *words):
        """Return the JSON that the program prints, with its CPU seconds under "cpu_s"."""
        words = [str(w) for w in words]
        path = self.folder / "runs" / f"{self.key(*words)}.json"
        if path.exists():
            return json.loads(path.read_text())
        process = subprocess.Popen([str(PROGRAM), *words, "-j", "1", "-q"], cwd=self.folder, stdout=subprocess.PIPE)
        out = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in (0, 4):
            raise SystemExit(f"paper: {shlex.join(['ddsc', *words])}: exit {process.returncode}")
        answer = json.loads(out) if out.strip() else {}
        answer = {k: answer[k] for k in ("k", "scores", "sweep", "chosen", "pairs", "n", "items", "coverage", "words",
                                         "tokens", "methods") if k in answer}
        answer["cpu_s"] = usage.ru_utime + usage.ru_stime
        with self.lock:
            self.cpu += answer["cpu_s"]
        part = path.with_suffix(f".{threading.get_ident()}")
        part.write_text(json.dumps(answer))
        part.replace(path)
        return answer

    def all(self, function, work):
        return list(self.pool.map(lambda w: function(*w), list(work)))


# ---- data ----

def kind(name):
    return "image" if name in IMAGES else "text"


def need(path):
    if not path.exists():
        raise NoData(f"{path.name} is not in {path.parent.name}/")
    return path


def text_words(name, variant):
    """Return the options of `ddsc text`. The variants are paper, fitted (the program's defaults), words (all words, for
    bags of words), lemmas, and 300 (other vectors)."""
    folder = DATA / "text"
    words = [need(folder / ("reuters5.tsv.gz" if name == "reuters" else f"{name}.tsv.gz")), "--vectors",
             need(folder / VECTORS["300" if variant == "300" else "100"]), "--stopwords", folder / "stoplist2.txt"]
    if name == "reuters":
        words += ["--text", "title,body", "--tokens", "letters", "--idf", "smooth", "--where", "modapte=yes"]
    else:
        words += ["--text", "abstract"]
    if variant == "lemmas":
        words += ["--lemmas", need(WORDNET)]
    return words + ([] if variant == "fitted" else ["--paper"]) + (["--support", 0] if variant == "words" else [])


def data_file(name, run, variant):
    if kind(name) == "image":
        return f"{name}-{run}.npz"
    return f"{name}{'' if variant == 'paper' else '-' + variant}.npz"


def data_command(name, variant="paper", run=0, plan=FULL):
    """Return the words of the command that creates the file of a data set (for images, of one random subset)."""
    out = ["-o", data_file(name, run, variant), "-f"]
    if kind(name) == "text":
        return ["text", *text_words(name, variant), *out]
    folder = DATA / name
    return ["convert", need(folder / "train-images-idx3-ubyte.gz"), "--labels", folder / "train-labels-idx1-ubyte.gz",
            "--subset-per-class", plan["per_class"], "-s", run, *out]


def prepare(bench, name, variant="paper", run=0):
    """Return the path of the file of a data set, relative to the folder of the benchmark."""
    file = data_file(name, run, variant)
    words = data_command(name, variant, run, bench.plan)
    mark = bench.folder / f"{file}.{bench.key(*words)}"
    with bench.lock:
        there = mark.exists()
    if not there:
        bench.ddsc(*words)
        mark.touch()
    return file


def shown(words):
    """Return a command as shown on the page, without folders and without the options that only save time."""
    words = [pathlib.Path(str(w)).name if "/" in str(w) else str(w) for w in words]
    return joined(shlex.join(["ddsc", *(w for w in words if w not in ("-f", "--json"))]))


LONG = {"-m": "--metric", "-k": "--clusters", "-s": "--seed", "-o": "--output"}


def joined(command):
    """Write options in their long form and "--option value" as "--option=value"."""
    command = " ".join(LONG.get(word, word) for word in command.split(" "))
    return re.sub(r"(--[a-z-]+) (?=[^\s-])", r"\1=", command)


def graph_matrix(bench, file, words, tau):
    """Return the graph of the tau nearest neighbors as a matrix of D^2 with NaN elsewhere. The lists for a smaller tau
    are the same as in a direct run, because the nearest entries of each column are all known."""
    out = f"{pathlib.Path(file).stem}-{words[1]}-{bench.key(file, *words, tau)}.npy"
    if not (bench.folder / out).exists():
        mtx = bench.folder / f"{out[:-4]}.mtx"
        bench.ddsc("neighbors", file, *words, "--tau", tau, "-o", mtx.name, "-f")
        with mtx.open() as f:
            lines = [line for line in f if not line.startswith("%")]
        n = int(lines[0].split()[0])
        rows = np.array([line.split() for line in lines[1:]], dtype=float)
        i, j = rows[:, 0].astype(int) - 1, rows[:, 1].astype(int) - 1
        matrix = np.full((n, n), np.nan)
        matrix[i, j] = matrix[j, i] = rows[:, 2]
        np.fill_diagonal(matrix, 0)
        np.save(bench.folder / out, matrix)
        mtx.unlink()
    return out
