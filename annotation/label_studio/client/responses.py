"""Interpreting responses from Label Studio: status, error message, content."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import orjson

from annotation.label_studio.client import errors as client_errors
from annotation.label_studio.client.sanitize import storable
from foundation.redaction import HIDDEN, without_secrets

if TYPE_CHECKING:
    import httpx

_NAMES = {"projects": "such project", "tasks": "such task", "webhooks": "such webhook"}
_LONGEST_DETAIL = 300
# Maximum length of a quoted error message.
_DEEPEST, _MOST_WORDS = 4, 20


def check(response: httpx.Response, *, place: str, token: str) -> None:
    """Accept a successful answer; raise the Trouble that another answer reports."""
    status = response.status_code
    if status < 300:
        if status != 204 and not _says_json(response):
            raise client_errors.garbage(place)
        return
    if status < 400:
        raise client_errors.sent_elsewhere(place, _host(response.headers.get("Location", "")))
    if status >= 500:
        raise client_errors.server_error(place, status)
    if status in (408, 425, 429):
        raise client_errors.busy(place)
    body = _said(response)
    if body is None:
        # Label Studio reports errors as JSON; this answer comes from a proxy or another program.
        raise client_errors.no_label_studio(place)
    if status == 401:
        detail = str(body.get("detail", ""))
        raise (
            client_errors.legacy_tokens_off(place) if "legacy" in detail else client_errors.token_wrong(place)
        )
    if status == 403:
        raise client_errors.forbidden(place, _detail(body, token))
    if status == 404:
        raise client_errors.no_longer_there(_what(str(response.request.url)))
    raise client_errors.refused(_detail(body, token))


def content(response: httpx.Response, *, place: str) -> Any:
    """Return the contents of the answer."""
    try:
        return orjson.loads(response.content)
    except orjson.JSONDecodeError:
        raise client_errors.garbage(place) from None


def _says_json(response: httpx.Response) -> bool:
    return (
        str(response.headers.get("Content-Type", "")).partition(";")[0].strip().lower() == "application/json"
    )


def _said(response: httpx.Response) -> dict[str, Any] | None:
    try:
        body = orjson.loads(response.content)
    except orjson.JSONDecodeError:
        return None
    return body if isinstance(body, dict) else {"detail": str(body)}


def _what(url: str) -> str:
    parts = urlsplit(url).path.split("/")
    return next((name for part, name in _NAMES.items() if part in parts), "such thing")


def _detail(body: dict[str, Any], token: str) -> str:
    errors = body.get("validation_errors")
    words = _words(errors or body.get("detail") or "no reason given")
    # The message may repeat what was sent.
    return storable(without_secrets(words.replace(token, HIDDEN)), longest=_LONGEST_DETAIL)


def _words(errors: Any, depth: int = 0) -> str:
    if not isinstance(errors, dict | list):
        return str(errors)
    if depth == _DEEPEST:
        return "…"
    if isinstance(errors, list):
        return ", ".join(_words(error, depth + 1) for error in errors[:_MOST_WORDS])
    listed = islice(errors.items(), _MOST_WORDS)
    return "; ".join(f"{name}: {_words(error, depth + 1)}" for name, error in listed)


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
