"""Compares two results."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Tuple, Union

import numpy as np

from . import _core
from ._files import write_whole
from ._frames import make_table
from ._html import dot, shorten, table, text
from ._naming import color_of
from ._results import Page
from ._run import Run
from ._types import Array, Json, PathLike

if TYPE_CHECKING:
    from pandas import DataFrame

    from ._estimator import DDSC

ROWS_SHOWN = 10


class Diff:
    """The differences between two results, as returned by `diff`.

    Attributes
    ----------
    scores : dict
        "ami" and "ari" of the two labelings, on the items that are in a cluster in both results.
    counts : dict
        Numbers of items by change: "same", "split", "merged" and "moved" (shared items), "entered" and "left" (in a
        cluster in only one result), "added" and "removed" (in only one result).
    """

    def __init__(self, told: Json, words: str, page: str) -> None:
        self._told, self._words, self._page = told, words, page
        self.scores: Dict[str, float] = dict(told["scores"])
        self.counts: Dict[str, int] = dict(told["items"])

    def result_json(self) -> Json:
        """Return all differences as a dict with the content of ``ddsc diff --json``."""
        return self._told

    @property
    def clusters(self) -> "DataFrame":
        """A table with one row per change of a cluster.

        The columns are ``kind`` ("same", "split", "merged", "new" or "vanished"), ``cluster`` (a number of the first
        result for "split" and "vanished", otherwise of the second), ``size``, ``shared`` items, ``overlap`` and
        ``words`` (the change as a sentence).
        """
        return self._frame("events", ("kind", "cluster", "size", "shared", "overlap", "words"))

    @property
    def moves(self) -> "DataFrame":
        """A table of the shared items that changed: ``id``, ``from``, ``to`` (-1: in no cluster) and ``change``."""
        return self._frame("moves", ("id", "from", "to", "change"))

    @property
    def flows(self) -> "DataFrame":
        """A table of the numbers of items by pair of clusters: ``from``, ``to``, ``change`` and ``items``.

        -1 means that the items are in no cluster, and -2 that they are missing from the other result.
        """
        return self._frame("flows", ("from", "to", "change", "items"))

    @property
    def settings(self) -> "DataFrame":
        """A table of the settings that differ: ``name``, ``first`` and ``second``."""
        return self._frame("settings", ("name", "first", "second"))

    def _frame(self, key: str, names: Tuple[str, ...]) -> "DataFrame":
        rows = [[-2 if row[n] is None else row[n] for n in names] for row in self._told[key]]
        texts = {"id", "kind", "words", "change", "name", "first", "second"}
        columns: Dict[str, Array] = {}
        for c, name in enumerate(names):
            kind: Any = object if name in texts else float if name == "overlap" else np.int64
            columns[name] = np.array([row[c] for row in rows], dtype=kind)
        return make_table(columns)

    def report(self, path: Optional[PathLike] = None, overwrite: bool = False) -> Page:
        """Return the HTML page with the flow diagram. If `path` is given, also write the page to this file."""
        if path is not None:
            write_whole(path, self._page.encode(), overwrite)
        return Page(self._page)

    def __repr__(self) -> str:
        return self._words.rstrip("\n")

    def _repr_html_(self) -> str:
        told, shared = self._told, self._told["shared"]
        words = [
            f"{shared} shared items, {self.counts['same']} stay in their cluster ({self.counts['same'] / shared:.1%})",
            f"AMI {self.scores['ami']:.3f}, ARI {self.scores['ari']:.3f}" if None not in self.scores.values() else "",
            ", ".join(f"{n} {'the ' if kind == 'same' else ''}{kind}" for kind, n in told["clusters"].items()),
        ]
        changed = [event for event in told["events"] if event["kind"] != "same"]
        rows = [[event["kind"], shorten(event["words"], 120)] for event in changed[:ROWS_SHOWN]]
        more = len(changed) - ROWS_SHOWN
        parts = [f"<p><b>{text(told['first']['name'])} &rarr; {text(told['second']['name'])}</b></p>"]
        parts += [f"<p>{text(line)}</p>" for line in words if line]
        parts.append(table(["change", "evidence"], rows) if rows else "")
        parts.append(f"<p>and {more} more changes</p>" if more > 0 else "")
        flows = [flow for flow in told["flows"] if flow["change"] != "same"][:ROWS_SHOWN]
        cells = [[self._end(0, f["from"]), self._end(1, f["to"]), f["items"], f["change"]] for f in flows]
        parts.append(table(["from", "to", "items", "change"], cells) if cells else "")
        return "".join(parts)

    def _end(self, side: int, cluster: Optional[int]) -> Any:
        if cluster is None or cluster < 0:
            return "not in this result" if cluster is None else "in no cluster"
        name = self.names(side)[cluster]
        mark = dot(self.color_number(side, cluster))
        return type(mark)(f"{mark} {text(name)}")

    def names(self, side: int) -> List[str]:
        """Return the names of the clusters of the first (0) or the second (1) result."""
        rows = self._told["second" if side else "first"]["clusters"]
        return [f"{row['cluster']} {row['name']}" if row.get("name") else str(row["cluster"]) for row in rows]

    def color_number(self, side: int, cluster: int) -> int:
        """Return the number of a cluster's color. A cluster that is the same in both results has the same color."""
        if side == 0:
            return cluster
        same = self._told["second"]["clusters"][cluster]["same_as"]
        return int(same) if same is not None else int(self._told["first"]["k"]) + cluster

    def color(self, side: int, cluster: Optional[int]) -> str:
        """Return the color of a cluster, or gray for items without a cluster."""
        return "#888888" if cluster is None or cluster < 0 else color_of(self.color_number(side, cluster))


def diff(a: Union["DDSC", PathLike], b: Union["DDSC", PathLike]) -> Diff:
    """Report what changed between two results, as ``ddsc diff`` does.

    Items are matched by id, and only items that are in both results are compared. Two clusters are the same if they
    share at least half of their combined items. The numbers of clusters have no meaning.

    Parameters
    ----------
    a, b : DDSC or path
        Fitted models, or folders of ``ddsc cluster -o``.

    Returns
    -------
    Diff
        Its string form is a short summary, and a notebook shows it as tables. `plot.diff` draws the flow of items.

    Examples
    --------
    >>> import ddsc
    >>> X = ddsc.make_gaussians(k=3, n=10, n_points=20, separation=9.0)
    >>> found = ddsc.diff(ddsc.DDSC(n_clusters=3).fit(X), ddsc.DDSC(n_clusters=3, metric="mmd").fit(X))
    >>> found.counts["same"], round(found.scores["ami"], 3)
    (30, 1.0)
    """
    sides = [_side(a, "first"), _side(b, "second")]
    if all(isinstance(side, str) for side in sides) and all(map(os.path.isdir, sides)) and os.path.samefile(*sides):
        raise ValueError(f"both results are the folder {sides[0]!r}")
    with Run(n_jobs=1) as run:
        told, words, page = run(_core.diff, *sides)
    return Diff(json.loads(told), words, page)


def _side(given: Any, name: str) -> Any:
    """Return the path of a folder, or (name, ids, labels, result.json) of a fitted model."""
    if isinstance(given, (str, bytes, os.PathLike)):
        return os.fsdecode(given)
    if not hasattr(given, "labels_"):
        raise ValueError(f"expected a fitted DDSC or a folder as the {name} result, not {type(given).__name__}")
    told = given._report[0] if hasattr(given, "_report") else None
    labels = np.ascontiguousarray(given.labels_, dtype=np.int32)
    ids = getattr(given, "_row_ids", None)
    if ids is None and hasattr(given, "_items"):
        ids = [str(i) for i in given.items_["id"]]
    return (name, ids if ids is not None and len(ids) == len(labels) else None, labels, told)
