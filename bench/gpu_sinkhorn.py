#!/usr/bin/env python3
"""Sinkhorn matrices on a GPU beside PyTorch, on images of one IDX file:

    python3 bench/gpu_sinkhorn.py build/ddsc images.idx [--items 1000] [--sample 20000]

ddsc makes the whole matrix on the cores and on the GPU. PyTorch solves a sample of its pairs in doubles until the worst of a batch has a
marginal error of 1e-9: plain scaling iterations with the kernel of a grid, axis by axis, and what GeomLoss does (potentials, both
sides at once and averaged, epsilon falling by 0.81 from the squared diameter; Feydy et al. 2019), also axis by axis. Values are
compared with those of the matrix; times are per million pairs."""
import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile
import time

import numpy as np

TOLERANCE, BATCH = 1e-9, 20000


def first_images(path, n):
    data = pathlib.Path(path).read_bytes()
    h, w = (int(x) for x in np.frombuffer(data, ">i4", 2, 8))
    x = np.frombuffer(data, np.uint8, n * h * w, 16).reshape(n, h, w)
    return np.array([0x803, n, h, w], ">i4").tobytes() + x.tobytes(), x / x.sum((1, 2), keepdims=True)


def by_ddsc(program, images, device, folder, repeat):
    taken = []
    for _ in range(repeat):
        words = [program, "distance", images, "--metric", "sinkhorn", "--squared", "--json", "-q", "-f", "-o",
                 str(folder / "d.npy"), "--device", device]
        told = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
        taken.append(told["seconds"])
    return told, statistics.median(taken), np.load(folder / "d.npy")


def plainly(torch, a, b, cost, epsilon):
    """Values of a batch of pairs (p x h x w each) and the iterations they took."""
    kernel = torch.exp(-cost / epsilon)
    v = torch.ones_like(b)
    for k in range(1, 100001):
        u = a / (kernel @ v @ kernel).clamp_min(1e-290)
        sums = kernel @ u @ kernel
        if k % 10 == 0 and (v * sums - b).abs().sum((1, 2)).max() <= TOLERANCE:
            break
        v = b / sums.clamp_min(1e-290)
    f, g = (torch.where(w > 0, epsilon * torch.log(s.clamp_min(1e-300)), 0) for s, w in ((u, a), (v, b)))
    over = lambda w: torch.where(w > 0, w * torch.log(w.clamp_min(1e-300)), 0).sum((1, 2))
    return (a * f + b * g).sum((1, 2)) - epsilon * (over(a) + over(b)), k


def like_geomloss(torch, a, b, cost, epsilon):
    """The same by softmins of potentials."""
    log_a, log_b = (torch.log(w.clamp_min(1e-300)) for w in (a, b))

    def softmin(e, x):
        for _ in range(2):
            x = torch.logsumexp(x.unsqueeze(-2) - cost / e, -1).transpose(1, 2)
        return -e * x

    e = float(cost.max()) * 2
    f, g = softmin(e, log_b), softmin(e, log_a)
    for k in range(1, 100001):
        new = softmin(e, log_b + g / e), softmin(e, log_a + f / e)
        f, g = (f + new[0]) / 2, (g + new[1]) / 2
        if e > epsilon:
            e = max(e * 0.81, epsilon)
        elif k % 10 == 0:
            f = softmin(e, log_b + g / e)
            error = (b * torch.exp((g - softmin(e, log_a + f / e)) / e) - b).abs().sum((1, 2)).max()
            if error <= TOLERANCE:
                break
    return (a * f + b * g).sum((1, 2)), k


def by_torch(torch, way, x, pairs, epsilon):
    t = torch.from_numpy(x).cuda()
    at = torch.arange(x.shape[1], dtype=torch.float64, device="cuda")
    cost = (at[:, None] - at[None, :]) ** 2
    values, rounds = [], []
    torch.cuda.synchronize()
    began = time.perf_counter()
    for p in range(0, len(pairs), BATCH):
        i, j = (torch.from_numpy(pairs[p:p + BATCH, side].copy()).cuda() for side in (0, 1))
        value, k = way(torch, t[i], t[j], cost, epsilon)
        values.append(value.cpu().numpy())
        rounds.append(k)
    return np.concatenate(values), time.perf_counter() - began, max(rounds)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("images")
    parser.add_argument("--items", type=int, default=1000)
    parser.add_argument("--sample", type=int, default=20000)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        data, x = first_images(args.images, args.items)
        (folder / "images.idx").write_bytes(data)
        n_pairs = args.items * (args.items - 1) // 2
        found = {}
        for device, repeat in (("cpu", 1), ("cuda", 3)):
            told, taken, found[device] = by_ddsc(args.program, str(folder / "images.idx"), device, folder, repeat)
            print(f"ddsc, {told['device']}: {n_pairs} pairs in {taken:.3f} s, {taken / n_pairs * 1e6:.3f} s per million, "
                  f"epsilon {told['epsilon']}", flush=True)
        off = np.abs(found["cuda"] - found["cpu"]).max()
        print(f"largest difference of the two: {off:.1e}, {off / found['cpu'].max():.1e} of the largest value")
        try:
            import torch
        except ImportError:
            return
        rng = np.random.default_rng(1)
        pairs = np.sort(rng.choice(args.items, (args.sample, 2)), 1)
        pairs = pairs[pairs[:, 0] < pairs[:, 1]]
        for way in (plainly, like_geomloss):
            by_torch(torch, way, x, pairs[:8], told["epsilon"])
            values, taken, rounds = by_torch(torch, way, x, pairs, told["epsilon"])
            off = np.abs(values - found["cpu"][pairs[:, 0], pairs[:, 1]]).max()
            print(f"PyTorch, {way.__name__}: {len(pairs)} pairs in {taken:.3f} s, {taken / len(pairs) * 1e6:.2f} s per million, "
                  f"{rounds} iterations; largest difference {off:.1e}", flush=True)


if __name__ == "__main__":
    main()
