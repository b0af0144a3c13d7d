"""How a user of a Label Studio is called here: by an address that is theirs, then by the name they gave themselves."""

import unicodedata
from collections.abc import Mapping

_LONGEST = 200
_LONGEST_ADDRESS = 120


def called(person: Mapping[str, object]) -> str:
    """Return what Label Studio tells of a person as one line, or ""."""
    names = " ".join(_line(person.get(part)) for part in ("first_name", "last_name"))
    return together(address=_line(person.get("email") or person.get("username")), name=names)


def together(*, address: str, name: str) -> str:
    """Return both as one line. The address stands first: no name, however long, pushes it out or looks like it."""
    address, name = _line(address)[:_LONGEST_ADDRESS], _line(name)
    if not address or not name:
        return (address or name)[:_LONGEST]
    room = _LONGEST - len(address) - 3
    return f"{address} ({name if len(name) <= room else name[: room - 1] + '…'})"


def _line(text: object) -> str:
    """Return a text without what is not seen, or turns round how the rest of a line is read."""
    if not isinstance(text, str):
        return ""
    seen = (
        " " if one.isspace() else one for one in text if one.isspace() or unicodedata.category(one)[0] != "C"
    )
    return " ".join("".join(seen).split())
