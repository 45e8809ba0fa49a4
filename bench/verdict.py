#!/usr/bin/python3
"""Measures false alarms and power of the verdict on cluster structure.

    bench/verdict.py [--law one,u,...] [--runs 0:150] [--seed 1] [--out runs.jsonl] [--jobs 2]
    bench/verdict.py --sum-up --out runs.jsonl
    bench/verdict.py --real [--before PROGRAM] [--out real.jsonl]
    bench/verdict.py --spread [--out spread.jsonl]

Every run is one random set, one metric and one K. A set is determined by its distribution (--law), the number of the
run and the seed. It has 20 to 800 items of 8 to 24 points in 1, 2, 10 or 50 dimensions; K is from 2 to 10 or auto, and
the metric w2, mmd or lot. Runs that are already in --out are skipped, so the command can be repeated, divided by --law
and --runs, or interrupted.

Distributions without clusters: one (the same for all items), continuum (line, square, ball, ring), gradient (of spread
or shape), tails (Cauchy line and plane, exponential and lognormal plane), thin (points or small clouds on a line with
uniform, normal, Cauchy or lognormal positions) and u (clouds along a line, denser at both ends). Distributions with
clusters: far (two distant clusters), small (one cluster has a tenth of the items), line (a line and a cluster), five2,
five3, five5 (five clusters at distances of 2, 3 and 5 standard deviations), and spread (two clusters of different
spread).

The exit code is 1 if, without clusters, more than 0.5% of the runs (2% for any distribution) are separate or partly
separate, or more than 1% are reproducible; or if fewer than 85% of the runs that find the clusters (AMI >= 0.9) are
separate, partly separate or reproducible, or any of these runs is called one cloud.

--real prints level, AMI and `starts_agree` of the real sets of bench/defaults.py (whole sets, 1,000 images) at the true
K, and the rank correlation of level and AMI. --spread prints the AMI of two clusters of different spread (60, 200 and
800 items in 10 and 50 dimensions; w2, lot, sinkhorn); the exit code is 1 if a mean is below 0.95. 150 runs of one
distribution take about 50 CPU seconds, --real 150, --spread 60.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile

import common
import defaults
import numpy as np

LEVELS = ("separate", "partly", "reproducible", "continuum", "one_cloud", "too_few")
METRICS = ("w2", "mmd", "lot")
SIZES, OFTEN = (20, 30, 45, 60, 100, 200, 400, 800), (3, 2, 2, 3, 3, 3, 2, 2)
DIMS, KS = (1, 2, 10, 50), (2, 3, 4, 5, 6, 8, 10, "auto")


def clouds(means, d, rng, spread=1.0, points=(8, 25)):
    """Return normal clouds around the rows of `means`, which may have fewer than d columns."""
    items = []
    for i, mean in enumerate(np.atleast_2d(means)):
        x = rng.normal(size=(rng.integers(*points), d)) * (spread if np.isscalar(spread) else spread[i])
        x[:, :len(mean[:d])] += mean[:d]
        items.append(x)
    return items


def law_one(n, d, rng):
    draw = (rng.normal, rng.random, lambda size: rng.standard_t(3, size=size))[rng.integers(3)]
    return [draw(size=(rng.integers(8, 25), d)) for _ in range(n)]


def law_continuum(n, d, rng):
    shape = rng.integers(4)
    if shape == 0:
        means = 6 * rng.random((n, 1))
    elif shape == 1:
        means = 6 * rng.random((n, 2))
    elif shape == 2:
        means = rng.normal(size=(n, min(d, 10)))
    else:
        t = 2 * np.pi * rng.random(n)
        means = 4 * np.stack([np.cos(t), np.sin(t)], 1)
    return clouds(means, d, rng, (0.3, 1.0)[rng.integers(2)])


def law_gradient(n, d, rng):
    along = rng.random(n)
    if rng.random() < 0.5 or d == 1:
        return clouds(np.zeros((n, 1)), d, rng, 1 + 2 * along)
    items = clouds(np.zeros((n, 1)), d, rng)
    for x, t in zip(items, along):
        x[:, 0] *= 1 + 3 * t
    return items


def law_tails(n, d, rng):
    shape = rng.integers(4)
    means = (lambda: 3 * rng.standard_cauchy((n, 1)), lambda: 3 * rng.normal(size=(n, 2)) / abs(rng.normal(size=(n, 1))),
             lambda: 4 * rng.exponential(size=(n, 2)), lambda: np.exp(rng.normal(size=(n, 2))))[shape]()
    return clouds(means, d, rng, 0.3)


def law_thin(n, d, rng):
    place = (rng.random, rng.normal, rng.standard_cauchy, rng.lognormal)[rng.integers(4)]
    means = np.reshape(place(size=n), (n, 1))
    return [np.pad(m[None], ((0, 0), (0, d - 1))) for m in means] if rng.random() < 0.5 else clouds(means, d, rng, 0.02)


def law_u(n, d, rng):
    return clouds(6 * rng.beta(0.5, 0.5, (n, 1)), d, rng, (0.5, 1.0)[rng.integers(2)])


def law_far(n, d, rng):
    return clouds(12 * (np.arange(n)[:, None] % 2), d, rng), np.arange(n) % 2


def law_small(n, d, rng):
    label = (np.arange(n) % 10 == 0).astype(int)
    return clouds(12 * label[:, None], d, rng), label


def law_line(n, d, rng):
    label = np.arange(n) % 2
    return clouds(np.where(label, 20, 6 * rng.random(n))[:, None], d, rng, 0.5), label


def five(apart):
    def law(n, d, rng):
        label = np.arange(n) % 5
        centers = np.eye(5) / np.sqrt(2) if d >= 5 else np.stack([np.arange(5), np.zeros(5)], 1)
        return clouds(apart * centers[label] + 0.3 * rng.normal(size=(n, centers.shape[1])), d, rng), label
    return law


def law_spread(n, d, rng):
    label = np.arange(n) % 2
    return clouds(np.zeros((n, 1)), d, rng, 1 + 1.5 * label), label


NULLS = {"one": law_one, "continuum": law_continuum, "gradient": law_gradient, "tails": law_tails, "thin": law_thin,
         "u": law_u}
GROUPS = {"far": (law_far, 2), "small": (law_small, 2), "line": (law_line, 2), "five2": (five(2), 5),
          "five3": (five(3), 5), "five5": (five(5), 5), "spread": (law_spread, 2)}


def plan(law, run, seed):
    """Return n, d, K, the metric and the generator of a run."""
    rng = np.random.default_rng([seed, list(NULLS | GROUPS).index(law), run])
    n = int(rng.choice(SIZES, p=np.array(OFTEN) / sum(OFTEN)))
    d, k, metric = int(rng.choice(DIMS)), KS[rng.integers(len(KS))], METRICS[run % len(METRICS)]
    if law in GROUPS:
        n = {"far": n, "small": max(n, 60)}.get(law, (60, 200, 800)[run // 3 % 3])
        d, k = (2, 10, 50)[run // 9 % 3], GROUPS[law][1]
    return min(n, 400) if d == 50 else n, d, k, metric, rng


def judge(ddsc, path, k, metric, *more):
    done = subprocess.run([ddsc, "cluster", path, "-k", str(k), "-m", metric, "--json", "-q", "-j", "1", *more],
                          capture_output=True, text=True)
    if done.returncode not in (0, 4):
        sys.exit(f"{path} {metric}: {done.stderr}")
    found = json.loads(done.stdout)
    return {"k_used": found["chosen"]["k"], **found["verdict"], "ami": found.get("scores", {}).get("ami"),
            "sizes": found["sizes"]["clusters"]}


def one_run(args, folder, law, run):
    n, d, k, metric, rng = plan(law, run, args.seed)
    items, label = (NULLS[law](n, d, rng), None) if law in NULLS else GROUPS[law][0](n, d, rng)
    path = f"{folder}/{law}-{run}.npz"
    common.write_items(path, [(np.ones(len(x)), x) for x in items], label)
    found = judge(args.ddsc, path, k, metric)
    os.remove(path)
    return {"law": law, "run": run, "seed": args.seed, "n": n, "d": d, "k": k, "metric": metric, **found}


def read_runs(path):
    if not path or not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as f:
        return [json.loads(line) for line in f]


def make_runs(args):
    laws = args.law.split(",") if args.law else [*NULLS, *GROUPS]
    first, last = map(int, args.runs.split(":"))
    known = {(r["law"], r["run"], r["seed"]) for r in read_runs(args.out)}
    jobs = [(law, run) for run in range(first, last) for law in laws if (law, run, args.seed) not in known]
    rows = []
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for row in pool.map(lambda job: one_run(args, folder, *job), jobs):
            rows.append(append(args, row))
    return rows


def share(rows, *levels):
    return sum(r["level"] in levels for r in rows) / max(len(rows), 1)


def sum_up(rows):
    """Print the table of levels. Return True if the results miss a goal in the docstring."""
    bad, by_law = False, collections.defaultdict(list)
    for row in rows:
        by_law[row["law"]].append(row)
    print(f"{'law':10} {'runs':>5} " + " ".join(f"{level:>12}" for level in LEVELS) + "   AMI >= .9: runs, confirmed")
    for law in [name for name in [*NULLS, *GROUPS] if name in by_law]:
        some = by_law[law]
        count = collections.Counter(r["level"] for r in some)
        found = [r for r in some if (r["ami"] or 0) >= 0.9]
        power = f"   {len(found):5} {share(found, *LEVELS[:3]):7.3f}" if law in GROUPS else ""
        print(f"{law:10} {len(some):5} " + " ".join(f"{count[level]:12}" for level in LEVELS) + power)
        bad |= law in NULLS and share(some, "separate", "partly") > 0.02
    null = [r for r in rows if r["law"] in NULLS]
    found = [r for r in rows if r["law"] in GROUPS and (r["ami"] or 0) >= 0.9]
    print(f"without clusters: {len(null)} runs, {share(null, 'separate', 'partly'):.4f} separate or partly, "
          f"{share(null, 'reproducible'):.4f} reproducible")
    print(f"clusters found: {len(found)} runs, {share(found, *LEVELS[:3]):.3f} separate, partly or reproducible, "
          f"{share(found, 'one_cloud'):.3f} one cloud")
    bad |= share(null, "separate", "partly") > 0.005 or share(null, "reproducible") > 0.01
    return bad or (found and (share(found, *LEVELS[:3]) < 0.85 or share(found, "one_cloud") > 0))


def ranks(x):
    """Return ranks; equal values have the mean of their ranks."""
    x = np.asarray(x, float)
    return (x[:, None] > x).sum(1) + 0.5 * (x[:, None] == x).sum(1)


def append(args, row):
    if args.out:
        with open(args.out, "a", encoding="utf-8") as f:
            f.write(json.dumps(row) + "\n")
    return row


def spread(args):
    """Return True if the mean AMI of any setting with clusters of different spread is below 0.95."""
    rows, bad = read_runs(args.out), False
    known = {(r["n"], r["d"], r["metric"], r["run"]) for r in rows}
    jobs = [(n, d, m, run) for n in (60, 200, 800) for d in (10, 50) for m in ("w2", "lot", "sinkhorn") for run in range(3)]
    with tempfile.TemporaryDirectory() as folder:
        for n, d, metric, run in (job for job in jobs if job not in known):
            items, label = law_spread(n, d, np.random.default_rng([args.seed, n, d, run]))
            common.write_items(f"{folder}/x.npz", [(np.ones(len(x)), x) for x in items], label)
            rows.append(append(args, {"n": n, "d": d, "metric": metric, "run": run, **judge(args.ddsc, f"{folder}/x.npz", 2, metric)}))
    for n, d, metric in sorted({(r["n"], r["d"], r["metric"]) for r in rows}):
        some = [r for r in rows if (r["n"], r["d"], r["metric"]) == (n, d, metric)]
        mean = np.mean([r["ami"] for r in some])
        bad |= mean < 0.95
        print(f"{n:4} items, {d:2} dimensions, {metric:8} AMI {mean:.3f} (least {min(r['ami'] for r in some):.3f}), "
              f"{', '.join(sorted({r['level'] for r in some}))}")
    return bad


def whole_set(args, name, out, folder):
    """Write a whole set (1,000 images), without the rules of `ddsc text`, which older programs cannot read."""
    if name in defaults.IMAGES:
        return common.image_set(args.ddsc, args.data, name, 1000, out)
    path = f"{args.data}/more/{name}.npz"
    if name in defaults.TEXT:
        defaults.make_text(args, name, path := f"{folder}/text.npz")
    z = np.load(path)
    np.savez(out, **{key: z[key] for key in ("support", "indices", "points", "weights", "offsets", "labels") if key in z})
    return None


def strength(row):
    """Return the rank of a level, or of the corresponding word in versions up to 0.2."""
    levels = LEVELS if "level" in row else ("clear", "weak", "undecided", "none")
    return -levels.index(row.get("level", row["structure"]))


def real(args):
    rows = read_runs(args.out)
    known = {(r["law"], r["metric"], r["program"]) for r in rows}
    programs = {"now": args.ddsc} | ({"before": args.before} if args.before else {})
    for name in defaults.IMAGES + defaults.MORE + defaults.TEXT:
        jobs = [(m, title) for m in METRICS for title in programs if (name, m, title) not in known]
        with tempfile.TemporaryDirectory() as folder:
            if jobs:
                whole_set(args, name, f"{folder}/x.npz", folder)
            for metric, title in jobs:
                truth = np.load(f"{folder}/x.npz")["labels"]
                found = judge(programs[title], f"{folder}/x.npz", len(set(truth.tolist())), metric)
                rows.append(append(args, {"law": name, "metric": metric, "program": title, "n": len(truth), **found}))
    print(f"{'set':14} {'items':>6} {'metric':7} {'program':7} {'level':13} {'AMI':>6} {'halves':>7} {'separate':>9} {'starts':>7}")
    for r in rows:
        e = r["evidence"]
        print(f"{r['law']:14} {r['n']:6} {r['metric']:7} {r['program']:7} {r.get('level', r['structure']):13} {r['ami']:6.3f} "
              f"{e['halves_agree']:7.2f} {e['items_parted'] / r['n']:9.2f} {e.get('starts_agree') or np.nan:7.2f}")
    for title in programs:
        some = [r for r in rows if r["program"] == title]
        rank = np.corrcoef(ranks([strength(r) for r in some]), ranks([r["ami"] for r in some]))[0, 1]
        print(f"rank correlation of the level with AMI, {title}, {len(some)} runs: {rank:.2f}")
    return False


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--ddsc", default=f"{common.BUILD}/ddsc")
    parser.add_argument("--data", default=common.DATA)
    parser.add_argument("--law", help="names of distributions, comma-separated; default: all")
    parser.add_argument("--runs", default="0:150", help="FIRST:END, for every distribution")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", help="file to which runs are appended, and whose runs are skipped")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--sum-up", action="store_true", help="only print the table for the runs in --out")
    parser.add_argument("--real", action="store_true", help="real sets of bench/defaults.py at the true K")
    parser.add_argument("--spread", action="store_true", help="clusters that differ by spread: AMI of w2, lot and sinkhorn")
    parser.add_argument("--before", help="--real: another program, on the same files")
    parser.add_argument("--words", default="general", help=argparse.SUPPRESS)
    parser.add_argument("--quick", action="store_true", help="five runs of every distribution")
    args = parser.parse_args()
    if args.real:
        return int(os.path.isdir(args.data) and real(args))
    if args.spread:
        return int(spread(args))
    if args.quick:
        args.runs = "0:5"
    rows = [] if args.sum_up else make_runs(args)
    return int(bool(sum_up(read_runs(args.out) if args.out else rows)))


if __name__ == "__main__":
    sys.exit(main())
