"""Computes the rows of the smaller tables: shapes, running time, incomplete matrix, noise, causes, time complexity."""
import ast
import json

import numpy as np

from .quoted import IMAGES, INCOMPLETE, METRICS, SCORES, SETS, TEXTS, TRUE_K
from .runs import K_RANGE, WORDNET, NoData, prepare, shown


# ---- shapes ----

def shapes_file(bench):
    bench.ddsc("generate", "shapes", "-o", "shapes.npz", "-f")
    return "shapes.npz"


def shapes_row(bench, method):
    from .rows import summary
    file = shapes_file(bench)
    command = ["cluster", file, "-k", 2] + (["-m", method] if method in METRICS else ["--method", method])
    if method in ("kmeans", "sc"):
        command += ["--vectors-from", "mean"]
    runs, rows = range(bench.plan["runs"]), {}
    for what, more in (("paper", ["--paper"]), ("defaults", [])):
        answers = bench.all(lambda r: bench.ddsc(*command, *more, "-s", r, "--json"), [(r,) for r in runs])
        rows[what] = summary([(a["scores"]["ami"], a["scores"]["ari"]) for a in answers])
    return {**rows["paper"], "defaults": rows["defaults"], "command": shown([*command, "--paper"])}


def synthetic_rows(row):
    return [row("synthetic", m, m, 1, lambda b, m=m: shapes_row(b, m)) for m in ("kmeans", "sc", "d2", "pd2", *METRICS)]


# ---- running time ----

def time_row(bench, name, metric):
    """Return the CPU seconds of one run of the paper's algorithm, and of its distance matrix of all pairs. For w2 and
    sinkhorn, the time of the matrix is extrapolated from a subset, because it is proportional to the number of
    pairs."""
    file = prepare(bench, name)
    run = bench.ddsc("cluster", file, "-m", metric, "-k", TRUE_K[name], "-s", 0, "--paper", "--json")
    labels, subset, factor = np.load(bench.folder / file)["labels"], [], 1
    if metric in ("w2", "sinkhorn"):
        each = min(40 if name in TEXTS else 10, bench.plan["per_class"])
        subset = ["--subset-per-class", each]
        factor = (len(labels) / sum(min(each, n) for n in np.unique(labels, return_counts=True)[1]))**2
    full = bench.ddsc("distance", file, "-m", metric, *subset, "--paper", "-o", f"time-{name}-{metric}.npy", "-f")
    (bench.folder / f"time-{name}-{metric}.npy").unlink(missing_ok=True)
    return {"pruned": round(run["cpu_s"], 2), "full": round(factor * full["cpu_s"], 2)}


def time_rows(row):
    return [row("time", f"{name}-{m}", m, {"bbc": 10, "fashion-mnist": 30, "mnist": 10}.get(name, 4),
                lambda b, n=name, m=m: time_row(b, n, m)) for name in SETS for m in METRICS]


# ---- incomplete matrix ----

INCOMPLETE_WORDS = {"paper": ("--sample", ["--paper"]), "filled": ("--sample", []), "columns": ("--sample-columns", [])}


def incomplete_row(bench, percent, what):
    from .rows import search, sweep_scores
    option, more = INCOMPLETE_WORDS[what]
    solved = []

    def one(setting, run):
        tau, bandwidth = setting
        file = prepare(bench, "mnist", "paper", run)
        command = ["cluster", file, "-m", "mmd", option, percent / 100, "--bandwidth", bandwidth, "--tau", tau, *more]
        answer = bench.ddsc(*command, "-k", K_RANGE, "-s", run, "--json")
        solved.append(answer["pairs"]["solved"] / answer["pairs"]["pairs"])
        return sweep_scores(answer), command

    widths = bench.plan["bandwidths"]["image"][::2]
    found = search(bench, [(t, b) for t in bench.plan["incomplete_taus"] for b in widths], one)
    return {**found, "solved": round(float(np.mean(solved)), 4)}


def incomplete_rows(row):
    return [row("incomplete", f"{what}-{p}", "mmd", 10, lambda b, p=p, w=what: incomplete_row(b, p, w))
            for what in INCOMPLETE_WORDS for p in INCOMPLETE]


# ---- noise ----

SIGMAS = (0, 1, 2, 3)
EPSILONS = (5, 10, 50, 100, 500)
TOLERANCE = ["--tolerance", 1e-6]
NOISY = [("w2", ["w2"]), ("lot", ["lot", "--reference", "normal"]),
         ("mmd, unbiased", ["mmd", "--bandwidth", 1, "--mmd-estimator", "unbiased"]),
         ("mmd, biased", ["mmd", "--bandwidth", 1, "--mmd-estimator", "biased"])]
NOISY += [(f"{title}, epsilon {e}", ["sinkhorn", "--sinkhorn-value", value, "--epsilon", e, *TOLERANCE])
          for value, title in (("paper", "W_eps"), ("regularized", "root of W_eps"), ("debiased", "debiased"))
          for e in EPSILONS]


def noisy_file(bench, name, sigma):
    """Write a set whose points have normal noise with standard deviation sigma, and the same weights."""
    out, n = f"noise-{name}-{bench.plan['noisy']}-{sigma}.npz", bench.plan["noisy"]
    if not (bench.folder / out).exists():
        z = np.load(bench.folder / (shapes_file(bench) if name == "shapes" else prepare(bench, "mnist")))
        at = z["offsets"]
        n = min(n, len(at) - 1)
        keep = np.arange(0, len(at) - 1, (len(at) - 1) // n)[:n]
        entry = np.concatenate([np.arange(at[i], at[i + 1]) for i in keep])
        points = z["support"][z["indices"][entry]] if "indices" in z else z["points"][entry]
        step = np.random.default_rng(0).normal(size=points.shape)
        np.savez(bench.folder / out, points=points + sigma * step, weights=z["weights"][entry],
                 offsets=np.concatenate([[0], np.cumsum([at[i + 1] - at[i] for i in keep])]))
    return out


def noise_row(bench, name, title, words):
    """Return the median of (D_sigma - D_0) / D_0 over all pairs."""
    def distances(sigma):
        out = f"noise-{bench.key(name, *words, sigma, bench.plan['noisy'])}.npy"
        if not (bench.folder / out).exists():
            bench.ddsc("distance", noisy_file(bench, name, sigma), "-m", *words, "-o", out, "-f")
        d = np.load(bench.folder / out)
        return d[np.triu_indices(len(d), 1)]

    for sigma in SIGMAS:
        noisy_file(bench, name, sigma)
    found = bench.all(distances, [(s,) for s in SIGMAS])
    positive = found[0] > 0
    errors = [float(np.median(((d - found[0])[positive]) / found[0][positive])) for d in found]
    return {"title": title, "sigmas": list(SIGMAS), "errors": [round(e, 4) for e in errors],
            "pairs": int(positive.sum()), "of": len(positive), "command": shown(["distance", "X.npz", "-m", *words])}


def noise_rows(row):
    return [row("noise", f"{name}-{title.replace(', ', '-').replace(' ', '-')}", words[0],
                0.2 if name == "shapes" else 1,
                lambda b, n=name, t=title, w=words: noise_row(b, n, t, w))
            for name in ("shapes", "digits") for title, words in NOISY]


# ---- causes: other words, vectors, references or subsets, with all other settings fixed ----

def rows_below(name):
    """Return the stored rows of the paper's algorithm that are more than .02 below the paper, by metric."""
    from .rows import FOLDER
    below = {}
    for metric in METRICS:
        path = FOLDER / f"{name}--{metric}-paper.json"
        if not path.exists():
            raise NoData(f"{name}/{metric}-paper is not computed")
        row = json.loads(path.read_text())
        if row["ami"] < SCORES[name][metric][0] - .02:
            below[metric] = row
    return below


def cause_row(bench, name, variant):
    """Return the best AMI over K and tau 10, 20, with the data of the paper and with a variant. The variant `lemmas` is
    computed for all metrics, and the other variants only for metrics below the paper. All other settings are fixed.
    The variant 50 uses the first 50 principal components of the vectors."""
    from .rows import sweep_scores
    if variant == "lemmas" and not WORDNET.is_dir():
        raise NoData("the Debian package wordnet-base is not installed")
    words = {"mmd": ["--bandwidth", "near"], "sinkhorn": ["--epsilon", 5, "--tolerance", 1e-4], "w2": [], "lot": []}

    def one(data, metric, tau):
        file, pca = (prepare(bench, name), ["--pca", 50]) if data == "50" else (prepare(bench, name, data), [])
        answer = bench.ddsc("cluster", file, "-m", metric, *words[metric], "--tau", tau, "--paper", *pca, "-k", K_RANGE,
                            "--json")
        return max(sweep_scores(answer).values())

    found, metrics = {}, METRICS if variant == "lemmas" else tuple(rows_below(name))
    for data in ("paper", variant):
        work = [(data, m, t) for m in metrics for t in (10, 20)]
        scores = dict(zip(work, bench.all(one, work)))
        found[data] = {m: [round(v, 4) for v in max(scores[data, m, t] for t in (10, 20))] for m in metrics}
    return {"before": found["paper"], "after": found[variant]}


def reference_row(bench, name):
    """Return the AMI of lot with X_0 from the standard normal distribution instead of a normal distribution fitted to
    the points: the mean over five draws of the best AMI over K and tau 10, 20."""
    from .rows import sweep_scores
    file = prepare(bench, name)
    z = np.load(bench.folder / file)
    points = z["support"] if "support" in z else z["points"]
    m0 = round(float(np.diff(z["offsets"]).mean()))

    def one(kind, run, tau):
        random = np.random.default_rng(run)
        center, scale = (points.mean(0), points.std(0)) if kind == "fitted" else (0, 1)
        x0 = f"x0-{name}-{kind}-{run}.npz"
        np.savez(bench.folder / f"{tau}-{x0}", points=random.normal(center, scale, (m0, points.shape[1])),
                 weights=np.full(m0, 1 / m0), offsets=[0, m0])
        answer = bench.ddsc("cluster", file, "-m", "lot", "--reference", f"{tau}-{x0}", "--tau", tau, "--paper", "-k", K_RANGE,
                            "--json")
        return max(sweep_scores(answer).values())

    work = [(k, r, t) for k in ("fitted", "standard") for r in range(bench.plan["runs"]) for t in (10, 20)]
    scores = dict(zip(work, bench.all(one, work)))
    means = {k: np.mean([max(scores[k, r, t] for t in (10, 20)) for r in range(bench.plan["runs"])], axis=0)
             for k in ("fitted", "standard")}
    return {k: [round(float(v), 4) for v in m] for k, m in means.items()}


def subsets_row(bench, name):
    """Compute the rows that are more than .02 below the paper again, with the same settings, on ten other subsets."""
    from .rows import paper_setting, summary
    found = {}
    for metric, row in rows_below(name).items():
        setting = tuple(map(ast.literal_eval, row["setting"]))
        answers = bench.all(lambda run: paper_setting(bench, name, metric, setting, run)[0],
                            [(bench.plan["runs"] + r,) for r in range(10)])
        found[metric] = summary([a[row["k"]] for a in answers])
    return found


def cause_rows(row):
    cost = {"bbcsport": 8, "bbc": 60, "reuters": 25}
    return [row("causes", f"{n}-reference", "lot", cost[n], lambda b, n=n: reference_row(b, n)) for n in TEXTS] + [
        row("causes", f"{n}-{v}", "data", cost[n], lambda b, n=n, v=v: cause_row(b, n, v))
        for v in ("lemmas", "300", "fitted", "50") for n in TEXTS] + [
        row("causes", f"{n}-subsets", "data", 60, lambda b, n=n: subsets_row(b, n)) for n in IMAGES]


# ---- time complexities ----

def complexity_row(bench, metric):
    """Return the exponents of the CPU time in N and m (slopes of the logarithms), with --paper and with the
    defaults."""
    method = ["--method", "d2", "--center-size", 16, "--restarts", 1] if metric == "d2" else ["-m", metric]

    def slope(by, *more):
        sizes, times = bench.plan["sizes"][by], []
        for size in sizes:
            n, m = (size, 20) if by == "N" else (120, size)
            file = f"growth-{n}-{m}.npz"
            bench.ddsc("generate", "gaussians", "--clusters", 5, "--items", n // 5, "--points", m, "--dim", 3, "-o", file, "-f")
            times.append(bench.ddsc("cluster", file, "-k", 5, *method, *more, "--json")["cpu_s"])
        return round(float(np.polyfit(np.log(sizes), np.log(times), 1)[0]), 2)

    if metric == "d2":
        return {"N_paper": slope("N"), "m_paper": slope("m")}
    return {"N": slope("N"), "m": slope("m"), "N_paper": slope("N", "--paper"), "m_paper": slope("m", "--paper")}


def complexity_rows(row):
    return [row("complexity", m, m, {"d2": 60, "mmd": 12, "sinkhorn": 40, "w2": 25, "lot": 6}[m],
                lambda b, m=m: complexity_row(b, m)) for m in ("d2", *METRICS)]
