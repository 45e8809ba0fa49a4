#!/usr/bin/python3
"""Measures how the time for exact neighbor graphs of MNIST digits grows, under W2 and under Sinkhorn.

    bench/exact_growth.py [--ddsc PROGRAM] [--data DIR] [--sizes 1000,2000,4000] [--tau 10] [--threads 1]
                          [--rows 3] [--metrics w2,sinkhorn]

For each N, a random subset of the 70,000 digits (with the same shuffle for all) is passed to `ddsc neighbors`. CPU time
and memory are measured for the whole command. Independent code then checks `--rows` random rows. For W2, POT solves
every pair that is not excluded by lower bounds from the means and from the row and column marginals. For Sinkhorn,
NumPy iterates on all digits at once. A digit is discarded when its dual value proves that it is not a neighbor, and the
remaining ones are iterated until convergence. Neighbors and values are compared. The last lines show the exponents
log(time ratio) / log(N ratio) between the first and the last size.
"""
import argparse
import gzip
import json
import math
import os
import resource
import struct
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")
import numpy as np
import ot

HERE = os.path.dirname(os.path.abspath(__file__))
SIDE = 28


def digits(folder):
    parts = [gzip.open(f"{folder}/mnist/{name}-images-idx3-ubyte.gz").read()[16:] for name in ("train", "t10k")]
    return np.frombuffer(b"".join(parts), np.uint8).reshape(-1, SIDE, SIDE)


def write_idx(path, images):
    with open(path, "wb") as out:
        out.write(struct.pack(">4i", 2051, len(images), SIDE, SIDE))
        out.write(images.tobytes())


def peak_mb(pid):
    """Track the peak memory of a running child process. Memory that it used before it started the program is not
    counted."""
    try:
        lines = [line for line in open(f"/proc/{pid}/status") if line.startswith("VmHWM")]
    except OSError:
        return 0
    return int(lines[0].split()[1]) / 1024 if lines else 0


def run(command):
    """Return standard output, CPU seconds and peak MB of a child process."""
    before, peak = resource.getrusage(resource.RUSAGE_CHILDREN), 0
    with tempfile.TemporaryFile("w+") as out:
        child = subprocess.Popen(command, stdout=out)
        while child.poll() is None:
            peak = max(peak, peak_mb(child.pid))
            time.sleep(0.02)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if child.returncode != 0:
            sys.exit(f"{' '.join(command)}: status {child.returncode}")
        out.seek(0)
        text = out.read()
    return text, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, peak


def read_rows(path, wanted):
    """Return {item: [(d2, neighbor), ...]} of the requested columns."""
    found = {i: [] for i in wanted}
    with open(path) as lines:
        lines = (line for line in lines if not line.startswith("%"))
        next(lines)
        for line in lines:
            row, column, value = line.split()
            if int(column) - 1 in found:
                found[int(column) - 1].append((float(value), int(row) - 1))
    return found


def compare_rows(i, row, near, exact):
    """Return a message, or None if the row is correct. `exact` contains the values of all items that may be
    neighbors."""
    last = max(value for value, _ in row)
    for value, j in row:
        if j not in exact or abs(exact[j] - value) > 1e-8 * max(value, 1):
            return f"item {i}: neighbor {j} at {value}, not {exact.get(j)}"
    missed = [j for j in near if exact[j] < last * (1 - 1e-8) and j not in {k for _, k in row}]
    return f"item {i}: {missed} are nearer than the last neighbor" if missed else None


class SinkhornOracle:
    """Compute rows of the regularized value. The kernel is a product over the axes, and the dual value of any f with its
    soft c-transform is at most the value."""

    def __init__(self, images, epsilon):
        self.mass, self.epsilon = images / images.sum((1, 2), keepdims=True, dtype=float), epsilon
        step = np.arange(SIDE)
        self.kernel = np.exp(-((step[:, None] - step) ** 2) / epsilon)

    def apply(self, u):
        return self.kernel @ u @ self.kernel

    def differs(self, i, row):
        a, last = self.mass[i], max(value for value, _ in row)
        near = np.delete(np.arange(len(self.mass)), i)
        u, passes = np.ones((len(near), SIDE, SIDE)), 0
        while passes < 4000:
            b = self.mass[near]
            for _ in range(10 if passes < 60 else 100):
                v = 1 / self.apply(a * u)
                u = 1 / self.apply(b * v)
            passes += 10 if passes < 60 else 100
            v = 1 / self.apply(a * u)
            value = self.epsilon * ((a * np.log(u)).sum((1, 2)) + (b * np.log(v)).sum((1, 2)))
            kept = value <= last * (1 + 1e-8)
            near, u, value = near[kept], u[kept], value[kept]
            error = np.abs(u * self.apply(self.mass[near] / self.apply(a * u)) - 1) * a
            if error.sum((1, 2)).max(initial=0) < 1e-7:
                break
        return compare_rows(i, row, near, dict(zip(near.tolist(), value)))


class Oracle:
    """Compute exact rows independently: two simple bounds, then POT."""

    def __init__(self, images):
        self.mass = images.astype(float)
        self.mass /= self.mass.sum((1, 2), keepdims=True)
        self.cdf = np.concatenate([np.cumsum(self.mass.sum(k), 1) for k in (2, 1)], 1)
        self.at = np.stack(np.meshgrid(range(SIDE), range(SIDE), indexing="ij"), -1).reshape(-1, 2).astype(float)
        self.mean = self.mass.reshape(-1, SIDE * SIDE) @ self.at

    def bounds(self, i):
        # Moving a unit of mass k whole steps along an axis costs k^2 >= k.
        return np.maximum(np.abs(self.cdf - self.cdf[i]).sum(1), ((self.mean - self.mean[i]) ** 2).sum(1))

    def distance(self, i, j):
        a, b = (self.mass[k].ravel() for k in (i, j))
        x, y = a > 0, b > 0
        cost = ((self.at[x][:, None] - self.at[y][None]) ** 2).sum(-1)
        return ot.emd2(a[x] / a[x].sum(), b[y] / b[y].sum(), cost)

    def differs(self, i, row):
        bound, last = self.bounds(i), max(value for value, _ in row)
        near = [j for j in np.flatnonzero(bound <= last * (1 + 1e-9)) if j != i]
        exact = {j: self.distance(i, j) for j in near}
        return compare_rows(i, row, near, exact)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ddsc", default=f"{HERE}/../build/ddsc")
    parser.add_argument("--data", default=os.environ.get("DDSC_DATA", f"{HERE}/../../shared/data"))
    parser.add_argument("--sizes", default="1000,2000,4000", type=lambda s: [int(n) for n in s.split(",")])
    parser.add_argument("--tau", type=int, default=10)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rows", type=int, default=3)
    parser.add_argument("--metrics", default="w2,sinkhorn", type=lambda s: s.split(","))
    args = parser.parse_args()
    if not os.path.isdir(args.data):
        print(f"skipped: no data in {args.data}")
        return 0
    images = digits(args.data)
    order = np.random.default_rng(1).permutation(len(images))
    times, good = {metric: [] for metric in args.metrics}, True
    print(f"{'metric':9s} {'N':>6s} {'CPU s':>8s} {'us/pair':>8s} {'solves/item':>11s} {'bounds/item':>12s} {'MB':>6s}  rows")
    with tempfile.TemporaryDirectory() as scratch:
        for n, metric in ((n, metric) for n in args.sizes for metric in args.metrics):
            part = images[order[:n]]
            write_idx(f"{scratch}/part-images-idx3-ubyte", part)
            text, cpu, peak = run([args.ddsc, "neighbors", f"{scratch}/part-images-idx3-ubyte", "--metric", metric,
                                   "--tau", str(args.tau), "--threads", str(args.threads), "--json", "--progress",
                                   "none", "--force", "-o", f"{scratch}/graph.mtx"])
            found = json.loads(text)
            rows = np.random.default_rng(n).choice(n, min(args.rows, n), replace=False).tolist()
            oracle = Oracle(part) if metric == "w2" else SinkhornOracle(part, found["epsilon"])
            wrong = [oracle.differs(i, row) for i, row in read_rows(f"{scratch}/graph.mtx", rows).items()]
            wrong = [message for message in wrong if message]
            good = good and not wrong
            times[metric].append(cpu)
            print(f"{metric:9s} {n:6d} {cpu:8.2f} {1e6 * cpu / found['pairs']:8.2f} {found['solved'] / n:11.1f} "
                  f"{found['details']['bounds_dual'] / n:12.1f} {peak:6.0f}  "
                  f"{'; '.join(wrong) or f'{len(rows)} as from scratch'}", flush=True)
    for metric, spent in times.items():
        if len(spent) > 1:
            print(f"{metric}: exponent {math.log(spent[-1] / spent[0]) / math.log(args.sizes[-1] / args.sizes[0]):.2f}")
    if {"w2", "sinkhorn"} <= times.keys():
        print("sinkhorn over w2: " + " ".join(f"{s / w:.2f}" for s, w in zip(times["sinkhorn"], times["w2"])))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
