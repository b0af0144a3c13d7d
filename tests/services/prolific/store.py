"""The state of the stand-in, in an SQLite file that survives its process."""

import json
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_TABLES = """
create table if not exists documents (
    kind text not null, id text not null, parent text not null default '', body text not null, primary key (kind, id)
);
create index if not exists by_parent on documents (kind, parent);
create table if not exists ledger (
    id integer primary key, what text not null, submission text not null default '', batch text not null default '',
    amount integer not null, fees integer not null, at real not null
);
"""


class Store:
    """Documents by kind and id, and a ledger of payments. One writer at a time."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=30)
        self._connection.execute("pragma journal_mode = wal")
        self._connection.executescript(_TABLES)
        self._lock = threading.RLock()
        self._depth = 0

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit all changes of the block, or none if it raises."""
        with self._lock:
            if self._depth == 0:
                self._connection.execute("begin immediate")
            self._depth += 1
            try:
                yield
            except BaseException:
                if self._depth == 1:
                    self._connection.execute("rollback")
                raise
            else:
                if self._depth == 1:
                    self._connection.execute("commit")
            finally:
                self._depth -= 1

    def get(self, kind: str, key: str) -> dict[str, Any] | None:
        with self._lock:
            row = self._connection.execute(
                "select body from documents where kind = ? and id = ?", (kind, key)
            ).fetchone()
        return None if row is None else json.loads(row[0])

    def put(self, kind: str, key: str, body: dict[str, Any], *, parent: str = "") -> None:
        with self._lock:
            self._connection.execute(
                "insert into documents values (?, ?, ?, ?) on conflict (kind, id)"
                " do update set body = excluded.body, parent = excluded.parent",
                (kind, key, parent, json.dumps(body)),
            )

    def delete(self, kind: str, key: str) -> None:
        with self._lock:
            self._connection.execute("delete from documents where kind = ? and id = ?", (kind, key))

    def all(self, kind: str, *, parent: str | None = None) -> list[dict[str, Any]]:
        query, values = "select body from documents where kind = ?", [kind]
        if parent is not None:
            query, values = f"{query} and parent = ?", [kind, parent]
        with self._lock:
            rows = self._connection.execute(f"{query} order by rowid", values).fetchall()
        return [json.loads(row[0]) for row in rows]

    def pay(
        self, what: str, *, amount: int, fees: int, at: float, submission: str = "", batch: str = ""
    ) -> None:
        with self._lock:
            self._connection.execute(
                "insert into ledger (what, submission, batch, amount, fees, at) values (?, ?, ?, ?, ?, ?)",
                (what, submission, batch, amount, fees, at),
            )

    def ledger(self) -> list[dict[str, Any]]:
        names = ("what", "submission", "batch", "amount", "fees", "at")
        with self._lock:
            rows = self._connection.execute(f"select {', '.join(names)} from ledger order by id").fetchall()
        return [dict(zip(names, row, strict=True)) for row in rows]
