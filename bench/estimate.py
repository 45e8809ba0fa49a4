#!/usr/bin/env python3
"""Checks the ranges that dry runs predict by comparing them with real runs, with and without other load.

Each job is predicted (--dry-run --json) and then run, first without and then with one busy process per processor. The
table lists the predicted range, the true value, and the factor by which the true value is outside the range (1:
inside). The exit code is 1 if a factor exceeds 3.
"""
import json
import multiprocessing
import os
import pathlib
import subprocess
import sys
import tempfile
import time

PROGRAM = os.environ.get("DDSC", str(pathlib.Path(__file__).resolve().parent.parent / "build" / "ddsc"))
SETS = {"clouds": ["gaussians", "--clusters", "5", "--items", "300", "--points", "40", "--dim", "3"],
        "small": ["gaussians", "--clusters", "5", "--items", "800", "--points", "8", "--dim", "20"],
        "shapes": ["shapes", "--items", "300"]}
JOBS = [(name, verb, metric) for name in SETS for verb in ("neighbors", "cluster")
        for metric in ("w2", "sinkhorn", "mmd", "lot")]


def busy():
    while True:
        pass


def run(*words):
    return subprocess.run([PROGRAM, *map(str, words)], check=True, capture_output=True, text=True).stdout


def measure(folder, name, verb, metric):
    words = [verb, folder / f"{name}.npz", "--metric", metric]
    words += ["-k", "5"] if verb == "cluster" else []
    told = json.loads(run(*words, "--dry-run", "--json"))
    began = time.monotonic()
    run(*words, "--json", "-q")
    return told["seconds_low"], told["seconds_high"], time.monotonic() - began


def main():
    worst = 1.0
    print(f"{'set':8} {'verb':10} {'metric':9} {'load':5} {'from':>7} {'to':>7} {'truth':>7}  off by")
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        for name, words in SETS.items():
            run("generate", *words, "-o", folder / f"{name}.npz")
        for load in (False, True):
            others = [multiprocessing.Process(target=busy, daemon=True) for _ in range(os.cpu_count() * load)]
            for other in others:
                other.start()
            for job in JOBS:
                low, high, truth = measure(folder, *job)
                if low is None:
                    off = 1.0  # no prediction
                    low = high = float("nan")
                else:
                    off = max(low / truth, truth / high, 1.0) if truth > 1 or low > 1 else 1.0
                worst = max(worst, off)
                print(f"{job[0]:8} {job[1]:10} {job[2]:9} {'busy' if load else 'as is':5} {low:7.2f} {high:7.2f} "
                      f"{truth:7.2f}  {off:.2f}", flush=True)
            for other in others:
                other.kill()
    print(f"worst: off by a factor of {worst:.2f}")
    return worst > 3


if __name__ == "__main__":
    sys.exit(main())
