#!/usr/bin/python3
"""Compares D2 clustering with the same iteration in NumPy and POT, in CPU seconds on one thread.

Both use k-means++ in W2, exact assignment, Bregman ADMM with 100 rounds per step (rho is twice the mean cost,
points move every 10 rounds) on 16 points, and one exact pass. They stop when the relative decrease of the sum
of W2^2 is below 1e-4. To check the sum that ddsc reports, POT recomputes it from the files that ddsc wrote.
"""
import argparse
import json
import os
import pathlib
import resource
import subprocess
import tempfile
import time

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
import numpy as np
import ot

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = pathlib.Path(os.environ.get("DDSC_DATA", ROOT.parent / "shared" / "data"))
PROGRAM = ROOT / "build" / "ddsc"
SIZE, ROUNDS, TOLERANCE = 16, 100, 1e-4


def make_set(name, path):
    text = DATA / "text"
    subprocess.run([PROGRAM, "text", text / f"{name}.tsv.gz", "--vectors", text / "glove.6B.100d.subset.txt.gz", "--paper",
                    "--stopwords", text / "stoplist2.txt", "--text", "abstract", "--on-empty", "drop", "-q", "-o",
                    path], check=True)
    d = np.load(path)
    cut = d["offsets"]
    return [(d["support"][d["indices"][a:b]], d["weights"][a:b]) for a, b in zip(cut[:-1], cut[1:])]


def start_center(item, random):
    x, w = item[0].copy(), item[1].copy()
    while len(w) < SIZE:
        i = np.argmax(w)
        step = 0.05 * random.normal(size=x.shape[1])
        w[i] /= 2
        x, w = np.vstack([x, x[i] + step]), np.append(w, w[i])
    keep = np.argsort(-w)[:SIZE]
    return x[keep], w[keep] / w[keep].sum()


def plus_plus(items, k, random):
    near, chosen = np.full(len(items), np.inf), [random.integers(len(items))]
    while len(chosen) < k:
        x, w = items[chosen[-1]]
        near = np.minimum(near, [max(ot.emd2(w, b, ot.dist(x, y)), 0) for y, b in items])
        chosen.append(random.choice(len(items), p=near / near.sum()))
    return [start_center(items[i], random) for i in chosen]


def admm(x, w, members, plans):
    """Update (x, w). The caller stores the plans (Q and L of each item)."""
    rho = 2 * np.mean([w @ ot.dist(x, y) @ b for y, b in members])
    for r in range(ROUNDS):
        if r % 10 == 0:
            cost = [ot.dist(x, y) for y, _ in members]
        share, mass, moment = np.zeros(SIZE), np.zeros(SIZE), np.zeros_like(x)
        for i, (y, b) in enumerate(members):
            q, l = plans[i]
            p = q * np.exp(-(cost[i] + l) / rho)
            p *= b / p.sum(0)
            q = p * np.exp(l / rho)
            rows = q.sum(1)
            q *= (w / rows)[:, None]
            l += rho * (p - q)
            plans[i] = (q, l)
            share += rows / rows.sum()
            if r % 10 == 9:
                mass += p.sum(1)
                moment += p @ y
        w = share / share.sum()
        if r % 10 == 9:
            x = moment / mass[:, None]
    return x, w


def exact_pass(x, w, members):
    mass, moment, total = np.zeros(SIZE), np.zeros_like(x), 0.0
    for y, b in members:
        cost = ot.dist(x, y)
        plan = ot.emd(w, b, cost)
        total += (plan * cost).sum()
        mass += plan.sum(1)
        moment += plan @ y
    moved = moment / np.maximum(mass, 1e-300)[:, None]
    return moved, total - (mass[:, None] * (moved - x) ** 2).sum()


def plain_d2(items, k, seed):
    random = np.random.default_rng(seed)
    centers, plans, last, best = plus_plus(items, k, random), {}, None, np.inf
    while True:
        values = np.array([[ot.emd2(w, b, ot.dist(x, y)) for x, w in centers] for y, b in items])
        labels, objective = values.argmin(1), values.min(1).sum()
        if not objective < best * (1 - TOLERANCE):
            return min(objective, best), labels
        best = objective
        for c in range(k):
            chosen = np.where(labels == c)[0]
            if len(chosen) == 0:
                continue
            members, (x, w) = [items[i] for i in chosen], centers[c]
            for i in chosen:
                if last is None or last[i] != c:
                    plans[i] = (np.outer(w, items[i][1]), np.zeros((SIZE, len(items[i][1]))))
            mine = [plans[i] for i in chosen]
            moved, cost = exact_pass(x, w, members)
            new_x, new_w = admm(moved, w, members, mine)
            new_x, new_cost = exact_pass(new_x, new_w, members)
            plans.update(zip(chosen, mine))
            centers[c] = (new_x, new_w) if new_cost <= cost else (moved, w)
        last = labels


def ours(path, k, seed, restarts, folder):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    out = subprocess.run([PROGRAM, "cluster", path, "--method", "d2", "-k", str(k), "--center-size", str(SIZE),
                          "--restarts", str(restarts), "-s", str(seed), "-j", "1", "-q", "--json", "-o", folder],
                         check=True, capture_output=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return json.loads(out), seconds


def verify(items, folder, objective):
    """Recompute the sum with POT from the labels and centers in the files."""
    d = np.load(folder / "centers.npz")
    x = d["points"] if "points" in d else d["support"][d["indices"]]
    parts = [(x[a:b], d["weights"][a:b]) for a, b in zip(d["offsets"][:-1], d["offsets"][1:])]
    labels = np.loadtxt(folder / "labels.csv", delimiter=",", skiprows=1, usecols=1, dtype=int)
    total = 0.0
    for (y, b), label in zip(items, labels):
        center, w = parts[label]
        total += ot.emd2(w / w.sum(), b / b.sum(), ot.dist(center, y))
    return abs(total / objective - 1) < 1e-6


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", default="bbcsport", choices=["bbcsport", "bbc"])
    parser.add_argument("-k", type=int, default=5)
    parser.add_argument("--starts", type=int, default=2)
    parser.add_argument("--items", type=int, help="only the first so many, for a quick look")
    a = parser.parse_args()
    if not DATA.is_dir():
        print(f"baselines: skipped: no data at {DATA}")
        return
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "set.npz"
        items = make_set(a.set, path)
        if a.items:
            items = items[:a.items]
            cut = np.concatenate([[0], np.cumsum([len(b) for _, b in items])])
            np.savez(path, points=np.vstack([y for y, _ in items]), weights=np.concatenate([b for _, b in items]),
                     offsets=cut)
        results = pathlib.Path(folder) / "results"
        found, seconds = ours(path, a.k, 0, a.starts, results)
        good = verify(items, results, found["objective"])
        began, best = time.process_time(), np.inf
        for seed in range(a.starts):
            best = min(best, plain_d2(items, a.k, seed)[0])
        plain = time.process_time() - began
    print(f"d2, {a.set}, {len(items)} items, K {a.k}, {a.starts} starts, {SIZE} points, one thread")
    print(f"  numpy + POT  {plain:8.1f} CPU s   sum of W2^2 {best:.2f}")
    print(f"  ddsc         {seconds:8.1f} CPU s   sum of W2^2 {found['objective']:.2f}")
    print(f"  sum recomputed by POT: {'equal' if good else 'NOT EQUAL'}")
    print(f"  {plain / seconds:.1f} times as fast; objective {found['objective'] / best - 1:+.4%}")
    if not good:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
