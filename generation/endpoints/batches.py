"""Files of requests that an endpoint answers within a day: uploading, submitting, checking and collecting."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, Literal, TypeVar

from foundation.errors import DomainError
from generation.endpoints.chat import ChatReply, read_reply
from generation.endpoints.connection import DECLINED, Connection, EndpointAddress, EndpointUnusable, Failure

if TYPE_CHECKING:
    from openai import OpenAI

Result = TypeVar("Result")
PATH: Literal["/v1/chat/completions"] = "/v1/chat/completions"
UNREACHABLE = "endpoint_failed"
_KEY = "stereoscope"  # of our entry in a batch's metadata
_JSON_BYTES = 8 << 20
_MOST_BYTES = 1 << 30  # of a file of answers
_LONGEST_LINE = 8 << 20
_SECONDS = 1_800  # for a file of 200 MB
_TRIES = 4
_LISTED = 100
_NO_BATCHES = frozenset({404, 405, 501})
_ENDED = frozenset({"completed", "expired", "cancelled", "failed"})
# Codes which mean that the endpoint never asked the model.
_NOT_ASKED = frozenset({"batch_expired", "batch_cancelled"})


class BatchUnanswered(DomainError):
    """The endpoint may have executed the request but did not confirm it: check before repeating."""


@dataclass(frozen=True)
class BatchStatus:
    """The status of a batch at an endpoint: `answered` counts the requests that ended."""

    state: str
    output_file: str = ""
    error_file: str = ""
    answered: int = 0
    problem: str = ""

    @property
    def ended(self) -> bool:
        return self.state in _ENDED


@dataclass(frozen=True)
class BatchLine:
    """The result of one request. `not_asked`: the batch ended before the model was asked."""

    custom_id: str
    reply: ChatReply | Failure
    not_asked: bool = False


class BatchClient:
    """The client for the batch protocol of one endpoint."""

    def __init__(self, address: EndpointAddress) -> None:
        purpose = "for batches"
        self._calls = Connection(address, limit=_JSON_BYTES, purpose=purpose, tries=_TRIES)
        self._files = Connection(address, limit=_MOST_BYTES, purpose=purpose, tries=_TRIES, seconds=_SECONDS)

    def require_batches(self) -> None:
        """Raise DomainError if the endpoint does not support batches."""
        try:
            self._read(self._calls, lambda client: client.batches.list(limit=1))
        except _Missing:
            raise DomainError(
                "batches_missing",
                f"The endpoint {self._calls.url} does not support batches. Run the command without --batch-endpoint.",
            ) from None

    def find_file(self, name: str) -> str:
        """Return the id of the file with that name; "" if there is none."""
        files = self._read(
            self._calls, lambda client: list(client.files.list(purpose="batch", limit=_LISTED))
        )
        return next((file.id for file in files if file.filename == name), "")

    def upload(self, name: str, content: IO[bytes]) -> str:
        """Upload a file of requests; return its id. Raises BatchUnanswered if it may be there without a
        confirmation."""

        def send(client: "OpenAI") -> str:
            content.seek(0)
            return client.files.create(file=(name, content), purpose="batch").id

        return self._made(self._files, send)

    def find_batch(self, key: str) -> str:
        """Return the id of the batch with our key in its metadata; "" if there is none."""
        batches = self._read(self._calls, lambda client: list(client.batches.list(limit=_LISTED)))
        return next((batch.id for batch in batches if (batch.metadata or {}).get(_KEY) == key), "")

    def create(self, file_id: str, key: str) -> str:
        """Create a batch from a file; return its id. Raises BatchUnanswered if it may have been created."""
        return self._made(
            self._calls,
            lambda client: (
                client.batches.create(
                    input_file_id=file_id,
                    endpoint=PATH,
                    completion_window="24h",
                    metadata={_KEY: key},
                    extra_headers={"Idempotency-Key": key},
                ).id
            ),
        )

    def status(self, batch_id: str) -> BatchStatus | None:
        """Return the status of a batch; None if the endpoint has no batch with that id."""
        try:
            batch = self._read(self._calls, lambda client: client.batches.retrieve(batch_id))
        except _Missing:
            return None
        counts, errors = batch.request_counts, batch.errors
        problems = [error.message or "" for error in (errors.data or [] if errors else [])]
        return BatchStatus(
            state=str(batch.status),
            output_file=batch.output_file_id or "",
            error_file=batch.error_file_id or "",
            answered=counts.completed + counts.failed if counts else 0,
            problem=self._calls.clear(" ".join(problems)),
        )

    def download(self, file_id: str, into: IO[bytes]) -> None:
        """Write the content of a file; nothing if the endpoint no longer has it."""

        def fetch(client: "OpenAI") -> None:
            into.seek(0)
            into.truncate()
            with (
                self._files.hanging_up(),
                client.files.with_streaming_response.content(file_id) as response,
            ):
                for part in response.iter_bytes():
                    into.write(part)

        try:
            self._read(self._files, fetch)
        except _Missing:
            into.truncate(0)
        into.seek(0)

    def lines(self, content: IO[bytes]) -> Iterator[BatchLine]:
        """Yield the result of each request; unreadable lines are left out."""
        while line := content.readline(_LONGEST_LINE):
            try:
                yield self._line(json.loads(line))
            except (LookupError, TypeError, ValueError, AttributeError):
                continue

    def close(self) -> None:
        """Close connections; no call may be running."""
        self._calls.close()
        self._files.close()

    def _line(self, line: Mapping[str, Any]) -> BatchLine:
        custom_id = str(line["custom_id"])
        error, response = line.get("error") or {}, line.get("response") or {}
        code = str(error.get("code") or "")
        status = int(response.get("status_code") or 0)
        if status == 200 and not error:
            try:
                return BatchLine(custom_id, read_reply(response["body"]))
            except (LookupError, TypeError, ValueError, AttributeError):
                reason = "The endpoint's answer is not a chat completion."
                return BatchLine(custom_id, Failure(reason, charged=True))
        error = error or (response.get("body") or {}).get("error") or {}
        code = code or str(error.get("code") or "")
        message = error.get("message")
        failure = Failure(
            self._calls.clear(
                f"The endpoint: {message}" if message else f"The endpoint answered with {status or code}"
            ),
            charged=False,
            declined=code in DECLINED,
            status=status or None,
            code=code,
        )
        return BatchLine(custom_id, failure, not_asked=code in _NOT_ASKED)

    def _read(self, connection: Connection, send: Callable[["OpenAI"], Result]) -> Result:
        """Return the result of a call that changes nothing at the endpoint."""
        answer = self._asked(connection, send, paid=False)
        if isinstance(answer, Failure):
            raise EndpointUnusable(UNREACHABLE, answer.reason, answered=answer.status)
        return answer

    def _made(self, connection: Connection, send: Callable[["OpenAI"], str]) -> str:
        answer = self._asked(connection, send, paid=True)
        if not isinstance(answer, Failure):
            return answer
        if answer.charged:
            raise BatchUnanswered(
                "batch_unanswered",
                f"{answer.reason} The endpoint may have accepted the batch anyway. Resume the run to check again.",
            )
        raise EndpointUnusable(UNREACHABLE, answer.reason, answered=answer.status)

    def _asked(
        self, connection: Connection, send: Callable[["OpenAI"], Result], *, paid: bool
    ) -> Result | Failure:
        try:
            answer = connection.ask(lambda: send(connection.client), paid=paid)
        except EndpointUnusable as error:
            if error.answered in _NO_BATCHES:
                raise _Missing(error.code, error.message) from None
            raise
        if isinstance(answer, Failure) and answer.status in _NO_BATCHES:
            raise _Missing(UNREACHABLE, answer.reason)
        return answer


class _Missing(DomainError):
    """The endpoint has nothing at that address."""
