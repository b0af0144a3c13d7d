"""A proxy between Label Studio and us: it holds webhooks back, and forwards them on request."""

import http.client
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit


@dataclass(frozen=True)
class Kept:
    """A webhook as Label Studio sent it."""

    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Wire:
    """The address of our server for Label Studio."""

    target: str  # our real address
    url: str = ""
    kept: list[Kept] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)  # statuses of our responses

    def release(self, order: Iterable[int] | None = None) -> None:
        """Forward held webhooks, by their positions in order of arrival; by default all of them, once."""
        kept, self.kept = self.kept, []
        for place in range(len(kept)) if order is None else order:
            self.send(kept[place])

    def drop(self) -> None:
        self.kept = []

    def send(self, one: Kept) -> int:
        address = urlsplit(self.target)
        assert address.hostname is not None
        connection = http.client.HTTPConnection(address.hostname, address.port, timeout=30)
        try:
            connection.request("POST", one.path, one.body, one.headers)
            answer = connection.getresponse()
            answer.read()
        finally:
            connection.close()
        self.statuses.append(answer.status)
        return answer.status


@contextmanager
def wire_to(target: str) -> Iterator[Wire]:
    """Serve until the block ends."""
    wire = Wire(target)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            headers = {name: value for name, value in self.headers.items() if name.lower() != "host"}
            wire.kept.append(Kept(self.path, headers, body))
            self.send_response(202)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    wire.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield wire
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
