"""Converts images to shares of 512 colors, in the same way as src/io/image/image.c."""

from __future__ import annotations

from typing import Any, Tuple

import numpy as np

from ._types import Array, Floats
from ._words import word

BINS = 8  # per channel
WHITE = (0.95047, 1.0, 1.08883)
MATRIX = ((0.4124564, 0.3575761, 0.1804375), (0.2126729, 0.7151522, 0.0721750), (0.0193339, 0.1191920, 0.9503041))


def looks_like_colors(images: Any, as_: Any) -> bool:
    """Return True if images are compared by their colors. Raise ValueError for color images if `as_` is None."""
    shape = np.shape(images)
    is_color = len(shape) == 4 and shape[-1] in (3, 4)
    channels_first = len(shape) == 4 and not is_color and shape[1] in (3, 4) and min(shape[2:]) >= 8
    if as_ is not None:
        colors = word("as_", as_, {"colors": 1, "volume": 0}) == 1
        if colors and not is_color:
            hint = "; move the channels to the end: images.transpose(0, 2, 3, 1)" if channels_first else ""
            raise ValueError(f"as_='colors' needs images of shape (N, height, width, 3 or 4), not {shape}{hint}")
        return colors
    if is_color:
        raise ValueError(
            f"histograms of shape {shape} look like color images, whose channels are not coordinates. Pass "
            "as_='colors' to compare colors, images.mean(axis=-1) to compare brightness, or as_='volume' if the last "
            "axis is a coordinate"
        )
    if channels_first:
        raise ValueError(
            f"histograms of shape {shape} look like color images with the channels first. Pass "
            "images.transpose(0, 2, 3, 1) with as_='colors', or as_='volume' if the first axis of an item is a coordinate"
        )
    return False


def color_shares(images: Any) -> Tuple[Floats, Floats]:
    """Return the L*a*b* values of the centers of 512 colors, and the area of each color in each image."""
    array = np.asarray(images)
    if array.dtype != np.uint8:
        if not (np.isfinite(array).all() and array.min() >= 0 and array.max() <= 1):
            raise ValueError("color images must be uint8, or float with values from 0 to 1")
        array = np.rint(255 * array.astype(np.float64)).astype(np.uint8)
    pixels = array.reshape(len(array), -1, array.shape[-1])
    bins = pixels[:, :, :3].astype(np.int64) * BINS // 256
    cell = (bins[:, :, 0] * BINS + bins[:, :, 1]) * BINS + bins[:, :, 2]
    area = pixels[:, :, 3].astype(float) if pixels.shape[2] == 4 else np.full(cell.shape, 255.0)
    shares = np.zeros((len(cell), BINS**3))
    np.add.at(shares, (np.arange(len(cell))[:, None], cell), area)
    centers = (np.indices((BINS,) * 3).reshape(3, -1).T + 0.5) / BINS
    return _lab(centers), shares


def _lab(rgb: Array) -> Floats:
    """Convert sRGB values in [0, 1] to L*a*b* (CIE 15; IEC 61966-2-1)."""
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    x = linear @ np.array(MATRIX).T / np.array(WHITE)
    f = np.where(x > 216 / 24389, np.cbrt(x), (24389 / 27 * x + 16) / 116)
    lab: Array = np.column_stack([116 * f[:, 1] - 16, 500 * (f[:, 0] - f[:, 1]), 200 * (f[:, 1] - f[:, 2])])
    return lab
