"""How a Label Studio user is shown here: by their address, then by the name they gave themselves."""

from collections.abc import Mapping

from annotation.label_studio.client.sanitize import storable

_LONGEST = 200
_LONGEST_ADDRESS = 120


def called(person: Mapping[str, object]) -> str:
    """Return what Label Studio tells of a person as one line, or ""."""
    first_name, last_name = (
        storable(person.get(part), longest=_LONGEST) for part in ("first_name", "last_name")
    )
    address = person.get("email") or person.get("username")
    return together(address=storable(address, longest=_LONGEST_ADDRESS), name=f"{first_name} {last_name}")


def together(*, address: str, name: str) -> str:
    """Return both as one line. The address stands first: no name, however long, pushes it out or looks like it."""
    address = storable(address, longest=_LONGEST_ADDRESS)
    if not address:
        return storable(name, longest=_LONGEST)
    name = storable(name, longest=_LONGEST - len(address) - len(" ()"))
    return f"{address} ({name})" if name else address
