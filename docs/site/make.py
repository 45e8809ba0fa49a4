"""Builds the documentation site; ./run docs calls it.

    python docs/site/make.py [links]

The script copies the pages of docs/ to build/site-src and adds the generated parts: the C reference from the header,
the command reference from the program's tables, and a report. Sphinx then runs the examples of docs/gallery and writes
the site to build/site-html. Every warning is an error: for example, a link to a missing page or heading, an unknown
name, or a failing example. Finally, the script checks that no page loads external resources. With `links`, it checks
the external links and only reports the result.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import commands
import header
from sphinx.util.inventory import InventoryFile

import ddsc

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCE = ROOT / "build" / "site-src"
OUT = ROOT / "build" / "site-html"
# Pages in the root of the repository that are part of the site, because other pages link to them.
OUTSIDE = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "tests/README.md")


def link_within(text):
    """Rewrite links from a page of docs/ to files outside docs/: to the C reference, or to a copy under repository/."""
    text = text.replace("](../include/ddsc/ddsc.h)", "](reference/c.rst)")
    text = text.replace("](../examples)", "](repository/examples/index.md)")
    return re.sub(r"\]\(\.\./(?=[\w.])", "](repository/", text)


def link_outside(text):
    """Rewrite links in pages from the root of the repository, which are copied to repository/, and in
    tests/README.md."""
    text = re.sub(r"\]\(include/ddsc/ddsc\.h\)", "](../reference/c.rst)", text)
    text = text.replace("](docs/gallery)", "](../gallery/index.rst)")
    text = re.sub(r"\]\(docs/", "](../", text)
    text = text.replace("](../docs/", "](../../")
    return text


def stage():
    """Write the sources to build/site-src. Unchanged files keep their modification time."""
    wanted = {}
    for path in sorted((ROOT / "docs").rglob("*")):
        place = path.relative_to(ROOT / "docs")
        if path.is_dir() or place.parts[0] == "site":
            continue
        if place.parts[0] == "gallery":
            wanted[pathlib.Path("gallery-src", *place.parts[1:])] = path.read_bytes()
        elif path.suffix == ".md":
            text = path.read_text(encoding="utf-8")
            text = link_within(text) if len(place.parts) == 1 else text
            wanted[place] = text.encode()
        else:
            wanted[place] = path.read_bytes()
    for name in OUTSIDE:
        wanted[pathlib.Path("repository", name)] = link_outside((ROOT / name).read_text("utf-8")).encode()
    programs = ["# C examples", "", "Complete programs, which the tests compile and run.", ""]
    for path in sorted((ROOT / "examples").glob("*.c")):
        wanted[pathlib.Path("repository", "examples", path.name)] = path.read_bytes()
        programs += [f"## {path.name}", "", f"```{{literalinclude}} {path.name}", ":language: c", "```", ""]
    wanted[pathlib.Path("repository", "examples", "index.md")] = "\n".join(programs).encode()

    text = (ROOT / "include" / "ddsc" / "ddsc.h").read_text(encoding="utf-8")
    wanted[pathlib.Path("reference", "c.rst")] = header.page(text).encode()
    program = os.environ.get("DDSC", str(ROOT / "build" / "ddsc"))
    manual = subprocess.run([program, "help", "--man"], check=True, capture_output=True, text=True)
    for name, page in commands.pages(manual.stdout).items():
        wanted[pathlib.Path("reference", "commands", name)] = page.encode()

    model = ddsc.DDSC(n_clusters=10).fit(ddsc.datasets.load_digits())
    wanted[pathlib.Path("_extra", "report-digits.html")] = model.report().encode()

    for place, content in wanted.items():
        target = SOURCE / place
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists() or target.read_bytes() != content:
            target.write_bytes(content)
    for path in sorted(SOURCE.rglob("*"), reverse=True):
        place = path.relative_to(SOURCE)
        if path.is_file() and place not in wanted and place.parts[0] not in ("gallery",):
            path.unlink()
    return wanted


def sphinx(builder, out, *options):
    command = [sys.executable, "-m", "sphinx", "-b", builder, "-q", "-c", str(ROOT / "docs" / "site")]
    command += ["-d", str(ROOT / "build" / "site-doctrees")]
    environment = {**os.environ, "MPLBACKEND": "Agg", "PYTHONWARNINGS": "ignore::DeprecationWarning"}
    return subprocess.run([*command, *options, str(SOURCE), str(out)], env=environment).returncode


def fetched():
    """Return the external resources that a page would load: scripts, styles, fonts and pictures, but not links."""
    found = []
    for path in sorted(OUT.rglob("*.html")):
        text = path.read_text(encoding="utf-8")
        for tag in re.findall(r"<(?:script|link|img|iframe|source)\b[^>]*>", text):
            if re.search(r"""(?:src|href)=["'](?:https?:)?//""", tag) and 'rel="canonical"' not in tag:
                found.append(f"{path.relative_to(OUT)}: {tag}")
    for path in sorted(OUT.rglob("*.css")):
        for url in re.findall(r"(?:url\(|@import )[\"']?((?:https?:)?//[^\"')]*)", path.read_text("utf-8")):
            found.append(f"{path.relative_to(OUT)}: {url}")
    return found


def missing():
    """Return the public names of Python and C that are missing from the references."""
    with open(OUT / "objects.inv", "rb") as file:
        known = InventoryFile.load(file, "", lambda base, name: name)
    there = {name for kind, names in known.items() if kind.startswith(("py:", "c:")) for name in names}
    text = (ROOT / "include" / "ddsc" / "ddsc.h").read_text(encoding="utf-8")
    code = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    wanted = set(re.findall(r"\b(ddsc_\w+)\(", code)) - {"ddsc_"}
    wanted |= {f"ddsc.{name}" for name in ddsc.__all__ if name not in ("__version__", "datasets", "plot")}
    wanted |= {f"ddsc.datasets.{name}" for name in ddsc.datasets.__all__ if name.islower()}
    return sorted(wanted - there)


def main():
    stage()
    if sys.argv[1:] == ["links"]:
        sphinx("linkcheck", ROOT / "build" / "site-links")
        return 0
    shutil.rmtree(OUT, ignore_errors=True)
    made = SOURCE / "gallery" / "index.rst"  # results of examples are reused if neither they nor the package have changed
    if made.exists() and made.stat().st_mtime < pathlib.Path(ddsc.__file__).stat().st_mtime:
        shutil.rmtree(made.parent)
    if sphinx("html", OUT, "-W", "--keep-going", "-j", "2"):
        return 1
    found = [f"external resource: {line}" for line in fetched()]
    found += [f"not in the reference: {name}" for name in missing()]
    if not (OUT / "searchindex.js").exists():
        found.append("the search index is missing")
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
