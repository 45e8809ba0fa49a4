#!/usr/bin/python3
"""Finds the sizes at which one path becomes faster than another on this machine, and lists the thresholds of the
tuning.h files.

    bench/tuning.py [--build DIR] [--quick]

For each question, both paths are measured on one thread (CPU seconds), and their results are compared. The crossover is
the smallest x at and above which the second path is faster. The last column shows the current behavior of the program
and the file that defines it.
"""
import argparse
import collections
import subprocess
import sys

from common import BUILD, build_program

# Maps each question to (path that is faster for small x, path that is faster for large x, current behavior).
QUESTIONS = {
    "distances of points, by dimension": ("differences", "products",
                                          "differences up to 16 (POINTS_MAX_DIRECT, src/distance/cost)"),
    "w2 pair, by points per item": ("tiles", "pair by pair",
                                    "tiny problems up to 16 points; tiles share costs from 17 dimensions on (src/distance/exact)"),
    "w2 pair of 16 words, by dimension": ("pair by pair", "tiles",
                                          "costs of whole tiles from 17 dimensions on (PRODUCT_DIM, src/distance/exact)"),
    "sinkhorn pair, by points per item": ("tiles", "pair by pair",
                                          "problem groups for small items (src/distance/sinkhorn)"),
    "eigenvectors, K = 10": ("dense", "block iteration", "dense_below of src/cluster/spectral, DENSE_MOST of src/numeric/eigen"),
    "w2, images": ("all pairs", "pruned", "always pruned"),
    "w2, clouds of 60 points in space": ("all pairs", "pruned", "always pruned"),
    "w2, documents of 16 words": ("all pairs", "pruned", "always pruned"),
    "sinkhorn, images": ("all pairs", "pruned", "pruned on a grid, or with 48 points and a small epsilon (src/neighbors/metric)"),
    "mmd, images": ("all pairs", "prefilter", "prefilter from 2,000 items on (PREFILTER_ITEMS, src/neighbors/planner)"),
    "lot, images": ("all pairs", "prefilter", "prefilter from 2,000 items on (PREFILTER_ITEMS, src/neighbors/planner)"),
}


def crossover(rows, small, large):
    """Return the smallest x at and above which `large` is faster."""
    wins = [x for x in sorted(rows) if rows[x][large] < rows[x][small]]
    tail = [x for x in sorted(rows) if all(y in wins for y in rows if y >= x)]
    if not tail:
        return f"above {max(rows)}"
    return f"at most {tail[0]}" if tail[0] == min(rows) else str(tail[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=BUILD)
    parser.add_argument("--quick", action="store_true")
    args = parser.parse_args()
    program = build_program(args.build, "tuning")
    tables = collections.defaultdict(lambda: collections.defaultdict(dict))
    run = subprocess.Popen([program] + (["quick"] if args.quick else []), stdout=subprocess.PIPE, text=True)
    for line in run.stdout:
        question, x, path, seconds = line.rstrip("\n").split("|")
        tables[question][int(x)][path] = float(seconds)
    if run.wait() != 0:
        sys.exit("tuning: the program failed, or two paths gave different results")
    for question, rows in tables.items():
        small, large, today = QUESTIONS[question]
        print(f"\n{question}: {large} from {crossover(rows, small, large)} on; today: {today}")
        for x in sorted(rows):
            times = ", ".join(f"{path} {seconds:.3g} s" for path, seconds in rows[x].items())
            print(f"  {x:>6}: {times}")


if __name__ == "__main__":
    main()
