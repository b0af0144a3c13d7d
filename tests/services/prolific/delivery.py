"""Delivery of events to subscribers: signed, at least once, and with the faults that tests plant."""

import base64
import hashlib
import hmac
import json
import random
import secrets
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx

from tests.services.prolific.faults import Faults
from tests.services.prolific.states import WAITING, World

_MOST_TRIES = 12
_PAUSE = 0.02
_AT_ONCE = 8


class Delivery:
    """A thread that sends due events."""

    def __init__(self, world: World, faults: Faults) -> None:
        self._world, self._faults = world, faults
        self._client = httpx.Client(timeout=10, trust_env=False)
        self._senders = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="sender")
        self._under_way: set[str] = set()
        self._random = random.Random(7)
        self._stopped = threading.Event()

    def start(self) -> None:
        threading.Thread(target=self._run, daemon=True, name="events").start()

    def stop(self) -> None:
        """Send nothing more, except events being sent."""
        self._stopped.set()

    def _run(self) -> None:
        while not self._stopped.wait(_PAUSE):
            if not self._world.settings["hold_events"]:
                self.send_due()
        self._senders.shutdown(wait=False)

    def send_due(self) -> None:
        for event in self._world.store.all("event", parent=WAITING):
            if event["id"] not in self._under_way and event["due"] <= time.time():
                self._plan_faults(event)
                if event["due"] <= time.time():
                    self._under_way.add(event["id"])
                    self._senders.submit(self._send_due, event)

    def _send_due(self, event: dict[str, Any]) -> None:
        try:
            self.send(event)
        finally:
            self._under_way.discard(event["id"])

    def _plan_faults(self, event: dict[str, Any]) -> None:
        """Decide once for each event which faults it has."""
        if event["tries"] or event.get("planned"):
            return
        event["planned"] = True
        for fault in self._faults.due("event"):
            if fault["kind"] in {"late", "reordered"}:
                event["due"] = time.time() + fault["seconds"] * self._random.random()
            elif fault["kind"] == "duplicate":
                event["copies"] = 2
            elif fault["kind"] == "forged":
                event["forgery"] = True
        self._world.store.put("event", event["id"], event, parent=WAITING)

    def send(self, event: dict[str, Any], *, copies: int = 0) -> list[int]:
        """Send an event now; return the statuses of the responses, 0 for none."""
        if event.get("forgery"):
            body = {**event["body"], "status": "RETURNED"}
            self._post({**event, "id": secrets.token_hex(16), "body": body}, secret="forged")
        statuses = [self._post(event, secret=self._secret()) for _ in range(copies or event.get("copies", 1))]
        with self._world.store.transaction():
            stored = self._world.store.get("event", event["id"]) or event
            stored |= {name: event[name] for name in ("planned", "copies", "forgery") if name in event}
            stored["statuses"] += statuses
            stored["tries"] += 1
            acknowledged = any(200 <= status < 300 for status in statuses)
            if acknowledged:
                stored.setdefault("acknowledged_at", time.time())
            stored["done"] = acknowledged or stored["tries"] >= _MOST_TRIES
            stored["due"] = time.time() + self._world.settings["retry_seconds"] * stored["tries"]
            self._world.store.put("event", event["id"], stored, parent="" if stored["done"] else WAITING)
        return statuses

    def _secret(self) -> str:
        secret = self._world.store.get("secret", self._world.settings["workspace"])
        return secret["value"] if secret else ""

    def _post(self, event: dict[str, Any], *, secret: str) -> int:
        body = json.dumps(event["body"]).encode()
        timestamp = str(int(time.time()))
        digest = hmac.new(secret.encode(), timestamp.encode() + body, hashlib.sha256).digest()
        headers = {
            "Content-Type": "application/json",
            "X-Event-ID": event["id"],
            "X-Timestamp": str(int(event["created"])),
            "X-Prolific-Request-Timestamp": timestamp,
            "X-Prolific-Request-Signature": base64.b64encode(digest).decode(),
        }
        try:
            return self._client.post(event["target"], content=body, headers=headers).status_code
        except httpx.TransportError:
            return 0
