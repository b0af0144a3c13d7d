"""A link's state is derived from stored data, without counters or manual updates."""

from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.assignment import leases
from annotation.campaigns import lifecycle
from annotation.models import Campaign, Enrolment, Invitation, InvitationLetter, Mailing
from annotation.people import enrolments, invitations, withdrawal
from annotation.people.link_states import LinkState, counts, with_states
from studies import consent
from tests.annotation.factories import submit

pytestmark = pytest.mark.django_db


def state_of(invitation) -> str:
    campaign = Campaign.objects.get(pk=invitation.campaign_id)
    links = with_states(campaign, campaign.invitations.all())
    return links.get(pk=invitation.pk).link_state


@pytest.fixture
def personal(marking, lead):
    return invitations.invite(campaign=marking, by=lead, label="A")


@pytest.fixture
def joined(personal):
    enrolment = invitations.accept(token=personal[1], user=None)
    study = enrolment.campaign.study
    withdrawal.agree(annotator=enrolment.annotator, text=consent.current_text(study), study=study)
    return enrolment


def answer(enrolment):
    return submit(leases.next_assignment(campaign=enrolment.campaign, annotator=enrolment.annotator))


@pytest.mark.parametrize(
    ("letter", "state"),
    [
        ("planned", "sending"),
        ("sending", "sending"),
        ("sent", "sent"),
        ("failed", "failed"),
        ("unknown", "unknown"),
    ],
)
def test_the_state_of_a_link_with_a_letter(personal, marking, letter, state):
    assert state_of(personal[0]) == "created"
    InvitationLetter.objects.create(
        invitation=personal[0],
        mailing=Mailing.objects.create(campaign=marking, language="en"),
        state=letter,
        address_sealed="x",
        link_sealed="x",
        sent_at=timezone.now(),
    )
    assert state_of(personal[0]) == state


def test_the_state_of_an_opened_link(personal, client, lead_client):
    address = f"/annotate/i/{personal[1]}/"
    lead_client.get(address)
    client.head(address)
    client.get(address, headers={"Sec-Purpose": "prefetch"})
    assert state_of(personal[0]) == "created"
    client.get(address)
    assert state_of(personal[0]) == "opened"
    first = Invitation.objects.get(pk=personal[0].pk).opened_at
    client.get(address)
    assert Invitation.objects.get(pk=personal[0].pk).opened_at == first


def test_the_states_from_joining_to_finishing(personal, joined, marking):
    assert state_of(personal[0]) == "started"
    for _ in range(8):
        assert state_of(personal[0]) in ("started", "working")
        answer(joined)
    assert state_of(personal[0]) == "working"  # all tasks permitted now, but others will follow
    Enrolment.objects.update(most_screens=8)
    assert state_of(personal[0]) == "finished"


def test_somebody_who_answered_has_finished_when_nothing_is_left(personal, joined, marking, lead):
    answer(joined)
    assert state_of(personal[0]) == "working"
    lifecycle.close(campaign=marking, by=lead)
    assert state_of(personal[0]) == "finished"


def test_somebody_who_joined_and_never_answered_has_not_finished(personal, joined, marking, lead):
    lifecycle.close(campaign=marking, by=lead)
    assert state_of(personal[0]) == "started"


def test_the_state_after_a_withdrawal_or_exclusion(personal, joined, lead):
    answer(joined)
    enrolments.exclude(enrolment=joined, reason="tests", by=lead)
    assert state_of(personal[0]) == "excluded"
    withdrawal.withdraw(annotator=joined.annotator, study=joined.campaign.study)
    assert state_of(personal[0]) == "withdrawn"


def test_the_state_of_an_expired_link(personal):
    Invitation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert state_of(personal[0]) == "expired"


def test_a_link_revoked_or_expired_later_keeps_its_persons_progress(personal, joined, lead):
    answer(joined)
    Invitation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    invitations.revoke(invitation=personal[0], by=lead)
    assert state_of(personal[0]) == "working"


def test_a_link_for_several_people_says_whether_it_still_works(marking, lead):
    invitation, token = invitations.invite(campaign=marking, by=lead, limit=2)
    assert state_of(invitation) == "usable"
    for _ in range(2):
        invitations.accept(token=token, user=None)
    assert state_of(invitation) == "used up"


def test_states_are_counted_in_their_order(marking, lead, personal, joined):
    invitations.invite_each(campaign=marking, by=lead, labels=["B", "C"])
    links = with_states(marking, invitations.shown_to_leads(marking))
    assert [(count.state, count.number) for count in counts(links)] == [
        (LinkState.CREATED, 2),
        (LinkState.STARTED, 1),
    ]
