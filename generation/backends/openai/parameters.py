"""What may be asked of an images endpoint, and of which endpoints."""

import re
from collections.abc import Mapping
from typing import Any

from django.conf import settings

from foundation.errors import DomainError

_SIZE = re.compile(r"^(auto|[1-9]\d{1,4}x[1-9]\d{1,4})$")
_WORD = re.compile(r"^[\w.-]{1,40}$")


def clean(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return all parameters, empty where the endpoint's own value holds."""
    unknown = sorted(
        set(parameters) - {"endpoint", "size", "quality", "style", "response_format", "send_seed"}
    )
    if unknown:
        raise _wrong(unknown[0], f"openai has no parameter “{unknown[0]}”.")
    said = {name: str(value).strip() for name, value in parameters.items() if value not in (None, "")}
    size = said.get("size", "")
    if size and not _SIZE.match(size):
        raise _wrong("size", f"The parameter size must be like 1024x1024, not “{size}”.")
    for name in ("quality", "style"):
        if said.get(name) and not _WORD.match(said[name]):
            raise _wrong(name, f"The parameter {name} must be one word, not “{said[name]}”.")
    answer_as = said.get("response_format", "")
    if answer_as not in {"", "b64_json", "url"}:
        raise _wrong("response_format", "The parameter response_format must be b64_json or url.")
    return {
        "endpoint": _endpoint(said.get("endpoint", "")),
        "size": size,
        "quality": said.get("quality", ""),
        "style": said.get("style", ""),
        "response_format": answer_as,
        "send_seed": _flag(said.get("send_seed", "no")),
    }


def _endpoint(url: str) -> str:
    """Return one of the endpoints that the operator allows: no lead can make this server talk to another host."""
    allowed = [one.rstrip("/") for one in settings.OPENAI_BASE_URLS]
    if not allowed:
        raise _wrong(
            "endpoint", "No endpoint is allowed; whoever operates this server sets OPENAI_BASE_URLS."
        )
    chosen = url.rstrip("/") or allowed[0]
    if chosen not in allowed:
        raise _wrong("endpoint", f"The endpoint “{url}” is not allowed here; there is {', '.join(allowed)}.")
    return chosen


def _flag(text: str) -> bool:
    words = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
    if text.lower() not in words:
        raise _wrong("send_seed", f"The parameter send_seed must be yes or no, not “{text}”.")
    return words[text.lower()]


def _wrong(name: str, message: str) -> DomainError:
    return DomainError("parameter_invalid", message, fields={name: message})
