"""Label Studio's names of its users, so that leads recognise them. Personal data, stored only for waiting users."""

import logging

from annotation.label_studio.client.errors import Trouble
from annotation.label_studio.client.rest import Client
from annotation.label_studio.models import LabelStudioServer, LabelStudioUser
from annotation.label_studio.people.display_name import called

logger = logging.getLogger(__name__)


def name_users(client: Client, server: LabelStudioServer) -> int:
    """Request the names of waiting users without a name; return how many were found.

    If the server does not give them, users stay nameless: counting answers does not depend on names.
    """
    waiting = LabelStudioUser.objects.filter(server=server, state=LabelStudioUser.State.WAITING)
    nameless = waiting.filter(name="", forgotten_at=None)
    users = {user.external_id: user for user in nameless}
    if not users:
        return 0
    try:
        descriptions = client.users()
    except Trouble as trouble:
        logger.warning("The users of %s could not be read: %s", server, trouble.code)
        return 0
    changed_users = []
    for description in descriptions:
        user = users.get(description.get("id", 0))
        if user is not None and (name := called(description)):
            user.name = name
            changed_users.append(user)
    LabelStudioUser.objects.bulk_update(changed_users, ["name"])
    return len(changed_users)
