#!/usr/bin/python3
"""Reproduces the tables of the paper next to our values: prints them and writes docs/paper.md.

It only runs the program, and uses numpy for small sums. Every run is stored in results/paper under a key
made from the command and the library, so that an interrupted run resumes.
  tools/paper.py             all tables, under an hour on two cores
  tools/paper.py --quick     small subsets and grids, a few minutes; prints only
  tools/paper.py --only text images    a selection; prints only
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import threading
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = pathlib.Path(os.environ.get("DDSC_DATA", ROOT.parent / "shared" / "data"))
PROGRAM = pathlib.Path(os.environ.get("DDSC", ROOT / "build" / "ddsc")).resolve()
KS = range(5, 11)
BASELINES = ("kmeans", "sc", "d2", "pd2")
METRICS = ("mmd", "sinkhorn", "w2", "lot")
# Ways from the graph to labels. A number is gamma in units of 1 / median of the D^2 in the graph.
MODES = {"plain": ["--paper"], "plain, gamma x 0.5": ["--paper", "--gamma", 0.5],
         "plain, gamma x 4": ["--paper", "--gamma", 4], "plain, local gamma": ["--paper", "--gamma", "auto"],
         "rules": []}
# For the incomplete matrix, also the estimator of the paper, which is no longer among the rules.
SAMPLE_MODES = {"plain": ["--paper"], "rules": [], "rules, unbiased": ["--mmd-estimator", "unbiased"]}
TEXTS = ("bbcsport", "bbc", "reuters")
IMAGES = ("mnist", "fashion-mnist")
TITLE = {"bbcsport": "BBCSport", "bbc": "BBC", "reuters": "Reuters", "mnist": "MNIST",
         "fashion-mnist": "Fashion-MNIST"}

# Values reported in the paper: (AMI, ARI), seconds.
PAPER = {
    "bbcsport": {"kmeans": (.3408, .3213), "sc": (.3646, .2749), "d2": (.6234, .4665),
                 "pd2": (.6300, .4680), "mmd": (.6724, .5399), "sinkhorn": (.7855, .7514),
                 "w2": (.7755, .7424), "lot": (.7150, .6712)},
    "bbc": {"kmeans": (.5328, .4950), "sc": (.4891, .4659), "d2": (.6111, .5572),
            "pd2": (.6822, .6736), "mmd": (.7108, .6479), "sinkhorn": (.7579, .7642),
            "w2": (.7549, .7585), "lot": (.7265, .7499)},
    "reuters": {"kmeans": (.4783, .4287), "sc": (.3955, .3265), "d2": (.4244, .3966),
                "pd2": (.4958, .3909), "mmd": (.5803, .5105), "sinkhorn": (.6096, .5457),
                "w2": (.6096, .5457), "lot": (.5290, .4325)},
    "mnist": {"kmeans": (.5074, .3779), "sc": (.4497, .3252), "d2": (.3649, .2172),
              "mmd": (.7755, .6742), "sinkhorn": (.6974, .6150), "w2": (.7073, .6199),
              "lot": (.6754, .4992)},
    "fashion-mnist": {"kmeans": (.5557, .4137), "sc": (.5135, .3175), "d2": (.5693, .4174),
                      "mmd": (.6553, .4912), "sinkhorn": (.6332, .4346), "w2": (.6292, .4691),
                      "lot": (.6309, .4469)},
}
PAPER_SECONDS = {
    "d2": (99.3, 640.2, 305.7, 910.5, 2250.0), "mmd": (24.5, 200.8, 80.4, 376.1, 364.0),
    "sinkhorn": (86.0, 1252.7, 755.9, 845.9, 3075.4), "w2": (44.9, 427.7, 139.9, 1545.5, 10595.1),
    "lot": (12.1, 73.8, 38.2, 251.2, 251.0)}
PAPER_SAMPLE = {.9: (.776, .588), .8: (.713, .448), .7: (.778, .587), .6: (.772, .586),
                .5: (.770, .581), .4: (.704, .452), .3: (.765, .579), .2: (.656, .392),
                .1: (.640, .387)}

FULL = {"runs": 5, "per_class": 100, "texts": TEXTS, "images": IMAGES, "ks": tuple(KS),
        "taus": (5, 10, 15, 20, 25, 30, 40), "epsilons": {"text": (1, 2, 5, 10), "image": (1, 2, 5, 10)},
        "bandwidths": {"text": ("near", "median", 2, 3, 10), "image": ("near", 1, 2)},
        "fractions": tuple(PAPER_SAMPLE), "again": 5, "noisy": 60,
        "growth": {"N": [(n, 20) for n in (500, 1000, 2000)], "m": [(120, m) for m in (64, 128, 256)]}}
QUICK = {"runs": 2, "per_class": 15, "texts": ("bbcsport",), "images": ("mnist",), "ks": (5, 10),
         "taus": (10, 20), "epsilons": {"text": (5,), "image": (10,)},
         "bandwidths": {"text": ("near", "median"), "image": ("near", 1)}, "fractions": (.9, .5, .1),
         "again": 1, "noisy": 6, "growth": {"N": [(n, 5) for n in (20, 40, 80)], "m": [(20, m) for m in (4, 8, 16)]}}


class Bench:
    """Runs the program and caches its output."""

    def __init__(self, plan, methods, folder, jobs):
        self.plan, self.methods, self.folder = plan, methods, folder
        self.pool = concurrent.futures.ThreadPoolExecutor(jobs)
        self.lock, self.cpu, self.kept_cpu = threading.Lock(), [], []
        self.rows = []  # (set, title, AMI in the paper or None, ours)
        library = next(iter(sorted(PROGRAM.parent.glob("libddsc.so*"))), PROGRAM)
        self.version = hashlib.sha256(library.read_bytes()).hexdigest()
        (folder / "runs").mkdir(parents=True, exist_ok=True)

    def ddsc(self, *words):
        """Return the JSON that the program prints, with its CPU seconds under "cpu_s"."""
        words = [str(w) for w in words]
        key = hashlib.sha256(json.dumps([self.version, words]).encode()).hexdigest()[:24]
        path = self.folder / "runs" / f"{key}.json"
        if path.exists():
            answer = json.loads(path.read_text())
            with self.lock:
                self.kept_cpu.append(answer["cpu_s"])
            return answer
        process = subprocess.Popen([str(PROGRAM), *words, "-j", "1", "-q"], cwd=self.folder,
                                   stdout=subprocess.PIPE)
        out = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in (0, 4):
            raise SystemExit(f"paper: ddsc {' '.join(words)}: exit {process.returncode}")
        answer = json.loads(out) if out.strip() else {}
        answer = {k: answer[k] for k in ("k", "scores", "sweep", "chosen", "objective", "certificates")
                  if k in answer}
        answer["cpu_s"] = usage.ru_utime + usage.ru_stime
        with self.lock:
            self.cpu.append(answer["cpu_s"])
        part = path.with_suffix(f".{threading.get_ident()}")
        part.write_text(json.dumps(answer))
        part.replace(path)
        return answer

    def all(self, function, *lists):
        return list(self.pool.map(function, *lists))


# ---- data ----

def text_options(name):
    common = ["--vectors", DATA / "text" / "glove.6B.100d.subset.txt.gz", "--stopwords",
              DATA / "text" / "stoplist2.txt", "--on-empty", "drop", "--paper"]
    if name == "reuters":
        return [DATA / "text" / "reuters5.tsv.gz", "--text", "title,body", "--tokens", "letters",
                "--idf", "smooth", "--where", "modapte=yes", *common]
    return [DATA / "text" / f"{name}.tsv.gz", "--text", "abstract", *common]


def prepare(bench, name, run):
    """Return the file of a data set (for images, of one random subset)."""
    if name in IMAGES:
        path = bench.folder / f"{name}-{bench.plan['per_class']}-{run}.npz"
        if not path.exists():
            folder = DATA / name
            bench.ddsc("convert", folder / "train-images-idx3-ubyte.gz", "--labels",
                       folder / "train-labels-idx1-ubyte.gz", "--subset-per-class",
                       bench.plan["per_class"], "-s", run, "-o", path, "-f")
    else:
        path = bench.folder / f"{name}.npz"
        if not path.exists():
            bench.ddsc("text", *text_options(name), "-o", path, "-f")
        if not path.with_suffix(".words.npz").exists():
            bench.ddsc("text", *text_options(name), "--support", 0, "-o",
                       path.with_suffix(".words.npz"), "-f")
    return path


def graph_matrix(bench, path, metric_words, tau):
    """Return the tau-NN graph as a matrix of squared distances with NaN elsewhere. Graphs with smaller tau
    are subsets of it, because the nearest entries of a column are all known."""
    words = [str(w) for w in metric_words]
    key = hashlib.sha256(json.dumps([bench.version, str(path), words, tau]).encode()).hexdigest()[:16]
    out = bench.folder / f"{path.stem}-{words[0]}-{key}.npy"
    if not out.exists():
        mtx = out.with_suffix(".mtx")
        bench.ddsc("neighbors", path, "--metric", *words, "--tau", tau, "-o", mtx, "-f")
        with mtx.open() as f:
            lines = [line for line in f if not line.startswith("%")]
        n = int(lines[0].split()[0])
        rows = np.array([line.split() for line in lines[1:]], dtype=float)
        i, j = rows[:, 0].astype(int) - 1, rows[:, 1].astype(int) - 1
        matrix = np.full((n, n), np.nan)
        matrix[i, j] = matrix[j, i] = rows[:, 2]
        np.fill_diagonal(matrix, 0)
        np.save(out, matrix)
        mtx.unlink()
    return out


def mode_words(mode, matrix, tau):
    """Return the options of a mode, or None if gamma has no scale, as all unbiased MMD estimates can be negative."""
    words = list(MODES[mode])
    if words and not isinstance(words[-1], str):
        nearest = np.sort(np.where(np.eye(len(matrix), dtype=bool), np.nan, matrix), axis=0)[:tau]
        if not (nearest > 0).any():
            return None
        words[-1] = f"{words[-1] / np.nanmedian(nearest[nearest > 0]):.6g}"
    return words


# ---- one method on one set ----

def pick(rows, n_runs):
    """Return the best mean AMI among settings that have results for all runs. rows: {setting: [(ami, ari)]}"""
    whole = {s: np.mean(v, axis=0) for s, v in rows.items() if len(v) == n_runs}
    setting = max(whole, key=lambda s: whole[s][0])
    return {"ami": whole[setting][0], "ari": whole[setting][1], "setting": setting}


def sweep_scores(answer, ks):
    rows = answer.get("sweep") or [{"k": answer["k"], "scores": answer["scores"]}]
    return {r["k"]: (r["scores"]["ami"], r["scores"]["ari"]) for r in rows if r["k"] in ks}


def metric_choices(bench, name, metric):
    kind = "image" if name in IMAGES else "text"
    if metric == "w2":
        return [(metric,)]
    if metric == "lot":
        return [(metric, "--reference", r) for r in ("normal", "kmeans")]
    if metric == "mmd":
        return [(metric, "--bandwidth", b, "--mmd-estimator", e) for b in bench.plan["bandwidths"][kind]
                for e in ("unbiased", "biased")]
    return [(metric, "--epsilon", e, "--tolerance", 1e-4) for e in bench.plan["epsilons"][kind]]


def run_ddsc(bench, name, metric):
    """Select by labels as in the paper: the whole grid on the first run, then the best few settings on all runs."""
    plan, scores = bench.plan, {}
    k_words = f"{min(plan['ks'])}:{max(plan['ks'])}"

    def one(choice, tau, mode, run):
        path = prepare(bench, name, run)
        matrix = graph_matrix(bench, path, choice, max(plan["taus"]))
        words = mode_words(mode, np.load(matrix), tau)
        if words is None:
            return
        answer = bench.ddsc("cluster", matrix, "--precomputed", "--squared-input", "--truth", path, "-k", k_words,
                            "--tau", tau, *words, "-s", run, "--json")
        for k, score in sweep_scores(answer, plan["ks"]).items():
            with bench.lock:
                scores.setdefault((choice, tau, mode, k), {})[run] = score

    first = [(c, t, m, 0) for c in metric_choices(bench, name, metric) for t in plan["taus"] for m in MODES]
    path = prepare(bench, name, 0)
    bench.all(lambda choice: graph_matrix(bench, path, choice, max(plan["taus"])),
              metric_choices(bench, name, metric))
    bench.all(lambda w: one(*w), first)
    best = sorted(scores, key=lambda s: -scores[s][0][0])
    again = list(dict.fromkeys(s[:3] for s in best))[:plan["again"]]
    runs = range(1, plan["runs"])
    if name in IMAGES:
        bench.all(lambda w: graph_matrix(bench, prepare(bench, name, w[0]), w[1], max(plan["taus"])),
                  [(r, c) for r in runs for c in dict.fromkeys(s[0] for s in again)])
    bench.all(lambda w: one(*w), [(*s, r) for s in again for r in runs])
    return pick({s: list(v.values()) for s, v in scores.items()}, plan["runs"])


def run_defaults(bench, name, metric):
    """Run the program with its defaults, with K chosen from the data and with the true K. Labels are only used for scores."""
    answers = bench.all(lambda run: bench.ddsc("cluster", prepare(bench, name, run), "--metric", metric,
                                               "-k", "auto", "-s", run, "--json"), n_default_runs(bench, name))
    true_k = 10 if name in IMAGES else 5
    given = [sweep_scores(a, [true_k])[true_k] for a in answers]
    return {"ami": np.mean([a["scores"]["ami"] for a in answers]),
            "ari": np.mean([a["scores"]["ari"] for a in answers]),
            "ks": sorted({a["k"] for a in answers}), "given": np.mean(given, axis=0),
            "cpu_s": np.mean([a["cpu_s"] for a in answers])}


def n_default_runs(bench, name):
    return range(bench.plan["runs"]) if name in IMAGES else range(1)


def run_vectors(bench, name, method, source):
    """Run kmeans or sc. source is mean, histogram, or words (bag of words of all words)."""
    plan, scores = bench.plan, {}

    def one(k, tau, run):
        path = prepare(bench, name, run)
        if source == "words":
            path = path.with_suffix(".words.npz")
        words = ["cluster", path, "--method", method, "--vectors-from",
                 "mean" if source == "mean" else "histogram", "-k", k, "-s", run, "--json"]
        words += ["--tau", tau, "--paper"] if method == "sc" else ["--restarts", 3]
        for found, score in sweep_scores(bench.ddsc(*words), plan["ks"]).items():
            with bench.lock:
                scores.setdefault((source, tau, found), {})[run] = score

    if method == "sc":
        grid = [(f"{min(plan['ks'])}:{max(plan['ks'])}", t) for t in plan["taus"]]
    else:
        grid = [(k, None) for k in plan["ks"]]
    bench.all(lambda w: one(*w), [(*g, r) for g in grid for r in range(plan["runs"])])
    return pick({s: list(v.values()) for s, v in scores.items()}, plan["runs"])


def center_words(name):
    """Return the options for barycenters. Images are merged to 32 points, to keep the total under an hour."""
    return ["--compress", 32, "--center-size", 16] if name in IMAGES else ["--center-size", 16]


def run_centers(bench, name, method):
    plan, scores, cpu = bench.plan, {}, []

    def one(k, run):
        answer = bench.ddsc("cluster", prepare(bench, name, run), "--method", method, "-k", k,
                            "--restarts", 1, *center_words(name), "-s", run, "--json")
        with bench.lock:
            scores.setdefault((None, None, k), {})[run] = (answer["scores"]["ami"], answer["scores"]["ari"])
            cpu.append(answer["cpu_s"])

    bench.all(lambda w: one(*w), [(k, r) for k in plan["ks"] for r in range(plan["runs"])])
    return {**pick({s: list(v.values()) for s, v in scores.items()}, plan["runs"]), "cpu_s": np.mean(cpu)}


def say(*words):
    print("paper:", *words, file=sys.stderr, flush=True)


# ---- tables ----

def table(heads, rows):
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    return lines + ["| " + " | ".join(str(c) for c in row) + " |" for row in rows]


def number(x, digits=3):
    return "" if x is None else f"{x:.{digits}f}".replace("0.", ".", 1) if 0 <= x < 1 else f"{x:.{digits}f}"


def describe(setting):
    """Return the selected parameters as text."""
    if len(setting) == 4:
        choice, tau, mode, k = setting
        extra = {"sinkhorn": ", eps {}", "mmd": ", bandwidth {}, {}", "lot": ", {} reference"}.get(choice[0], "") if len(choice) > 1 else ""
        return f"K {k}, tau {tau}{extra.format(*choice[2::2])}, {mode}"
    source, tau, k = setting
    return f"K {k}" + (f", tau {tau}" if tau else "")


def synthetic_table(bench):
    demo = json.loads(subprocess.run([str(PROGRAM), "demo", "--json", "-q", "-f", "-o",
                                      str(bench.folder / "demo")], check=True, capture_output=True).stdout)
    paper = {"kmeans": 0.0, "sc": 0.0, "d2": 0.0, "lot": 1.0, "mmd": 1.0, "w2": 1.0, "sinkhorn": 1.0}
    rows = [(m["name"], number(paper[m["name"]]) if m["name"] in paper else "-", number(max(m["ami"], -1)))
            for m in demo["methods"]]
    return ["## Synthetic shapes (AMI)", "", "`build/ddsc demo`", "",
            *table(["method", "paper", "ddsc"], rows), ""]


def baseline_rows(bench, name):
    """Yield the title, the name in the paper's table, and the result."""
    for method, title in (("kmeans", "K-means"), ("sc", "SC")):
        if method not in bench.methods:
            continue
        if name in IMAGES:
            yield title, method, run_vectors(bench, name, method, "histogram")
        else:
            yield f"{title}, mean vectors", method, run_vectors(bench, name, method, "mean")
            yield f"{title}, bag of words", None, run_vectors(bench, name, method, "words")
    for method in ("d2", "pd2"):
        if method in bench.methods and method in PAPER[name]:
            yield method.upper(), method, run_centers(bench, name, method)


def set_rows(bench, name, seconds):
    for title, key, found in baseline_rows(bench, name):
        say(name, title, number(found["ami"]), describe(found["setting"]))
        paper = PAPER[name].get(key, (None, None))
        bench.rows.append((name, title, paper[0], found["ami"]))
        if key == "d2":
            seconds[("d2", name)] = found["cpu_s"]
        yield [title, *map(number, paper), number(found["ami"]), number(found["ari"]),
               describe(found["setting"]), "", ""]
    for metric in filter(bench.methods.__contains__, METRICS):
        found = run_ddsc(bench, name, metric)
        plain = run_defaults(bench, name, metric)
        say(name, metric, number(found["ami"]), describe(found["setting"]), "defaults", number(plain["ami"]))
        seconds[(metric, name)] = plain["cpu_s"]
        bench.rows.append((name, f"DDSC {metric}", PAPER[name][metric][0], found["ami"]))
        ks = "/".join(map(str, plain["ks"]))
        yield [f"**DDSC {metric}**", *map(number, PAPER[name][metric]), number(found["ami"]),
               number(found["ari"]), describe(found["setting"]),
               f"{number(plain['ami'])} / {number(plain['ari'])} (K {ks})",
               f"{number(plain['given'][0])} / {number(plain['given'][1])}"]


HEADS = ["method", "paper AMI", "ARI", "ddsc AMI", "ARI", "picked", "**defaults, no labels** AMI / ARI",
         "defaults, true K"]


def set_table(bench, name, seconds):
    began = time.time()
    lines = [f"## {TITLE[name]}", "", *table(HEADS, list(set_rows(bench, name, seconds))), ""]
    say(f"{name} took {time.time() - began:.0f} s")
    return lines


def time_table(seconds, names):
    rows = []
    for method in ("d2", *METRICS):
        row = [method]
        for name in names:
            at = (*TEXTS, *IMAGES).index(name)
            ours = seconds.get((method, name))
            row += [PAPER_SECONDS[method][at], "" if ours is None else f"{ours:.1f}"]
        rows.append(row)
    heads = ["method"] + [h for n in names for h in (f"{TITLE[n]}, paper", "ddsc")]
    return ["## Running time (seconds)", "",
            "ddsc: CPU seconds of one whole run with default settings on one thread (d2: mean over K, one start, "
            "settings as above).", "", *table(heads, rows), ""]


def reading(bench, names):
    """Return a summary of the tables as text."""
    ours = [r for r in bench.rows if r[1].startswith("DDSC")]
    below = [r for r in ours if round(r[3], 3) < round(r[2], 3)]
    lines = ["## Reading the tables", "",
             f"{len(ours) - len(below)} of the {len(ours)} DDSC rows reach the AMI of the paper."]
    if below:
        lines.append("Below it: " + ", ".join(f"{TITLE[n]} {t[5:]} ({number(a)} for {number(p)})"
                                              for n, t, p, a in below) + ".")
    if any(n in TEXTS for n in names):
        lines.append("On text the word vectors differ (100-d here), so the two columns are not the same experiment.")
    lines += ["", "AMI of the best baseline, and of the DDSC rows:", ""]
    for name in names:
        baseline = max((r for r in bench.rows if r[0] == name and r not in ours), key=lambda r: r[3], default=None)
        best = sorted(r[3] for r in ours if r[0] == name)
        if baseline and best:
            lines.append(f"- {TITLE[name]}: {baseline[1]} {number(baseline[3])}; DDSC {number(best[0])} to "
                         f"{number(best[-1])}")
    return lines + [""]


def sample_table(bench, option, title, paper):
    """Return the table of MMD on MNIST from a fraction of the pairs."""
    plan, rows = bench.plan, []
    for fraction in plan["fractions"]:
        scores, plain = {}, []

        def one(tau, mode, run):
            answer = bench.ddsc("cluster", prepare(bench, "mnist", run), "--metric", "mmd", option, fraction,
                                "-k", f"{min(plan['ks'])}:{max(plan['ks'])}", "--tau", tau, *SAMPLE_MODES[mode],
                                "-s", run, "--json")
            for k, score in sweep_scores(answer, plan["ks"]).items():
                with bench.lock:
                    scores.setdefault((("mmd",), tau, mode, k), {})[run] = score

        def default(run):
            answer = bench.ddsc("cluster", prepare(bench, "mnist", run), "--metric", "mmd", option, fraction,
                                "-k", "auto", "-s", run, "--json")
            with bench.lock:
                plain.append((answer["scores"]["ami"], answer["scores"]["ari"]))

        bench.all(lambda w: one(*w), [(t, m, r) for t in plan["taus"] for m in SAMPLE_MODES
                                      for r in range(plan["runs"])])
        bench.all(default, range(plan["runs"]))
        found = pick({s: list(v.values()) for s, v in scores.items()}, plan["runs"])
        mean = np.mean(plain, axis=0)
        say(f"{title} {fraction:.0%}", number(found["ami"]))
        rows.append([f"{fraction:.0%}", *(map(number, PAPER_SAMPLE[fraction]) if paper else ("", "")),
                     number(found["ami"]), number(found["ari"]), describe(found["setting"]),
                     f"{number(mean[0])} / {number(mean[1])}"])
    heads = ["pairs", "paper AMI", "ARI", "ddsc AMI", "ARI", "picked", "**defaults, no labels** AMI / ARI"]
    return [f"### {title}", "", *table(heads, rows), ""]


def incomplete_tables(bench):
    lines = ["## Incomplete matrix: MMD on MNIST", ""]
    lines += sample_table(bench, "--sample", "Random pairs (`--sample`)", True)
    text = subprocess.run([str(PROGRAM), "cluster", "--help"], capture_output=True, text=True).stdout
    if "--sample-columns" in text:
        lines += sample_table(bench, "--sample-columns", "Whole columns (`--sample-columns`)", False)
    return lines


# ---- the appendix: noise ----

SIGMAS = (0, .5, 1, 1.5, 2, 2.5, 3)
NOISY = [("w2", ["w2"]), ("lot", ["lot"]), ("mmd, bandwidth 1", ["mmd", "--bandwidth", 1, "--mmd-estimator", "biased"])] + [
    (f"sinkhorn, epsilon {e}", ["sinkhorn", "--sinkhorn-value", "debiased", "--epsilon", e, "--tolerance", 1e-6])
    for e in (5, 10, 50, 100, 500)]


def noisy_set(bench, sigma):
    """Return the file of MNIST images whose points were moved by Gaussian noise of the given size. Weights are unchanged."""
    n = bench.plan["noisy"]
    out = bench.folder / f"noise-{n}-{sigma}.npz"
    if not out.exists():
        z = np.load(prepare(bench, "mnist", 0))
        at = z["offsets"]
        keep = np.arange(0, len(at) - 1, (len(at) - 1) // n)[:n]
        entry = np.concatenate([np.arange(at[i], at[i + 1]) for i in keep])
        points = z["support"][z["indices"][entry]] if "indices" in z else z["points"][entry]
        step = np.random.default_rng(0).normal(size=points.shape)
        np.savez(out, points=points + sigma * step, weights=z["weights"][entry],
                 offsets=np.concatenate([[0], np.cumsum([at[i + 1] - at[i] for i in keep])]))
    return out


def noise_errors(bench):
    """Return {metric: median of (D_sigma - D_0) / D_0 for each sigma}."""
    def distances(words, sigma):
        out = bench.folder / f"noise-{hashlib.sha256(json.dumps([bench.version, *map(str, words), sigma]).encode()).hexdigest()[:16]}.npy"
        if not out.exists():
            bench.ddsc("distance", noisy_set(bench, sigma), "--metric", *words, "-o", out, "-f")
        d = np.load(out)
        return d[np.triu_indices(len(d), 1)]

    for sigma in SIGMAS:
        noisy_set(bench, sigma)
    work = [(words, sigma) for _, words in NOISY for sigma in SIGMAS]
    found = dict(zip([(tuple(w), s) for w, s in work], bench.all(lambda w: distances(*w), work)))
    errors = {}
    for title, words in NOISY:
        first = found[tuple(words), 0]
        errors[title] = [float(np.median((found[tuple(words), s] - first)[first > 0] / first[first > 0])) for s in SIGMAS]
    return errors


COLORS = ("#1b6ca8", "#2a9d8f", "#c1121f", "#f4a261", "#e9c46a", "#b5838d", "#6d597a", "#355070")


def noise_picture(errors):
    """Draw lines over sigma as SVG."""
    low = min(0.0, *(min(v) for v in errors.values()))
    high = max(max(v) for v in errors.values())

    def place(sigma, value):
        return f"{60 + 130 * sigma:.1f},{260 - 230 * (value - low) / (high - low):.1f}"

    lines = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 660 310" font-family="sans-serif" font-size="12">',
             '<rect width="660" height="310" fill="#fff"/>', f'<path d="M60,30 V260 H450" fill="none" stroke="#888"/>']
    for sigma in SIGMAS:
        lines.append(f'<text x="{60 + 130 * sigma:.0f}" y="278" text-anchor="middle">{sigma:g}</text>')
    for k in range(5):
        value = low + (high - low) * k / 4
        lines.append(f'<text x="54" y="{264 - 57.5 * k:.0f}" text-anchor="end">{value:.2f}</text>')
    for k, (title, values) in enumerate(errors.items()):
        points = " ".join(place(s, v) for s, v in zip(SIGMAS, values))
        lines += [f'<polyline points="{points}" fill="none" stroke="{COLORS[k]}" stroke-width="2"/>',
                  f'<text x="475" y="{45 + 20 * k}" fill="{COLORS[k]}">{title}</text>']
    return "\n".join([*lines, '<text x="255" y="300" text-anchor="middle">sigma of the noise, in pixels</text>', "</svg>", ""])


def noise_section(bench, picture):
    errors = noise_errors(bench)
    if picture:
        picture.write_text(noise_picture(errors))
    last = {title: values[-1] for title, values in errors.items()}
    order = sorted(last, key=lambda title: abs(last[title]))
    entropic = [abs(last[t]) for t, _ in NOISY if t.startswith("sinkhorn")]
    grows = all(a <= b + .005 for a, b in zip(entropic, entropic[1:]))
    rows = [[title, *(number(v) if v >= 0 else f"{v:.3f}" for v in values)] for title, values in errors.items()]
    return ["## Robustness against noise (the appendix)", "",
            "Each point of each item moves by a normal step of size sigma; the error is the median over all pairs of "
            f"(D_sigma - D_0) / D_0. {bench.plan['noisy']} images of MNIST, coordinates in pixels (the paper does not name its data), MMD "
            "bandwidth 1, biased; Sinkhorn divergences, epsilon absolute.", "",
            *(["![Relative error over sigma](noise.svg)", ""] if picture else []),
            *table(["metric", *(f"{s:g}" for s in SIGMAS)], rows), "",
            f"At sigma {SIGMAS[-1]:g} the error of least size is that of {order[0]} ({last[order[0]]:.2f}), the largest that of "
            f"{order[-1]} ({last[order[-1]]:.2f}): noise of that size brings images nearer to each other where it blurs what tells them "
            "apart. The paper reports MMD to be the worst throughout and conjectures that the error grows with epsilon: "
            + ("here it does." if grows else "here it does not: "
               + ", ".join(f"epsilon {t.split()[-1]} {last[t]:.2f}" for t, _ in NOISY if t.startswith("sinkhorn")) + "."), ""]


# ---- time complexities ----

COMPLEXITY = [("D2", "T2 N m^2 + N K m^3 log m", None), ("mmd", "N^2 m^2 + N^3", "mmd"),
              ("sinkhorn", "T1 N^2 m^2 + N^3", "sinkhorn"), ("w2", "N^2 m^3 log m + N^3", "w2"),
              ("lot", "N m^3 log m + N^3", "lot")]


def growth(bench, metric, by):
    """Return the exponent of the CPU seconds in N or m: the slope of the logarithms."""
    sizes, times = [], []
    for n, m in bench.plan["growth"][by]:
        path = bench.folder / f"growth-{n}-{m}.npz"
        if not path.exists():
            bench.ddsc("generate", "gaussians", "--groups", 5, "--items", n // 5, "--points", m, "--dim", 3, "-o", path, "-f")
        words = ["cluster", path, "-k", 5, "--metric", metric, "--json"]
        times.append(bench.ddsc(*words)["cpu_s"])
        sizes.append(n if by == "N" else m)
    return np.polyfit(np.log(sizes), np.log(times), 1)[0]


def complexity_table(bench):
    rows, (by_n, by_m) = [], (bench.plan["growth"][by] for by in ("N", "m"))
    for title, paper, metric in COMPLEXITY:
        rows.append([title, f"O({paper})", *(f"{growth(bench, metric, by):.1f}" if metric else "" for by in ("N", "m"))])
    return ["## Time complexities", "",
            "Exponents measured: slope of the logarithm of the CPU seconds of a whole run (`cluster -k 5`, defaults, one thread), on "
            f"{by_n[0][0]} to {by_n[-1][0]} Gaussian clouds of {by_n[0][1]} points, and on {by_m[0][0]} clouds of "
            f"{by_m[0][1]} to {by_m[-1][1]} points, in three dimensions. The graph is sparse and its search pruned, so "
            "no N^3 appears, and N^2 only where all pairs are computed; for the growth to 64,000 items see [performance](performance.md).", "",
            *table(["method", "paper", "exponent of N", "exponent of m"], rows), ""]


def intro(command, plan):
    return ["# The paper's tables, reproduced", "", f"`{command}` makes this page.", "",
            f"Protocol as in the paper: K from {min(plan['ks'])} to {max(plan['ks'])}, the best reported, means of "
            f"{plan['runs']} runs (text: seeds; images: random subsets of {plan['per_class']} per class). \"picked\" "
            "shows the parameters with the best mean AMI, chosen **with the labels**: tau in "
            f"{', '.join(map(str, plan['taus']))}; *plain* is the paper's algorithm (`--paper`), *gamma x* in units "
            "of 1 / median of the D^2 in the graph, *rules* the program's own rules; Sinkhorn epsilon in "
            f"{', '.join(map(str, plan['epsilons']['text']))} (text) and "
            f"{', '.join(map(str, plan['epsilons']['image']))} (images), marginal error 1e-4; MMD bandwidth in "
            f"{', '.join(map(str, plan['bandwidths']['text']))} (text) and "
            f"{', '.join(map(str, plan['bandwidths']['image']))} (images), unbiased (the paper's) and biased; LOT with a "
            "normal and a k-means reference. The grid is searched on the first run and the best "
            f"{plan['again']} settings repeated on all; it was widened (tau, epsilon on images, bandwidth 10) after first "
            "results, so these are best cases, for the baselines less than for DDSC. The column in bold is what "
            "users get: **default settings, K chosen by the data, no labels**; the last one is told the true K.",
            "",
            "Word vectors are 100-d GloVe here, 300-d in the paper; Reuters has N = 1,203 (the paper's 1,209 is not "
            "to be had). D2 and PD2: one start a run, centers of 16 points; images merged to 32 points for them "
            "(to stay under an hour). Bag of words: L1-normalized tf-idf of all words.", ""]


def command_of(a):
    """Return the command that produces the same page, without options that do not affect it."""
    words = ["./run paper"] + ["--quick"] * a.quick
    words += ["--only", *a.only] if a.only else []
    words += ["--methods", *a.methods] if len(a.methods) < len(BASELINES + METRICS) else []
    return " ".join(words)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", nargs="+", choices=["synthetic", *TEXTS, *IMAGES, "text", "images", "incomplete",
                                                       "noise", "complexity"])
    parser.add_argument("--methods", nargs="+", choices=BASELINES + METRICS, default=BASELINES + METRICS,
                        help="only these rows of the tables of real data; prints only")
    parser.add_argument("-o", "--output", type=pathlib.Path, help="default: docs/paper.md; --quick: none")
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "results", help="where runs are kept")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count())
    a = parser.parse_args()
    began, plan = time.time(), QUICK if a.quick else FULL
    bench = Bench(plan, a.methods, a.results.resolve() / ("paper-quick" if a.quick else "paper"), a.jobs)
    only = set(a.only or ["synthetic", "text", "images", "incomplete", "noise", "complexity"])
    only |= (set(TEXTS) if "text" in only else set()) | (set(IMAGES) if "images" in only else set())
    lines, seconds = intro(command_of(a), plan), {}
    if "synthetic" in only:
        lines += synthetic_table(bench)
    names = [n for n in (*plan["texts"], *plan["images"]) if n in only]
    if not DATA.is_dir():
        say(f"text, images and incomplete matrices skipped: no data at {DATA} (DDSC_DATA names it)")
        lines += ["Text, images and incomplete matrices: skipped, the data sets are not here.", ""]
        names, only = [], set()
    for name in names:
        lines += set_table(bench, name, seconds)
    if names:
        lines += reading(bench, names) + time_table(seconds, names)
    if "incomplete" in only:
        lines += incomplete_tables(bench)
    if "noise" in only:
        lines += noise_section(bench, None if a.quick else (a.output or ROOT / "docs" / "paper.md").parent / "noise.svg")
    if "complexity" in only:
        lines += complexity_table(bench)
    print("\n".join(lines))
    part = a.quick or a.only or len(a.methods) < len(BASELINES + METRICS) or not DATA.is_dir()
    output = a.output or (None if part else ROOT / "docs" / "paper.md")
    if output:
        output.write_text("\n".join(lines))
    kept = f" (and {len(bench.kept_cpu)} kept from before, {sum(bench.kept_cpu):.0f})" if bench.kept_cpu else ""
    say(f"{len(bench.cpu)} runs of ddsc, {sum(bench.cpu):.0f} CPU seconds{kept}, {time.time() - began:.0f} s in all")


if __name__ == "__main__":
    main()
