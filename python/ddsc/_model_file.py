"""Saves and loads models (`DDSC.save` and `DDSC.load`)."""

from __future__ import annotations

import csv
import json
import os
import tempfile
import zipfile
from typing import Any, Dict, Type, TypeVar

import numpy as np

from . import _core
from ._distributions import Distributions
from ._files import check_output, write_whole
from ._former import FORMER_VALUES
from ._model_handle import _Model
from ._new_items import NewItems
from ._results import Results
from ._run import Run
from ._types import Array, Json, PathLike

Own = TypeVar("Own", bound="ModelFile")


class ModelFile(Results, NewItems):
    """Methods of `DDSC` that write and read model files."""

    def save(self, path: PathLike, overwrite: bool = False) -> None:
        """Write a model.npz with all data for labeling new items, for `load` and ``ddsc assign``.

        The array `left_out` lists excluded outliers. To store a whole model with its graph, table and report, use
        pickle. A file that the items were read from is never overwritten (ValueError).
        """
        check_output(path, getattr(self, "_source", ()))
        handle, file = self._kept_model(), os.fspath(path)
        n_items = _core.model_view(handle)["n_items"]
        labels = self.labels_ if len(self.labels_) == n_items else self.labels_[self._there()]
        left_out = np.flatnonzero(labels < 0)
        with Run(n_jobs=1) as run:
            if not len(left_out):
                run(_core.model_write, handle, file, overwrite)
                return
        with tempfile.TemporaryDirectory() as folder:
            whole_file = os.path.join(folder, "model.npz")
            with Run(n_jobs=1) as run:
                run(_core.model_write, handle, whole_file, False)
            _add_array(whole_file, "left_out", left_out)
            with open(whole_file, "rb") as content:
                write_whole(file, content.read(), overwrite)

    @classmethod
    def load(cls: Type[Own], path: PathLike) -> Own:
        """Load a model from a model.npz or from a folder written by ``ddsc cluster -o``.

        The model can label new items (`predict`, `transform`, `assign`) and has `labels_`, `embedding_` and
        `n_clusters_`. A folder also provides `result_json` and `explain`. Only the parameters of the metric are set, to
        the values that were chosen from the data. The settings of the neighbor search are not stored. Items without
        mass have no row. Excluded outliers have the label -1, except in a model.npz of the program without its folder.

        Examples
        --------
        >>> import os, tempfile, ddsc
        >>> X = ddsc.make_shapes()
        >>> place = os.path.join(tempfile.mkdtemp(), "model.npz")
        >>> ddsc.DDSC(n_clusters=2).fit(X).save(place)
        >>> ddsc.DDSC.load(place).predict(X[:3])
        array([0, 0, 0], dtype=int32)
        """
        file = os.fspath(path)
        folder = file if os.path.isdir(file) else None
        file = os.path.join(file, "model.npz") if folder else file
        if not os.path.exists(file):
            raise FileNotFoundError(2, "No such file", file)
        with Run(n_jobs=1) as run:
            handle = run(_core.model_read, file)
        view = _core.model_view(handle)
        with np.load(file) as arrays:
            model = cls(**_kept_settings(arrays))
            model.labels_, model.embedding_ = arrays["labels"], arrays["embedding"]
            if "left_out" in arrays:
                model.labels_[arrays["left_out"]] = -1
            if "ids" in arrays:
                model._row_ids = [str(name) for name in arrays["ids"]]
        model._model, model._extension = _Model(handle), None
        model.n_clusters_, model.n_features_in_ = view["k"], view["dim"]
        if folder:
            model._report = (_read_result(folder), 0, None)
            model.labels_ = _shown_labels(folder, model.result_json(), model.labels_)
        return model


def _kept_settings(arrays: Any) -> Dict[str, Any]:
    """Return the parameters that reproduce the metric of a model.npz."""
    kept = dict(line.split("=", 1) for line in arrays["model_settings"].tolist())
    set_: Dict[str, Any] = {"n_clusters": int(kept["k"]), "metric": kept["metric"]}
    set_.update(n_neighbors=int(kept["tau"]), gamma=float(kept["gamma"]) or "local")
    if kept["metric"] == "sinkhorn":
        set_.update(epsilon=float(kept["epsilon"]), sinkhorn_value=_current(kept["sinkhorn_value"]))
        set_.update(tolerance=float(kept["sinkhorn_tolerance"]))
        set_.update(max_iterations=int(kept["sinkhorn_max_iterations"]))
    if kept["metric"] == "mmd":
        set_.update(mmd_kernel=kept["mmd_kernel"], mmd_estimator=kept["mmd_estimator"])
        if float(kept["bandwidth"]) > 0:
            set_.update(bandwidth=float(kept["bandwidth"]))
    if "reference_points" in arrays:
        points, weights = arrays["reference_points"], arrays["reference_weights"]
        set_.update(reference=Distributions([points], [weights]))
    if "cost" in kept:
        set_.update(cost=arrays["cost_matrix"] if kept["cost"] == "matrix" else kept["cost"])
    return set_


def _current(value: str) -> str:
    return FORMER_VALUES.get(value, value)


def _read_result(folder: str) -> str:
    """Return the content of result.json in a folder. The library converts files of version 0.2.0, which have no
    format_version."""
    with open(os.path.join(folder, "result.json"), encoding="utf-8") as file:
        text = file.read()
    if "format_version" in json.loads(text):
        return text
    with Run(n_jobs=1) as run:
        return str(run(_core.report_page, folder, 0))  # 0: the form DDSC_REPORT_JSON


def _shown_labels(folder: str, told: Json, labels: Array) -> Array:
    """Return the labels of the items of a folder, with -1 for excluded outliers."""
    outliers = told.get("outliers", {})
    if not outliers.get("left_out"):
        return labels
    rows = {item["row"] for item in outliers["items"]}
    with open(os.path.join(folder, "labels.csv"), encoding="utf-8", errors="replace", newline="") as file:
        shown = [int(line[-1]) for line in list(csv.reader(file))[1:]]
    return np.array([v for row, v in enumerate(shown) if v >= 0 or row in rows], dtype=labels.dtype)


def _add_array(file: str, name: str, values: Array) -> None:
    """Add an array to an npz. The bytes do not depend on the current time."""
    member = zipfile.ZipInfo(f"{name}.npy")
    with zipfile.ZipFile(file, "a") as archive, archive.open(member, "w") as to:
        np.save(to, values, allow_pickle=False)
