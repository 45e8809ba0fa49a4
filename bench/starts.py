#!/usr/bin/python3
"""Measures how much the labels depend on the seed of k-means.

    bench/starts.py [--before PROGRAM] [--jobs mnist:w2,mnist:lot,corel:w2,agnews:w2] [--seeds 0:10] [--out rows.jsonl]

Each set (1,000 digits, corel, AG News titles with fitted words) is clustered at the true K with every seed. The table
shows the mean, the smallest and the largest AMI, their difference, the smallest ARI between the labels of two seeds,
and the mean of `starts_agree`. --before runs another program on the same files. Runs that are already in --out are
skipped. The exit code is 1 if the difference between the largest and the smallest AMI of a set exceeds both 0.005 and
half the difference of the other program. Each run takes 20 CPU seconds for AG News, and 2 for the other sets.
"""
import argparse
import json
import os
import sys
import tempfile

import common
import numpy as np
from defaults import run
from sklearn.metrics import adjusted_rand_score

SETS = ("mnist:w2", "mnist:lot", "corel:w2", "agnews:w2")
ALWAYS_FINE = 0.005


def make_set(args, name, out):
    if name == "mnist":
        return common.image_set(args.ddsc, args.data, name, 1000, out)
    if name == "corel":
        z = np.load(f"{args.data}/more/corel.npz")
        return np.savez(out, **{key: z[key] for key in z})
    run(args.ddsc, "text", f"{args.data}/shorttext/{name}.tsv.gz", "--text", "text", "--vectors",
        f"{args.data}/text/glove.6B.100d.subset.txt.gz", "--stopwords", f"{args.data}/text/stoplist2.txt", "--on-empty",
        "drop", "-q", "-o", out)
    z = np.load(out)  # without the rules of `ddsc text`, which older programs cannot read
    return np.savez(out, **{key: z[key] for key in ("support", "indices", "weights", "offsets", "labels")})


def one(program, path, metric, seed):
    k = len(set(np.load(path)["labels"].tolist()))
    found = json.loads(run(program, "cluster", path, "-k", k, "-m", metric, "--seed", seed, "--threads", 1, "--json", "-q"))
    return {"ami": found["scores"]["ami"], "labels": found["labels"],
            "starts_agree": found["verdict"]["evidence"].get("starts_agree")}


def read_rows(path):
    if not path or not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as f:
        return {tuple(row["key"]): row for row in map(json.loads, f)}


def sum_up(title, job, rows):
    ami = [r["ami"] for r in rows]
    agree = [r["starts_agree"] for r in rows if r["starts_agree"] is not None]
    least = min((adjusted_rand_score(a["labels"], b["labels"]) for a in rows for b in rows if a is not b), default=np.nan)
    print(f"{job:12} {title:7} {len(rows):5} {np.mean(ami):7.3f} {min(ami):7.3f} {max(ami):7.3f} {np.ptp(ami):7.4f} "
          f"{least:9.3f} {np.mean(agree) if agree else np.nan:12.3f}", flush=True)
    return np.ptp(ami)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--ddsc", default=f"{common.BUILD}/ddsc")
    parser.add_argument("--data", default=common.DATA)
    parser.add_argument("--before", help="another program, on the same files")
    parser.add_argument("--jobs", default=",".join(SETS), help="comma-separated SET:METRIC")
    parser.add_argument("--seeds", default="0:10", help="FIRST:END")
    parser.add_argument("--out", help="file to which runs are appended, and whose runs are skipped")
    args = parser.parse_args()
    if not os.path.isdir(args.data):
        return print("skipped: no folder of real data")
    rows, bad, seeds = read_rows(args.out), False, range(*map(int, args.seeds.split(":")))
    programs = {"before": args.before, "now": args.ddsc} if args.before else {"now": args.ddsc}
    print(f"{'set':12} {'program':7} {'seeds':>5} {'mean':>7} {'least':>7} {'most':>7} {'range':>7} {'ARI least':>9} starts_agree")
    with tempfile.TemporaryDirectory() as folder:
        for job in args.jobs.split(","):
            name, metric = job.split(":")
            path, span = f"{folder}/{name}.npz", {}
            for title, program in programs.items():
                for seed in seeds:
                    key = (job, title, seed)
                    if key in rows:
                        continue
                    if not os.path.exists(path):
                        make_set(args, name, path)
                    rows[key] = {"key": key, **one(program, path, metric, seed)}
                    if args.out:
                        with open(args.out, "a", encoding="utf-8") as f:
                            f.write(json.dumps(rows[key]) + "\n")
                span[title] = sum_up(title, job, [rows[job, title, seed] for seed in seeds])
            bad |= "before" in span and span["now"] > max(span["before"] / 2, ALWAYS_FINE)
    return int(bad)


if __name__ == "__main__":
    sys.exit(main())
