"""Renders a set of distributions as HTML for notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, List, Optional

import numpy as np

from ._html import Markup, picture, shorten, table, text
from ._types import Array

if TYPE_CHECKING:
    from ._distributions import Distributions

ITEMS_SHOWN = 5
NAMES_SHOWN = 12
COLUMNS_SHOWN = 4
CELLS = 24  # cells per side of a picture of points in the plane


def set_html(measures: "Distributions") -> str:
    """Return the sizes and names of the set, and a table of its first items, as HTML."""
    sizes = measures.sizes
    span = "no points" if not len(sizes) else f"{_span(int(sizes.min()), int(sizes.max()))} points per item"
    head = f"<b>{len(measures):,} items in {measures.dim} dimensions</b>, {span}, {len(measures.support):,} distinct points"
    dropped = len(measures) - measures.n_items
    facts = [("dropped", f"{dropped} items without mass" if dropped else "")]
    facts.append(("coordinates", _listed(measures.coordinate_names)))
    facts.append(("named points", _listed(measures.point_names)))
    facts.append(("classes", _counted(measures.labels)))
    facts.append(("metadata", _listed(list(measures.meta))))
    facts.append(("transforms", _listed(measures.transforms)))
    lines = "".join(f"<li>{name}: {text(value)}</li>" for name, value in facts if value)
    return f"<p>{head}</p>{f'<ul>{lines}</ul>' if lines else ''}{_first_items(measures)}"


def _span(low: int, high: int) -> str:
    return f"{low} to {high}" if low < high else str(low)


def _listed(names: Optional[List[str]]) -> str:
    if not names:
        return ""
    more = len(names) - NAMES_SHOWN
    shown = ", ".join(shorten(name, 30) for name in names[:NAMES_SHOWN])
    return f"{shown}, and {more} more" if more > 0 else shown


def _counted(labels: Any) -> str:
    if labels is None:
        return ""
    names, counts = np.unique(np.asarray(labels).astype(str), return_counts=True)
    return _listed([f"{shorten(name, 24)} ({count})" for name, count in zip(names, counts)])


def _first_items(measures: "Distributions") -> str:
    shown = range(min(len(measures), ITEMS_SHOWN))
    meta = dict(list(measures.meta.items())[:COLUMNS_SHOWN])
    size = measures._by_row(measures.sizes, 0)
    head = ["item", *(["title"] if measures.titles else []), *(["class"] if measures.labels is not None else [])]
    rows: List[List[object]] = []
    for i in shown:
        row: List[object] = [shorten(measures.ids[i], 40)]
        if measures.titles:
            row.append(shorten(measures.titles[i]))
        if measures.labels is not None:
            row.append(shorten(measures.labels[i], 40))
        rows.append([*row, size[i], *(shorten(column[i], 40) for column in meta.values())])
    pictures = item_pictures(measures, list(shown))
    if pictures:
        rows = [[drawn, *row] for drawn, row in zip(pictures, rows)]
    more = len(measures) - ITEMS_SHOWN
    rest = f"<p>and {more} more items</p>" if more > 0 else ""
    return table([*([""] if pictures else []), *head, "points", *meta], rows) + rest


def item_pictures(measures: "Distributions", rows: List[int]) -> List[Markup]:
    """Return images of items in the plane. Points that are not on a grid are counted in the cells of a grid."""
    if measures.dim != 2 or not len(measures.support):
        return []
    grid: Any = measures._grid
    drawn = []
    for row in rows:
        points, weights = measures[row]
        shades = _image(points, weights, grid) if grid else _cells(points, weights, measures.support)
        drawn.append(picture(shades / max(float(shades.max()), 1e-300), f"item {measures.ids[row]}"))
    return drawn


def _image(points: Array, weights: Array, grid: Any) -> Array:
    shades = np.zeros([cells for cells, _, _ in grid])
    origin, step = (np.array([axis[k] for axis in grid]) for k in (1, 2))
    cell = np.rint((points - origin) / np.where(step > 0, step, 1)).astype(int)
    shades[tuple(cell.T)] = weights
    return shades


def _cells(points: Array, weights: Array, support: Array) -> Array:
    """Return the square root of the mass in each cell. The first coordinate increases to the right, and the second
    upward."""
    low, high = support.min(axis=0), support.max(axis=0)
    wide = max(float((high - low).max()), 1e-300)
    at = np.clip(((points - (low + high - wide) / 2) / wide * CELLS).astype(int), 0, CELLS - 1)
    shades = np.zeros((CELLS, CELLS))
    np.add.at(shades, (CELLS - 1 - at[:, 1], at[:, 0]), weights)
    return np.sqrt(shades)
