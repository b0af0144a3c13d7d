"""What goes with every answer, and domain errors as answers that a person can read."""

from collections.abc import Callable
from contextlib import suppress
from ipaddress import ip_address

from csp.constants import HEADER
from csp.utils import build_policy
from django.conf import settings
from django.core.exceptions import MiddlewareNotUsed
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from foundation.errors import DomainError


class ContentSecurityPolicyMiddleware:
    """Send the content security policy of the settings: one for all answers, so it is written out once."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response
        self.policy = build_policy()

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response.headers.setdefault(HEADER, self.policy)
        return response


class ProxyAddressMiddleware:
    """Take a visitor's address from a proxy that overwrites X-Forwarded-For: wrong passwords are counted by it."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        if not settings.BEHIND_PROXY:
            raise MiddlewareNotUsed
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        # The last one is the proxy's own word, should it add instead of overwrite.
        client_address = request.META.get("HTTP_X_FORWARDED_FOR", "").rpartition(",")[2].strip()
        with suppress(ValueError):  # the health check of the container asks directly
            request.META["REMOTE_ADDR"] = str(ip_address(client_address))
        return self.get_response(request)


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
