"""The library's model of a fit, which labels new items."""

from __future__ import annotations

import os
import tempfile
from typing import Any

from . import _core
from ._run import Run


class _Model:
    """A handle of the library's model of a fit. Its pickle contains the bytes of the model file."""

    def __init__(self, handle: Any) -> None:
        self.handle = handle

    def __getstate__(self) -> bytes:
        with tempfile.TemporaryDirectory() as folder, Run(n_jobs=1) as run:
            path = os.path.join(folder, "model.npz")
            run(_core.model_write, self.handle, path, True)
            with open(path, "rb") as file:
                return file.read()

    def __setstate__(self, state: bytes) -> None:
        with tempfile.TemporaryDirectory() as folder, Run(n_jobs=1) as run:
            path = os.path.join(folder, "model.npz")
            with open(path, "wb") as file:
                file.write(state)
            self.handle = run(_core.model_read, path)
