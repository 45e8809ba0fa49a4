#!/usr/bin/python3
"""The exact tau-nearest-neighbour graph against all pairs by POT, one thread each, in one run.

    bench/exact_graph.py [--ddsc PROGRAM] [--data DIR] [--sets mnist,fashion-mnist,bbc,bbcsport]
                         [--n 1000] [--tau 5,10,20] [--growth] [--verify 250] [--pot-pairs 200]

POT's time for all pairs is its mean over randomly drawn pairs of the same set times their number (a
full run takes hours); the costs are not charged to POT. Of ddsc the CPU time of the whole command is
taken, reading and writing included. `--verify V` compares the pruned graph of the first V items with the
full one, and some of its values with POT. `--growth` repeats N = 250, 500, ... up to --n.
"""
import argparse
import gzip
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")
import numpy as np
import ot

HERE = os.path.dirname(os.path.abspath(__file__))


def cpu_of(command):
    """CPU seconds and standard output of a finished child."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stderr}")
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, done.stdout


def images(args, name, n, out):
    folder = f"{args.data}/{name}"
    cpu_of([args.ddsc, "convert", f"{folder}/train-images-idx3-ubyte.gz", "--labels",
            f"{folder}/train-labels-idx1-ubyte.gz", "--subset-per-class", str(n // 10), "--seed", "1",
            "-q", "--force", "-o", out])


def documents(args, name, out):
    folder = f"{args.data}/text"
    cpu_of([args.ddsc, "text", f"{folder}/{name}.tsv.gz", "--vectors",
            f"{folder}/glove.6B.100d.subset.txt.gz", "--text", "abstract", "--stopwords",
            f"{folder}/stoplist2.txt", "--on-empty", "drop", "-q", "--force", "-o", out])


def items(path):
    z = np.load(path)
    support = z["support"] if "support" in z else z["points"]
    index = z["indices"] if "indices" in z else np.arange(len(support))
    at = z["offsets"]
    return [(z["weights"][a:b], support[index[a:b]].astype(float)) for a, b in zip(at, at[1:])]


def cost(x, y):
    return ((x[:, None] - y[None]) ** 2).sum(-1)


def pot_mean(data, count, rng):
    """Mean seconds of one ot.emd2 on random pairs."""
    spent = []
    for _ in range(count):
        i, j = rng.choice(len(data), 2, replace=False)
        c = cost(data[i][1], data[j][1])
        a, b = (w / w.sum() for w in (data[i][0], data[j][0]))
        start = time.thread_time()
        ot.emd2(a, b, c)
        spent.append(time.thread_time() - start)
    return float(np.mean(spent))


def graph(args, path, tau, mode, out):
    cpu, text = cpu_of([args.ddsc, "neighbors", path, "--tau", str(tau), "--exact-graph", mode,
                        "--threads", "1", "--json", "--progress", "none", "--force", "-o", out])
    return cpu, json.loads(text)


def edges(path):
    lines = [line for line in open(path) if not line.startswith("%")]
    return np.array([[float(x) for x in line.split()] for line in lines[1:]])


def verify(args, path, tau, scratch):
    """Pruned against full, and values against POT, on the first items."""
    data = items(path)[: args.verify]
    small = f"{scratch}/small.npz"
    sizes = [len(w) for w, _ in data]
    np.savez(small, points=np.concatenate([x for _, x in data]),
             weights=np.concatenate([w for w, _ in data]), offsets=np.concatenate([[0], np.cumsum(sizes)]))
    graph(args, small, tau, "full", f"{scratch}/full.mtx")
    graph(args, small, tau, "pruned", f"{scratch}/pruned.mtx")
    same = open(f"{scratch}/full.mtx").read() == open(f"{scratch}/pruned.mtx").read()
    worst = 0.0
    for row, column, d2 in edges(f"{scratch}/full.mtx")[:: max(1, len(data) * tau // 50)]:
        (a, x), (b, y) = data[int(row) - 1], data[int(column) - 1]
        exact = ot.emd2(a / a.sum(), b / b.sum(), cost(x, y))
        worst = max(worst, abs(d2 - exact) / max(exact, 1e-12))
    return ("edges equal" if same else "EDGES DIFFER"), worst


def run_set(args, name, scratch, rng):
    path = f"{scratch}/{name}.npz"
    sizes = [args.n]
    if args.growth and name in ("mnist", "fashion-mnist"):
        sizes = [n for n in (250, 500, 1000, 2000, 4000) if n <= args.n]
    for n in sizes:
        if name in ("mnist", "fashion-mnist"):
            images(args, name, n, path)
        else:
            documents(args, name, path)
        data = items(path)
        pairs = len(data) * (len(data) - 1) // 2
        one = pot_mean(data, args.pot_pairs, rng)
        for tau in args.tau:
            cpu, found = graph(args, path, tau, "auto", f"{scratch}/graph.mtx")
            print(f"{name:14s} {len(data):6d} {tau:4d} {1e3 * one:9.3f} {one * pairs:10.1f} {cpu:8.2f} "
                  f"{one * pairs / cpu:8.1f} {found['solved'] / len(data):8.1f} "
                  f"{100 * found['solved'] / pairs:7.2f}%", flush=True)
    if args.verify:
        word, worst = verify(args, path, args.tau[0], scratch)
        print(f"{name:14s} verified on {args.verify} items: {word}, largest relative difference to POT "
              f"{worst:.1e}")
        return word == "edges equal" and worst < 1e-9
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ddsc", default=f"{HERE}/../build/ddsc")
    parser.add_argument("--data", default=os.environ.get("DDSC_DATA", f"{HERE}/../../shared/data"))
    parser.add_argument("--sets", default="mnist,fashion-mnist,bbc,bbcsport")
    parser.add_argument("--n", type=int, default=1000)
    parser.add_argument("--tau", default="5,10,20", type=lambda s: [int(t) for t in s.split(",")])
    parser.add_argument("--pot-pairs", type=int, default=200)
    parser.add_argument("--verify", type=int, default=150)
    parser.add_argument("--growth", action="store_true")
    args = parser.parse_args()
    if not os.path.isdir(args.data):
        print(f"skipped: no data in {args.data}")
        return 0
    rng = np.random.default_rng(1)
    print(f"{'set':14s} {'N':>6s} {'tau':>4s} {'POT ms':>9s} {'POT all s':>10s} {'ddsc s':>8s} {'ratio':>8s} "
          f"{'solves/i':>8s} {'of pairs':>8s}")
    with tempfile.TemporaryDirectory() as scratch:
        good = [run_set(args, name, scratch, rng) for name in args.sets.split(",")]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
