#!/usr/bin/env python3
"""Compares two ways to compute mmd graphs of histograms over a table of points that is not a grid (cell types, cluster
centers): all pairs, and the prefilter. Times are CPU seconds of whole runs on one thread. The two graphs must be
byte-identical.

    bench/table.py [--program build/ddsc] [--items 5000,20000] [--tables 50:10,200:20,500:30] [--kernels gaussian,laplace]

A table is given as points:dimensions. Each item has 10 counts per point, drawn around one of eight profiles. Needs
numpy."""
import argparse
import pathlib
import tempfile

import numpy as np

from common import BUILD, cpu_of


def histograms(path, n, v, d):
    rng = np.random.default_rng(1)
    support = rng.normal(size=(v, d)) + 3 * rng.normal(size=(v // 20 + 3, d))[rng.integers(0, v // 20 + 3, v)]
    profiles = rng.dirichlet(np.full(v, 0.3), 8)
    counts = [rng.multinomial(10 * v, rng.dirichlet(60 * profiles[rng.integers(8)] + 1e-3)) for _ in range(n)]
    found = [np.flatnonzero(row) for row in counts]
    np.savez(path, support=support, indices=np.concatenate(found), offsets=np.cumsum([0] + [len(f) for f in found]),
             weights=np.concatenate([row[f] for row, f in zip(counts, found)]).astype(float))
    return sum(map(len, found)) / n


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=pathlib.Path(BUILD) / "ddsc")
    parser.add_argument("--items", default="5000,20000")
    parser.add_argument("--tables", default="50:10,200:20,500:30")
    parser.add_argument("--kernels", default="gaussian,laplace")
    args = parser.parse_args()
    print("items  points of the table  of an item  kernel    all pairs  auto   same")
    for n in map(int, args.items.split(",")):
        for v, d in (map(int, table.split(":")) for table in args.tables.split(",")):
            with tempfile.TemporaryDirectory() as place:
                place = pathlib.Path(place)
                mean = histograms(place / "set.npz", n, v, d)
                for kernel in args.kernels.split(","):
                    seconds = [cpu_of([args.program, "neighbors", place / "set.npz", "-m", "mmd", "--mmd-kernel", kernel,
                                       "--exact-graph", how, "--threads", 1, "-q", "-o", place / f"{kernel}-{how}.mtx"])[0]
                               for how in ("full", "auto")]
                    full, found = ((place / f"{kernel}-{how}.mtx").read_bytes() for how in ("full", "auto"))
                    print(f"{n:<6} {v:<20} {mean:<11.0f} {kernel:<9} {seconds[0]:<10.2f} {seconds[1]:<6.2f} "
                          f"{'yes' if full == found else 'NO'}", flush=True)


if __name__ == "__main__":
    main()
