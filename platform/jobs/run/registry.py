"""The registry of job kinds and their handlers."""

from collections.abc import Callable
from functools import cache
from typing import Any

from django.utils.module_loading import autodiscover_modules

from foundation.errors import DomainError
from jobs.models import Job
from jobs.progress.reporter import Progress

# Called with the job and a progress reporter; the return value is stored as the job's result.
Handler = Callable[[Job, Progress], dict[str, Any] | None]

_handlers: dict[str, Handler] = {}


def register(kind: str) -> Callable[[Handler], Handler]:
    """Register the decorated function, in the `background` module of an app, as handler of jobs of `kind`.

    A job may be killed at any point and run again, so a handler must skip what is done. Its result may contain
    `summary` (a sentence), `lines` (more sentences) and `url` (the next page to see), shown on the job's page.
    """

    def add(handler: Handler) -> Handler:
        if kind in _handlers:
            raise ValueError(f"two functions are registered for jobs of kind {kind!r}")
        _handlers[kind] = handler
        return handler

    return add


@cache
def load() -> None:
    """Import the modules named `background`, in which apps register their kinds of jobs.

    Web servers and workers call this when they start. Most commands run no jobs and start faster without these modules.
    """
    autodiscover_modules("background")


def handler_of(kind: str) -> Handler:
    """Return the handler of jobs of `kind`; raise DomainError if there is none."""
    load()
    if kind not in _handlers:
        raise DomainError("job_kind_unknown", f"This server cannot run jobs of kind “{kind}”.")
    return _handlers[kind]
