#!/usr/bin/python3
"""Measures the quality of the K chosen by `-k auto` if classes differ in size.

    bench/choice.py [--before PROGRAM] [--metrics w2,mmd,lot] [--sets corel,ng6] [--seeds 1,2]

Classes are drawn from each set of bench/defaults.py with eleven size distributions: all equal, sizes
decreasing by 0.7 or 0.5, 10 : 5 : 2 : 1, one large class of five, one rare class of four, two classes with
ratios of one, four, six or ten, and three with 4 : 2 : 1. The table lists the chosen K, the true K and the AMI for
both. A summary by number of classes shows how often K was correct or within one, and the mean AMI, for this program and
for another one.
"""
import argparse
import json
import os
import sys
import tempfile
import types

import numpy as np

from defaults import HERE, IMAGES, MORE, TEXT, make_subset, run

MANNERS = {"alike": (1,) * 10, "falling": tuple(.7 ** i for i in range(6)), "steep": tuple(.5 ** i for i in range(5)),
           "ten": (1, .5, .2, .1), "big": (1, .15, .15, .15, .15), "rare": (.25, 1, 1, 1), "two": (1, 1), "four to one": (1, .25),
           "six to one": (1, .16), "ten to one": (1, .1), "three": (1, .5, .25)}


def draw(path, out, sizes, seed):
    """Draw random items of the classes with the given proportions. The largest class is as large as possible, but has
    at most 130 items."""
    z, rng = np.load(path, allow_pickle=False), np.random.default_rng(seed)
    at, labels = z["offsets"], z["labels"]
    filled = np.diff(at) > 0
    classes = rng.permutation(np.unique(labels))[:len(sizes)]
    have = [np.flatnonzero((labels == c) & filled) for c in classes]
    most = min(130, *(len(h) / s for h, s in zip(have, sizes)))
    keep = np.sort(np.concatenate([rng.choice(h, max(int(most * s), 8), replace=False) for h, s in zip(have, sizes)]))
    entry = np.concatenate([np.arange(at[i], at[i + 1]) for i in keep])
    points = z["support"][z["indices"][entry]] if "indices" in z else z["points"][entry]
    np.savez(out, points=points, weights=z["weights"][entry], labels=labels[keep],
             offsets=np.concatenate([[0], np.cumsum([at[i + 1] - at[i] for i in keep])]))
    return len(classes)


def taken(program, path, metric):
    told = json.loads(run(program, "cluster", path, "-m", metric, "-k", "auto", "--threads", 1, "--json", "-q"))
    return told["k"], told["scores"]["ami"], {r["k"]: r["scores"]["ami"] for r in told["sweep"]}


def sum_up(title, rows):
    if rows:
        off = np.abs([k - true for k, true, _ in rows])
        print(f"{title:28} {len(rows):4} runs: right {np.sum(off == 0)}, within one {np.sum(off <= 1)}, "
              f"AMI {np.mean([ami for _, _, ami in rows]):.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--ddsc", default=f"{HERE}/../build/ddsc")
    parser.add_argument("--data", default=os.environ.get("DDSC_DATA", f"{HERE}/../../shared/data"))
    parser.add_argument("--before", help="another program, for a second line")
    parser.add_argument("--words", default="fitted")
    parser.add_argument("--metrics", default="w2,mmd,lot")
    parser.add_argument("--sets", default=",".join(MORE + TEXT + IMAGES))
    parser.add_argument("--seeds", default="1,2")
    args = parser.parse_args()
    if not os.path.isdir(args.data):
        return print("skipped: no folder of real data")
    rows = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in args.sets.split(","):
            source = f"{folder}/{name}.npz"
            make_subset(types.SimpleNamespace(**vars(args)), name, source, 1, folder)
            for seed, (manner, sizes) in [(int(s), m) for s in args.seeds.split(",") for m in MANNERS.items()]:
                path = f"{folder}/drawn.npz"
                true = draw(source, path, sizes, seed)
                for metric in args.metrics.split(","):
                    for title, program in (("now", args.ddsc), ("before", args.before)):
                        if program:
                            k, ami, all_k = taken(program, path, metric)
                            rows.setdefault((title, true >= 4), []).append((k, true, ami))
                            print(f"{name:14} {manner:12} {seed} {metric:5} {title:7} K {k:2} of {true:2}  {ami:.3f} ({all_k[true]:.3f})", flush=True)
    for many, title in [(many, title) for many in (True, False) for title in ("before", "now")]:
        sum_up(f"{'four classes or more' if many else 'two or three'}, {title}", rows.get((title, many), []))


if __name__ == "__main__":
    sys.exit(main())
