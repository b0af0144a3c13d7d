"""Links: one person is one annotator, however they use their link."""

from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.models import Annotator, User
from accounts.tokens import hash_key
from annotation.campaigns import lifecycle
from annotation.models import Enrolment, Invitation
from annotation.people import invitations
from foundation.errors import Conflict, DomainError, NotFound
from studies.models import AuditEntry, StudyMembership
from tests.annotation.factories import new_annotator

pytestmark = pytest.mark.django_db


@pytest.fixture
def personal(marking, lead):
    return invitations.invite(campaign=marking, by=lead, label="A")


@pytest.fixture
def batch(marking, lead):
    return invitations.invite(campaign=marking, by=lead, label="Class", limit=3)


def accept(token, user=None, fingerprint="", device=""):
    return invitations.accept(token=token, user=user, fingerprint=fingerprint, device=device)


def refused(token, code, user=None):
    with pytest.raises(DomainError) as refusal:
        accept(token, user)
    assert refusal.value.code == code
    if user is None:
        with pytest.raises(DomainError) as seen:
            invitations.look_up(token)
        assert seen.value.code == code


def test_only_the_hash_of_256_random_bits_is_kept(personal):
    invitation, token = personal
    assert len(token) == 43
    assert invitation.token_hash == hash_key(token)
    stored = str(Invitation.objects.values().get()) + str(list(AuditEntry.objects.values()))
    assert token not in stored


def test_accepting_creates_a_person_who_signs_in_by_link_only(personal):
    enrolment = accept(personal[1])
    person = enrolment.annotator.user
    assert not person.has_usable_password()
    assert (person.email, person.display_name, person.is_lead) == ("", "", False)
    assert enrolment.invitation == personal[0]


def test_a_personal_link_from_another_browser_resumes_the_same_annotator(personal):
    first, again = accept(personal[1]), accept(personal[1])
    assert first.annotator == again.annotator
    assert Annotator.objects.count() == Enrolment.objects.count() == 1
    assert invitations.look_up(personal[1]) == personal[0]


def test_reopening_a_link_while_signed_in_resumes(batch):
    first = accept(batch[1])
    assert accept(batch[1], first.annotator.user) == first
    assert Annotator.objects.count() == 1


def test_somebody_who_annotates_already_stays_the_same_annotator(batch, annotator):
    assert accept(batch[1], annotator.user).annotator == annotator


def test_a_second_link_makes_no_second_identity(batch, personal):
    enrolment = accept(personal[1])
    assert accept(batch[1], enrolment.annotator.user) == enrolment
    assert batch[0].enrolments.count() == 0


def test_a_personal_link_used_by_a_known_annotator_becomes_their_key(personal, annotator):
    accept(personal[1], annotator.user)
    assert accept(personal[1]).annotator == annotator


def test_a_lead_who_opens_a_link_becomes_an_annotator_of_their_own(batch, lead):
    enrolment = accept(batch[1], lead)
    assert enrolment.annotator.user == lead
    assert accept(batch[1], lead) == enrolment


def test_another_persons_link_is_refused_while_signed_in(personal, lead):
    accept(personal[1])
    refused(personal[1], "invitation_of_another", lead)
    assert not Annotator.objects.filter(user=lead).exists()


def test_a_batch_link_lets_in_as_many_people_as_it_says(batch):
    people = {accept(batch[1]).annotator.pk for _ in range(3)}
    assert len(people) == 3
    refused(batch[1], "invitation_used_up")
    somebody = User.objects.get(annotator=people.pop())
    assert accept(batch[1], somebody).annotator.user == somebody
    assert invitations.look_up(batch[1], user=somebody) == batch[0]


def test_a_revoked_link_lets_nobody_in(personal, batch, lead):
    for invitation, token in (personal, batch):
        invitations.revoke(invitation=invitation, by=lead)
        invitations.revoke(invitation=invitation, by=lead)
        refused(token, "invitation_revoked")
    assert AuditEntry.objects.filter(action="invitation.revoked").count() == 2


def test_an_expired_link_lets_nobody_in(marking, lead):
    soon = timezone.now() + timedelta(seconds=60)
    invitation, token = invitations.invite(campaign=marking, by=lead, expires_at=soon)
    Invitation.objects.filter(pk=invitation.pk).update(expires_at=timezone.now())
    refused(token, "invitation_expired")
    _, fresh = invitations.reissue(invitation=invitation, by=lead)
    assert accept(fresh).annotator


def test_a_lost_link_is_reissued_without_a_second_identity(personal, lead):
    before = accept(personal[1])
    invitation, token = invitations.reissue(invitation=personal[0], by=lead)
    refused(personal[1], "invitation_not_found")
    assert accept(token).annotator == before.annotator
    assert invitation.pk == personal[0].pk
    assert Annotator.objects.count() == 1


def test_a_reissued_batch_link_keeps_its_count(batch, lead):
    accept(batch[1])
    _, token = invitations.reissue(invitation=batch[0], by=lead)
    accept(token)
    accept(token)
    refused(token, "invitation_used_up")


def test_people_from_a_batch_link_can_get_a_personal_one(batch):
    enrolment = accept(batch[1])
    first = invitations.return_link(enrolment=enrolment)
    assert accept(first).annotator == enrolment.annotator
    second = invitations.return_link(enrolment=enrolment)
    refused(first, "invitation_revoked")
    assert accept(second).annotator == enrolment.annotator
    assert Annotator.objects.count() == 1


def test_a_lead_can_make_a_link_for_an_annotator_who_lost_everything(batch, marking, lead):
    lost = accept(batch[1]).annotator
    _, token = invitations.invite(campaign=marking, by=lead, annotator=lost)
    assert accept(token).annotator == lost


def test_a_closed_campaign_admits_only_people_who_already_take_part(personal, batch, marking, lead):
    enrolment = accept(personal[1])
    lifecycle.close(campaign=marking, by=lead)
    refused(batch[1], "campaign_closed")
    assert accept(personal[1]) == enrolment
    with pytest.raises(Conflict):
        invitations.invite(campaign=marking, by=lead)


def test_an_unknown_link_is_not_found():
    refused("nonsense", "invitation_not_found")
    with pytest.raises(NotFound):
        invitations.look_up("")


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"limit": 0}, "limit"),
        ({"limit": 1.5}, "limit"),
        ({"limit": 10_001}, "limit"),
        ({"label": "x" * 121}, "label"),
        ({"expires_at": timezone.now() - timedelta(days=1)}, "expires_at"),
    ],
)
def test_a_wrong_invitation_is_refused_by_field(marking, lead, given, field):
    with pytest.raises(DomainError) as refusal:
        invitations.invite(campaign=marking, by=lead, **given)
    assert list(refusal.value.fields) == [field]


def test_a_personal_link_has_a_limit_of_one(marking, lead, annotator):
    with pytest.raises(DomainError, match="one person"):
        invitations.invite(campaign=marking, by=lead, annotator=annotator, limit=2)


@pytest.mark.parametrize("role", ["is_superuser", "is_staff", "is_lead", "is_analyst"])
def test_a_link_that_somebody_with_a_role_used_opens_no_account(personal, role):
    _, token = personal
    user = User.objects.create_user("omar", password="a long enough one", **{role: True})
    enrolment = accept(token, user)
    assert enrolment.annotator.user == user
    with pytest.raises(DomainError) as refusal:
        accept(token)
    assert refusal.value.code == "sign_in_first"
    assert accept(token, user) == enrolment


def test_a_link_that_a_member_of_a_study_used_opens_no_account(personal, study):
    _, token = personal
    user = User.objects.create_user("omar", password="a long enough one")
    accept(token, user)
    StudyMembership.objects.create(study=study, user=user, role="coord")
    with pytest.raises(DomainError) as refusal:
        accept(token)
    assert refusal.value.code == "sign_in_first"


def test_notes_on_links_are_not_kept_in_the_history(personal, lead):
    invitation, _ = personal
    Invitation.objects.update(label="Maria K.")
    invitation.refresh_from_db()
    invitations.reissue(invitation=invitation, by=lead)
    invitations.revoke(invitation=invitation, by=lead)
    assert "Maria" not in str(list(AuditEntry.objects.values()))


def test_who_takes_part_in_another_campaign_joins_this_one_by_its_link(marking, rating, lead):
    anna, otto = new_annotator(marking), new_annotator(marking)
    invitation, token = invitations.invite(campaign=rating, by=lead, limit=2)
    joined = invitations.accept(token=token, user=anna.user)
    assert (joined.campaign, joined.annotator) == (rating, anna)
    invitations.revoke(invitation=invitation, by=lead)
    assert invitations.look_up(token, user=anna.user) == invitation
    with pytest.raises(Conflict, match="revoked"):
        invitations.look_up(token, user=otto.user)


def test_a_new_return_link_leaves_the_link_that_a_lead_made(marking, lead):
    _, token = invitations.invite(campaign=marking, by=lead)
    enrolment = invitations.accept(token=token, user=None)
    first, second = (invitations.return_link(enrolment=enrolment) for _ in range(2))
    assert {invitations.accept(token=each, user=None) for each in (token, second)} == {enrolment}
    with pytest.raises(Conflict, match="revoked"):
        invitations.accept(token=first, user=None)
