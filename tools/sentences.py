#!/usr/bin/env python3
"""Draws random sentences from the project's prose for a review of its English.

    tools/sentences.py [--seed 1] [--count 200]

The sample has 40% comments, 30% documentation, 15% messages and help, and 15% sentences of the public header.
The same seed gives the same sample of the same tree. Tests, fuzz targets and docs/notes are excluded."""
import argparse
import pathlib
import random
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHARES = {"comment": 0.4, "doc": 0.3, "message": 0.15, "header": 0.15}
LEFT_OUT = ("tests/", "fuzz/", "docs/notes/", "CHANGELOG.md")


def sentences(text):
    """Return the sentences of a text, without table rows and fragments without words."""
    text = re.sub(r"\s+", " ", text)
    for sentence in re.split(r"(?<=[.!?])\s+(?=[A-Z`*])", text):
        sentence = sentence.strip()
        if 30 < len(sentence) < 320 and re.search(r"[a-z]{3}", sentence) and sentence.count("|") < 2:
            yield sentence


def of_markdown(text):
    text = re.sub(r"```.*?```", "", text, flags=re.S)
    for paragraph in re.split(r"\n\s*\n|\n[-|#]", text):
        yield from sentences(paragraph)


def of_comments(text):
    for comment in re.findall(r"/\*(.*?)\*/", text, flags=re.S):
        yield from sentences(re.sub(r"\n\s*\*", " ", comment))


def of_strings(text):
    """Return string literals with more than five words. Adjacent literals are joined, as by the compiler."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    for found in re.findall(r'(?:"(?:[^"\\\n]|\\.)*"\s*)+', text):
        joined = re.sub(r'"\s*"', "", found.strip()).strip('"').replace("\\n", " ").replace("\\t", " ")
        for sentence in sentences(joined + " "):
            if len(sentence.split()) > 5:
                yield sentence


def of_python(text):
    for docstring in re.findall(r'"""(.*?)"""', text, flags=re.S):
        yield from sentences(docstring)
    for comment in re.findall(r"(?m)((?:^\s*#[^!].*\n)+)", text):
        yield from sentences(re.sub(r"(?m)^\s*#", " ", comment))


def collect():
    pool = {kind: set() for kind in SHARES}
    names = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
    for name in names:
        path = ROOT / name
        if name.startswith(LEFT_OUT) or not path.is_file():
            continue
        if path.suffix == ".md":
            pool["doc"].update(of_markdown(path.read_text()))
        elif path.suffix == ".py":
            pool["comment"].update(of_python(path.read_text()))
        elif path.suffix in (".c", ".h", ".cu", ".cuh"):
            text = path.read_text()
            in_header = name.startswith("include/")
            pool["header" if in_header else "comment"].update(of_comments(text))
            if not in_header:
                pool["message"].update(of_strings(text))
    return pool


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=200)
    args = parser.parse_args()
    chance = random.Random(args.seed)
    for kind, pool in collect().items():
        drawn = chance.sample(sorted(pool), min(len(pool), round(args.count * SHARES[kind])))
        for sentence in drawn:
            print(f"[{kind}] {sentence}")


if __name__ == "__main__":
    main()
