"""A chat endpoint in a separate process, which answers each request after the same time and counts requests.

    python -m benchmarks.generation.probing.chat_server SECONDS

prints its port. `GET /counts` returns how often and when each request came; `GET /restart` resets the counts.
"""

import asyncio
import json
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from benchmarks.web_server import ROOT

TOKENS = (20, 5)  # in and out, per answer


@dataclass(frozen=True)
class ChatServer:
    """A running server and its counts."""

    url: str

    def counts(self) -> "Counts":
        return Counts(**self._get("counts"))

    def restart(self) -> None:
        self._get("restart")

    def _get(self, name: str) -> Any:
        with urllib.request.urlopen(f"{self.url}/{name}", timeout=30) as answer:
            return json.load(answer)


@dataclass(frozen=True)
class Counts:
    """`requests`: number of times each came. `span`: seconds from the first request to the last answer."""

    requests: dict[str, int]
    connections: int
    span: float


@contextmanager
def chat_server(seconds: float) -> Iterator[ChatServer]:
    """Run a server until the block ends; each answer takes `seconds`."""
    process = subprocess.Popen(
        [sys.executable, "-m", __name__, str(seconds)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        yield ChatServer(f"http://127.0.0.1:{int(process.stdout.readline())}/v1")
    finally:
        process.kill()
        process.communicate()


class _Server:
    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._requests: Counter[str] = Counter()
        self._connections = 0
        self._first = self._last = 0.0

    async def serve(self) -> None:
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0, backlog=1000)
        print(server.sockets[0].getsockname()[1], flush=True)
        await server.serve_forever()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._connections += 1
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
                length = int(head.partition("content-length:")[2].partition("\r\n")[0] or 0)
                answer = await self._answer(head, await reader.readexactly(length))
                body = json.dumps(answer).encode()
                start = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
                writer.write(start.encode() + body)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # the client disconnected or was killed
        finally:
            writer.close()

    async def _answer(self, head: str, body: bytes) -> dict[str, object]:
        if head.startswith("get"):
            if "/restart" in head:
                self._requests.clear()
                self._first = 0.0
            return {
                "requests": self._requests,
                "connections": self._connections,
                "span": self._last - self._first,
            }
        asked = json.loads(body)
        self._first = self._first or time.monotonic()
        key = f"{asked['messages'][-1]['content']} {asked['seed']}"
        self._requests[key] += 1
        await asyncio.sleep(self._seconds)
        self._last = time.monotonic()
        message = {"role": "assistant", "content": f"[{key[-40:]}]"}
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "model": "talker-1",
            "system_fingerprint": "fp_1",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": TOKENS[0], "completion_tokens": TOKENS[1]},
        }


if __name__ == "__main__":
    asyncio.run(_Server(float(sys.argv[1])).serve())
