#!/usr/bin/python3
"""Compares the Python package with the program and POT, and checks the results.

    ./run bench python [-- --data DIR --build DIR --items N]

Times are CPU seconds (user + system) on one thread each, the best of five alternating runs. As in typical use, `fit`
receives a list of arrays in memory, and the program reads an npz file. The latency of Ctrl-C is a wall time and needs
an idle machine.
"""
import argparse
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time

os.environ["OMP_NUM_THREADS"] = "1"
import numpy as np
import ot

import ddsc

HERE = os.path.dirname(os.path.abspath(__file__))


def cpu_of_children():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def run_program(command):
    before = cpu_of_children()
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return cpu_of_children() - before, done.stdout


def timed(call):
    before = time.process_time()
    result = call()
    return time.process_time() - before, result


def report(name, ours, theirs, who, goal, good):
    print(f"{name:38s} {ours:10.4g} s  {who} {theirs:10.4g} s  ratio {theirs / ours:6.2f}  "
          f"(goal {goal})  answers {'agree' if good else 'DIFFER'}")
    return good


def bench_fit(program, items, folder):
    path = os.path.join(folder, "items.npz")
    points = [p for p, _ in items]
    weights = [w for _, w in items]
    items.write(path)
    command = [program, "cluster", path, "-k", "10", "--threads", "1", "--quiet"]
    best = [np.inf, np.inf]
    good = True
    for _ in range(5):
        seconds, model = timed(lambda: ddsc.DDSC(10, n_jobs=1).fit(points, sample_weight=weights))
        best[0] = min(best[0], seconds)
        seconds, text = run_program(command)
        best[1] = min(best[1], seconds)
        labels = [int(line.rsplit(",", 1)[1]) for line in text.split("\n")[1:] if line]
        good &= labels == model.labels_.tolist()
    return report(f"fit, w2, {len(items)} digits", *best, "program", "at least 0.97", good)


def bench_import():
    """Return the seconds that a statement adds to the start of the interpreter (the shortest of five runs)."""
    def start(code):
        command = [sys.executable, "-c", code]
        return min(run_program(command)[0] for _ in range(5))
    bare = start("pass")
    for code, goal in (("import ddsc", "at most 0.3"), ("import numpy", "none"), ("from ddsc import DDSC", "none"),
                       ("from sklearn.base import BaseEstimator", "none")):
        print(f"{code:38s} {start(code) - bare:10.4f} s  (goal {goal})")


def bench_pairwise(program, items, folder):
    path, out = os.path.join(folder, "some.npz"), os.path.join(folder, "D.npy")
    items.write(path)
    command = [program, "distance", path, "-o", out, "--force", "--threads", "1", "--quiet"]
    best = [np.inf, np.inf]
    for _ in range(3):
        seconds, D = timed(lambda: ddsc.pairwise(items, n_jobs=1))
        best[0] = min(best[0], seconds)
        best[1] = min(best[1], run_program(command)[0])
    good = np.array_equal(D, np.load(out))
    return report(f"pairwise, w2, {len(items)} digits", *best, "program", "at least 1", good)


def bench_emd(n):
    rng = np.random.default_rng(0)
    problems = []
    for _ in range(50):
        a, b = rng.random(n) + 0.1, rng.random(n) + 0.1
        x, y = rng.normal(size=(n, 2)), rng.normal(size=(n, 2))
        problems.append((a / a.sum(), b / b.sum(), ot.dist(x, y)))
    best, found = [np.inf, np.inf], [None, None]
    for _ in range(5):
        for k, call in enumerate((ddsc.emd, ot.emd2)):
            seconds, found[k] = timed(lambda: [call(*p) for _ in range(10) for p in problems])
            best[k] = min(best[k], seconds / 500)
    good = np.allclose(found[0], found[1], rtol=1e-9)
    return report(f"emd, {n} x {n}", *best, "ot.emd2", "at least 10" if n == 16 else "none", good)


CHILD = """
import time, numpy as np, ddsc
X = [np.random.default_rng(i).normal(size=(400, 5)) for i in range(400)]
print("ready", flush=True)
try:
    ddsc.DDSC(5, metric={metric!r}, epsilon="0.5%").fit(X)
except KeyboardInterrupt:
    print(time.monotonic(), flush=True)
"""


def bench_interrupt(metric):
    child = subprocess.Popen([sys.executable, "-c", CHILD.format(metric=metric)], text=True,
                             stdout=subprocess.PIPE)
    child.stdout.readline()
    time.sleep(1.5)
    sent = time.monotonic()
    child.send_signal(signal.SIGINT)
    stopped = float(child.communicate()[0])
    print(f"Ctrl-C during fit, {metric:20s} {stopped - sent:9.3f} s wall  (goal at most 1)")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default=os.environ.get("DDSC_DATA", f"{HERE}/../../shared/data"))
    parser.add_argument("--build", default=f"{HERE}/../build")
    parser.add_argument("--items", type=int, default=1000)
    options = parser.parse_args()
    program = os.path.join(options.build, "ddsc")
    bench_import()
    good = bench_emd(16) & bench_emd(4) & bench_emd(64)
    images = os.path.join(options.data, "mnist", "t10k-images-idx3-ubyte.gz")
    if os.path.exists(images):
        digits = ddsc.read(images)
        with tempfile.TemporaryDirectory() as folder:
            good &= bench_pairwise(program, digits[: options.items // 10], folder)
            good &= bench_fit(program, digits[: options.items], folder)
    for metric in ("w2", "sinkhorn"):
        bench_interrupt(metric)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
