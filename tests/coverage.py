"""Prints the share of the lines of src/ that the tests of a build with --coverage executed, and the files with the most
unexecuted lines.

usage: coverage.py BUILD-DIRECTORY [LEAST-PERCENTAGE]
"""
import collections
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORST = 12


def count_lines(build):
    """Return {file: {line: times}}. A line of a header counts if any file that includes it executed it."""
    counts = collections.defaultdict(collections.Counter)
    if not any(build.rglob("*.gcda")):
        sys.exit(f"coverage: no .gcda files under {build}: have the tests run?")
    for path in sorted(build.rglob("ddsc_core.dir/**/*.gcno")):
        done = subprocess.run(["gcov", "--json-format", "--stdout", path], capture_output=True,
                              check=True, cwd=build)
        for text in done.stdout.splitlines():
            for entry in json.loads(text)["files"]:
                file = (build / entry["file"]).resolve()
                if not file.is_relative_to(ROOT / "src"):
                    continue
                for line in entry["lines"]:
                    counts[file][line["line_number"]] += line["count"]
    return counts


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    least = float(sys.argv[2]) if len(sys.argv) > 2 else 0.0
    rows = []
    for file, lines in count_lines(build).items():
        rows.append((sum(1 for n in lines.values() if n == 0), len(lines), file.relative_to(ROOT)))
    missed, total = (sum(row[k] for row in rows) for k in (0, 1))
    share = 100 * (1 - missed / total)
    print("lines not reached, of, file")
    for row in sorted(rows, reverse=True)[:WORST]:
        print("%5d %5d  %s" % row)
    print(f"coverage: {share:.1f}% of {total} lines in {len(rows)} files of src/")
    if share < least:
        sys.exit(f"coverage: at least {least:g}% are wanted")


if __name__ == "__main__":
    main()
