#!/usr/bin/env python3
"""Hashes the results of the program, to show that a code change does not change them.

    tools/fingerprint.py --program build/ddsc -o now.json
    tools/fingerprint.py --program build/ddsc --compare before.json
    tools/fingerprint.py --program build/ddsc --instructions      (needs valgrind; several minutes)

The hashes cover graph, labels and embedding of every metric on six sets. Sets made from public data are skipped, with a
message, if the data is missing (DDSC_DATA names its folder). Embeddings are also compared as subspaces, because a
different order of summation changes their last bits. The hashes are specific to a machine, because OpenBLAS selects its
kernels by processor."""
import argparse
import csv
import gzip
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import numpy

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = pathlib.Path(os.environ.get("DDSC_DATA", ROOT.parent / "shared" / "data"))
METRICS = ["w2", "sinkhorn", "mmd", "lot"]
# Options that restore the defaults that have changed since the hashes were stored.
THEN = {"mmd": [("--mmd-estimator", "unbiased"), ("--bandwidth", "near")], "lot": [("--reference", "normal")]}
FOR_ALL = [("--hubs", "off"), ("--gamma", "local")]
FILES = ["graph.mtx", "labels.csv", "embedding.npy"]


def run(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if done.returncode not in (0, 4):
        sys.exit(f"{' '.join(map(str, words))}: exit {done.returncode}\n{done.stderr}")
    return done


def make_digits(program, folder, count):
    images, labels = (DATA / "mnist" / f"train-{name}.gz" for name in ("images-idx3-ubyte", "labels-idx1-ubyte"))
    path = folder / f"mnist{count}.npz"
    run(program, "convert", images, "--labels", labels, "--subset-per-class", count // 10, "--seed", 1, "-o", path, "-q")
    return path


def make_cytometry(folder):
    path = folder / "cytometry.csv"
    with gzip.open(DATA / "cytometry" / "pbmc8-bcrxl.tsv.gz", "rt") as source, open(path, "w", newline="") as out:
        rows = csv.reader(source, delimiter="\t")
        header = next(rows)
        writer = csv.writer(out)
        writer.writerow(["id", *header[3:]])
        for row in rows:
            writer.writerow([row[0], *(repr(float(numpy.arcsinh(float(value) / 5))) for value in row[3:])])
    return path


def make_text(program, folder):
    path = folder / "bbcsport.npz"
    text = DATA / "text"
    run(program, "text", text / "bbcsport.tsv.gz", "--text", "abstract", "--label", "label", "--vectors",
        text / "glove.6B.100d.subset.txt.gz", "--stopwords", text / "stoplist2.txt", *general_words(program),
        "-o", path, "-q")
    return path


def general_words(program):
    """Options for using word vectors unchanged. Programs that can fit vectors to the set must not do so here."""
    return ["--words", "general"] if "--words" in run(program, "text", "--help").stdout else []


def make_sets(program, folder):
    """Return the jobs as (name, path, clusters, further options), and the names of missing sets."""
    jobs, missing = [], []
    shapes, clouds = folder / "shapes.npz", folder / "gaussians.npz"
    run(program, "generate", "shapes", "-o", shapes, "-q")
    run(program, "generate", "gaussians", "--dim", 3, "--items", 60, "--clusters", 4, "--points", 50, "-o", clouds, "-q")
    jobs += [("shapes", shapes, 2, []), ("gaussians3d", clouds, 4, [])]
    if (DATA / "mnist").is_dir():
        digits = make_digits(program, folder, 1000)
        jobs += [("mnist1000", digits, 10, []), ("mnist1000-full", digits, 10, ["--exact-graph", "full"]),
                 ("mnist1000-pruned", digits, 10, ["--exact-graph", "pruned"])]
    else:
        missing.append("mnist1000")
    for name, make, clusters in (("text", lambda: make_text(program, folder), 5),
                                 ("cytometry", lambda: make_cytometry(folder), 2)):
        if (DATA / name).is_dir():
            jobs.append(("bbcsport" if name == "text" else name, make(), clusters, []))
        else:
            missing.append(name)
    return jobs, missing


def basis(path):
    matrix = numpy.load(path)
    left, sizes, _ = numpy.linalg.svd(matrix, full_matrices=False)
    return left[:, sizes > 1e-12 * sizes[0]]


def keep_embedding(path, store, name):
    if store:
        store.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, store / f"{name}.npy")


def old_words(program):
    """Return the options that restore the old defaults of each metric, if the program has these options."""
    known = run(program, "cluster", "--help").stdout
    knows = lambda name, value: f"--{name[2:]}=" in known and value in known.split(f"{name}=")[1].split("\n")[0]
    return {metric: [word for pair in FOR_ALL + THEN.get(metric, []) if knows(*pair) for word in pair]
            for metric in METRICS}


def fingerprint(program, folder, words, store, as_then):
    then = old_words(program) if as_then else {metric: [] for metric in METRICS}
    jobs, missing = make_sets(program, folder)
    hashes = {}
    for name, path, clusters, extra in jobs:
        for metric in METRICS:
            out = folder / "result"
            shutil.rmtree(out, ignore_errors=True)
            run(program, "cluster", path, "-k", clusters, "--metric", metric, *extra, *then[metric], *words, "-o", out, "-q")
            key = f"{name}/{metric}"
            hashes[key] = {file: hashlib.sha256((out / file).read_bytes()).hexdigest()[:16] for file in FILES}
            keep_embedding(out / "embedding.npy", store, key.replace("/", "-"))
            print(key, *hashes[key].values(), flush=True)
    return {"hashes": hashes, "missing": missing}


def compare(now, before, store, old_store):
    worse = 0
    for key, old in before["hashes"].items():
        new = now["hashes"].get(key)
        if new is None:
            print(f"{key}: not run here")
            continue
        for file in FILES:
            if new[file] == old[file]:
                continue
            note = ""
            name = key.replace("/", "-") + ".npy"
            if file == "embedding.npy" and old_store and (old_store / name).exists():
                one, two = basis(store / name), basis(old_store / name)
                angle = numpy.linalg.norm(one - two @ (two.T @ one), 2) if one.shape == two.shape else 1.0
                note = f" (subspaces differ by {angle:.1e})"
                worse += angle > 1e-10
            else:
                worse += 1
            print(f"{key}: {file} differs{note}")
    print(f"{len(before['hashes'])} results compared, {worse} worse than last bits of an embedding")
    return worse


def instructions(program, folder):
    """Count the instructions of four searches on one thread. The count is reproducible for a given binary and input."""
    jobs = (("w2", 300), ("sinkhorn", 200), ("mmd", 1000), ("lot", 1000))
    for metric, count in jobs:
        path = make_digits(program, folder, count)
        out = folder / "graph.mtx"
        done = run("valgrind", "--tool=callgrind", f"--callgrind-out-file={folder / 'callgrind.out'}", program,
                   "neighbors", path, "--metric", metric, "--tau", 10, "--threads", 1, "-o", out, "-f", "-q")
        count_line = next(line for line in done.stderr.splitlines() if "Collected" in line)
        print(f"{metric} {count}: {int(count_line.split(':')[1]) / 1e9:.3f} 1e9 instructions", flush=True)
        path.unlink(missing_ok=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=ROOT / "build" / "ddsc")
    parser.add_argument("-o", "--output", type=pathlib.Path)
    parser.add_argument("--embeddings", type=pathlib.Path, help="store the embeddings in this folder")
    parser.add_argument("--compare", type=pathlib.Path, help="file of hashes written earlier")
    parser.add_argument("--old-embeddings", type=pathlib.Path, help="folder written earlier with --embeddings")
    parser.add_argument("--defaults", action="store_true", help="use the current defaults, not those of the stored hashes")
    parser.add_argument("--instructions", action="store_true")
    parser.add_argument("words", nargs="*", help="further options for every run, after --")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        if args.instructions:
            return instructions(args.program, folder)
        store = args.embeddings or folder / "kept"
        now = fingerprint(args.program, folder, args.words, store, not args.defaults)
        if now["missing"]:
            print("skipped, data not here:", *now["missing"])
        if args.output:
            args.output.write_text(json.dumps(now, indent=1) + "\n")
        if args.compare:
            return 1 if compare(now, json.loads(args.compare.read_text()), store, args.old_embeddings) else 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
