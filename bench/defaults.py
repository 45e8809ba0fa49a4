#!/usr/bin/python3
"""Measures what the defaults, which use no labels, lose relative to parameters selected with labels.

    bench/defaults.py [--before PROGRAM] [--words general|fitted|own] [--metrics w2,mmd] [--sets corel,ng6]
                      [--seeds 101,102,103] [--options '--hubs off'] [--no-grid] [--quick]

For each set and seed, a random subset (images: 50 of each class; others: 80% of the items) is clustered with the true K
and defaults otherwise. The column shows the mean AMI over the seeds. For the first seed, the best AMI of a grid is also
shown: tau 5, 10, 20, 40 x gamma auto, median, and the variants of the metric below. --before runs another program (an
older build) on the same files. --options apply only to the program under test. Joined metrics (w2+mmd+lot) are
accepted, but no grid is searched for them. By default, text sets use the general word vectors. They have a separate
summary. The exit code is 1 if the mean loss relative to the grid exceeds 0.03 (mmd: 0.04). A run takes about 12 minutes
on two free cores. --quick uses one seed, w2 and mmd, and small sets.
"""
import argparse
import concurrent.futures
import itertools
import json
import os
import shlex
import subprocess
import sys
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
IMAGES = ("mnist", "fashion-mnist")
MORE = ("notmnist", "corel", "animals", "fingerprint")
TEXT = ("bbc", "bbcsport", "reuters5", "ng6")
QUICK = ("corel", "animals", "bbcsport")
METRICS = ("w2", "sinkhorn", "mmd", "lot")
VARIANTS = {"w2": [[]], "sinkhorn": [["--epsilon", "5%"], ["--epsilon", "1%"]],
            "mmd": [["--mmd-estimator", e, "--bandwidth", b] for e in ("biased", "unbiased") for b in ("near", "median")],
            "lot": [["--reference", "normal"], ["--reference", "kmeans"]]}
GRID = [["--tau", t, "--gamma", g] for t in (5, 10, 20, 40) for g in ("auto", "median")]


def run(*words):
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True)
    if done.returncode not in (0, 4):
        sys.exit(f"{' '.join(map(str, words))}: {done.stderr}")
    return done.stdout


def make_text(args, name, out):
    folder = f"{args.data}/text"
    path = f"{args.data}/more/ng6.tsv.gz" if name == "ng6" else f"{folder}/{name}.tsv.gz"
    column = {"reuters5": "title,body", "ng6": "text"}.get(name, "abstract")
    extra = ["--tokens", "letters", "--idf", "smooth", "--where", "modapte=yes"] if name == "reuters5" else []
    vectors = [] if args.words == "own" else ["--vectors", f"{folder}/glove.6B.100d.subset.txt.gz"]
    run(args.ddsc, "text", path, *vectors, "--stopwords", f"{folder}/stoplist2.txt", "--words", args.words, "--on-empty", "drop", "--text", column, *extra, "-q", "-o", out)


def four_of_five(path, out, seed):
    z = np.load(path, allow_pickle=False)
    at = z["offsets"]
    filled = np.flatnonzero(np.diff(at) > 0)
    keep = np.sort(np.random.default_rng(seed).choice(filled, int(0.8 * len(filled)), replace=False))
    entry = np.concatenate([np.arange(at[i], at[i + 1]) for i in keep])
    arrays = {"weights": z["weights"][entry], "labels": z["labels"][keep],
              "offsets": np.concatenate([[0], np.cumsum([at[i + 1] - at[i] for i in keep])])}
    if "indices" in z:
        arrays |= {"support": z["support"], "indices": z["indices"][entry]}
    else:
        arrays["points"] = z["points"][entry]
    np.savez(out, **arrays)


def make_subset(args, name, out, seed, folder):
    if name in IMAGES:
        where = f"{args.data}/{name}"
        return run(args.ddsc, "convert", f"{where}/train-images-idx3-ubyte.gz", "--labels",
                   f"{where}/train-labels-idx1-ubyte.gz", "--subset-per-class", 50, "--seed", seed, "-q", "-o", out)
    whole = f"{args.data}/more/{name}.npz" if name in MORE else f"{folder}/{name}.npz"
    if not os.path.exists(whole):
        make_text(args, name, whole)
    return four_of_five(whole, out, seed)


def ami(program, path, metric, truth, seed, options=()):
    found = run(program, "cluster", path, "-k", len(set(truth)), "--metric", metric, "--seed", seed, "--threads", 1,
                *options, "--json", "-q")
    return json.loads(found)["scores"]["ami"]


def picked(args, path, metric, truth, seed, folder):
    """Return the best AMI of the grid and its parameters. The distances of each variant are computed only once."""
    best, where, labels = -1.0, None, f"{folder}/truth.csv"
    with open(labels, "w", encoding="utf-8") as f:
        f.write("label\n" + "\n".join(map(str, truth)) + "\n")
    for variant in VARIANTS[metric]:
        matrix = f"{folder}/d.npy"
        run(args.ddsc, "distance", path, "--squared", "--force", "-o", matrix, "-q", "--metric", metric, *variant)

        def score(point):
            return json.loads(run(args.ddsc, "cluster", matrix, "--precomputed", "--squared-input", "-k", len(set(truth)),
                                  "--truth", labels, "--json", "--seed", seed, "--threads", 1, "-q", *point))["scores"]["ami"]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for value, point in zip(pool.map(score, GRID), GRID):
                if value > best:
                    best, where = value, " ".join(map(str, [*variant, *point]))
    return best, where


def one_row(args, name, metric, seeds, folder):
    paths = [f"{folder}/{name}-{s}.npz" for s in seeds]
    truths = [np.load(p)["labels"] for p in paths]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        def mean(program, options):
            got = [pool.submit(ami, program, p, metric, t, s, options) for p, t, s in zip(paths, truths, seeds)]
            return [g.result() for g in got]
        now = mean(args.ddsc, shlex.split(args.options))
        before = mean(args.before, []) if args.before else None
    best, where = (np.nan, "") if args.no_grid or "+" in metric else picked(args, paths[0], metric, truths[0], seeds[0], folder)
    row = {"now": np.mean(now), "before": np.mean(before) if before else np.nan, "first": now[0], "picked": best}
    print(f"{name:14} {metric:20} {row['now']:7.3f} {row['before']:7.3f} {row['first']:7.3f} {best:7.3f} "
          f"{best - now[0]:7.3f}  {where}", flush=True)
    return row


def sum_up(rows, metrics):
    """Print means by metric, separately for texts. Return True if the loss of a metric relative to the grid is too
    large."""
    bad = False
    for metric, (title, group) in itertools.product(metrics, (("points", IMAGES + MORE), ("texts", TEXT),
                                                              ("all", IMAGES + MORE + TEXT))):
        some = [rows[name, metric] for name in group if (name, metric) in rows]
        if not some:
            continue
        mean = {key: np.mean([r[key] for r in some]) for key in some[0]}
        lost = mean["picked"] - mean["first"]
        print(f"mean, {title:8} {metric:20} {mean['now']:7.3f} {mean['before']:7.3f} {mean['first']:7.3f} "
              f"{mean['picked']:7.3f} {lost:7.3f}")
        bad |= title == "all" and lost > (0.04 if metric == "mmd" else 0.03)
    return bad


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--ddsc", default=f"{HERE}/../build/ddsc")
    parser.add_argument("--data", default=os.environ.get("DDSC_DATA", f"{HERE}/../../shared/data"))
    parser.add_argument("--before", help="another program, for the second column")
    parser.add_argument("--words", default="general", help="vectors of texts: general (default), fitted or own")
    parser.add_argument("--metrics", default=",".join(METRICS))
    parser.add_argument("--sets", default=",".join(IMAGES + MORE + TEXT))
    parser.add_argument("--seeds", default="101,102,103")
    parser.add_argument("--options", default="", help="of cluster, for the program under test")
    parser.add_argument("--no-grid", action="store_true")
    parser.add_argument("--quick", action="store_true", help="one seed, three small sets, w2 and mmd")
    args = parser.parse_args()
    seeds = [int(s) for s in args.seeds.split(",")][: 1 if args.quick else None]
    metrics = ("w2", "mmd") if args.quick else args.metrics.split(",")
    rows = {}
    if not os.path.isdir(args.data):
        return print("skipped: no folder of real data")
    print(f"{'set':14} {'metric':20} {'now':>7} {'before':>7} {'first':>7} {'picked':>7} {'lost':>7}  picked by")
    with tempfile.TemporaryDirectory() as folder:
        for name in QUICK if args.quick else args.sets.split(","):
            for seed in seeds:
                make_subset(args, name, f"{folder}/{name}-{seed}.npz", seed, folder)
            for metric in metrics:
                rows[name, metric] = one_row(args, name, metric, seeds, folder)
    return int(sum_up(rows, metrics))


if __name__ == "__main__":
    sys.exit(main())
