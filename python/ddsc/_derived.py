"""Derives sets with other names, metadata or transformed coordinates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from . import _core
from ._former import former_arguments
from ._run import Run
from ._types import Align, Array, Normalize, RandomState
from ._words import ALIGN, NORMALIZE, whole, word

if TYPE_CHECKING:
    from ._distributions import Distributions


class Derived:
    """Methods of `Distributions` that return a set with other names or transformed coordinates."""

    _handle: Any
    _ids: Any
    _labels: Optional[Array]
    _source: Tuple[str, ...]

    if TYPE_CHECKING:
        meta: Any

        def _check_length(self, name: str, length: int) -> None: ...
        @classmethod
        def _wrap(
            cls, handle: Any, ids: Any = None, labels: Any = None, source: Tuple[str, ...] = ()
        ) -> "Distributions": ...

    def described(
        self,
        *,
        coordinate_names: Optional[Sequence[object]] = None,
        point_names: Optional[Sequence[object]] = None,
        titles: Optional[Sequence[object]] = None,
        meta: Optional[Mapping[str, Sequence[object]]] = None,
    ) -> "Distributions":
        """Return a copy of the set with other names. Arguments that are None leave the existing names unchanged.

        Parameters
        ----------
        coordinate_names : sequence of d names, optional
        point_names : sequence of names, optional
            One for each row of `support`.
        titles : sequence of N titles, optional
        meta : dict, optional
            Metadata columns such as batch or age, with N values each. Values are stored as text. None and NaN become
            "", and floats with integer values become integers.

        Examples
        --------
        >>> import ddsc
        >>> X = ddsc.make_shapes(2).described(coordinate_names=["x", "y"])
        >>> X[:2].coordinate_names
        ['x', 'y']
        """
        lists = [
            None if names is None else [name_text(name) for name in names]
            for names in (coordinate_names, point_names, titles)
        ]
        with Run(n_jobs=1) as run:
            handle = run(_core.described, self._handle, *lists)
            if meta is not None:
                columns = [[value_text(value) for value in column] for column in meta.values()]
                for name, column in zip(meta, columns):
                    self._check_length(f"values of {name!r}", len(column))
                flat = [value for row in zip(*columns) for value in row]
                handle = run(_core.about, handle, [name_text(name) for name in meta], flat)
        return self._wrap(handle, self._ids, self._labels, self._source)

    @former_arguments(normalise="normalize")
    def transformed(
        self,
        *,
        arcsinh: Union[None, float, Dict[str, float]] = None,
        log1p: bool = False,
        normalize: Optional[Normalize] = None,
        pca: Optional[int] = None,
        per_item: Optional[int] = None,
        align: Optional[Align] = None,
        logicle: Union[None, float, str, Dict[str, float], Dict[str, str]] = None,
        batch: Union[None, str, Sequence[object]] = None,
        random_state: RandomState = 0,
    ) -> "Distributions":
        """Return a transformed set.

        The steps are applied in this order: sampling of points, arcsinh, logicle, log1p, batch, normalize,
        pca, align. The fitted parameters are stored with the set and with models of it, so that ``predict``
        applies the same steps to new, untransformed items.

        Parameters
        ----------
        arcsinh : float or dict, optional
            Replace x with arcsinh(x / arcsinh). A dict from coordinate names, which may contain the wildcards * and ?,
            to cofactors is also accepted.
        log1p : bool
        normalize : {"standard", "robust", "rank"}, optional
            Normalize coordinates over all items. Every item has the same weight.
        pca : int, optional
            Number of principal components to keep.
        per_item : int, optional
            Largest number of points per item. Larger items are sampled.
        align : {"center", "size", "deskew", "principal"}, optional
            Align each item separately: remove its location ("center"), and also its size, slant or rotation.
        logicle : float, str or dict, optional
            Apply the logicle scale of flow cytometry with the top value T (usually 262144), or "T:W:M:A". A dict from
            coordinate names to such values is also accepted. If W is omitted, it is fitted to the negative values.
        batch : str or sequence, optional
            A column of `meta`, or the batch of each item. The quantiles of each coordinate within a batch are
            mapped to those of all items. A sequence is stored as the column "batch", which must not exist with
            other values. New items need this column (``X.described(meta={"batch": [...]})``) with known batches.
        random_state : int, RandomState, Generator or None
            Random state for `per_item`.

        Examples
        --------
        >>> import ddsc
        >>> X = ddsc.make_shapes(2).transformed(normalize="standard", align="center")
        >>> X.transforms
        ['standard', 'align center']
        """
        settings: Dict[str, Any] = {"log1p": int(bool(log1p))}
        if batch is not None and not isinstance(batch, str):
            about = self.meta
            named = self.described(meta={**about, "batch": batch})
            if about.get("batch", named.meta["batch"]) != named.meta["batch"]:
                raise ValueError(
                    "the set already has a column 'batch' with other values; use it with batch='batch', or add the "
                    "new column under another name with described(meta=...)"
                )
            return named.transformed(
                arcsinh=arcsinh, log1p=log1p, normalize=normalize, pca=pca, per_item=per_item,
                align=align, logicle=logicle, batch="batch", random_state=random_state,
            )
        if batch is not None:
            settings["batch"] = batch
        if isinstance(arcsinh, dict):
            settings["arcsinh"] = ",".join(f"{name}={value}" for name, value in arcsinh.items())
        elif arcsinh is not None:
            settings["arcsinh"] = repr(float(arcsinh))
        if isinstance(logicle, dict):
            settings["logicle"] = ",".join(f"{name}={value}" for name, value in logicle.items())
        elif logicle is not None:
            settings["logicle"] = str(logicle)
        if normalize is not None:
            settings["normalize"] = word("normalize", normalize, NORMALIZE)
        if align is not None:
            settings["align"] = word("align", align, ALIGN)
        for name, value in (("pca", pca), ("per_item", per_item)):
            if value is not None:
                settings[name] = whole(name, value)
        with Run(n_jobs=1, random_state=random_state) as run:
            handle = run(_core.transformed, self._handle, settings)
        return self._wrap(handle, self._ids, self._labels, self._source)


def name_text(value: object) -> str:
    """Convert a name to text. Strings passed to the library must not contain NUL characters."""
    text = str(value)
    if "\0" in text:
        raise ValueError(f"{text!r} has a NUL character, which is not supported")
    return text


def value_text(value: Any) -> str:
    """Convert a metadata value to text. Integer-valued floats become integers, because pandas stores integer columns
    with missing values as floats."""
    missing = value is None or type(value).__name__ == "NAType"  # comparisons with pandas.NA return NA
    if missing or (not isinstance(value, str) and value != value):
        return ""
    number = float(value) if isinstance(value, (float, np.floating)) else 0.5
    if number.is_integer() and abs(number) < 2**53:
        return str(int(number))
    return name_text(value)
