#!/usr/bin/python3
"""Computes the tables of the paper, compares them with the published values, and writes docs/paper.md and
docs/notes/paper-details.md.

Each row is computed separately and stored in tools/paper_tables/rows, so a run can be interrupted and resumed. The page
is generated from the stored rows; missing rows are shown as "not computed".
  ./run paper                    compute all missing rows, write the page
  ./run paper --list             all rows: computed or not, CPU seconds
  ./run paper --page             write the page from the stored rows
  ./run paper --only mnist       one section (or text, images, tables); also --row NAME, --method M
  ./run paper --budget 600       stop before a row that would exceed 600 CPU seconds in all
  ./run paper --quick -o p.md    small subsets and grids; stores nothing in the repository
"""
import argparse
import json
import os
import pathlib
import time

from paper_tables import page, rows
from paper_tables.runs import FULL, QUICK, ROOT, Bench, NoData, say


def selected(a):
    """Return the rows that the options select."""
    sections = {s for word in a.only or rows.SECTIONS for s in rows.GROUPS.get(word, (word,))}
    return [r for r in rows.all_rows() if r.section in sections and (not a.method or r.method in a.method) and
            (not a.row or r.name in a.row or f"{r.section}/{r.name}" in a.row)]


def show_list(chosen, folder):
    left = 0
    for r in chosen:
        found = r.load(folder)
        seconds = found["cpu_s"] if found else r.seconds
        left += 0 if found else seconds
        print(f"{r.section + '/' + r.name:42s} {'computed' if found else 'missing ':8s} {seconds:8.0f} CPU s")
    print(f"{'missing rows':42s} {'':8s} {left:8.0f} CPU s, {left / 7200:.1f} hours on two free cores")


def compute(bench, row, folder):
    began = bench.cpu
    try:
        found = row.compute(bench)
    except NoData as missing:
        say(f"{row.section}/{row.name} skipped: {missing}")
        return
    found["cpu_s"] = round(bench.cpu - began, 1)
    path = folder / row.path.name
    part = path.with_suffix(".part")
    part.write_text(json.dumps(found, indent=None, separators=(",", ":")) + "\n")
    part.replace(path)
    say(f"{row.section}/{row.name}:", *(f"AMI {found['ami']:.3f} ARI {found['ari']:.3f}" for _ in [0] if "ami" in found),
        f"{found['cpu_s']:.0f} CPU s")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="list the rows and exit")
    parser.add_argument("--page", action="store_true", help="compute nothing")
    parser.add_argument("--only", nargs="+", choices=[*rows.SECTIONS, *rows.GROUPS], metavar="SECTION",
                        help=", ".join([*rows.SECTIONS, *rows.GROUPS]))
    parser.add_argument("--row", nargs="+", metavar="NAME", help="NAME or SECTION/NAME, as in --list")
    parser.add_argument("--method", nargs="+", choices=rows.METHODS)
    parser.add_argument("--resume", action="store_true", help="skip rows that are stored (the default)")
    parser.add_argument("--again", action="store_true", help="compute rows even if they are stored")
    parser.add_argument("--budget", type=float, default=float("inf"), metavar="S", help="CPU seconds")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("-o", "--output", type=pathlib.Path, help="the page (default: docs/paper.md)")
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "results", help="folder for the results of single runs")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count())
    a = parser.parse_args()
    results = a.results.resolve() / ("paper-quick" if a.quick else "paper")
    folder = results / "rows" if a.quick else rows.FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    chosen = selected(a)
    if not chosen:
        parser.error("no row has this name; see --list")
    if a.list:
        show_list(chosen, folder)
        return
    began = time.time()
    if not a.page:
        bench = Bench(QUICK if a.quick else FULL, results, a.jobs)
        for row in chosen:
            if (row.load(folder) is None or a.again) and bench.cpu + row.seconds <= a.budget:
                compute(bench, row, folder)
        say(f"{bench.cpu:.0f} CPU seconds, {time.time() - began:.0f} s")
    output = a.output or (None if a.quick else ROOT / "docs" / "paper.md")
    found = {(r.section, r.name): r.load(folder) for r in rows.all_rows()}
    seconds = sum(found[r.section, r.name]["cpu_s"] if found[r.section, r.name] else r.seconds for r in rows.all_rows())
    plan = QUICK if a.quick else FULL
    text, details = page.write(found, plan, seconds), page.details(found, plan, output.parent if output else None)
    if output:
        output.write_text(text)
        (output.parent / "notes").mkdir(exist_ok=True)
        (output.parent / "notes" / "paper-details.md").write_text(details)
    else:
        print(text + "\n" + details)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        raise SystemExit("paper: interrupted; the same command continues with the missing rows") from None
