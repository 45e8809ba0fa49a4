#!/usr/bin/python3
"""What the defaults, which see no labels, lose against parameters picked with the labels.

    bench/defaults.py [--ddsc PROGRAM] [--data DIR] [--seeds 101,102,103,104,105] [--quick]

For each set and seed a fresh subset is drawn (images: 100 per class; documents: four of five), and for each
metric the program runs twice over the same distances: as a user would (`-k` the true number, everything
else left to the rules), and as the paper does (`--paper`, K in 5..10, tau in 5..30, gamma 1/median), of
which the best AMI by the true labels counts. The last lines say what is lost on average and how much of its
best each set keeps. Exit code 1 when more than 0.03 is lost on average or a set keeps less than 0.85.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
TAUS = (5, 10, 15, 20, 30)
IMAGES, TEXT = ("mnist", "fashion-mnist"), ("bbc", "bbcsport", "reuters5")
METRICS = {"images": ("mmd", "lot"), "text": ("w2", "mmd", "lot")}


def run(*words):
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True)
    if done.returncode not in (0, 4):
        sys.exit(f"{' '.join(map(str, words))}: {done.stderr}")
    return done.stdout


def documents(args, name, out):
    folder = f"{args.data}/text"
    words = [args.ddsc, "text", f"{folder}/{name}.tsv.gz", "--vectors",
             f"{folder}/glove.6B.100d.subset.txt.gz", "--stopwords", f"{folder}/stoplist2.txt",
             "--on-empty", "drop", "-q", "-o", out]
    if name == "reuters5":
        words += ["--text", "title,body", "--tokens", "letters", "--idf", "smooth", "--where",
                  "modapte=yes"]
    else:
        words += ["--text", "abstract"]
    run(*words)


def subset(path, out, seed):
    """Four of five items, by numpy: the program draws by class only."""
    z = np.load(path)
    at, n = z["offsets"], len(z["offsets"]) - 1
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


def make_sets(args, folder):
    """Pairs of a name and a function that makes the subset of a seed."""
    def image(name):
        def make(out, seed):
            where = f"{args.data}/{name}"
            run(args.ddsc, "convert", f"{where}/train-images-idx3-ubyte.gz", "--labels",
                f"{where}/train-labels-idx1-ubyte.gz", "--subset-per-class", 20 if args.quick else 100,
                "--seed", seed, "-q", "-o", out)
        return make

    def text(name):
        whole = f"{folder}/{name}.npz"
        documents(args, name, whole)
        return lambda out, seed: subset(whole, out, seed)

    for name in IMAGES:
        yield name, "images", image(name)
    for name in TEXT:
        yield name, "text", text(name)


def scores(args, path, metric, truth, folder, seed):
    """AMI of the defaults and the best of the paper's grid."""
    n_classes = len(set(truth))
    common = ["--metric", metric, "--seed", seed, "-q"]
    defaults = json.loads(run(args.ddsc, "cluster", path, "-k", n_classes, "--json", *common))
    matrix, labels = f"{folder}/d.npy", f"{folder}/truth.csv"
    run(args.ddsc, "distance", path, "--squared", "--force", "-o", matrix, *common)
    with open(labels, "w") as f:
        f.write("label\n" + "\n".join(map(str, truth)) + "\n")
    best, chosen = -1.0, None
    for tau in TAUS:
        done = json.loads(run(args.ddsc, "cluster", matrix, "--precomputed", "--squared-input", "--paper",
                              "-k", "5:10", "--tau", tau, "--truth", labels, "--json", "--seed", seed,
                              "-q"))
        for row in done["sweep"]:
            if row["scores"]["ami"] > best:
                best, chosen = row["scores"]["ami"], (row["k"], tau)
    return defaults["scores"]["ami"], best, chosen


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--ddsc", default=f"{HERE}/../build/ddsc")
    parser.add_argument("--data", default=f"{HERE}/../../shared/data")
    parser.add_argument("--seeds", default="101,102,103,104,105")
    parser.add_argument("--quick", action="store_true", help="one seed, 20 images a class")
    args = parser.parse_args()
    if not os.path.isdir(args.data):
        sys.exit(print("skipped: no folder of real data"))
    seeds = [int(s) for s in args.seeds.split(",")][: 1 if args.quick else None]
    lost, share = [], {}
    print(f"{'set':14} {'metric':6} {'defaults':>8} {'picked':>8} {'lost':>7}   picked K, tau")
    with tempfile.TemporaryDirectory() as folder:
        for name, kind, make in make_sets(args, folder):
            made = []
            for seed in seeds:
                made.append(f"{folder}/{name}-{seed}.npz")
                make(made[-1], seed)
            for metric in METRICS[kind]:
                rows = [scores(args, path, metric, np.load(path)["labels"], folder, seed)
                        for path, seed in zip(made, seeds)]
                mean, best = np.mean([r[0] for r in rows]), np.mean([r[1] for r in rows])
                lost += [r[1] - r[0] for r in rows]
                sums = share.setdefault(name, [0.0, 0.0])
                sums[0] += mean
                sums[1] += best
                print(f"{name:14} {metric:6} {mean:8.4f} {best:8.4f} {best - mean:7.4f}   "
                      + " ".join(f"{k},{tau}" for _, _, (k, tau) in rows), flush=True)
    kept = {name: mean / best for name, (mean, best) in share.items()}
    print(f"lost on average {np.mean(lost):.4f}, at most {max(lost):.4f}; kept of the picked AMI: "
          + ", ".join(f"{name} {value:.3f}" for name, value in kept.items()))
    sys.exit(0 if np.mean(lost) <= 0.03 and min(kept.values()) >= 0.85 else 1)


if __name__ == "__main__":
    main()
