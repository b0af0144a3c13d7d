"""The process: `python -m tests.services.prolific.server --port 8099 --state prolific.sqlite`.

Prolific's calls are under `/api/v1/`; what tests do in the place of people, time and misfortune under `/_control/`.
"""

import argparse
import json
import re
import secrets
import sys
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.services.prolific.delivery import Delivery
from tests.services.prolific.faults import Faults
from tests.services.prolific.keys import Keys
from tests.services.prolific.schema import problem_of
from tests.services.prolific.states import Refused, World
from tests.services.prolific.store import Store

_ROUTES = [
    ("POST", r"studies/", "create_study"),
    ("POST", r"studies/predicted-recruitment-time/", "recruitment_time"),
    ("GET", r"studies/([^/]+)/", "study"),
    ("POST", r"studies/([^/]+)/transition/", "transition_study"),
    ("GET", r"submissions/", "submissions"),
    ("POST", r"submissions/bulk-approve/", "approve"),
    ("POST", r"submissions/bonus-payments/", "create_bonuses"),
    ("GET", r"submissions/([^/]+)/", "submission"),
    ("POST", r"submissions/([^/]+)/transition/", "transition_submission"),
    ("POST", r"bulk-bonus-payments/([^/]+)/pay/", "pay_bonuses"),
    ("POST", r"study-cost-calculator/", "cost"),
    ("POST", r"eligibility-count/", "eligible"),
    ("GET", r"reward-recommendations/", "reward_rates"),
    ("GET", r"workspaces/([^/]+)/balance/", "balance"),
    ("POST", r"hooks/secrets/", "create_secret"),
    ("GET", r"hooks/subscriptions/", "subscriptions"),
    ("POST", r"hooks/subscriptions/", "subscribe"),
    ("POST", r"hooks/subscriptions/([^/]+)/", "confirm"),
    ("DELETE", r"hooks/subscriptions/([^/]+)/", "unsubscribe"),
]


class Server:
    """Answers one call at a time, so that even after a fault each call is executed completely."""

    def __init__(self, state: Path) -> None:
        self.store = Store(state)
        self.world = World(self.store)
        self.faults = Faults(self.store)
        self.keys = Keys(self.store)
        self.delivery = Delivery(self.world, self.faults)
        self._stopped = threading.Event()

    def start(self) -> None:
        self.delivery.start()
        threading.Thread(target=self._tick, daemon=True, name="clock").start()

    def stop(self) -> None:
        """Stop the clock; events being sent still arrive."""
        self._stopped.set()
        self.delivery.stop()

    def _tick(self) -> None:
        while not self._stopped.wait(0.25):
            with self.store.transaction():
                self.world.tick()

    # Prolific's calls: (status, body, headers)

    def call(self, name: str, key: str, query: dict[str, str], body: Any) -> tuple[int, Any, dict[str, str]]:
        if problem := problem_of(name, body):
            raise Refused(400, problem)
        with self.store.transaction():
            return getattr(self, f"_{name}")(key, query, body)

    def _create_study(self, _key: str, _query: dict[str, str], body: Any) -> Any:
        return 201, self.world.create_study(body), {}

    def _study(self, key: str, _query: dict[str, str], _body: Any) -> Any:
        return 200, self.world.study(key), {}

    def _transition_study(self, key: str, _query: dict[str, str], body: Any) -> Any:
        return 200, self.world.transition_study(key, body["action"]), {}

    def _recruitment_time(self, _key: str, _query: dict[str, str], body: Any) -> Any:
        hours = round(body["total_available_places"] / 40, 1)
        words = f"about {hours} hours"
        return 200, {"precise_recruitment_time_hours": hours, "display_string": words, "limit_at": None}, {}

    def _submissions(self, _key: str, query: dict[str, str], _body: Any) -> Any:
        if "study" not in query:
            raise Refused(400, {"study": ["This field is required."]})
        page, size = int(query.get("page", "1")), int(query.get("page_size", "20"))
        return 200, self.world.submissions(query["study"], page, size), {}

    def _submission(self, key: str, _query: dict[str, str], _body: Any) -> Any:
        return 200, self.world.submission(key), {}

    def _approve(self, _key: str, _query: dict[str, str], body: Any) -> Any:
        self.world.approve(body["submission_ids"])
        return 200, {"message": "The request to bulk approve has been made successfully."}, {}

    def _transition_submission(self, key: str, _query: dict[str, str], body: Any) -> Any:
        return 200, self.world.transition_submission(key, body), {}

    def _create_bonuses(self, _key: str, _query: dict[str, str], body: Any) -> Any:
        return 201, self.world.create_bonuses(body["study_id"], body["csv_bonuses"]), {}

    def _pay_bonuses(self, key: str, _query: dict[str, str], _body: Any) -> Any:
        self.world.pay_bonuses(key)
        return 202, "The bonuses will be paid.", {}

    def _cost(self, _key: str, _query: dict[str, str], body: Any) -> Any:
        return 200, {"total_cost": self.world.cost(body["total_available_places"], body["reward"])}, {}

    def _eligible(self, _key: str, _query: dict[str, str], body: Any) -> Any:
        return 200, {"count": self.world.settings["eligible"] // (1 + len(body["filters"]))}, {}

    def _reward_rates(self, _key: str, query: dict[str, str], _body: Any) -> Any:
        least, good = (600, 900) if query.get("currency") == "GBP" else (800, 1200)
        rates = {"min_reward_per_hour": least, "recommended_reward_per_hour": good}
        return 200, [{"currency": query.get("currency"), **rates}], {}

    def _balance(self, key: str, _query: dict[str, str], _body: Any) -> Any:
        if key != self.world.settings["workspace"]:
            raise Refused(404, "No such workspace")
        return 200, self.world.balance(), {}

    def _create_secret(self, _key: str, _query: dict[str, str], body: Any) -> Any:
        workspace = body["workspace_id"]
        secret = {"id": workspace, "value": secrets.token_hex(32), "workspace_id": workspace}
        self.store.put("secret", workspace, secret)
        return 201, secret, {}

    def _subscriptions(self, _key: str, _query: dict[str, str], _body: Any) -> Any:
        rows = [row for row in self.store.all("subscription") if row["is_enabled"]]
        return 200, {"results": [_without(row, "hook_secret", "confirmed") for row in rows]}, {}

    def _subscribe(self, _key: str, _query: dict[str, str], body: Any) -> Any:
        if self.store.get("secret", body["workspace_id"]) is None:
            raise Refused(400, "Create a secret for the workspace first.")
        subscription = {"id": secrets.token_hex(12), "is_enabled": True, "confirmed": False, **body}
        subscription["hook_secret"] = secrets.token_hex(16)
        self.store.put("subscription", subscription["id"], subscription)
        shown = _without(subscription, "hook_secret", "confirmed")
        return 201, shown, {"X-Hook-Secret": subscription["hook_secret"]}

    def _confirm(self, key: str, _query: dict[str, str], body: Any) -> Any:
        subscription = self.store.get("subscription", key)
        if subscription is None or subscription["hook_secret"] != body["secret"]:
            raise Refused(400, "The secret is not the one of this subscription.")
        subscription["confirmed"] = True
        self.store.put("subscription", key, subscription)
        return 200, _without(subscription, "hook_secret", "confirmed"), {}

    def _unsubscribe(self, key: str, _query: dict[str, str], _body: Any) -> Any:
        self.store.delete("subscription", key)
        return 204, None, {}

    # Calls by tests

    def control(self, name: str, sent: dict[str, Any]) -> Any:
        if name == "send_held":
            return self._send_held(**sent)
        world = self.world
        verbs: dict[str, Callable[..., Any]] = {
            "configure": world.configure,
            "settings": lambda: world.settings,
            "move_clock": world.move_clock,
            "reserve": world.reserve,
            "start": world.start,
            "complete": world.complete,
            "give_back": world.give_back,
            "fault": self.faults.plant,
            "clear_faults": self.faults.clear,
            "ledger": self.store.ledger,
            "balance": world.balance,
            "documents": lambda kind: self.store.all(kind),
            "calls": lambda: self.store.all("call"),
            "signed_link": lambda submission, **changes: self.keys.signed_link(world, submission, **changes),
            "rotate_keys": self.keys.rotate,
            "lose_secret": lambda: self._create_secret("", {}, {"workspace_id": world.settings["workspace"]})[
                1
            ],
        }
        with self.store.transaction():
            return verbs[name](**sent)

    def _send_held(self, order: list[int] | None = None, copies: int = 1) -> list[list[int]]:
        """Send events that are held, by their positions in the order in which they happened."""
        events = [event for event in self.store.all("event") if not event["done"]]
        chosen = range(len(events)) if order is None else order
        return [self.delivery.send(events[place], copies=copies) for place in chosen]


def _without(row: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in names}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_: Server

    def _answer(self, method: str) -> None:
        address = urlsplit(self.path)
        length = int(self.headers.get("Content-Length") or 0)
        raw = self.rfile.read(length)
        query = {name: values[-1] for name, values in parse_qs(address.query).items()}
        try:
            body = json.loads(raw) if raw else None
            if address.path == "/_control/start_anew":
                self._write(200, start_anew(Path(body["state"])))
            elif address.path.startswith("/_control/"):
                result = self.server_.control(address.path.removeprefix("/_control/"), body or {})
                self._write(200, result)
            elif address.path == "/.well-known/study/jwks.json":
                self._write(200, self.server_.keys.public())
            else:
                self._call(method, address.path, query, body)
        except Refused as refusal:
            self._write(refusal.status, _error(refusal.status, refusal.detail))
        except (ValueError, KeyError, TypeError) as error:
            self._write(400, _error(400, f"{type(error).__name__}: {error}"))

    def _call(self, method: str, path: str, query: dict[str, str], body: Any) -> None:
        name, key = _route(method, path)
        server = self.server_
        if self.headers.get("Authorization") != f"Token {server.world.settings['token']}":
            raise Refused(401, "Authentication credentials were not provided.")
        faults = server.faults.due(name)
        kinds = {fault["kind"] for fault in faults}
        if "429" in kinds:
            wait = str(next(fault["seconds"] for fault in faults if fault["kind"] == "429"))
            return self._write(429, _error(429, "Request was throttled."), {"Retry-After": wait})
        if "502" in kinds:
            return self._write(502, None)
        status, answer, headers = server.call(name, key, query, body)
        if "timeout_after" in kinds:
            time.sleep(next(fault["seconds"] for fault in faults if fault["kind"] == "timeout_after"))
            self.close_connection = True
            return None
        if "closed_after" in kinds:
            self.close_connection = True
            return None
        if "502_after" in kinds:
            return self._write(502, None)
        return self._write(status, answer, headers)

    def _write(self, status: int, body: Any, headers: dict[str, str] | None = None) -> None:
        content = b"" if body is None and status in {204, 502} else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def do_GET(self) -> None:
        self._answer("GET")

    def do_POST(self) -> None:
        self._answer("POST")

    def do_DELETE(self) -> None:
        self._answer("DELETE")

    def log_message(self, format: str, *args: object) -> None: ...


def _route(method: str, path: str) -> tuple[str, str]:
    for verb, pattern, name in _ROUTES:
        match = re.fullmatch(f"/api/v1/{pattern}", path)
        if match and verb == method:
            return name, match[1] if match.groups() else ""
    raise Refused(404, "Not found.")


def _error(status: int, detail: Any) -> dict[str, Any]:
    return {"error": {"status": status, "error_code": 140000 + status, "title": "Error", "detail": detail}}


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print the error, unless the client was killed."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


def start_anew(state: Path) -> None:
    """Continue with the state in another file, for another test."""
    Handler.server_.stop()
    Handler.server_ = Server(state)
    Handler.server_.start()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--state", type=Path, required=True)
    options = parser.parse_args()
    server = Server(options.state)
    Handler.server_ = server
    listener = _Listener(("127.0.0.1", options.port), Handler)
    server.start()
    options.state.with_suffix(".port").write_text(str(listener.server_address[1]))
    listener.serve_forever()


if __name__ == "__main__":
    main()
