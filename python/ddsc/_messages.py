"""Converts messages of the library: options of the program are replaced by Python arguments."""

from __future__ import annotations

import re

# Prefixes of library messages about a set or settings that were passed as arguments.
_PREFIX = re.compile(r"(measures|(transform|text|read) settings|ddsc_\w+|gaussians|shapes|merges|report|verdict): ")
_PHRASES = {
    "overwriting was not requested": "pass overwrite=True to replace it",
    "--neighbors exact": "approximate=False",
    "ddsc text --paper": "read_text(..., paper=True)",
    "ddsc_update_run": "update",
}
_ARGUMENTS = {"tau": "n_neighbors", "threads": "n_jobs", "seed": "random_state", "neighbors": "approximate"}
# A command of the program, or an option with one of the values that messages recommend. Capitalized words such as
# COLUMN stand for any value.
_VALUES = "auto|always|cp1252|drop|general|h5ad|latin1|median|own|rank|robust|standard"
_OPTION = re.compile(rf"(ddsc [a-z]+ [^;,).]*)|(?<![^\s(])--([a-z][a-z-]*)(?: ({_VALUES}|\d+|[A-Z]+)\b)?")
_SAME = re.compile(r"(\w+) \(\1\)")


def _argument(found: "re.Match[str]") -> str:
    command, option, value = found.groups()
    if command:
        return str(command)
    name = option.replace("-", "_")
    if name == "precomputed":
        return 'metric="precomputed"'
    name = _ARGUMENTS.get(name, name)
    if not value:
        return name
    return f"{name}={value}" if value.isdigit() or value.isupper() else f'{name}="{value}"'


def in_python_terms(message: str) -> str:
    """Return a message in which options are replaced by arguments.

    >>> in_python_terms("a.npz: already exists; overwriting was not requested")
    'a.npz: already exists; pass overwrite=True to replace it'
    >>> in_python_terms("a--b.csv: encode it with the words of the model (ddsc text DOCS --vectors MODEL.npz)")
    'a--b.csv: encode it with the words of the model (ddsc text DOCS --vectors MODEL.npz)'
    >>> in_python_terms("specify the column (--id COLUMN), or use --normalize rank")
    'specify the column (id=COLUMN), or use normalize="rank"'
    """
    message = _PREFIX.sub("", message, count=1) if _PREFIX.match(message) else message
    for phrase, words in _PHRASES.items():
        message = message.replace(phrase, words)
    message = re.sub(r"\btau(?= = \d| \(--tau\))", "n_neighbors", message)
    return _SAME.sub(r"\1", _OPTION.sub(_argument, message))
