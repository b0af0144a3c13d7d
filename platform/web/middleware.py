"""What goes with every answer, and domain errors as answers that a person can read."""

import re
import secrets
from collections.abc import Callable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

from csp.constants import HEADER
from csp.utils import build_policy
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from foundation.errors import DomainError
from foundation.log_context import REQUEST, context_of


class ContentSecurityPolicyMiddleware:
    """Send the content security policy of the settings: one for all answers, so it is written out once."""

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
    """Take a visitor's address and scheme from trusted proxies, and from nobody else.

    Proxies append the address they see to X-Forwarded-For. Read from its end, the first address that is not of
    a trusted proxy is the visitor's; what stands before it is the visitor's own claim.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response
        self.trusted: list[IPv4Network | IPv6Network] = settings.TRUSTED_PROXIES or []
        # Where nothing is said of proxies the scheme is believed: without it HTTPS=yes would redirect for ever.
        kept = {"HTTP_X_FORWARDED_PROTO"} if settings.TRUSTED_PROXIES is None else set()
        self.untrusted_headers = [name for name in _FORWARDED if name not in kept]

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if self._is_trusted(_address(request.META.get("REMOTE_ADDR", ""))):
            # A proxy that was reached over a socket or asks by itself (a health check) may name nobody.
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
    """Return the address in a piece of X-Forwarded-For, without a port; None where there is none."""
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
    """Give each request an id, or keep that of a trusted proxy: in the answer's header and each line of the log."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        sent = request.META.get("HTTP_X_REQUEST_ID", "")
        request_id = sent if _REQUEST_ID.fullmatch(sent) else secrets.token_hex(8)
        with context_of(REQUEST, request_id):
            response = self.get_response(request)
        response.headers["X-Request-ID"] = request_id
        return response


class NoNulMiddleware:
    """Leave NUL characters out of the query and the cookies: PostgreSQL has no text with them, and nobody means one.

    Forms and bodies are checked by their fields, and paths by their converters.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        query = request.META.get("QUERY_STRING", "")
        # As often as it takes: without the middle of "%0%000", there is another.
        while "%00" in query or "\0" in query:
            query = request.META["QUERY_STRING"] = query.replace("%00", "").replace("\0", "")
        if "HTTP_COOKIE" in request.META:
            for name in [name for name, value in request.COOKIES.items() if "\0" in value]:
                del request.COOKIES[name]
        return self.get_response(request)


class DomainErrorMiddleware:
    """Turn a DomainError that no view handled into an error page with its status and sentence."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        if not isinstance(exception, DomainError):
            return None
        return render(request, "web/error.html", {"error": exception}, status=exception.status)
