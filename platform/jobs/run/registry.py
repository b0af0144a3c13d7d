"""Which function does a job of which kind."""

from collections.abc import Callable
from typing import Any

from foundation.errors import DomainError
from jobs.models import Job
from jobs.progress.reporter import Progress

# Given the job and a progress reporter; what it returns is stored as the job's result.
Handler = Callable[[Job, Progress], dict[str, Any] | None]

_handlers: dict[str, Handler] = {}


def register(kind: str) -> Callable[[Handler], Handler]:
    """Make the decorated function do jobs of `kind`. Put it in the `background` module of an app.

    A job may be killed at any point and done again: a handler does only what is missing. Its result may hold
    `summary` (a sentence), `lines` (more sentences) and `url` (where to look next); the job's page shows it.
    """

    def add(handler: Handler) -> Handler:
        if kind in _handlers:
            raise ValueError(f"two functions are registered for jobs of kind {kind!r}")
        _handlers[kind] = handler
        return handler

    return add


def handler_of(kind: str) -> Handler:
    """Return the function that does jobs of `kind`."""
    if kind not in _handlers:
        raise DomainError("job_kind_unknown", f"This server cannot run jobs of kind “{kind}”.")
    return _handlers[kind]
