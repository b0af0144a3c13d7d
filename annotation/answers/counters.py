"""Results of submissions, for /metrics: the state of the answer, or the code of the refusal."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, Protocol, TypeVar

from prometheus_client import Counter

from foundation.errors import DomainError
from foundation.monitoring.counters import REGISTRY

SUBMISSIONS = Counter(
    "stereoscope_submissions",
    "Answers that annotators sent, by status, or by the code of the refusal.",
    ["outcome"],
    registry=REGISTRY,
)


class HasStatus(Protocol):
    @property
    def status(self) -> str: ...


Arguments = ParamSpec("Arguments")
Saved = TypeVar("Saved", bound=HasStatus)


def counted(save: Callable[Arguments, Saved]) -> Callable[Arguments, Saved]:
    """Count how each call ends, after its transaction. An unexpected error is counted with its request, not here."""

    @wraps(save)
    def save_and_count(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Saved:
        try:
            saved = save(*args, **kwargs)
        except DomainError as refusal:
            SUBMISSIONS.labels(refusal.code).inc()
            raise
        SUBMISSIONS.labels(saved.status).inc()
        return saved

    return save_and_count
