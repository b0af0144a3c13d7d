"""A lead decides about a Label Studio user while that user opens the link made for them."""

import threading
import time

import pytest
from django.db import connection, connections, transaction

from annotation.label_studio.models import LabelStudioUser
from annotation.label_studio.people import identity
from annotation.models import Invitation
from tests.annotation.label_studio.rows import bridge_of, user_of

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor != "postgresql", reason="about the locks of PostgreSQL"),
]


@pytest.mark.parametrize(
    "decide",
    [
        identity.ignore,
        identity.erase,
        lambda user, by: identity.invite(user=user, campaign=user.server.bridges.get().campaign, by=by),
    ],
    ids=["ignore", "erase", "invite"],
)
def test_the_link_is_locked_before_the_user(rating, lead, decide):
    bridge = bridge_of(rating)
    user = user_of(bridge.server, 7)
    invitation, _ = identity.invite(user=user, campaign=rating, by=lead)
    failed: list[BaseException] = []

    def lead_decides() -> None:
        try:
            decide(user=user, by=lead)
        except BaseException as error:  # returned to the test, which decides
            failed.append(error)
        finally:
            connections.close_all()

    deciding = threading.Thread(target=lead_decides)
    with transaction.atomic():
        Invitation.objects.select_for_update().get(
            pk=invitation.pk
        )  # as the person who uses the link does first
        deciding.start()
        _until_somebody_waits()
        LabelStudioUser.objects.select_for_update(nowait=True).get(pk=user.pk)
    deciding.join()
    assert failed == []


def _until_somebody_waits() -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1 FROM pg_locks WHERE NOT granted")
            if cursor.fetchone():
                return
        time.sleep(0.02)
    raise AssertionError("nobody waits for a lock")
