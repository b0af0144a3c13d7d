"""Parsing of API requests: JSON that the server can process and every database can store."""

from collections.abc import Mapping
from typing import IO, Any

from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser

# The deepest body of the API has six levels.
MAX_DEPTH = 40
_WHOLE_NUMBERS = range(-(2**63), 2**63)


class StorableJSONParser(JSONParser):
    """Refuses deep nesting, invalid text and integers beyond 64 bits with 400, because they would fail later."""

    def parse(
        self,
        stream: IO[bytes],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        try:
            body = super().parse(stream, media_type, parser_context)
        except RecursionError:
            raise _too_deep() from None
        check_storable(body)
        return body


def check_storable(body: object) -> None:
    """Raise ParseError if a JSON value cannot be stored."""
    level: list[object] = [body]
    for _ in range(MAX_DEPTH):
        deeper: list[object] = []
        for value in level:
            if isinstance(value, dict):
                deeper += value
                deeper += value.values()
            elif isinstance(value, list):
                deeper += value
            else:
                _check_plain(value)
        if not deeper:
            return
        level = deeper
    raise _too_deep()


def _check_plain(value: object) -> None:
    if isinstance(value, str):
        if "\0" in value or not _is_text(value):
            raise ParseError(
                "A text contains a NUL character or half of a surrogate pair, which cannot be stored."
            )
    elif isinstance(value, int) and value not in _WHOLE_NUMBERS:
        raise ParseError("A number in the request has more than 64 bits.")


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _too_deep() -> ParseError:
    return ParseError(f"The JSON is nested more than {MAX_DEPTH} levels deep.")
