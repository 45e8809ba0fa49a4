#!/usr/bin/python3
"""Compares entropic transport with POT's ot.sinkhorn in one run, with one thread each, and checks the results.

    bench/sinkhorn.py [--quick] [--parts pairs,sets] [--build DIR] [--data DIR] [--only NAME]
                      [--sets mnist,bbcsport,bbc,histograms] [--n 1000] [--epsilon 5] [--pot-pairs 60]

pairs: the solver alone on the same problems, to 1e-9. Times are thread CPU seconds per problem, and the ratio is the
ratio of the medians. POT uses its kernel form if that form neither underflows nor stalls, and otherwise its log form,
with at most 5,000 iterations. Problems that POT does not solve are marked and not compared. sets: times the full matrix
and the graph with tau = 10 of a set, to 1e-6, in CPU seconds of the whole command. These are compared with a loop over
all pairs with POT: the mean time of random pairs, without costs, times the number of pairs. Values are compared with
those of POT's plans at a tolerance of 1e-10, and every edge of the graph is compared with the full matrix. `histograms`
are 120 synthetic items over the same 500 points, solved with a tenth of the given epsilon.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings

os.environ.setdefault("OMP_NUM_THREADS", "1")
import numpy as np
import ot

from common import clouds, cpu_of, document_set, image_set, images, items_of, squared_distances

HERE = os.path.dirname(os.path.abspath(__file__))


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


def run_pairs(args):
    subprocess.run(["cmake", "--build", args.build, "--target", "bench_sinkhorn_solver"], check=True,
                   stdout=subprocess.DEVNULL)
    program = os.path.join(args.build, "bench", "bench_sinkhorn_solver")
    print(f"{'problem':20s} {'epsilon':>8s} {'POT':>11s} {'ddsc':>10s} {'ratio':>7s} {'iterations':>10s} {'off by':>8s}")
    good = True
    for name, percent, problems in suites(args.data, np.random.default_rng(0)):
        if args.only not in name or (args.quick and percent != 5):
            continue
        problems = list(entropic(problems, percent))
        pot, values = time_pot(problems)
        rows = time_ours(program, problems, max(1, 10**6 // problems[0][2].size))
        solved = np.isfinite(values)
        off = np.max(np.abs(rows[solved, 1] - values[solved]) / values[solved], initial=0)
        good &= off < 1e-5 and rows[:, 3].max() <= 1e-9
        missed = "" if solved.all() else f"  POT: {np.sum(~solved)} of {len(solved)} not converged"
        print(f"{name:20s} {percent:7g}% {1e3 * np.median(pot):9.3f}ms {1e3 * np.median(rows[:, 0]):8.4f}ms "
              f"{np.median(pot) / np.median(rows[:, 0]):7.0f} {np.median(rows[:, 4]):10.0f} {off:8.1e}{missed}",
              flush=True)
    return good


def pot_pair(data, i, j, epsilon, matrix):
    """Return the CPU seconds that POT takes at a tolerance of 1e-6, and the relative difference between our value and
    that of POT's plan at 1e-10 (NaN if POT does not converge)."""
    (a, x), (b, y) = data[i], data[j]
    a, b, cost = a / a.sum(), b / b.sum(), squared_distances(x, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.thread_time()
        ot.sinkhorn(a, b, cost, epsilon, stopThr=1e-6, numItermax=100000)
        spent = time.thread_time() - start
        plan = ot.sinkhorn(a, b, cost, epsilon, stopThr=1e-10, numItermax=10000)
    if abs(plan.sum(1) - a).sum() + abs(plan.sum(0) - b).sum() > 1e-8:
        return spent, np.nan
    mass = plan[plan > 0]
    value = (plan * cost).sum() + epsilon * (mass * np.log(mass / np.outer(a, b)[plan > 0])).sum()
    return spent, abs(matrix[i, j] - value) / value


def histograms(path, n=120, v=500):
    """Generate items, each of which is a bump over all v irregular points in three dimensions."""
    rng = np.random.default_rng(3)
    points = rng.normal(size=(v, 3))
    centers = rng.normal(size=(n, 1, 3))
    weights = np.exp(-((points - centers) ** 2).sum(2) / 2) * rng.gamma(1, size=(n, v)) + 1e-4
    np.savez(path, support=points, indices=np.tile(np.arange(v, dtype=np.int32), n), weights=weights.ravel(),
             offsets=v * np.arange(n + 1))


def make_set(args, name, path):
    if name == "histograms":
        histograms(path)
    elif name in ("mnist", "fashion-mnist"):
        image_set(args.ddsc, args.data, name, args.n, path)
    else:
        document_set(args.ddsc, args.data, name, path)


def run_set(args, name, scratch):
    path, square, graph = f"{scratch}/{name}.npz", f"{scratch}/{name}.npy", f"{scratch}/{name}.mtx"
    make_set(args, name, path)
    epsilon = args.epsilon / 10 if name == "histograms" else args.epsilon
    metric = ["--metric", "sinkhorn", "--epsilon", str(epsilon), "--tolerance", "1e-6", "--threads", "1",
              "--progress", "none", "--force"]
    full, _ = cpu_of([args.ddsc, "distance", path, "--squared", "-o", square, *metric])
    tau10, text = cpu_of([args.ddsc, "neighbors", path, "--tau", "10", "--json", "-o", graph, *metric])
    found, data, matrix = json.loads(text), items_of(path), np.load(square)
    rng, n = np.random.default_rng(1), len(data)
    samples = np.array([pot_pair(data, *rng.choice(n, 2, replace=False), epsilon, matrix)
                        for _ in range(args.pot_pairs)])
    pot = samples[:, 0].mean() * n * (n - 1) / 2
    np.fill_diagonal(matrix, np.inf)
    same = np.array_equal(np.sort(matrix, axis=1)[:, :10].ravel(), np.loadtxt(graph, comments="%", skiprows=1)[1:, 2])
    print(f"{name:14s} {n:5d} {pot:8.1f}s {full:8.2f}s {pot / full:7.0f} {tau10:8.2f}s {pot / tau10:7.0f} "
          f"{100 * found['solved'] / found['pairs']:7.2f}% {np.nanmax(samples[:, 1]):8.1e} "
          f"{'edges equal' if same else 'EDGES DIFFER'}", flush=True)
    return same and np.nanmax(samples[:, 1]) < 1e-6 and found["not_converged"] == 0


def run_sets(args):
    print(f"{'set':14s} {'N':>5s} {'POT':>9s} {'matrix':>9s} {'ratio':>7s} {'tau 10':>9s} {'ratio':>7s} "
          f"{'of pairs':>8s} {'off by':>8s}")
    with tempfile.TemporaryDirectory() as scratch:
        return all([run_set(args, name, scratch) for name in args.sets.split(",")])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(HERE, "..", "build"))
    parser.add_argument("--data", default=os.environ.get("DDSC_DATA", os.path.join(HERE, "../../shared/data")))
    parser.add_argument("--parts", default="pairs,sets")
    parser.add_argument("--only", default="", help="pairs: problems with this in their name")
    parser.add_argument("--sets", default="mnist,bbcsport,bbc,histograms")
    parser.add_argument("--n", type=int, default=1000)
    parser.add_argument("--epsilon", type=float, default=5.0)
    parser.add_argument("--pot-pairs", type=int, default=60)
    parser.add_argument("--quick", action="store_true", help="one epsilon, 200 images, 20 pairs by POT")
    args = parser.parse_args()
    args.ddsc = os.path.join(args.build, "ddsc")
    if args.quick:
        args.n, args.pot_pairs = min(args.n, 200), min(args.pot_pairs, 20)
    good = "pairs" not in args.parts or run_pairs(args)
    if "sets" in args.parts and not os.path.isdir(args.data):
        print(f"skipped: no data in {args.data}")
    elif "sets" in args.parts:
        good &= run_sets(args)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
