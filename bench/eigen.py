#!/usr/bin/python3
"""Compares the eigensolver with SLEPc's Krylov-Schur on the MMD graph of MNIST digits, one thread, tolerance 1e-9.

    bench/eigen.py [--build build] [--data DIR] [--items 20000] [--pairs 11,30] [--rounds 7]

tests/mpi/eigen.c runs both alternately on one matrix and prints the medians of their CPU seconds. The times of ddsc
include the proof that no eigenvalue was missed; those of SLEPc do not. ddsc and SLEPc use the same OpenBLAS kernels,
which are those that `ddsc` would choose. The exit code is 1 if the eigenvalues differ. This benchmark requires MPI
and SLEPc (./run setup-mpi)."""
import argparse
import os
import subprocess
import sys
import tempfile

from common import BUILD, DATA, image_set


def kernels():
    """Return the kernels that cli/kernels.c requests from an OpenBLAS that does not know the processor."""
    with open("/proc/cpuinfo") as f:
        flags = next((line.split() for line in f if line.startswith("flags")), [])
    return "SkylakeX" if {"avx512f", "avx512dq", "avx512bw", "avx512vl"} <= set(flags) else "Haswell"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=BUILD)
    parser.add_argument("--data", default=DATA)
    parser.add_argument("--items", type=int, default=20000)
    parser.add_argument("--pairs", default="11,30")
    parser.add_argument("--rounds", type=int, default=7)
    args = parser.parse_args()
    program = os.path.join(args.build, "tests", "mpi_eigen")
    if not os.path.exists(program):
        print(f"skipped: no {program}; build it with DDSC_TESTS=ON, MPI and SLEPc")
        return 0
    with tempfile.TemporaryDirectory() as place:
        digits = os.path.join(place, "digits.npz")
        image_set(os.path.join(args.build, "ddsc"), args.data, "mnist", args.items, digits)
        words = [program, digits, str(args.rounds), *args.pairs.split(",")]
        environment = {"OMP_NUM_THREADS": "1", "OPENBLAS_CORETYPE": kernels(), **os.environ}
        return subprocess.run(words, env=environment).returncode


if __name__ == "__main__":
    sys.exit(main())
