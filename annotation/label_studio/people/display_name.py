"""How a Label Studio user is shown here: their address, then the name that they chose."""

from collections.abc import Mapping

from annotation.label_studio.client.sanitize import storable

_LONGEST = 200
_LONGEST_ADDRESS = 120


def called(person: Mapping[str, object]) -> str:
    """Return a person's address and name in Label Studio as one line, or ""."""
    first_name, last_name = (
        storable(person.get(part), longest=_LONGEST) for part in ("first_name", "last_name")
    )
    address = person.get("email") or person.get("username")
    return together(address=storable(address, longest=_LONGEST_ADDRESS), name=f"{first_name} {last_name}")


def together(*, address: str, name: str) -> str:
    """Return both as one line. The address comes first, so that a name, however long, cannot hide or imitate it."""
    address = storable(address, longest=_LONGEST_ADDRESS)
    if not address:
        return storable(name, longest=_LONGEST)
    name = storable(name, longest=_LONGEST - len(address) - len(" ()"))
    return f"{address} ({name})" if name else address
