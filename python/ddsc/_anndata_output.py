"""Converts results to AnnData with one row per sample, and copies cluster labels to cells."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Tuple, Union

import numpy as np

from . import _core
from ._base import check_fitted
from ._fitted import check_whole
from ._frames import typed
from ._naming import color_of
from ._shown import Shown
from ._types import AnnDataLike, Array

if TYPE_CHECKING:
    from anndata import AnnData

    from ._distributions import Distributions


class ToAnnData(Shown):
    """Methods of `DDSC` that return results as AnnData."""

    def to_anndata(self, X: Optional["Distributions"] = None) -> "AnnData":
        """Return the fit as an AnnData with one row per item, for scanpy and other packages (requires anndata and
        SciPy).

        Items that were dropped because they have no mass are omitted.

        Parameters
        ----------
        X : Distributions, optional
            The set passed to `fit`. ``.X`` then contains the weighted mean of the points of each item, with the names of
            the coordinates as variables. None: ``.X`` is the spectral embedding.

        Returns
        -------
        anndata.AnnData
            - ``obs``: metadata, ``class`` (if known), ``cluster``, ``cluster_name``, ``next_cluster``, ``ambiguity``,
              ``order``, ``outlier_score`` and ``is_outlier``.
            - ``obsm["X_ddsc"]`` and ``obsm["X_ddsc_map"]``: embedding and positions on the map.
            - ``obsp["distances"]`` and ``obsp["connectivities"]``: distances D to the nearest neighbors (not D^2),
              and the affinities that were clustered. ``uns["neighbors"]`` describes them in the format of scanpy.
            - ``uns["iroot"]``: first item of `order_`, the root for ``sc.tl.dpt``.
            - ``uns["dendrogram_cluster"]``: the tree of the clusters, for ``sc.pl.dendrogram(adata, "cluster")``.
            - ``uns["cluster_colors"]``: the colors of the report.
            - ``uns["ddsc"]``: version, metric, verdict, names of the clusters, and the settings as JSON.

        Examples
        --------
        >>> import ddsc                                                       # doctest: +SKIP
        >>> X = ddsc.datasets.load_cells()                                    # doctest: +SKIP
        >>> ddsc.DDSC(n_clusters=2).fit(X).to_anndata(X)                      # doctest: +SKIP
        AnnData object with n_obs × n_vars = 32 × 6
        ...
        """
        check_fitted(self, "labels_")
        check_whole(self, "_items")
        self._check_graph("neighbor graph for an AnnData")
        try:
            import anndata
            import pandas as pd
            from scipy.sparse import csr_matrix
        except ImportError as error:
            raise ImportError(f"to_anndata needs anndata and SciPy: {error}; pip install anndata scipy") from None
        kept = np.flatnonzero(self._there())
        obs = pd.DataFrame({name: values[kept] for name, values in self._obs_columns().items()})
        obs.index = pd.Index(self.items_["id"][kept].astype(str), name="id")
        for name in ("class", "cluster", "next_cluster", "cluster_name"):
            if name in obs:
                obs[name] = _categorical(pd, obs[name], self.n_clusters_ if name in ("cluster", "next_cluster") else None)
        values, names = self._means(X, kept)
        made = anndata.AnnData(X=values, obs=obs, var=pd.DataFrame(index=pd.Index(names, dtype=object)))
        made.obsm["X_ddsc"] = np.asarray(self.embedding_[kept])
        made.obsm["X_ddsc_map"] = np.asarray(self.map_[kept])
        graph: Any = self.graph_
        affinity: Any = self.affinity_matrix_
        made.obsp["distances"] = csr_matrix(graph[kept][:, kept])
        made.obsp["connectivities"] = csr_matrix(affinity[kept][:, kept])
        made.uns["neighbors"] = self._neighbors_entry()
        made.uns["cluster_colors"] = [color_of(c) for c in range(self.n_clusters_)]
        made.uns["ddsc"] = self._facts()
        order = self.items_.get("order")
        if order is not None and (order[kept] == 0).any():
            made.uns["iroot"] = int(np.flatnonzero(order[kept] == 0)[0])
        tree = self._dendrogram_entry(made)
        if tree is not None:
            made.uns["dendrogram_cluster"] = tree
        return made

    def _obs_columns(self) -> Dict[str, Array]:
        items = self.items_
        names = np.array([*self.names_, ""], dtype=object)
        columns: Dict[str, Array] = {}
        for name, values in items.items():
            if name.startswith("meta:"):
                columns[name[len("meta:") :]] = typed(values)
        if self._classes is not None and len(self._classes) == len(self.labels_):
            columns["class"] = np.asarray(self._classes).astype(str).astype(object)
        columns["cluster"] = np.asarray(self.labels_)
        columns["cluster_name"] = names[np.where(self.labels_ < 0, len(names) - 1, self.labels_)]
        columns["next_cluster"] = np.asarray(self.next_cluster_)
        columns["ambiguity"] = np.asarray(self.ambiguity_)
        columns["order"] = items.get("order", np.full(len(self.labels_), -1, dtype=np.int32))
        columns["outlier_score"] = items["outlier"]
        columns["is_outlier"] = np.asarray(items["is_outlier"] == 1)
        return columns

    def _means(self, X: Optional["Distributions"], kept: Array) -> Tuple[Array, List[str]]:
        """Return the matrix X of the AnnData and the names of its variables."""
        if X is None:
            rows = np.asarray(self.embedding_[kept])
            return rows, [f"ddsc{i}" for i in range(rows.shape[1])]
        if len(X) != len(self.labels_) or list(X.ids) != [str(name) for name in self.items_["id"]]:
            raise ValueError("X is not the set that was passed to fit: the items differ")
        means = np.array([weights @ points for points, weights in (X[int(row)] for row in kept)])
        return means, X.coordinate_names or [f"coordinate {i}" for i in range(X.dim)]

    def _neighbors_entry(self) -> Dict[str, Any]:
        """Return the entry that ``sc.pp.neighbors`` writes. The metric in the entry is that of ``X_ddsc``, which
        layouts use."""
        most = int(np.diff(self.graph_.indptr).max(initial=0))
        params = {"n_neighbors": most + 1, "method": "umap", "metric": "euclidean", "use_rep": "X_ddsc", "random_state": 0}
        return {"connectivities_key": "connectivities", "distances_key": "distances", "params": params}

    def _facts(self) -> Dict[str, Any]:
        told = self.result_json()
        verdict = told.get("verdict", {})
        return {
            "version": _core.version,
            "metric": str(self.metric),
            "n_clusters": int(self.n_clusters_),
            "names": np.array(self.names_, dtype=object),
            "verdict": str(verdict.get("text", "")),
            "structure": str(verdict.get("structure", "")),
            "settings": json.dumps(told.get("settings", {})),
        }

    def _dendrogram_entry(self, made: Any) -> Optional[Dict[str, Any]]:
        """Return the tree of the clusters as ``sc.tl.dendrogram`` stores trees, or None if there is none."""
        tree, k = self.tree_, self.n_clusters_
        if k < 2 or len(tree) != k - 1:
            return None
        from scipy.cluster.hierarchy import dendrogram

        drawn = dendrogram(tree, labels=[str(c) for c in range(k)], no_plot=True)
        rows = np.asarray(self.embedding_)
        means = np.array([rows[self.labels_ == c].mean(axis=0) for c in range(k)])
        with np.errstate(invalid="ignore", divide="ignore"):
            correlation = np.nan_to_num(np.corrcoef(means)) if means.shape[1] > 1 else np.eye(k)
        return {
            "linkage": tree,
            "groupby": ["cluster"],
            "use_rep": "X_ddsc",
            "cor_method": "pearson",
            "linkage_method": "ddsc",
            "categories_ordered": drawn["ivl"],
            "categories_idx_ordered": drawn["leaves"],
            "dendrogram_info": drawn,
            "correlation_matrix": correlation,
        }

    def label_cells(self, cells: Union[AnnDataLike, "AnnData"], groupby: str, key: str = "ddsc") -> None:
        """Copy the cluster of each sample to its cells.

        Adds the columns ``{key}_cluster``, ``{key}_cluster_name`` and ``{key}_ambiguity`` to ``cells.obs``, and the
        colors of the report as ``cells.uns["{key}_cluster_colors"]``. Cells of samples that are not in the model have
        missing values.

        Parameters
        ----------
        cells : anndata.AnnData
            Cells by variables, such as the object passed to `Distributions.from_anndata`.
        groupby : str
            Column of ``cells.obs`` with the sample of each cell.
        key : str
            Beginning of the names of the new columns.

        Examples
        --------
        >>> model.label_cells(adata, "sample")                                # doctest: +SKIP
        >>> adata.obs["ddsc_cluster"].value_counts()                          # doctest: +SKIP
        """
        import pandas as pd

        check_fitted(self, "labels_")
        check_whole(self, "_items")
        obs = cells.obs
        if groupby not in obs.columns:
            raise ValueError(f"groupby={groupby!r} is not a column of obs; it has {', '.join(map(str, obs.columns))}")
        row_of = {str(name): row for row, name in enumerate(self._ids())}
        samples = obs[groupby]
        missing = np.asarray(samples.isna())
        rows = np.array([-1 if no else row_of.get(name, -1) for name, no in zip(samples.astype(str), missing)])
        if not (rows >= 0).any():
            raise ValueError(f"obs[{groupby!r}] has no id of an item of the model; its first item is {self._ids()[0]!r}")
        labels = np.where(rows < 0, -1, np.asarray(self.labels_)[rows])
        names = np.array([*self.names_, ""], dtype=object)
        ambiguity = np.where(labels < 0, np.nan, np.asarray(getattr(self, "ambiguity_", np.full(len(self.labels_), np.nan)))[rows])
        obs[f"{key}_cluster"] = _categorical(pd, pd.Series(labels, index=obs.index), self.n_clusters_)
        obs[f"{key}_cluster_name"] = _categorical(pd, pd.Series(names[labels], index=obs.index), None)
        obs[f"{key}_ambiguity"] = ambiguity
        target: Any = cells
        target.uns[f"{key}_cluster_colors"] = [color_of(c) for c in range(self.n_clusters_)]

    def _ids(self) -> List[str]:
        return [str(name) for name in self.items_["id"]]


def _categorical(pd: Any, values: Any, k: Optional[int]) -> Any:
    """Return labels 0 to k - 1, or names if k is None, as a categorical column of strings. Negative labels and empty
    names are missing values."""
    if k is None:
        texts = values.astype(str)
        return texts.where(texts != "", None).astype("category")
    categories = [str(c) for c in range(k)]
    return pd.Series(pd.Categorical.from_codes(np.asarray(values), categories=categories), index=values.index)
