"""Records the paths of input files and prevents overwriting them."""

from __future__ import annotations

import glob
import os
import sys
from typing import Any, List, Optional, Sequence, Tuple, Union

from . import _core
from ._run import Run
from ._types import AnyPath, PathLike


def as_paths(given: Union[None, AnyPath, Sequence[AnyPath]]) -> List[str]:
    """Return a list of paths, given one path, several paths or None."""
    if given is None:
        return []
    return [os.fsdecode(p) for p in ([given] if isinstance(given, (str, bytes, os.PathLike)) else given)]


class _Files(Tuple[str, ...]):
    """Paths of files that were read. Pickles do not include the paths, because they may be loaded on another
    machine."""

    def __reduce__(self) -> Any:
        return _Files, ()


def files_read(paths: List[str], vectors: Optional[str] = None) -> Tuple[str, ...]:
    """Return the files at the given paths, and all other files that their readers open.

    Folders are expanded to their files and those in their subfolders.
    """
    found: List[str] = []
    if vectors is not None:
        found.append(os.path.abspath(vectors))
        found.extend(map(os.path.abspath, _core.find_companions(vectors, True)))
    for path in map(os.path.abspath, paths):
        if not os.path.isdir(path):
            found.append(path)
            found.extend(_core.find_companions(path, False))
            continue
        for folder, inner, names in os.walk(path):
            if folder != path:
                inner.clear()
            read = (name for name in names if not name.endswith((".npz", ".mtx", ".d2", ".html", ".json")))
            found.extend(os.path.join(folder, name) for name in read)
    return _Files(found)


def check_output(path: PathLike, source: Tuple[str, ...]) -> None:
    """Raise ValueError if `path` is a file that was read."""
    if source and os.path.isfile(path):
        for given in source:
            if os.path.exists(given) and os.path.samefile(path, given):
                raise ValueError(f"{os.fspath(path)}: the set was read from this file; write to another file")


def check_exists(paths: List[str]) -> None:
    """Raise FileNotFoundError for the first path that does not exist."""
    for path in paths:
        if not os.path.exists(path):
            raise FileNotFoundError(2, "No such file", path)


def matching_files(path: str) -> List[str]:
    """Return the files that match a pattern, sorted by name. An existing path is returned unchanged."""
    found = [] if os.path.exists(path) or not glob.has_magic(path) else sorted(glob.glob(path))
    return found or [path]


def write_whole(path: Any, content: bytes, overwrite: bool) -> None:
    """Write a file as the library does: if writing fails, an existing file is unchanged. "-" is standard output."""
    file = os.fsdecode(path)
    if os.path.isdir(file):
        raise IsADirectoryError(21, "Is a directory", file)
    if not os.path.isdir(os.path.dirname(os.path.abspath(file))):
        raise FileNotFoundError(2, "No such file or directory", file)
    if file == "-":
        sys.stdout.flush()
    with Run(n_jobs=1) as run:
        run(_core.write_bytes, file, content, overwrite)
