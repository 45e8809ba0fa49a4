"""Builds HTML fragments for notebooks. All text is escaped; pictures are data URLs or SVG without scripts."""

from __future__ import annotations

import base64
import html
import struct
import zlib
from typing import Any, Iterable, List, Optional, Sequence, Tuple

import numpy as np

from ._naming import color_of
from ._types import Array

CELL = "text-align: left; vertical-align: middle; padding: 2px 10px 2px 0"
DOTS = 2000  # largest number of items drawn on a map
TITLES = 300  # largest number of items whose names are shown under the mouse


class Markup(str):
    """A string of HTML, which must not be escaped again."""


def text(value: object) -> Markup:
    """Return a value as HTML."""
    return value if isinstance(value, Markup) else Markup(html.escape(str(value)))


def table(head: Sequence[object], rows: Iterable[Sequence[object]]) -> str:
    """Return a table. Cells that are not `Markup` are escaped."""
    titles = "".join(f'<th style="{CELL}">{text(cell)}</th>' for cell in head)
    lines = ("".join(f'<td style="{CELL}">{text(cell)}</td>' for cell in row) for row in rows)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table><thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table>"


def dot(cluster: int) -> Markup:
    """Return a dot in the color of a cluster."""
    return Markup(f'<span style="color: {color_of(cluster)}">&#9679;</span>')


def picture(shades: Array, words: str, color: str = "#808080", size: int = 40) -> Markup:
    """Return an image of a matrix with values from 0 (transparent) to 1 (the full color)."""
    rows, columns = shades.shape
    pixels = np.empty((rows, columns, 4), dtype=np.uint8)
    pixels[:, :, :3] = [int(color[i : i + 2], 16) for i in (1, 3, 5)]
    pixels[:, :, 3] = np.rint(255 * np.clip(shades, 0, 1))
    data = base64.b64encode(_png(pixels)).decode()
    style = f"width: {size}px; height: {size}px; image-rendering: pixelated; object-fit: contain"
    return Markup(f'<img alt="{text(words)}" style="{style}" src="data:image/png;base64,{data}">')


def _png(pixels: Array) -> bytes:
    """Return an RGBA image as PNG."""
    rows, columns, _ = pixels.shape
    lines = np.concatenate([np.zeros((rows, 1), np.uint8), pixels.reshape(rows, -1)], axis=1)  # filter 0 for each line

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", columns, rows, 8, 6, 0, 0, 0)
    packed = zlib.compress(lines.tobytes(), 9)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", packed) + chunk(b"IEND", b"")


def dots(places: Array, labels: Array, names: Optional[List[str]] = None, size: Tuple[int, int] = (300, 220)) -> Markup:
    """Return a small map. With more than 2,000 items, evenly spaced ones are drawn."""
    kept = np.flatnonzero(np.isfinite(places).all(axis=1))
    if not len(kept):
        return Markup("")
    kept = kept[np.unique(np.linspace(0, len(kept) - 1, min(len(kept), DOTS)).astype(int))]
    width, height = size
    low, high = places[kept].min(axis=0), places[kept].max(axis=0)
    scale = min((n - 16) / max(float(s), 1e-12) for n, s in zip(size, high - low))
    middle = (low + high) / 2
    radius = 3 if len(kept) <= TITLES else 1.6
    marks: List[str] = []
    for i in kept:
        x, y = width / 2 + scale * (places[i, 0] - middle[0]), height / 2 - scale * (places[i, 1] - middle[1])
        color = color_of(int(labels[i])) if labels[i] >= 0 else "#888888"
        title = f"<title>{text(names[i])}</title>" if names is not None and len(kept) <= TITLES else ""
        marks.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{color}">{title}</circle>')
    head = f'<svg role="img" aria-label="map of the items" width="{width}" height="{height}" viewBox="0 0 {width} {height}">'
    return Markup(head + "".join(marks) + "</svg>")


def shorten(value: Any, most: int = 60) -> str:
    """Return a value as a string of limited length."""
    words = str(value)
    return words if len(words) <= most else words[: most - 1] + "…"
