"""Provides the results of a fit: descriptions of clusters, the report, the map, the table of items and the tree."""

from __future__ import annotations

import csv
import functools
import html
import io
import json
import os
import tempfile
from typing import Any, Dict, List, Optional, TypeVar, cast

import numpy as np

from . import _core
from ._base import check_fitted
from ._explanation import Cluster, Explanation
from ._files import check_output, write_whole
from ._fitted import Fitted, check_whole
from ._naming import cluster_names
from ._run import Run
from ._types import About, Array, Flags, Floats, Ints, Json, Longs, NDArray, PathLike, Verdict
from ._words import whole

Own = TypeVar("Own", bound="Results")


class Page(str):
    """A report as HTML text. A notebook shows the page in a sandboxed frame."""

    def _repr_html_(self) -> str:
        allowed = "allow-scripts allow-downloads allow-popups"
        return f'<iframe srcdoc="{html.escape(self)}" sandbox="{allowed}" width="100%" height="800" style="border: 0"></iframe>'


class Results(Fitted):
    """Methods and attributes of `DDSC` that describe a fit."""

    def representatives(self, n: int = 6) -> List[Longs]:
        """Return the most typical items of each cluster, which are those nearest to its center.

        Parameters
        ----------
        n : int
            Largest number of items per cluster.

        Returns
        -------
        list of int64 arrays
            Indices of the items of each cluster, most typical first.

        Examples
        --------
        >>> import ddsc
        >>> model = ddsc.DDSC(n_clusters=2).fit(ddsc.make_shapes())
        >>> [len(items) for items in model.representatives(3)]
        [3, 3]
        """
        check_fitted(self, "labels_")
        self._check_graph("embedding from which to select typical items")
        if whole("n", n) < 0:
            raise ValueError(f"n={n}: must not be negative")
        members = [np.flatnonzero(self.labels_ == c) for c in range(self.n_clusters_)]
        return [m[np.argsort(self.center_distance_[m], kind="stable")[:n]] for m in members]

    @property
    def verdict_(self) -> Verdict:
        """The verdict on the clusters.

        ``level`` is "separate", "partly", "reproducible", "continuum", "one_cloud" or "too_few", ``color`` is its
        color, ``text`` explains the verdict in a sentence, and ``evidence`` contains the numbers. ``structure`` is the
        level of version 0.2 ("clear", "weak", "none" or "undecided")."""
        return cast(Verdict, self.result_json()["verdict"])

    def explain(self) -> List[About]:
        """Describe each cluster, if X has names of points (words) or coordinates.

        Returns
        -------
        list of dict
            The list prints as one line per cluster, and a notebook shows it as a table. Each cluster is a dict with
            ``label``, ``size``, ``representatives``, ``borderline`` and either

            - ``words``: words with a larger share than in the other items, most distinctive first. ``share``
              and ``elsewhere`` are mean shares of an item's mass, and ``items`` is the number of items with
              the word.
            - ``markers``: coordinates by ``effect``, the Wasserstein-1 distance between their values in the
              cluster and in the other items, in standard deviations. The effect is negative if the values are lower.
              Effect sizes are not tests, because the clusters were computed from the same data.

        Examples
        --------
        >>> import ddsc
        >>> X = ddsc.make_gaussians(k=2, n=8, n_points=20, separation=9.0)
        >>> [len(c["markers"]) for c in ddsc.DDSC(n_clusters=2).fit(X).explain()]
        [2, 2]
        """
        clusters = self.result_json().get("clusters", [])
        return cast(List[About], Explanation(Cluster(cluster) for cluster in clusters))

    @property
    def names_(self) -> List[str]:
        """Names of the clusters, as the report shows them.

        A name is the one set by `name` (or by ``ddsc name`` in a loaded folder), or the first words or markers of the
        cluster, or "cluster" with its number. If several clusters have the same name, their numbers are appended.
        """
        told = self.result_json()
        return cluster_names(told.get("clusters", []), int(told["k"]))

    def name(self: Own, names: Dict[int, str]) -> Own:
        """Name clusters. `report`, `explain` and `names_` then use the names; "" removes a name.

        Examples
        --------
        >>> import ddsc
        >>> model = ddsc.DDSC(n_clusters=2).fit(ddsc.make_shapes())
        >>> model.name({0: "round"}).names_
        ['round', 'cluster 1']
        """
        told = self.result_json()
        clusters = told.get("clusters", [])
        for number, name in names.items():
            if not 0 <= whole("cluster", number) < len(clusters):
                raise ValueError(f"there is no cluster {number}; clusters are numbered from 0 to {len(clusters) - 1}")
            if name and not str(name).isprintable():
                raise ValueError(f"cluster {number}: a name must be one line of printable text, not {name!r}")
            if name:
                clusters[number]["name"] = str(name)
            else:
                clusters[number].pop("name", None)
        self._report = (json.dumps(told, indent=1, ensure_ascii=False), *self._report[1:])
        return self

    def result_json(self) -> Json:
        """Return the content of result.json, as ``ddsc cluster`` writes it.

        The dict contains the settings, certificates, counts, scores against the labels of X, and typical and ambiguous
        items.

        Examples
        --------
        >>> import ddsc
        >>> result = ddsc.DDSC(n_clusters=2).fit(ddsc.make_shapes()).result_json()
        >>> result["certificates"]["certified"], result["scores"]["ami"]
        (True, 1.0)
        """
        check_fitted(self, "labels_")
        check_whole(self, "_report")
        return cast(Json, json.loads(self._report[0]))

    def report(self, path: Optional[PathLike] = None, overwrite: bool = False) -> Page:
        """Return the report page, as ``ddsc cluster`` writes it to report.html.

        The page shows a map, typical and ambiguous items of each cluster, classes by clusters, eigenvalues and
        settings. It needs no other file.

        Parameters
        ----------
        path : path, optional
            File to which the page is written.
        overwrite : bool
            Replace an existing file, but never one from which the items were read (ValueError).

        Returns
        -------
        Page
            The page as a str. A notebook shows it in a frame if it is the last expression of a cell.

        Examples
        --------
        >>> import ddsc
        >>> page = ddsc.DDSC(n_clusters=2).fit(ddsc.make_shapes()).report()
        >>> page[:15]
        '<!DOCTYPE html>'
        """
        check_fitted(self, "labels_")
        check_whole(self, "_items")
        if path is not None:
            check_output(path, getattr(self, "_source", ()))
        told, seed, truth = self._report
        with tempfile.TemporaryDirectory() as folder, Run(n_jobs=1, random_state=seed) as run:
            place = functools.partial(os.path.join, folder)
            _write_text(place("result.json"), told)
            # Neither a compressed set nor its report contains rows of dropped items.
            rows = slice(None) if getattr(self, "compression_", None) is None else self._there()
            _write_text(place("labels.csv"), "label\n" + "\n".join(map(str, self.labels_[rows])))
            if truth is not None:
                _write_text(place("truth.csv"), "label\n" + "\n".join(map(str, truth)))
            if self._model is not None:
                run(_core.model_write, self._model.handle, place("model.npz"), False)
            if hasattr(self, "graph_"):
                np.save(place("map.npy"), self.map_[rows])
                np.save(place("embedding.npy"), self.embedding_[rows])
                _write_text(place("graph.mtx"), _graph_text(self.graph_, np.arange(len(self.labels_))[rows]))
                if len(self.sweep_) > 1:
                    head = ["id", *(f"k{row['k']}" for row in self.sweep_)]
                    tried = [[i, *labels] for i, labels in enumerate(self.sweep_labels_.T[rows].tolist())]
                    _write_text(place("sweep.csv"), "\n".join(",".join(map(str, row)) for row in [head, *tried]))
            page = Page(run(_core.report_page, folder))
        if path is not None:
            write_whole(os.path.abspath(path), page.encode(), overwrite)
        return page

    @property
    def map_(self) -> Floats:
        """(N, 2) positions on the map of the report, NaN for dropped items. Computed on first access."""
        check_fitted(self, "labels_")
        check_whole(self, "_items")
        self._check_graph("map")
        if self._places is None:
            with self._run() as run:
                self._places = self._map(run)
        return self._places

    @property
    def items_(self) -> Dict[str, NDArray[np.generic]]:
        """The columns of the file items.csv that the program writes.

        They include id, label, nearest other cluster, ambiguity, order, outlier score, and the nearest neighbors with
        their distances. ``pandas.DataFrame(model.items_)`` converts them to a table.

        Examples
        --------
        >>> import ddsc
        >>> list(ddsc.DDSC(n_clusters=2).fit(ddsc.make_shapes()).items_)[:5]
        ['id', 'label', 'next', 'ambiguity', 'order']
        """
        check_fitted(self, "labels_")
        check_whole(self, "_items")
        self._check_graph("table of items")
        names, *rows = csv.reader(io.StringIO(self._items, newline=""))
        columns = dict(zip(names, zip(*rows)))
        whole_numbers, numbers = ("label", "next", "order", "is_outlier", "spectral_label"), ("ambiguity", "outlier", "distance")
        out: Dict[str, Array] = {}
        for name, values in columns.items():
            if name in whole_numbers:
                out[name] = np.array([int(v) if v else -1 for v in values], dtype=np.int32)
            elif name.rstrip("0123456789") in numbers:
                out[name] = np.array([float(v) if v else np.nan for v in values])
            else:
                out[name] = np.array(values, dtype=object)
        return out if len(rows) == len(self.labels_) else self._spread_items(out)

    def _spread_items(self, columns: Dict[str, Array]) -> Dict[str, Array]:
        """Add rows for dropped items, which a compressed set does not contain."""
        fills = {"i": -1, "f": np.nan, "O": ""}
        out: Dict[str, Array] = {}
        for name, values in columns.items():
            out[name] = np.full(len(self.labels_), fills[values.dtype.kind], dtype=values.dtype)
            out[name][self._there()] = values
        out["id"] = np.array(self._row_ids, dtype=object)
        return out

    @property
    def outliers_(self) -> Flags:
        """(N,) bool array: True for items that are far from all others.

        The score ``items_["outlier"]`` is the mean distance of an item to its neighbors, divided by the same
        mean for these neighbors. An item is an outlier if its score exceeds ``result_json()["outliers"]["from"]``.

        Examples
        --------
        >>> import numpy as np, ddsc
        >>> clouds = list(np.random.default_rng(0).normal(size=(40, 9, 2)))
        >>> clouds[7] += 25
        >>> model = ddsc.DDSC(n_clusters=2, outliers=True).fit(clouds)
        >>> np.flatnonzero(model.outliers_), int(model.labels_[7])
        (array([7]), -1)
        """
        return np.asarray(self.items_["is_outlier"] == 1)

    @property
    def order_(self) -> Ints:
        """(N,) ranks of the items, from 0, along the first diffusion direction; -1 for dropped items.

        The first diffusion direction is the direction of slowest change over the graph, such as a gradient from healthy
        to ill. The connected components of the graph are listed one after another.

        Examples
        --------
        >>> import numpy as np, ddsc
        >>> clouds = [np.random.default_rng(i).normal(size=(30, 2)) + [i / 4, 0] for i in range(40)]
        >>> order = ddsc.DDSC(n_clusters=2).fit(clouds).order_
        >>> bool(np.corrcoef(order, np.arange(40))[0, 1] > 0.95)
        True
        """
        columns = self.items_
        if "order" not in columns:
            raise AttributeError(
                f"the order requires a second eigenvector, but a fit with n_clusters={self.n_clusters!r} computes only one"
            )
        return cast(Ints, columns["order"])

    @property
    def tree_(self) -> Floats:
        """(K - 1, 4) merges of the clusters in the format of SciPy's ``linkage``.

        ``dendrogram(model.tree_)`` draws the tree. Each row has two nodes, the height of their merge and the number of
        clusters below the merge (``result_json()["tree"]`` contains the number of items). Clusters are nodes 0 to K -
        1, and merge m creates node K + m. Heights are 1 / (1 + r), where r is the affinity between the two nodes
        divided by its expected value in a random graph with the same degrees. The height is 1 if the nodes are not
        connected, and 1/2 if their affinity equals the expected value. The tree is empty if there are more than 1,000
        clusters."""
        rows = self.result_json().get("tree", [])
        self._check_graph("tree")
        count = [1] * self.n_clusters_  # newer versions of SciPy reject a count above the number of leaves
        for row in rows:
            count.append(count[row["a"]] + count[row["b"]])
        below = count[self.n_clusters_ :]
        return np.array([[row["a"], row["b"], row["height"], n] for row, n in zip(rows, below)]).reshape(-1, 4)

    def cut_tree(self, n_clusters: Optional[int] = None, height: Optional[float] = None) -> Ints:
        """Return coarser labels by applying the merges of `tree_` down to `n_clusters` clusters or up to `height`.

        Returns
        -------
        (N,) int32 array
            Labels, numbered by first appearance. Negative labels are unchanged.

        Examples
        --------
        >>> import ddsc
        >>> X = ddsc.make_gaussians(k=4, n=15, n_points=10, separation=3.0)
        >>> model = ddsc.DDSC(n_clusters=4).fit(X)
        >>> [int(model.cut_tree(k).max()) + 1 for k in (4, 3, 1)]
        [4, 3, 1]
        """
        if (n_clusters is None) == (height is None):
            raise ValueError("pass either n_clusters or height")
        tree = self.tree_
        k = self.n_clusters_
        if n_clusters is not None:
            if not 1 <= whole("n_clusters", n_clusters) <= k:
                raise ValueError(f"n_clusters={n_clusters}: must be from 1 to {k}")
        if len(tree) < k - 1 and n_clusters != k:
            raise ValueError(f"there is no tree of {k} clusters; trees are limited to 1,000 clusters")
        if n_clusters is not None:
            tree = tree[: k - n_clusters]
        else:
            tree = tree[tree[:, 2] <= cast(float, height)]
        group = np.arange(k + len(tree))
        for m in reversed(range(len(tree))):  # each node is assigned the number of its last merge
            group[tree[m, :2].astype(int)] = group[k + m]
        kept = self.labels_ >= 0
        values, first, inverse = np.unique(group[self.labels_[kept]], return_index=True, return_inverse=True)
        out = self.labels_.copy()
        out[kept] = np.argsort(np.argsort(first))[inverse.ravel()]
        return out

    def _map(self, run: Run) -> Array:
        """Compute the positions of the items, NaN for dropped items."""
        there = self._there()
        kept = np.flatnonzero(there)
        start, xy = np.empty((len(kept), 2)), np.empty((len(kept), 2))
        lists = self.graph_
        number = np.cumsum(there) - 1
        lengths = np.diff(lists.indptr)[kept]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        rank = np.arange(offsets[-1]) - np.repeat(offsets[:-1], lengths)
        indices = number[lists.indices].astype(np.int32)
        graph = run(_core.graph_from_csr, offsets, indices, rank.astype(float))
        run(_core.project, start, np.ascontiguousarray(self.embedding_[kept]))
        run(_core.layout, xy, graph, start)
        out = np.full((len(self.labels_), 2), np.nan)
        out[kept] = xy
        return out


def _graph_text(graph: Any, rows: Array) -> str:
    """Return graph.mtx for these rows: neighbor and item, numbered from 1, and their squared distance."""
    number = np.zeros(graph.shape[0], dtype=np.int64)
    number[rows] = np.arange(1, len(rows) + 1)
    items = np.repeat(number, np.diff(graph.indptr))
    edges = zip(number[graph.indices].tolist(), items.tolist(), np.square(graph.data).tolist())
    head = f"%%MatrixMarket matrix coordinate real general\n{len(rows)} {len(rows)} {len(items)}\n"
    return head + "".join(f"{near} {item} {d2!r}\n" for near, item, d2 in edges)


def _write_text(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
