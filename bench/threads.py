#!/usr/bin/env python3
"""Measures seconds by stage, number of items and number of threads, as tables for docs/performance.md.

    bench/threads.py --program build/ddsc --data ../shared/data/mnist [--threads 1,2,4,8,16] [--budget 450]

Each job is `ddsc cluster` from digits to report with one metric (or `ddsc neighbors`: w2-graph), once for every number
of threads. Graph, labels and embedding must be byte-identical for all numbers of threads. The line of a stage lists its
wall seconds for each number of threads, its parallel efficiency at the largest number, and its CPU seconds at the
smallest and at the largest number. If the efficiency is low, increasing CPU seconds indicate contention for shared
resources, and constant CPU seconds indicate waiting. A job is started only if its time, predicted from earlier runs,
fits the remaining budget (wall seconds of the whole command). This benchmark requires the program with its libraries,
Python 3, and the MNIST files."""
import argparse
import hashlib
import json
import os
import pathlib
import platform
import subprocess
import sys
import tempfile
import time

# Jobs (metric and number of items), the most informative first. Jobs that do not fit the budget are skipped and listed.
# The size 70,000 uses both files.
JOBS = [("mmd", 10000), ("w2", 1000), ("lot", 10000), ("sinkhorn", 1000), ("w2-graph", 10000), ("sinkhorn-graph", 10000),
        ("mmd", 70000), ("w2", 10000), ("lot", 70000), ("sinkhorn", 10000)]
FILES = ["graph.mtx", "labels.csv", "embedding.npy"]
SMALL = 0.01  # fraction of the whole run; smaller stages are combined


def digits(args, place, n):
    """Return the options for an input with n items."""
    images, labels = (args.data / f"train-{name}.gz" for name in ("images-idx3-ubyte", "labels-idx1-ubyte"))
    if n >= 70000:
        return [images, args.data / "t10k-images-idx3-ubyte.gz"]
    path = place / f"digits{n}.npz"
    if not path.exists():
        subprocess.run([args.program, "convert", images, "--labels", labels, "--subset-per-class", str(n // 10),
                        "--seed", "1", "-q", "-o", path], check=True)
    return [path]


def command(metric, folder):
    """Return the options of the verb, and the output files that must not depend on threads."""
    if metric.endswith("-graph"):
        return ["neighbors", "-m", metric[:-6], "--tau", "10", "-o", folder / "graph.mtx"], FILES[:1]
    return ["cluster", "-k", "10", "-m", metric, "-o", folder], FILES


def run(args, place, metric, n, threads):
    """Return (stages, wall seconds of the command, hash of the results, CPU seconds of the command)."""
    given = digits(args, place, n)
    with tempfile.TemporaryDirectory(dir=place) as inside:
        folder = pathlib.Path(inside)
        words, files = command(metric, folder)
        began = time.monotonic()
        done = subprocess.Popen([args.program, *words, *given, "--threads", str(threads), "-q", "-f"],
                                stderr=subprocess.PIPE, text=True)
        told = done.stderr.read()
        _, status, usage = os.wait4(done.pid, 0)
        wall = time.monotonic() - began
        if os.waitstatus_to_exitcode(status) not in (0, 4):
            sys.exit(f"{metric} {n}: exit {os.waitstatus_to_exitcode(status)}\n{told}")
        found = hashlib.sha256(b"".join((folder / name).read_bytes() for name in files)).hexdigest()
        result = folder / "result.json"
        seconds = json.loads(result.read_text())["seconds"] if result.exists() else {"stages": []}
    return seconds, wall, found, usage.ru_utime + usage.ru_stime


def of_stage(run, name, clock):
    return sum(row[clock] for row in run[0]["stages"] if row["stage"] == name)


def stage_lines(runs):
    """Return (name, wall seconds by run, CPU seconds by run) in execution order, with small stages combined."""
    runs = list(runs)
    names = list(dict.fromkeys(row["stage"] for run in runs for row in run[0]["stages"]))
    whole, cpu = [run[1] for run in runs], [run[3] for run in runs]
    lines = [(name, *([of_stage(run, name, clock) for run in runs] for clock in ("wall", "cpu"))) for name in names]
    lines = [line for line in lines if any(wall >= SMALL * all for wall, all in zip(line[1], whole))]
    rest = [[all - sum(line[clock][i] for line in lines) for i, all in enumerate(sums)]
            for clock, sums in ((1, whole), (2, cpu))]
    if lines:
        lines.append(("the rest", *rest))
    return [*lines, ("**whole command**", whole, cpu)]


def print_table(metric, n, runs):
    threads = list(runs)
    print(f"\n### {metric}, {n:,} digits\n\n| stage | " + " | ".join(map(str, threads)) +
          f" | efficiency | CPU on {threads[0]} | on {threads[-1]} |")
    print("|---" * (len(threads) + 4) + "|")
    for name, walls, cpu in stage_lines(runs.values()):
        efficiency = walls[0] * threads[0] / (walls[-1] * threads[-1]) if walls[-1] > 0 else 0
        print(f"| {name} | " + " | ".join(f"{wall:.2f}" for wall in walls) + f" | {efficiency:.2f} | {cpu[0]:.2f} | {cpu[-1]:.2f} |")
    if len({run[2] for run in runs.values()}) > 1:
        sys.exit(f"{metric} {n}: bytes differ between numbers of threads")
    sys.stdout.flush()


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path, default=root / "build" / "ddsc")
    parser.add_argument("--data", type=pathlib.Path,
                        default=pathlib.Path(os.environ.get("DDSC_DATA", root.parent / "shared" / "data")) / "mnist")
    parser.add_argument("--threads", help="default: 1, 2, 4, ... up to the cores, at most 16")
    parser.add_argument("--budget", type=float, default=450, help="wall seconds of the whole command")
    parser.add_argument("--jobs", help="as mmd:10000,w2:1000; default: all that fit the budget")
    args = parser.parse_args()
    cores = len(os.sched_getaffinity(0))
    counts = [int(t) for t in args.threads.split(",")] if args.threads else [t for t in (1, 2, 4, 8, 16) if t <= cores]
    jobs = [(w.split(":")[0], int(w.split(":")[1])) for w in args.jobs.split(",")] if args.jobs else JOBS
    print(f"{platform.processor() or platform.machine()}, {cores} cores, threads {counts}; wall seconds")
    began, left_out = time.monotonic(), []
    with tempfile.TemporaryDirectory() as folder:
        place, known = pathlib.Path(folder), {}
        for metric, n in jobs:
            # The time is extrapolated from a smaller job of the metric. Jobs without an estimate are always started.
            guess = max((wall * (n / m) ** 1.3 for (name, m), wall in known.items() if name == metric), default=0)
            if time.monotonic() - began + guess > args.budget:
                left_out.append(f"{metric} {n}")
                continue
            runs = {}
            # The largest number of threads runs first. If it exceeds the budget, smaller numbers are skipped.
            for threads in sorted(counts, reverse=True):
                if runs and time.monotonic() - began + 2 * runs[min(runs)][1] > args.budget:
                    left_out.append(f"{metric} {n} on {threads}")
                    continue
                runs[threads] = run(args, place, metric, n, threads)
            known[metric, n] = sum(run[1] for run in runs.values())
            print_table(metric, n, dict(sorted(runs.items())))
    print(f"\n{time.monotonic() - began:.0f} s in total" + (f"; skipped: {', '.join(left_out)}" if left_out else ""))


if __name__ == "__main__":
    main()
