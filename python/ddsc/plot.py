"""Figures of a result, drawn with matplotlib. Every function accepts and returns Axes; ``ax.figure`` is the Figure.

Clusters have the same colors as in the report. If there are more than twenty clusters, colors repeat with other
markers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, List, Optional, Sequence, Tuple, Union

import numpy as np

from . import _core
from ._arrays import is_sparse
from ._base import check_fitted
from ._distributions import Distributions, as_distributions
from ._naming import COLORS, color_of
from ._plot_changes import _axes, diff, over
from ._run import Run
from ._types import Array, ArrayLike, Items, Labels, SparseRows

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ._estimator import DDSC

__all__ = ["about", "clusters", "diff", "distances", "eigengap", "embedding", "map", "over", "tree"]


def __dir__() -> List[str]:
    return sorted(__all__)


COLOURS = COLORS  # the name in version 0.2.0
MARKS = "osD"
TREE: Any = {"orientation": "left", "color_threshold": 0, "above_threshold_color": "0.35"}
NAMES_UP_TO = 60  # largest number of items whose names are shown in a heat map or a tree


def _panels(ax: Any, rows: int, columns: int, size: Tuple[float, float]) -> Tuple[Any, Array]:
    """Return Axes without a frame, and the panels inside them. ``ax.figure.axes`` also contains the panels."""
    host = _axes(ax, size)
    host.axis("off")
    spec = host.get_subplotspec() if hasattr(host, "get_subplotspec") else None  # always exists since matplotlib 3.7
    if spec is None:
        wide, high = 1 / columns, 1 / rows
        corners = [(c * wide, 1 - (r + 1) * high) for r in range(rows) for c in range(columns)]
        made = [host.inset_axes([x + 0.1 * wide, y + 0.1 * high, 0.85 * wide, 0.75 * high]) for x, y in corners]
    else:
        grid = spec.subgridspec(rows, columns)
        made = [host.figure.add_subplot(grid[r, c]) for r in range(rows) for c in range(columns)]
    panels: Array = np.empty(rows * columns, dtype=object)
    panels[:] = made
    return host, panels.reshape(rows, columns)


def _separate(texts: List[Any]) -> None:
    """Move annotations into their Axes, and down until no two of them overlap."""
    if not texts:
        return
    figure = texts[0].figure
    figure.draw_without_rendering()
    frame = texts[0].axes.get_window_extent()
    placed: List[Any] = []
    for text in sorted(texts, key=lambda t: -t.get_window_extent().y0):
        box, down = text.get_window_extent().padded(2), 0.0
        across = max(0.0, frame.x0 - box.x0) or min(0.0, frame.x1 - box.x1)
        box = box.translated(across, 0)
        for other in sorted(placed, key=lambda b: -b.y0):
            if box.overlaps(other):
                down += box.y1 - other.y0 + 1
                box = box.translated(0, other.y0 - box.y1 - 1)
        text.set_position((across * 72 / figure.dpi, -down * 72 / figure.dpi))
        placed.append(box)


def _hide_overlaps(texts: List[Any]) -> None:
    """Hide every tick label that overlaps an earlier visible one."""
    if len(texts) < 2:
        return
    texts[0].figure.draw_without_rendering()
    last: Any = None
    for text in texts:
        box = text.get_window_extent()
        text.set_visible(last is None or not box.overlaps(last))
        last = box if text.get_visible() else last


def _mark(cluster: int) -> str:
    return MARKS[cluster // len(COLORS) % len(MARKS)]


def _found(model: Any, labels: Any) -> Array:
    if hasattr(model, "get_params"):
        check_fitted(model, "labels_")
    found = getattr(model, "labels_", None) if labels is None else getattr(labels, "labels_", labels)
    if found is None:
        raise ValueError("labels are missing; pass a fitted DDSC or labels")
    out: Array = np.asarray(found)
    return out


def _groups(found: Array) -> Tuple[Array, List[str]]:
    """Return cluster numbers, starting at 0, and cluster names. Items without a label have the number -1."""
    names, numbers = np.unique(found, return_inverse=True)
    numbers = numbers.ravel()
    if names.dtype.kind in "iu":
        numbers = numbers - int((names < 0).sum())
        names = names[names >= 0]
        return np.maximum(numbers, -1), [f"cluster {n}" for n in names]
    return numbers, [str(n) for n in names]


def _scatter(ax: Any, plane: Array, found: Array, ids: Any) -> None:
    numbers, names = _groups(found)
    kept = np.isfinite(plane).all(axis=1)
    size = 36 if len(plane) <= 300 else 9
    for c, name in enumerate(names):
        part = (numbers == c) & kept
        label = f"{name} ({part.sum()})"
        ax.scatter(*plane[part].T, s=size, color=color_of(c), marker=_mark(c), label=label, linewidths=0)
    if ids is not None:
        for i in np.flatnonzero(kept):
            ax.annotate(str(ids[i]), plane[i], xytext=(4, 3), textcoords="offset points", fontsize=7)
    ax.margins(0.08)
    if len(names) <= 20:
        ax.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))


def map(  # noqa: A001
    model: "DDSC",
    labels: Optional[Labels] = None,
    *,
    ids: Optional[Sequence[object]] = None,
    names: bool = True,
    ax: Optional["Axes"] = None,
) -> "Axes":
    """Draw the map of the report, on which neighbors are close together.

    Parameters
    ----------
    model : DDSC
        Fitted.
    labels : sequence, optional
        Labels that determine the colors; None: the clusters. For a comparison, pass the true classes.
    ids : sequence, optional
        Text shown next to the items.
    names : bool
        Annotate each cluster with its distinctive words or coordinates, if they have names.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    if not hasattr(type(model), "map_"):
        raise TypeError(f"model must be a fitted DDSC, not {type(model).__name__}")
    found = _found(model, labels)
    ax_: Any = _axes(ax, (6.5, 5.0))
    _scatter(ax_, model.map_, found, ids)
    drawn: List[Any] = []
    if names and labels is None:
        style: Any = {"ha": "center", "fontsize": 8, "bbox": {"fc": "white", "alpha": 0.7, "lw": 0}}
        for c, text in enumerate(_telling(model, 3)):
            if (found == c).any():
                middle = np.nanmedian(model.map_[found == c], axis=0)
                drawn.append(ax_.annotate(text, middle, xytext=(0, 0), textcoords="offset points", **style))
    ax_.set_xticks([])
    ax_.set_yticks([])
    ax_.set_aspect("equal", adjustable="datalim")
    _separate(drawn)
    out: "Axes" = ax_
    return out


def _telling(model: Any, n: int) -> List[str]:
    """Return the words or signed coordinates of each cluster, or an empty list if there are no names."""
    out = []
    for cluster in model.explain():
        rows = cluster.get("words") or cluster.get("markers") or []
        text = [r["word"] if "word" in r else f"{r['name']}{'+' if r['effect'] > 0 else '-'}" for r in rows
                if "word" in r or r.get("name")]  # fmt: skip
        out.append(", ".join(text[:n]))
    return out if any(out) else []


def embedding(
    model: Union["DDSC", ArrayLike],
    labels: Optional[Labels] = None,
    *,
    ids: Optional[Sequence[object]] = None,
    ax: Optional["Axes"] = None,
) -> "Axes":
    """Draw the spectral embedding, projected to its two directions of largest variance.

    Parameters
    ----------
    model : DDSC or (N, d) array
        A fitted estimator, or rows of an embedding (such as those of `LinearOT`).
    labels : sequence, optional
        Labels that determine the colors; None: the clusters. Pass the true classes to compare.
    ids : sequence of str, optional
        Text shown next to the points.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    found = _found(model, labels)
    rows = np.asarray(getattr(model, "embedding_", model), dtype=float)
    ax_: Any = _axes(ax, (6.0, 5.0))
    _scatter(ax_, _plane(rows), found, ids)
    ax_.set_xlabel("first direction of the embedding")
    ax_.set_ylabel("second direction")
    out: "Axes" = ax_
    return out


def _plane(rows: Array) -> Array:
    """Project rows onto their two directions of largest variance. NaN rows remain NaN."""
    kept = np.isfinite(rows).all(axis=1)
    plane, flat = np.full((len(rows), 2), np.nan), np.zeros((kept.sum(), 2))
    with Run(n_jobs=1) as run:
        run(_core.project, flat, np.ascontiguousarray(rows[kept]))
    plane[kept] = flat
    return plane


def clusters(
    X: Items,
    labels: Union["DDSC", Labels],
    *,
    n_each: int = 8,
    limits: Optional[Tuple[float, float, float, float]] = None,
    random_state: int = 0,
    ax: Optional["Axes"] = None,
) -> "Axes":
    """Draw items of each cluster, one row per cluster.

    Items on a grid are drawn as images, and items in the plane as points. In more than two dimensions,
    a fitted DDSC whose data has names is drawn by `about`, with the distinctive words or coordinates of
    each cluster. Other points are projected to their two directions of largest variance.

    Parameters
    ----------
    X : list of (n_i, d) arrays or Distributions
    labels : sequence, or a fitted DDSC
    n_each : int
        Number of random items shown per cluster (with `about`, the number of bars).
    limits : (x0, x1, y0, y1), optional
        Part of the plane to show; None: all points.
    random_state : int
    ax : matplotlib Axes, optional
        Place of the figure. None: a new figure.

    Returns
    -------
    matplotlib Axes
        Axes without a frame, which contain the panels.
    """
    measures = as_distributions(X)
    model: Any = labels
    if measures.dim > 2 and hasattr(model, "explain") and _telling(model, 1):
        return about(model, n=n_each, ax=ax)
    numbers, names = _groups(_found(labels, None if hasattr(labels, "labels_") else labels))
    draw = np.random.RandomState(random_state)
    k = len(names)
    host, boxes = _panels(ax, k, n_each, (1.05 * n_each + 0.6, 1.1 * k))
    plane = _points_in_the_plane(measures)
    limits = _limits(plane) if limits is None else limits
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
            _draw_item(box, measures, plane, int(shown[place]), limits, color_of(c))
        boxes[c, 0].set_ylabel(f"{names[c]}\n({len(members)})", fontsize=8)
    out: "Axes" = host
    return out


def _points_in_the_plane(measures: Distributions) -> Array:
    if measures.dim == 2:
        return measures.support
    if measures.dim == 1:
        return np.column_stack([measures.support[:, 0], np.zeros(len(measures.support))])
    return _plane(measures.support)


def _limits(plane: Array) -> Tuple[float, float, float, float]:
    low, high = plane.min(axis=0), plane.max(axis=0)
    pad = 0.04 * max(float((high - low).max()), 1e-12)
    return low[0] - pad, high[0] + pad, low[1] - pad, high[1] + pad


def _draw_item(
    box: Any, measures: Distributions, plane: Array, row: int, limits: Any, color: str
) -> None:
    points, weights = measures[row]
    grid = measures._grid
    if grid and measures.dim == 2:  # puts row 0 at the top, as in image files
        image = np.zeros([cells for cells, _, _ in grid])
        origin, step = (np.array([axis[k] for axis in grid]) for k in (1, 2))
        cell = np.rint((points - origin) / np.where(step > 0, step, 1)).astype(int)
        image[tuple(cell.T)] = weights
        box.imshow(image, cmap="gray_r", interpolation="nearest")
        return
    item = int(np.searchsorted(measures.rows, row))
    part = slice(measures._offsets[item], measures._offsets[item + 1])
    size = 6 * np.clip(weights * len(weights), 0.1, 8)
    box.scatter(*plane[measures._indices[part]].T, s=size, color=color, linewidths=0)
    box.set_xlim(limits[0], limits[1])
    box.set_ylim(limits[2], limits[3])
    if measures.dim != 1:
        box.set_aspect("equal")


def about(model: "DDSC", *, n: int = 8, ax: Optional["Axes"] = None) -> "Axes":
    """Draw the distinctive words or coordinates of each cluster as bars.

    For words, the bar is the mean share of an item's mass, and the gray bar is the share in the other
    items. For coordinates, the bar is the effect in standard deviations (see `DDSC.explain`).

    Parameters
    ----------
    model : DDSC
        Fitted on data with names of points or coordinates.
    n : int
        Number of bars per cluster.
    ax : matplotlib Axes, optional
        Place of the figure. None: a new figure.

    Returns
    -------
    matplotlib Axes
        Axes without a frame, which contain the panels.
    """
    told = model.explain()
    if not _telling(model, 1):
        raise ValueError("the data has no names of points or coordinates; set them with Distributions.described")
    columns = min(3, len(told))
    rows = -(-len(told) // columns)
    size = (3.6 * columns, 0.5 + rows * (0.5 + 0.2 * n))
    host, boxes = _panels(ax, rows, columns, size)
    for c, box in enumerate(boxes.flat):
        if c >= len(told):
            box.axis("off")
            continue
        _draw_about(box, told[c], color_of(c), n)
    out: "Axes" = host
    return out


def _draw_about(box: Any, cluster: Any, color: str, n: int) -> None:
    words = cluster.get("words")
    rows = (words or cluster.get("markers") or [])[:n]
    texts = [str(r["word"] if words else r.get("name") or f"coordinate {r['coordinate']}") for r in rows]
    place = np.arange(len(rows))[::-1]
    if words:
        box.barh(place, [r["elsewhere"] for r in rows], height=0.8, color="0.8")
        box.barh(place, [r["share"] for r in rows], height=0.4, color=color)
    else:
        box.barh(place, [r["effect"] for r in rows], height=0.6, color=color)
        box.axvline(0, color="0.4", linewidth=0.8)
    box.set_yticks(place)
    box.set_yticklabels([t if len(t) <= 28 else t[:27] + "…" for t in texts], fontsize=8)
    box.tick_params(axis="x", labelsize=7)
    box.locator_params(axis="x", nbins=3)
    box.set_title(f"cluster {cluster['label']} ({cluster['size']})", fontsize=9, color=color)


def eigengap(model: "DDSC", *, n: Optional[int] = None, ax: Optional["Axes"] = None) -> "Axes":
    """Draw the eigenvalues of the normalized Laplacian. A gap after the K-th value supports K clusters.

    Parameters
    ----------
    model : DDSC
        Fitted.
    n : int, optional
        Number of eigenvalues to draw; None: 2 K + 2, but at least ten.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    k = model.n_clusters_
    values = model.eigenvalues_[: n or max(10, 2 * k + 2)]
    ax_: Any = _axes(ax, (6.0, 3.6))
    ax_.plot(np.arange(1, len(values) + 1), values, "o-", color="0.35", markersize=4, linewidth=1)
    ax_.plot(np.arange(1, min(k, len(values)) + 1), values[:k], "o", color=COLORS[0], markersize=6)
    if k < len(values):
        ax_.axvspan(k, k + 1, color=COLORS[1], alpha=0.25, linewidth=0)
        gap = values[k] - values[k - 1]
        ax_.set_title(f"gap after {k}: {gap:.3g}", fontsize=10)
    ax_.xaxis.get_major_locator().set_params(integer=True)
    ax_.set_xlabel("number")
    ax_.set_ylabel("eigenvalue")
    ax_.set_ylim(bottom=min(0.0, float(values.min())))
    out: "Axes" = ax_
    return out


def distances(
    D: Union[ArrayLike, SparseRows],
    labels: Union["DDSC", Labels],
    *,
    ids: Optional[Sequence[object]] = None,
    ax: Optional["Axes"] = None,
) -> "Axes":
    """Draw a heat map of distances or affinities, with the items sorted by cluster.

    Colors span the central 96% of the values between different items.

    Parameters
    ----------
    D : (N, N) array or sparse matrix
    labels : sequence, or a fitted DDSC
    ids : sequence, optional
        Names of the items, shown next to their rows.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    given: Any = D
    sparse = is_sparse(given) or hasattr(given, "toarray")
    matrix = given.toarray() if sparse else np.asarray(given, dtype=float)
    numbers, names = _groups(_found(labels, None if hasattr(labels, "labels_") else labels))
    if len(numbers) != len(matrix):
        raise ValueError(f"got {len(numbers)} labels for distances of {len(matrix)} items")
    order = np.argsort(np.where(numbers < 0, len(names), numbers), kind="stable")
    side = 5.0 if ids is None else max(5.0, 0.16 * len(order))
    ax_: Any = _axes(ax, (side + 0.6, side))
    others = matrix[~np.eye(len(matrix), dtype=bool)]
    others = others[np.isfinite(others) & (others != 0)]
    low, high = np.quantile(others, [0.02, 0.98]) if others.size else (0, 1)
    picture = ax_.imshow(
        matrix[np.ix_(order, order)], cmap="viridis", vmin=low, vmax=high, interpolation="nearest"
    )
    counts = np.bincount(numbers[numbers >= 0], minlength=len(names))
    ends = np.cumsum(counts)
    for end in ends[:-1]:
        ax_.axhline(end - 0.5, color="white", linewidth=1)
        ax_.axvline(end - 0.5, color="white", linewidth=1)
    ax_.set_xticks([])
    if ids is None:
        ax_.set_yticks(ends - counts / 2 - 0.5)
        ax_.set_yticklabels(names, fontsize=8)
    else:
        ax_.set_yticks(np.arange(len(order)))
        ax_.set_yticklabels([str(ids[i]) for i in order], fontsize=7)
    _color_texts(ax_.get_yticklabels(), range(len(names)) if ids is None else numbers[order])
    ax_.figure.colorbar(picture, ax=ax_, shrink=0.8)
    if ids is None:
        _hide_overlaps(ax_.get_yticklabels())
    out: "Axes" = ax_
    return out


def _color_texts(texts: Any, groups: Any) -> None:
    for text, group in zip(texts, groups):
        text.set_color(color_of(int(group)) if group >= 0 else "#888888")


def tree(
    D: Union["DDSC", ArrayLike],
    labels: Union[None, "DDSC", Labels] = None,
    *,
    ids: Optional[Sequence[object]] = None,
    ax: Optional["Axes"] = None,
) -> "Axes":
    """Draw a tree of clusters or of items (requires SciPy).

    For a fitted DDSC, the tree shows the merges of its clusters (`tree_`). For distances, it shows the
    items with average linkage. Names have the color of their cluster, so a cluster that agrees with the
    tree appears as a contiguous run of one color.

    Parameters
    ----------
    D : DDSC, or (N, N) array
        A fitted estimator, or distances as returned by `pairwise`.
    labels : sequence, or a fitted DDSC
        Clusters of the items, required with distances.
    ids : sequence, optional
        Names of the leaves. None: their numbers, for up to 60 items.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    try:
        from scipy.cluster.hierarchy import dendrogram, linkage
    except ImportError:
        raise ImportError("ddsc.plot.tree needs SciPy: pip install scipy") from None
    given: Any = D
    if hasattr(type(given), "tree_"):  # raises an error with the reason if there is no tree
        found = np.arange(given.n_clusters_)
        names = [f"cluster {c}" for c in found] if ids is None else [str(i) for i in ids]
        ax_: Any = _axes(ax, (5.0, max(1.5, 0.3 * len(found))))
        drawn = dendrogram(given.tree_, labels=names, ax=ax_, **TREE)
        _color_texts(ax_.get_yticklabels(), found[drawn["leaves"]])
        ax_.set_xlabel("1 / (1 + affinity over chance)")
        clusters_: "Axes" = ax_
        return clusters_
    matrix = np.asarray(given, dtype=float)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not np.isfinite(matrix).all():
        raise ValueError("a tree needs a square matrix without missing distances")
    numbers, _ = _groups(_found(labels, None if hasattr(labels, "labels_") else labels))
    if len(numbers) != len(matrix):
        raise ValueError(f"got {len(numbers)} labels for {len(matrix)} items")
    named = ids is not None or len(matrix) <= NAMES_UP_TO
    ax_ = _axes(ax, (5.0, max(3.0, 0.16 * len(matrix))) if named else (5.0, 6.0))
    above = matrix[np.triu_indices(len(matrix), 1)]
    texts = None if ids is None else [str(i) for i in ids]
    drawn = dendrogram(linkage(above, "average"), labels=texts, no_labels=not named, ax=ax_, **TREE)
    if named:
        _color_texts(ax_.get_yticklabels(), numbers[drawn["leaves"]])
    ax_.set_xlabel("distance")
    out: "Axes" = ax_
    return out
