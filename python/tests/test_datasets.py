"""Tests of the data sets that are included in the package."""

import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import ddsc
from ddsc import datasets

LOADERS = {
    "shapes": (datasets.load_shapes, 40, 2, 2),
    "shapes in space": (lambda: datasets.load_shapes(3).transformed(align="principal"), 60, 3, 3),
    "digits": (datasets.load_digits, 500, 2, 10),
    "documents": (datasets.load_documents, 100, 100, 5),
    "cells": (datasets.load_cells, 32, 6, 2),
}


@pytest.mark.parametrize("name", LOADERS)
def test_sets_are_whole(name):
    load, n, dim, classes = LOADERS[name]
    X, again = load(), load()
    assert isinstance(X, ddsc.Distributions)
    assert (len(X), X.n_items, X.dim, len(set(X.labels))) == (n, n, dim, classes)
    assert len(set(X.ids)) == n
    for (p, a), (q, b) in zip(X, again):
        assert np.array_equal(p, q) and np.array_equal(a, b)


@pytest.mark.parametrize("name, k, least", [("shapes", 2, 1.0), ("shapes in space", 3, 1.0),
                                            ("digits", 10, 0.75), ("documents", 5, 0.8), ("cells", 2, 0.9)])
def test_clusters_are_the_classes(name, k, least):
    X = LOADERS[name][0]()
    found = ddsc.DDSC(n_clusters=k).fit_predict(X)
    assert ddsc.adjusted_mutual_info_score(X.labels, found) >= least


def test_names():
    assert datasets.load_cells().coordinate_names == ["CD3", "CD19", "CD14", "CD56", "pSTAT3", "pS6"]
    X, texts = datasets.load_documents(), datasets.load_texts()
    assert X.titles == texts.titles and X.ids == texts.ids and list(X.labels) == texts.labels
    assert datasets.load_documents(support=0).sizes.max() > 16


def test_digits_are_those_of_the_origin():
    sklearn = pytest.importorskip("sklearn.datasets")
    origin, X = sklearn.load_digits(), datasets.load_digits()
    rows = np.sort(np.concatenate([np.flatnonzero(origin.target == c)[:50] for c in range(10)]))
    assert np.array_equal(origin.target[rows], X.labels)
    for (points, weights), image in zip(X, origin.images[rows]):
        drawn = np.zeros((8, 8))
        drawn[tuple(points.astype(int).T)] = weights
        assert np.allclose(drawn, image / image.sum(), rtol=0, atol=1e-15)


def test_documents_are_those_of_the_generator():
    tool = pathlib.Path(__file__).resolve().parents[2] / "tools" / "documents.py"
    if not tool.exists():
        pytest.skip("not in the repository")
    made = subprocess.run([sys.executable, str(tool)], capture_output=True, check=True).stdout
    assert made == pathlib.Path(datasets.documents_path()).read_bytes()


def test_they_are_small_and_say_where_they_come_from():
    folder = pathlib.Path(datasets.__file__).parent
    assert sum(f.stat().st_size for f in folder.iterdir() if f.is_file()) < 200_000
    assert "CC0" in (folder / "NOTICE.md").read_text() and "10.24432/C50P49" in (folder / "NOTICE.md").read_text()


def test_wrong_dimension():
    with pytest.raises(ValueError, match="must be 2 or 3"):
        datasets.load_shapes(4)


def test_larger_sets_are_described(tmp_path):
    for larger in datasets.LARGER:
        assert larger.origin.startswith("http") and larger.about and larger.terms
        assert all(len(digest) == 64 for digest in larger.sha256.values())
    other = tmp_path / "other"
    other.write_bytes(b"not it")
    with pytest.raises(ValueError, match="matches no file of"):
        datasets.identify(other)


def test_the_page_names_the_origins():
    page = pathlib.Path(__file__).resolve().parents[2] / "docs" / "datasets.md"
    if not page.exists():
        pytest.skip("not in the repository")
    text = page.read_text(encoding="utf-8")
    for larger in datasets.LARGER:
        assert larger.origin in text, larger.name


def test_checksums(data):
    for folder, name in (("mnist", "MNIST"), ("fashion-mnist", "Fashion-MNIST")):
        for file in sorted(os.listdir(data / folder)):
            if file.startswith("t10k"):
                assert datasets.identify(data / folder / file) == (name, file[:-3])
