"""Sets the version in every file that contains it, and renames the section "Unreleased" of the changelog.

    tools/version.py X.Y.Z [DATE]        DATE is the date of the release (default: today).

include/ddsc/ddsc.h is the authoritative location. python/tests/test_package.py fails if the files disagree.
"""

import datetime
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# For each file, a pattern that matches the version. The first group is the text before the version.
PLACES = {
    "python/pyproject.toml": r'(?m)^(version = ")[^"]*',
    "CITATION.cff": r"(?m)^(version: ).*",
    "r/ddsc/DESCRIPTION": r"(?m)^(Version: ).*",
    "packaging/conda-forge/recipe.yaml": r'(?m)^(  version: ")[^"]*',
    "man/ddsc.1": r'(?m)^(\.TH DDSC 1 "" "ddsc )[^"]*',
}


def put(path, pattern, text):
    """Replace the text after the first group of a pattern, which must match exactly once."""
    content = (ROOT / path).read_text(encoding="utf-8")
    content, count = re.subn(pattern, lambda found: found.group(1) + text, content)
    if count != 1:
        sys.exit(f"{path}: found {count} places for the version; expected 1")
    (ROOT / path).write_text(content, encoding="utf-8")


def main():
    if len(sys.argv) not in (2, 3) or not re.fullmatch(r"\d+\.\d+\.\d+", sys.argv[1]):
        sys.exit("usage: tools/version.py X.Y.Z [YYYY-MM-DD]")
    version = sys.argv[1]
    date = datetime.date.fromisoformat(sys.argv[2]) if len(sys.argv) == 3 else datetime.date.today()
    for part, number in zip(("MAJOR", "MINOR", "PATCH"), version.split(".")):
        put("include/ddsc/ddsc.h", rf"(?m)^(#define DDSC_VERSION_{part} )\d+", number)
    for path, pattern in PLACES.items():
        put(path, pattern, version)
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    if f"\n## {version} - " not in changes:
        put("CHANGELOG.md", r"(?m)^(## )Unreleased$", f"{version} - {date}")
    print(f"version {version}; build again, then run: build/ddsc help --man | diff - man/ddsc.1")


if __name__ == "__main__":
    main()
