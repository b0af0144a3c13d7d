"""Stopping a worker: its job stops at the next step and returns to the queue."""

import threading

_asked = threading.Event()


def ask() -> None:
    """Stop the job of this process at its next step; another worker continues it."""
    _asked.set()


def asked() -> bool:
    return _asked.is_set()


def forget() -> None:
    """Clear the request to stop, for a process that runs another worker."""
    _asked.clear()
