#!/usr/bin/env python3
"""Writes digits, deformed by small seeded shifts, rotations and shears, to one IDX file:

    python3 bench/deformed.py N out.idx images.idx [images.idx ...]

The first images are the originals. The others are copies that are shifted by up to 2 pixels, rotated by up to 10
degrees and sheared by up to 0.15, with bilinear interpolation. Pixels darker than 16 of 255 are removed, so that the
number of points per item hardly changes. Image k depends only on k and on the seed."""
import argparse
import gzip
import multiprocessing
import pathlib

import numpy as np

CHUNK = 2000


def images(names):
    sets = []
    for name in names:
        data = gzip.open(name).read() if name.endswith(".gz") else pathlib.Path(name).read_bytes()
        n, h, w = (int(x) for x in np.frombuffer(data, ">i4", 3, 4))
        sets.append(np.frombuffer(data, np.uint8, n * h * w, 16).reshape(n, h, w))
    return np.concatenate(sets)


def deform(x, first):
    """Return the images with numbers first, first + 1, ..., derived from the images x."""
    n, h, w = x.shape
    rng = np.random.default_rng([7, first])
    angle, shear = rng.uniform(-10, 10, n) * np.pi / 180, rng.uniform(-0.15, 0.15, n)
    shift = rng.uniform(-2, 2, (n, 2))
    c, s = np.cos(angle), np.sin(angle)
    y0, x0 = np.meshgrid(np.arange(h) - (h - 1) / 2, np.arange(w) - (w - 1) / 2, indexing="ij")
    from_y = c[:, None, None] * y0 - s[:, None, None] * x0 + shift[:, 0, None, None] + (h - 1) / 2
    from_x = (s + c * shear)[:, None, None] * y0 + (c - s * shear)[:, None, None] * x0 + shift[:, 1, None, None] + (w - 1) / 2
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1))).astype(np.float32)
    low_y, low_x = np.floor(from_y), np.floor(from_x)
    part_y, part_x = (from_y - low_y).astype(np.float32), (from_x - low_x).astype(np.float32)
    out, k = np.zeros((n, h, w), np.float32), np.arange(n)[:, None, None]
    for dy in (0, 1):
        for dx in (0, 1):
            at_y, at_x = np.clip(low_y + dy + 1, 0, h + 1).astype(int), np.clip(low_x + dx + 1, 0, w + 1).astype(int)
            out += padded[k, at_y, at_x] * (part_y if dy else 1 - part_y) * (part_x if dx else 1 - part_x)
    return np.where(out < 16, 0, np.rint(out)).astype(np.uint8)


def chunk(first):
    source, n = chunk.source, chunk.n
    number = np.arange(first, min(n, first + CHUNK))
    x = source[number % len(source)]
    moved = number >= len(source)
    return x if not moved.any() else np.where(moved[:, None, None], deform(x, first), x)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("n", type=int)
    parser.add_argument("output")
    parser.add_argument("images", nargs="+")
    args = parser.parse_args()
    chunk.source, chunk.n = images(args.images), args.n
    with open(args.output, "wb") as out, multiprocessing.get_context("fork").Pool() as pool:
        out.write(np.array([0x803, args.n, *chunk.source.shape[1:]], ">i4").tobytes())
        for part in pool.imap(chunk, range(0, args.n, CHUNK)):
            out.write(part.tobytes())


if __name__ == "__main__":
    main()
