"""How a Label Studio names its users, for the lead to know them by. Personal: kept for who waits to be known."""

import logging

from annotation.label_studio.client.errors import Trouble
from annotation.label_studio.client.rest import Client
from annotation.label_studio.people.display_name import called
from annotation.models import LabelStudioServer, LabelStudioUser

logger = logging.getLogger(__name__)


def name_users(client: Client, server: LabelStudioServer) -> int:
    """Ask for the names of waiting users who have none yet; return how many got one.

    A server that does not tell leaves them nameless: counting what was answered does not depend on it.
    """
    waiting = LabelStudioUser.objects.filter(server=server, state=LabelStudioUser.State.WAITING)
    nameless = waiting.filter(name="", forgotten_at=None)
    users = {user.external_id: user for user in nameless}
    if not users:
        return 0
    try:
        every = client.users()
    except Trouble as trouble:
        logger.warning("The users of %s could not be asked for: %s", server, trouble.code)
        return 0
    named = []
    for told in every:
        user = users.get(told.get("id", 0))
        if user is not None and (name := called(told)):
            user.name = name
            named.append(user)
    LabelStudioUser.objects.bulk_update(named, ["name"])
    return len(named)
