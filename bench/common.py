"""Provides problems, real data and timers for several benchmarks."""
import gzip
import os
import resource
import subprocess
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.join(HERE, "..", "build")
DATA = os.environ.get("DDSC_DATA", os.path.join(HERE, "..", "..", "shared", "data"))


def images(path, count, rng):
    """Return random pairs of images as (weights, points, weights, points)."""
    with gzip.open(path) as f:
        raw = np.frombuffer(f.read(), np.uint8, offset=16).reshape(-1, 28, 28)
    for k in rng.choice(len(raw), 2 * count, replace=False).reshape(-1, 2):
        pair = []
        for image in raw[k]:
            points = np.argwhere(image > 0).astype(float)
            weights = image[image > 0].astype(float)
            pair += [weights / weights.sum(), points]
        yield pair


def clouds(n, m, d, count, rng, uniform=False):
    for _ in range(count):
        a, b = (np.ones(n), np.ones(m)) if uniform else (rng.random(n) + 0.1, rng.random(m) + 0.1)
        shape = np.diag(rng.uniform(0.5, 2, d)) @ np.linalg.qr(rng.normal(size=(d, d)))[0]
        yield [a / a.sum(), rng.normal(size=(n, d)), b / b.sum(), rng.normal(size=(m, d)) @ shape + 0.5]


def squared_distances(x, y):
    cost = np.zeros((len(x), len(y)))
    for k in range(x.shape[1]):
        cost += (x[:, k, None] - y[None, :, k]) ** 2
    return cost


def build_program(build, name):
    subprocess.run(["cmake", "--build", build, "--target", f"bench_{name}"], check=True, stdout=subprocess.DEVNULL)
    return os.path.join(build, "bench", f"bench_{name}")


def cpu_of(command):
    """Return CPU seconds and standard output of a finished child process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr}")
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, done.stdout


def image_set(ddsc, data, name, n, out):
    folder = f"{data}/{name}"
    cpu_of([ddsc, "convert", f"{folder}/train-images-idx3-ubyte.gz", "--labels",
            f"{folder}/train-labels-idx1-ubyte.gz", "--subset-per-class", n // 10, "--seed", 1, "-q", "--force",
            "-o", out])


def document_set(ddsc, data, name, out):
    folder = f"{data}/text"
    columns = {"reuters5": "title,body"}.get(name, "abstract")
    cpu_of([ddsc, "text", f"{folder}/{name}.tsv.gz", "--vectors", f"{folder}/glove.6B.100d.subset.txt.gz", "--paper", "--text",
            columns, "--stopwords", f"{folder}/stoplist2.txt", "--on-empty", "drop", "-q", "--force", "-o", out])


def items_of(path):
    """Return (weights, points) of every item in an npz file. Weights sum to one."""
    z = np.load(path)
    support = z["support"] if "support" in z else z["points"]
    index = z["indices"] if "indices" in z else np.arange(len(support))
    at = z["offsets"]
    return [(z["weights"][a:b] / z["weights"][a:b].sum(), support[index[a:b]].astype(float))
            for a, b in zip(at, at[1:])]


def write_items(path, items, labels=None):
    sizes = [len(w) for w, _ in items]
    known = {} if labels is None else {"labels": labels}
    np.savez(path, **known, points=np.concatenate([x for _, x in items]), weights=np.concatenate([w for w, _ in items]),
             offsets=np.concatenate([[0], np.cumsum(sizes)]))
