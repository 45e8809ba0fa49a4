"""Tests results in real notebooks, run by nbclient. python/tests/scanpy.sh installs it; elsewhere these tests are skipped."""

import pathlib
import re

import pytest

nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")
pytest.importorskip("ipykernel")

GALLERY = pathlib.Path(__file__).resolve().parents[2] / "docs" / "gallery"


def run(sources, folder):
    """Run a notebook of code cells, and return the outputs of each."""
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
    nbclient.NotebookClient(book, timeout=120, resources={"metadata": {"path": str(folder)}}).execute()
    return [cell.outputs for cell in book.cells]


def page_of(outputs):
    return "".join(output.get("data", {}).get("text/html", "") for output in outputs)


def test_results(tmp_path):
    cells = [
        "import ddsc\nX = ddsc.datasets.load_digits()[:100]\nX",
        "model = ddsc.DDSC(4, n_jobs=1).fit(X)\nmodel",
        "model.explain()",
        "model.clusters_",
        "model.items_frame()",
        "ddsc.DDSC(4, n_jobs=1, verbose=1).fit(X).labels_[:3]",
        "X.write('digits.npz', overwrite=True)\nmodel.save('model.npz', overwrite=True)",
        "X.write('digits.npz', overwrite=True)\nmodel.save('model.npz', overwrite=True)",  # a cell that is run twice
        "ddsc.DDSC(4)",
    ]
    outputs = run(cells, tmp_path)
    for number, wanted in ((0, "100 items in 2 dimensions"), (1, "<svg"), (2, "typical items"), (3, "<table"), (4, "ambiguity")):
        page = page_of(outputs[number])
        assert wanted in page, cells[number]
        assert not re.search(r"[0-9a-f]{16}|\['|': ", re.sub(r'src="data:[^"]*"|<style.*?</style>', "", page, flags=re.S))
    bars = "".join(output.get("text", "") for output in outputs[5]) + page_of(outputs[5])
    assert "k-means" in bars and "100%" in bars and "Warning" not in bars
    assert "DDSC" in page_of(outputs[8])
    assert not any(output.output_type == "error" for cell in outputs for output in cell)


@pytest.mark.parametrize("name", ["01_digits", "02_documents", "04_cells", "07_new_items", "08_choosing_k"])
def test_the_gallery_as_notebooks(name, tmp_path):
    """Runs the tutorials cell by cell."""
    text = (GALLERY / f"{name}.py").read_text(encoding="utf-8")
    cells = [part for part in re.split(r"(?m)^# %%.*$|^#{20,}$", text) if re.search(r"(?m)^[^#\n]", part)]
    assert len(cells) >= 3
    outputs = run(cells, tmp_path)
    kinds = {kind for cell in outputs for output in cell for kind in output.get("data", {})}
    assert "image/png" in kinds or "text/html" in kinds
