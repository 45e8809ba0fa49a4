"""Tests results in real notebooks, which nbclient runs. python/tests/scanpy.sh installs nbclient; without it, these
tests are skipped.

The tutorials are pages of docs/gallery. Notebooks and their HTML are kept in the folder DDSC_NOTEBOOKS.
"""

import ast
import html
import os
import pathlib
import re
import sys

import pytest

nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")
pytest.importorskip("ipykernel")

ROOT = pathlib.Path(__file__).resolve().parents[2]
GALLERY = ROOT / "docs" / "gallery"
TUTORIALS = ["01_digits", "02_documents", "14_scanpy", "07_new_items", "08_choosing_k"]
# Runs before the cells of a tutorial: reports texts of a figure that overlap. Only drawn texts count. It is registered
# before matplotlib's own handler, which closes the figures.
WATCH = """
def _watch():
    import itertools, sys
    if "matplotlib.pyplot" not in sys.modules:
        return
    import matplotlib.pyplot as plt
    from matplotlib.text import Text

    for figure in map(plt.figure, plt.get_fignums()):
        found, draw = [], Text.draw
        Text.draw = lambda self, *a, **k: (found.append(self), draw(self, *a, **k))[1]
        try:
            figure.draw_without_rendering()
        finally:
            Text.draw = draw
        texts = [text for text in dict.fromkeys(found) if text.get_text().strip()]
        boxes = [(text.get_text(), text.get_window_extent().padded(-1.5)) for text in texts]
        for (a, one), (b, other) in itertools.combinations([b for b in boxes if b[1].width > 0 and b[1].height > 0], 2):
            if one.overlaps(other):
                print(f"OVERLAP {a!r} and {b!r}")

get_ipython().events.register("post_execute", _watch)
"""
# Finds texts that overlap, and elements that are wider than the page. The arguments of the report are pairs of strings.
OVERLAPS = """(() => {
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), boxes = [], found = [];
    for (let node = walk.nextNode(); node; node = walk.nextNode()) {
        if (!node.data.trim() || node.parentElement.closest('title, style, script')) continue;
        const range = document.createRange();
        range.selectNodeContents(node);
        for (const b of range.getClientRects()) if (b.width > 2 && b.height > 2) boxes.push([node.data.trim(), b]);
    }
    for (let i = 0; i < boxes.length; i++) for (let j = i + 1; j < boxes.length; j++) {
        const [a, p] = boxes[i], [b, q] = boxes[j];
        const wide = Math.min(p.right, q.right) - Math.max(p.left, q.left);
        const high = Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top);
        if (wide > 2 && high > 4) found.push(`${a.slice(0, 40)} | ${b.slice(0, 40)}`);
    }
    for (const e of document.querySelectorAll('table:not(.dataframe), svg, p')) {
        const b = e.getBoundingClientRect();
        if (b.right > innerWidth + 1) found.push(`too wide: ${e.textContent.slice(0, 40)}`);
    }
    return found;
})()"""


def run(cells, folder, hidden=None):
    """Run a notebook and return it. A cell that raises an error fails the test."""
    book = nbformat.v4.new_notebook(cells=cells)
    if hidden:
        book.cells.insert(0, nbformat.v4.new_code_cell(hidden))
    nbclient.NotebookClient(book, timeout=300, resources={"metadata": {"path": str(folder)}}).execute()
    if hidden:
        del book.cells[0]
    return book


def tutorial_cells(name):
    """Return the cells of a gallery page, as in the notebook that a reader can download."""
    text = (GALLERY / f"{name}.py").read_text(encoding="utf-8")
    head = ast.get_docstring(ast.parse(text))
    title, _, about = head.partition("\n")
    cells = [nbformat.v4.new_markdown_cell(f"# {title}\n{about.lstrip('=').strip()}")]
    for part in re.split(r"(?m)^# %%.*\n", text)[1:]:
        words = re.match(r"(?:#.*\n)*", part).group()
        if words.strip("#\n "):
            cells.append(nbformat.v4.new_markdown_cell(re.sub(r"(?m)^# ?", "", words).strip()))
        if part[len(words) :].strip():
            cells.append(nbformat.v4.new_code_cell(part[len(words) :].strip()))
    return cells


def shown(output):
    """Return the kind and the text of an output, as shown by a notebook."""
    data = output.get("data", {})
    for kind in ("text/html", "image/png", "text/plain"):
        if kind in data:
            return kind, data[kind]
    return "stream", output.get("text", "")


def page_of(book):
    """Return a notebook as an HTML page."""
    parts = []
    for cell in book.cells:
        if cell.cell_type == "markdown":
            parts.append(f"<p style='white-space: pre-wrap'>{html.escape(cell.source)}</p>")
            continue
        parts.append(f"<pre style='background: #eee; overflow: auto'>{html.escape(cell.source)}</pre>")
        for kind, text in map(shown, cell.outputs):
            if kind == "image/png":
                parts.append(f'<img style="max-width: 100%" alt="figure" src="data:image/png;base64,{text}">')
            else:
                parts.append(f"<div style='overflow: auto'>{text}</div>" if kind == "text/html" else f"<pre>{html.escape(text)}</pre>")
    return "<!DOCTYPE html><meta charset=utf-8><title>notebook</title><body>" + "\n".join(parts)


def check_texts(book):
    """Notebooks show no hexadecimal text, raw dicts, objects without a readable form, or overlapping texts in
    figures."""
    for cell in book.cells:
        for kind, text in map(shown, cell.get("outputs", [])):
            if kind == "image/png":
                continue
            text = html.unescape(re.sub(r'src="data:[^"]*"|<(style|script).*?</\1>|<[^>]*>', " ", text, flags=re.S))
            wrong = re.search(r"[0-9a-f]{16}|\{'|\['\w+':|<\w+ object at|OVERLAP.*", text)
            assert not wrong, f"{cell.source[:200]}\nshows {wrong.group()!r}"


@pytest.fixture(scope="module")
def browser():
    sys.path.insert(0, str(ROOT / "tests" / "support"))
    try:
        from browser import MISSING, REASON, browser_started
    finally:
        del sys.path[0]
    if MISSING:
        pytest.skip(REASON)
    with browser_started() as found:
        yield found


def keep(book, name, tmp_path):
    """Write a notebook and its page, and return the path of the page."""
    folder = pathlib.Path(os.environ.get("DDSC_NOTEBOOKS", tmp_path))
    folder.mkdir(parents=True, exist_ok=True)
    nbformat.write(book, folder / f"{name}.ipynb")
    page = folder / f"{name}.html"
    page.write_text(page_of(book), encoding="utf-8")
    return page


def check_in_browser(browser, page, width=1000):
    browser.screen(width, 900)
    browser.open(page.resolve())
    assert browser.ask(OVERLAPS) == []
    assert browser.ask("[...document.images].every(i => i.complete && i.naturalWidth > 0)")
    assert browser.complaints() == []


RESULTS = [
    "import ddsc\nX = ddsc.datasets.load_digits()[:100]\nX",
    "model = ddsc.DDSC(4, n_jobs=1).fit(X)\nmodel",
    "model.explain()",
    "model.clusters_",
    "model.items_frame()",
    "ddsc.DDSC(4, n_jobs=1, verbose=1).fit(X).labels_[:3]",
    "X.write('digits.npz', overwrite=True)\nmodel.save('model.npz', overwrite=True)",
    "X.write('digits.npz', overwrite=True)\nmodel.save('model.npz', overwrite=True)",  # a cell that is run twice
    "ddsc.DDSC(4)",
    "documents = ddsc.DDSC(5, n_jobs=1).fit(ddsc.datasets.load_documents())\ndocuments",
    "ddsc.DDSC(2, n_jobs=1).fit(ddsc.datasets.load_cells(n_cells=60)).explain()",
]


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return run([nbformat.v4.new_code_cell(source) for source in RESULTS], tmp_path_factory.mktemp("results"))


def test_results(results):
    check_texts(results)
    outputs = ["".join(text for _, text in map(shown, cell.outputs)) for cell in results.cells]
    for number, wanted in ((0, "100 items in 2 dimensions"), (1, "<svg"), (2, "typical items"), (3, "<table"), (4, "ambiguity")):
        assert wanted in outputs[number] and "text/html" in results.cells[number].outputs[0].data, RESULTS[number]
    assert "k-means" in outputs[5] and "100%" in outputs[5] and "Warning" not in outputs[5]
    assert "DDSC" in outputs[8] and "words" in outputs[9] and "markers" in outputs[10]


def test_results_in_a_browser(results, browser, tmp_path):
    bare = nbformat.v4.new_notebook(cells=[cell for cell in results.cells if cell.source != "ddsc.DDSC(4)"])
    page = keep(bare, "results", tmp_path)  # without scikit-learn's own widget
    check_in_browser(browser, page)
    assert browser.ask("document.querySelectorAll('svg circle').length") >= 200
    assert browser.ask("document.querySelectorAll('table img').length") > 10


@pytest.mark.parametrize("name", [*TUTORIALS, "13_figures"])
def test_tutorials(name, tmp_path, request):
    if "scanpy" in name:
        for module in ("scanpy", "igraph", "leidenalg"):
            pytest.importorskip(module)
    book = run(tutorial_cells(name), tmp_path, hidden=WATCH)
    page = keep(book, name, tmp_path)
    check_texts(book)
    kinds = [kind for cell in book.cells if cell.cell_type == "code" for kind, _ in map(shown, cell.outputs)]
    assert ("text/html" if name in TUTORIALS else "image/png") in kinds and len(book.cells) > 8
    check_in_browser(request.getfixturevalue("browser"), page)
