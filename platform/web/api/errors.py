"""The API's responses to errors."""

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404
from django.utils.translation import gettext
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.views import exception_handler as rest_handler

from foundation.errors import DomainError
from foundation.monitoring import tracing
from web.api.format import error_body


def exception_handler(error: Exception, context: dict[str, Any]) -> Response | None:
    """Return the response to an expected error, or None for other exceptions."""
    if isinstance(error, DomainError):
        tracing.note_error(error)
        # Messages are in English; those for annotators have translations.
        translated = {name: gettext(sentence) for name, sentence in error.fields.items()}
        return _answer(error.status, error.code, gettext(error.message), translated)
    if isinstance(error, Http404):
        error = exceptions.NotFound()
    elif isinstance(error, PermissionDenied):
        error = exceptions.PermissionDenied()
    response = rest_handler(error, context)
    if response is None or not isinstance(error, exceptions.APIException):
        return response
    fields: dict[str, str] = {}
    if isinstance(error, exceptions.ValidationError):
        fields = _fields(error.detail)
        message = "; ".join(f"{name}: {text}" if name else text for name, text in fields.items())
        code = "invalid"
    else:
        message, code = str(error.detail), str(error.default_code)
    answer = _answer(response.status_code, code, message, fields)
    for header in ("WWW-Authenticate", "Retry-After"):
        if header in response.headers:
            answer[header] = response.headers[header]
    return answer


def _answer(status: int, code: str, message: str, fields: dict[str, str]) -> Response:
    return Response(error_body(code, message, fields), status=status)


def _fields(detail: Any, prefix: str = "") -> dict[str, str]:
    if isinstance(detail, dict):
        fields: dict[str, str] = {}
        for name, inner in detail.items():
            path = f"{prefix}.{name}" if prefix else str(name)
            fields.update(_fields(inner, "" if name == "non_field_errors" else path))
        return fields
    if isinstance(detail, list):
        if detail and isinstance(detail[0], dict | list):
            fields = {}
            for index, inner in enumerate(detail):
                fields.update(_fields(inner, f"{prefix}.{index}" if prefix else str(index)))
            return fields
        return {prefix: " ".join(str(inner) for inner in detail)}
    return {prefix: str(detail)}
