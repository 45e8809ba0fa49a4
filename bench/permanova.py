#!/usr/bin/python3
"""Measures how often `ddsc.permanova` rejects at the 5% level: on null cohorts, and on cohorts with a planted effect.

    bench/permanova.py [--sets 1000] [--few 200] [--permutations 199] [--jobs 1]

A cohort has 40 patients with 200 cells in 5 dimensions, in two classes of 20. Null cohorts: one distribution for all
patients; a continuum of patients with a random class; numbers of cells that differ fourfold between the classes, after
the advised remedy (`per_item`); a covariate (age) that shifts the patients and differs between the classes, with
`adjust`; and pairs of samples of patients who differ, with `block`. The option `--sets` is the number of cohorts of
each kind.

For comparison, the script also generates `--few` cohorts of each of the following kinds: the first three with w2;
different numbers of cells without the remedy, and with `adjust` by log_points, which is valid only for classes of equal
size; and planted effects. In cohorts with a planted effect, patients of one class differ by random shifts with a
standard deviation of 0.3, and either the cells of one class are shifted, or a share of them is replaced by another
state. The metric is mmd. Cohorts with different numbers of cells use lot, which is more sensitive to these numbers.

The exit code is 1 if the rejection rate for any kind of null cohort is below 3% or above 7%. The Python package must be
installed. A run takes about 20 CPU minutes.
"""
import argparse
import concurrent.futures
import functools
import sys

import numpy as np

import ddsc

PATIENTS, CELLS, DIM, LEAST = 40, 200, 5, 50
CLASS = np.repeat(["a", "b"], PATIENTS // 2)


def one_law(rng):
    return [rng.normal(size=(CELLS, DIM)) for _ in range(PATIENTS)], rng.permutation(CLASS), {}


def continuum(rng):
    clouds = [rng.normal(size=(CELLS, DIM)) for _ in range(PATIENTS)]
    for cloud, t in zip(clouds, rng.uniform(size=PATIENTS)):
        cloud[:, 0] += 3 * t
    return clouds, rng.permutation(CLASS), {}


def counts(rng, group=CLASS, spread=.0, adjust=False):
    """About 200 cells in class a and 50 in class b; `spread` is the standard deviation of the log of the numbers."""
    number = np.where(group == "a", CELLS, LEAST) * np.exp(spread * rng.normal(size=PATIENTS))
    number = np.maximum(np.round(number).astype(int), 10)
    more = {"adjust": {"log_points": np.log(number)}} if adjust else {}
    return [rng.normal(size=(n, DIM)) for n in number], group, more


def covariate(rng):
    age = 60 + 8 * rng.normal(size=PATIENTS) + 8 * (CLASS == "b")
    clouds = [rng.normal(size=(CELLS, DIM)) for _ in range(PATIENTS)]
    for cloud, years in zip(clouds, age):
        cloud[:, 0] += .03 * years + .3 * rng.normal()
    return clouds, CLASS, {"adjust": {"age": age}}


def pairs(rng):
    """Two samples of each of 20 patients, who form a continuum."""
    clouds = [rng.normal(size=(CELLS, DIM)) for _ in range(PATIENTS)]
    for i, t in enumerate(rng.uniform(size=PATIENTS // 2)):
        clouds[2 * i][:, 0] += 3 * t
        clouds[2 * i + 1][:, 0] += 3 * t
    return clouds, np.tile(["a", "b"], PATIENTS // 2), {"block": np.arange(PATIENTS) // 2}


def planted(rng, kind, size):
    clouds = []
    for c in CLASS:
        cloud = rng.normal(size=(CELLS, DIM)) + .3 * rng.normal(size=DIM)
        if c == "b" and kind == "shift":
            cloud[:, 0] += size
        if kind == "state":  # a state that holds 10% of the cells, and more in one class
            share = .1 + size * (c == "b")
            cloud[rng.uniform(size=CELLS) < share, 1] += 4
        clouds.append(cloud)
    return clouds, CLASS, {}


def p_of(seed, make, permutations, metric, per_item=None):
    clouds, group, more = make(np.random.default_rng(seed))
    X = ddsc.Distributions(clouds)
    if per_item:
        X = X.transformed(per_item=per_item, random_state=seed)
    D = ddsc.pairwise(X, squared=True, metric=metric, random_state=seed, n_jobs=1)
    terms = ddsc.permanova(np.maximum(D, 0), {"group": group}, squared=True, permutations=permutations, random_state=seed,
                           n_jobs=1, **more)["terms"]
    return next(term["p"] for term in terms if term["column"] == "group")


def rate(o, pool, name, make, n, metric="mmd", **how):
    p = np.array(list(pool(functools.partial(p_of, make=make, permutations=o.permutations, metric=metric, **how), range(n))))
    share = (p <= .05).mean()
    print(f"{name:62s} {metric:6s} {n:6d} {100 * share:8.1f}%", flush=True)
    return share


def measure(o, pool):
    per_item = {"per_item": LEAST}
    shares = [rate(o, pool, "null: " + name, make, o.sets, **how) for name, make, how in (
        ("one distribution", one_law, {}), ("continuum, random class", continuum, {}),
        ("numbers differ fourfold, per_item", counts, {"metric": "lot", **per_item}),
        ("covariate differs, adjusted", covariate, {}), ("pairs, blocks", pairs, {}))]
    for name, make, how in (("one distribution", one_law, {}), ("continuum, random class", continuum, {}),
                            ("numbers differ fourfold, per_item", counts, per_item)):
        rate(o, pool, "null: " + name, make, o.few, "w2", **how)
    rate(o, pool, "numbers differ fourfold, no remedy", counts, o.few, "lot")
    for n in PATIENTS // 2, 3 * PATIENTS // 4, PATIENTS // 4:
        make = functools.partial(counts, group=np.repeat(["a", "b"], [n, PATIENTS - n]), spread=.5, adjust=True)
        rate(o, pool, f"numbers differ fourfold, classes of {n} and {PATIENTS - n}, log_points", make, o.few, "lot")
    for kind, sizes in ("shift", (.1, .2, .3, .4)), ("state", (.03, .05, .1)):
        for size in sizes:
            rate(o, pool, f"planted: {kind} {size:g}", functools.partial(planted, kind=kind, size=size), o.few)
    return 0 if all(.03 <= share <= .07 for share in shares) else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, default=1000)
    parser.add_argument("--few", type=int, default=200)
    parser.add_argument("--permutations", type=int, default=199)
    parser.add_argument("--jobs", type=int, default=1)
    o = parser.parse_args()
    print(f"{'cohort':62s} {'metric':6s} {'sets':>6s} {'rejected':>9s}")
    if o.jobs == 1:
        return measure(o, map)
    with concurrent.futures.ProcessPoolExecutor(o.jobs) as workers:
        return measure(o, functools.partial(workers.map, chunksize=10))


if __name__ == "__main__":
    sys.exit(main())
