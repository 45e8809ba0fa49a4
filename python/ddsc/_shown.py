"""Renders a fitted model as HTML for notebooks."""

from __future__ import annotations

import html
from typing import Any, Dict, List

from ._explanation import effects, mean_picture, typical
from ._frames import Frames
from ._html import dot, dots, shorten, table, text

CLUSTERS_SHOWN = 20
MAP_UP_TO = 5000  # the map of more items is drawn only if it has been computed


class Shown(Frames):
    """Methods of `DDSC` that render the verdict, a table of clusters and a small map as HTML."""

    def _repr_html_(self) -> str:
        if not hasattr(self, "labels_"):
            parent: Any = super()
            return str(parent._repr_html_()) if hasattr(parent, "_repr_html_") else f"<pre>{html.escape(repr(self))}</pre>"
        if not hasattr(self, "_report"):
            n = len(self.labels_)
            return f"<p>A loaded model of {n} items in {self.n_clusters_} clusters, which can label new items.</p>"
        told = self.result_json()
        metric = "" if self.method != "ddsc" else f", metric {text(self.metric)}"
        parts = [f"<p><b>{len(self.labels_)} items in {told['k']} clusters</b>{metric}</p>"]
        if told.get("verdict", {}).get("text"):
            parts.append(f"<p>{text(told['verdict']['text'])}</p>")
        if self._advice():
            parts.append(f"<p>{text(self._advice())}</p>")
        parts.append(
            '<div style="display: flex; flex-wrap: wrap; gap: 1.5em; align-items: flex-start">'
            f"<div>{self._cluster_table()}</div><div>{self._small_map()}</div></div>"
        )
        return "".join(parts)

    def _repr_mimebundle_(self, **kwargs: Any) -> Dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}

    def _advice(self) -> str:
        """Return the advice of the fit, or an empty string for a loaded model."""
        return str(getattr(self, "advice_", ""))

    def _cluster_table(self) -> str:
        clusters: List[Any] = list(self.explain())
        names, frame = self.names_, self.clusters_
        k = len(names)
        clusters += [{} for _ in range(k - len(clusters))]
        shown = range(min(k, CLUSTERS_SHOWN))
        by_words = any("words" in cluster for cluster in clusters)
        pictures = [mean_picture(clusters[c]) for c in shown]
        features = [", ".join(effects(clusters[c])) for c in shown]
        items = [shorten(", ".join(typical(clusters[c], 2)), 60) for c in shown]
        known = [""] * k
        if "class" in list(frame.columns):
            known = [f"{name} ({share:.0%})" for name, share in zip(frame["class"], frame["class_share"])]
        columns: Dict[str, List[Any]] = {
            "": [dot(c) for c in shown],
            "cluster": [str(c) for c in shown],
            "name": [shorten(name) for name in names[:CLUSTERS_SHOWN]],
            "items": [str(size) for size in frame["size"][:CLUSTERS_SHOWN]],
            "mean": [drawn or "" for drawn in pictures],
            "words" if by_words else "markers": features if by_words or not any(pictures) else [],
            "typical items": items,
            "most common class": [shorten(c, 40) for c in known[:CLUSTERS_SHOWN]],
        }
        filled = {name: values for name, values in columns.items() if any(values)}
        rest = f"<p>and {k - CLUSTERS_SHOWN} more clusters (see <code>clusters_</code>)</p>" if k > CLUSTERS_SHOWN else ""
        return table(list(filled), zip(*filled.values())) + rest

    def _small_map(self) -> str:
        if self.method not in ("ddsc", "sc") or (self._places is None and len(self.labels_) > MAP_UP_TO):
            return ""
        return dots(self.map_, self.labels_, [str(name) for name in self.items_["id"]])
