"""A real server of the images endpoint that answers by a script and records its requests."""

import base64
import io
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from PIL import Image as Picture


def png(colour=(10, 120, 200), size=(32, 32)) -> bytes:
    file = io.BytesIO()
    picture = Picture.new("RGB", size, colour)
    picture.paste("white", (0, 0, 4, 4))  # one colour throughout would be no image
    picture.save(file, "PNG")
    return file.getvalue()


def image(data: bytes | None = None, **more: Any) -> tuple[int, dict[str, str], dict[str, Any]]:
    """An answer with one image as base64."""
    encoded = base64.b64encode(png() if data is None else data).decode()
    return 200, {"x-request-id": "req-1"}, {"created": 1, "data": [{"b64_json": encoded, **more}]}


def refusal(status: int, code: str, message: str, **headers: str):
    return status, headers, {"error": {"code": code, "message": message, "type": "invalid_request_error"}}


@dataclass
class Drip:
    """Sends some bytes at once and others one by one, ten a second; then the connection is closed."""

    at_once: bytes = b""
    one_by_one: bytes = b""


@dataclass
class Endpoint:
    """`script` holds the next answers, used in order; then each answer is an image. A number is a wait in seconds.

    `respond`, where given, makes every answer instead. `keeps_connections`: whether connections are reused.
    """

    url: str = ""
    script: list[Any] = field(default_factory=list)
    asked: list[dict[str, Any]] = field(default_factory=list)
    files: dict[str, tuple[int, bytes] | Drip] = field(default_factory=dict)
    keys: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    respond: Callable[[dict[str, Any]], Any] | None = None
    keeps_connections: bool = False
    closes_silently: bool = False  # closes a connection without announcing it
    connections: int = 0

    def answer(self, body: dict[str, Any]) -> Any:
        if self.respond is not None:
            return self.respond(body)
        with self.lock:
            self.asked.append(body)
            number = len(self.asked)
            found = self.script.pop(0) if self.script else None
        # Pictures differ; otherwise the study would have the same one many times.
        return image(png((number % 256, number // 256, 7))) if found is None else found


class _Handler(BaseHTTPRequestHandler):
    endpoint: Endpoint
    protocol_version = "HTTP/1.1"

    def setup(self) -> None:
        super().setup()
        with self.endpoint.lock:
            self.endpoint.connections += 1

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.endpoint.keys.append(self.headers.get("Authorization", ""))
        answer = self.endpoint.answer(body)
        if isinstance(answer, int | float):
            time.sleep(answer)
            answer = image()
        if isinstance(answer, Drip):
            self._drip(answer)
            return
        status, headers, said = answer
        self._send(status, headers, said if isinstance(said, bytes) else json.dumps(said).encode())

    def do_GET(self) -> None:
        self.endpoint.keys.append(self.headers.get("Authorization", ""))
        found = self.endpoint.files.get(self.path, (404, b""))
        if isinstance(found, Drip):
            self._drip(found)
            return
        status, data = found
        self._send(status, {"Location": "http://127.0.0.1:1/"} if status == 302 else {}, data)

    def _drip(self, drip: Drip) -> None:
        self.close_connection = True
        try:
            self.wfile.write(drip.at_once)
            for byte in drip.one_by_one:
                self.wfile.write(bytes([byte]))
                time.sleep(0.1)
        except OSError:
            pass  # whoever asked has hung up

    def _send(self, status: int, headers: dict[str, str], data: bytes) -> None:
        try:
            self.send_response(status)
            for name, value in {"Content-Type": "application/json", **headers}.items():
                self.send_header(name.replace("_", "-"), value)
            self.send_header("Content-Length", str(len(data)))
            if not self.endpoint.keeps_connections:
                self.close_connection = True
                if not self.endpoint.closes_silently:
                    self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(data)
        except OSError:
            pass  # whoever asked has hung up

    def log_message(self, *_: Any) -> None: ...


@contextmanager
def images_endpoint() -> Iterator[Endpoint]:
    """Serve on a free port of this machine until the block ends."""
    endpoint = Endpoint()
    handler = type("Handler", (_Handler,), {"endpoint": endpoint})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    endpoint.url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield endpoint
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
