"""Annotators and invitations: links shown once, states, pausing and excluding with a reason."""

from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from annotation.answers import inclusion
from annotation.assignment import leases, slots
from annotation.campaigns.progress import progress
from annotation.models import Assignment, Enrolment, Invitation, InvitationLetter, Mailing
from annotation.people import addresses, enrolments, invitations, letters
from annotation.people.letters import LetterText
from annotation.people.recipients import Recipient
from foundation.errors import Conflict, DomainError
from studies.models import AuditEntry
from tests.annotation.factories import new_annotator

pytestmark = pytest.mark.django_db
LINKS = "/studies/isles/campaigns/marking/invitations/"
PEOPLE = "/studies/isles/campaigns/marking/annotators/"


def test_a_link_is_shown_once(lead_client, marking):
    shown = lead_client.post(LINKS, {"label": "Panel A", "limit": "20", "days": "7"}, follow=True)
    page = shown.content.decode()
    assert "/annotate/i/" in page
    token = shown.context["address"].rstrip("/").rsplit("/", 1)[1]
    invitation = invitations.look_up(token)
    assert (invitation.label, invitation.limit) == ("Panel A", 20)
    assert timedelta(days=6) < invitation.expires_at - timezone.now() < timedelta(days=8)
    again = lead_client.get(f"{LINKS}made/", follow=True).content.decode()
    assert token not in again
    assert "Panel A" in again


def made_links(page) -> dict[str, str]:
    """Return the tokens by the notes of their links."""
    lines = page.context["as_text"].splitlines()
    return {line.split("\t")[0]: line.rstrip("/").rsplit("/", 1)[1] for line in lines}


def test_many_personal_links_are_made_from_notes_and_a_table_and_shown_once(lead_client, marking):
    table = SimpleUploadedFile("people.csv", b"name,age\nCleo,30\n =Dov ,40\n")
    notes = {"labels": "Ada\n\n Bo  the\tsecond \n", "table": table, "days": "7"}
    page = lead_client.post(f"{LINKS}personal/", notes)
    tokens = made_links(page)
    assert list(tokens) == ["Ada", "Bo the second", "Cleo", "=Dov"]
    assert all(token in page.content.decode() for token in tokens.values())
    for label, token in tokens.items():
        invitation = invitations.look_up(token)
        assert (invitation.label, invitation.limit) == (label, 1)
        assert timedelta(days=6) < invitation.expires_at - timezone.now() < timedelta(days=8)
    assert Invitation.objects.count() == 4
    assert not any(token in repr(lead_client.session.items()) for token in tokens.values())
    entry = AuditEntry.objects.get(action="invitation.created_each")
    assert entry.details["links"] == 4
    assert "Ada" in lead_client.get(LINKS).content.decode()


def test_each_personal_link_shows_whether_it_was_used(lead_client, marking):
    tokens = made_links(lead_client.post(f"{LINKS}personal/", {"labels": "Ada\nBo"}))
    enrolment = invitations.accept(token=tokens["Ada"], user=None)
    page = lead_client.get(LINKS)
    assert f"personal link of {enrolment.annotator.pseudonym}" in page.content.decode()
    states = {line.invitation.label: line.state for line in page.context["lines"]}
    assert states == {"Ada": "started", "Bo": "created"}


@pytest.mark.parametrize("labels", ["", " \n ", "x\n" * 501, "x" * 121])
def test_personal_links_without_notes_or_with_too_many_are_refused(lead_client, marking, labels):
    assert lead_client.post(f"{LINKS}personal/", {"labels": labels}).status_code == 400
    assert not Invitation.objects.exists()


def test_a_table_that_cannot_be_read_makes_no_links(lead_client, marking):
    table = SimpleUploadedFile("people.csv", b"\xff\xfe\x00broken")
    assert lead_client.post(f"{LINKS}personal/", {"labels": "Ada", "table": table}).status_code == 400
    assert not Invitation.objects.exists()


def test_fifty_links_take_as_many_queries_as_one(lead_client, marking, queries):
    one = queries(lead_client, f"{LINKS}personal/", {"labels": "Ada"})
    assert queries(lead_client, f"{LINKS}personal/", {"labels": "Bo\n" * 50}) == one


def test_a_link_without_days_never_expires(lead_client, marking):
    lead_client.post(LINKS, {"label": "", "limit": "1", "days": ""})
    assert Invitation.objects.get().expires_at is None


@pytest.mark.parametrize("change", [{"limit": "0"}, {"limit": "x"}, {"days": "0"}, {"label": "x" * 121}])
def test_a_wrong_link_is_refused_by_field(lead_client, marking, change):
    answer = lead_client.post(LINKS, {"label": "", "limit": "1", "days": "7"} | change)
    assert answer.status_code == 400
    assert not Invitation.objects.exists()


def test_nobody_can_be_invited_to_a_closed_campaign(lead_client, marking):
    lead_client.post("/studies/isles/campaigns/marking/close/")
    answer = lead_client.post(LINKS, {"label": "", "limit": "1", "days": "7"})
    assert answer.status_code == 400
    assert "The campaign is closed" in answer.content.decode()


def test_revoking_and_reissuing_a_link(lead_client, marking, lead):
    invitation, token = invitations.invite(campaign=marking, by=lead, label="Ada")
    lead_client.post(f"{LINKS}{invitation.pk}/revoke/")
    with pytest.raises(Conflict, match="revoked"):
        invitations.look_up(token)
    page = lead_client.post(f"{LINKS}{invitation.pk}/reissue/", follow=True)
    fresh = page.context["address"].rstrip("/").rsplit("/", 1)[1]
    assert fresh != token
    assert invitations.look_up(fresh).pk == invitation.pk


def test_the_history_names_who_decided_about_people_and_links(lead_client, lead, marking):
    enrolment = Enrolment.objects.get(annotator=new_annotator(marking))
    AuditEntry.objects.all().delete()
    for move in ("pause", "resume", "exclude"):
        lead_client.post(f"{PEOPLE}{enrolment.pk}/{move}/", {"reason": "Too fast"})
    lead_client.post(LINKS, {"label": "Panel A", "limit": "20", "days": "7"})
    link = Invitation.objects.get(label="Panel A")
    for move in ("reissue", "revoke"):
        lead_client.post(f"{LINKS}{link.pk}/{move}/")
    lead_client.post(f"{LINKS}personal/", {"labels": "Ada"})
    actions = [f"enrolment.{done}" for done in ("paused", "resumed", "excluded")]
    actions += [f"invitation.{done}" for done in ("created", "reissued", "revoked", "created_each")]
    assert list(AuditEntry.objects.order_by("pk").values_list("action", "actor")) == [
        (action, lead.pk) for action in actions
    ]


def test_links_are_listed_with_their_state(lead_client, marking, lead):
    made = {
        "live": invitations.invite(campaign=marking, by=lead, label="live", limit=3)[0],
        "old": invitations.invite(campaign=marking, by=lead, label="old")[0],
        "dead": invitations.invite(campaign=marking, by=lead, label="dead")[0],
    }
    _, token = invitations.invite(campaign=marking, by=lead, label="full", limit=2)
    invitations.accept(token=token, user=None)
    invitations.accept(token=token, user=None)
    Invitation.objects.filter(pk=made["old"].pk).update(expires_at=timezone.now())
    invitations.revoke(invitation=made["dead"], by=lead)
    lines = {line.invitation.label: line for line in lead_client.get(LINKS).context["lines"]}
    found = {label: line.state for label, line in lines.items()}
    assert found == {"live": "usable", "old": "expired", "dead": "revoked", "full": "used up"}
    assert lines["full"].joined == 2


def test_links_by_which_annotators_come_back_are_not_listed(lead_client, marking, lead):
    _, token = invitations.invite(campaign=marking, by=lead, label="Panel", limit=3)
    invitations.return_link(enrolment=invitations.accept(token=token, user=None))
    assert [line.invitation.label for line in lead_client.get(LINKS).context["lines"]] == ["Panel"]


def test_a_link_that_a_lead_calls_a_return_link_is_listed(lead_client, marking, lead):
    invitations.invite(campaign=marking, by=lead, label="return link")
    assert [line.invitation.label for line in lead_client.get(LINKS).context["lines"]] == ["return link"]


def test_suspected_doubles_are_shown(lead_client, marking, lead):
    _, token = invitations.invite(campaign=marking, by=lead, limit=3)
    same = [invitations.accept(token=token, user=None, fingerprint="one machine") for _ in range(2)]
    page = lead_client.get(PEOPLE).content.decode()
    assert "Possible duplicates" in page
    assert ", ".join(one.annotator.pseudonym for one in same) in page


def test_annotators_can_be_found_by_state_and_pseudonym(lead_client, answered):
    first, second = answered.enrolments.select_related("annotator").order_by("pk")
    Enrolment.objects.filter(pk=first.pk).update(state="paused")
    lines = lead_client.get(f"{PEOPLE}?state=paused").context["lines"]
    assert [line.enrolment.pk for line in lines] == [first.pk]
    lines = lead_client.get(f"{PEOPLE}?q={second.annotator.pseudonym[2:]}").context["lines"]
    assert [line.enrolment.pk for line in lines] == [second.pk]
    assert "Nobody matches" in lead_client.get(f"{PEOPLE}?q=none-such").content.decode()


def test_each_line_shows_amount_and_speed_of_work(lead_client, answered):
    first = answered.enrolments.order_by("pk").first().annotator
    for seconds, one in zip((3.0, 8.0), answered.annotations.filter(annotator=first), strict=True):
        answered.annotations.filter(pk=one.pk).update(active_seconds=seconds)
    line = lead_client.get(PEOPLE).context["lines"][0]
    assert (line.answered, line.surplus, line.skipped, line.open_now) == (2, 0, 0, 0)
    assert line.median_seconds == 5.5


def test_pausing_frees_open_tasks_and_stores_the_reason(lead_client, marking):
    annotator = new_annotator(marking)
    leased = leases.next_assignment(campaign=marking, annotator=annotator)
    enrolment = Enrolment.objects.get(annotator=annotator)
    url = f"{PEOPLE}{enrolment.pk}/pause/"
    assert "Pause" in lead_client.get(url).content.decode()
    assert lead_client.post(url, {"reason": ""}).status_code == 400
    lead_client.post(url, {"reason": "Too fast"})
    enrolment.refresh_from_db()
    assert (enrolment.state, enrolment.reason) == ("paused", "Too fast")
    assert Assignment.objects.get(pk=leased.pk).state == "expired"
    entry = AuditEntry.objects.get(action="enrolment.paused")
    assert entry.details == {"pseudonym": annotator.pseudonym, "reason": "Too fast"}
    assert (
        f"paused {annotator.pseudonym} in “Marking”: Too fast"
        in lead_client.get("/studies/isles/history/").content.decode()
    )


def test_excluding_keeps_labels_but_stops_counting_them(lead_client, answered):
    enrolment = answered.enrolments.order_by("pk").first()
    assert inclusion.counted(answered).count() == 4
    lead_client.post(f"{PEOPLE}{enrolment.pk}/exclude/", {"reason": "Ticks everything"})
    assert answered.annotations.count() == 4
    assert inclusion.counted(answered).count() == 2
    lead_client.post(f"{PEOPLE}{enrolment.pk}/resume/", {"reason": "A misunderstanding"})
    assert inclusion.counted(answered).count() == 4


def test_the_screens_of_an_excluded_annotator_can_be_asked_again(lead_client, answered):
    enrolment = answered.enrolments.order_by("pk").first()
    lead_client.post(f"{PEOPLE}{enrolment.pk}/exclude/", {"reason": "Ticks everything", "ask_again": "on"})
    assert progress(answered).accepted == 2
    assert progress(answered).free == 14
    own = Assignment.objects.filter(annotator=enrolment.annotator, state="surplus", slot=None)
    assert own.count() == 2
    # Somebody takes both places of one of the two screens before the annotator is let back in.
    task = own.first().task
    for _ in range(task.wanted - task.assignments.filter(slot__isnull=False).count()):
        person = new_annotator(answered)
        Assignment.objects.create(
            task=task,
            annotator=person,
            slot=slots.take(task.pk, person.pk),
            expires_at=timezone.now() + timedelta(hours=1),
        )
    lead_client.post(f"{PEOPLE}{enrolment.pk}/resume/", {"reason": "A misunderstanding"})
    statuses = answered.annotations.filter(annotator=enrolment.annotator).values_list("status", flat=True)
    assert sorted(statuses) == ["accepted", "surplus"]
    assert inclusion.counted(answered).count() == 3


def test_impossible_actions_are_reported(answered, lead):
    enrolment = answered.enrolments.order_by("pk").first()
    with pytest.raises(Conflict, match="is active and cannot be resumed"):
        enrolments.resume(enrolment=enrolment, by=lead, reason="why not")
    with pytest.raises(DomainError, match="longer than 300"):
        enrolments.exclude(enrolment=enrolment, by=lead, reason="x" * 301)
    enrolment.refresh_from_db()
    assert enrolment.state == "active"
    assert not AuditEntry.objects.filter(action__startswith="enrolment.").exists()


def test_an_unknown_step_is_not_found(lead_client, answered):
    enrolment = answered.enrolments.first()
    assert lead_client.get(f"{PEOPLE}{enrolment.pk}/promote/").status_code == 404


@pytest.fixture
def mailed(marking, lead, settings):
    """Three people with letters, one of them refused."""
    settings.EMAIL_HOST = "mail.example.org"
    people = [Recipient(name, f"{name.lower()}@example.org") for name in ("Ada", "Bo", "Cleo")]
    text = LetterText(link_of=lambda token: f"https://labels.example.org/annotate/i/{token}/")
    letters.invite_people(campaign=marking, by=lead, recipients=people, text=text)
    sent = InvitationLetter.objects.exclude(invitation__label="Bo")
    sent.update(state="sent", sent_at=timezone.now())
    refused = InvitationLetter.objects.filter(invitation__label="Bo")
    refused.update(state="failed", problem="The mail server refused the address (550).")


def test_leads_read_addresses_and_why_a_letter_was_not_sent_and_analysts_do_not(
    mailed, lead_client, analyst_client
):
    page = lead_client.get(LINKS).content.decode()
    assert "bo@example.org" in page
    assert "The mail server refused the address (550)." in page
    seen = analyst_client.get(LINKS).content.decode()
    assert "example.org" not in seen
    assert "Ada" not in seen
    assert "e-mail not sent" in seen


def test_links_are_filtered_by_state_and_note(mailed, lead_client, analyst_client):
    def labels(client, query):
        return [line.invitation.label for line in client.get(LINKS, query).context["lines"]]

    assert labels(lead_client, {"state": "failed"}) == ["Bo"]
    assert labels(lead_client, {"q": "cle"}) == ["Cleo"]
    assert labels(lead_client, {"state": "sent", "q": "bo"}) == []
    assert len(labels(lead_client, {"state": "nonsense"})) == 3
    assert len(labels(analyst_client, {"q": "cle"})) == 3  # people who may not read notes may not search them


def test_letters_are_sent_again_after_a_confirmation(mailed, lead_client):
    address = f"{LINKS}letters/?state=sent"
    assert "2 people get" in " ".join(lead_client.get(address).content.decode().split())
    assert not InvitationLetter.objects.filter(state="planned").exists()
    lead_client.post(address)
    assert set(InvitationLetter.objects.values_list("invitation__label", "state")) == {
        ("Ada", "planned"),
        ("Bo", "failed"),
        ("Cleo", "planned"),
    }


def test_an_address_is_corrected_on_the_page_of_its_letter(mailed, lead_client):
    invitation = Invitation.objects.get(label="Bo")
    page = lead_client.get(f"{LINKS}{invitation.pk}/letter/")
    assert page.context["form"]["address"].value() == "bo@example.org"
    assert lead_client.post(f"{LINKS}{invitation.pk}/letter/", {"address": "bo@"}).status_code == 400
    lead_client.post(f"{LINKS}{invitation.pk}/letter/", {"address": "bob@example.org"})
    letter = InvitationLetter.objects.get(invitation=invitation)
    assert (letter.state, addresses.address_of(letter)) == ("planned", "bob@example.org")


def test_people_of_a_table_get_letters(lead_client, marking, settings):
    settings.EMAIL_HOST = "mail.example.org"
    table = SimpleUploadedFile("people.csv", b"Name;E-Mail\nAda;ada@example.org\nBo;\n")
    data = {"labels": "Cleo, cleo@example.org", "table": table, "language": "es", "message": "Buenos días."}
    page = lead_client.post(f"{LINKS}personal/", data)
    assert page.context["mailed"] == 2
    mailing = Mailing.objects.get()
    assert (mailing.language, mailing.message, mailing.letters.count()) == ("es", "Buenos días.", 2)
    again = lead_client.post(f"{LINKS}personal/", {"labels": "ADA@example.org"})
    assert again.status_code == 400
    assert "sent before to ADA@example.org" in again.content.decode()
    assert Invitation.objects.count() == 3


def test_a_page_of_two_thousand_links_takes_as_many_queries_as_one_of_three(
    mailed, marking, lead, lead_client, queries
):
    few = queries(lead_client, LINKS)
    for _ in range(4):
        invitations.invite_each(campaign=marking, by=lead, labels=[f"P{number}" for number in range(500)])
    assert queries(lead_client, LINKS) == few
    page = lead_client.get(LINKS)
    assert (page.context["total"], len(page.context["lines"])) == (2003, 25)
