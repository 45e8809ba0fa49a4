"""Small data sets that are included in the package, and references to larger ones.

>>> import ddsc
>>> X = ddsc.datasets.load_digits()
>>> len(X), X.labels[:5].tolist()
(500, [0, 1, 2, 3, 4])

The digits are handwritten (UCI, CC BY 4.0; see NOTICE.md in this folder). The documents were assembled from
sentences written for this package, and the shapes and cells are synthetic. These sets are suitable for
learning the package, but not for measuring the quality of methods on real data.
"""

from __future__ import annotations

import gzip
import hashlib
import os
from typing import Dict, List, NamedTuple, Tuple

import numpy as np

from .._distributions import Distributions
from .._reading import make_shapes, read_text
from .._types import Floats, PathLike
from ._larger import LARGER, Larger

__all__ = [
    "LARGER",
    "Larger",
    "documents_path",
    "identify",
    "load_cells",
    "load_digits",
    "load_documents",
    "load_shapes",
    "load_texts",
]


def __dir__() -> List[str]:
    return sorted(__all__)


_HERE = os.path.dirname(os.path.abspath(__file__))


class Texts(NamedTuple):
    """The texts of documents, with labels, ids and titles."""

    texts: List[str]
    labels: List[str]
    ids: List[str]
    titles: List[str]


def load_shapes(dimension: int = 2, n: int = 20, random_state: int = 0) -> Distributions:
    """Generate shapes around a common center: squares and circles, or surfaces of balls, rods and rings.

    In the plane, these are the squares and circles of the paper. All items have the same mean, so methods that use only
    means cannot separate the shapes. In space, every shape has its own proportions and a random rotation, which
    ``transformed(align="principal")`` removes.

    Parameters
    ----------
    dimension : {2, 3}
    n : int
        Number of items of each kind.
    random_state : int

    Returns
    -------
    Distributions
        `labels` are the names of the kinds.

    Examples
    --------
    >>> import ddsc
    >>> ddsc.datasets.load_shapes()
    Distributions(40 items in 2 dimensions, 40 to 40 points, 1600 distinct)
    >>> ddsc.datasets.load_shapes(3)
    Distributions(60 items in 3 dimensions, 150 to 150 points, 9000 distinct)
    """
    if dimension not in (2, 3):
        raise ValueError(f"dimension={dimension!r}: must be 2 or 3")
    if dimension == 2:
        plain = make_shapes(n, random_state=random_state)
        items, kinds = list(plain), np.array(["square", "circle"])[np.asarray(plain.labels)]
        ids = [f"{kind}-{i % n + 1:02}" for i, kind in enumerate(kinds)]
        made = Distributions(items, ids=ids, labels=kinds)
        return made.described(coordinate_names=["x", "y"])
    draw = np.random.RandomState(random_state)
    points, ids, labels = [], [], []
    for kind, surface in (("ball", _ball), ("rod", _rod), ("ring", _ring)):
        for i in range(n):
            cloud = surface(draw, 150) * draw.uniform(0.85, 1.15, 3)
            turn = np.linalg.qr(draw.normal(size=(3, 3)))[0]
            cloud = cloud @ turn
            points.append(cloud - cloud.mean(axis=0))
            ids.append(f"{kind}-{i + 1:02}")
            labels.append(kind)
    return Distributions(points, ids=ids, labels=labels).described(coordinate_names=["x", "y", "z"])


def _ball(draw: np.random.RandomState, n: int) -> Floats:
    x: Floats = draw.normal(size=(n, 3))
    length: Floats = np.linalg.norm(x, axis=1, keepdims=True)
    return x / length


def _rod(draw: np.random.RandomState, n: int) -> Floats:
    around, along = draw.uniform(0, 2 * np.pi, n), draw.uniform(-1.4, 1.4, n)
    return np.column_stack([0.5 * np.cos(around), 0.5 * np.sin(around), along])


def _ring(draw: np.random.RandomState, n: int) -> Floats:
    around, across = draw.uniform(0, 2 * np.pi, (2, n))
    out = 1 + 0.35 * np.cos(across)
    return np.column_stack([out * np.cos(around), out * np.sin(around), 0.35 * np.sin(across)])


def load_digits() -> Distributions:
    """Load 500 handwritten digits of 8 x 8 pixels, 50 of each, as distributions over their pixels.

    These are the first fifty digits of each class in the test part of "Optical Recognition of Handwritten Digits"
    (E. Alpaydin and C. Kaynak 1998, UCI Machine Learning Repository, https://doi.org/10.24432/C50P49, CC BY 4.0), in
    the original order.

    Returns
    -------
    Distributions
        Points are (row, column), weights are the darkness of the pixels, and `labels` are the digits.

    Examples
    --------
    >>> import ddsc
    >>> ddsc.datasets.load_digits()
    Distributions(500 items in 2 dimensions, 22 to 42 points, 56 distinct)
    """
    with np.load(os.path.join(_HERE, "digits.npz")) as file:
        images, digits = file["images"], file["digits"]
    ids = [f"digit-{i:03}" for i in range(len(images))]
    made = Distributions.from_histograms(images, ids=ids, labels=digits.astype(np.int64))
    return made.described(coordinate_names=["row", "column"])


def documents_path() -> str:
    """Return the path of the file with the documents (columns id, label, title, text), which ``ddsc text`` can read."""
    return os.path.join(_HERE, "documents.tsv")


def load_texts() -> Texts:
    """Load the hundred documents as texts, with their subjects, ids and titles.

    Examples
    --------
    >>> import ddsc
    >>> found = ddsc.datasets.load_texts()
    >>> len(found.texts), sorted(set(found.labels))
    (100, ['astronomy', 'cooking', 'football', 'gardening', 'weather'])
    """
    with open(documents_path(), encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file][1:]
    ids, labels, titles, texts = (list(column) for column in zip(*rows))
    return Texts(texts, labels, ids, titles)


def load_documents(support: int = 16) -> Distributions:
    """Load a hundred short documents on five subjects, as distributions over word vectors.

    The vectors are learned from the documents (`read_text` without a file of vectors). In every fifth document,
    two of the six sentences are from another subject.

    Parameters
    ----------
    support : int
        Largest number of points per document after merging; 0: words are not merged.

    Returns
    -------
    Distributions
        `labels` are the subjects, and `titles` the headings. `load_texts` returns the texts.

    Examples
    --------
    >>> import ddsc
    >>> X = ddsc.datasets.load_documents()
    >>> len(X), X.dim, X.titles[0] == ddsc.datasets.load_texts().titles[0]
    (100, 100, True)
    """
    return read_text(documents_path(), support=support)


# Fractions of four types of blood cells, and the mean of each marker in each type, on the arcsinh scale.
_MARKERS = ("CD3", "CD19", "CD14", "CD56", "pSTAT3", "pS6")
_KINDS = {
    "T": (0.55, (4.0, 0.3, 0.3, 0.4, 1.0, 1.0)),
    "B": (0.12, (0.3, 4.0, 0.3, 0.3, 1.0, 1.2)),
    "monocyte": (0.20, (0.3, 0.3, 4.0, 0.6, 1.4, 1.4)),
    "NK": (0.13, (0.4, 0.3, 0.4, 3.5, 1.0, 1.0)),
}
_RESPONSE = {"B": (0, 0, 0, 0, 0, 2.5), "monocyte": (0, 0, 0, 0, 1.5, 0)}


def load_cells(n_donors: int = 16, n_cells: int = 200, random_state: int = 0) -> Distributions:
    """Generate blood samples as clouds of cells, with one resting and one stimulated sample per donor.

    Four cell types differ in four surface markers. The fractions of the types and the levels of all markers
    differ between donors. Stimulation increases pS6 in B cells and pSTAT3 in monocytes, a third of all cells.

    Parameters
    ----------
    n_donors : int
        Number of donors, with two samples each.
    n_cells : int
        Number of cells per sample.
    random_state : int

    Returns
    -------
    Distributions
        `labels` are "rest" and "stimulated", and `coordinate_names` are the markers, on the arcsinh scale.

    Examples
    --------
    >>> import ddsc
    >>> X = ddsc.datasets.load_cells()
    >>> X, X.coordinate_names[-2:]
    (Distributions(32 items in 6 dimensions, 200 to 200 points, 6400 distinct), ['pSTAT3', 'pS6'])
    """
    draw = np.random.RandomState(random_state)
    shares = np.array([share for share, _ in _KINDS.values()])
    centers = np.array([center for _, center in _KINDS.values()])
    moves = np.array([_RESPONSE.get(kind, (0.0,) * len(_MARKERS)) for kind in _KINDS])
    items, ids, labels = [], [], []
    for donor in range(n_donors):
        own_shares = draw.dirichlet(150 * shares)
        own_level = draw.normal(0, 0.15, len(_MARKERS))
        for condition, strength in (("rest", 0.0), ("stimulated", 1.0)):
            kind = draw.choice(len(shares), size=n_cells, p=own_shares)
            cells = centers[kind] + strength * moves[kind] + own_level
            items.append(cells + draw.normal(0, 0.45, cells.shape))
            ids.append(f"donor{donor + 1:02}-{condition}")
            labels.append(condition)
    made = Distributions(items, ids=ids, labels=labels)
    return made.described(coordinate_names=_MARKERS)


def identify(path: PathLike) -> Tuple[str, str]:
    """Identify a file of `LARGER` by the checksum of its decompressed bytes, and return the names of the set and the
    file.

    ValueError is raised if the file is damaged or has a different version.
    """
    known: Dict[str, Tuple[str, str]] = {
        digest: (larger.name, name) for larger in LARGER for name, digest in larger.sha256.items()
    }
    found = hashlib.sha256()
    with open(path, "rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    with gzip.open(path, "rb") if packed else open(path, "rb") as file:
        for block in iter(lambda: file.read(1 << 20), b""):
            found.update(block)
    if found.hexdigest() not in known:
        raise ValueError(f"{os.fspath(path)}: sha256 {found.hexdigest()} matches no file of ddsc.datasets.LARGER")
    return known[found.hexdigest()]
