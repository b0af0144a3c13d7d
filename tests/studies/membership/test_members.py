"""Members of a study: who can become one."""

import pytest
from django.db import transaction

from foundation.errors import DomainError
from studies.membership import add_member, remove_member
from studies.models import StudyMembership
from tests.foundation.database.postgres import on_postgres
from tests.foundation.database.waiting import Waiting


def test_a_blocked_account_cannot_become_a_member(study, lead, stranger):
    type(stranger).objects.filter(pk=stranger.pk).update(is_active=False)
    with pytest.raises(DomainError) as refusal:
        add_member(study=study, username=stranger.username, role="analyst", by=lead)
    assert refusal.value.code == "user_unknown"
    assert not StudyMembership.objects.filter(user=stranger).exists()


@pytest.mark.skipif(not on_postgres(), reason="SQLite locks all rows")
@pytest.mark.django_db(transaction=True)
def test_of_two_leads_who_remove_each_other_at_once_one_stays(study, lead, stranger):
    first = StudyMembership.objects.get(study=study, user=lead)
    second = add_member(study=study, username=stranger.username, role="lead", by=lead)
    removing = Waiting(lambda: remove_member(membership=first, by=stranger))
    with transaction.atomic():
        remove_member(membership=second, by=lead)
        removing.begin()
    assert removing.result().code == "last_lead"
    assert list(StudyMembership.objects.filter(study=study, role="lead")) == [first]
