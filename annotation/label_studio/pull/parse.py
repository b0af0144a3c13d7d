"""An annotation from Label Studio, in values that every database can store."""

import hashlib
import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, NamedTuple

import orjson

from annotation.label_studio.base import reasons
from annotation.label_studio.people.display_name import called, together

_LONGEST_USERNAME = 1_000  # its end, which contains the address, is read
_LARGEST = 2**63 - 1
_MOST_BYTES = 1_048_576  # of a result: more than a thousand boxes
# PostgreSQL stores no NUL character in JSON; after an even number of backslashes the escape is such a character.
_NUL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")
# Used if a time cannot be read, so that every reading writes the same row.
NO_MOMENT = datetime(9999, 1, 1, tzinfo=UTC)
_NO_JSON = "its result is not JSON that can be stored"
_TOO_LARGE = "its result is too large"
_NO_LIST = "its result is not a list"
_NO_DATE = "its date is missing"


class ParsedAnnotation(NamedTuple):
    """An annotation of Label Studio. `result` is a list, or the reason why it is not stored."""

    external_id: int
    external_task: int
    user: int | None
    name: str
    updated_by: int | None
    made_at: datetime
    changed_at: datetime
    cancelled: bool
    result: Any
    lead_time: float | None
    digest: str


def parse_annotation(raw: object) -> ParsedAnnotation | None:
    """Return the annotation in storable values, or None if it or its task has no number."""
    if not isinstance(raw, Mapping):
        return None
    number, task = _number(raw.get("id")), _number(_of(raw.get("task")))
    if number is None or task is None:
        return None
    person = raw.get("completed_by")
    created_at, changed = _moment(raw.get("created_at")), _moment(raw.get("updated_at"))
    result, text = _result(raw.get("result"))
    if created_at is None:
        created_at, (result, text) = NO_MOMENT, _refused(_NO_DATE)
    values: dict[str, Any] = {
        "external_task": task,
        "user": _number(_of(person)),
        "updated_by": _number(_of(raw.get("updated_by"))),
        "made_at": created_at,
        "changed_at": changed or created_at,
        "cancelled": raw.get("was_cancelled") is True,
        "lead_time": _seconds(raw.get("lead_time")),
    }
    content = orjson.dumps(values, option=orjson.OPT_SORT_KEYS) + text
    return ParsedAnnotation(
        external_id=number,
        name=_name(person, raw.get("created_username")),
        result=result,
        digest=hashlib.sha256(content).hexdigest(),
        **values,
    )


def _of(raw: object) -> object:
    return raw.get("id") if isinstance(raw, Mapping) else raw


def _number(raw: object) -> int | None:
    return raw if type(raw) is int and 0 < raw <= _LARGEST else None


def _seconds(raw: object) -> float | None:
    if isinstance(raw, bool) or not isinstance(raw, int | float):
        return None
    try:
        seconds = float(raw)
    except OverflowError:
        return None
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def _moment(raw: object) -> datetime | None:
    if not isinstance(raw, str) or len(raw) > 40:
        return None
    try:
        moment = datetime.fromisoformat(raw)
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        moment = moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return moment if 1900 <= moment.year < 9999 else None


def _result(raw: object) -> tuple[Any, bytes]:
    """Return the part of a result that is stored, and the same as text."""
    if not isinstance(raw, list):
        return _refused(_NO_LIST)
    try:
        content = orjson.dumps(raw, option=orjson.OPT_SORT_KEYS)
    except (TypeError, ValueError):  # half characters, huge numbers, lists that are nested too deeply
        return _refused(_NO_JSON)
    if len(content) > _MOST_BYTES:
        return _refused(_TOO_LARGE)
    if b"\\u0000" in content and _NUL.search(content):
        return _refused(_NO_JSON)
    return orjson.loads(content), content  # without values that JSON does not have, such as NaN


def _refused(reason: str) -> tuple[Any, bytes]:
    return reasons.instead_of_result(reason), reason.encode()


def _name(person: object, username: object) -> str:
    """Return the server's name of a user, by which leads recognise them."""
    if isinstance(person, Mapping):
        return called(person)
    return _kept(username[-_LONGEST_USERNAME:]) if isinstance(username, str) else ""


@lru_cache(maxsize=1_000)  # the same few names occur many times
def _kept(username: str) -> str:
    """Read “First Last address, number” without the number, which is stored separately."""
    name, _, initial = re.sub(r",\s*\d+\s*$", "", username).rstrip().rpartition(" ")
    if "@" in initial:
        return together(address=initial, name=name)
    return together(address="", name=f"{name} {initial}")
