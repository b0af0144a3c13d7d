"""The gallery of components, and the error pages."""

import sys

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.translation import gettext
from django.views import defaults

from web.api.format import error_body
from web.design.gallery import gallery_context


def gallery(request: HttpRequest) -> HttpResponse:
    """Show every component of the design system."""
    return render(request, "web/gallery.html", gallery_context())


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Return 404, below /api/ in the error format of the API, else as a page."""
    if request.path.startswith("/api/"):
        return JsonResponse(
            error_body("not_found", gettext("There is nothing at this address."), {}), status=404
        )
    return defaults.page_not_found(request, exception)


def server_error(request: HttpRequest) -> HttpResponse:
    """Return 503 while the database is unavailable, so that programs retry, else 500."""
    away = isinstance(sys.exc_info()[1], OperationalError | InterfaceError)
    if request.path.startswith("/api/"):
        code = "database_unavailable" if away else "server_error"
        message = gettext("The database does not answer. Send the same request again in a moment.")
        if not away:
            message = gettext("An error on the server stopped this request. The error has been logged.")
        response: HttpResponse = JsonResponse(error_body(code, message, {}), status=500)
    else:
        response = defaults.server_error(request, "503.html" if away else "500.html")
    if away:
        response.status_code = 503
        response["Retry-After"] = "1"
    return response
