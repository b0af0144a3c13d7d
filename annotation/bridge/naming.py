"""How a Label Studio names its users, for the lead to know them by. Personal: kept for who waits to be known."""

from typing import Any

from annotation.bridge.client import Client
from annotation.models import LabelStudioServer, LabelStudioUser

_LONGEST = 200


def name_users(client: Client, server: LabelStudioServer) -> int:
    """Ask for the names of waiting users who have none yet; return how many got one."""
    nameless = LabelStudioUser.objects.filter(server=server, state=LabelStudioUser.State.WAITING, name="")
    users = {user.external_id: user for user in nameless}
    if not users:
        return 0
    named = []
    for told in client.users():
        user = users.get(told.get("id", 0))
        if user is not None and (name := _name(told)):
            user.name = name
            named.append(user)
    LabelStudioUser.objects.bulk_update(named, ["name"])
    return len(named)


def _name(told: dict[str, Any]) -> str:
    called = " ".join(str(told.get(part) or "").strip() for part in ("first_name", "last_name")).strip()
    address = str(told.get("email") or "").strip()
    both = (
        f"{called} ({address})"
        if called and address
        else called or address or str(told.get("username") or "")
    )
    return both.replace("\0", "")[:_LONGEST]
