"""One call of an endpoint: how long and how large its answer may be, and whether it was sent at all."""

import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

import httpx2
import openai

from foundation.errors import DomainError

# Where a connection stands on which a request could be sent: with encryption, the second comes after the first.
_CONNECTED = ("connect_tcp.complete", "start_tls.complete")


class Call:
    """What is known of a call that is under way, or over."""

    def __init__(self) -> None:
        self.sent = False  # from here on the image may have been made
        self.timed_out = False
        self._socket: socket.socket | None = None

    def trace(self, event: str, info: Mapping[str, Any]) -> None:
        """Take note of what the client says it does."""
        if event.endswith(_CONNECTED):
            self._socket = info["return_value"].get_extra_info("socket")
            if self.timed_out:
                self._hang_up()
        elif event.endswith("send_request_headers.started"):
            self.sent = True

    def end(self) -> None:
        """Hang up: a limit for each read alone would let an answer trickle in for ever."""
        self.timed_out = True
        self._hang_up()

    def _hang_up(self) -> None:
        if self._socket is not None:
            with suppress(OSError):
                # Of the plain socket, also below encryption: the thread that reads from it is told so at once.
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)


class Caller:
    """Makes clients whose calls end after `seconds`, with answers of at most `limit` bytes."""

    def __init__(self, *, seconds: float, limit: int) -> None:
        self._seconds = seconds
        self._limit = limit
        self._current = threading.local()  # each thread has one call at a time

    def client(self) -> httpx2.Client:
        return openai.DefaultHttpxClient(
            follow_redirects=False,  # it could lead anywhere, with the key
            timeout=self._seconds,
            # A connection that was kept could be closed by the time it is used: sent, it would seem, and not answered.
            limits=httpx2.Limits(max_keepalive_connections=0),
            event_hooks={"request": [self._before], "response": [self._bounded]},
        )

    @contextmanager
    def call(self) -> Iterator[Call]:
        """Watch the one call that is made inside."""
        call = self._current.call = Call()
        timer = threading.Timer(self._seconds, call.end)
        timer.daemon = True
        timer.start()
        try:
            yield call
        finally:
            timer.cancel()

    def _before(self, request: httpx2.Request) -> None:
        request.headers["Accept-Encoding"] = "identity"
        request.extensions = {**request.extensions, "trace": self._current.call.trace}

    def _bounded(self, response: httpx2.Response) -> None:
        if response.headers.get("Content-Encoding", "identity") != "identity":
            # A small answer could become a huge one.
            raise DomainError(
                "answer_encoded", "The endpoint's answer is compressed, which was not asked for."
            )
        response.stream = _LimitedStream(response.stream, self._limit)


class _LimitedStream(httpx2.SyncByteStream):
    def __init__(self, stream: Any, limit: int) -> None:
        self._stream = stream
        self._limit = limit

    def __iter__(self) -> Iterator[bytes]:
        size = 0
        for chunk in self._stream:
            size += len(chunk)
            if size > self._limit:
                limit = self._limit / 1024 / 1024
                raise DomainError("answer_too_large", f"The endpoint's answer has more than {limit:.1f} MiB.")
            yield chunk

    def close(self) -> None:
        self._stream.close()
