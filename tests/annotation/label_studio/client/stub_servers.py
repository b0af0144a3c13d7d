"""Small real HTTP servers that behave like a failing Label Studio, or like something else."""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

VERSION = {"release": "1.23.2"}


@dataclass
class Request:
    """A request as it was received."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


Answer = Callable[[BaseHTTPRequestHandler], None]


@dataclass
class Served:
    """A running server: its address and the requests received."""

    url: str
    requests: list[Request] = field(default_factory=list)


def says(content: object, *, status: int = 200, kind: str = "application/json", **headers: str) -> Answer:
    """Answer every request with this."""
    body = content if isinstance(content, bytes) else json.dumps(content).encode()

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        handler.send_header("Content-Type", kind)
        handler.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(body)

    return answer


def by_path(**answers: Answer) -> Answer:
    """Answer by the last word of the path."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        word = handler.path.partition("?")[0].rstrip("/").rpartition("/")[2]
        answers[word](handler)

    return answer


def silent(seconds: float) -> Answer:
    """Send nothing for this many seconds."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        time.sleep(seconds)
        handler.close_connection = True

    return answer


def trickling(seconds: float) -> Answer:
    """Answer one byte at a time, with short pauses."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "application/json")
        handler.end_headers()
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            handler.wfile.write(b" ")
            handler.wfile.flush()
            time.sleep(0.05)

    return answer


def endless(chunk: int = 1024 * 1024) -> Answer:
    """Answer for as long as the client reads."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "application/json")
        handler.end_headers()
        while True:
            handler.wfile.write(b" " * chunk)

    return answer


def hangs_up(handler: BaseHTTPRequestHandler) -> None:
    """Close the connection in the middle of an answer."""
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b"{")
    handler.close_connection = True


@contextmanager
def serving(answer: Answer) -> Iterator[Served]:
    """Serve on loopback until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = self.rfile.read(length)
            served.requests.append(Request(self.command, self.path, dict(self.headers), body))
            try:
                answer(self)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True

        do_POST = do_PATCH = do_DELETE = do_GET

        def log_message(self, format: str, *arguments: object) -> None:
            """Keep request lines out of the test output."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.block_on_close = False
    served = Served(f"http://127.0.0.1:{server.server_address[1]}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def nobody_listens() -> str:
    """Return an address at which nothing listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{taken.getsockname()[1]}"
