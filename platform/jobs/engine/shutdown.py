"""A worker that is asked to end lets go of its job at the next step instead of finishing hours of work."""

import threading

_asked = threading.Event()


def ask() -> None:
    """Let the job of this process stop at its next step; another worker goes on with it."""
    _asked.set()


def asked() -> bool:
    return _asked.is_set()


def forget() -> None:
    """Work again: for a process in which one worker follows another."""
    _asked.clear()
