"""Spans for OpenTelemetry: duration, route or kind, and outcome of each request and job, without content.

Nothing is imported or timed unless OTEL_EXPORTER_OTLP_ENDPOINT is set. Spans contain only attributes added by `note`
and `note_error`: constants of the code, ids of requests and jobs, and numbers.
"""

import atexit
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import connection

from foundation.errors import code_of, type_of

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer

_SECONDS_TO_SEND = 5
_SECONDS_TO_END = 2


@dataclass
class OpenSpan:
    """The data of a running request or job."""

    name: str = ""
    failed: bool = False
    attributes: dict[str, str | int | float] = field(default_factory=dict)
    query_count: int = 0
    query_seconds: float = 0.0

    def time_query(self, execute: Callable[..., Any], *query: Any) -> Any:
        """Count a database query and its time, without its text and values."""
        began = time.perf_counter()
        try:
            return execute(*query)
        finally:
            self.query_count += 1
            self.query_seconds += time.perf_counter() - began


_OPEN: ContextVar[OpenSpan | None] = ContextVar("span", default=None)
_lock = threading.Lock()
_tracer: "Tracer | None" = None


def configured() -> bool:
    """Return whether spans are sent: the endpoint is set and the packages are installed."""
    return bool(settings.OTEL_EXPORTER_OTLP_ENDPOINT) and installed()


@cache
def installed() -> bool:
    """Return whether the packages that send spans are installed; this imports their parent packages."""
    try:
        return find_spec("opentelemetry.exporter.otlp.proto.http") is not None
    except ModuleNotFoundError:
        return False


@contextmanager
def traced(*, server: bool = False) -> Iterator[OpenSpan]:
    """Time the block as a span, which fails if an exception leaves the block."""
    span = OpenSpan()
    if not configured():
        yield span
        return
    token, began = _OPEN.set(span), time.time_ns()
    try:
        with connection.execute_wrapper(span.time_query):
            yield span
    except Exception as error:
        note_error(error)
        span.failed = True
        raise
    finally:
        _OPEN.reset(token)
        _send(span, began, server=server)


def note(name: str, value: str | int | float) -> None:
    """Add an attribute to the open span, if there is one."""
    if span := _OPEN.get():
        span.attributes[name] = value


def note_error(error: BaseException) -> None:
    """Add the type and code of an error to the open span."""
    note("error.type", type_of(error))
    if code := code_of(error):
        note("error.code", code)


def _send(span: OpenSpan, began: int, *, server: bool) -> None:
    """Queue a span for the sending thread; spans beyond the queue's capacity are dropped."""
    from opentelemetry.context import Context
    from opentelemetry.trace import SpanKind, StatusCode

    span.attributes |= {"db.queries": span.query_count, "db.seconds": round(span.query_seconds, 6)}
    sent = _tracer_of_process().start_span(
        span.name,
        context=Context(),
        kind=SpanKind.SERVER if server else SpanKind.CONSUMER,
        attributes=span.attributes,
        start_time=began,
        record_exception=False,
        set_status_on_exception=False,
    )
    if span.failed:
        sent.set_status(StatusCode.ERROR)
    sent.end()


def _tracer_of_process() -> "Tracer":
    """Return the tracer, created at the first span, because its thread would not survive a fork."""
    global _tracer
    with _lock:
        if _tracer is None:
            _tracer = _new_tracer()
        return _tracer


def _new_tracer() -> "Tracer":
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor
    from opentelemetry.util.re import parse_env_headers

    exporter = OTLPSpanExporter(
        f"{settings.OTEL_EXPORTER_OTLP_ENDPOINT.rstrip('/')}/v1/traces",
        headers=parse_env_headers(settings.OTEL_EXPORTER_OTLP_HEADERS, liberal=True),
        timeout=_SECONDS_TO_SEND,
    )
    processor = BatchSpanProcessor(exporter)
    resource = Resource.create({"service.name": settings.OTEL_SERVICE_NAME})
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    provider.add_span_processor(processor)

    def end() -> None:
        """Send waiting spans, for at most 2 s if the collector does not answer."""
        patience = threading.Timer(_SECONDS_TO_END, exporter.shutdown)
        patience.daemon = True
        patience.start()
        processor.shutdown()  # type: ignore[no-untyped-call]
        patience.cancel()

    atexit.register(end)
    return provider.get_tracer("stereoscope")
