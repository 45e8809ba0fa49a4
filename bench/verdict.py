#!/usr/bin/python3
"""Measures false alarms and power of the verdict on cluster structure.

    bench/verdict.py [--metrics w2,mmd] [--quick] [--only noise,continuum,thin,skewed,small,real]

noise: 50 sets whose items are samples of one distribution (normal or uniform; 100 to 1,000 items in 2, 10 and
100 dimensions). continuum: 20 sets whose means follow one normal distribution, lie along a line or an arc, or
fill a square. thin: 10 sets of 300 and 1,000 items that are points on a line. skewed: 24 continua of 300, 1,000
and 3,000 items whose means have uneven densities or heavy tails (Cauchy, Student with 3 degrees of freedom,
lognormal, exponential). small: 18 sets of 16, 40 and 70 items of these kinds. K cycles through 2, 3, 5, 8. Every
verdict except "clear" is correct for these sets, and "weak" on noise is counted separately. real: sets with
known classes, clustered with the true K, for which "clear" is correct and "weak" is counted separately.
--quick: every fifth set, two metrics. The exit code is 1 if more than 5% of the sets without clusters are
called clear. A run takes about 25 minutes on two busy cores.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

import common

KS = (2, 3, 5, 8)
METRICS = ("w2", "sinkhorn", "mmd", "lot")
CONTINUA = ("means", "line", "bow", "square")
SKEWED = ("cauchy line", "cauchy", "lognormal", "lognormal 2", "student", "exponential")


def cloud(law, d, rng):
    """Return the points of one item."""
    m = 15
    if law == "thread":
        return rng.random((1, d))
    if law == "uniform":
        return rng.random((rng.integers(10, 30), d))
    shift = np.zeros(d)
    if law == "means":
        shift = rng.normal(size=d)
    elif law == "line":
        shift[0] = 6 * rng.random()
    elif law == "bow":
        t = 3 * rng.random()
        shift[:2] = 6 * np.cos(t), 6 * np.sin(t)
    elif law == "square":
        shift[:2] = 6 * rng.random(2)
    elif law in SKEWED:
        shift[:2] = {"cauchy line": lambda: (3 * rng.standard_cauchy(), 0),
                     "cauchy": lambda: 3 * rng.normal(size=2) / abs(rng.normal()),
                     "lognormal": lambda: np.exp(rng.normal(size=2)),
                     "lognormal 2": lambda: np.exp(2 * rng.normal(size=2)),
                     "student": lambda: 3 * rng.standard_t(3, size=2),
                     "exponential": lambda: 4 * rng.exponential(size=2)}[law]()
        return shift + 0.3 * rng.normal(size=(8, d))
    return shift + {"bow": 0.3, "square": 0.5}.get(law, 1.0) * rng.normal(size=(m, d))


def plan():
    """Return (kind, distribution, n, d, seed) of every synthetic set."""
    sizes, dims = (100, 200, 300, 500, 1000), (2, 10, 100)
    sets = []
    for i in range(50):
        n, d = sizes[i % 5], dims[i // 5 % 3]
        sets.append(("noise", ("normal", "uniform")[i // 2 % 2], min(n, 300) if d == 100 else n, d, i))
    for i in range(20):
        n, d = sizes[i % 5], dims[i // 5 % 3]
        sets.append(("continuum", CONTINUA[i % 4], min(n, 300) if d == 100 else n, d, 100 + i))
    for i in range(10):
        sets.append(("thin", "thread", (300, 1000)[i % 2], 1, 300 + i))
    for i in range(24):
        sets.append(("skewed", SKEWED[i % 6], (300, 1000, 1000, 3000)[i // 6], 2, 400 + i))
    for i in range(18):
        sets.append(("small", ("normal", "uniform", *CONTINUA)[i % 6], (16, 40, 70)[i // 6], dims[i % 3], 200 + i))
    return sets


def judge(ddsc, path, k, metric):
    done = subprocess.run([ddsc, "cluster", path, "-k", str(k), "-m", metric, "--json", "-q", "-j", "1"],
                          capture_output=True, text=True)
    if done.returncode not in (0, 4):
        sys.exit(f"{path} {metric}: {done.stderr}")
    return json.loads(done.stdout)["verdict"]


def made_up(args, folder, metrics, kinds):
    jobs = []
    for kind, law, n, d, seed in plan()[:: 5 if args.quick else 1]:
        path = f"{folder}/{law}-{n}-{d}-{seed}.npz"
        rng = np.random.default_rng(seed)
        if kind in kinds:
            common.write_items(path, [(np.ones(len(x)), x) for x in (cloud(law, d, rng) for _ in range(n))])
            jobs += [(kind, law, path, KS[seed % 4], metric) for metric in metrics]
    found, alarms = collections.defaultdict(collections.Counter), []
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for job, verdict in zip(jobs, pool.map(lambda j: judge(args.ddsc, *j[2:]), jobs)):
            found[job[0], job[4]][verdict["structure"]] += 1
            if verdict["structure"] == "clear":
                alarms.append((os.path.basename(job[2]), *job[3:], round(verdict["evidence"]["score"], 2)))
    print(f"{'sets without clusters':22} {'metric':9} {'sets':>5} {'none':>5} {'weak':>5} {'undecided':>10} {'clear':>6}")
    for (kind, metric), count in found.items():
        print(f"{kind:22} {metric:9} {sum(count.values()):5} {count['none']:5} {count['weak']:5} {count['undecided']:10} "
              f"{count['clear']:6}")
    for alarm in alarms:
        print("  false alarm:", *alarm)
    n_sets = sum(sum(c.values()) for c in found.values())
    print(f"false alarms: {len(alarms)} of {n_sets}")
    return len(alarms) > 0.05 * n_sets


def real_sets(args, folder):
    """Return (name, path, K)."""
    for name in ("mnist", "fashion-mnist"):
        for n in (300, 1000):
            common.image_set(args.ddsc, args.data, name, n, f"{folder}/{name}-{n}.npz")
            yield f"{name} {n}", f"{folder}/{name}-{n}.npz", 10
    for name in ("bbc", "bbcsport", "reuters5"):
        common.cpu_of([args.ddsc, "text", f"{args.data}/text/{name}.tsv.gz", "--vectors",
                       f"{args.data}/text/glove.6B.100d.subset.txt.gz", "--text",
                       "title,body" if name == "reuters5" else "abstract", "--on-empty", "drop", "-q", "-o",
                       f"{folder}/{name}.npz"])
        yield name, f"{folder}/{name}.npz", 5
    common.cpu_of([args.ddsc, "convert", f"{args.data}/cytometry/pbmc8-bcrxl.tsv.gz", "--id", "sample", "--label",
                   "condition", "--drop", "patient", "--arcsinh", 5, "-q", "-o", f"{folder}/cells.npz"])
    yield "cytometry (16)", f"{folder}/cells.npz", 2
    for name, k, options in (("shapes", 2, ["--items", 150]), ("gaussians", 3, ["--items", 100])):
        common.cpu_of([args.ddsc, "generate", name, *options, "-q", "-o", f"{folder}/{name}.npz"])
        yield f"{name} {300}", f"{folder}/{name}.npz", k


def real(args, folder, metrics):
    print(f"{'sets with clusters':22} {'metric':9} {'structure':10} score")
    for name, path, k in real_sets(args, folder):
        for metric in metrics:
            verdict = judge(args.ddsc, path, k, metric)
            print(f"{name:22} {metric:9} {verdict['structure']:10} {verdict['evidence']['score']:.1f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--ddsc", default=f"{common.BUILD}/ddsc")
    parser.add_argument("--data", default=common.DATA)
    parser.add_argument("--metrics", default=",".join(METRICS))
    parser.add_argument("--only", default="noise,continuum,thin,skewed,small,real")
    parser.add_argument("--quick", action="store_true", help="every fifth set, w2 and mmd")
    args = parser.parse_args()
    metrics, kinds = ("w2", "mmd") if args.quick else args.metrics.split(","), args.only.split(",")
    with tempfile.TemporaryDirectory() as folder:
        bad = made_up(args, folder, metrics, kinds)
        if "real" in kinds and os.path.isdir(args.data):
            real(args, folder, metrics)
    return int(bad)


if __name__ == "__main__":
    sys.exit(main())
