#!/usr/bin/python3
"""Measures outlier detection on clean sets, in which every marked item is an error, and on sets with planted outliers.

    bench/outliers.py [--metrics mmd,w2,lot]

Clean sets are every third set without clusters of bench/verdict.py, shapes, and gaussians. Sets with planted outliers
have four clusters of 300 clouds in 2, 10 and 100 dimensions with six clouds at a distance of 12 or 18 from the center
of the clusters (points have standard deviation 1). The exit code is 1 if more than one clean item in 500 is marked, or
if fewer than nine of ten planted outliers are marked. A run takes about a minute on two free cores.
"""
import argparse
import csv
import os
import subprocess
import sys
import tempfile

import numpy as np

import common
import verdict


def clean_sets(ddsc, folder):
    for _, law, n, d, seed in verdict.plan()[::3]:
        rng = np.random.default_rng(seed)
        yield f"{law}-{n}-{d}", [verdict.cloud(law, d, rng) for _ in range(n)], 3, set()
    for name, k, items in (("shapes", 2, 150), ("gaussians", 3, 100)):
        common.cpu_of([ddsc, "generate", name, "--items", items, "-q", "-o", f"{folder}/{name}.npz"])
        yield name, f"{folder}/{name}.npz", k, set()


def planted_sets():
    rng = np.random.default_rng(5)
    for d in (2, 10, 100):
        for away in (6, 12):
            centers = rng.normal(size=(4, d)) * 6 / np.sqrt(d)
            clouds = [centers[i % 4] + rng.normal(size=(15, d)) for i in range(300)]
            moved = set(range(0, 240, 40))
            for i in moved:
                way = rng.normal(size=d)
                clouds[i] += centers.mean(0) - centers[i % 4] + (away + 6) * way / np.linalg.norm(way)
            yield f"planted-{d}-{away}", clouds, 4, moved


def marks(ddsc, path, k, metric, folder):
    out = f"{folder}/out"
    subprocess.run([ddsc, "cluster", path, "-k", str(k), "-m", metric, "-q", "-j", "1", "-o", out, "--force"],
                   check=True, capture_output=True)
    with open(f"{out}/items.csv", encoding="utf-8") as file:
        return {i for i, row in enumerate(csv.DictReader(file)) if row["is_outlier"] == "1"}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--ddsc", default=f"{common.BUILD}/ddsc")
    parser.add_argument("--metrics", default="mmd,w2,lot")
    args = parser.parse_args()
    count = {m: [0, 0, 0, 0, 0] for m in args.metrics.split(",")}  # clean items, marked; planted, found, wrong
    with tempfile.TemporaryDirectory() as folder:
        for name, clouds, k, moved in [*clean_sets(args.ddsc, folder), *planted_sets()]:
            path = clouds
            if not isinstance(clouds, str):
                path = os.path.join(folder, f"{name}.npz")
                common.write_items(path, [(np.ones(len(x)), x) for x in clouds])
            for metric, c in count.items():
                found = marks(args.ddsc, path, k, metric, folder)
                n = len(clouds) if not isinstance(clouds, str) else 300
                for at, more in enumerate([0, 0, len(moved), len(found & moved), len(found - moved)] if moved
                                          else [n, len(found), 0, 0, 0]):
                    c[at] += more
                if moved or found:
                    print(f"{name:22} {metric:5} marked {len(found)}" + (f", planted {len(moved)}" if moved else ""),
                          flush=True)
    print(f"{'metric':7} {'clean items':>12} {'marked':>7} {'planted':>8} {'found':>6} {'others marked':>14}")
    for metric, (n, wrong, planted, found, others) in count.items():
        print(f"{metric:7} {n:12} {wrong:7} {planted:8} {found:6} {others:14}")
    return int(any(c[1] > c[0] / 500 or c[3] < 0.9 * c[2] for c in count.values()))


if __name__ == "__main__":
    sys.exit(main())
