#!/usr/bin/python3
"""Evaluates the recommendations of `ddsc compare`.

    bench/compare.py [--words fitted|general] [--sets corel,ng6] [--seeds 101,102,103]

For each set and seed of bench/defaults.py, all metrics are compared with the true K. Labels are used only for scores.
The table lists the AMI of each metric, the recommended metric with its lead in stability, and its loss relative to the
best metric. A summary shows how often the recommended metric, and how often each fixed metric, is within 0.02 of the
best one, by the size of the lead.
"""
import argparse
import json
import os
import sys
import tempfile

import numpy as np

from defaults import HERE, IMAGES, METRICS, MORE, TEXT, make_subset, run

NEAR = 0.02


def one(args, name, seed, folder):
    path = f"{folder}/{name}-{seed}.npz"
    make_subset(args, name, path, seed, folder)
    k = len(set(np.load(path)["labels"].tolist()))
    told = json.loads(run(args.ddsc, "compare", path, "-k", k, "--seed", seed, "--threads", 1, "--json", "-q"))
    ami = {m["metric"]: m["scores"]["ami"] for m in told["metrics"]}
    row = {"ami": ami, "taken": told["recommended"], "sure": told["sure"],
           "lost": max(ami.values()) - ami[told["recommended"]]}
    print(f"{name:14} {seed} " + " ".join(f"{ami[m]:7.3f}" for m in METRICS)
          + f"  {row['taken']:9} {row['lost']:6.3f}  {row['sure']}", flush=True)
    return row


def say(title, lost, ami):
    if lost:
        print(f"{title:26} within {NEAR} of the best in {sum(x <= NEAR for x in lost)} of {len(lost)}, "
              f"worst loss {max(lost):.3f}, mean AMI {np.mean(ami):.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--ddsc", default=f"{HERE}/../build/ddsc")
    parser.add_argument("--data", default=os.environ.get("DDSC_DATA", f"{HERE}/../../shared/data"))
    parser.add_argument("--words", default="fitted")
    parser.add_argument("--sets", default=",".join(MORE + TEXT + IMAGES))
    parser.add_argument("--seeds", default="101,102,103")
    args = parser.parse_args()
    if not os.path.isdir(args.data):
        return print("skipped: no folder of real data")
    print(f"{'set':14} seed " + " ".join(f"{m:>7}" for m in METRICS) + "  taken     lost    sure")
    with tempfile.TemporaryDirectory() as folder:
        rows = [one(args, name, int(seed), folder) for seed in args.seeds.split(",") for name in args.sets.split(",")]
    say("recommended", [r["lost"] for r in rows], [r["ami"][r["taken"]] for r in rows])
    for sure in ("clear", "slight", "no difference"):
        some = [r for r in rows if r["sure"] == sure]
        say(f"  {sure}", [r["lost"] for r in some], [r["ami"][r["taken"]] for r in some])
    for metric in METRICS:
        say(f"always {metric}", [max(r["ami"].values()) - r["ami"][metric] for r in rows],
            [r["ami"][metric] for r in rows])
    say("the best, by the labels", [0.0 for r in rows], [max(r["ami"].values()) for r in rows])
    return 0


if __name__ == "__main__":
    sys.exit(main())
