"""After a withdrawal or an erasure, neither the name nor the answers of a user return by themselves."""

import threading

import pytest
from django.db import connection, connections, transaction

from annotation.label_studio.base.connections import disconnect
from annotation.label_studio.base.reasons import why_no_result
from annotation.label_studio.models import LabelStudioAnnotation, LabelStudioUser
from annotation.label_studio.people import identity
from annotation.label_studio.people.user_names import name_users
from annotation.label_studio.pull.mirror import mirror
from annotation.people import withdrawal
from foundation.errors import Conflict
from studies import consent
from tests.annotation.factories import new_annotator
from tests.annotation.label_studio.payloads import annotation, number_of, project_of, tell, worker
from tests.annotation.label_studio.rows import bridge_of, server_of
from tests.annotation.label_studio.scenario import anna, bela, bridge, clara, row, task, text_of, told

__all__ = ["anna", "bela", "bridge", "clara", "task"]
pytestmark = pytest.mark.django_db


def user(number=1) -> LabelStudioUser:
    return LabelStudioUser.objects.get(external_id=number)


def test_answers_of_an_erased_user_are_not_stored(bridge, task, lead):
    told(bridge, task, 1, 1, text_of(task))
    identity.erase(user=user(), by=lead)
    assert why_no_result(row(1).result)
    assert row(1).lead_time is None
    told(bridge, task, 1, 1, text_of(task), changed=7)
    assert (why_no_result(row(1).result), row(1).state) == (
        "its user was erased, so its content was not kept",
        "left_out",
    )
    with pytest.raises(Conflict) as refused:
        identity.undo(user=user(), by=lead)
    assert refused.value.code == "user_erased"


def test_an_erased_user_stays_erased_when_the_server_is_reconnected(bridge, task, marking, lead):
    told(bridge, task, 1, 1)
    identity.erase(user=user(), by=lead)
    study, url = bridge.server.study, bridge.server.url
    bridge.delete()
    disconnect(server=bridge.server, by=lead)
    again = bridge_of(marking, server_of(study, url=url))
    told(again, task, 1, 1, text_of(task))
    told(again, task, 2, 2)
    assert (user().state, user().name) == ("ignored", "")
    assert why_no_result(row(1).result)
    assert user(2).name


def test_the_name_of_a_withdrawn_user_is_not_requested_again(bridge, task, anna, lead):
    told(bridge, task, 1, 1)
    withdrawal.withdraw(annotator=anna, study=bridge.campaign.study)
    identity.undo(user=user(), by=lead)
    assert user().forgotten_at is not None
    told(bridge, task, 1, 1, changed=3)
    assert (user().state, user().name) == ("waiting", "")
    assert why_no_result(row(1).result)
    # No request is made, because no other user needs a name.
    assert name_users(None, bridge.server) == 0


def test_answers_after_renewed_consent_are_stored(bridge, task, anna):
    study = bridge.campaign.study
    withdrawal.withdraw(annotator=anna, study=study)
    withdrawal.agree(annotator=anna, text=consent.current_text(study), study=study)
    told(bridge, task, 1, 1, text_of(task))
    assert row(1).state == "counted"


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor != "postgresql", reason="about the locks of PostgreSQL")
def test_answers_mirrored_during_a_withdrawal_are_wiped_too(marking):
    annotator, bridge = new_annotator(marking), bridge_of(marking)
    worker(bridge, 1, annotator)
    number = number_of(bridge, marking.tasks.earliest("pk"))
    project = project_of(bridge)

    def withdraw() -> None:
        withdrawal.withdraw(annotator=annotator, study=marking.study)
        connections.close_all()

    withdrawing = threading.Thread(target=withdraw)
    with transaction.atomic():
        mirror(project=project, annotations=[annotation(1, task=number, user=1)])
        withdrawing.start()
        withdrawing.join(1)
        assert withdrawing.is_alive()  # it waits for a write in progress
    withdrawing.join()
    assert why_no_result(LabelStudioAnnotation.objects.get().result)
    tell(bridge, annotation(2, task=number, user=1))
    assert why_no_result(row(2).result)
