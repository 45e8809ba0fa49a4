#!/usr/bin/python3
"""Measures the cost of reading: CPU seconds of `ddsc info` for the 70,000 images of MNIST, and of other programs in
the same run.

    bench/reading.py [--ddsc PROGRAM] [--before PROGRAM] [--data DIR] [--rounds N]

The other programs are another build of the program (`--before`, for example a version in which sets had no names) and
always Python, which decompresses and finds the nonzero pixels. The table shows the minimum over alternating rounds.
The exit code is 1 if the numbers of items or points differ from those of numpy.
"""
import argparse
import gzip
import json
import os
import resource
import sys

import numpy as np

from common import BUILD, DATA, cpu_of

FILES = ("train-images-idx3-ubyte.gz", "t10k-images-idx3-ubyte.gz")


def own_cpu():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def by_python(paths):
    """Return CPU seconds, number of items, and number of nonzero pixels."""
    began, items, entries = own_cpu(), 0, 0
    for path in paths:
        with gzip.open(path) as f:
            images = np.frombuffer(f.read(), "u1", offset=16).reshape(-1, 784)
        items += len(images)
        entries += len(np.nonzero(images)[0])
    return own_cpu() - began, items, entries


def main():
    words = argparse.ArgumentParser()
    words.add_argument("--ddsc", default=os.path.join(BUILD, "ddsc"))
    words.add_argument("--before")
    words.add_argument("--data", default=DATA)
    words.add_argument("--rounds", type=int, default=3)
    asked = words.parse_args()
    paths = [os.path.join(asked.data, "mnist", name) for name in FILES]
    if not all(map(os.path.exists, paths)):
        print("skipped: no MNIST")
        return
    programs = [p for p in (asked.ddsc, asked.before) if p]
    best, python = [float("inf")] * len(programs), float("inf")
    for _ in range(asked.rounds):
        for k, program in enumerate(programs):
            cpu, said = cpu_of([program, "info", *paths, "--json"])
            best[k] = min(best[k], cpu)
            if k == 0:
                told = json.loads(said)
        cpu, items, entries = by_python(paths)
        python = min(python, cpu)
    print(f"ddsc info, 70,000 images: {best[0]:.2f} s CPU, {best[0] / python:.2f} times gunzip and nonzero in Python")
    if asked.before:
        print(f"before: {best[1]:.2f} s, ratio {best[0] / best[1]:.3f}")
    if told["items"] != items or told["entries"] != entries:
        sys.exit(f"{told['items']} items with {told['entries']} entries, not {items} with {entries}")


if __name__ == "__main__":
    main()
