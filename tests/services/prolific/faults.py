"""Faults that tests plant: for some calls, for a number of times, or for a share of them."""

import random
import secrets
from typing import Any

from tests.services.prolific.store import Store

# Of calls: answered with 429 or 502 before anything is done; or done, without a response until the client gives up,
# or with the connection closed at once. Of events: see `delivery`.
KINDS = {
    "429",
    "502",
    "502_after",
    "timeout_after",
    "closed_after",
    "late",
    "reordered",
    "duplicate",
    "forged",
}


class Faults:
    """The planted faults, stored with all other state."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._random = random.Random(11)

    def plant(
        self,
        call: str,
        kind: str,
        *,
        times: int | None = 1,
        share: float = 1.0,
        seconds: float = 1.0,
    ) -> None:
        """Plant a fault for a call (`*` for all): for the next `times` calls, None for all; `share` of them."""
        assert kind in KINDS, kind
        key = secrets.token_hex(8)
        fault = {"id": key, "call": call, "kind": kind, "times": times, "share": share, "seconds": seconds}
        self._store.put("fault", key, fault)

    def clear(self) -> None:
        for fault in self._store.all("fault"):
            self._store.delete("fault", fault["id"])

    def due(self, call: str) -> list[dict[str, Any]]:
        """Return the faults of this call, and count the call."""
        due = []
        with self._store.transaction():
            for fault in self._store.all("fault"):
                matches = fault["call"] == call or (fault["call"] == "*" and call != "event")
                if not matches or self._random.random() >= fault["share"]:
                    continue
                due.append(fault)
                if fault["times"] is not None:
                    fault["times"] -= 1
                    if fault["times"] > 0:
                        self._store.put("fault", fault["id"], fault)
                    else:
                        self._store.delete("fault", fault["id"])
        return due
