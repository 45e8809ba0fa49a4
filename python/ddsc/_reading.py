"""Reads sets of distributions and documents from files, and generates example sets."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Dict, Literal, Optional, Sequence, Union, cast

from . import _core
from ._distributions import Distributions
from ._files import as_paths, check_exists, files_read, matching_files
from ._former import current_names
from ._run import READ_TIMEOUT, Run
from ._types import AnyPath, ImageAs, OnEmpty, PathLike, RandomState, Transforms, Weighting, Words
from ._words import ON_EMPTY, WORDS, whole, word

if TYPE_CHECKING:
    from typing_extensions import Unpack


def read(
    path: Union[AnyPath, Sequence[AnyPath]],
    *,
    labels: Optional[AnyPath] = None,
    meta: Union[None, AnyPath, Sequence[AnyPath]] = None,
    channels: Optional[Sequence[Union[str, int]]] = None,
    id: Optional[str] = None,
    columns: Optional[Sequence[str]] = None,
    drop: Optional[Sequence[str]] = None,
    weight: Optional[str] = None,
    label: Optional[str] = None,
    type: Optional[str] = None,
    where: Optional[str] = None,
    matrix: Optional[str] = None,
    as_: ImageAs = "pixels",
    phase: Optional[int] = None,
    on_empty: OnEmpty = "error",
    format: Optional[Literal["h5ad"]] = None,
    encoding: str = "utf-8",
    read_timeout: float = READ_TIMEOUT,
    **transforms: Unpack[Transforms],
) -> Distributions:
    """Read distributions from a file in any supported format: npz, npy, csv, idx, d2, fcs, h5ad, images,
    point clouds.

    Parameters
    ----------
    path : path or list of paths
        The format is detected from the content. The wildcards *, ? and [] are expanded ("scans/*.ply"). If there are
        several files, each contains one item (fcs, images, clouds) or several. If the path is a folder, all of its
        files are read, and its subfolders are classes.
    labels : path, optional
        File with the classes of the items (idx, csv or npy).
    meta : path or list of paths, optional
        Tables of metadata, joined by their column "id" (or `id`). See the attribute `meta` of the set.
    channels : list of str or int, optional
        fcs: channels to read, by name or by number from 1.
    id : str, optional
        csv, h5ad: column with the item of each row, or several columns separated by commas. None: "id".
    columns, drop : list of str, optional
        csv, h5ad, fcs, clouds: columns that are coordinates, and columns that are not, with the wildcards
        * and ?. None: all numeric columns.
    weight, label : str, optional
        csv, h5ad: columns with the weights and the classes. None: "weight" and "label", if they exist.
    type : str, optional
        csv, h5ad: column with the type of each point, such as the type of a cell. See `states`.
    where : str, optional
        csv, h5ad: "COLUMN=VALUE" reads only the matching rows.
    matrix : str, optional
        h5ad and other HDF5: name of the table with the points, such as a layer or an embedding ("X_pca"). None: "X".
    as_ : {"pixels", "ink", "colors"}
        images: mass is the brightness, the darkness, or the area of each of 512 colors.
    phase : int, optional
        d2: the phase to read, from 1. None joins all phases.
    on_empty : {"error", "drop"}
    format : {None, "h5ad"}
        "h5ad": read HDF5, regardless of the file name. None: detect the format from the content; HDF5 is accepted only
        if the name ends in .h5ad, .h5 or .hdf5.
    encoding : {"utf-8", "latin1", "cp1252"}
        Encoding of all text files: tables, labels and meta.
    read_timeout : float
        h5ad: seconds without progress (as with a damaged file) after which reading fails. 0 means no limit.
        HDF5 files are read in a child process, which exits before the call returns.
    **transforms
        arcsinh, logicle, log1p, batch, normalize, pca, per_item, align, random_state: applied after reading, as
        in `Distributions.transformed`. `batch` can also name a column of the table that is read (csv, h5ad).

    Examples
    --------
    >>> import os, tempfile, ddsc
    >>> folder = tempfile.mkdtemp()
    >>> path = os.path.join(folder, "two.csv")
    >>> with open(path, "w") as file:
    ...     _ = file.write("id,weight,x,y\\na,1,0,0\\na,3,1,1\\nb,1,2,2\\n")
    >>> ddsc.read(path).ids
    ['a', 'b']
    """
    texts = [text for p in as_paths(path) for text in matching_files(p)]
    tables = as_paths(meta)
    check_exists(texts + tables + as_paths(labels))
    settings: Dict[str, Any] = {"on_empty": word("on_empty", on_empty, ON_EMPTY)}
    settings["image_as"] = word("as_", as_, {"pixels": 0, "ink": 1, "colors": 2})
    if labels is not None:
        settings["labels_path"] = os.fsdecode(labels)
    transforms = cast(Transforms, current_names(dict(transforms), {"normalise": "normalize"}))
    unknown = set(transforms) - _TRANSFORMS
    if unknown:
        raise TypeError(f"read() got an unexpected keyword argument {sorted(unknown)[0]!r}")
    if tables:
        settings["meta_path"] = tables[0]
    batch = transforms.get("batch")
    if isinstance(batch, str):
        settings["item_columns"] = batch
    if channels is not None:
        settings["channels"] = ",".join(str(c) for c in channels)
    named = {"id_columns": id, "weight_column": weight, "label_column": label, "type_column": type, "where": where,
             "matrix": matrix}
    settings.update({name: value for name, value in named.items() if value is not None})
    for name, names in (("columns", columns), ("drop", drop)):
        if names is not None:
            settings[name] = names if isinstance(names, str) else ",".join(names)
    if phase is not None:
        settings["phase"] = whole("phase", phase)
    if format is not None:
        settings["format"] = word("format", format, {"h5ad": 11})
    with Run(n_jobs=1, encoding=encoding, read_timeout=read_timeout) as run:
        handle = run(_core.read_files, texts, settings)
        for table in tables[1:]:
            handle = run(_core.read_meta, handle, table, id)
    made = Distributions._wrap(handle, source=files_read(texts + tables + as_paths(labels)))
    asked = [name for name, value in transforms.items() if name != "random_state" and value is not None]
    return made.transformed(**transforms) if asked else made


_TRANSFORMS = {"arcsinh", "logicle", "log1p", "batch", "normalize", "pca", "per_item", "align", "random_state"}


def read_text(
    documents: Union[PathLike, Sequence[PathLike]],
    vectors: Optional[PathLike] = None,
    *,
    words: Words = "fitted",
    paper: bool = False,
    text: Optional[str] = None,
    label: Optional[str] = None,
    id: Optional[str] = None,
    meta: Union[None, PathLike, Sequence[PathLike]] = None,
    stopwords: Optional[PathLike] = None,
    weighting: Weighting = "auto",
    support: Union[int, Literal["auto"]] = "auto",
    on_empty: OnEmpty = "drop",
    encoding: str = "utf-8",
) -> Distributions:
    """Convert documents to distributions over word vectors.

    Parameters
    ----------
    documents : path or list of paths
        A table with a header and one document per row (separated by tab, comma, semicolon or |), JSON lines,
        or a folder of .txt files, whose subfolders are classes. With several paths, each file is one document.
    vectors : path, optional
        Word vectors: a text file in the format of GloVe, word2vec or fastText, a binary word2vec file (also .gz), or
        npy with the words in a .vocab file. An npz of earlier documents (``X.write(path)``) or a model is also
        accepted. The documents are then encoded with its words and weights, so that the model can assign them. None:
        the vectors are learned from the documents.
    words : {"fitted", "general", "own"}
        Fit the vectors of the file to the documents, use them unchanged (words without a vector are ignored),
        or learn vectors from the documents only.
    paper : bool
        Follow the paper: vectors are used unchanged, with TF-IDF weights (see ``ddsc help paper``).
    text, label, id : str, optional
        Columns of the table. None: the usual names (see ``ddsc text --help``).
    meta : path or list of paths, optional
        Tables of metadata about the documents, as in `read`.
    stopwords : path, optional
        File with words to ignore.
    weighting : {"auto", "tfidf", "tf"}
        "auto" learns the weights of words from the documents ("tfidf" with general vectors).
    support : int or "auto"
        Largest number of points per document after merging; 0: words are not merged. "auto" merges documents of
        more than 32 words to 16 points.
    on_empty : {"error", "drop"}
        How to treat documents without known words. Results still have a row for
        each dropped document.
    encoding : {"utf-8", "latin1", "cp1252"}
        Encoding of all text files: documents, vectors, stop words and meta.
    """
    settings: Dict[str, Any] = {
        "weighting": word("weighting", weighting, {"tfidf": 0, "tf": 1, "auto": 2}),
        "support": -1 if isinstance(support, str) and support == "auto" else whole("support", support),
        "on_empty": word("on_empty", on_empty, ON_EMPTY),
        "words": word("words", words, WORDS),
        "paper": int(bool(paper)),
    }
    for name, value in (("text_columns", text), ("label_column", label), ("id_columns", id)):
        if value is not None:
            settings[name] = value
    if stopwords is not None:
        settings["stopwords_path"] = os.fsdecode(stopwords)
    paths = as_paths(documents)
    check_exists(as_paths(documents) + as_paths(vectors) + as_paths(stopwords) + as_paths(meta))
    known = None if vectors is None else os.fsdecode(vectors)
    with Run(n_jobs=1, encoding=encoding) as run:
        found = run(_core.read_text, paths, known, settings)
        for table in as_paths(meta):
            found = run(_core.read_meta, found, table, id)
    given = as_paths(documents) + as_paths(stopwords) + as_paths(meta)
    return Distributions._wrap(found, source=files_read(given, known))


def make_shapes(n: int = 20, n_points: int = 40, random_state: RandomState = 0) -> Distributions:
    """Generate n squares and n circles around a common center, as in the paper, with ``labels``.

    Examples
    --------
    >>> import ddsc
    >>> ddsc.make_shapes()
    Distributions(40 items in 2 dimensions, 40 to 40 points, 1600 distinct)
    """
    with Run(n_jobs=1, random_state=random_state) as run:
        handle = run(_core.generate, "shapes", 2, whole("n", n), whole("n_points", n_points), 2, 0.0)
    return Distributions._wrap(handle)


def make_gaussians(
    k: int = 3,
    n: int = 20,
    n_points: int = 30,
    dim: int = 2,
    separation: float = 4.0,
    random_state: RandomState = 0,
) -> Distributions:
    """Generate k classes of n Gaussian clouds, with centers `separation` standard deviations apart.

    Examples
    --------
    >>> import ddsc
    >>> len(ddsc.make_gaussians(k=2, n=5))
    10
    """
    with Run(n_jobs=1, random_state=random_state) as run:
        handle = run(
            _core.generate,
            "gaussians",
            whole("k", k),
            whole("n", n),
            whole("n_points", n_points),
            whole("dim", dim),
            float(separation),
        )
    return Distributions._wrap(handle)
