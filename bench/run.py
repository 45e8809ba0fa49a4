#!/usr/bin/python3
"""Runs all benchmarks, or only those with the given names: bench/run.py [NAME...] [OPTIONS FOR A SINGLE BENCHMARK]"""
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def main():
    words = sys.argv[1:]
    first = next((at for at, word in enumerate(words) if word.startswith("-")), len(words))
    names, options = words[:first], words[first:]
    if "--" in options:
        options.remove("--")  # only the first one; a second one belongs to the benchmark
    known = sorted(f[:-3] for f in os.listdir(HERE) if f.endswith(".py") and f not in ("run.py", "common.py"))
    for name in names:
        if name not in known:
            sys.exit(f"bench: no '{name}'; there are {', '.join(known)}")
    failed = []
    for name in names or known:
        print(f"== {name}", flush=True)
        if subprocess.run([sys.executable, f"{HERE}/{name}.py", *options]).returncode != 0:
            failed.append(name)
    if failed:
        sys.exit(f"bench: results were not verified in {', '.join(failed)}")


if __name__ == "__main__":
    main()
