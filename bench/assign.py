#!/usr/bin/python3
"""Compares assigning new items to an earlier clustering with clustering the old and new items together.

    bench/assign.py [--ddsc PROGRAM] [--data DIR] [--sets mnist] [--metrics mmd] [--old 9000]
                    [--new 1000] [--k 10] [--seeds 1,2,3] [--least 0.95]

A random set of digits is split in two. `agree` is the fraction of the new items whose assigned label equals their label
in the joint clustering, after the best matching of cluster numbers. `old` is the same fraction for the old items
between their two clusterings, which shows the effect of changing the set. `own` is the fraction of the old items whose
assigned label equals their own label. The exit code is 1 if a mean of `agree` is below --least.
"""
import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
from scipy.optimize import linear_sum_assignment

HERE = os.path.dirname(os.path.abspath(__file__))


def run(args, *words):
    done = subprocess.run([args.ddsc, *map(str, words), "-q", "--progress", "none"],
                          capture_output=True, text=True)
    if done.returncode not in (0, 4):
        sys.exit(f"{' '.join(map(str, words))}: {done.stderr}")
    return done.stdout


def labels_of(path):
    with open(path) as f:
        return np.array([int(row["label"]) for row in csv.DictReader(f)])


def cut(path, rows, out):
    """Return the items `rows` of a set with a shared support."""
    z = np.load(path)
    at, index, weight = z["offsets"], z["indices"], z["weights"]
    parts = [slice(at[i], at[i + 1]) for i in rows]
    np.savez(out, support=z["support"], indices=np.concatenate([index[p] for p in parts]),
             weights=np.concatenate([weight[p] for p in parts]), labels=z["labels"][rows],
             offsets=np.concatenate([[0], np.cumsum([p.stop - p.start for p in parts])]))


def match(found, wanted, k):
    """Return the labels `found`, renumbered for the best agreement with `wanted`."""
    table = np.zeros((k, k))
    np.add.at(table, (found, wanted), 1)
    rows, columns = linear_sum_assignment(-table)
    return dict(zip(rows, columns))


def one(args, folder, metric, seed):
    every, old, new = (os.path.join(folder, f"{name}.npz") for name in ("all", "old", "new"))
    at = np.random.default_rng(seed).permutation(args.old + args.new)
    cut(every, at[:args.old], old)
    cut(every, at[args.old:], new)
    cut(every, at, os.path.join(folder, "joint.npz"))
    for name in ("old", "joint"):
        run(args, "cluster", os.path.join(folder, f"{name}.npz"), "-k", args.k, "--metric", metric,
            "-o", os.path.join(folder, name), "--force")
    model = os.path.join(folder, "old", "model.npz")
    together = labels_of(os.path.join(folder, "joint", "labels.csv"))
    apart = labels_of(os.path.join(folder, "old", "labels.csv"))
    report = json.loads(run(args, "assign", model, new, "--json", "-o", os.path.join(folder, "l.csv"),
                            "--force"))
    given = labels_of(os.path.join(folder, "l.csv"))
    run(args, "assign", model, old, "-o", os.path.join(folder, "o.csv"), "--force")
    own = labels_of(os.path.join(folder, "o.csv"))
    to = match(given, together[args.old:], args.k)
    fixed = match(apart, together[:args.old], args.k)
    agree = np.mean([to[c] == t for c, t in zip(given, together[args.old:])])
    change = np.mean([fixed[c] == t for c, t in zip(apart, together[:args.old])])
    solved = report["pairs"]["solved"] / report["pairs"]["pairs"]
    print(f"  {metric:9}{seed:5}{agree:9.3f}{change:9.3f}{np.mean(own == apart):9.3f}"
          f"{report['scores']['ami']:9.3f}{report['n_far']:6}{solved:9.3f}"
          f"{report['seconds']:9.2f}", flush=True)
    return agree


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ddsc", default=f"{HERE}/../build/ddsc")
    parser.add_argument("--data", default=os.environ.get("DDSC_DATA", f"{HERE}/../../shared/data"))
    parser.add_argument("--sets", default="mnist")
    parser.add_argument("--metrics", default="mmd")
    parser.add_argument("--old", type=int, default=9000)
    parser.add_argument("--new", type=int, default=1000)
    parser.add_argument("--k", type=int, default=10)
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--least", type=float, default=0.95)
    args = parser.parse_args()
    failed = False
    for name in args.sets.split(","):
        print(f"{name}: {args.old} old, {args.new} new, k = {args.k}")
        print("  metric    seed    agree      old      own   AMI new   far   solved  seconds")
        for metric in args.metrics.split(","):
            agree = []
            for seed in map(int, args.seeds.split(",")):
                with tempfile.TemporaryDirectory() as folder:
                    images = f"{args.data}/{name}/train-images-idx3-ubyte.gz"
                    run(args, "convert", images, "--labels",
                        f"{args.data}/{name}/train-labels-idx1-ubyte.gz", "--subset-per-class",
                        (args.old + args.new) // 10, "--seed", seed, "-o", f"{folder}/all.npz")
                    agree.append(one(args, folder, metric, seed))
            print(f"  {metric}: mean agreement {np.mean(agree):.3f}", flush=True)
            failed |= np.mean(agree) < args.least
    sys.exit(int(failed))


if __name__ == "__main__":
    main()
