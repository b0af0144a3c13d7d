"""A server of the files and batches API in a separate process, which can be made to fail and counts its work.

    python -m tests.generation.endpoints.batch_server

prints its port. `POST /control` sets faults; `GET /state` returns the counts.
"""

import json
import subprocess
import sys
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

ROOT = Path(__file__).resolve().parents[3]
TOKENS = (20, 5)  # input and output tokens of every answer


@dataclass(frozen=True)
class BatchServer:
    """A running server."""

    url: str

    def control(self, **settings: Any) -> None:
        """Change the server's behaviour: see `_Behaviour`."""
        data = json.dumps(settings).encode()
        with urllib.request.urlopen(f"{self.url}/control", data, timeout=30):
            pass

    def state(self) -> dict[str, Any]:
        with urllib.request.urlopen(f"{self.url}/state", timeout=30) as answer:
            return json.load(answer)


@contextmanager
def batch_server(**settings: Any) -> Iterator[BatchServer]:
    """Serve until the block ends."""
    process = subprocess.Popen(
        [sys.executable, "-m", __name__],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        server = BatchServer(f"http://127.0.0.1:{int(process.stdout.readline())}/v1")
        server.control(**settings)
        yield server
    finally:
        process.kill()
        process.communicate()


class _Behaviour:
    """The server's state and faults.

    `faults`: by place (files, batches, content), what happens to the next calls: `taken` (executed, but the
    connection is closed), `lost` (not executed), `cut` (half of the content), or an HTTP status. `stall`: by
    place, seconds that a call waits after it was executed. `seconds`: how long a batch takes. `lines`: by the
    number of a request in its batch, its result: `error`, `filter`, `missing`, `double`, `odd`. `ends`: how the
    next batches end, such as `expired` or `failed`; `answered`: the share of a batch that is answered before it
    expires.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.faults: dict[str, list[Any]] = {}
        self.stall: dict[str, float] = {}
        self.seconds = 0.0
        self.lines: dict[str, str] = {}
        self.ends: list[str] = []
        self.answered = 0.5
        self.has_batches = True
        self.files: dict[str, tuple[str, bytes]] = {}
        self.batches: dict[str, dict[str, Any]] = {}
        self.ready: dict[str, float] = {}
        self.executed: Counter[str] = Counter()
        self.calls: Counter[str] = Counter()

    def state(self) -> dict[str, Any]:
        return {
            "files": [name for name, _ in self.files.values()],
            "batches": list(self.batches.values()),
            "executed": self.executed,
            "calls": self.calls,
        }

    def store(self, name: str, content: bytes) -> str:
        key = f"file-{len(self.files) + 1}"
        self.files[key] = name, content
        return key

    def create(self, body: dict[str, Any]) -> dict[str, Any]:
        key = f"batch_{len(self.batches) + 1}"
        self.batches[key] = {
            "id": key,
            "object": "batch",
            "endpoint": body["endpoint"],
            "completion_window": body["completion_window"],
            "created_at": 1,
            "input_file_id": body["input_file_id"],
            "metadata": body.get("metadata"),
            "status": "in_progress",
        }
        self.ready[key] = time.monotonic() + self.seconds
        return self.batches[key]

    def looked_at(self, key: str) -> dict[str, Any] | None:
        batch = self.batches.get(key)
        if batch is not None and batch["status"] == "in_progress" and time.monotonic() >= self.ready[key]:
            self._finish(batch)
        return batch

    def _finish(self, batch: dict[str, Any]) -> None:
        batch["status"] = self.ends.pop(0) if self.ends else "completed"
        if batch["status"] == "failed":
            batch["errors"] = {"object": "list", "data": [{"code": "x", "message": "Too many tokens wait."}]}
            return
        requests = [json.loads(line) for line in self.files[batch["input_file_id"]][1].splitlines()]
        until = len(requests) * self.answered if batch["status"] == "expired" else len(requests)
        output, errors = [], []
        for number, request in enumerate(requests):
            fault = self.lines.get(str(number), "") if number < until else "unasked"
            (errors if fault in ("error", "filter", "unasked") else output).extend(self._line(request, fault))
        batch["output_file_id"] = self.store("output", b"".join(output)) if output else None
        batch["error_file_id"] = self.store("errors", b"".join(errors)) if errors else None
        batch["request_counts"] = {"total": len(requests), "completed": len(output), "failed": len(errors)}

    def _line(self, request: dict[str, Any], fault: str) -> list[bytes]:
        line: dict[str, Any] = {"id": "r", "custom_id": request["custom_id"], "response": None, "error": None}
        if fault == "unasked":
            line["error"] = {"code": "batch_expired", "message": "The batch expired."}
            return [json.dumps(line).encode() + b"\n"]
        if fault == "missing":
            return []
        if fault in ("error", "filter"):
            error = {"message": "Not this.", "code": "content_policy_violation" if fault == "filter" else "x"}
            line["response"] = {"status_code": 400, "request_id": "q", "body": {"error": error}}
            return [json.dumps(line).encode() + b"\n"]
        seed = str(request["body"]["seed"])
        self.executed[seed] += 1
        choice = {
            "index": 0,
            "message": {"role": "assistant", "content": f"[{seed}]"},
            "finish_reason": "stop",
        }
        line["response"] = {
            "status_code": 200,
            "request_id": "q",
            "body": {
                "id": "c",
                "object": "chat.completion",
                "model": "talker-1",
                "choices": [choice],
                "usage": {"prompt_tokens": TOKENS[0], "completion_tokens": TOKENS[1]},
            },
        }
        whole = json.dumps(line).encode() + b"\n"
        return {"odd": [b"{not json\n", whole], "double": [whole, whole]}.get(fault, [whole])


class _Handler(BaseHTTPRequestHandler):
    behaviour: _Behaviour
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None: ...

    def do_GET(self) -> None:
        address = urlsplit(self.path)
        parts = address.path.removeprefix("/v1/").split("/")
        behaviour = self.behaviour
        if parts == ["state"]:
            self._json(behaviour.state())
            return
        with behaviour.lock:
            behaviour.calls[f"GET {parts[0]}"] += 1
            if not behaviour.has_batches:
                self._json({"error": {"message": "Not found."}}, 404)
            elif parts == ["files"]:
                files = [{"id": key, "filename": name, **_FILE} for key, (name, _) in behaviour.files.items()]
                self._listed(files, parse_qs(address.query))
            elif parts == ["batches"]:
                self._listed(list(behaviour.batches.values()), parse_qs(address.query))
            elif parts[0] == "batches":
                batch = behaviour.looked_at(parts[1])
                self._json(batch or {"error": {"message": "No such batch."}}, 200 if batch else 404)
            else:
                self._content(behaviour.files[parts[1]][1])

    def do_POST(self) -> None:
        data = self.rfile.read(int(self.headers["Content-Length"]))
        place = self.path.removeprefix("/v1/")
        behaviour = self.behaviour
        if place == "control":
            for name, value in json.loads(data).items():
                setattr(behaviour, name, value)
            self._json({})
            return
        with behaviour.lock:
            behaviour.calls[f"POST {place}"] += 1
            fault = behaviour.faults[place].pop(0) if behaviour.faults.get(place) else ""
            if isinstance(fault, int):
                self._json({"error": {"message": "Oops."}}, fault)
                return
            if fault == "lost":
                self.close_connection = True
                return
            if place == "files":
                key = behaviour.store(*_uploaded(data))
                answer = {"id": key, "filename": behaviour.files[key][0], **_FILE}
            else:
                answer = behaviour.create(json.loads(data))
        time.sleep(behaviour.stall.get(place, 0))
        if fault == "taken":
            self.close_connection = True
            return
        self._json(answer)

    def _content(self, content: bytes) -> None:
        behaviour = self.behaviour
        cut = behaviour.faults["content"].pop(0) if behaviour.faults.get("content") else ""
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[: len(content) // 2] if cut else content)
        self.close_connection = bool(cut)

    def _listed(self, items: list[dict[str, Any]], query: dict[str, list[str]]) -> None:
        """Return a page of a list, newest first, as endpoints do."""
        newest = items[::-1]
        after = query.get("after", [""])[0]
        keys = [item["id"] for item in newest]
        start = keys.index(after) + 1 if after else 0
        limit = int(query.get("limit", ["20"])[0])
        page = newest[start : start + limit]
        self._json(
            {
                "object": "list",
                "data": page,
                "has_more": start + limit < len(newest),
                "first_id": page[0]["id"] if page else None,
                "last_id": page[-1]["id"] if page else None,
            }
        )

    def _json(self, answer: Any, status: int = 200) -> None:
        data = json.dumps(answer).encode()
        try:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)
        except OSError:
            pass  # the client was killed


_FILE = {"object": "file", "bytes": 1, "created_at": 1, "purpose": "batch", "status": "processed"}


def _uploaded(data: bytes) -> tuple[str, bytes]:
    """Return the name and the content of the file in a form."""
    boundary = data.split(b"\r\n", 1)[0]
    for part in data.split(boundary):
        head, _, content = part.partition(b"\r\n\r\n")
        if b"filename=" in head:
            return head.split(b'filename="')[1].split(b'"')[0].decode(), content[:-2]
    raise ValueError("no file")


if __name__ == "__main__":
    _Handler.behaviour = _Behaviour()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    sys.stdout.write(f"{server.server_address[1]}\n")
    sys.stdout.flush()
    server.serve_forever()
