#!/usr/bin/python3
"""Measures how much fitting word vectors to the set improves the AMI of the default clustering of documents.

    bench/words.py [--ddsc PROGRAM] [--data DIR] [--seeds 0,1,2] [--metric w2] [--modes general,fitted,own]
                   [--long] [--quick]

Documents of each set (seed 0: all; other seeds: a random 80%) become distributions in three ways, with `--words
general`, `fitted` and, without a vector file, `own`. They are clustered with the true K and otherwise default settings.
Long texts (abstracts, stories, messages) are listed first, then short ones (titles, the first 30 words; `--long` skips
them). The mode `pairs` is `fitted` with additional words: pairs of consecutive words that occur in at least two
documents (docs/notes/numerics.md). Values are means over the seeds. The exit code is 1 if the long texts gain less than
0.07, if a set loses more than 0.02, or if `own` is more than 0.06 below `fitted`.
"""
import argparse
import csv
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
# name, file, columns of the text, number of words to keep, further options
REUTERS = ["--tokens", "letters", "--idf", "smooth"]
LONG = [("bbc", "text/bbc", ("abstract",), None, []), ("bbcsport", "text/bbcsport", ("abstract",), None, []),
        ("reuters5", "text/reuters5", ("title", "body"), None, REUTERS),
        ("ng6", "more/ng6", ("text",), None, [])]
SHORT = [("bbc titles", "text/bbc", ("title",), None, []),
         ("bbcsport titles", "text/bbcsport", ("title",), None, []),
         ("reuters5 titles", "text/reuters5", ("title",), None, REUTERS),
         ("ng6, 30 words", "more/ng6", ("text",), 30, [])]
MODES = ("general", "fitted", "own")


def read(path, columns, n_words):
    """Return text and label of each document. Reuters uses the split of the paper."""
    with gzip.open(path, "rt", encoding="utf-8", errors="replace") as f:
        rows = list(csv.DictReader(f, delimiter="\t", quoting=csv.QUOTE_NONE))
    rows = [r for r in rows if r.get("modapte", "yes") == "yes"]
    texts = [" ".join(r[c] for c in columns) for r in rows]
    return [(" ".join(t.split()[:n_words]), r["label"]) for t, r in zip(texts, rows)]


def with_pairs(args, documents):
    with open(f"{args.data}/text/stoplist2.txt", encoding="utf-8") as f:
        stop = set(f.read().lower().split())

    def pairs(text):
        words = re.findall(r"[\w']+", text.lower())
        return [f"{a}xx{b}" for a, b in zip(words, words[1:]) if a != b and (a + b).isalpha() and not {a, b} & stop]
    found = [pairs(text) for text, _ in documents]
    n_documents = Counter(p for row in found for p in set(row))
    return [(" ".join([text, *(p for p in row if n_documents[p] > 1)]), label)
            for (text, label), row in zip(documents, found)]


def run(*words):
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True)
    if done.returncode not in (0, 4):
        sys.exit(f"{' '.join(map(str, words))}: {done.stderr}")
    return done.stdout


def score(args, folder, documents, mode, options, seed):
    if mode == "pairs":
        documents, mode = with_pairs(args, documents), "fitted"
    with open(f"{folder}/d.tsv", "w", encoding="utf-8") as f:
        f.write("text\tlabel\n" + "".join(f"{t}\t{label}\n" for t, label in documents))
    vectors = [] if mode == "own" else ["--vectors", f"{args.data}/text/glove.6B.100d.subset.txt.gz"]
    run(args.ddsc, "text", f"{folder}/d.tsv", *vectors, "--words", mode, "--stopwords",
        f"{args.data}/text/stoplist2.txt", "--on-empty", "drop", *options, "-q", "-f", "-o", f"{folder}/x.npz")
    found = run(args.ddsc, "cluster", f"{folder}/x.npz", "-k", len({label for _, label in documents}), "--metric",
                args.metric, "--seed", seed, "--json", "-q")
    return json.loads(found)["scores"]["ami"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--ddsc", default=f"{HERE}/../build/ddsc")
    parser.add_argument("--data", default=os.environ.get("DDSC_DATA", f"{HERE}/../../shared/data"))
    parser.add_argument("--seeds", default="0,1,2")
    parser.add_argument("--metric", default="w2")
    parser.add_argument("--modes", default=",".join(MODES))
    parser.add_argument("--long", action="store_true", help="long texts only")
    parser.add_argument("--quick", action="store_true", help="one seed, the smallest set")
    args = parser.parse_args()
    sets = LONG[1:2] if args.quick else LONG if args.long else LONG + SHORT
    seeds = [int(s) for s in args.seeds.split(",")][: 1 if args.quick else None]
    modes = args.modes.split(",")
    print(f"{'set':16} {'N':>5} " + " ".join(f"{m:>8}" for m in modes), flush=True)
    table = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, file, columns, n_words, options in sets:
            path = f"{args.data}/{file}.tsv.gz"
            if not os.path.exists(path):
                print(f"{name:16} skipped: no {file}.tsv.gz")
                continue
            documents, rows = read(path, columns, n_words), []
            for seed in seeds:
                keep = range(len(documents)) if seed == 0 else np.sort(np.random.default_rng(seed).choice(
                    len(documents), int(0.8 * len(documents)), replace=False))
                part = [documents[i] for i in keep]
                rows.append([score(args, folder, part, mode, options, seed) for mode in modes])
            table[name] = np.mean(rows, 0)
            print(f"{name:16} {len(documents):5} " + " ".join(f"{x:8.3f}" for x in table[name]), flush=True)
    if not table:
        return print("skipped: no folder of real data")
    for title, group in (("mean, long", LONG), ("mean, short", SHORT)):
        rows = [table[name] for name, *_ in group if name in table]
        if rows:
            print(f"{title:22} " + " ".join(f"{x:8.3f}" for x in np.mean(rows, 0)))
    if args.modes != ",".join(MODES):
        return 0
    general, fitted, own = np.mean([table[n] for n, *_ in LONG if n in table], 0)
    worst = min(x[1] - x[0] for x in table.values())
    print(f"long texts: fitted gains {fitted - general:.3f}, own is {fitted - own:.3f} below; worst set {worst:+.3f}")
    return int(not args.quick and (fitted - general < 0.07 or worst < -0.02 or fitted - own > 0.06))


if __name__ == "__main__":
    sys.exit(main())
