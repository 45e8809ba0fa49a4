"""Supports the names of version 0.2.0. Old names cause a warning; old option values are accepted silently."""

from __future__ import annotations

import functools
import warnings
from typing import Any, Callable, Dict, Iterable, List, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

FORMER_VALUES = {"regularised": "regularized", "centre": "center", "colours": "colors"}


def _warn(old: str, new: str, level: int) -> None:
    warnings.warn(f"{old!r} is deprecated; use {new!r}", FutureWarning, stacklevel=level)


def current_names(given: Dict[str, Any], names: Dict[str, str]) -> Dict[str, Any]:
    """Return keyword arguments in which former names are replaced by the current ones."""
    for old in sorted(set(given) & set(names)):
        new = names[old]
        _warn(old, new, 4)
        if new in given:
            raise TypeError(f"{old!r} and {new!r} are the same argument")
        given = {**given, new: given[old]}
        del given[old]
    return given


def former_arguments(**names: str) -> Callable[[F], F]:
    """Decorate a function so that it also accepts the former names of its keyword arguments."""

    def decorate(function: F) -> F:
        @functools.wraps(function)
        def accept(*args: Any, **given: Any) -> Any:
            return function(*args, **(current_names(given, names) if names.keys() & given else given))

        return accept  # type: ignore[return-value]

    return decorate


class FormerName:
    """An attribute that was renamed. Tab completion does not list the former name (`current_dir`)."""

    def __init__(self, new: str) -> None:
        self._new = new

    def __set_name__(self, owner: Any, name: str) -> None:
        self._old = name

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        value = getattr(instance, self._new)
        _warn(self._old, self._new, 3)
        return value

    def __set__(self, instance: Any, value: Any) -> None:
        setattr(instance, self._new, value)


def current_dir(names: Iterable[str], kind: type) -> List[str]:
    """Return the names without the names of former attributes of a class."""
    return [name for name in names if not isinstance(getattr(kind, name, None), FormerName)]
