"""A proxy between a Label Studio and us: it keeps webhooks back, and sends them on as it is told."""

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
    """Where Label Studio is told that we are."""

    target: str  # where we really are
    url: str = ""
    kept: list[Kept] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)  # what we answered

    def release(self, order: Iterable[int] | None = None) -> None:
        """Send on what was kept, by its places in the order it came; all of it, once, where nothing is said."""
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
