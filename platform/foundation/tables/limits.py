"""Limits of tables, and errors for tables. The setting TABLE_MAX_BYTES limits their bytes."""

from foundation.errors import DomainError

MAX_COLUMNS = 1_000  # the widest published table of judgements has 40
MAX_ROWS = 10_000_000
MAX_CELLS = 50_000_000
MAX_CELL = 131_072  # characters; more than any column of judgements needs


def refusal(name: str, problem: str, code: str = "table_unreadable") -> DomainError:
    """Return an error about a file: its name followed by the problem."""
    return DomainError(code, f"“{name}” {problem}.", fields={"file": problem})


def too_many_columns(name: str, count: int) -> DomainError:
    return refusal(name, f"has {count:,} columns; {MAX_COLUMNS:,} are allowed", "table_too_large")


def too_many_cells(name: str) -> DomainError:
    return refusal(
        name, f"has more than the allowed {MAX_ROWS:,} rows or {MAX_CELLS:,} cells", "table_too_large"
    )
