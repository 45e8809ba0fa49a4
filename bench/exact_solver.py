#!/usr/bin/python3
"""Exact transport against POT's ot.emd2 on the same problems, one thread each, answers compared.

    bench/exact_solver.py [--build DIR] [--data DIR] [--only NAME] [--quick]

Times are thread CPU seconds a problem, the best of a few batches; the ratio is that of the medians. `cost` solves a bare cost
matrix (what POT is given), `items` the same pair from its points (POT is not charged for the costs).
"""
import argparse
import gzip
import os
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")
import numpy as np
import ot

HERE = os.path.dirname(os.path.abspath(__file__))


def images(path, count, rng):
    with gzip.open(path) as f:
        raw = np.frombuffer(f.read(), np.uint8, offset=16).reshape(-1, 28, 28)
    for k in rng.choice(len(raw), 2 * count, replace=False).reshape(-1, 2):
        pair = []
        for image in raw[k]:
            points = np.argwhere(image > 0).astype(float)
            weights = image[image > 0].astype(float)
            pair += [weights / weights.sum(), points]
        yield pair


def clouds(n, m, d, count, rng, uniform=False):
    for _ in range(count):
        a, b = (np.ones(n), np.ones(m)) if uniform else (rng.random(n) + 0.1, rng.random(m) + 0.1)
        shape = np.diag(rng.uniform(0.5, 2, d)) @ np.linalg.qr(rng.normal(size=(d, d)))[0]
        yield [a / a.sum(), rng.normal(size=(n, d)), b / b.sum(), rng.normal(size=(m, d)) @ shape + 0.5]


def suites(data, rng, quick):
    few = 1 if quick else 3
    yield "16 x 16, 100-d", 100, 40, clouds(16, 16, 100, 40, rng)
    for name in ("mnist", "fashion-mnist"):
        path = os.path.join(data, name, "train-images-idx3-ubyte.gz")
        if os.path.exists(path):
            yield name + " pairs", 3 if name == "mnist" else 1, 20, images(path, 20, rng)
    yield "1,000 points, 2-d", 1, few, clouds(1000, 1000, 2, few, rng)
    yield "1,000 points, 10-d", 1, few, clouds(1000, 1000, 10, few, rng)
    yield "1,000 uniform, 2-d", 1, few, clouds(1000, 1000, 2, few, rng, True)
    if not quick:
        yield "4,000 points, 2-d", 1, 1, clouds(4000, 4000, 2, 1, rng)
        yield "4,000 points, 10-d", 1, 1, clouds(4000, 4000, 10, 1, rng)


def squared_distances(x, y):
    cost = np.zeros((len(x), len(y)))
    for k in range(x.shape[1]):
        cost += (x[:, k, None] - y[None, :, k]) ** 2
    return cost


def write(path, problems):
    with open(path, "wb") as out:
        out.write(np.int64(len(problems)).tobytes())
        for a, x, b, y in problems:
            out.write(np.array([len(a), len(b), x.shape[1]], np.int64).tobytes())
            for part in (a, b, x, y):
                out.write(np.ascontiguousarray(part, float).tobytes())


def time_pot(problems):
    """Best of five batches, or of three solves where one takes long."""
    seconds, values = [], []
    for a, x, b, y in problems:
        cost = squared_distances(x, y)
        repeats = 20 if cost.size < 1000 else 1
        best = np.inf
        for _ in range(5 if cost.size < 300000 else 3 if cost.size < 3000000 else 1):
            start = time.thread_time()
            for _ in range(repeats):
                value = ot.emd2(a, b, cost, numItermax=10**8)
            best = min(best, (time.thread_time() - start) / repeats)
        seconds.append(best)
        values.append(value)
    return np.array(seconds), np.array(values)


def time_ours(program, problems, repeats):
    out = {}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "problems")
        write(path, problems)
        for how in ("cost", "items"):
            run = subprocess.run([program, path, str(repeats), how], check=True, capture_output=True, text=True)
            out[how] = np.array([[float(x) for x in line.split()[1:]] for line in run.stdout.splitlines()])
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default=os.path.join(HERE, "..", "build"))
    parser.add_argument("--data", default=os.environ.get("DDSC_DATA", os.path.join(HERE, "../../shared/data")))
    parser.add_argument("--only", default="")
    parser.add_argument("--quick", action="store_true")
    args = parser.parse_args()
    subprocess.run(["cmake", "--build", args.build, "--target", "bench_exact_solver"], check=True,
                   stdout=subprocess.DEVNULL)
    program = os.path.join(args.build, "bench", "bench_exact_solver")
    print(f"{'problem':22s} {'how':6s} {'POT':>10s} {'ddsc':>10s} {'ratio':>7s} {'pivots':>8s} {'gap':>8s} {'off by':>8s}")
    bad = False
    for name, repeats, count, problems in suites(args.data, np.random.default_rng(0), args.quick):
        if args.only not in name:
            continue
        problems = list(problems)[:count]
        pot, values = time_pot(problems)
        for how, rows in time_ours(program, problems, repeats).items():
            off = np.max(np.abs(rows[:, 1] - values) / values)
            bad |= off > 1e-9 or rows[:, 2].max() > 1e-12
            print(f"{name:22s} {how:6s} {1e3 * np.median(pot):8.3f}ms {1e3 * np.median(rows[:, 0]):8.4f}ms "
                  f"{np.median(pot) / np.median(rows[:, 0]):7.1f} {np.median(rows[:, 3]):8.0f} "
                  f"{rows[:, 2].max():8.1e} {off:8.1e}", flush=True)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
