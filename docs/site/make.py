"""Makes the documentation site: ./run docs calls it.

    python docs/site/make.py [links]

The pages of docs/ are the source, as they are. They are put together in build/site-src with what is made from
elsewhere (the C reference from the header, the command reference from the program's tables, a report), and Sphinx turns
them into build/site-html; the examples of docs/gallery are run on the way. Every warning is an error: links to pages
and headings that are not there, names that are not known, examples that fail. Afterwards the pages are
searched for anything that they would fetch from elsewhere. `links` looks at links to other people's
pages, and only reports.
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
# Pages of the repository's root that others link to, and files that readers may take with them.
OUTSIDE = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "tests/README.md")


def link_within(text):
    """Links of a page of docs/ to what lies outside it: the C reference, or a copy under repository/."""
    text = text.replace("](../include/ddsc/ddsc.h)", "](reference/c.rst)")
    text = text.replace("](../examples)", "](repository/examples/index.md)")
    return re.sub(r"\]\(\.\./(?=[\w.])", "](repository/", text)


def link_outside(text):
    """The same for pages of the root, which lie under repository/ here, and for tests/README.md."""
    text = re.sub(r"\]\(include/ddsc/ddsc\.h\)", "](../reference/c.rst)", text)
    text = text.replace("](docs/gallery)", "](../gallery/index.rst)")
    text = re.sub(r"\]\(docs/", "](../", text)
    text = text.replace("](../docs/", "](../../")
    return text


def stage():
    """The sources, in a folder of their own. Files that did not change keep their date."""
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
    programs = ["# C examples", "", "Whole programs, compiled and run by the tests.", ""]
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
    """What a page would take from the network: scripts, styles, fonts, pictures. Links are not meant."""
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
    """Public names of Python and C that the references lack."""
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
    made = SOURCE / "gallery" / "index.rst"  # examples are kept while neither they nor the package change
    if made.exists() and made.stat().st_mtime < pathlib.Path(ddsc.__file__).stat().st_mtime:
        shutil.rmtree(made.parent)
    if sphinx("html", OUT, "-W", "--keep-going", "-j", "2"):
        return 1
    found = [f"would be fetched from elsewhere: {line}" for line in fetched()]
    found += [f"not in the reference: {name}" for name in missing()]
    if not (OUT / "searchindex.js").exists():
        found.append("no index to search in")
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
