"""Middleware: security headers, proxies, request ids, metrics, tracing and error pages."""

import re
import secrets
import time
from collections.abc import Callable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

from csp.constants import HEADER
from csp.utils import build_policy
from django.conf import settings
from django.core.exceptions import MiddlewareNotUsed
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from prometheus_client import Counter, Histogram

from foundation.errors import DomainError
from foundation.monitoring import tracing
from foundation.monitoring.counters import REGISTRY
from foundation.monitoring.log_context import REQUEST, context_of


class ContentSecurityPolicyMiddleware:
    """Send the content security policy of the settings, which is built once for all responses."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response
        self.policy = build_policy()

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response.headers.setdefault(HEADER, self.policy)
        return response


_FORWARDED = (
    "HTTP_FORWARDED",
    "HTTP_X_FORWARDED_FOR",
    "HTTP_X_FORWARDED_HOST",
    "HTTP_X_FORWARDED_PORT",
    "HTTP_X_FORWARDED_PROTO",
    "HTTP_X_REAL_IP",
    "HTTP_X_REQUEST_ID",
)
_REQUEST_ID = re.compile(r"[A-Za-z0-9-]{8,64}")


class TrustedProxyMiddleware:
    """Accept a visitor's address and scheme only from trusted proxies.

    Proxies append the address they see to X-Forwarded-For. From the end, the first address that is not a trusted
    proxy is the visitor's; the visitor may have forged everything before it.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response
        self.trusted: list[IPv4Network | IPv6Network] = settings.TRUSTED_PROXIES or []
        # If no proxies are configured, trust the scheme; otherwise, HTTPS=yes would redirect for ever.
        kept = {"HTTP_X_FORWARDED_PROTO"} if settings.TRUSTED_PROXIES is None else set()
        self.untrusted_headers = [name for name in _FORWARDED if name not in kept]

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if self._is_trusted(_address(request.META.get("REMOTE_ADDR", ""))):
            # A proxy reached over a socket, or its own health check, may send no address.
            visitor = self._visitor(request.META.get("HTTP_X_FORWARDED_FOR", ""))
            if visitor is not None:
                request.META["REMOTE_ADDR"] = str(visitor)
        else:
            for name in self.untrusted_headers:
                request.META.pop(name, None)
        return self.get_response(request)

    def _visitor(self, forwarded: str) -> IPv4Address | IPv6Address | None:
        visitor = None
        for text in reversed(forwarded.split(",")):
            address = _address(text)
            if address is None:
                break
            visitor = address
            if not self._is_trusted(address):
                break
        return visitor

    def _is_trusted(self, address: IPv4Address | IPv6Address | None) -> bool:
        return address is not None and any(address in network for network in self.trusted)


def _address(text: str) -> IPv4Address | IPv6Address | None:
    """Return the address in an item of X-Forwarded-For, without port, or None."""
    text = text.strip()
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        address = ip_address(text)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


class RequestIdMiddleware:
    """Put a request id, generated or from a trusted proxy, into the response headers and every log line."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        sent = request.META.get("HTTP_X_REQUEST_ID", "")
        request_id = sent if _REQUEST_ID.fullmatch(sent) else secrets.token_hex(8)
        with context_of(REQUEST, request_id):
            response = self.get_response(request)
        response.headers["X-Request-ID"] = request_id
        return response


_REQUESTS = Counter(
    "stereoscope_requests",
    "Number of answered requests, by URL pattern.",
    ["method", "route", "status"],
    registry=REGISTRY,
)
_DURATIONS = Histogram(
    "stereoscope_request_duration_seconds",
    "Time from a request to the beginning of the answer, by URL pattern.",
    ["method", "route"],
    registry=REGISTRY,
    buckets=(0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30),
)
_METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}


class RequestMetricsMiddleware:
    """Count and time requests for /metrics, by URL patterns such as `studies/<slug:study>/`."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        started = time.perf_counter()
        response = self.get_response(request)
        method, route = _method_and_route(request)
        _REQUESTS.labels(method, route, response.status_code).inc()
        _DURATIONS.labels(method, route).observe(time.perf_counter() - started)
        return response


def _method_and_route(request: HttpRequest) -> tuple[str, str]:
    """Return the method and URL pattern of a request; "other" for unknown ones.

    Clients may send any method and address. As labels, these would use memory permanently and reveal their content.
    """
    method = request.method if request.method in _METHODS else "other"
    route = request.resolver_match.route if request.resolver_match else "other"
    return str(method), str(route)


class TracingMiddleware:
    """Send a span of each request to OpenTelemetry, if configured."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        if not tracing.configured():
            raise MiddlewareNotUsed
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        with tracing.traced(server=True) as span:
            response = self.get_response(request)
            method, route = _method_and_route(request)
            span.name = f"{method} {route}"
            span.failed = response.status_code >= 500
            tracing.note("http.request.method", method)
            tracing.note("http.route", route)
            tracing.note("http.response.status_code", response.status_code)
            tracing.note("stereoscope.request", response.headers["X-Request-ID"])
        return response

    def process_exception(self, request: HttpRequest, exception: Exception) -> None:  # noqa: ARG002
        tracing.note_error(exception)


class HeadMiddleware:
    """Leave out the body of a response to HEAD. gunicorn would leave it out too, but log a warning for each request."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if request.method == "HEAD":
            if isinstance(response, StreamingHttpResponse):
                response.streaming_content = []
            elif isinstance(response, HttpResponse):
                response.content = b""
        return response


class NoNulMiddleware:
    """Remove NUL characters from the query, and cookies that contain them: PostgreSQL cannot store NUL in text.

    Form fields check forms and bodies, and path converters check paths.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        query = request.META.get("QUERY_STRING", "")
        # Repeat, because removing "%00" from "%0%000" leaves another.
        while "%00" in query or "\0" in query:
            query = request.META["QUERY_STRING"] = query.replace("%00", "").replace("\0", "")
        if "HTTP_COOKIE" in request.META:
            for name in [name for name, value in request.COOKIES.items() if "\0" in value]:
                del request.COOKIES[name]
        return self.get_response(request)


class DomainErrorMiddleware:
    """Turn an unhandled DomainError into an error page with its status and message."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        if not isinstance(exception, DomainError):
            return None
        tracing.note_error(exception)
        return error_page(request, exception)


def error_page(request: HttpRequest, error: DomainError) -> HttpResponse:
    return render(request, "web/error.html", {"error": error}, status=error.status)
