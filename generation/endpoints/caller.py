"""Calls to an endpoint: limits of time and size for an answer, and whether the request was sent."""

import socket
import ssl
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import Any

import httpx2
import openai

from foundation.errors import DomainError

# Events after which a connection can send a request: with encryption, the second follows the first.
_CONNECTED = ("connect_tcp.complete", "start_tls.complete")
_KEPT_SECONDS = 1.0  # servers keep a connection for two seconds or longer
_MOST_LATE = 0.5  # seconds by which a call may exceed its limit


class Call:
    """The state of a running or finished call."""

    def __init__(self, used_socket: socket.socket | None = None) -> None:
        self.sent = False  # completely: from now on it may have been executed
        self.timed_out = False
        self.began = time.monotonic()
        self.socket = used_socket  # the socket of the thread's last call, which may be reused

    def trace(self, event: str, info: Mapping[str, Any]) -> None:
        """Record events of the client."""
        if event.endswith(_CONNECTED):
            self.socket = info["return_value"].get_extra_info("socket")
            if self.timed_out:
                self._hang_up()
        elif event.endswith("send_request_body.complete"):
            self.sent = True

    def end(self) -> None:
        """Close the connection: with a limit for each read only, an answer could take forever."""
        self.timed_out = True
        self._hang_up()

    def _hang_up(self) -> None:
        if self.socket is not None:
            with suppress(OSError):
                # Shut down the plain socket, even with encryption: the reading thread then stops at once.
                socket.socket.shutdown(self.socket, socket.SHUT_RDWR)


class Caller:
    """Makes clients whose calls end after `seconds`, with answers of at most `limit` bytes.

    With `keep_alive` each thread keeps its connection for its next call, and `close` closes it.
    """

    def __init__(self, *, seconds: float, limit: int, keep_alive: bool = False) -> None:
        self._seconds = seconds
        self._limit = limit
        self._keep_alive = keep_alive
        self._of_thread = threading.local()  # each thread makes one call at a time
        self._clients: list[httpx2.Client] = []
        self._deadlines = _Deadlines(seconds)

    def client(self) -> httpx2.Client:
        """Return a client for any number of threads."""
        return openai.DefaultHttpxClient(
            follow_redirects=False,  # a redirect could send the key anywhere
            timeout=self._seconds,
            # A kept connection may be closed when it is used again: the request would seem sent but not answered. This
            # is unlikely shortly after its last use, and the connection is checked before it is used.
            limits=httpx2.Limits(
                max_keepalive_connections=1 if self._keep_alive else 0, keepalive_expiry=_KEPT_SECONDS
            ),
            event_hooks={"request": [self._before], "response": [self._bounded]},
            verify=_ssl_context(),
        )

    def own_client(self) -> httpx2.Client:
        """Return the client of this thread: a shared pool takes longer to find a free connection."""
        client: httpx2.Client | None = getattr(self._of_thread, "client", None)
        if client is None:
            client = self._of_thread.client = self.client()
            self._clients.append(client)
        return client

    def close(self) -> None:
        """Close kept connections; no call may be running."""
        for client in self._clients:
            client.close()

    @contextmanager
    def call(self) -> Iterator[Call]:
        """Watch the single call made inside the block."""
        last: Call | None = getattr(self._of_thread, "call", None)
        call = self._of_thread.call = Call(last.socket if last is not None and self._keep_alive else None)
        with self._deadlines.watch(call):
            yield call

    def _before(self, request: httpx2.Request) -> None:
        request.headers["Accept-Encoding"] = "identity"
        request.extensions = {**request.extensions, "trace": self._of_thread.call.trace}

    def _bounded(self, response: httpx2.Response) -> None:
        if response.headers.get("Content-Encoding", "identity") != "identity":
            # A small compressed answer could become huge.
            raise DomainError(
                "answer_encoded", "The endpoint's answer is compressed, although that was not requested."
            )
        response.stream = _LimitedStream(response.stream, self._limit)


class _Deadlines:
    """Ends calls that take too long. One thread watches all running calls."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._calls: set[Call] = set()
        self._lock = threading.Lock()
        self._watched = False

    @contextmanager
    def watch(self, call: Call) -> Iterator[None]:
        with self._lock:
            self._calls.add(call)
            starts = not self._watched
            self._watched = True
        if starts:
            threading.Thread(target=self._end_late_calls, name="deadlines", daemon=True).start()
        try:
            yield
        finally:
            with self._lock:
                self._calls.discard(call)

    def _end_late_calls(self) -> None:
        while True:
            time.sleep(min(_MOST_LATE, self._seconds / 20))
            with self._lock:
                if not self._calls:
                    self._watched = False
                    return
                latest = time.monotonic() - self._seconds
                late_calls = [call for call in self._calls if call.began <= latest and not call.timed_out]
            for call in late_calls:
                call.end()


@lru_cache(maxsize=1)
def _ssl_context() -> ssl.SSLContext:
    """Return the default context, cached: reading the certificates takes 20 ms for each client."""
    return httpx2.create_ssl_context()


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
