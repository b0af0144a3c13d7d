"""A server that stores all requests, like Sentry or an OpenTelemetry collector: `python collector.py FOLDER`.

It prints its port. Each request becomes a file: its first line, its headers, and its decompressed body.
"""

import gzip
import json
import subprocess
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import Any

HEAD_END = b"\r\n\r\n"


def unpack(body: bytes, encoding: str) -> bytes:
    """Return a decompressed body; raises KeyError for an unknown encoding."""
    if encoding == "br":  # Sentry's client uses it if it is installed
        return bytes(import_module("brotli").decompress(body))
    return {"": bytes, "gzip": gzip.decompress, "deflate": zlib.decompress}[encoding](body)


@dataclass(frozen=True)
class Collector:
    """A running collector."""

    port: int
    folder: Path

    @property
    def settings(self) -> dict[str, str]:
        """Return the settings of a server that sends everything to this collector."""
        return {
            "SENTRY_DSN": f"http://key@127.0.0.1:{self.port}/1",
            "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{self.port}",
            "OTEL_EXPORTER_OTLP_HEADERS": "api-key=of-the-collector",
        }

    def received(self) -> bytes:
        """Return every received byte, decompressed."""
        return b"".join(file.read_bytes() for file in sorted(self.folder.glob("*.request")))

    def errors(self) -> list[dict[str, Any]]:
        """Return the events in Sentry's envelopes, which have a line about the envelope and two per item."""
        events = []
        for body in self._bodies("POST /api/1/envelope/"):
            lines = body.splitlines()[1:]
            for about, part in zip(lines[::2], lines[1::2], strict=True):
                assert json.loads(about)["type"] == "event"
                events.append(json.loads(part))
        return events

    def spans(self) -> list[Any]:
        """Return the spans of OpenTelemetry's exporter, after checking that each is of our service."""
        from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

        spans: list[Any] = []
        for body in self._bodies("POST /v1/traces"):
            for of_resource in ExportTraceServiceRequest.FromString(body).resource_spans:
                assert attributes_of(of_resource.resource)["service.name"] == "stereoscope"
                spans += (span for scope in of_resource.scope_spans for span in scope.spans)
        return spans

    def _bodies(self, first_words: str) -> Iterator[bytes]:
        for file in sorted(self.folder.glob("*.request")):
            head, _, body = file.read_bytes().partition(HEAD_END)
            if head.decode().startswith(first_words):
                yield body


def attributes_of(span: Any) -> dict[str, str | int | float]:
    """Return the attributes of a span or a resource as a dictionary."""
    values = {pair.key: pair.value for pair in span.attributes}
    return {key: getattr(value, value.WhichOneof("value")) for key, value in values.items()}


@contextmanager
def collector(folder: Path) -> Iterator[Collector]:
    """Run a collector until the block ends."""
    folder.mkdir()
    process = subprocess.Popen([sys.executable, __file__, str(folder)], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield Collector(int(process.stdout.readline()), folder)
    finally:
        process.kill()
        process.communicate()


def main(folder: Path) -> None:
    numbers = count(1)

    class Keep(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            plain = unpack(body, self.headers.get("Content-Encoding", ""))
            kept = folder / f"{next(numbers):05}.part"
            kept.write_bytes(f"{self.requestline}\r\n{self.headers}".strip().encode() + HEAD_END + plain)
            kept.rename(kept.with_suffix(".request"))
            self.send_response(200)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *arguments: object) -> None:
            """Nothing to say."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Keep) as server:
        sys.stdout.write(f"{server.server_port}\n")
        sys.stdout.flush()
        server.serve_forever()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
