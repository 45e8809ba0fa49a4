"""Reads cells from an AnnData: their coordinates, and the columns that describe whole samples."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy as np

from ._arrays import is_sparse
from ._types import Array


def cell_values(
    adata: Any, layer: Optional[str], obsm: Optional[str], variables: Optional[Sequence[str]]
) -> Tuple[Any, Optional[List[str]]]:
    """Return the coordinates of the cells in memory, dense or sparse, and their names."""
    if obsm is not None:
        if layer is not None or variables is not None:
            raise ValueError("obsm cannot be combined with layer or variables")
        values = _entry(adata.obsm, obsm, "obsm")
        if hasattr(values, "columns"):
            return values.to_numpy(), [str(name) for name in values.columns]
        return _in_memory(values), None
    names = [str(name) for name in adata.var_names]
    if variables is not None:
        unknown = sorted(set(map(str, variables)) - set(names))
        if unknown:
            raise ValueError(f"variables: {unknown[0]!r} is not among the {len(names)} variables of the AnnData")
        adata, names = adata[:, list(variables)], [str(name) for name in variables]
    values = adata.X if layer is None else _entry(adata.layers, layer, "layers")
    if values is None:
        raise ValueError("the AnnData has no X; pass layer or obsm")
    return _in_memory(values), names


def _entry(mapping: Any, name: str, what: str) -> Any:
    if name not in mapping:
        raise ValueError(f"the AnnData has no {what}[{name!r}]; it has {', '.join(map(repr, mapping)) or 'none'}")
    return mapping[name]


def _in_memory(values: Any) -> Any:
    """Return a NumPy array or a CSR matrix. The values of a backed AnnData are HDF5 datasets."""
    if hasattr(values, "to_memory"):
        values = values.to_memory()
    if is_sparse(values):
        return values.tocsr()
    if type(values).__module__.partition(".")[0] in ("h5py", "zarr"):
        return values[()]
    return values.compute() if hasattr(values, "compute") else np.asarray(values)


def sample_columns(obs: Any, leave_out: Sequence[Optional[str]], order: Array, offsets: Array) -> Dict[str, List[Any]]:
    """Return the columns of `obs` that are constant within each sample, with one value per sample."""
    first = order[offsets[:-1]]
    group = np.repeat(np.arange(len(first)), np.diff(offsets))
    found: Dict[str, List[Any]] = {}
    for name in obs.columns:
        if name in leave_out:
            continue
        column = obs[name]
        codes, _ = column.factorize()  # -1 for missing values
        codes = np.asarray(codes)
        if (codes[order] == codes[first][group]).all() and (codes >= 0).any():
            found[str(name)] = list(column.iloc[first])
    return found
