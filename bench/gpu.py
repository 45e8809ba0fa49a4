#!/usr/bin/env python3
"""Benchmarks the products and the selection of a device plug-in, and compares them with PyTorch if it is installed.

Results are checked. On a machine with a GPU:

    python3 bench/gpu.py build/libddsc_cuda.so [--program build/ddsc] [--times T] [--rows N] [--columns C,C] [images.idx ...]

Rows are the pixels of IDX files of images, or random. --times adds T - 1 shifted, noisy copies of each image, and
--rows sets the number of rows (--rows 1000000 --columns 784 is the job with a million items). Fractions of the roofline
are relative to peaks measured with PyTorch in the same run: a product of 8192 x 8192 and a copy of 4 GB. The number of
operations is 2 N^2 columns. The number of bytes counts each row once for each block of rows, plus the candidate
lists. "Alone" is the time of the products without selection: only the first 512 rows can enter a list, because the
start values of all others are infinite. PyTorch uses TF32 when the device uses FP16; both round in the same way.

With --program, the mmd graph of the files is computed on the device and, for up to 300,000 images, on the CPU, from
file to file, and the bytes are compared. Sinkhorn values of all pairs of 1,000 images on the device are compared with
two PyTorch methods in doubles, which run until each pair of a batch has reached the same marginal error: separable
kernels, and log-domain tensors with decreasing epsilon and averaged steps as in GeomLoss, for some of the pairs. Parts
that cannot run on the machine print "skipped"."""
import argparse
import ctypes as C
import gzip
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

VERSION, WORDS = 3, 200


class About(C.Structure):
    _fields_ = [("name", C.c_char * 64), ("memory", C.c_int64), ("n_ways", C.c_int), ("longest", C.c_int64)]


class Rows(C.Structure):
    _fields_ = [("n", C.c_int64), ("columns", C.c_int64), ("rows", C.c_void_p), ("start", C.c_void_p), ("weight", C.c_void_p)]


class Table(C.Structure):
    _fields_ = [("version", C.c_int),
                ("open", C.CFUNCTYPE(C.c_int, C.POINTER(C.c_void_p), C.c_int, C.POINTER(About), C.c_char_p)),
                ("close", C.CFUNCTYPE(None, C.c_void_p)),
                ("way", C.CFUNCTYPE(C.c_char_p, C.c_void_p, C.c_int, C.c_int64, C.POINTER(C.c_double))),
                ("load", C.CFUNCTYPE(C.c_int, C.c_void_p, C.c_int, C.POINTER(Rows), C.c_int64, C.POINTER(C.c_int64), C.c_char_p)),
                ("nearest", C.CFUNCTYPE(C.c_int, C.c_void_p, C.c_int64, C.c_int64, C.c_int64, C.c_void_p, C.c_void_p, C.c_char_p))]


def pixels(names):
    """Return images as an array (images, rows, columns)."""
    sets = []
    for name in names:
        data = gzip.open(name).read() if name.endswith(".gz") else pathlib.Path(name).read_bytes()
        n, h, w = np.frombuffer(data, ">i4", 3, 4)
        sets.append(np.frombuffer(data, np.uint8, n * h * w, 16).reshape(n, h, w))
    return np.concatenate(sets)


def images(names, times, rows):
    """Return the pixels of all images, minus their mean."""
    rng = np.random.default_rng(1)
    x = pixels(names)
    x = x.reshape(len(x), -1).astype(np.float32) / 255
    x -= x.mean(0)
    if rows:
        return images_moved(x, -(-rows // len(x)), rng)[:rows]
    return images_moved(x, times, rng)


def images_moved(x, times, rng):
    shifts = [0, 1, -1, 28, -28, 29, -29, 27, -27, 2, -2, 56, -56, 30, -30, 26]
    moved = [np.roll(x, shifts[t % 16], 1) for t in range(times)]
    return moved[0] if times == 1 else np.concatenate(
        moved[:1] + [m + rng.normal(0, 0.05, m.shape).astype(np.float32) for m in moved[1:]])


class Device:
    def __init__(self, path):
        library = C.CDLL(path)
        library.ddsc_device_table.restype = C.POINTER(Table)
        self.table = library.ddsc_device_table().contents
        assert self.table.version == VERSION
        self.state, self.about, self.why = C.c_void_p(), About(), C.create_string_buffer(WORDS)
        self.check(self.table.open(C.byref(self.state), 0, C.byref(self.about), self.why))

    def check(self, status):
        if status:
            sys.exit(f"device: {self.why.value.decode()}")

    def run(self, x, way, keep, repeat, alone=False):
        """Return the seconds to load, the median seconds of all strips, the strips, the keys and the indices."""
        n, columns = x.shape
        start = np.einsum("ij,ij->i", x, x).astype(np.float32)
        if alone:
            start[512:] = np.inf
        rows = Rows(n, columns, x.ctypes.data, start.ctypes.data, None)
        strip, key, index = C.c_int64(), np.empty((n, keep), np.float32), np.empty((n, keep), np.int32)
        began = time.perf_counter()
        self.check(self.table.load(self.state, way, C.byref(rows), keep, C.byref(strip), self.why))
        loaded, taken = time.perf_counter() - began, []
        for _ in range(repeat):
            began = time.perf_counter()
            for i in range(0, n, strip.value):
                self.check(self.table.nearest(self.state, i, min(n, i + strip.value), keep, key[i:].ctypes.data,
                                              index[i:].ctypes.data, self.why))
            taken.append(time.perf_counter() - began)
        return loaded, statistics.median(taken), -(-n // strip.value), key, index

    def way(self, way, columns):
        radius = C.c_double()
        return self.table.way(self.state, way, columns, C.byref(radius)).decode(), radius.value


def verify(x, key, index, radius, keep):
    """Check some rows in double precision: keys are within their radius, and no smaller key is missing."""
    z = x.astype(np.float64)
    norm = (z * z).sum(1)
    for i in range(0, len(x), max(1, len(x) // 50)):
        exact = norm[i] + norm - 2 * z @ z[i]
        error = 2 * radius * np.sqrt(norm[i] * norm) + 2e-6 * (norm[i] + norm)
        assert len(set(index[i])) == keep and i not in index[i]
        assert (np.abs(key[i] - exact[index[i]]) <= error[index[i]]).all()
        out = np.ones(len(x), bool)
        out[index[i]] = out[i] = False
        assert (exact[out] + error[out] >= key[i].max()).all()


def ceilings(torch):
    """Return TFLOP/s of a large product, by number type, and TB/s of a copy, counting reads and writes."""
    found = {}
    a = torch.randn(8192, 8192, device="cuda")
    for name, tf32, b in (("FP32", False, a), ("TF32", True, a), ("FP16", True, a.half())):
        torch.backends.cuda.matmul.allow_tf32 = tf32
        best = 1e9
        for _ in range(6):
            torch.cuda.synchronize()
            began = time.perf_counter()
            b @ b
            torch.cuda.synchronize()
            best = min(best, time.perf_counter() - began)
        found[name] = 2 * 8192**3 / best / 1e12
    x = torch.empty(1 << 29, device="cuda")
    y, best = torch.empty_like(x), 1e9
    for _ in range(6):
        torch.cuda.synchronize()
        began = time.perf_counter()
        y.copy_(x)
        torch.cuda.synchronize()
        best = min(best, time.perf_counter() - began)
    return found | {"copy": 2 * 4 * 2**29 / best / 1e12}


def by_torch(torch, x, tf32, keep):
    """Run mm and topk in strips of 4096 rows, as a PyTorch user would."""
    torch.backends.cuda.matmul.allow_tf32 = tf32
    t = torch.from_numpy(x).cuda()
    norm = (t * t).sum(1)
    taken = []
    for _ in range(2):
        torch.cuda.synchronize()
        began = time.perf_counter()
        for i in range(0, len(x), 4096):
            torch.topk(torch.addmm(norm, t[i:i + 4096], t.T, alpha=-2), keep + 1, dim=1, largest=False)
        torch.cuda.synchronize()
        taken.append(time.perf_counter() - began)
    return min(taken)


def measure(device, torch, ceiling, x, way, keep, repeat):
    n, columns = x.shape
    name, radius = device.way(way, columns)
    loaded, taken, strips, key, index = device.run(x, way, keep, repeat)
    verify(x, key, index, radius, keep)
    alone = device.run(x, way, keep, repeat, alone=True)[1]
    bytes_moved = strips * n * columns * (2 if name == "FP16" else 4) + 8 * n * keep

    def share(value, of):
        return f" ({100 * value / ceiling[of]:.0f}%)" if of in ceiling else ""
    rate, most = (2 * n**2 * columns / t / 1e12 for t in (taken, alone))
    print(f"{n} x {columns} {name} keep {keep}: load {loaded:.3f} s, lists {taken:.4f} s, {rate:.1f} TFLOP/s{share(rate, name)}, "
          f"{bytes_moved / taken / 1e12:.2f} TB/s{share(bytes_moved / taken / 1e12, 'copy')}; "
          f"alone {alone:.4f} s, {most:.1f} TFLOP/s{share(most, name)}", end="")
    if torch and ceiling and repeat > 1:
        print(f"; torch mm + topk {by_torch(torch, x, name == 'FP16', keep):.4f} s", end="")
    print(", verified", flush=True)


# ---- Sinkhorn ----

EPSILON, TOLERANCE = 9.0, 1e-9  # in squared pixels: about 5% of the median cost of digits


def separable(torch, a, b, cost, epsilon):
    """Return regularized values of batches of images (B, side, side), with one small kernel per axis. `cost` is for one axis."""
    kernel = torch.exp(-cost / epsilon)
    u, v = torch.ones_like(a), torch.ones_like(b)
    for k in range(20000):
        v = b / (kernel @ u @ kernel).clamp_min(1e-290)
        s = kernel @ v @ kernel
        if k % 10 == 9 and (u * s - a).abs().sum((1, 2)).max() <= TOLERANCE:
            break
        u = a / s.clamp_min(1e-290)
    return epsilon * (torch.xlogy(a, u / a.clamp_min(1e-300)) + torch.xlogy(b, v / b.clamp_min(1e-300)) - u * s).sum((1, 2)) + epsilon


def by_logarithms(torch, a, b, cost, epsilon):
    """Return the same values for (B, cells), using the full cost matrix. Epsilon is halved repeatedly, and both
    potentials are averaged."""
    log_a, log_b = torch.log(a.clamp_min(1e-300)), torch.log(b.clamp_min(1e-300))

    def soft(log_w, h, e, c):
        return -e * torch.logsumexp(log_w[:, None, :] + (h[:, None, :] - c[None]) / e, 2)
    f, g, e = torch.zeros_like(a), torch.zeros_like(b), float(cost.max())
    for k in range(20000):
        e = max(e / 2, epsilon)
        of, og = soft(log_b, g, e, cost), soft(log_a, f, e, cost.T)
        if e == epsilon and k % 10 == 9:
            worst = (a * (torch.exp((f - of) / e) - 1)).abs().sum(1) + (b * (torch.exp((g - og) / e) - 1)).abs().sum(1)
            if worst.max() <= TOLERANCE:
                break
        f, g = (f + of) / 2, (g + og) / 2
    f = soft(log_b, g, epsilon, cost)
    return (a * f).sum(1) + (b * g).sum(1)


def weights_of(names, n):
    """Return images with weights that sum to one, and squared distances along an axis and between all cells."""
    x = pixels(names)[:n].astype(np.float64)
    x /= x.sum((1, 2), keepdims=True)
    place = np.arange(x.shape[1], dtype=np.float64)
    line = (place[:, None] - place) ** 2
    return x, line, (line[:, None, :, None] + line[None, :, None, :]).reshape(x[0].size, x[0].size)


def peer(torch, name, solve, cost, x, pair, batch, values):
    """Return the seconds for all pairs, and the error of the values."""
    taken, off = time.perf_counter(), 0.0
    for at in range(0, len(pair[0]), batch):
        i, j = (p[at:at + batch] for p in pair)
        found = solve(torch, x[i], x[j], cost, EPSILON).cpu().numpy()
        off = max(off, np.abs(found / values[at:at + batch] - 1).max())
    taken = time.perf_counter() - taken
    print(f"  PyTorch, {name}: {len(pair[0])} pairs {taken:.2f} s, {1e6 * taken / len(pair[0]):.1f} us per pair, "
          f"largest difference {off:.1e}", flush=True)
    assert off < 1e-6


def sinkhorn(torch, program, names, n=1000, some=500):
    x, line, cost = weights_of(names, n)
    if x.shape[1] != x.shape[2]:
        print("Sinkhorn: skipped, images are not square")
        return
    with tempfile.TemporaryDirectory() as folder:
        np.savez(f"{folder}/set.npz", histograms=x.reshape(len(x), -1), support=np.stack(
            [axis.ravel() for axis in np.indices(x.shape[1:])], 1).astype(float))
        began = time.perf_counter()
        subprocess.run([program, "distance", f"{folder}/set.npz", "--metric", "sinkhorn", "--epsilon", str(EPSILON), "--tolerance",
                        str(TOLERANCE), "--squared", "--condensed", "--device", "cuda", "-q", "-o", f"{folder}/d.npy"], check=True)
        print(f"Sinkhorn values of {len(x)} images, marginal error {TOLERANCE:g}: {time.perf_counter() - began:.2f} s, file to file")
        values = np.load(f"{folder}/d.npy")
    if not torch or not torch.cuda.is_available():
        print(f"  PyTorch, separable and by logarithms: skipped, {'there is no GPU' if torch else 'it is not installed'}")
        return
    t, line, cost = (torch.from_numpy(y).cuda() for y in (x, line, cost))
    pair = np.triu_indices(len(x), 1)
    peer(torch, "separable", separable, line, t, pair, 50000, values)
    chosen = np.random.default_rng(1).choice(len(values), min(some, len(values)), replace=False)
    peer(torch, "by logarithms", by_logarithms, cost, t.reshape(len(x), -1), tuple(p[chosen] for p in pair), 200, values[chosen])


def graphs(program, names):
    """Return seconds from file to file, the median of three on the device, and whether the bytes equal those of the CPU."""
    with tempfile.TemporaryDirectory() as folder:
        taken = {}
        few = len(pixels(names)) <= 300000
        for device, times in (("cuda", 3 if few else 1), ("cpu", 1 if few else 0)):
            for _ in range(times):
                began = time.perf_counter()
                subprocess.run([program, "neighbors", *names, "--metric", "mmd", "--neighbors", "exact", "--device", device, "-f",
                                "-o", f"{folder}/{device}.mtx"], check=True, stdout=subprocess.DEVNULL)
                taken.setdefault(device, []).append(time.perf_counter() - began)
        if not few:
            print(f"mmd graph of {' '.join(names)}: device {taken['cuda'][0]:.2f} s; cores: skipped, all pairs would take long")
            return
        by_device, by_cores = (pathlib.Path(folder, f"{d}.mtx").read_bytes() for d in ("cuda", "cpu"))
        print(f"mmd graph of {' '.join(names)}: device {statistics.median(taken['cuda']):.2f} s, cores {taken['cpu'][0]:.2f} s, "
              f"{'the same bytes' if by_device == by_cores else 'OTHER BYTES'}", flush=True)
        assert by_device == by_cores


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plugin")
    parser.add_argument("images", nargs="*")
    parser.add_argument("--program")
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("--rows", type=int)
    parser.add_argument("--columns", default="784,256,168,64,16")
    args = parser.parse_intermixed_args()
    if not pathlib.Path(args.plugin).exists():
        sys.exit(f"device: skipped, {args.plugin} does not exist")
    device = Device(args.plugin)
    print(f"{device.about.name.decode()}, {device.about.memory / 2**30:.0f} GiB free")
    try:
        import torch
    except ImportError:
        torch = None
    ceiling = {}
    if torch and torch.cuda.is_available():
        ceiling = ceilings(torch)
        print("measured peaks, TFLOP/s and TB/s:", {k: round(v, 2) for k, v in ceiling.items()})
    else:
        print(f"measured peaks, PyTorch's mm + topk: skipped, {'PyTorch sees no GPU' if torch else 'PyTorch is not installed'}")
    x = (images(args.images, args.times, args.rows) if args.images
         else np.random.default_rng(1).standard_normal((args.rows or 20000, 784), np.float32))
    repeat = 3 if len(x) < 200000 else 1
    for columns in (min(int(c), x.shape[1]) for c in args.columns.split(",")):
        part = np.ascontiguousarray(x[:, (x.shape[1] - columns) // 2:][:, :columns])
        for way in range(device.about.n_ways if repeat > 1 else 1):
            for keep in (42, 200) if columns == 64 else (42,):
                measure(device, torch, ceiling, part, way, keep, repeat)
    if args.program and args.images:
        graphs(args.program, args.images)
        sinkhorn(torch, args.program, args.images)
    else:
        print("graphs, Sinkhorn: skipped, they need --program and images")


if __name__ == "__main__":
    main()
