"""Writes docs/paper.md and docs/notes/paper-details.md from stored rows. Missing rows are shown as "not computed"."""
import numpy as np

from . import claims, figure
from .claims import best_of, difference
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


def block(commands):
    """Return commands as a code block. The documentation tests do not run it, because it needs the real data."""
    return ["<!-- not run: data -->", "```sh", *commands, "```", ""] if commands else []


def number(x, digits=3):
    text = f"{x:.{digits}f}"
    return text.replace("0.", ".", 1) if -1 < x < 1 else text


def signed(x):
    return ("+" if x >= 0 else "") + number(x)


def score(row, which="ami"):
    """Return the mean and, unless all runs agree, the standard deviation."""
    sd = row[which + "_sd"]
    return number(row[which]) + (f"±{number(sd)}" if sd >= .0005 else "")


def scores(row):
    return MISSING if row is None else f"{score(row)}/{score(row, 'ari')}"


def both(row):
    return MISSING if row is None else pair(row["ami"], row["ari"])


def pair(ami, ari, text=number):
    return f"{text(ami)}/{text(ari)}"


def intro(found, seconds):
    missing = sum(row is None for row in found.values())
    return ["# The paper's tables next to ours", "",
            "`./run paper` generates this page from stored rows (`./run paper --list`). Computing all rows takes about "
            f"{seconds:.0f} CPU seconds, which is {seconds / 7200:.1f} hours on two free cores" +
            (f"; {missing} of the {len(found)} rows have not been computed yet. " if missing else ". ") +
            "The paper is Wang, Qiao, Fan, \"Spectral Clustering for Discrete Distributions\". `ddsc help paper` lists every "
            "line of the paper's algorithms and every choice that the paper leaves open. Cells with two values contain AMI/ARI.", ""]


def protocol(plan):
    bandwidths = plan["bandwidths"]
    return ["## Protocol", "",
            f"As in the paper, K runs from 5 to 10, and the best K is chosen **using the labels**. Values are means over "
            f"{plan['runs']} runs ± their standard deviation. For text, each run uses a different seed (k-means, X_0 of lot). "
            f"For images, each run R uses a different random subset of {plan['per_class']} images per class (`-s R`).", "",
            "- **paper's algorithm**: `--paper`. Sinkhorn epsilon " + ", ".join(map(str, plan["epsilons"])) +
            " (the paper: 1 to 10). The paper does not state the other parameters; we use tau " +
            ", ".join(map(str, plan["taus"])) + "; gamma " + ", ".join(f"{g:g}" for g in plan["gammas"]) +
            " times 1/median D^2; bandwidth " + ", ".join(map(str, bandwidths["text"])) + " (text), " +
            ", ".join(map(str, bandwidths["image"])) + f" (images). The first run uses the whole grid, and the other runs "
            f"use only its best {plan['again']} settings.",
            "- **defaults**: `ddsc cluster FILE -m METRIC -k auto -s R` with fitted words and without labels. The chosen values of K are "
            "in parentheses. **True K**: the same with `-k 5` (text) or `-k 10` (images).",
            "- **best**: the highest AMI on this grid, with the paper's algorithm or the program's own, and with the paper's words "
            "or fitted words.",
            "- Baselines use the same K and tau. D2 and PD2 use 16 points per center, one start, and images merged to 32 points; "
            "the other runs use only the two best values of K of the first run. Rows with * are results of Huang et al. (2021), as quoted in "
            "the paper.", ""]


def data_section(found):
    rows = []
    for name in SETS:
        ours, quoted = found["data", name], DATA[name]
        values = [MISSING] * 4 if ours is None else [
            ours["n_items"], ours["d"], f"{ours['points_mean']:g} (at most {ours['points_max']})", ours["k"]]
        coverage = f"{100 * ours['coverage']:.0f}%" if ours and "coverage" in ours else ""
        rows.append([TITLE[name], "/".join(map(str, quoted)), *values, coverage])
    commands = [joined(found["data", name]["command"]) for name in SETS if found["data", name]]
    return ["## Data (Table 2)", "", *table(["set", "paper: N/d/n/K", "N", "d", "n", "K", "tokens with a vector"], rows),
            "Documents with fewer than 16 words have fewer than 16 points. For images, n is the number of non-zero pixels; the "
            "paper counts all 784. BBC and BBCSport use the abstracts and plain idf. Reuters uses title and body, runs of "
            "letters as words, smooth idf and the ModApte split, as in the code that the paper cites for its data. Words are "
            "not lemmatized unless stated. The vectors are 100-d GloVe, which may be redistributed (the paper: 300-d). The "
            "commands below create the files `NAME.npz`. With `--support=0`, they create `NAME-words.npz` (all words); without "
            "`--paper`, `NAME-fitted.npz`; and with `-s R`, `NAME-R.npz` (images).", "",
            *block(commands)]


def shapes_section(found):
    rows = []
    for m in (*BASELINES, *METRICS):
        row = found["synthetic", m]
        rows.append([m, "" if m not in SHAPES else number(SHAPES[m], 1),
                     *([MISSING] * 2 if row is None else [score(row), score(row["defaults"])])])
    command = joined(found["synthetic", "w2"]["command"]) if found["synthetic", "w2"] else MISSING
    return ["## Shapes (Table 1, Figure 2), AMI", "", *table(["method", "paper", "paper's algorithm", "defaults"], rows),
            f"The command for w2 is `{command}`. `ddsc demo` draws the figure; `--paper` gives the same labels.", "",
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
            paper = pair(*quoted[method]) if source in (None, "mean", "pixels") else ""
            rows.append([title, paper, scores(row), "", "", ""])
            if row:
                commands.append(joined(row["command"]))
        if name in TEXTS and method in STARRED:
            rows.append([BASELINE_TITLE[method] + "*", number(STARRED[method][TEXTS.index(name)]), "", "", "", ""])
    for metric in METRICS:
        row, plain, best = found[name, f"{metric}-paper"], found[name, f"{metric}-defaults"], best_of(found, name, metric)
        ks = "/".join(map(str, sorted(set(plain["ks"])))) if plain else ""
        rows.append([f"**{metric}**", pair(*quoted[metric]), f"**{scores(row)}**" if row else MISSING,
                     both(plain) + (f" ({ks})" if plain else ""), both(plain["true_k"]) if plain else MISSING, both(best)])
        if row:
            commands.append(joined(row["command"]))
        if best and best is not row:
            commands.append(joined(best["command"]))
    heads = ["method", "paper", "paper's algorithm", "defaults", "true K", "best"]
    return [f"## {TITLE[name]}", "", *table(heads, rows), *block(commands)]


def average_section(found):
    """Return the section "Average Score": means over the three text sets and over the two image sets."""
    rows = []
    for sets, title in ((TEXTS, "text"), (IMAGES, "images")):
        for method in (*BASELINES, *METRICS):
            if any(method not in SCORES[n] for n in sets):
                continue
            quoted = np.mean([SCORES[n][method] for n in sets], axis=0) if sets is IMAGES else AVERAGE[method]
            cells = [pair(*quoted)]
            source = {"kmeans": "mean", "sc": "mean"} if sets is TEXTS else {"kmeans": "pixels", "sc": "pixels"}
            names = [f"{method}-{source[method]}" if method in source else method] if method in BASELINES else \
                [f"{method}-{what}" for what in ("paper", "defaults")]
            for key in names:
                cells.append(mean_of([found[n, key] for n in sets]))
            cells += ["", ""] if method in BASELINES else [mean_of([best_of(found, n, method) for n in sets])]
            rows.append([f"{BASELINE_TITLE.get(method, method)}, {title}", *cells])
            if sets is TEXTS and method in STARRED:
                rows.append([f"{BASELINE_TITLE[method]}*, text", number(STARRED[method][3]), "", "", ""])
    return ["## Average Score", "", *table(["method", "paper", "paper's algorithm", "defaults", "best"], rows),
            "K-means and SC use mean vectors and pixels. In the paper, the averages for lot and the average ARI for w2 differ "
            "slightly from the means of the rows.", ""]


def mean_of(rows):
    return MISSING if None in rows else pair(*(np.mean([r[k] for r in rows]) for k in ("ami", "ari")))


def difference_section(found):
    rows = []
    for metric in METRICS:
        changes = [difference(found, name, metric) for name in SETS]
        rows.append([metric, *(MISSING if c is None else pair(*c, signed) for c in changes)])
    return ["## Differences from the paper (`--paper` minus published values)", "",
            *table(["metric", *(TITLE[n] for n in SETS)], rows),
            "The [notes](notes/paper-details.md) contain the tested causes of these differences, the sensitivity to "
            "each parameter, the effect of noise (appendix E), and measured time complexities.", ""]


CAUSES = {"lemmas": "lemmas", "300": "300-d", "fitted": "fitted", "50": "50-d"}


def tested_changes(found, name, metric, below):
    """Return the change of AMI for each tested cause: None if it was not computed, and "" if the cause does not apply. For
    rows that are not below the paper, only lemmas and X_0 were tested."""
    def change(applies, key, before, after):
        if not applies:
            return ""
        row = found["causes", f"{name}-{key}"]
        try:
            return after(row) - before(row) if row else None
        except KeyError:  # the row was computed when this metric needed no cause
            return None

    text, image = name in TEXTS, name in IMAGES
    changes = [change(text and (below or v == "lemmas"), v, lambda r: r["before"][metric][0], lambda r: r["after"][metric][0])
               for v in CAUSES]
    changes.append(change(text and metric == "lot", "reference", lambda r: r["fitted"][0], lambda r: r["standard"][0]))
    changes.append(change(image and below, "subsets", lambda r: found[name, f"{metric}-paper"]["ami"],
                          lambda r: r[metric]["ami"]))
    return changes


def explained(gap, changes, titles):
    """Return the tested causes that reduce the gap to at most .02."""
    if any(c is None for c in changes):
        return MISSING
    found = [t for c, t in zip(changes, titles) if c != "" and gap + c >= -.02]
    return ", ".join(found) if found else "none of these"


def cause_lines(found):
    titles = [*CAUSES.values(), "X_0", "subsets"]
    rows = []
    for name in SETS:
        for metric in METRICS:
            row, change = found[name, f"{metric}-paper"], difference(found, name, metric)
            below = change is not None and change[0] < -.02
            if not below and name in IMAGES:
                continue
            changes = tested_changes(found, name, metric, below)
            cells = [MISSING if c is None else c if c == "" else signed(c) for c in changes]
            rows.append([f"{TITLE[name]} {metric}", MISSING if change is None else signed(change[0]),
                         MISSING if row is None else number(row["ami_sd"]), *cells,
                         explained(change[0], changes, titles) if below else ""])
    coverage = {n: found["data", n].get("coverage_300") for n in TEXTS if found["data", n]}
    share = ", ".join(f"{100 * c:.0f}% ({TITLE[n]})" for n, c in coverage.items() if c)
    return ["## Causes of the differences", "", "The table shows how the AMI changes if a single setting is changed. "
            "*lemmas*: plural nouns become singular (Debian's `wordnet-base`). *300-d*: word2vec, the only 300-d vectors that "
            f"were available; they cover few tokens ({share or MISSING}) and do not replace the paper's GloVe. *fitted*: GloVe "
            "fitted to the documents. *50-d*: the first 50 principal components of the 100-d vectors. *X_0*: standard normal "
            "reference. *subsets*: ten other random subsets with the same settings. For text, the AMI before and after the change is the best "
            "for K from 5 to 10 and tau 10 or 20. For rows more than .02 below the paper, the last column lists the changes that reduce the "
            "difference to .02 or less.",
            "", *table(["row", "difference", "sd", *titles, "explained by"], rows)]


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
            parts = [f"{c.split(',')[1].strip(' )').strip(chr(39))}:{per_value(grid, 0, c)}" for c in choices if "," in c]
            rows.append([f"{TITLE[name]} {metric}", *(per_value(grid, 1, str(t)) for t in plan["taus"]),
                         *(per_value(grid, 2, str(g)) for g in plan["gammas"]), " ".join(parts)])
    heads = ["set, metric", *(f"tau {t}" for t in plan["taus"]), *(f"gamma*{g:g}" for g in plan["gammas"]),
             "epsilon or bandwidth"]
    return ["## Sensitivity", "", "The table shows the best AMI of the first run if one parameter is fixed and the "
            "others vary (`--paper`). All rows for lot use the normal reference. For text, the standard deviation of lot is computed over "
            "five draws of X_0.", "", *(table(heads, rows) if rows else [MISSING, ""])]


def time_section(found):
    rows = []
    for method in ("d2", *METRICS):
        cells = []
        for i, name in enumerate(SETS):
            ours = [found[name, "d2"]] if method == "d2" else [found["time", f"{name}-{method}"]] * 2 + [
                found[name, f"{method}-defaults"]]
            keys = ("seconds",) if method == "d2" else ("full", "pruned", "seconds")
            times = ["-" if r is None else f"{r[k]:.2g}" if r[k] < 10 else f"{r[k]:.0f}" for r, k in zip(ours, keys)]
            cells.append(f"{SECONDS[method][i]:g}; {'/'.join(times)}")
        rows.append([method, *cells])
    return ["## Running time (seconds)", "", "Each cell contains the paper's time, followed by three times measured with ddsc (CPU "
            "seconds, one thread). The first is the time of the distance matrix of all pairs, as the paper computes it (for w2 and "
            "sinkhorn, extrapolated from a subset). The other two are the times of a whole run at the true K: with `--paper`, "
            "which skips pairs, and with the defaults. A dash means that the time was not measured. For d2, the time is that of one run, "
            "with one start, averaged over K.", "",
            *table(["method", *(TITLE[n] for n in SETS)], rows)]


def incomplete_section(found):
    rows = []
    for p, quoted in INCOMPLETE.items():
        cells = []
        for what in INCOMPLETE_WORDS:
            row = found["incomplete", f"{what}-{p}"]
            cells.append(MISSING if row is None else both(row) + (f" ({100 * row['solved']:.0f}%)" if what == "columns" else ""))
        rows.append([f"{p}%", pair(*quoted), *cells])
    commands = [joined(found["incomplete", f"{w}-10"]["command"]) for w in INCOMPLETE_WORDS if found["incomplete", f"{w}-10"]]
    return ["## Incomplete matrix: mmd on MNIST", "",
            *table(["pairs", "paper", "`--sample P --paper`", "`--sample P`", "`--sample-columns P`"], rows),
            "With `--paper`, pairs that were not computed are not edges. Without `--paper`, the program estimates their distances. "
            "`--sample-columns` selects random items and computes their distances to all items, that is, for a fraction P (2 - P) "
            "of all pairs. This percentage is in parentheses.", "",
            *block(commands)]


def short(key):
    """Return a short name such as "W_eps(5)" for "W_eps, epsilon 5"."""
    name, comma, epsilon = key.partition(", epsilon ")
    return f"{name.split()[0]}({epsilon})" if comma else key


def noise_section(found, folder):
    sections, errors = [], {}
    for name, title in (("digits", "MNIST digits"), ("shapes", "the 40 shapes")):
        rows = []
        for key, _ in NOISY:
            row = found["noise", f"{name}-{key.replace(', ', '-').replace(' ', '-')}"]
            if row:
                errors[name, key] = row["errors"]
            rows.append([short(key), *(MISSING if row is None else signed(e) for e in (row["errors"][1:] if row else SIGMAS[1:]))])
        sections += [f"### {title[0].upper() + title[1:]}", "", *table(["D", *(f"sigma {s}" for s in SIGMAS[1:])], rows)]
    picture = figure.noise(errors, SIGMAS, EPSILONS) if any(n == "digits" for n, _ in errors) else None
    if picture and folder:
        (folder / "noise.svg").write_text(picture)
    return ["## Robustness against noise (appendix E)", "",
            "Normal noise with standard deviation sigma is added to each point. Each value is the median of (D_sigma - D_0) / D_0 "
            "over the pairs. mmd uses bandwidth 1; its unbiased D is 0 if the estimate is negative, and pairs with D_0 = 0 are "
            "omitted. W_eps(5) is the paper's D with epsilon 5, root(5) is its square root, and debiased(5) is the debiased "
            "divergence.", "",
            *(["![Relative error over sigma, MNIST digits](../noise.svg)", ""] if picture else []), *sections]


def complexity_section(found):
    rows = []
    for m in ("d2", *METRICS):
        row, keys = found["complexity", m], ("N_paper", "m_paper", "N", "m")
        rows.append([m, f"O({COMPLEXITY[m]})", *(MISSING if row is None else row.get(k, "") for k in keys)])
    return ["## Time complexities", "", "The table shows measured exponents of the CPU time of whole runs on Gaussian clouds, "
            "with `--paper` and with the defaults. No exponent reaches 3, because the searches skip pairs and the graph is "
            "sparse ([performance](../performance.md)).", "",
            *table(["method", "paper", "N, `--paper`", "m, `--paper`", "N", "m"], rows)]


def write(found, plan, seconds):
    """Return the page. `found` contains the stored rows, or None for missing rows; `seconds` is their total CPU time."""
    lines = [*intro(found, seconds), *claims.section(found, table), *protocol(plan), *shapes_section(found),
             *data_section(found)]
    for name in SETS:
        lines += set_section(found, name)
    lines += [*average_section(found), *difference_section(found), *time_section(found), *incomplete_section(found)]
    return "\n".join(lines).rstrip() + "\n"


def details(found, plan, folder):
    """Return the page of further tables. If `folder` is not None, noise.svg is written there."""
    lines = ["# The paper's tables: further comparisons", "",
             "`./run paper` generates this page together with [the paper's tables](../paper.md), which describes the protocol.", "",
             *cause_lines(found), *sensitivity_section(found, plan), *noise_section(found, folder), *complexity_section(found)]
    return "\n".join(lines).rstrip() + "\n"
