"""The recipients of personal links: notes and e-mail addresses, typed line by line or read from a table."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.core.exceptions import ValidationError
from django.core.validators import validate_email

from foundation.errors import DomainError
from foundation.tables.reader import Table

# Possible names of a column of addresses; spaces, hyphens and case do not matter.
ADDRESS_COLUMNS = ("address", "email", "emailaddress", "mail")
NOTE_COLUMNS = ("name", "note", "label", "person")
_SHOWN = 5
_SEPARATORS = re.compile(r"[\t,; ]+")


@dataclass(frozen=True)
class Recipient:
    """A person who gets a personal link: the lead's note, and an address if the link is sent by e-mail."""

    note: str
    address: str = ""


def from_lines(text: str) -> list[Recipient]:
    """Read one person per line: a note, an address, or a note followed by an address."""
    return [_from_line(line) for line in text.splitlines() if line.strip()]


def from_table(table: Table) -> list[Recipient]:
    """Read one person per row. Columns of notes and addresses are found by name; otherwise the first column has
    notes."""
    columns: dict[str, Sequence[object]] = {
        re.sub(r"[\s_-]", "", name).casefold(): list(cells) for name, cells in table.columns.items()
    }
    empty: Sequence[object] = [""] * len(table)
    address_name = next((name for name in ADDRESS_COLUMNS if name in columns), "")
    first_name = next(iter(columns), "")
    note_name = next((name for name in NOTE_COLUMNS if name in columns), first_name)
    addresses = columns.get(address_name, empty)
    notes = empty if note_name == address_name else columns.get(note_name, empty)
    rows = [
        Recipient(str(note), str(address).strip()) for note, address in zip(notes, addresses, strict=True)
    ]
    return [row for row in rows if row.note.strip() or row.address]


def check_addresses(recipients: Sequence[Recipient]) -> None:
    """Refuse invalid addresses and duplicates: one person gets one link."""
    addresses = [recipient.address for recipient in recipients if recipient.address]
    wrong = [address for address in addresses if not is_address(address)]
    if wrong:
        raise _refusal("addresses_invalid", f"Not an e-mail address: {_listed(wrong)}.")
    counts = Counter(map(str.casefold, addresses))
    if twice := [address for address, number in counts.items() if number > 1]:
        raise _refusal("addresses_repeated", f"More than once in the list: {_listed(twice)}.")


def _from_line(line: str) -> Recipient:
    *note, last = _SEPARATORS.split(line.strip())
    if "@" not in last:
        return Recipient(line)
    rest = line.strip()[: -len(last)] if note else ""
    return Recipient(rest.strip("\t,; "), last.strip("<>"))


def is_address(text: str) -> bool:
    """Return whether a letter can be addressed to this; not whether anybody reads it there."""
    try:
        validate_email(text)
    except ValidationError:
        return False
    return True


def _refusal(code: str, message: str) -> DomainError:
    return DomainError(code, message, fields={"labels": message})


def _listed(texts: Iterable[str]) -> str:
    texts = list(texts)
    more = len(texts) - _SHOWN
    return ", ".join(texts[:_SHOWN]) + (f" and {more:,} more" if more > 0 else "")
