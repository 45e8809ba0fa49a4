"""Builds the package with scikit-build-core. If OpenBLAS or LAPACKE is not installed, the build requests
scipy-openblas32 from PyPI, which cmake/Dependencies.cmake then uses."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from typing import Any, Callable, List, Optional

from scikit_build_core import build as _base
from scikit_build_core.build import *  # noqa: F403 (hooks that are not replaced below)

_PROGRAM = "#include <cblas.h>\n#include <lapacke.h>\nint main(void) { return LAPACKE_get_nancheck() + !cblas_dgemm; }\n"
_FALLBACK = "scipy-openblas32>=0.3.27"


def _has_blas() -> bool:
    """Return True if a program that uses OpenBLAS and LAPACKE can be linked. Without a compiler, CMake reports what is
    missing."""
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
    print("OpenBLAS or LAPACKE is not installed: using scipy-openblas32 from PyPI", file=sys.stderr)
    return [*found, _FALLBACK]


def get_requires_for_build_wheel(config_settings: Optional[Any] = None) -> List[str]:
    return _requires(_base.get_requires_for_build_wheel, config_settings)


def get_requires_for_build_editable(config_settings: Optional[Any] = None) -> List[str]:
    return _requires(_base.get_requires_for_build_editable, config_settings)
