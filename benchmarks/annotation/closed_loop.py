"""Simulated annotators that submit, receive the next task with the response, and submit again without thinking time.

All of them share one thread that waits for whichever socket is ready: the driver uses the same processors as the
server, so it does as little as possible. It keeps each connection, as a browser does.
"""

import json
import select
import selectors
import socket
import time
import uuid
from dataclasses import dataclass, field
from typing import Any

PATIENCE = 120.0  # seconds without any response, after which the server counts as dead


@dataclass
class Load:
    """The measurements of the annotators: seconds from each submission to its response, and errors."""

    latencies: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    acknowledged: list[tuple[float, str]] = field(default_factory=list)  # moment, and the submission's id
    elapsed: float = 0.0
    driver_seconds: float = 0.0  # processor time of the driver

    @property
    def rate(self) -> float:
        """Submissions per second."""
        return len(self.latencies) / self.elapsed if self.elapsed else 0.0

    @property
    def p95_ms(self) -> float:
        """Return the 95th percentile of the response times, in milliseconds."""
        ordered = sorted(self.latencies)
        return ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))] * 1000 if ordered else float("inf")


def drive(port: int, campaign: dict[str, Any], *, seconds: float) -> Load:
    """Label the campaign `made` for some seconds, or until no annotator gets another task."""
    measured = Load()
    annotators = [_Annotator(port, key) for key in campaign["keys"]]
    working = [annotator for annotator in annotators if annotator.begin(campaign["campaign"], measured)]
    started, used = time.perf_counter(), time.process_time()
    with selectors.DefaultSelector() as selector:
        for annotator in working:
            annotator.awake()
            selector.register(annotator.socket, selectors.EVENT_READ, annotator)
            annotator.submit()
        while selector.get_map():
            ready = selector.select(timeout=PATIENCE)
            if not ready:
                measured.errors.append(f"no answer for {PATIENCE:.0f} seconds")
                break
            for key, _ in ready:
                more = time.perf_counter() < started + seconds
                if not key.data.received(measured, more=more):
                    selector.unregister(key.data.socket)
    measured.elapsed = time.perf_counter() - started
    measured.driver_seconds = time.process_time() - used
    for annotator in annotators:
        annotator.socket.close()
    return measured


class _Annotator:
    """One connection, its current task, and the response that it waits for."""

    def __init__(self, port: int, key: str) -> None:
        self.port = port
        self.socket = self._connected()
        self.head = (
            f"Host: 127.0.0.1\r\nAuthorization: Bearer {key}\r\nContent-Type: application/json\r\n"
        ).encode()
        self.task: dict[str, Any] | None = None
        self.buffer = b""
        self.sent_at = 0.0
        self.submission_id = ""

    def _connected(self) -> socket.socket:
        connected = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connected

    def awake(self) -> None:
        """Reconnect if the server closed the connection while the others began."""
        if select.select([self.socket], [], [], 0)[0]:
            self.socket.close()
            self.socket = self._connected()

    def begin(self, campaign: int, measured: Load) -> bool:
        """Request the first task; return whether there is one."""
        self.awake()
        self._send(f"/api/v1/campaigns/{campaign}/next", {})
        while (answer := self._receive()) is None:
            pass
        status, self.task = answer
        if status not in (200, 204):
            measured.errors.append(f"next {status}: {self.task}")
        return status == 200

    def submit(self) -> None:
        assert self.task is not None
        ref = self.task["attributes"][0]["ref"]
        box = {"attribute": ref, "x": 0.1, "y": 0.2, "width": 0.3, "height": 0.4}
        answer = {"ticked": [ref], "boxes": [box], "none_of_the_above": False}
        self.submission_id = str(uuid.uuid4())
        body = {"submission_id": self.submission_id, "answer": answer, "active_seconds": 0.01}
        self.sent_at = time.perf_counter()
        self._send(f"/api/v1/assignments/{self.task['assignment']}/submit", body)

    def received(self, measured: Load, *, more: bool) -> bool:
        """Receive data; after a complete response submit the next answer. Return whether to continue."""
        try:
            answer = self._receive()
        except OSError as error:
            measured.errors.append(repr(error))
            return False
        if answer is None:
            return True
        measured.latencies.append(time.perf_counter() - self.sent_at)
        status, saved = answer
        if status != 200 or saved["status"] != "accepted":
            measured.errors.append(f"submit {status}: {saved}")
            return False
        measured.acknowledged.append((time.time(), self.submission_id))
        self.task = saved["next"]
        if self.task is None or not more:
            return False
        self.submit()
        return True

    def _send(self, path: str, body: object) -> None:
        sent = json.dumps(body).encode()
        start = f"POST {path} HTTP/1.1\r\n".encode()
        self.socket.sendall(start + self.head + b"Content-Length: %d\r\n\r\n" % len(sent) + sent)

    def _receive(self) -> tuple[int, Any] | None:
        """Return status and content of a response, or None while it is incomplete."""
        more = self.socket.recv(65536)
        if not more:
            raise ConnectionError("the server closed the connection")
        self.buffer += more
        head, end, content = self.buffer.partition(b"\r\n\r\n")
        if not end:
            return None
        _, header, length = head.lower().partition(b"\r\ncontent-length:")
        if len(content) < (int(length.split(b"\r\n", 1)[0]) if header else 0):
            return None
        self.buffer = b""
        return int(head[9:12]), json.loads(content) if content else None
