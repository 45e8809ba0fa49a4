"""The commands ``ddsc`` and ``python -m ddsc`` start the program that is installed with this package."""

from __future__ import annotations

import importlib.util
import os
import sys


def main() -> None:
    """Replace this process with the program, which is in the folder of the C module."""
    spec = importlib.util.find_spec("ddsc._core")
    folder = os.path.dirname((spec and spec.origin) or os.path.abspath(__file__))
    program = os.path.join(folder, "bin", "ddsc")
    if not os.path.exists(program):
        sys.exit(f"ddsc: this installation does not include the program ({program})")
    sys.stdout.flush()
    os.execv(program, ["ddsc", *sys.argv[1:]])


if __name__ == "__main__":
    main()
