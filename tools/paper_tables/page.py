"""Writes docs/paper.md from stored rows. Everything on the page comes from here; a missing row says so."""
import numpy as np

from . import claims, figure
from .extras import EPSILONS, INCOMPLETE_WORDS, NOISY, SIGMAS
from .quoted import (AVERAGE, BASELINES, COMPLEXITY, DATA, IMAGES, INCOMPLETE, METRICS, SCORES, SECONDS, SETS, SHAPES,
                     STARRED, TEXTS, TITLE)
from .runs import joined

MISSING = "not computed"
BASELINE_TITLE = {"kmeans": "K-means", "sc": "SC", "d2": "D2", "pd2": "PD2"}
SOURCE = {"mean": "mean vectors", "words": "bag of words", "pixels": "pixels"}


def table(heads, rows):
    lines = ["|" + "|".join(heads) + "|", "|" + "---|" * len(heads)]
    return [*lines, *("|" + "|".join("" if c is None else str(c) for c in row) + "|" for row in rows), ""]


def number(x, digits=3):
    text = f"{x:.{digits}f}"
    return text.replace("0.", ".", 1) if -1 < x < 1 else text


def signed(x):
    return ("+" if x >= 0 else "") + number(x)


def score(row, which="ami"):
    """Return "mean±standard deviation"; without the latter if all runs agree."""
    if row is None:
        return MISSING
    sd = row[which + "_sd"]
    return number(row[which]) + (f"±{number(sd)}" if sd >= .0005 else "")


def both(row):
    return MISSING if row is None else f"{number(row['ami'])} / {number(row['ari'])}"


def best_of(found, name, metric):
    """Return the better of the program's grid and the paper's algorithm, as the program can run both."""
    rows = [r for r in (found[name, f"{metric}-best"], found[name, f"{metric}-paper"]) if r]
    return max(rows, key=lambda r: r["ami"]) if found[name, f"{metric}-best"] else None


def intro(plan):
    return ["# The paper's tables next to ours", "",
            "`./run paper` generates this page from stored rows (`./run paper --list` shows them with their CPU time). "
            "The paper is Wang, Qiao, Fan, \"Spectral Clustering for Discrete Distributions\". `ddsc help paper` says what "
            "the program does at each line of its algorithms and at each choice that it leaves open.", ""]


def protocol(plan):
    bandwidths = plan["bandwidths"]
    return ["## Protocol", "",
            f"K runs from 5 to 10 and the best is reported, as in the paper: **with the labels**. Values are means over "
            f"{plan['runs']} runs ± their standard deviation. On text a run is a seed (k-means, X_0 of lot); on images it is "
            f"another random subset of {plan['per_class']} per class.", "",
            "- **paper's algorithm**: `--paper`. Sinkhorn epsilon " + ", ".join(map(str, plan["epsilons"])) +
            " (the paper: 1 to 10). The paper does not give the other parameters; ours are tau " +
            ", ".join(map(str, plan["taus"])) + "; gamma " + ", ".join(f"{g:g}" for g in plan["gammas"]) +
            " times 1/median D^2; bandwidth " + ", ".join(map(str, bandwidths["text"])) + " (text), " +
            ", ".join(map(str, bandwidths["image"])) + f" (images). The grid is searched on the first run, and its best "
            f"{plan['again']} settings are repeated.",
            "- **defaults**: the program without options, words fitted, K from the data. No labels are used.",
            "- **best**: the highest AMI among the paper's algorithm and the program's rules on the same grid.",
            "- Baselines use the same K and tau. D2 and PD2 have 16 points per center and one start; images are merged to 32 "
            "points for them.", ""]


def data_section(found):
    rows = []
    for name in SETS:
        ours, quoted = found["data", name], DATA[name]
        values = [MISSING] * 4 if ours is None else [
            ours["n_items"], ours["d"], f"{ours['points_mean']:g} (at most {ours['points_max']})", ours["k"]]
        coverage = f"{100 * ours['coverage']:.0f}%" if ours and "coverage" in ours else ""
        rows.append([TITLE[name], " / ".join(map(str, quoted)), *values, coverage])
    commands = [joined(found["data", name]["command"]) for name in SETS if found["data", name]]
    return ["## Data (Table 2)", "", *table(["set", "paper: N / d / n / K", "N", "d", "n", "K", "tokens with a vector"], rows),
            "Documents have fewer than 16 points if they have fewer words. n of images counts the pixels with ink; the "
            "paper counts all 784. BBC and BBCSport: abstracts, plain idf. Reuters: title and body, runs of letters, smooth "
            "idf, the ModApte split, as in the code that the paper cites for its data. Words are not lemmatized unless "
            "stated, and vectors are the 100-d GloVe that is freely redistributed (the paper: 300-d).", "",
            "```sh", *commands, "```", ""]


def shapes_section(found):
    rows = [[m, "" if m not in SHAPES else number(SHAPES[m], 1), score(found["synthetic", m]),
             score(found["synthetic", m] and found["synthetic", m]["defaults"])] for m in (*BASELINES, *METRICS)]
    command = joined(found["synthetic", "w2"]["command"]) if found["synthetic", "w2"] else MISSING
    return ["## Shapes (Table 1, Figure 2), AMI", "", *table(["method", "paper", "paper's algorithm", "defaults"], rows),
            f"`{command}` and the other methods. The figure is the output of `ddsc demo`; `--paper` gives the same labels.", "",
            "![Squares and circles, colored by the clusters of each method](demo.svg)", ""]


def set_section(found, name):
    rows, commands = [], []
    quoted = SCORES[name]
    for method in BASELINES:
        if method not in quoted:
            continue
        sources = {"kmeans": ("mean", "words"), "sc": ("mean", "words")}.get(method, (None,)) if name in TEXTS else \
            (("pixels",) if method in ("kmeans", "sc") else (None,))
        for source in sources:
            row = found[name, method if source is None else f"{method}-{source}"]
            title = BASELINE_TITLE[method] + (f", {SOURCE[source]}" if source else "")
            paper = quoted[method] if source in (None, "mean", "pixels") else None
            rows.append([title, *(map(number, paper) if paper else ("", "")), score(row), score(row, "ari"), "", "", ""])
            if row:
                commands.append(joined(row["command"]))
        if name in TEXTS and method in STARRED:
            rows.append([BASELINE_TITLE[method] + "*", number(STARRED[method][TEXTS.index(name)]), "", "", "", "", "", ""])
    for metric in METRICS:
        row, plain, best = found[name, f"{metric}-paper"], found[name, f"{metric}-defaults"], best_of(found, name, metric)
        ks = "/".join(map(str, sorted(set(plain["ks"])))) if plain else ""
        rows.append([f"**{metric}**", *map(number, quoted[metric]), f"**{score(row)}**" if row else MISSING, score(row, "ari"),
                     both(plain) + (f" (K {ks})" if plain else ""), both(plain["true_k"]) if plain else MISSING, both(best)])
        if row:
            commands.append(joined(row["command"]))
        if found[name, f"{metric}-best"]:
            commands.append(joined(best["command"]))
    heads = ["method", "paper AMI", "ARI", "ours AMI", "ARI", "defaults AMI / ARI", "with the true K", "best"]
    return [f"## {TITLE[name]}", "", *table(heads, rows), *(["```sh", *commands, "```", ""] if commands else [])]


def average_section(found):
    """The columns "Average Score": means over the three text sets, and for images over the two."""
    rows = []
    for sets, title in ((TEXTS, "text"), (IMAGES, "images")):
        for metric in METRICS:
            quoted = np.mean([SCORES[n][metric] for n in sets], axis=0) if sets is IMAGES else AVERAGE[metric]
            cells = [" / ".join(map(number, quoted))]
            for what in ("paper", "defaults"):
                ours = [found[n, f"{metric}-{what}"] for n in sets]
                cells.append(MISSING if None in ours else
                             " / ".join(number(np.mean([r[k] for r in ours])) for k in ("ami", "ari")))
            best = [best_of(found, n, metric) for n in sets]
            cells.append(MISSING if None in best else " / ".join(number(np.mean([r[k] for r in best])) for k in ("ami", "ari")))
            rows.append([f"{metric}, {title}", *cells])
    rows += [[f"{BASELINE_TITLE[m]}*, text (AMI)", number(STARRED[m][3]), "", "", ""] for m in STARRED]
    return ["## Average score, AMI / ARI", "", *table(["method", "paper", "paper's algorithm", "defaults", "best"], rows),
            "The rows marked * are those of Huang et al. (2021) as the paper quotes them.", ""]


def difference_section(found):
    rows, ami, ari = [], [], []
    for metric in METRICS:
        cells = []
        for name in SETS:
            row = found[name, f"{metric}-paper"]
            if row is None:
                cells.append(MISSING)
                continue
            change = row["ami"] - SCORES[name][metric][0], row["ari"] - SCORES[name][metric][1]
            ami.append(change[0])
            ari.append(change[1])
            cells.append(" / ".join(map(signed, change)))
        rows.append([metric, *cells])
    text = (f"Mean of the {len(ami)} AMI differences {signed(np.mean(ami))}, of the ARI differences {signed(np.mean(ari))}; "
            f"{sum(x < -.02 for x in ami)} rows are more than .02 below the paper's AMI. {20 - len(ami)} of 20 rows are not "
            "computed." if ami else "No row is computed.")
    return ["## The paper's algorithm minus the paper, AMI / ARI", "", *table(["metric", *(TITLE[n] for n in SETS)], rows),
            text, "", *cause_lines(found)]


CAUSES = {"lemmas": "lemmatized words", "300": "300-d word2vec vectors", "fitted": "fitted 100-d vectors"}


def cause_lines(found):
    rows = []
    for name in TEXTS:
        for variant, title in CAUSES.items():
            row = found["causes", f"{name}-{variant}"]
            rows.append([f"{TITLE[name]}, {title}", *(MISSING if row is None else
                                                      signed(row["after"][m][0] - row["before"][m][0]) for m in METRICS)])
    for name in TEXTS:
        row = found["causes", f"{name}-reference"]
        change = MISSING if row is None else signed(row["standard"][0] - row["fitted"][0])
        rows.append([f"{TITLE[name]}, standard normal X_0", "", "", "", change])
    coverage = {n: found["data", n].get("coverage_300") for n in TEXTS if found["data", n]}
    share = ", ".join(f"{100 * c:.0f}% ({TITLE[n]})" for n, c in coverage.items() if c)
    lines = ["Tested causes on text: change of AMI when only the words or the vectors change (`--paper`, the best of K 5 to 10 "
             "and tau 10, 20).", "", *table(["set, change", *METRICS], rows),
             f"The freely available 300-d vectors are word2vec and cover few tokens: {share or MISSING}. They are therefore "
             "not a substitute for the paper's 300-d GloVe. Lemmas need Debian's `wordnet-base`.", ""]
    below = []
    for name in SETS:
        for metric in METRICS:
            row = found[name, f"{metric}-paper"]
            if row and row["ami"] < SCORES[name][metric][0] - .02:
                gap, sd = SCORES[name][metric][0] - row["ami"], row["ami_sd"]
                reach = "inside" if gap <= 2 * sd else "outside"
                below.append([f"{TITLE[name]} {metric}", signed(-gap), number(sd), reach])
    if below:
        lines += ["Rows more than .02 below the paper. If the gap is within two standard deviations of our runs, the subset "
                  "or the seed can explain it. Otherwise the table above says whether other words or vectors do; a cause "
                  "that is not tested is not claimed.", "",
                  *table(["row", "gap", "sd of our runs", "within 2 sd"], below)]
    return lines


def per_value(grid, column, value):
    """Return the best AMI of the grid rows with this value."""
    found = [row[-2] for row in grid if row[column] == value]
    return number(max(found)) if found else ""


def sensitivity_section(found, plan):
    rows = []
    for name in SETS:
        for metric in METRICS:
            row = found[name, f"{metric}-paper"]
            if row is None:
                continue
            grid = row["grid"]
            choices = list(dict.fromkeys(g[0] for g in grid))
            parts = [f"{c.split(',')[1].strip(' )').strip(chr(39))} {per_value(grid, 0, c)}" for c in choices if "," in c]
            rows.append([f"{TITLE[name]} {metric}", *(per_value(grid, 1, str(t)) for t in plan["taus"]),
                         *(per_value(grid, 2, str(g)) for g in plan["gammas"]), "; ".join(parts)])
    heads = ["set, metric", *(f"tau {t}" for t in plan["taus"]), *(f"gamma x {g:g}" for g in plan["gammas"]),
             "epsilon or bandwidth"]
    return ["## Sensitivity", "", "Best AMI of the first run when one parameter is fixed and the others are free "
            "(`--paper`). The reference of lot is normal in all of them; the standard deviation of the text rows of lot is "
            "that over five draws of X_0.", "", *(table(heads, rows) if rows else [MISSING, ""])]


def time_section(found):
    rows = []
    for method in ("d2", *METRICS):
        cells = []
        for i, name in enumerate(SETS):
            row = found[name, method if method == "d2" else f"{method}-defaults"]
            ours = MISSING if row is None else f"{row['seconds']:g}" + (
                "" if method == "d2" else f" / {row['paper_seconds']:g}")
            cells.append(f"{SECONDS[method][i]:g}; {ours}")
        rows.append([method, *cells])
    return ["## Running time (seconds)", "", "The paper's seconds; CPU seconds of one run on one thread with the true K: "
            "defaults / `--paper` (d2: mean over K, one start).", "", *table(["method", *(TITLE[n] for n in SETS)], rows)]


def incomplete_section(found):
    rows = []
    for p, quoted in INCOMPLETE.items():
        cells = []
        for what in INCOMPLETE_WORDS:
            row = found["incomplete", f"{what}-{p}"]
            cells.append(MISSING if row is None else both(row) + (f" ({100 * row['solved']:.0f}% of the pairs)"
                                                                    if what == "columns" else ""))
        rows.append([f"{p}%", " / ".join(map(number, quoted)), *cells])
    commands = [joined(found["incomplete", f"{w}-10"]["command"]) for w in INCOMPLETE_WORDS if found["incomplete", f"{w}-10"]]
    return ["## Incomplete matrix: mmd on MNIST, AMI / ARI", "",
            *table(["pairs", "paper", "`--sample P --paper`", "`--sample P`", "`--sample-columns P`"], rows),
            "With `--paper`, missing pairs are no edges. Without it, the program estimates them. `--sample-columns` draws items "
            "at random and computes their whole columns, which are P (2 - P) of the pairs, not P.", "",
            *(["```sh", *commands, "```", ""] if commands else [])]


def noise_section(found, folder):
    sections, errors = [], {}
    for name, title in (("digits", "MNIST digits"), ("shapes", "the 40 shapes")):
        rows = []
        for key, _ in NOISY:
            row = found["noise", f"{name}-{key.replace(', ', '-').replace(' ', '-')}"]
            if row:
                errors[name, key] = row["errors"]
            rows.append([key, *(MISSING if row is None else signed(e) for e in (row["errors"][1:] if row else SIGMAS[1:]))])
        sections += [f"### {title[0].upper() + title[1:]}", "", *table(["D", *(f"sigma {s}" for s in SIGMAS[1:])], rows)]
    picture = figure.noise(errors, SIGMAS, EPSILONS) if any(n == "digits" for n, _ in errors) else None
    if picture and folder:
        (folder / "noise.svg").write_text(picture)
    return ["## Robustness against noise (appendix E)", "",
            "Each point moves by a normal step of size sigma. The value is the median over the pairs of (D_sigma - D_0) / D_0. "
            "mmd has bandwidth 1; its unbiased D is 0 where the estimate is negative, and pairs with D_0 = 0 are left out. "
            "\"W_eps\" is the paper's D; its root and the debiased divergence are shown next to it.", "",
            *(["![Relative error over sigma, MNIST digits](noise.svg)", ""] if picture else []), *sections]


def complexity_section(found):
    rows = [[m, f"O({COMPLEXITY[m]})", *([""] * 4 if m == "d2" else [MISSING] * 4 if found["complexity", m] is None else
                                         [found["complexity", m][k] for k in ("N_paper", "m_paper", "N", "m")])]
            for m in ("d2", *METRICS)]
    return ["## Time complexities", "", "Measured exponents of the CPU seconds of a whole run on Gaussian clouds: `--paper` and "
            "defaults. The searches prune and the graph is sparse, so no N^3 appears ([performance](performance.md)).", "",
            *table(["method", "paper", "N, `--paper`", "m, `--paper`", "N", "m"], rows)]


class Found(dict):
    """The stored rows; a name that does not exist is an error, a row that is not stored is None."""


def write(found, plan, folder):
    found = Found(found)
    lines = [*intro(plan), *claims.section(found, table), *protocol(plan), *shapes_section(found), *data_section(found)]
    for name in SETS:
        lines += set_section(found, name)
    lines += [*average_section(found), *difference_section(found), *sensitivity_section(found, plan), *time_section(found),
              *incomplete_section(found), *noise_section(found, folder), *complexity_section(found)]
    return "\n".join(lines).rstrip() + "\n"
