"""Compiled modules for servers and workers, whatever the environment says."""

import os
import sys


def keep_bytecode() -> None:
    """Undo PYTHONDONTWRITEBYTECODE for this process and its children.

    Without compiled files every process compiles all its imports, so that replacing a killed worker takes seconds.
    """
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
