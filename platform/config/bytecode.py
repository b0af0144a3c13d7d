"""Servers and workers keep compiled modules, whatever the environment says."""

import os
import sys


def keep_bytecode() -> None:
    """Undo PYTHONDONTWRITEBYTECODE for this process and those it starts.

    Without compiled files every process compiles all it imports: a killed worker takes seconds to come back.
    """
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
