#!/usr/bin/python3
"""Compares ddsc update with a run over all items, and checks that both compute the same graph.

    bench/update.py [--ddsc PROGRAM] [--data DIR] [--old 1800] [--new 200] [--single 10] [--gone 40]
                    [--metrics w2,sinkhorn,mmd,lot]
    bench/update.py --index [--old 10000] [--single 1000] [--gone 200] [--checks N] [--hubs on] [--metrics w2]

A random set of MNIST digits is divided into old and new items. `full` is the CPU time of the graph (distances, bounds
and solves) in a run over all items with --like. `batch` adds all new items at once, `insert` adds one item at a time
(median), and `remove` removes items at once. Percentages are relative to `full`. `other` is the CPU time of all other
stages of the batch update. The exit code is 1 if a graph differs from that of a run over the same items.

With --index, single items are inserted and removed in one process that keeps the metric open (bench/updates.c). The
graph is compared with that of a run over the same items at N random moments (default: 10) and at the end.
"""
import argparse
import json
import os
import statistics
import sys
import tempfile

import numpy as np

from common import BUILD, DATA, build_program, cpu_of, image_set

GRAPH = ("distances", "bounds", "solves", "graph", "neighbors", "candidates")


def cut(source, rows, path):
    with np.load(source) as stored:
        z = {name: stored[name] for name in ("support", "indices", "weights", "offsets")}
    at = z["offsets"]
    parts = [slice(at[i], at[i + 1]) for i in rows]
    np.savez(path, support=z["support"], indices=np.concatenate([z["indices"][p] for p in parts]),
             weights=np.concatenate([z["weights"][p] for p in parts]), ids=np.array([f"d{i}" for i in rows]),
             offsets=np.concatenate([[0], np.cumsum([p.stop - p.start for p in parts])]))
    return path


def run(args, folder, *words):
    """Run a verb and return the CPU seconds of the graph and of all other stages."""
    cpu_of([args.ddsc, *words, "-o", folder, "-q", "--progress", "none", "--threads", 1])
    with open(os.path.join(folder, "result.json")) as file:
        told = json.load(file)
    stages = told["seconds"]["stages"]
    graph = sum(s["cpu"] for s in stages if s["stage"] in GRAPH)
    return graph, sum(s["cpu"] for s in stages) - graph, told


def same_graph(a, b):
    with open(os.path.join(a, "graph.mtx"), "rb") as x, open(os.path.join(b, "graph.mtx"), "rb") as y:
        if x.read() != y.read():
            sys.exit(f"{a} and {b}: the graphs differ")


def measure(args, metric, source, folder):
    n = args.old + args.new
    order = np.random.default_rng(1).permutation(n)
    place = lambda name: os.path.join(folder, f"{metric}-{name}")  # noqa: E731
    old, new = order[:args.old], order[args.old:]
    files = [cut(source, rows, place(name)) for name, rows in (
        ("old.npz", old), ("new.npz", new), ("all.npz", order), ("left.npz", order[args.gone:]))]
    run(args, place("old"), "cluster", files[0], "-k", 10, "-m", metric, "--hubs", "off")
    full, _, _ = run(args, place("all"), "cluster", files[2], "--like", place("old"))
    batch, other, told = run(args, place("batch"), "update", place("old"), files[1])
    same_graph(place("all"), place("batch"))
    with open(place("gone.txt"), "w") as file:
        file.write("".join(f"d{i}\n" for i in order[:args.gone]))
    remove, _, fewer = run(args, place("fewer"), "update", place("batch"), "--remove", place("gone.txt"))
    run(args, place("left"), "cluster", files[3], "--like", place("old"))
    same_graph(place("left"), place("fewer"))
    singles, before = [], place("old")
    for k in range(args.single):
        one = cut(source, new[k:k + 1], place("one.npz"))
        singles.append(run(args, place(f"step{k}"), "update", before, one)[0])
        before = place(f"step{k}")
    whole = cut(source, order[:args.old + args.single], place("whole.npz"))
    run(args, place("whole"), "cluster", whole, "--like", place("old"))
    same_graph(place("whole"), before)
    print(f"{metric:9} full {full:8.2f} s   batch of {args.new} {batch:7.2f} s ({100 * batch / full:.0f}%, "
          f"{told['update']['lists_searched']} lists)   insert {1000 * statistics.median(singles):7.0f} ms   "
          f"remove {args.gone} {remove:6.2f} s ({fewer['update']['lists_searched']} lists)   other {other:.2f} s", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ddsc", default=os.path.join(BUILD, "ddsc"))
    parser.add_argument("--data", default=DATA)
    parser.add_argument("--metrics", default="w2,sinkhorn,mmd,lot")
    for name, value in (("old", 1800), ("new", 200), ("single", 10), ("gone", 40)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--index", action="store_true")
    parser.add_argument("--hubs", default="off", choices=("off", "on"))
    parser.add_argument("--checks", type=int, default=10)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "source.npz")
        image_set(args.ddsc, args.data, "mnist", args.old + (args.single if args.index else args.new), source)
        for metric in args.metrics.split(","):
            if args.index:
                words = (source, metric, args.hubs, args.single, args.gone, args.checks)
                print(cpu_of([build_program(BUILD, "updates"), *words])[1], end="", flush=True)
            else:
                measure(args, metric, source, folder)


if __name__ == "__main__":
    main()
