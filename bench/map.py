#!/usr/bin/env python3
"""Measures the quality and cost of a report's map: the fraction of each item's 15 nearest neighbors in the graph that
are among its 15 nearest on the map, and the seconds of the stage.

    bench/map.py --program build/ddsc [--before OLD/ddsc] [--sizes 1000,5000,10000] [--metrics mmd,lot]

Needs numpy, scipy and the MNIST files (DDSC_DATA names the folder of the data sets)."""
import argparse
import json
import os
import pathlib
import subprocess
import tempfile

import numpy
from scipy.spatial import cKDTree

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = pathlib.Path(os.environ.get("DDSC_DATA", ROOT.parent / "shared" / "data"))
NEAR = 15


def kept(folder):
    """Return the mean fraction of the graph's neighbors that are preserved on the map."""
    edges = numpy.loadtxt(folder / "graph.mtx", skiprows=2, usecols=(0, 1), dtype=numpy.int64) - 1
    xy = numpy.load(folder / "map.npy")
    near = cKDTree(xy).query(xy, NEAR + 1)[1]
    found = numpy.zeros(len(edges), bool)
    for column in range(NEAR + 1):
        found |= near[edges[:, 1], column] == edges[:, 0]
    return found.mean()


def measure(program, data, metric, threads):
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place) / "out"
        done = subprocess.run([program, "cluster", data, "-k", "10", "-m", metric, "--tau", str(NEAR), "--hubs", "off",
                               "--threads", str(threads), "-q", "-o", folder], capture_output=True, text=True)
        if done.returncode not in (0, 4):
            raise SystemExit(done.stderr)
        seconds = json.loads((folder / "result.json").read_text())["seconds"]
        stages = {row["stage"]: row for row in seconds.get("stages", [])}
        return kept(folder), stages.get("map"), seconds["total"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=ROOT / "build" / "ddsc")
    parser.add_argument("--before", help="another program to compare with")
    parser.add_argument("--sizes", default="1000,5000,10000")
    parser.add_argument("--metrics", default="mmd,lot")
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    digits = DATA / "mnist"
    print(f"N      metric  share of {NEAR} kept  map wall   CPU   whole run")
    for n in map(int, args.sizes.split(",")):
        with tempfile.TemporaryDirectory() as place:
            data = pathlib.Path(place) / "digits.npz"
            subprocess.run([args.program, "convert", digits / "train-images-idx3-ubyte.gz", "--labels",
                            digits / "train-labels-idx1-ubyte.gz", "--subset-per-class", str(n // 10), "--seed", "1",
                            "-q", "-o", data], check=True)
            for metric in args.metrics.split(","):
                for name in filter(None, (args.before, args.program)):
                    share, row, total = measure(name, data, metric, args.threads)
                    cost = f"{row['wall']:7.2f} {row['cpu']:6.2f}" if row else "      -      -"
                    print(f"{n:<7}{metric:<8}{share:12.4f} {cost} {total:10.2f}  {name}")


if __name__ == "__main__":
    main()
