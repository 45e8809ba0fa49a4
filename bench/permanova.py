#!/usr/bin/python3
"""Measures how often `ddsc.permanova` rejects at the 5% level: on null cohorts, and on cohorts with a planted effect.

    bench/permanova.py [--sets 1000] [--power 100] [--permutations 199]

A cohort has 40 patients with 200 cells in 5 dimensions, in two classes of 20. There are four kinds of null cohorts: one
distribution for all patients; a continuum of patients with random classes; one distribution with 200 cells in one class
and 50 in the other, with the recommended remedy (`per_item=50`) and, for comparison, without it; and a covariate (age)
that shifts the patients and differs between the classes, with `adjust`. There are two planted effects, in cohorts whose
patients differ from each other: the cells of one class are shifted, or a share of them is replaced with another state.
The metric is mmd with 256 random features, or lot for the cohorts with different numbers of cells, to which lot is more
sensitive. The exit code is 1 if the test rejects a kind of null cohort (other than the one without the remedy) in fewer
than 3% or more than 7% of the sets. The Python package must be installed. A run takes about 4 CPU minutes.
"""
import argparse
import sys

import numpy as np

import ddsc

PATIENTS, CELLS, DIM = 40, 200, 5
CLASS = np.repeat(["a", "b"], PATIENTS // 2)


def one_law(rng):
    return [rng.normal(size=(CELLS, DIM)) for _ in range(PATIENTS)], rng.permutation(CLASS), {}


def continuum(rng):
    clouds = [rng.normal(size=(CELLS, DIM)) for _ in range(PATIENTS)]
    for cloud, t in zip(clouds, rng.uniform(size=PATIENTS)):
        cloud[:, 0] += 3 * t
    return clouds, rng.permutation(CLASS), {}


def counts(rng):
    return [rng.normal(size=(CELLS if c == "a" else CELLS // 4, DIM)) for c in CLASS], CLASS, {}


def covariate(rng):
    age = 60 + 8 * rng.normal(size=PATIENTS) + 8 * (CLASS == "b")
    clouds = [rng.normal(size=(CELLS, DIM)) for _ in range(PATIENTS)]
    for cloud, years in zip(clouds, age):
        cloud[:, 0] += .03 * years + .3 * rng.normal()
    return clouds, CLASS, {"adjust": {"age": age}}


def planted(kind, size):
    """Patients differ by a shift with standard deviation 0.3; the classes differ by `size`."""
    def make(rng):
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
    return make


MMD = {"metric": "mmd", "mmd_features": 256}


def p_of(make, seed, permutations, per_item=None, metric=MMD):
    clouds, group, more = make(np.random.default_rng(seed))
    if per_item:
        clouds = [cloud[:per_item] for cloud in clouds]
    D = ddsc.pairwise(clouds, squared=True, random_state=seed, n_jobs=1, **metric)
    terms = ddsc.permanova(np.maximum(D, 0), {"group": group}, squared=True, permutations=permutations, random_state=seed,
                           n_jobs=1, **more)["terms"]
    return next(term["p"] for term in terms if term["column"] == "group")


def rate(name, make, n, permutations, **how):
    p = np.array([p_of(make, seed, permutations, **how) for seed in range(n)])
    share = (p <= .05).mean()
    print(f"{name:45s} {n:6d} {100 * share:8.1f}%", flush=True)
    return share


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, default=1000)
    parser.add_argument("--power", type=int, default=100)
    parser.add_argument("--permutations", type=int, default=199)
    o = parser.parse_args()
    print(f"{'cohort':45s} {'sets':>6s} {'rejected':>9s}")
    lot = {"metric": "lot"}
    null = [("one law", one_law, {}), ("continuum, random class", continuum, {}),
            ("counts differ fourfold, per_item", counts, {"per_item": CELLS // 4, "metric": lot}),
            ("covariate differs, adjusted", covariate, {})]
    shares = [rate("null: " + name, make, o.sets, o.permutations, **how) for name, make, how in null]
    rate("null: counts differ fourfold, no remedy", counts, o.power, o.permutations, metric=lot)
    for kind, sizes in ("shift", (.1, .2, .3, .4)), ("state", (.03, .05, .1)):
        for size in sizes:
            rate(f"planted: {kind} {size:g}", planted(kind, size), o.power, o.permutations)
    return 0 if all(.03 <= share <= .07 for share in shares) else 1


if __name__ == "__main__":
    sys.exit(main())
