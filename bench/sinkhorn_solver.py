#!/usr/bin/python3
"""Entropic transport against POT's ot.sinkhorn2 on the same problems, one thread each, answers compared.

    bench/sinkhorn_solver.py [--build DIR] [--data DIR] [--only NAME]

Times are thread CPU seconds a problem, the ratio is that of the medians. Both run to 1e-9. POT runs its
plain kernel form where that neither underflows nor stalls, and its log form otherwise; it gets at most
5,000 iterations, and what it has not solved by then is printed as such and not compared.
"""
import argparse
import os
import subprocess
import sys
import tempfile
import time
import warnings

os.environ.setdefault("OMP_NUM_THREADS", "1")
import numpy as np
import ot

from common import BUILD, DATA, build_program, clouds, images, squared_distances


def suites(data, rng):
    for percent in (20, 5, 1, 0.1):
        yield "16 x 16, 100-d", percent, clouds(16, 16, 100, 10, rng)
        yield "40 x 40, 2-d", percent, clouds(40, 40, 2, 10, rng)
        yield "150 x 150, 2-d", percent, clouds(150, 150, 2, 5, rng)
        path = os.path.join(data, "mnist", "train-images-idx3-ubyte.gz")
        if os.path.exists(path):
            yield "mnist pairs", percent, images(path, 5, rng)
    yield "1,000 points, 2-d", 5, clouds(1000, 1000, 2, 1, rng)


def entropic(problems, percent):
    for a, x, b, y in problems:
        cost = squared_distances(x, y)
        yield a, b, cost, np.median(cost) * percent / 100


def time_pot(problems):
    seconds, values = [], []
    for a, b, cost, epsilon in problems:
        plain = cost.max() / epsilon < 600
        start = time.thread_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            plan, log = ot.sinkhorn(a, b, cost, epsilon, stopThr=1e-9, numItermax=5000, log=True,
                                    method="sinkhorn" if plain else "sinkhorn_log")
        seconds.append(time.thread_time() - start)
        error = abs(plan.sum(1) - a).sum() + abs(plan.sum(0) - b).sum()
        values.append((plan * cost).sum() if error < 1e-7 else np.nan)
    return np.array(seconds), np.array(values)


def time_ours(program, problems, repeats):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "problems")
        with open(path, "wb") as out:
            out.write(np.int64(len(problems)).tobytes())
            for a, b, cost, epsilon in problems:
                out.write(np.array(cost.shape, np.int64).tobytes() + np.float64(epsilon).tobytes())
                for part in (a, b, cost):
                    out.write(np.ascontiguousarray(part, float).tobytes())
        run = subprocess.run([program, path, str(repeats)], check=True, capture_output=True, text=True)
    return np.array([[float(x) for x in line.split()] for line in run.stdout.splitlines()])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default=BUILD)
    parser.add_argument("--data", default=DATA)
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    program = build_program(args.build, "sinkhorn_solver")
    print(f"{'problem':20s} {'epsilon':>8s} {'POT':>11s} {'ddsc':>10s} {'ratio':>7s} {'iterations':>10s} {'off by':>8s}")
    bad = False
    for name, percent, problems in suites(args.data, np.random.default_rng(0)):
        if args.only not in name:
            continue
        problems = list(entropic(problems, percent))
        pot, values = time_pot(problems)
        rows = time_ours(program, problems, max(1, 10**6 // problems[0][2].size))
        solved = np.isfinite(values)
        off = np.max(np.abs(rows[solved, 1] - values[solved]) / values[solved], initial=0)
        bad |= off > 1e-5 or rows[:, 3].max() > 1e-9
        missed = "" if solved.all() else f"  POT: {np.sum(~solved)} of {len(solved)} not converged"
        print(f"{name:20s} {percent:7g}% {1e3 * np.median(pot):9.3f}ms {1e3 * np.median(rows[:, 0]):8.4f}ms "
              f"{np.median(pot) / np.median(rows[:, 0]):7.0f} {np.median(rows[:, 4]):10.0f} {off:8.1e}{missed}",
              flush=True)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
