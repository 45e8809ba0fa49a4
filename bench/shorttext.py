#!/usr/bin/python3
"""Measures the clustering of short documents without a vector file, next to LSA, NMF and BERTopic.

    bench/shorttext.py [SET.tsv[.gz]...] [--ddsc PROGRAM] [--data DIR] [--seeds 0,1,2] [--k K] [--limit N]
                       [--grow N] [--topics K] [--peers lsa,nmf,bertopic] [--model DIR]
                       [-- OPTIONS OF `ddsc cluster`]

A set is a table with the columns `label` and `text` (default: every file in DIR/shorttext). `ddsc text` and `ddsc
cluster` run on one thread with the true K, or with K clusters, and defaults otherwise. Options after `--` are passed to
`ddsc cluster`. `--limit` draws N documents from each set. `--grow` draws N documents with repetition from each set and
replaces one word in five with a random word of the set. `--topics` generates a set of K topics instead of using the
default sets: 40 documents per topic, each with 4 to 8 words of its topic and 2 words of any topic. The other methods
receive the same documents and the same K:
- lsa: 100 singular vectors of log(1 + count) x idf with rows of length 1, k-means with 10 starts (scikit-learn)
- nmf: factors of that matrix with rows of length 1; the cluster of a document is its largest factor (scikit-learn)
- bertopic: BERTopic with the sentence-transformers model in --model and k-means instead of HDBSCAN, so that it
  finds K topics too. It is skipped if the package or the model is missing.
The table lists means over the seeds of NMI, ACC (the best one-to-one assignment of clusters to classes), AMI, CPU
seconds and peak memory. The lines below list the CPU seconds of ddsc by stage. Documents that ddsc omits because no
word has a weight are assigned to cluster 0.

NMI and AMI of the clustered documents, as ddsc prints them, are compared with scikit-learn's. The exit code is 1 if
they differ, if there are not K clusters, or if the mean NMI over all sets is below that of LSA.
"""
import argparse
import csv
import glob
import gzip
import importlib.util
import json
import os
import random
import subprocess
import sys
import tempfile

import common
import numpy as np

LSA_DIMENSIONS = 100
REPLACED = 0.2  # share of replaced words in grown sets
SAME_SCORE = 1e-9
METHODS = ("ddsc", "lsa", "nmf", "bertopic")
# Runs a program in a separate process, then prints its CPU seconds and its peak memory. Otherwise, the peak would
# include the memory of the process that started the program.
MEASURED = """
import os, subprocess, sys
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
_, status, used = os.wait4(process.pid, 0)
print(os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)
"""


# ---- data and scores ----

def read_set(path, limit):
    """Return texts and class numbers of a table, or of a random sample of its rows."""
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8", newline="") as f:
        rows = list(csv.DictReader(f, delimiter="\t", quoting=csv.QUOTE_NONE))
    if not rows or not {"label", "text"} <= set(rows[0]):
        sys.exit(f"{path}: expected a table with the columns label and text")
    if 0 < limit < len(rows):
        rows = [rows[i] for i in sorted(random.Random(0).sample(range(len(rows)), limit))]
    names = sorted({row["label"] for row in rows})
    return [" ".join(row["text"].split()) for row in rows], np.array([names.index(row["label"]) for row in rows])


def grow(texts, truth, n):
    """Draw documents with repetition, and replace words with words of random documents."""
    source, words = random.Random(0), [text.split() for text in texts]
    everything = [word for text in words for word in text]
    picked = [source.randrange(len(words)) for _ in range(n)]
    grown = [" ".join(source.choice(everything) if source.random() < REPLACED else w for w in words[i]) for i in picked]
    return grown, truth[picked]


def write_topics(path, k):
    """Write a set of k topics. A topic has 20 words, a third of which it shares with the next topic. Frequencies follow
    Zipf's law."""
    source, zipf = random.Random(0), [1 / rank for rank in range(1, 21)]
    common = [f"common{i}" for i in range(200)]
    with open(path, "w", encoding="utf-8", newline="\n") as f:
        f.write("label\ttext\n")
        for topic in range(k):
            own = [f"word{14 * topic + i}" for i in range(20)]
            for _ in range(40):
                words = source.choices(own, zipf, k=source.randint(4, 8)) + source.choices(common, k=2)
                f.write(f"t{topic}\t{' '.join(source.sample(words, len(words)))}\n")


def scores_of(truth, labels):
    from scipy.optimize import linear_sum_assignment
    from sklearn.metrics import adjusted_mutual_info_score, normalized_mutual_info_score
    from sklearn.metrics.cluster import contingency_matrix
    table = contingency_matrix(truth, labels)
    matched = table[linear_sum_assignment(-table)].sum() / len(truth)
    return [normalized_mutual_info_score(truth, labels), matched, adjusted_mutual_info_score(truth, labels)]


# ---- ddsc ----

def measure(*command):
    """Return CPU seconds and peak memory (MiB) of a program."""
    done = subprocess.run([sys.executable, "-S", "-c", MEASURED, *map(str, command)], capture_output=True, text=True)
    code, cpu, peak = done.stdout.split()
    if code not in ("0", "4"):
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr}")
    return float(cpu), float(peak)


def stages_of(result, text_s, cluster_s):
    """Return CPU seconds by stage. The times of stages that run several times are added."""
    stages = {"text": text_s, "cluster": cluster_s}
    for row in result["seconds"]["stages"]:
        stages[row["stage"]] = stages.get(row["stage"], 0) + row["cpu"]
    return stages


def run_ddsc(args, folder, truth, k, seed):
    """Return labels, CPU seconds by stage, peak memory and a list of failed checks."""
    common_options = ["--seed", seed, "--threads", 1, "--quiet", "--force"]
    text_s, text_mib = measure(args.ddsc, "text", f"{folder}/d.tsv", *common_options, "-o", f"{folder}/d.npz")
    cluster_s, cluster_mib = measure(args.ddsc, "cluster", f"{folder}/d.npz", "-k", k, *common_options, "-o",
                                     f"{folder}/result", *args.options)
    with open(f"{folder}/result/result.json", encoding="utf-8") as f:
        result = json.load(f)
    with open(f"{folder}/result/labels.csv", encoding="utf-8") as f:
        found = {int(row["id"]): int(row["label"]) for row in csv.DictReader(f)}
    kept, labels = sorted(found), np.zeros(len(truth), int)
    labels[kept] = [found[i] for i in kept]
    nmi, _, ami = scores_of(truth[kept], labels[kept])
    wrong = [f"{name} is {result['scores'][name]}, scikit-learn has {value}" for name, value in
             (("nmi", nmi), ("ami", ami)) if abs(result["scores"][name] - value) > SAME_SCORE]
    if len(set(labels[kept]) - {-1}) != k:
        wrong.append(f"{len(set(labels[kept]) - {-1})} clusters instead of {k}")
    return labels, stages_of(result, text_s, cluster_s), max(text_mib, cluster_mib), wrong


# ---- peers: each runs in a separate process, which prints labels and CPU seconds ----

def lsa(texts, k, seed, _):
    from sklearn.cluster import KMeans
    from sklearn.decomposition import TruncatedSVD
    from sklearn.preprocessing import normalize
    x = word_matrix(texts, None)
    rows = TruncatedSVD(min(LSA_DIMENSIONS, min(x.shape) - 1), random_state=seed).fit_transform(x)
    return KMeans(k, n_init=10, random_state=seed).fit_predict(normalize(rows))


def nmf(texts, k, seed, _):
    from sklearn.decomposition import NMF
    return NMF(k, init="nndsvd", random_state=seed).fit_transform(word_matrix(texts, "l2")).argmax(1)


def bertopic(texts, k, seed, model):
    from bertopic import BERTopic
    from sentence_transformers import SentenceTransformer
    from sklearn.cluster import KMeans
    from umap import UMAP
    reduced = UMAP(n_neighbors=15, n_components=5, min_dist=0, metric="cosine", random_state=seed)
    topics = BERTopic(embedding_model=SentenceTransformer(model), umap_model=reduced,
                      hdbscan_model=KMeans(k, n_init=10, random_state=seed))
    return topics.fit_transform(texts)[0]


def word_matrix(texts, norm):
    from sklearn.feature_extraction.text import TfidfVectorizer
    return TfidfVectorizer(sublinear_tf=True, norm=norm, token_pattern=r"\S+").fit_transform(texts)


def peer_main(name, folder, k, seed, model):
    import time
    import warnings
    warnings.filterwarnings("ignore")
    with open(f"{folder}/texts.json", encoding="utf-8") as f:
        texts = json.load(f)
    begun = time.process_time()
    labels = {"lsa": lsa, "nmf": nmf, "bertopic": bertopic}[name](texts, int(k), int(seed), model)
    with open(f"{folder}/peer.json", "w", encoding="utf-8") as f:
        json.dump({"cpu": time.process_time() - begun, "labels": [int(c) for c in labels]}, f)


def run_peer(args, name, folder, k, seed):
    _, peak = measure(sys.executable, __file__, "--run-peer", name, folder, k, seed, args.model or "")
    with open(f"{folder}/peer.json", encoding="utf-8") as f:
        found = json.load(f)
    return found["labels"], found["cpu"], peak


def why_skipped(args, name):
    if name != "bertopic":
        return None if importlib.util.find_spec("sklearn") else "scikit-learn is not installed"
    missing = [p for p in ("bertopic", "sentence_transformers", "umap") if not importlib.util.find_spec(p)]
    return f"{missing[0]} is not installed" if missing else None if args.model else "no --model"


# ---- table ----

def run_set(args, name, path, methods, seeds):
    """Print the rows of a set. Return the mean NMI of each method, and whether all checks passed."""
    texts, truth = read_set(path, args.limit)
    if args.grow:
        texts, truth = grow(texts, truth, args.grow)
    k, rows, stages, wrong = args.k or len(set(truth)), {}, [], []
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/texts.json", "w", encoding="utf-8") as f:
            json.dump(texts, f)
        with open(f"{folder}/d.tsv", "w", encoding="utf-8", newline="\n") as f:
            f.write("id\tlabel\ttext\n" + "".join(f"{i}\t{truth[i]}\t{t}\n" for i, t in enumerate(texts)))
        for method in methods:
            for seed in seeds:
                if method == "ddsc":
                    labels, spent, peak, failed = run_ddsc(args, folder, truth, k, seed)
                    stages, cpu = [*stages, spent], spent["text"] + spent["cluster"]
                    wrong += failed
                else:
                    labels, cpu, peak = run_peer(args, method, folder, k, seed)
                rows.setdefault(method, []).append([*scores_of(truth, labels), cpu, peak])
            nmi, acc, ami, cpu, peak = np.mean(rows[method], 0)
            print(f"{name:16} {len(texts):6} {k:4} {method:9} {nmi:6.3f} {acc:6.3f} {ami:6.3f} {cpu:7.1f} {peak:8.0f}", flush=True)
    for sentence in wrong:
        print(f"{name}: not verified: {sentence}")
    mean = {stage: np.mean([row.get(stage, 0) for row in stages]) for stage in stages[0]}
    shown = [f"{stage} {s:.1f}" for stage, s in mean.items() if stage not in ("text", "cluster", "other") and s >= 0.05]
    print(f"    CPU s: text {mean['text']:.1f}, cluster {mean['cluster']:.1f} ({', '.join(shown)})", flush=True)
    return {method: np.mean(row, 0)[:3] for method, row in rows.items()}, not wrong


def compare(parser, args, paths):
    """Print the table of all sets. Return 1 if a check failed."""
    methods, fine, table = ["ddsc"], True, []
    for name in filter(None, args.peers.split(",")):
        if name not in METHODS[1:]:
            parser.error(f"no peer '{name}'; expected {', '.join(METHODS[1:])}")
        why = why_skipped(args, name)
        methods += [] if why else [name]
        print(f"{name} skipped: {why}" if why else "", end="\n" if why else "")
    print(f"{'set':16} {'N':>6} {'K':>4} {'method':9} {'NMI':>6} {'ACC':>6} {'AMI':>6} {'CPU s':>7} {'peak MiB':>8}", flush=True)
    for path in paths:
        name = os.path.basename(path).split(".")[0]
        found, verified = run_set(args, name, path, methods, [int(s) for s in args.seeds.split(",")])
        table.append(found)
        fine &= verified
    means = {m: np.mean([found[m] for found in table], 0) for m in methods}
    for method, (nmi, acc, ami) in means.items():
        print(f"{'mean':16} {'':6} {'':4} {method:9} {nmi:6.3f} {acc:6.3f} {ami:6.3f}")
    return int(not fine or ("lsa" in means and means["ddsc"][0] < means["lsa"][0]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("sets", nargs="*", help="tables with the columns label and text")
    parser.add_argument("--ddsc", default=f"{common.BUILD}/ddsc")
    parser.add_argument("--data", default=common.DATA)
    parser.add_argument("--seeds", default="0,1,2")
    parser.add_argument("--k", type=int, default=0, help="number of clusters (default: that of the classes)")
    parser.add_argument("--limit", type=int, default=0, help="number of documents to draw (default: all)")
    parser.add_argument("--grow", type=int, default=0, help="number of documents to draw with repetition and noise")
    parser.add_argument("--topics", type=int, default=0, help="number of topics of a generated set")
    parser.add_argument("--peers", default=",".join(METHODS[1:]), help="comma-separated; empty: none")
    parser.add_argument("--model", help="folder of a sentence-transformers model for bertopic")
    at = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    args = parser.parse_args(sys.argv[1:at])
    args.options = sys.argv[at + 1:]
    with tempfile.TemporaryDirectory() as folder:
        paths = args.sets or sorted(glob.glob(f"{args.data}/shorttext/*.tsv.gz"))
        if args.topics:
            paths = [*args.sets, f"{folder}/topics{args.topics}.tsv"]
            write_topics(paths[-1], args.topics)
        if not paths or not importlib.util.find_spec("sklearn"):
            print("skipped: no folder of real data" if not paths else "skipped: scikit-learn is not installed")
            return 0
        return compare(parser, args, paths)


if __name__ == "__main__":
    os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    if sys.argv[1:2] == ["--run-peer"]:
        sys.exit(peer_main(*sys.argv[2:]))
    sys.exit(main())
