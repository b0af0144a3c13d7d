"""The rows that `make bench` prints."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One measured claim. `limit` is its promise; `kept` is None if it could not be measured."""

    claim: str
    measured: str
    limit: str
    kept: bool | None


def print_title() -> None:
    print(f"{'claim':72} {'measured':>24} {'limit':>20}", flush=True)


def print_row(row: Row) -> None:
    verdict = {True: "", False: "  ← exceeded", None: "  (not measured)"}[row.kept]
    print(f"{row.claim:72} {row.measured:>24} {row.limit:>20}{verdict}", flush=True)
