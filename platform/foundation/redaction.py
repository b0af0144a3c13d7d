"""Removal of secrets from logs and messages of jobs, which all members of the study can read."""

import logging
import os
import re
from functools import lru_cache
from pathlib import Path

from django.conf import settings

HIDDEN = "[hidden]"
_SECRET_NAME = re.compile(r"(KEY|KEY_ID|TOKEN|SECRET|PASSWORD|CREDENTIALS)(_FILE)?$")
# Shorter values could hide ordinary words.
_SHORTEST = 8
_PATTERNS = [
    (re.compile(r"(://[^/\s:@]*):[^/\s@]+@"), rf"\1:{HIDDEN}@"),
    (re.compile(r"(?i)\b(bearer|basic)\s+[\w.~+/=-]{8,}"), rf"\1 {HIDDEN}"),
    # JSON web tokens, with or without signature, and tokens of 40 hexadecimal digits in headers.
    (re.compile(r"\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?"), HIDDEN),
    (re.compile(r"(?i)\b(token)\s+[0-9a-f]{40}\b"), rf"\1 {HIDDEN}"),
    (re.compile(r"\b(?:sk|hf|ghp|glpat|xox[abp])[-_][\w-]{8,}"), HIDDEN),
    (re.compile(r"([?&](?:key|sig|signature)=)[^&\s'\"]{8,}"), rf"\1{HIDDEN}"),
    (
        re.compile(
            r"(?i)\b((?:api|access|secret)[_ -]?key|token|password)(['\"]?\s*[=:]\s*['\"]?)[^\s'\",;]{4,}"
        ),
        rf"\1\2{HIDDEN}",
    ),
]


# The query in a request line, as logged by servers: `"GET /path?query HTTP/1.1" 200`.
_QUERY = re.compile(r"\?[^\s\"]*")


class QueryFilter(logging.Filter):
    """Hides queries in request lines, because a panel's link contains the id of the person who opens it."""

    def filter(self, record: logging.LogRecord) -> bool:
        if isinstance(record.args, tuple):
            record.args = tuple(
                _QUERY.sub(f"?{HIDDEN}", part) if isinstance(part, str) else part for part in record.args
            )
        return True


def without_secrets(text: str) -> str:
    """Return `text` with this server's secrets, and text that looks like a secret, hidden."""
    for value in _own_secrets():
        text = text.replace(value, HIDDEN)
    for pattern, replacement in _PATTERNS:
        text = pattern.sub(replacement, text)
    return text


@lru_cache(maxsize=1)
def _own_secrets() -> tuple[str, ...]:
    secrets = {
        settings.SECRET_KEY,
        *settings.SECRET_KEY_FALLBACKS,
        settings.METRICS_TOKEN,
        settings.EMAIL_HOST_PASSWORD,
    }
    secrets.add(str(settings.DATABASES["default"].get("PASSWORD") or ""))
    for name, value in os.environ.items():
        if _SECRET_NAME.search(name):
            secrets.add(_content(value) if name.endswith("_FILE") else value)
    # The longest first, because one may be part of another.
    return tuple(sorted((value for value in secrets if len(value) >= _SHORTEST), key=len, reverse=True))


def _content(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return ""
