"""Draws the flow of items between two results, and clusters over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, List, Optional, Sequence, Tuple, Union

import numpy as np

from . import _core
from ._diff import Diff
from ._diff import diff as compare
from ._naming import color_of
from ._permanova import _text
from ._run import Run
from ._types import PathLike

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ._estimator import DDSC


def _pyplot() -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("ddsc.plot needs matplotlib: pip install matplotlib") from None
    return plt


def _axes(ax: Any, size: Tuple[float, float]) -> Any:
    return _pyplot().subplots(figsize=size, layout="constrained")[1] if ax is None else ax


def diff(
    found: Union[Diff, "DDSC", PathLike],
    other: Union[None, "DDSC", PathLike] = None,
    *,
    ax: Optional["Axes"] = None,
) -> "Axes":
    """Draw the flow of items between the clusters of two results (an alluvial diagram).

    The clusters of the first result are on the left. A cluster that is the same in both results has the same color.
    Bands of items that changed are darker.

    Parameters
    ----------
    found : Diff, DDSC or path
        As returned by `ddsc.diff`, or the first result.
    other : DDSC or path, optional
        The second result, if `found` is the first one.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    if isinstance(found, Diff) != (other is None):
        raise ValueError("pass either a Diff, or two results")
    given: Any = other
    result: Diff = found if isinstance(found, Diff) else compare(found, given)
    ax_: Any = _axes(ax, (7.0, 5.0))
    flows = result.result_json()["flows"]
    ends = _flow_ends(flows)
    gap = 0.02 * sum(flow["items"] for flow in flows)
    tops = [_stack(side, gap) for side in ends]
    for s, side in enumerate(ends):
        for end, n in side:
            ax_.bar(s, n, width=0.04, bottom=tops[s][end] - n, color=result.color(s, end), linewidth=0)
            words = "absent" if end is None else "no cluster" if end < 0 else result.names(s)[end]
            place = (s + (0.04 if s else -0.04), tops[s][end] - n / 2)
            ax_.annotate(f"{words} ({n})", place, ha="left" if s else "right", va="center", fontsize=8)
    _draw_bands(ax_, result, flows, ends, tops)
    ax_.set_xlim(-0.5, 1.5)
    ax_.set_title(f"{result.result_json()['first']['name']} → {result.result_json()['second']['name']}", fontsize=10)
    ax_.axis("off")
    out: "Axes" = ax_
    return out


def _flow_ends(flows: Any) -> List[List[Tuple[Optional[int], int]]]:
    """Return (cluster, items) of the left side, sorted by number, and of the right side, sorted by the mean position of
    the items."""
    sums: List[Any] = [{}, {}]
    for flow in flows:
        for s, key in enumerate(("from", "to")):
            sums[s][flow[key]] = sums[s].get(flow[key], 0) + flow["items"]
    left = sorted(sums[0], key=_place)
    at = {end: i for i, end in enumerate(left)}
    mean = {end: sum(at[f["from"]] * f["items"] for f in flows if f["to"] == end) / n for end, n in sums[1].items()}
    right = sorted(sums[1], key=lambda end: (mean[end], _place(end)))
    return [[(end, sums[s][end]) for end in side] for s, side in enumerate((left, right))]


def _place(end: Optional[int]) -> Tuple[bool, bool, int]:
    return end is None, end is not None and end < 0, end or 0


def _stack(side: List[Tuple[Optional[int], int]], gap: float) -> Any:
    """Return the upper ends of the bars, from top to bottom."""
    tops, top = {}, 0.0
    for end, n in side:
        tops[end] = top
        top -= n + gap
    return tops


def _draw_bands(ax: Any, result: Any, flows: Any, ends: Any, tops: Any) -> None:
    used = [dict(side) for side in tops]
    found = {(flow["from"], flow["to"]): flow for flow in flows}
    x = np.linspace(0.02, 0.98, 40)
    bend = np.linspace(0, 1, 40) ** 2 * (3 - 2 * np.linspace(0, 1, 40))
    for left, _ in ends[0]:
        for right, _ in ends[1]:
            flow = found.get((left, right))
            if flow is None:
                continue
            n, y0, y1 = flow["items"], used[0][left], used[1][right]
            used[0][left], used[1][right] = y0 - n, y1 - n
            top = y0 + (y1 - y0) * bend
            color = result.color(1, right) if left is None or left < 0 else result.color(0, left)
            alpha = 0.25 if flow["change"] == "same" else 0.6
            ax.fill_between(x, top - n, top, color=color, alpha=alpha, linewidth=0)


def over(model: "DDSC", column: Union[str, Sequence[object]], *, ax: Optional["Axes"] = None) -> "Axes":
    """Draw the share of each cluster per period of a column, with 95% confidence intervals (Wilson 1927).

    Dates, such as "2024-05-31" or `datetime.date`, are sorted as dates, numbers as numbers, and other values by name.
    Many dates are combined into weeks, months, quarters, years or decades, and many numbers into 12 intervals.

    Parameters
    ----------
    model : DDSC
        Fitted.
    column : str or sequence
        Name of a metadata column, or one value per item. None and NaN are missing.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    labels = np.ascontiguousarray(model.labels_, dtype=np.int32)
    name = column if isinstance(column, str) else str(getattr(column, "name", None) or "column")
    if isinstance(column, str):
        columns = model.items_
        if f"meta:{column}" not in columns:
            there = ", ".join(key[5:] for key in columns if key.startswith("meta:"))
            raise ValueError(f"no metadata column {column!r}; {f'the columns are {there}' if there else 'there are none'}")
        values = [str(value) or None for value in columns[f"meta:{column}"]]
    else:
        values = [_text(value) for value in column]
    if len(values) != len(labels):
        raise ValueError(f"got {len(values)} values for {len(labels)} items")
    k = int(model.n_clusters_)
    with Run(n_jobs=1) as run:
        found = run(_core.over, labels, k, name, values)
    share, low, high = (np.frombuffer(found[key]).reshape(k, -1) for key in ("share", "low", "high"))
    ax_: Any = _axes(ax, (7.0, 4.0))
    at = np.arange(share.shape[1])
    for c in range(k):
        shift = 0.3 * (c / max(k - 1, 1) - 0.5)  # so that the intervals do not cover each other
        error = [share[c] - low[c], high[c] - share[c]]
        ax_.errorbar(at + shift, share[c], error, fmt="o-", color=color_of(c), markersize=3, linewidth=1, label=f"cluster {c}")
    step = -(-len(at) // 12)
    ax_.set_xticks(at[::step])
    ax_.set_xticklabels(found["periods"][::step], rotation=30, ha="right", fontsize=8)
    ax_.set_xlabel(name)
    ax_.set_ylabel("share of the items")
    ax_.set_ylim(bottom=0)
    if k <= 20:
        ax_.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
    out: "Axes" = ax_
    return out
