"""Writes HDF5 files in AnnData's layout with h5py, as anndata does (encoding version 0.1.0)."""
import h5py
import numpy as np


def column(group, name, values, kind="string"):
    """Write a column about cells. kind is string, categorical, old (categories of AnnData 0.7) or number."""
    text = h5py.string_dtype()
    values = np.asarray(values)
    if kind in ("categorical", "old"):
        names, codes = np.unique(values, return_inverse=True)
        codes = np.where(values == "", -1, codes - (names[0] == "")).astype("i1")
        names = names[names != ""].astype(object)
        if kind == "old":
            group.create_dataset(name, data=codes)
            group.require_group("__categories").create_dataset(name, data=names, dtype=text)
            return
        made = group.create_group(name)
        made.attrs["encoding-type"] = "categorical"
        made.create_dataset("categories", data=names, dtype=text)
        made.create_dataset("codes", data=codes)
    elif kind == "string":
        group.create_dataset(name, data=values.astype(object), dtype=text)
    else:
        group.create_dataset(name, data=values)


def matrix(group, name, values, kind="dense", **how):
    """Write a matrix. kind is dense, csr or csc; how contains compression, chunks and so on."""
    values = np.asarray(values)
    if kind == "dense":
        group.create_dataset(name, data=values, **how)
        return
    made = group.create_group(name)
    made.attrs["encoding-type"] = kind + "_matrix"
    made.attrs["shape"] = np.array(values.shape)
    lines = values if kind == "csr" else values.T
    counts = (lines != 0).sum(1)
    made.create_dataset("data", data=lines[lines != 0], **how)
    made.create_dataset("indices", data=np.nonzero(lines)[1].astype("i4"), **how)
    made.create_dataset("indptr", data=np.concatenate([[0], np.cumsum(counts)]).astype("i4"))


def write(path, values, names, obs, kind="dense", layers=None, obsm=None, **how):
    """obs: name -> (values, kind) of a column."""
    with h5py.File(path, "w", **({"libver": how.pop("libver")} if "libver" in how else {})) as f:
        f.attrs["encoding-type"] = "anndata"
        matrix(f, "X", values, kind, **how)
        for folder, tables in (("layers", layers or {}), ("obsm", obsm or {})):
            for name, table in tables.items():
                matrix(f.require_group(folder), name, table)
        about = f.create_group("obs")
        about.attrs["_index"] = "_index"
        column(about, "_index", [f"cell{i}" for i in range(len(values))])
        for name, (column_values, column_kind) in obs.items():
            column(about, name, column_values, column_kind)
        var = f.create_group("var")
        var.attrs["_index"] = "gene"
        column(var, "gene", names)
