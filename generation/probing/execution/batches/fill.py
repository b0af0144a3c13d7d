"""Filling a batch: its questions are paid and stored, and written to the file that is uploaded."""

import json
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import IO

from django.db import connection, transaction

from generation.answerers.chat import ChatAnswerer
from generation.endpoints.batches import PATH
from generation.models import Answer, BatchRequest, ProbeBatch
from generation.probing.budget import Payment, Purse, add_cost
from generation.probing.execution.backlog import RequestBacklog
from generation.probing.requests import PlannedRequest, RequestBuilder
from jobs.progress.reporter import Progress

MOST_BYTES = 180_000_000  # endpoints accept files of 200 MB
_PIECE = 500  # rows that are written in one transaction
_AROUND = 600  # bytes of a line in addition to its words and its picture
_PREFIX = "answer-"


def fill(batch: ProbeBatch, backlog: RequestBacklog, purse: Purse, *, most: int, progress: Progress) -> bool:
    """Put questions into a batch until it is full or none is left; return whether the budget covered all."""
    size = count = 0
    if batch.under_way.exists():
        return True  # its worker was killed while filling it: the existing rows are the batch
    while count < most and size < MOST_BYTES:
        progress.check_cancelled()
        requests: list[PlannedRequest] = []
        while len(requests) < min(_PIECE, most - count) and size < MOST_BYTES:
            request = backlog.take(paid=purse.paid)
            if request is None:
                break
            requests.append(request)
            size += _bytes_of(request)
        if not requests:
            return True
        with transaction.atomic():
            payments = purse.pay(requests)
            _write(batch, payments)
        for request in reversed(requests[len(payments) :]):
            backlog.put_back(request)
        if len(payments) < len(requests):
            return False
        count += len(payments)
    return True


def write_file(
    batch: ProbeBatch, builder: RequestBuilder, model: ChatAnswerer, *, new_limit: bool, file: IO[bytes]
) -> None:
    """Write the lines of a batch. They depend only on its rows, so that they are the same after a kill."""
    for row in _rows(batch):
        request = builder.build([row], paid=True).request
        line = {
            "custom_id": f"{_PREFIX}{row.pk}",
            "method": "POST",
            "url": PATH,
            "body": model.batch_body(request, new_limit=new_limit),
        }
        file.write(json.dumps(line).encode() + b"\n")


def key_of(custom_id: str) -> int | None:
    """Return the key of the answer for a line; None for a line that is not ours."""
    number = custom_id.removeprefix(_PREFIX)
    return int(number) if number.isascii() and number.isdigit() and len(number) < 19 else None


def release(batch: ProbeBatch, requests: Sequence[BatchRequest]) -> None:
    """Remove requests from a batch that were certainly not asked: they cost nothing and are pending again."""
    by_amount: dict[Decimal, list[Answer]] = {}
    for request in requests:
        by_amount.setdefault(request.reserved, []).append(request.answer)
    with transaction.atomic():
        for amount, rows in by_amount.items():
            if amount:
                add_cost(rows, -amount)
        batch.under_way.filter(pk__in=[request.pk for request in requests]).delete()


def _write(batch: ProbeBatch, payments: Sequence[Payment]) -> None:
    rows = [(payment.request.rows[0], payment) for payment in payments]
    BatchRequest.objects.bulk_create(
        [BatchRequest(batch=batch, answer=row, reserved=payment.reserved) for row, payment in rows]
    )
    table = connection.ops.quote_name(Answer._meta.db_table)
    with connection.cursor() as cursor:
        cursor.executemany(
            f"UPDATE {table} SET request_sha256 = %s WHERE id = %s",  # noqa: S608
            [(payment.request.sha256s[0], row.pk) for row, payment in rows],
        )


def _rows(batch: ProbeBatch) -> Iterator[Answer]:
    """Yield the rows of a batch in order, so that a picture is read once for all questions about it."""
    last_key = 0
    while True:
        rows = list(
            Answer.objects.filter(batch_request__batch=batch, pk__gt=last_key)
            .order_by("pk")
            .select_related("image__group", "descriptor")[:_PIECE]
        )
        yield from rows
        if not rows:
            return
        last_key = rows[-1].pk


def _bytes_of(request: PlannedRequest) -> int:
    question = request.request
    picture = len(question.picture.data) * 4 // 3 if question.picture else 0
    return 2 * len((question.system + question.prompt).encode()) + picture + _AROUND
