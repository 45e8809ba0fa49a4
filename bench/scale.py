#!/usr/bin/python3
"""Measures whole jobs for growing N: MNIST and Fashion-MNIST from file to labels with mmd and lot, then
eigenvectors and k-means alone on synthetic graphs.

    bench/scale.py [--build DIR] [--data DIR] [--sets mnist,fashion-mnist] [--metrics mmd,lot] [--most 70000]
                   [--graphs 70000] [--quick]

For each job it prints CPU seconds, wall seconds on two threads, peak resident memory, wall seconds by stage, and the
AMI with the classes. The exponent is the slope of log CPU seconds over log N for 5,000 items or more. For the smallest
size, the labels with one and with two threads must be equal. `--graphs 70000,1000000` also runs the large synthetic
graph (some minutes and 3 GB), whose labels must equal the planted ones.
"""
import argparse
import gzip
import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np

from common import BUILD, DATA, build_program

SIZES = (1000, 2000, 5000, 10000, 20000, 40000, 70000)


def labels_file(args, name, scratch):
    out = f"{scratch}/{name}.npy"
    parts = []
    for part in ("train", "t10k"):
        with gzip.open(f"{args.data}/{name}/{part}-labels-idx1-ubyte.gz") as f:
            parts.append(np.frombuffer(f.read(), np.uint8, offset=8))
    np.save(out, np.concatenate(parts).astype(np.int32))
    return out


def job(args, name, metric, n, scratch, threads=2):
    """Run one clustering. Return (json, CPU seconds, wall seconds, peak MB)."""
    folder = f"{args.data}/{name}"
    images = [f"{folder}/{part}-images-idx3-ubyte.gz" for part in ("train", "t10k")]
    command = [os.path.join(args.build, "ddsc"), "cluster"]
    if n == 70000:
        command += [*images, "--truth", labels_file(args, name, scratch)]
    else:
        command += [images[0], "--labels", f"{folder}/train-labels-idx1-ubyte.gz", "--subset-per-class", str(n // 10)]
    command += ["-k", "10", "--metric", metric, "--threads", str(threads), "--progress", "none", "--json"]
    start = time.time()
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    text = child.stdout.read()
    error = child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    if status != 0:
        sys.exit(f"{' '.join(command)}: {error}")
    return json.loads(text), usage.ru_utime + usage.ru_stime, time.time() - start, usage.ru_maxrss / 1024


def exponent(rows):
    rows = [(n, cpu) for n, cpu in rows if n >= 5000]
    if len(rows) < 2:
        return float("nan")
    n, cpu = np.log(np.array(rows)).T
    return np.polyfit(n, cpu, 1)[0]


def bench_images(args, name, metric, scratch):
    rows, good = [], True
    for n in [n for n in SIZES if n <= args.most]:
        told, cpu, wall, megabytes = job(args, name, metric, n, scratch)
        s = told["seconds"]
        rows.append((n, cpu))
        print(f"{name:14s} {metric:4s} {n:6d} {cpu:9.2f} {wall:9.2f} {megabytes:8.0f} {s['read']:7.2f} {s['distances']:9.2f} "
              f"{s['eigen']:7.2f} {s['kmeans']:7.2f} {told['scores']['ami']:7.3f}", flush=True)
        if n == SIZES[0]:
            again = job(args, name, metric, n, scratch, threads=1)[0]
            good &= again["labels"] == told["labels"]
    print(f"{name:14s} {metric:4s} exponent of CPU seconds from 5,000 items on: {exponent(rows):.2f}", flush=True)
    return good


def bench_graphs(args):
    program = build_program(args.build, "spectral_scale")
    good = True
    print("made-up graph: N, eigen s, k-means s (wall), CPU s, peak MB, largest residual, verified, ARI")
    for n in args.graphs:
        text = subprocess.run([program, str(n)], check=True, capture_output=True, text=True).stdout
        print("  " + text.strip(), flush=True)
        good &= float(text.split()[-1]) > 0.999 and text.split()[-2] == "1"
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=BUILD)
    parser.add_argument("--data", default=DATA)
    parser.add_argument("--sets", default="mnist,fashion-mnist")
    parser.add_argument("--metrics", default="mmd,lot")
    parser.add_argument("--most", type=int, default=70000)
    parser.add_argument("--graphs", default="70000", type=lambda s: [int(n) for n in s.split(",") if n])
    parser.add_argument("--quick", action="store_true", help="up to 5,000 items, a graph of 20,000")
    args = parser.parse_args()
    if args.quick:
        args.most, args.graphs = min(args.most, 5000), [20000]
    good = bench_graphs(args)
    if not os.path.isdir(args.data):
        print(f"images skipped: no data in {args.data}")
        return 0 if good else 1
    print(f"{'set':14s} {'how':4s} {'N':>6s} {'CPU s':>9s} {'wall s':>9s} {'MB':>8s} {'read':>7s} {'distances':>9s} "
          f"{'eigen':>7s} {'k-means':>7s} {'AMI':>7s}")
    with tempfile.TemporaryDirectory() as scratch:
        for name in args.sets.split(","):
            for metric in args.metrics.split(","):
                good &= bench_images(args, name, metric, scratch)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
