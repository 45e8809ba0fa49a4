#!/usr/bin/env python3
"""The plug-in of a device by itself, through its table: products and selection, beside PyTorch where that is, and
the answers compared. On a machine with a GPU:

    python3 bench/gpu.py build/libddsc_cuda.so [--program build/ddsc] [--times T] [--columns C,C] [images.idx ...]

Rows are the pixels of IDX files of images, or random; with --times each image also comes T - 1 times more, shifted and
with some noise. Shares of the roofline are those of ceilings measured in the same run by PyTorch: a product of 8192 x 8192,
a copy of 4 GB. Operations: 2 N^2 columns; bytes: each row once for each strip of rows, and the lists. "Alone": products of the
same rows where nobody but the first 512 can be on a list (the starts of the others are infinite). PyTorch beside it takes TF32
where the device takes FP16, whose rounding is the same. With --program: the mmd graph of the files by the device and by the
processor, from file to file, the bytes of both compared."""
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


def images(names, times):
    """Pixels of all images, about their mean."""
    sets, rng = [], np.random.default_rng(1)
    for name in names:
        data = gzip.open(name).read() if name.endswith(".gz") else pathlib.Path(name).read_bytes()
        n, h, w = np.frombuffer(data, ">i4", 3, 4)
        sets.append(np.frombuffer(data, np.uint8, n * h * w, 16).reshape(n, h * w))
    x = np.concatenate(sets).astype(np.float32) / 255
    x -= x.mean(0)
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
        """Seconds to load, seconds of all strips (median), strips, keys, numbers."""
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
    """Some rows against doubles: keys within their radius, and nothing better left out."""
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
    """TFLOP/s of a large product, by the kind of numbers; TB/s of a copy, read and written."""
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
    """mm + topk, strips of 4096 rows: what one would write."""
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
    if torch and repeat > 1:
        print(f"; torch mm + topk {by_torch(torch, x, name == 'FP16', keep):.4f} s", end="")
    print(", verified", flush=True)


def graphs(program, names):
    """Seconds from file to file, medians of three by the device, and whether the bytes are those of the processor."""
    with tempfile.TemporaryDirectory() as folder:
        taken = {}
        for device, times in (("cuda", 3), ("cpu", 1)):
            for _ in range(times):
                began = time.perf_counter()
                subprocess.run([program, "neighbors", *names, "--metric", "mmd", "--device", device, "-f", "-o",
                                f"{folder}/{device}.mtx"], check=True, stdout=subprocess.DEVNULL)
                taken.setdefault(device, []).append(time.perf_counter() - began)
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
    parser.add_argument("--columns", default="784,256,168,64,16")
    args = parser.parse_intermixed_args()
    device = Device(args.plugin)
    print(f"{device.about.name.decode()}, {device.about.memory / 2**30:.0f} GiB free")
    try:
        import torch
        ceiling = ceilings(torch)
        print("ceilings, TFLOP/s and TB/s:", {k: round(v, 2) for k, v in ceiling.items()})
    except ImportError:
        torch, ceiling = None, {}
    x = images(args.images, args.times) if args.images else np.random.default_rng(1).standard_normal((20000, 784), np.float32)
    repeat = 3 if len(x) < 200000 else 1
    for columns in (min(int(c), x.shape[1]) for c in args.columns.split(",")):
        part = np.ascontiguousarray(x[:, (x.shape[1] - columns) // 2:][:, :columns])
        for way in range(device.about.n_ways if repeat > 1 else 1):
            for keep in (42, 200) if columns == 64 else (42,):
                measure(device, torch, ceiling, part, way, keep, repeat)
    if args.program and args.images:
        graphs(args.program, args.images)


if __name__ == "__main__":
    main()
