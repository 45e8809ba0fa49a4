"""Builds the package by scikit-build-core. Where the system has no OpenBLAS or LAPACKE the build asks PyPI for them
(scipy-openblas32), and cmake/Dependencies.cmake takes those."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from typing import Any, Callable, List, Optional

from scikit_build_core import build as _base
from scikit_build_core.build import *  # noqa: F403 (the hooks that stay as they are)

_PROGRAM = "#include <cblas.h>\n#include <lapacke.h>\nint main(void) { return LAPACKE_get_nancheck() + !cblas_dgemm; }\n"
_FALLBACK = "scipy-openblas32>=0.3.27"


def _has_blas() -> bool:
    """Whether a program that uses both can be linked; without a compiler CMake says what is missing."""
    compiler = [*shlex.split(os.environ.get("CC", "cc")), *shlex.split(os.environ.get("CFLAGS", ""))]
    words = ["-x", "c", "-", "-o", os.devnull, *shlex.split(os.environ.get("LDFLAGS", "")), "-llapacke", "-lopenblas"]
    try:
        return subprocess.run([*compiler, *words], input=_PROGRAM.encode(), capture_output=True).returncode == 0
    except OSError:
        return True


def _requires(base: Callable[[Any], List[str]], settings: Any) -> List[str]:
    found = base(settings)
    if _has_blas():
        return found
    print("OpenBLAS or LAPACKE are not installed: taking those of PyPI (scipy-openblas32)", file=sys.stderr)
    return [*found, _FALLBACK]


def get_requires_for_build_wheel(config_settings: Optional[Any] = None) -> List[str]:
    return _requires(_base.get_requires_for_build_wheel, config_settings)


def get_requires_for_build_editable(config_settings: Optional[Any] = None) -> List[str]:
    return _requires(_base.get_requires_for_build_editable, config_settings)
