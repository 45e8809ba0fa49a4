#!/usr/bin/python3
"""Generates a cohort with the shape of OneK1K (982 donors, 1.25 million cells, 50 principal components), writes it as
h5ad, and runs the program on it.

    bench/cohort.py [--full] [--jobs info,mmd,lot,compress,plan] [--threads 2] [--features 1024] [--points 32]
                    [--keep FOLDER] [--build DIR]

By default, the cohort has a tenth of the donors and cells; `--full` selects the full size. Each job is a whole run,
from the h5ad file to the report. The table lists CPU seconds, wall seconds, peak resident memory, and this memory
divided by the size of the selected matrix in float64. `error` is the error that the program reports on sampled pairs:
the median and the 90% quantile. The job `plan` runs `--dry-run` for w2, which prints the expected time. After each
job, the accuracy printed by the program is shown. The exit code is 1 if a job of the full size exceeds its limit of
CPU seconds, or 3 times the memory of the matrix.

The cells are synthetic and belong to 24 states. The shares of the states (log-normal, shifted by age and by a
condition) and their centers differ between donors. The spread decreases from axis to axis, as for principal components.
`--keep` stores the h5ad file (float32, 250 MB at full size) and the results.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

import h5py
import numpy as np

from common import BUILD

DONORS, CELLS, DIM, STATES = 982, 1_250_000, 50, 24
LIMIT = {"mmd": 60, "lot": 240, "compress": 900}   # CPU seconds at full size
MEMORY = 3                                         # times the matrix in float64


def cohort(donors, cells, seed=0):
    """Return (cells x DIM, donor of each cell, table of donors)."""
    rng = np.random.default_rng(seed)
    spread = 8 / np.sqrt(1 + np.arange(DIM))
    centers = rng.normal(size=(STATES, DIM)) * spread
    counts = np.exp(rng.normal(0, .45, donors))
    counts = np.maximum(20, np.round(counts / counts.sum() * cells)).astype(int)
    age, condition = rng.integers(20, 90, donors), rng.integers(0, 2, donors)
    usual = rng.normal(0, 1, STATES)
    effect = rng.normal(0, .5, (2, STATES))
    points, owner = [], []
    for i in range(donors):
        logits = usual + rng.normal(0, .5, STATES) + effect[0] * (age[i] - 55) / 20 + effect[1] * condition[i]
        share = np.exp(logits) / np.exp(logits).sum()
        state = rng.choice(STATES, counts[i], p=share)
        moved = centers + .25 * spread * rng.normal(size=(1, DIM))
        points.append((moved[state] + .35 * spread * rng.normal(size=(counts[i], DIM))).astype("f4"))
        owner.append(np.full(counts[i], i))
    return np.concatenate(points), np.concatenate(owner), {"age": age, "condition": condition}


def write(path, points, owner, about, seed=0):
    """Write the cells in random order, as an h5ad file with categories."""
    order = np.random.default_rng(seed).permutation(len(points))
    points, owner = points[order], owner[order]
    with h5py.File(path, "w") as f:
        f.attrs["encoding-type"] = "anndata"
        f.create_group("obsm").create_dataset("X_pca", data=points, chunks=(4096, DIM))
        f.create_dataset("X", data=points[:, :1])
        f.create_group("var").create_dataset("_index", data=["gene"], dtype=h5py.string_dtype())
        obs = f.create_group("obs")
        columns = {"donor": (owner, [f"donor{i}" for i in range(owner.max() + 1)]),
                   "condition": (about["condition"][owner], ["control", "case"])}
        for name, (codes, names) in columns.items():
            column = obs.create_group(name)
            column.attrs["encoding-type"] = "categorical"
            column.create_dataset("codes", data=codes.astype("i2"))
            column.create_dataset("categories", data=names, dtype=h5py.string_dtype())
        obs.create_dataset("age", data=about["age"][owner])


def run(command):
    """Return (standard output, standard error, CPU seconds, wall seconds, peak bytes) of the program."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        began = time.time()
        child = subprocess.Popen([str(word) for word in command], stdout=out, stderr=err)
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.time() - began
        out.seek(0), err.seek(0)
        text, messages = out.read(), err.read()
    if status != 0:
        sys.exit(f"{' '.join(map(str, command))}: {messages}")
    return text, messages, usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss * 1024


def commands(o, path, folder):
    about = [path, "--matrix", "X_pca", "--id", "donor", "--label", "condition", "--threads", o.threads]
    cluster = ["cluster", *about, "-k", 2, "--progress", "none", "--force", "-o"]
    return {
        "info": ["info", *about],
        "mmd": [*cluster, folder + "/mmd", "--metric", "mmd", "--mmd-features", o.features],
        "lot": [*cluster, folder + "/lot", "--metric", "lot"],
        "compress": [*cluster, folder + "/compress", "--metric", "w2", "--compress", o.points],
        "plan": ["cluster", *about, "-k", 2, "--metric", "w2", "--dry-run"],
    }


def accuracy(folder):
    """Return the error on sampled pairs and the settings, from result.json."""
    with open(os.path.join(folder, "result.json")) as f:
        result = json.load(f)
    keep = {}
    for part in ("pairs", "compress"):
        keep.update({f"{part}.{key}": value for key, value in (result.get(part) or {}).items() if value})
    return keep, result["seconds"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--jobs", default="info,mmd,lot,compress,plan")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--features", type=int, default=1024)
    parser.add_argument("--points", default="32")
    parser.add_argument("--keep")
    parser.add_argument("--build", default=BUILD)
    o = parser.parse_args()
    scale = 1 if o.full else 10
    good = True
    with tempfile.TemporaryDirectory() as scratch:
        folder = o.keep or scratch
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, "full.h5ad" if o.full else "cohort.h5ad")
        if not os.path.exists(path):
            write(path, *cohort(DONORS // scale, CELLS // scale))
        with h5py.File(path) as f:
            n = len(f["obsm/X_pca"])
        matrix = 8 * n * DIM
        print(f"{n} cells, {DONORS // scale} donors, {DIM} coordinates: {matrix / 1e6:.0f} MB in float64")
        print(f"{'job':10s} {'CPU s':>8s} {'wall s':>8s} {'peak MB':>8s} {'x matrix':>8s}")
        for name in o.jobs.split(","):
            out, messages, cpu, wall, peak = run([os.path.join(o.build, "ddsc"), *commands(o, path, folder)[name]])
            print(f"{name:10s} {cpu:8.1f} {wall:8.1f} {peak / 1e6:8.0f} {peak / matrix:8.2f}", flush=True)
            if name in LIMIT:
                good &= not o.full or (cpu <= LIMIT[name] and peak <= MEMORY * matrix)
                for what in accuracy(os.path.join(folder, name)):
                    print("  " + ", ".join(f"{key} {value:.4g}" if isinstance(value, float) else f"{key} {value}"
                                           for key, value in what.items()))
            else:
                print(out)
            if messages.strip():
                print(messages.strip())
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
