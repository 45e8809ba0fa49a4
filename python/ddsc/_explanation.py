"""The result of `DDSC.explain`: a list of dicts that is printed, and shown in a notebook, as a short table."""

from __future__ import annotations

from typing import Any, Dict, List, Optional

import numpy as np

from ._html import Markup, dot, picture, shorten, table
from ._naming import cluster_names, color_of, traits

SHOWN = 6  # words or markers per cluster
CLUSTERS_SHOWN = 20


class Cluster(Dict[str, Any]):
    """The description of a cluster: a dict whose printed form omits numbers and pictures."""

    def __repr__(self) -> str:
        return _line(self, cluster_names([self], 1)[0] if traits(self, 1) else "")

    def _repr_html_(self) -> str:
        return Explanation([self])._repr_html_()


class Explanation(List[Any]):
    """The descriptions of all clusters."""

    def __repr__(self) -> str:
        return "\n".join(_line(cluster, name) for cluster, name in zip(self, cluster_names(self, len(self))))

    def _repr_html_(self) -> str:
        names = cluster_names(self, len(self)) if len(self) > 1 else [", ".join(traits(c, 3)) for c in self]
        head = ["", "cluster", "name", "items", *(["mean"] if any(map(mean_picture, self)) else [])]
        features = "words" if any("words" in cluster for cluster in self) else "markers"
        rows = []
        for cluster, name in zip(self[:CLUSTERS_SHOWN], names):
            row = [dot(cluster["label"]), cluster["label"], shorten(name), cluster["size"]]
            if "mean" in head:
                row.append(mean_picture(cluster) or "")
            rows.append([*row, ", ".join(effects(cluster)), shorten(", ".join(typical(cluster, 3)), 90)])
        more = len(self) - CLUSTERS_SHOWN
        rest = f"<p>and {more} more clusters</p>" if more > 0 else ""
        return table([*head, features, "typical items"], rows) + rest


def _line(cluster: Dict[str, Any], name: str) -> str:
    number = cluster.get("label", "")
    named = f": {name}" if name and name != f"cluster {number}" else ""
    shown = ", ".join(typical(cluster, 3))
    return f"cluster {number}{named} ({cluster.get('size', 0)} items{f'; typical: {shown}' if shown else ''})"


def typical(cluster: Dict[str, Any], most: int) -> List[str]:
    """Return titles or ids of the most typical items."""
    return [shorten(item.get("title") or item.get("id", ""), 40) for item in cluster.get("representatives", [])[:most]]


def effects(cluster: Dict[str, Any], most: int = SHOWN) -> List[str]:
    """Return words, or markers with their effects in standard deviations."""
    if cluster.get("words"):
        return [str(row["word"]) for row in cluster["words"][:most]]
    rows = (cluster.get("markers") or [])[:most]
    return [f"{row.get('name') or 'coordinate %d' % row['coordinate']} {row['effect']:+.2g}" for row in rows]


def mean_picture(cluster: Dict[str, Any]) -> Optional[Markup]:
    """Return the mean picture of a cluster of planar items, or None."""
    rows = (cluster.get("picture") or {}).get("mean")
    if not rows:
        return None
    shades = np.array([list(bytes.fromhex(row)) for row in rows]) / 255
    return picture(shades, f"mean of cluster {cluster['label']}", color_of(cluster["label"]))
