"""Pictures of a result (matplotlib must be installed). Every function returns its Axes or Figure."""

from __future__ import annotations

from typing import Any, Optional, Tuple

import numpy as np

from . import _core
from ._arrays import is_sparse
from ._distributions import as_distributions
from ._run import Run

__all__ = ["clusters", "distances", "eigengap", "embedding"]


def _pyplot() -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("ddsc.plot needs matplotlib: pip install matplotlib") from None
    return plt


def _axes(ax: Any, size: Tuple[float, float]) -> Any:
    return _pyplot().subplots(figsize=size, layout="constrained")[1] if ax is None else ax


def _colours(k: int) -> Any:
    """k colours that a reader can tell apart; hues around the circle beyond twenty."""
    plt = _pyplot()
    if k <= 10:
        return plt.get_cmap("tab10")(np.arange(k))
    if k <= 20:
        return plt.get_cmap("tab20")(np.arange(k))
    return plt.get_cmap("hsv")(np.linspace(0, 1, k, endpoint=False))


def _labels(model: Any, labels: Any) -> np.ndarray:
    found = getattr(model, "labels_", None) if labels is None else labels
    if found is None:
        raise ValueError("labels are needed: give a fitted DDSC, or labels")
    return np.unique(np.asarray(found), return_inverse=True)[1].ravel()


def _names(model: Any, labels: Any) -> Any:
    found = model.labels_ if labels is None else labels
    names = np.unique(np.asarray(found))
    return [f"cluster {n}" for n in names] if names.dtype.kind in "iu" else [str(n) for n in names]


def embedding(model: Any, labels: Any = None, *, ids: Any = None, ax: Any = None) -> Any:
    """The spectral embedding in the plane of its two largest directions.

    Parameters
    ----------
    model : DDSC or (N, d) array
        A fitted estimator, or rows of an embedding (such as those of `LinearOT`).
    labels : sequence, optional
        Colours; None: the clusters found. Give the true classes to compare.
    ids : sequence of str, optional
        Text beside the points.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    rows = np.asarray(getattr(model, "embedding_", model), dtype=float)
    numbers, names = _labels(model, labels), _names(model, labels)
    kept = np.isfinite(rows).all(axis=1)
    plane, flat = np.zeros((len(rows), 2)), np.zeros((kept.sum(), 2))
    with Run(n_jobs=1) as run:
        run(_core.project, flat, np.ascontiguousarray(rows[kept]))
    plane[kept] = flat
    ax = _axes(ax, (6.0, 5.0))
    colours = _colours(len(names))
    for c, name in enumerate(names):
        part = (numbers == c) & kept
        size = 36 if len(rows) <= 300 else 9
        ax.scatter(*plane[part].T, s=size, color=colours[c], label=f"{name} ({part.sum()})")
    if ids is not None:
        for i in np.flatnonzero(kept):
            ax.annotate(str(ids[i]), plane[i], xytext=(4, 3), textcoords="offset points", fontsize=7)
    ax.set_xlabel("first direction of the embedding")
    ax.set_ylabel("second direction")
    ax.margins(0.08)
    if len(names) <= 20:
        ax.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return ax


def clusters(
    X: Any, labels: Any, *, n_each: int = 8, limits: Any = None, random_state: int = 0
) -> Any:
    """Small pictures of items in the plane, one line per cluster.

    Parameters
    ----------
    X : list of (n_i, 2) arrays or Distributions
        Points in the plane; those on a regular grid are drawn as images.
    labels : sequence, or a fitted DDSC
    n_each : int
        Items shown of each cluster, drawn at random.
    limits : (x0, x1, y0, y1), optional
        Part of the plane; None: all points.
    random_state : int

    Returns
    -------
    matplotlib Figure
    """
    plt = _pyplot()
    measures = as_distributions(X)
    if measures.dim != 2:
        raise ValueError(f"items have {measures.dim} coordinates; only the plane can be drawn")
    numbers = _labels(labels, getattr(labels, "labels_", labels))
    names = _names(labels, getattr(labels, "labels_", labels))
    draw = np.random.RandomState(random_state)
    k = len(names)
    figure, boxes = plt.subplots(
        k, n_each, figsize=(1.05 * n_each + 0.6, 1.1 * k), squeeze=False, layout="constrained"
    )
    if limits is None:
        low, high = measures.support.min(axis=0), measures.support.max(axis=0)
        pad = 0.04 * max(float((high - low).max()), 1e-12)
        limits = (low[0] - pad, high[0] + pad, low[1] - pad, high[1] + pad)
    colours = _colours(k)
    for c in range(k):
        members = np.flatnonzero(numbers == c)
        shown = np.sort(draw.permutation(members)[:n_each])
        for place in range(n_each):
            box = boxes[c, place]
            box.set_xticks([])
            box.set_yticks([])
            if place >= len(shown):
                box.axis("off")
                continue
            points, weights = measures[int(shown[place])]
            _draw_item(box, points, weights, limits, colours[c], measures._grid)
        boxes[c, 0].set_ylabel(f"{names[c]}\n({len(members)})", fontsize=8)
    return figure


def _draw_item(
    box: Any, points: np.ndarray, weights: np.ndarray, limits: Any, colour: Any, grid: Any
) -> None:
    if grid:  # rows down, columns across, as images are stored
        image = np.zeros([cells for cells, _, _ in grid])
        origin, step = (np.array([axis[k] for axis in grid]) for k in (1, 2))
        cell = np.rint((points - origin) / np.where(step > 0, step, 1)).astype(int)
        image[tuple(cell.T)] = weights
        box.imshow(image, cmap="gray_r", interpolation="nearest")
        return
    size = weights * len(weights)
    box.scatter(points[:, 0], points[:, 1], s=6 * np.clip(size, 0.1, 8), color=colour)
    box.set_xlim(limits[0], limits[1])
    box.set_ylim(limits[2], limits[3])
    box.set_aspect("equal")


def eigengap(model: Any, *, n: Optional[int] = None, ax: Any = None) -> Any:
    """Eigenvalues of the normalised Laplacian; a gap after the K-th speaks for K clusters.

    Parameters
    ----------
    model : DDSC
        Fitted.
    n : int, optional
        Eigenvalues to draw; None: twice the clusters, at least ten.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    k = model.n_clusters_
    values = model.eigenvalues_[: n or max(10, 2 * k + 2)]
    ax = _axes(ax, (6.0, 3.6))
    ax.plot(np.arange(1, len(values) + 1), values, "o-", color="0.35", markersize=4, linewidth=1)
    ax.plot(np.arange(1, min(k, len(values)) + 1), values[:k], "o", color="C0", markersize=6)
    if k < len(values):
        ax.axvspan(k, k + 1, color="C1", alpha=0.25, linewidth=0)
        gap = values[k] - values[k - 1]
        ax.set_title(f"gap after {k}: {gap:.3g}", fontsize=10)
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.set_xlabel("number")
    ax.set_ylabel("eigenvalue")
    ax.set_ylim(bottom=min(0.0, float(values.min())))
    return ax


def distances(D: Any, labels: Any, *, ax: Any = None) -> Any:
    """Heat map of a matrix of distances (or affinities), items ordered by cluster.

    Colours span the middle 96% of the values between different items.

    Parameters
    ----------
    D : (N, N) array or sparse matrix
    labels : sequence, or a fitted DDSC
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    matrix = D.toarray() if is_sparse(D) or hasattr(D, "toarray") else np.asarray(D, dtype=float)
    found = getattr(labels, "labels_", labels)
    numbers, names = _labels(labels, found), _names(labels, found)
    order = np.argsort(numbers, kind="stable")
    ax = _axes(ax, (5.6, 5.0))
    others = matrix[~np.eye(len(matrix), dtype=bool)]
    others = others[np.isfinite(others) & (others != 0)]
    low, high = np.quantile(others, [0.02, 0.98]) if others.size else (0, 1)
    picture = ax.imshow(
        matrix[np.ix_(order, order)], cmap="viridis", vmin=low, vmax=high, interpolation="nearest"
    )
    counts = np.bincount(numbers, minlength=len(names))
    ends = np.cumsum(counts)
    for end in ends[:-1]:
        ax.axhline(end - 0.5, color="white", linewidth=1)
        ax.axvline(end - 0.5, color="white", linewidth=1)
    ax.set_xticks([])
    ax.set_yticks(ends - counts / 2 - 0.5)
    ax.set_yticklabels(names, fontsize=8)
    ax.figure.colorbar(picture, ax=ax, shrink=0.8)
    return ax
