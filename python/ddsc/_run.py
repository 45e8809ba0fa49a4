"""Runs one call of the library, with its threads, seed, progress and warnings."""

from __future__ import annotations

import codecs
import numbers
import os
import sys
import warnings
from typing import TYPE_CHECKING, Any, Callable, Optional

import numpy as np

from . import _core
from ._messages import in_python_terms
from ._types import Progress, RandomState

__all__ = ["READ_TIMEOUT", "ConvergenceWarning", "Run", "count_threads", "draw_seed"]

if TYPE_CHECKING:

    class ConvergenceWarning(UserWarning):
        """A solver reached its iteration limit. The results are valid, but marked as not converged."""

else:
    try:
        from sklearn.exceptions import ConvergenceWarning
    except ImportError:

        class ConvergenceWarning(UserWarning):
            """A solver reached its iteration limit. The results are valid, but marked as not converged."""


MAX_SEED = 2**64 - 1
READ_TIMEOUT = 60.0  # seconds without progress while reading an HDF5 file
_ENCODINGS = {"utf-8": 0, "utf-8-sig": 0, "ascii": 0, "iso8859-1": 1, "cp1252": 2}  # ddsc_encoding


def count_threads(n_jobs: Optional[int]) -> int:
    """Return the number of threads for n_jobs: None: all cores (or OMP_NUM_THREADS), -1: all, -2: all but one."""
    there = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if n_jobs is None:
        limit = os.environ.get("OMP_NUM_THREADS", "")
        return max(1, int(limit)) if limit.isdigit() else there
    if not isinstance(n_jobs, numbers.Integral) or isinstance(n_jobs, bool) or n_jobs == 0:
        raise ValueError(f"n_jobs={n_jobs!r}: must be None, or an integer other than 0")
    return int(n_jobs) if n_jobs > 0 else max(1, there + 1 + int(n_jobs))


def draw_seed(random_state: Any) -> int:
    """Return a seed from an int, None (uses numpy's global state), a RandomState or a Generator."""
    if isinstance(random_state, numbers.Integral) and not isinstance(random_state, bool):
        seed = int(random_state)
        if not 0 <= seed <= MAX_SEED:
            raise ValueError(f"random_state={seed}: must be from 0 to 2**64 - 1")
        return seed
    if random_state is None or random_state is np.random:
        return int(np.random.randint(2**31 - 1))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31 - 1))
    raise ValueError(f"random_state={random_state!r}: must be an int, None or a random generator")


def _encoding(name: object) -> int:
    """Return the library's code for an encoding. Every alias that Python knows is accepted."""
    try:
        return _ENCODINGS[codecs.lookup(str(name)).name]
    except (LookupError, KeyError):
        raise ValueError(f"encoding={name!r}: must be \"utf-8\", \"latin1\" or \"cp1252\"") from None


def _seconds(limit: object) -> float:
    if not isinstance(limit, (int, float)) or not 0 <= limit < float("inf"):
        raise ValueError(f"read_timeout={limit!r}: must be a number of seconds, or 0 for no limit")
    return float(limit)


class _Bar:
    """A progress bar per stage. Show progress with tqdm if it is installed, otherwise as a line of text."""

    def __init__(self) -> None:
        self.stage = ""
        self.bar: Any = None
        try:
            with warnings.catch_warnings():  # without ipywidgets, a notebook shows the bar as text
                warnings.simplefilter("ignore")
                from tqdm.auto import tqdm

            self.tqdm: Any = tqdm
        except ImportError:
            self.tqdm = None

    def __call__(self, stage: str, done: int, total: int) -> None:
        if stage != self.stage:
            self.close()
            self.stage = stage
            if self.tqdm:
                self.bar = self.tqdm(total=total or None, desc=stage, leave=True)
        if self.bar is not None:
            self.bar.update(done - self.bar.n)
        elif not self.tqdm and total > 0:
            print(f"\r{stage} {100 * done // total:3d}%", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        if self.bar is not None:
            self.bar.close()
            self.bar = None
        elif self.stage and not self.tqdm:
            print(file=sys.stderr, flush=True)
        self.stage = ""


class Run:
    """A context of the library for one call, used in a ``with`` block."""

    def __init__(
        self,
        n_jobs: Optional[int] = None,
        random_state: RandomState = 0,
        verbose: object = 0,
        callback: Optional[Progress] = None,
        memory_limit: Optional[int] = None,
        device: str = "cpu",
        encoding: str = "utf-8",
        read_timeout: float = READ_TIMEOUT,
    ) -> None:
        self.bar = _Bar() if verbose else None
        if callback is not None and not callable(callback):
            raise TypeError("callback must be callable(stage, done, total)")
        self.callback = callback
        self.worst = 0  # largest status so far; positive if a call did not converge
        self.seed = draw_seed(random_state)
        report = self._report if self.bar or callback else None
        if memory_limit is not None and not isinstance(memory_limit, numbers.Integral):
            raise ValueError(f"memory_limit={memory_limit!r}: must be a number of bytes, such as 2 * 1024**3")
        self.limit = int(memory_limit or 0)
        self.context = _core.Context(
            count_threads(n_jobs), self.seed, self.limit, report, _seconds(read_timeout), _encoding(encoding)
        )
        if not isinstance(device, str):
            raise ValueError(f"device={device!r}: must be \"auto\", \"cpu\", \"cuda\" or \"cuda:N\"")
        self.context.set_device(device)

    def _report(self, stage: str, done: int, total: int) -> None:
        if self.bar:
            self.bar(stage, done, total)
        if self.callback:
            self.callback(stage, done, total)

    def check_room(self, items: Any) -> None:
        """Raise MemoryError if the arrays would exceed the memory limit as float64.

        The check runs before any array is converted."""
        if self.limit == 0:
            return
        arrays = items if isinstance(items, (list, tuple)) else [items]
        sizes = [getattr(array, "size", 0) for array in arrays]
        need = 8 * sum(int(size) for size in sizes if isinstance(size, numbers.Integral))
        if need > self.limit:
            raise MemoryError(f"out of memory: the points of X need {need} bytes, more than the limit {self.limit}")

    def __call__(self, function: Callable[..., Any], *args: Any) -> Any:
        """Call a function of the library. Issue its warnings as UserWarning, and a ConvergenceWarning if the status is
        positive."""
        try:
            result = function(self.context, *args)
        except (ValueError, OSError) as error:
            message = in_python_terms(str(error))
            if len(error.args) != 1 or message == str(error):  # not a message of the library
                raise
            raise type(error)(message) from None
        finally:
            for text in self.context.take_warnings():
                warnings.warn(in_python_terms(text), UserWarning, stacklevel=4)
        self.worst = max(self.worst, self.context.status)
        if self.context.status > 0:
            text = self.context.message or "a solver reached its iteration limit"
            warnings.warn(text, ConvergenceWarning, stacklevel=4)
        return result

    def __enter__(self) -> "Run":
        return self

    def __exit__(self, *_: Any) -> None:
        if self.bar:
            self.bar.close()
