#!/usr/bin/python3
"""Compares MMD and LOT with NumPy and POT and with the limit of the machine in the same run, and checks the results.

    bench/kernels.py [--build DIR] [--data DIR] [--quick]

The MMD job is the whole distance stage (bandwidth, terms within items, graph with tau = 12; without reading) of the BBC
documents with all words. It is compared with a lower limit, one sgemm of the distinct points with themselves plus one
vectorized exp per entry (NumPy, warm memory), and with a NumPy loop over pairs (mean of random pairs times their
number). The LOT job is the embedding and graph of 1,000 Fashion-MNIST images. It is compared with ot.emd (mean over
some images times their number), followed by all distances in NumPy. Times are the shortest CPU seconds of several runs
on one thread. The last column is the wall time on two threads.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(name, "1")
import numpy as np
import ot
from scipy.spatial.distance import cdist

from common import BUILD, DATA, build_program, cpu_of, image_set, items_of

TAU = 12


def best(repeats, work):
    seconds = []
    for _ in range(repeats):
        start = time.thread_time()
        work()
        seconds.append(time.thread_time() - start)
    return min(seconds)


def stage(program, path, metric, repeats):
    one = subprocess.run([program, path, metric, str(TAU), str(repeats), "1"], check=True, capture_output=True, text=True)
    two = subprocess.run([program, path, metric, str(TAU), str(repeats), "2"], check=True, capture_output=True, text=True)
    cpu, _, megabytes = map(float, one.stdout.split())
    return cpu, float(two.stdout.split()[1]), megabytes


def floor(path, repeats):
    """Time sgemm of the support table with itself, and exp of as many floats."""
    x = np.load(path)["support"].astype(np.float32)
    gram = np.zeros((len(x), len(x)), np.float32)
    product = best(repeats, lambda: np.matmul(x, x.T, out=gram))
    gram.fill(-1.0)
    return product, best(1, lambda: np.exp(gram, out=gram))


def mmd_pair(x, y, h):
    (a, x), (b, y) = x, y
    return a @ np.exp(cdist(x, y, "sqeuclidean") / (-2 * h * h)) @ b


def mmd_self(item, h):
    a, x = item
    kernel = np.exp(cdist(x, x, "sqeuclidean") / (-2 * h * h))
    np.fill_diagonal(kernel, 0)
    return a @ kernel @ a / (1 - a @ a) if len(a) > 1 else 1.0


def numpy_loop(data, h, count, rng):
    pairs = rng.integers(0, len(data), (count, 2))
    seconds = best(3, lambda: [mmd_pair(data[i], data[j], h) for i, j in pairs]) / count
    return seconds * len(data) * (len(data) - 1) / 2


def mmd_graph(args, path, scratch):
    out = f"{scratch}/graph.mtx"
    told = cpu_of([args.ddsc, "neighbors", path, "--metric", "mmd", "--tau", TAU, "--json", "--progress", "none", "--force",
                   "-o", out])[1]
    edges = np.loadtxt(out, comments="%")[1:]  # without the line that contains the sizes
    return json.loads(told)["bandwidth"], edges[np.argsort(edges[:, 1], kind="stable")]


def verify_mmd(data, edges, h, rng):
    """Check some edges with NumPy, and check that some rows contain the nearest items."""
    worst = 0.0
    for i in rng.choice(len(data), 3, replace=False):
        self_i = mmd_self(data[i], h)
        row = np.array([self_i + mmd_self(y, h) - 2 * mmd_pair(data[i], y, h) for y in data])
        row[i] = np.inf
        mine = edges[edges[:, 1] == i + 1]
        worst = max(worst, np.max(np.abs(np.sort(mine[:, 2]) - np.sort(row)[: len(mine)])))
    return worst


def bench_mmd(args, program, scratch, rng):
    folder = f"{args.data}/text"
    bbc = f"{scratch}/bbc.npz"
    cpu_of([args.ddsc, "text", f"{folder}/bbc.tsv.gz", "--vectors", f"{folder}/glove.6B.100d.subset.txt.gz", "--paper", "--text",
            "abstract", "--stopwords", f"{folder}/stoplist2.txt", "--on-empty", "drop", "--support", 0, "-q", "-o", bbc])
    image_set(args.ddsc, args.data, "mnist", 1000, f"{scratch}/mnist.npz")
    good = True
    for name, path in (("BBC", bbc), ("MNIST", f"{scratch}/mnist.npz")):
        data = items_of(path)
        h, edges = mmd_graph(args, path, scratch)
        product, exps = floor(path, 3)
        cpu, wall, megabytes = stage(program, path, "mmd", 2 if args.quick else 5)
        loop = numpy_loop(data, h, 300 if args.quick else 2000, rng)
        off = verify_mmd(data, edges, h, rng)
        good &= off < 1e-12
        print(f"mmd {name:8s} N {len(data):5d}  ddsc {cpu:7.3f} s  limit {product + exps:7.3f} s (sgemm {product:.3f}, exp "
              f"{exps:.3f})  ratio to floor {cpu / (product + exps):5.2f}  NumPy loop {loop:8.1f} s  ratio {loop / cpu:7.0f}  "
              f"peak {megabytes:.0f} MB  off by {off:.1e}  two threads {wall:.3f} s", flush=True)
    return good


def lot_by_pot(data, reference, count, rng):
    """Return rows of the embedding of some items and the CPU seconds per item."""
    weights = np.full(len(reference), 1 / len(reference))
    which = rng.choice(len(data), count, replace=False)
    rows = []
    start = time.thread_time()
    for i in which:
        b, y = data[i]
        plan = ot.emd(weights, b, ot.dist(reference, y), numItermax=10**7)
        rows.append(((len(reference) * plan @ y - reference) / np.sqrt(len(reference))).ravel())
    return which, np.array(rows), (time.thread_time() - start) / count


def all_distances(z):
    norms = (z * z).sum(1)
    d2 = norms[:, None] + norms[None, :] - 2 * z @ z.T
    np.fill_diagonal(d2, np.inf)
    return np.argpartition(d2, TAU, axis=1)


def bench_lot(args, program, scratch, rng):
    path = f"{scratch}/fashion.npz"
    image_set(args.ddsc, args.data, "fashion-mnist", 1000, path)
    data = items_of(path)
    size = round(np.mean([len(a) for a, _ in data]))
    pooled = np.concatenate([y for _, y in data])
    reference = pooled.mean(0) + pooled.std(0) * rng.normal(size=(size, 2))
    np.savez(f"{scratch}/reference.npz", points=reference, weights=np.ones(size), offsets=np.array([0, size]))
    cpu_of([args.ddsc, "embed", path, "--reference", f"{scratch}/reference.npz", "-q", "-o", f"{scratch}/z.npy"])
    z = np.load(f"{scratch}/z.npy")
    which, rows, one = lot_by_pot(data, reference, 20 if args.quick else 100, rng)
    off = np.max(np.abs(z[which] - rows)) / np.max(np.abs(rows))
    pot = one * len(data) + best(2, lambda: all_distances(z))
    cpu, wall, megabytes = stage(program, path, "lot", 1 if args.quick else 3)
    print(f"lot Fashion  N {len(data):5d}  ddsc {cpu:7.3f} s  POT + NumPy {pot:8.2f} s  ratio {pot / cpu:5.1f} (CPU)  "
          f"peak {megabytes:.0f} MB  off by {off:.1e}  two threads {wall:.3f} s, ratio {pot / wall:5.1f}", flush=True)
    return off < 1e-9


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=BUILD)
    parser.add_argument("--data", default=DATA)
    parser.add_argument("--quick", action="store_true")
    args = parser.parse_args()
    if not os.path.isdir(args.data):
        print(f"skipped: no data in {args.data}")
        return 0
    args.ddsc = os.path.join(args.build, "ddsc")
    program = build_program(args.build, "kernels")
    rng = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as scratch:
        good = [bench_mmd(args, program, scratch, rng), bench_lot(args, program, scratch, rng)]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
