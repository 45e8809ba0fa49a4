"""Defines the rows of the page: their computation and its expected time. Each computed row is stored in a small JSON
file."""
import json
import pathlib
from typing import Callable, NamedTuple

import numpy as np

from . import extras
from .quoted import BASELINES, DATA, IMAGES, METRICS, SETS, SCORES, TEXTS, TITLE, TRUE_K
from .runs import K_RANGE, KS, data_command, graph_matrix, kind, prepare, shown

FOLDER = pathlib.Path(__file__).resolve().parent / "rows"


class Row(NamedTuple):
    section: str
    name: str
    method: str
    seconds: float  # expected CPU seconds, used until the row has been computed
    compute: Callable

    @property
    def path(self):
        return FOLDER / f"{self.section}--{self.name}.json"

    def load(self, folder=FOLDER):
        path = folder / self.path.name
        return json.loads(path.read_text()) if path.exists() else None


# ---- scores of one setting ----

def sweep_scores(answer):
    rows = answer.get("sweep") or [{"k": answer["k"], "scores": answer["scores"]}]
    return {r["k"]: (r["scores"]["ami"], r["scores"]["ari"]) for r in rows if r["k"] in KS}


def n_runs(bench):
    return bench.plan["runs"]


def summary(values):
    """Return mean and standard deviation of AMI and ARI over runs."""
    values = np.array(values)
    (ami, ari), (ami_sd, ari_sd) = values.mean(0), values.std(0)
    return {"ami": round(ami, 5), "ari": round(ari, 5), "ami_sd": round(ami_sd, 5), "ari_sd": round(ari_sd, 5),
            "runs": len(values)}


def best_k(scores):
    return max(scores, key=lambda k: scores[k][0])


def search(bench, settings, one, repeated=None):
    """Try every setting in the first run, and the best few (or `repeated`) in all runs. Return the setting with the
    best mean AMI. one(setting, run) returns ({K: scores}, words of the command without -k)."""
    first = dict(zip(settings, bench.all(lambda s: one(s, 0), [(s,) for s in settings])))
    first = {s: found for s, found in first.items() if found}
    order = sorted(first, key=lambda s: -max(v[0] for v in first[s][0].values()))
    again = order[:repeated or bench.plan["again"]]
    more = bench.all(one, [(s, r) for s in again for r in range(1, n_runs(bench))])
    found = {}
    for i, s in enumerate(again):
        runs = [first[s]] + more[i * (n_runs(bench) - 1):(i + 1) * (n_runs(bench) - 1)]
        if all(runs):
            for k in KS:
                if all(k in r[0] for r in runs):
                    found[s, k] = [r[0][k] for r in runs]
    (setting, k) = max(found, key=lambda sk: np.mean(found[sk], axis=0)[0])
    grid = [[*map(str, s), best_k(first[s][0]), *(round(v, 4) for v in first[s][0][best_k(first[s][0])])] for s in first]
    return {**summary(found[setting, k]), "setting": [str(v) for v in setting], "k": k,
            "command": shown([*first[setting][1], "-k", k]), "grid": grid}


# ---- the paper's algorithm ----

def choices(bench, name, metric):
    plan = bench.plan
    if metric == "mmd":
        return [("--bandwidth", b) for b in plan["bandwidths"][kind(name)]]
    if metric == "sinkhorn":
        return [("--epsilon", e, "--tolerance", 1e-6) for e in plan["epsilons"]]
    return [()]


def paper_graph(bench, name, metric, choice, run):
    """Return the file of a data set, and its graph for the largest tau, which is used for all tau and gamma."""
    file = prepare(bench, name, "paper", run if name in IMAGES else 0)
    seed = ["-s", run] if metric == "lot" else []  # the seed draws X_0
    return file, graph_matrix(bench, file, ["--metric", metric, "--paper", *choice, *seed], max(bench.plan["taus"]))


def paper_setting(bench, name, metric, setting, run):
    """Run the paper's algorithm once. setting: (options of the metric, tau, factor of gamma). Return the scores by K and
    the words of the command."""
    choice, tau, factor = setting
    file, graph = paper_graph(bench, name, metric, choice, run)
    base = ["cluster", graph, "--precomputed", "--squared-input", "--truth", file, "-k", K_RANGE, "--tau", tau,
            "--paper", "-s", run, "--json"]
    answer, gamma = bench.ddsc(*base), []
    if factor != 1:
        gamma = ["--gamma", f"{factor * answer['chosen']['gamma']:.6g}"]
        answer = bench.ddsc(*base, *gamma)
    seed = ["-s", run] if metric == "lot" else []
    return sweep_scores(answer), ["cluster", file, "--paper", "-m", metric, *choice, "--tau", tau, *gamma, *seed]


def paper_row(bench, name, metric):
    plan = bench.plan
    settings = [(c, t, g) for c in choices(bench, name, metric) for t in plan["taus"] for g in plan["gammas"]]
    bench.all(lambda c: paper_graph(bench, name, metric, c, 0), [(c,) for c in choices(bench, name, metric)])
    return search(bench, settings, lambda setting, run: paper_setting(bench, name, metric, setting, run))


# ---- the program: defaults and best ----

def defaults_row(bench, name, metric):
    """Compute the scores of the program's defaults, with K chosen from the data and with the true K. Labels are used
    only for the scores."""
    variant = "fitted" if name in TEXTS else "paper"
    true_k = TRUE_K[name]

    def one(run, k, file):
        return bench.ddsc("cluster", file, "-m", metric, "-k", k, "-s", run, "--json")

    files = [prepare(bench, name, variant, r if name in IMAGES else 0) for r in range(n_runs(bench))]
    auto = bench.all(one, [(r, "auto", f) for r, f in enumerate(files)])
    given = bench.all(one, [(r, true_k, f) for r, f in enumerate(files)])
    pick = [(a["scores"]["ami"], a["scores"]["ari"]) for a in auto]
    return {**summary(pick), "ks": [a["k"] for a in auto],
            "true_k": summary([(a["scores"]["ami"], a["scores"]["ari"]) for a in given]),
            "command": shown(["cluster", files[0], "-m", metric, "-k", "auto"]),
            "seconds": round(given[0]["cpu_s"], 2)}


def best_row(bench, name, metric):
    """Compute the program's own algorithm over a grid, with the words of the paper and with fitted words."""
    taus = bench.plan["taus"]
    choice = {"mmd": [("--bandwidth", b, "--mmd-estimator", e) for b in bench.plan["bandwidths"][kind(name)][:3]
                      for e in ("biased", "unbiased")],
              "sinkhorn": [("--epsilon", e, "--tolerance", 1e-4) for e in bench.plan["epsilons"][::2]], "w2": [()],
              "lot": [("--reference", r) for r in ("normal", "kmeans")]}[metric]

    def one(setting, run):
        variant, words, tau = setting
        file = prepare(bench, name, variant, run if name in IMAGES else 0)
        command = ["cluster", file, "-m", metric, *words, "--tau", tau]
        return sweep_scores(bench.ddsc(*command, "-k", K_RANGE, "-s", run, "--json")), command

    variants = ("paper", "fitted") if name in TEXTS else ("paper",)
    return search(bench, [(v, c, t) for v in variants for c in choice for t in taus], one)


# ---- baselines ----

def vectors_row(bench, name, method, source):
    """Compute kmeans or sc. The source is mean, or words (bag of words; pixels for images)."""
    plan = bench.plan
    variant = "words" if source == "words" and name in TEXTS else "paper"
    where = ["--vectors-from", "mean" if source == "mean" else "histogram"]

    def one(setting, run):
        tau, = setting
        file = prepare(bench, name, variant, run if name in IMAGES else 0)
        command = ["cluster", file, "--method", method, *where]
        if method == "sc":
            command += ["--tau", tau, "--paper"]
            return sweep_scores(bench.ddsc(*command, "-k", K_RANGE, "-s", run, "--json")), command
        command += ["--restarts", 3]
        answers = [bench.ddsc(*command, "-k", k, "-s", run, "--json") for k in KS]
        return {k: s for a in answers for k, s in sweep_scores(a).items()}, command

    return search(bench, [(t,) for t in (plan["taus"] if method == "sc" else (None,))], one)


def centers_row(bench, name, method):
    """Compute D2 or PD2 with 16 points per center and one start. Images are merged to 32 points. The other runs use the
    two best K of the first run."""
    merged = ["--compress", 32] if name in IMAGES else []

    def one(setting, run):
        file = prepare(bench, name, "paper", run if name in IMAGES else 0)
        command = ["cluster", file, "--method", method, *merged, "--center-size", 16, "--restarts", 1]
        answer = bench.ddsc(*command, "-k", setting[0], "-s", run, "--json")
        times.append(answer["cpu_s"])
        return sweep_scores(answer), command

    times = []
    return {**search(bench, [(k,) for k in KS], one, 2), "seconds": round(float(np.mean(times)), 2)}


def data_row(bench, name):
    file = prepare(bench, name)
    z = np.load(bench.folder / file)
    sizes = np.diff(z["offsets"])
    d = (z["support"] if "support" in z else z["points"]).shape[1]
    labels = z["labels"]
    row = {"n_items": len(sizes), "d": int(d), "points_mean": round(float(sizes.mean()), 1),
           "points_max": int(sizes.max()), "k": int(len(np.unique(labels[labels >= 0]))),
           "command": shown(data_command(name, plan=bench.plan))}
    if name in TEXTS:
        for variant in ("paper", "300"):
            printed = bench.ddsc(*data_command(name, variant), "--json")
            row["coverage" if variant == "paper" else "coverage_300"] = round(printed["coverage"]["token_share"], 3)
    return row


# ---- the list ----

# CPU seconds were measured on one machine. `./run paper --list` shows the times of the stored rows.
SECONDS = {"bbcsport": 1, "bbc": 6, "reuters": 3, "mnist": 4, "fashion-mnist": 8}
BY_METRIC = {"mmd": 12, "sinkhorn": 25, "w2": 7, "lot": 8}


def all_rows():
    rows = extras.synthetic_rows(Row)
    for name in SETS:
        unit = SECONDS[name]
        rows.append(Row("data", name, "data", unit, lambda b, n=name: data_row(b, n)))
        for method in ("kmeans", "sc"):
            for source in (("mean", "words") if name in TEXTS else ("pixels",)):
                rows.append(Row(name, f"{method}-{source}", method, 8 * unit,
                                lambda b, n=name, m=method, s=source: vectors_row(b, n, m, s)))
        for method in ("d2", "pd2"):
            if method in SCORES[name]:
                rows.append(Row(name, method, method, 30 * unit, lambda b, n=name, m=method: centers_row(b, n, m)))
        for metric in METRICS:
            cost = BY_METRIC[metric] * unit
            for what, compute, factor in (("paper", paper_row, 1), ("defaults", defaults_row, 1), ("best", best_row, 3)):
                rows.append(Row(name, f"{metric}-{what}", metric, cost * factor,
                                lambda b, n=name, m=metric, c=compute: c(b, n, m)))
    return rows + extras.time_rows(Row) + extras.incomplete_rows(Row) + extras.noise_rows(Row) + extras.cause_rows(Row) + \
        extras.complexity_rows(Row)


SECTIONS = ("synthetic", "data", *SETS, "time", "incomplete", "noise", "causes", "complexity")
GROUPS = {"text": TEXTS, "images": IMAGES, "tables": SETS}
METHODS = (*BASELINES, *METRICS)
__all__ = ["Row", "all_rows", "DATA", "TITLE", "SECTIONS", "GROUPS", "METHODS"]
