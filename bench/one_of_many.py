"""A SIMULATION of 1e9 items on 10,000 ranks: the work of one rank is done for real, the other ranks' is not.

    /usr/bin/python3 bench/one_of_many.py [--items 1e9] [--ranks 10000] [--copies 2] [--build build]

The road that would lead there: linear optimal transport, every item sent to its `copies` nearest of as many cells as there are
ranks, approximate neighbours inside a cell, the best of all copies kept, eigenvectors and k-means by rows. The rank's own items
and the guests in its cell are drawn by `ddsc generate` from seeds; neighbours in other ranks' rows are drawn by
bench_spectral_scale. Everything runs on one thread. What travels is counted, not sent. ddsc does not route items to cells: this says what
it would take, not that it was run."""
import argparse
import json
import math
import os
import pathlib
import resource
import subprocess
import tempfile

import numpy as np

POINTS, DIM, TAU, GROUPS, STEPS = 20, 3, 17, 10, 300
LATENCY, BANDWIDTH = 20e-6, 10e9  # as in docs/scale.md


class Rank:
    def __init__(self, build, folder, own, ranks, copies):
        self.build, self.folder, self.own, self.ranks, self.copies = build, folder, own, ranks, copies
        self.stages = []

    def run(self, *words):
        """CPU seconds, peak MB and the output of a program."""
        with open(self.folder / "out", "w+") as out:
            job = subprocess.Popen([str(word) for word in words], stdout=out)
            _, ended, used = os.wait4(job.pid, 0)
            job.returncode = os.waitstatus_to_exitcode(ended)
            if job.returncode != 0:
                raise SystemExit(f"{words[0]} ended with {job.returncode}")
            out.seek(0)
            return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, out.read()

    def ddsc(self, *words):
        return self.run(self.build / "ddsc", *words, "--threads", 1, "-q", "-f")

    def draw(self, name, n, seed):
        place = self.folder / f"{name}.npz"
        self.ddsc("generate", "gaussians", "--groups", GROUPS, "--items", n // GROUPS, "--points", POINTS, "--dim", DIM,
                  "--seed", seed, "-o", place)
        return place

    def note(self, stage, seconds, peak, sent, calls):
        self.stages.append((stage, seconds, peak, sent, calls))

    def embed(self):
        place = self.folder / "rows.npy"
        seconds, peak, _ = self.ddsc("embed", self.draw("own", self.own, 1), "-o", place)
        self.note(f"embedding of {self.own:,} own items", seconds, peak, 0, 0)
        return np.load(place).astype(np.float32)

    def route(self, rows):
        """The nearest cells of the own rows, by products."""
        before = resource.getrusage(resource.RUSAGE_SELF)
        centres = rows[np.random.default_rng(1).integers(0, len(rows), self.ranks)]
        half = (centres * centres).sum(1) / 2
        for at in range(0, len(rows), 1000):
            np.argpartition(half - rows[at:at + 1000] @ centres.T, self.copies, axis=1)
        after = resource.getrusage(resource.RUSAGE_SELF)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        peak = (rows.nbytes + centres.nbytes + 1000 * self.ranks * 8) / 2**20
        self.note(f"nearest {self.copies} of {self.ranks:,} cells (NumPy)", seconds, peak, self.copies * rows.nbytes, 1)

    def neighbours(self, embedding):
        """Of all that came to the cell; the share of embedding it anew is taken off. Returns recall."""
        n = self.copies * self.own
        seconds, peak, out = self.ddsc("neighbors", self.draw("cell", n, 2), "--metric", "lot", "--neighbors", "approximate",
                                       "--tau", TAU, "--json", "-o", self.folder / "graph.mtx")
        self.note(f"neighbours of {n:,} items in the cell", seconds - self.copies * embedding, peak, n * TAU * 12, 1)
        return json.loads(out)["recall"]

    def spectral(self):
        words = (self.build / "bench" / "bench_spectral_scale", self.own, GROUPS, TAU, 1)
        seconds, peak, out = self.run(*words)
        # Hardly any neighbour is the rank's own: each product fetches one number for each of 2 tau entries of a row.
        sent = STEPS * self.own * 2 * TAU * 8
        self.note(f"eigenvectors, k-means of {self.own:,} rows (making the graph included)", seconds, peak, sent, 3 * STEPS)
        return out.strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=float, default=1e9)
    parser.add_argument("--ranks", type=int, default=10000)
    parser.add_argument("--copies", type=int, default=2, help="cells an item is sent to")
    parser.add_argument("--build", default="build", type=pathlib.Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        own = int(given.items / given.ranks)
        rank = Rank(given.build.resolve(), pathlib.Path(scratch), own, given.ranks, given.copies)
        rows = rank.embed()
        rank.route(rows)
        recall = rank.neighbours(rank.stages[0][1])
        spectral = rank.spectral()
    print(f"Simulation: one rank of {given.ranks:,}, {own:,} of {given.items:.0e} items; recall in the cell {recall:.3f}; {spectral}")
    print("| stage | CPU s of the rank | peak MB | sent, MB | s on the wire |\n|---|---|---|---|---|")
    whole = 0
    for stage, seconds, peak, sent, calls in rank.stages:
        wire = sent / BANDWIDTH + calls * LATENCY * math.log2(given.ranks)
        whole += seconds + wire
        print(f"| {stage} | {seconds:.1f} | {peak:.0f} | {sent / 1e6:.0f} | {wire:.2f} |")
    print(f"| in all | {whole:.0f} s with what travels | {max(s[2] for s in rank.stages):.0f} | | |")


if __name__ == "__main__":
    main()
