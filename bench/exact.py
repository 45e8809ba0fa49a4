#!/usr/bin/python3
"""Compares exact transport with POT in one run, with one thread each, and checks every result.

    bench/exact.py [--quick] [--parts solver,pairs,graph,growth] [--sets mnist,fashion-mnist,bbc,bbcsport,reuters5]
                   [--metric w2|w1] [--tau 5,10,20] [--n 1000] [--pot-pairs 200] [--verify 100] [--build DIR] [--data DIR]

solver  single problems: ot.emd2 on a cost matrix, and our solver on the same matrix (`cost`) and from the
        points (`items`; the time of POT excludes the costs). Times are thread CPU times, the shortest of a few batches
        per problem. The ratio is the ratio of the medians.
pairs   the whole command `ddsc distance` (best of three), and a loop over a sample of the same pairs (best of
        three): ot.dist and ot.emd2, and ot.emd2 alone with precomputed costs.
graph   the whole command `ddsc neighbors` (with reading and writing, median of three), and all pairs with POT:
        its mean over random pairs (best of three each) times the number of pairs, without costs. For the first items,
        edges are compared with those of the full matrix, and values with those of POT. With --metric w1, costs are
        plain distances, and the graph contains squared results.
growth  the graph for N = 250 .. 4,000 images, with the exponent of the time between consecutive sizes.

All times are CPU seconds. The exit code is 1 if a value differs by more than 1e-9 or an edge differs. Parts that need
public data sets are skipped if the sets are missing.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")
import numpy as np
import ot

from common import (BUILD, DATA, build_program, clouds, cpu_of, document_set, image_set, images, items_of,
                    squared_distances, write_items)

IMAGES = ("mnist", "fashion-mnist")


# ---- one problem ----

def suites(args, rng):
    few = 1 if args.quick else 3
    yield "16 x 16, 100-d", 100, clouds(16, 16, 100, 40, rng)
    for name in IMAGES:
        path = f"{args.data}/{name}/train-images-idx3-ubyte.gz"
        if os.path.exists(path):
            yield f"{name} pairs", 3 if name == "mnist" else 1, images(path, 10 if args.quick else 20, rng)
    yield "1,000 points, 2-d", 1, clouds(1000, 1000, 2, few, rng)
    yield "1,000 points, 10-d", 1, clouds(1000, 1000, 10, few, rng)
    yield "1,000 uniform, 2-d", 1, clouds(1000, 1000, 2, few, rng, True)
    if not args.quick:
        yield "4,000 points, 2-d", 1, clouds(4000, 4000, 2, 1, rng)
        yield "4,000 points, 10-d", 1, clouds(4000, 4000, 10, 1, rng)


def write_problems(path, problems):
    with open(path, "wb") as out:
        out.write(np.int64(len(problems)).tobytes())
        for a, x, b, y in problems:
            out.write(np.array([len(a), len(b), x.shape[1]], np.int64).tobytes())
            for part in (a, b, x, y):
                out.write(np.ascontiguousarray(part, float).tobytes())


def time_pot(problems):
    """Return the shortest time of five batches, or of three solves if a solve takes long."""
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


def part_solver(args, scratch, rng):
    program = build_program(args.build, "exact_solver")
    path = f"{scratch}/problems"
    print(f"\n{'problem':22s} {'how':6s} {'POT':>10s} {'ddsc':>10s} {'ratio':>7s} {'pivots':>8s} {'gap':>8s} "
          f"{'off by':>8s}")
    good = True
    for name, repeats, problems in suites(args, rng):
        problems = list(problems)
        pot, values = time_pot(problems)
        write_problems(path, problems)
        for how in ("cost", "items"):
            run = subprocess.run([program, path, str(repeats), how], check=True, capture_output=True, text=True)
            rows = np.array([[float(x) for x in line.split()[1:]] for line in run.stdout.splitlines()])
            off = np.max(np.abs(rows[:, 1] - values) / values)
            good &= bool(off <= 1e-9 and rows[:, 2].max() <= 1e-12)
            print(f"{name:22s} {how:6s} {1e3 * np.median(pot):8.3f}ms {1e3 * np.median(rows[:, 0]):8.4f}ms "
                  f"{np.median(pot) / np.median(rows[:, 0]):7.1f} {np.median(rows[:, 3]):8.0f} "
                  f"{rows[:, 2].max():8.1e} {off:8.1e}", flush=True)
    return good


# ---- all pairs ----

def pair_sets(args, scratch, rng):
    path = f"{scratch}/pairs.npz"
    n = 300 if args.quick else 600
    write_items(path, [(rng.random(16) + 0.1, rng.normal(size=(16, 100))) for _ in range(n)])
    yield "16 x 16, 100-d", path
    write_items(path, [(rng.random(16) + 0.1, rng.normal(size=(16, 2))) for _ in range(n)])
    yield "16 x 16, 2-d", path
    for name in ("bbc", "bbcsport"):
        if name in args.sets and os.path.isdir(f"{args.data}/text"):
            document_set(args.ddsc, args.data, name, path)
            write_items(path, items_of(path)[:n])
            yield f"{name} documents", path


def best_of(call):
    """Return the shortest thread CPU time of three runs, because other load on the machine only adds time."""
    best = np.inf
    for _ in range(3):
        start = time.thread_time()
        call()
        best = min(best, time.thread_time() - start)
    return best


def time_loop(data, pairs):
    """Return the mean seconds per pair of a loop over ot.dist and ot.emd2 and of a loop over ot.emd2 alone, and the
    values for costs that were computed without cancellation."""
    costs = [squared_distances(data[i][1], data[j][1]) for i, j in pairs]

    def whole():
        for i, j in pairs:
            ot.emd2(data[i][0], data[j][0], ot.dist(data[i][1], data[j][1]))

    def alone():
        return [ot.emd2(data[i][0], data[j][0], cost) for (i, j), cost in zip(pairs, costs)]

    return best_of(whole) / len(pairs), best_of(alone) / len(pairs), np.array(alone())


def part_pairs(args, scratch, rng):
    print(f"\n{'all pairs of':22s} {'N':>6s} {'dist+emd2':>10s} {'emd2':>10s} {'ddsc':>10s} {'ratio':>7s} "
          f"{'ratio':>7s} {'off by':>8s}")
    good, out = True, f"{scratch}/distances.npy"
    for name, path in pair_sets(args, scratch, rng):
        data = items_of(path)
        n = len(data)
        pairs = [rng.choice(n, 2, replace=False) for _ in range(10 * args.pot_pairs)]
        whole, alone, values = time_loop(data, pairs)
        command = [args.ddsc, "distance", path, "--squared", "--threads", 1, "-q", "--force", "-o", out]
        one = min(cpu_of(command)[0] for _ in range(3)) / (n * (n - 1) / 2)
        ours = np.load(out)
        off = max(abs(ours[i, j] - v) / max(v, 1e-12) for (i, j), v in zip(pairs, values))
        good &= bool(off <= 1e-9)
        print(f"{name:22s} {n:6d} {1e6 * whole:8.1f}us {1e6 * alone:8.1f}us {1e6 * one:8.2f}us {whole / one:7.1f} "
              f"{alone / one:7.1f} {off:8.1e}", flush=True)
    return good


# ---- graphs ----

def costs_of(args, x, y):
    squared = squared_distances(x, y)
    return np.sqrt(np.maximum(squared, 0)) if args.metric == "w1" else squared


def pot_mean(args, data, count, rng):
    """Return the mean seconds of one ot.emd2 on random pairs."""
    spent = 0.0
    for _ in range(count):
        i, j = rng.choice(len(data), 2, replace=False)
        cost = costs_of(args, data[i][1], data[j][1])
        spent += best_of(lambda: ot.emd2(data[i][0], data[j][0], cost))
    return spent / count


def graph(args, path, tau, mode, out):
    cpu, text = cpu_of([args.ddsc, "neighbors", path, "--metric", args.metric, "--tau", tau, "--exact-graph", mode, "--threads", 1, "--json",
                        "--progress", "none", "--force", "-o", out])
    return cpu, json.loads(text)


def verify(args, path, tau, scratch):
    """For the first items, compare the pruned graph with the full graph, and its values with POT."""
    data, small = items_of(path)[: args.verify], f"{scratch}/small.npz"
    write_items(small, data)
    text = []
    for mode in ("full", "pruned"):
        graph(args, small, tau, mode, f"{scratch}/{mode}.mtx")
        with open(f"{scratch}/{mode}.mtx") as f:
            text.append([line for line in f if not line.startswith("%")])
    worst = 0.0
    for line in text[0][1:: max(1, len(data) * tau // 50)]:
        row, column, d2 = (float(word) for word in line.split())
        (a, x), (b, y) = data[int(row) - 1], data[int(column) - 1]
        exact = ot.emd2(a, b, costs_of(args, x, y))
        exact = exact * exact if args.metric == "w1" else exact
        worst = max(worst, abs(d2 - exact) / max(exact, 1e-12))
    return text[0] == text[1], worst


def make_set(args, name, n, path):
    if name in IMAGES:
        image_set(args.ddsc, args.data, name, n, path)
    else:
        document_set(args.ddsc, args.data, name, path)


def print_graph(name, n, tau, one, cpu, found, last=""):
    pairs = n * (n - 1) / 2
    print(f"{name:14s} {n:6d} {tau:4d} {1e3 * one:9.3f} {one * pairs:10.1f} {cpu:8.2f} {one * pairs / cpu:8.1f} "
          f"{found['solved'] / n:8.1f} {100 * found['solved'] / pairs:7.2f}% {last}", flush=True)


def print_graph_head(last=""):
    print(f"\n{'set':14s} {'N':>6s} {'tau':>4s} {'POT ms':>9s} {'POT all s':>10s} {'ddsc s':>8s} {'ratio':>8s} "
          f"{'solves/i':>8s} {'of pairs':>8s} {last}")


def part_graph(args, scratch, rng):
    good, path = True, f"{scratch}/graph.npz"
    print_graph_head()
    for name in args.sets:
        make_set(args, name, args.n, path)
        data = items_of(path)
        one = pot_mean(args, data, args.pot_pairs, rng)
        for tau in args.tau:
            runs = [graph(args, path, tau, "auto", f"{scratch}/graph.mtx") for _ in range(args.repeats)]
            print_graph(name, len(data), tau, one, np.median([cpu for cpu, _ in runs]), runs[0][1])
        if args.verify:
            same, worst = verify(args, path, args.tau[0], scratch)
            good &= same and worst <= 1e-9
            print(f"{name:14s} first {args.verify} items: {'edges equal' if same else 'EDGES DIFFER'}, values off by "
                  f"at most {worst:.1e}", flush=True)
    return good


def part_growth(args, scratch, rng):
    path = f"{scratch}/growth.npz"
    print_graph_head("exponent")
    for name in [name for name in args.sets if name in IMAGES]:
        one, last = None, None
        for n in (250, 500, 1000) if args.quick else (250, 500, 1000, 2000, 4000):
            make_set(args, name, n, path)
            one = one or pot_mean(args, items_of(path), args.pot_pairs, rng)
            cpu, found = graph(args, path, 10, "auto", f"{scratch}/graph.mtx")
            exponent = f"{np.log2(cpu / last):8.2f}" if last else ""
            print_graph(name, n, 10, one, cpu, found, exponent)
            last = cpu
    return True


def parse():
    def words(text):
        return text.split(",")

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", type=words, default=["solver", "pairs", "graph", "growth"])
    parser.add_argument("--sets", type=words, default=["mnist", "fashion-mnist", "bbc", "bbcsport", "reuters5"])
    parser.add_argument("--metric", choices=("w2", "w1"), default="w2", help="of the parts graph and growth")
    parser.add_argument("--tau", type=lambda text: [int(t) for t in words(text)])
    parser.add_argument("--n", type=int)
    parser.add_argument("--pot-pairs", type=int)
    parser.add_argument("--verify", type=int)
    parser.add_argument("--quick", action="store_true", help="smaller sets, tau 10 alone: under two minutes")
    parser.add_argument("--build", default=BUILD)
    parser.add_argument("--data", default=DATA)
    args = parser.parse_args()
    defaults = {"tau": [10], "n": 500, "pot_pairs": 50, "verify": 60} if args.quick else {
        "tau": [5, 10, 20], "n": 1000, "pot_pairs": 200, "verify": 100}
    for key, value in defaults.items():
        if getattr(args, key) is None:
            setattr(args, key, value)
    args.repeats = 1 if args.quick else 3
    args.ddsc = f"{args.build}/ddsc"
    return args


def main():
    args = parse()
    parts = {"solver": part_solver, "pairs": part_pairs, "graph": part_graph, "growth": part_growth}
    good = True
    with tempfile.TemporaryDirectory() as scratch:
        for name in args.parts:
            if name not in parts:
                sys.exit(f"exact: no part '{name}'; there are {', '.join(parts)}")
            if name in ("graph", "growth") and not os.path.isdir(args.data):
                print(f"{name} skipped: no data in {args.data}")
                continue
            good &= parts[name](args, scratch, np.random.default_rng(1))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
