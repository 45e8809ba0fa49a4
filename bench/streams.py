#!/usr/bin/python3
"""Measures how `ddsc update` announces new clusters when a set grows in batches.

    bench/streams.py [--ddsc PROGRAM] [--data DIR] [--stream mnist|fashion|notmnist|bbc|ng6|reuters5]
                     [--new 0,6] [--streams 20] [--metric w2] [--table FILE]

A result without the classes of `--new` is computed first. Its K is the number of its classes. Then batches arrive, which
contain items of all classes. `--new none` is a stream of the same classes, in which every announcement is false. An
announcement is correct if most items of the new cluster are of a new class that has not been announced yet. Each
stream has its own seed, which selects the items. Prints for each stream the number of items of a class when it was
announced, the number of false announcements, and the numbers of old clusters that are not used any more. `--table`
writes the values of all candidates as JSON lines.
"""
import argparse
import collections
import csv
import gzip
import json
import os
import sys
import tempfile

import numpy as np

from common import BUILD, DATA, cpu_of, image_set

IMAGES, TEXTS = ("mnist", "fashion", "notmnist"), ("bbc", "ng6", "reuters5")
# Items per class: first result, and each batch for old and for new classes.
SIZES = {"notmnist": (50, 3, 3), "ng6": (50, 5, 5), "bbc": (100, 4, 25), "reuters5": (100, 4, 15)}
FIRST = (60, 3, 12)


class Images:
    def __init__(self, args, folder):
        path = os.path.join(folder, "source.npz")
        if args.stream == "notmnist":
            path = f"{args.data}/more/notmnist.npz"
        else:
            image_set(args.ddsc, args.data, {"fashion": "fashion-mnist"}.get(args.stream, args.stream), 5000, path)
        self.z = dict(np.load(path))
        self.labels = [str(label) for label in self.z["labels"]]

    def write(self, rows, path, first):
        at, z = self.z["offsets"], self.z
        parts = [slice(at[i], at[i + 1]) for i in rows]
        index = "indices" if "indices" in z else "points"
        support = {"support": z["support"]} if "support" in z else {}
        np.savez(path, **support, **{index: np.concatenate([z[index][p] for p in parts])},
                 weights=np.concatenate([z["weights"][p] for p in parts]), ids=np.array([f"d{i}" for i in rows]),
                 offsets=np.concatenate([[0], np.cumsum([p.stop - p.start for p in parts])]))
        return path


class Documents:
    def __init__(self, args, folder):
        self.args = args
        name, columns = {"bbc": ("text/bbc", ("abstract",)), "ng6": ("more/ng6", ("text",)),
                         "reuters5": ("text/reuters5", ("title", "body"))}[args.stream]
        with gzip.open(f"{args.data}/{name}.tsv.gz", "rt", encoding="utf-8", errors="replace") as file:
            rows = [r for r in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
                    if r.get("modapte", "yes") == "yes"]
        rows = [r for r in rows if sum(len(r[c]) for c in columns) > 40]
        self.texts = [" ".join(r[c] for c in columns) for r in rows]
        self.labels = [r["label"] for r in rows]

    def write(self, rows, path, first):
        with open(path + ".tsv", "w", encoding="utf-8") as file:
            file.write("id\ttext\n" + "".join(f"d{i}\t{self.texts[i]}\n" for i in rows))
        words = ["--like", first] if first else ["--vectors", f"{self.args.data}/text/glove.6B.100d.subset.txt.gz"]
        cpu_of([self.args.ddsc, "text", path + ".tsv", *words, "--on-empty", "drop", "-q", "--force", "-o", path])
        return path


def schedule(source, args, seed):
    """Return the items of the first result and of each batch."""
    rng = np.random.default_rng(seed)
    first, batch_old, batch_new = SIZES.get(args.stream, FIRST)
    of = collections.defaultdict(list)
    for i in rng.permutation(len(source.labels)):
        of[source.labels[i]].append(i)
    old = [c for c in sorted(of) if c not in args.new]
    start = [i for c in old for i in of[c][:first]]
    batches = []
    for b in range(args.batches):
        rows = [i for c in old for i in of[c][first + b * batch_old:first + (b + 1) * batch_old]]
        rows += [i for c in args.new for i in of[c][b * batch_new:(b + 1) * batch_new]]
        batches.append(rng.permutation(rows))
    return len(old), rng.permutation(start), batches


def read(folder):
    with open(os.path.join(folder, "result.json")) as file:
        result = json.load(file)
    with open(os.path.join(folder, "labels.csv")) as file:
        labels = {row["id"]: int(row["label"]) for row in csv.DictReader(file)}
    return result, labels


def stream(args, source, seed, folder, table):
    place = lambda name: os.path.join(folder, f"{seed}-{name}")  # noqa: E731
    class_of = lambda name: source.labels[int(name[1:])]  # noqa: E731
    k, start, batches = schedule(source, args, seed)
    first = place("first")
    cpu_of([args.ddsc, "cluster", source.write(start, place("first.npz"), None), "-k", k, "-m", args.metric,
            "-q", "--threads", 1, "-o", first])
    before, arrived, told, false = first, collections.Counter(), {}, []
    for b, rows in enumerate(batches):
        now = place(f"batch{b}")
        cpu_of([args.ddsc, "update", before, source.write(rows, place("new.npz"), first), "-q", "--threads", 1, "-o", now])
        arrived.update(source.labels[i] for i in rows)
        before = now
        result, labels = read(now)
        for found in result["update"].get("candidates", []):
            row = {"stream": seed, "batch": b, "arrived": {c: arrived[c] for c in args.new}, **found}
            if found["accepted"]:
                held = collections.Counter(class_of(i) for i, c in labels.items() if c == found["cluster"])
                name, most = held.most_common(1)[0]
                row["classes"] = dict(held)
                if name in args.new and name not in told and 2 * most > found["size"]:
                    told[name] = arrived[name]
                else:
                    false.append(f"batch {b}: {dict(held)}")
            table.append(row)
    result, labels = read(before)
    lost = [c for c in range(k) if c in result["unused_numbers"]]
    print(f"stream {seed}: announced at {told or 'never'}; false {false or 0}; numbers not used any more {lost or 0}",
          flush=True)
    return told, len(false), len(lost)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ddsc", default=os.path.join(BUILD, "ddsc"))
    parser.add_argument("--data", default=DATA)
    parser.add_argument("--stream", choices=IMAGES + TEXTS, default="mnist")
    parser.add_argument("--new", default="0,6")
    parser.add_argument("--metric", default="w2")
    parser.add_argument("--streams", type=int, default=20)
    parser.add_argument("--batches", type=int, default=6)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--table")
    args = parser.parse_args()
    args.new = [] if args.new == "none" else args.new.split(",")
    table, results = [], []
    with tempfile.TemporaryDirectory() as folder:
        source = (Images if args.stream in IMAGES else Documents)(args, folder)
        unknown = [c for c in args.new if c not in source.labels]
        if unknown:
            sys.exit(f"--new: the set has no class {unknown[0]}")
        for s in range(args.streams):
            results.append(stream(args, source, args.seed + s, folder, table))
    for c in args.new:
        at = [told[c] for told, _, _ in results if c in told]
        print(f"class {c}: announced in {len(at)} of {len(results)} streams" +
              (f", with {min(at)} to {max(at)} items (median {np.median(at):g})" if at else ""))
    print(f"false announcements: {sum(f for _, f, _ in results)} in {sum(f > 0 for _, f, _ in results)} of {len(results)} "
          f"streams; numbers of old clusters not used any more: {sum(n for _, _, n in results)}")
    if args.table:
        with open(args.table, "w") as file:
            file.writelines(json.dumps(row) + "\n" for row in table)


if __name__ == "__main__":
    main()
