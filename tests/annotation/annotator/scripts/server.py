"""A server on loopback with the real static files, the pages of a test, and answers that the test decides on."""

import json
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[4]
STATIC = (ROOT / "annotation" / "static", ROOT / "platform" / "web" / "static")
TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
PICTURE = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="400" height="400"><rect width="400" height="400"/></svg>'
)
EMPTY = "<!doctype html><title>A page</title>"


@dataclass(frozen=True)
class Reply:
    """A reply of the server; `body` is sent as JSON unless it is text."""

    status: int = 200
    body: Any = None
    location: str = ""


@dataclass(frozen=True)
class Received:
    """One POST as it arrived."""

    path: str
    body: dict[str, Any]
    csrf_token: str


def refusal(status: int, code: str = "refused", message: str = "This is refused.", **fields: str) -> Reply:
    """Return an error in the format of our API."""
    return Reply(status, {"error": {"code": code, "message": message, "fields": fields}})


class ScriptServer(ThreadingHTTPServer):
    """Serves until shut down. A POST without a reply in `replies` is dropped, as by a network failure."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        self.reset()

    def reset(self) -> None:
        self.pages: dict[str, str] = {}
        self.replies: deque[Reply | None] = deque()
        self.received: list[Received] = []
        self.ahead: dict[str, Any] = {}


class _Handler(BaseHTTPRequestHandler):
    """HTTP/1.0: connections are not reused, so the browser itself does not resend requests."""

    server: ScriptServer

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if path.startswith("/static/"):
            self._static(path.removeprefix("/static/"))
        elif path.startswith("/picture/"):
            self._send(200, TYPES[".svg"], PICTURE.encode())
        elif path.endswith("/ahead/"):
            self._send(200, "application/json", json.dumps(self.server.ahead).encode())
        else:
            self._send(200, "text/html", self.server.pages.get(path, EMPTY).encode())

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.received.append(Received(self.path, body, self.headers.get("X-CSRFToken", "")))
        reply = self.server.replies.popleft() if self.server.replies else None
        if reply is None:
            return
        text = isinstance(reply.body, str)
        content = reply.body if text else json.dumps(reply.body)
        content_type = "text/html" if text else "application/json"
        self._send(reply.status, content_type, content.encode(), location=reply.location)

    def log_message(self, *_: object) -> None:
        """Keep quiet."""

    def _static(self, name: str) -> None:
        file = next((folder / name for folder in STATIC if (folder / name).is_file()), None)
        if file is None:
            self._send(404, "text/plain", b"")
        else:
            self._send(200, TYPES[file.suffix], file.read_bytes())

    def _send(self, status: int, content_type: str, content: bytes, *, location: str = "") -> None:
        self.send_response(status)
        self.send_header("Content-Type", f"{content_type}; charset=utf-8")
        if location:
            self.send_header("Location", location)
        self.end_headers()
        if status != 204:
            self.wfile.write(content)


@contextmanager
def script_server() -> Iterator[ScriptServer]:
    """Run a server in a separate thread."""
    with ScriptServer() as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        yield server
        server.shutdown()
