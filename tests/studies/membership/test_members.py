"""Members of a study: who can become one."""

import pytest
from django.db import transaction

from foundation.errors import Conflict, DomainError
from studies.membership import add_member, remove_member
from studies.models import Study, StudyMembership
from tests.foundation.database.postgres import on_postgres
from tests.foundation.database.waiting import Waiting


def test_a_blocked_account_cannot_become_a_member(study, lead, stranger):
    type(stranger).objects.filter(pk=stranger.pk).update(is_active=False)
    with pytest.raises(DomainError) as refusal:
        add_member(study=study, username=stranger.username, role="analyst", by=lead)
    assert refusal.value.code == "user_unknown"
    assert not StudyMembership.objects.filter(user=stranger).exists()


@pytest.fixture
def lakes(stranger):
    """Another study, with a lead of its own."""
    other = Study.objects.create(name="Lakes", slug="lakes", seed=1)
    StudyMembership.objects.create(study=other, user=stranger, role="lead")
    return other


def test_leads_of_other_studies_and_analysts_do_not_make_themselves_members(study, lakes, stranger, analyst):
    for user in (stranger, analyst):
        with pytest.raises(DomainError) as refusal:
            add_member(study=study, username=user.username, role="lead", by=user)
        assert refusal.value.code == "member_is_yourself"


def test_the_lead_of_another_study_and_an_analyst_do_not_replace_the_last_lead(study, lakes, lead):
    with pytest.raises(Conflict) as refusal:
        remove_member(membership=StudyMembership.objects.get(study=study, user=lead), by=lead)
    assert refusal.value.code == "last_lead"


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
