"""Provides the names of clusters and the colors of the report."""

from __future__ import annotations

from typing import Any, Dict, List, Sequence

# The colors --c0 to --c19 of src/report/assets/report.css in the light theme.
COLORS = (
    "#3c79d1", "#d16022", "#218a45", "#ad3d9a", "#a97f05", "#068b96", "#7d51d2", "#cc3143", "#6c7e1e", "#77563a",
    "#38428a", "#7e4501", "#02523b", "#75104c", "#615604", "#095366", "#5c1f7c", "#7c1f02", "#2b5016", "#49371c",
)  # fmt: skip

# The same limits as in src/report/render/page_answers.c.
WORDS_IN_NAME = 3
MARKERS_IN_NAME = 2
CHECKED_FOR_DUPLICATES = 60


def color_of(cluster: int) -> str:
    """Return the color of a cluster. The twenty colors repeat."""
    return COLORS[cluster % len(COLORS)]


def traits(cluster: Dict[str, Any], most: int) -> List[str]:
    """Return the first words of a cluster, or its first markers with "high" or "low"."""
    if cluster.get("words"):
        return [str(row["word"]) for row in cluster["words"][:most]]
    named = [row for row in cluster.get("markers") or [] if row.get("name")]
    return [f"{row['name']} {'low' if row['effect'] < 0 else 'high'}" for row in named[:most]]


def _own_name(cluster: Dict[str, Any], number: int) -> str:
    most = WORDS_IN_NAME if "words" in cluster else MARKERS_IN_NAME
    return cluster.get("name") or ", ".join(traits(cluster, most)) or f"cluster {number}"


def cluster_names(clusters: Sequence[Dict[str, Any]], k: int) -> List[str]:
    """Return the names of the k clusters as the report shows them.

    The name of a cluster is the name set by the user, or else its first words or markers, or else "cluster" with its
    number. If several clusters have the same name, their numbers are appended."""
    names = [_own_name(clusters[c] if c < len(clusters) else {}, c) for c in range(k)]
    if k > CHECKED_FOR_DUPLICATES:
        return names
    return [f"{name} ({c})" if names.count(name) > 1 else name for c, name in enumerate(names)]
