"""What goes with every answer, and domain errors as answers that a person can read."""

from collections.abc import Callable

from csp.constants import HEADER
from csp.utils import build_policy
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from accounts.errors import DomainError


class ContentSecurityPolicyMiddleware:
    """Send the content security policy of the settings: one for all answers, so it is written out once."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response
        self.policy = build_policy()

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response.headers.setdefault(HEADER, self.policy)
        return response


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
