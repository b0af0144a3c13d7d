"""Storing how requests ended, with one statement per row."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Any

from django.db import connection
from django.utils import timezone

from generation.answerers.base import Reply
from generation.models import Answer
from generation.models.probes import LONGEST_ANSWER

Outcome = Answer.Outcome
# What a reply tells, and what is copied if a later run reuses it.
RESULT_COLUMNS = (
    "outcome",
    "reason",
    "text",
    "finish_reason",
    "served_model",
    "fingerprint",
    "tokens_in",
    "tokens_out",
    "seconds",
    "provenance",
    "request_sha256",
)
_NOTHING = Decimal(0)


@dataclass(frozen=True)
class Ending:
    """How one request ended. `cost` is the amount to add to the reserved cost."""

    row: Answer
    reply: Reply
    sha256: str = ""
    seconds: float | None = None
    cost: Decimal = _NOTHING


def write_endings(endings: Sequence[Ending]) -> list[Ending]:
    """Write how requests ended; return the requests that were still pending. Other requests do not change."""
    now = timezone.now()
    all_fields = {field.name: field for field in Answer._meta.concrete_fields}
    fields = [all_fields[name] for name in (*RESULT_COLUMNS, "finished_at", "cost", "id")]
    statement = _statement()
    written = []
    with connection.cursor() as cursor:
        for ending in endings:
            values = (*_values(ending), now, ending.cost, ending.row.pk)
            cursor.execute(
                statement,
                [
                    field.get_db_prep_save(value, connection)
                    for field, value in zip(fields, values, strict=True)
                ],
            )
            if cursor.rowcount:
                written.append(ending)
    return written


def _values(ending: Ending) -> tuple[Any, ...]:
    reply = ending.reply
    return (
        reply.outcome,
        _stored(reply.reason)[:300],
        _stored(reply.text)[:LONGEST_ANSWER] if reply.outcome != Outcome.FAILED else "",
        _stored(reply.finish_reason)[:60],
        _stored(reply.served_model)[:200],
        _stored(reply.fingerprint)[:200],
        reply.tokens_in,
        reply.tokens_out,
        ending.seconds,
        reply.provenance,
        ending.sha256,
    )


def _stored(text: str) -> str:
    """Return a text that a database can store: without null characters and halves of surrogate pairs."""
    return text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")


# Building the statement for each row takes Django 15 times as long as the database needs to execute it.
@lru_cache(maxsize=1)
def _statement() -> str:
    columns = ", ".join(f"{name} = %s" for name in (*RESULT_COLUMNS, "finished_at"))
    table = connection.ops.quote_name(Answer._meta.db_table)
    return (
        f"UPDATE {table} SET {columns}, cost = cost + %s "  # noqa: S608
        f"WHERE id = %s AND outcome = '{Outcome.PENDING.value}'"
    )
