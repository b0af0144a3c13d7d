"""Personal links sent through a real mail server: each letter once, to the right address, with failures reported."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.campaigns import lifecycle
from annotation.models import InvitationLetter, Mailing
from annotation.people import addresses, invitations, letter_delivery, letter_queue, letters
from annotation.people.letters import LetterText
from annotation.people.recipients import Recipient
from foundation.errors import Conflict, DomainError
from jobs.models import Job
from jobs.progress.reporter import Unwatched
from jobs.run.execution import execute
from studies.models import AuditEntry
from tests.services.mail import free_port, mail_server

__all__ = ["mail_server"]
pytestmark = pytest.mark.django_db
State = InvitationLetter.State
SITE = "https://labels.example.org"


@pytest.fixture(autouse=True)
def _mail(settings):
    settings.EMAIL_HOST = "mail.example.org"


def link_of(token):
    return f"{SITE}/annotate/i/{token}/"


def invite(campaign, lead, *people, **text):
    recipients = [Recipient(note, address) for note, address in people]
    return letters.invite_people(
        campaign=campaign, by=lead, recipients=recipients, text=LetterText(link_of=link_of, **text)
    )


def send(campaign):
    return letter_delivery.send_due(campaign, Unwatched())


def body(letter) -> str:
    return letter.get_payload(decode=True).decode()


def tokens_in(letter) -> list[str]:
    return re.findall(r"/annotate/i/([\w-]+)/", body(letter))


def states() -> dict[str, str]:
    return dict(InvitationLetter.objects.values_list("invitation__label", "state"))


def test_each_person_gets_a_letter_with_their_link(marking, lead, mail_server):
    lead.email = "lena@example.org"
    lead.save()
    links = invite(marking, lead, ("Ada", "ada@example.org"), ("Bo", ""), ("", "cleo@example.org"))
    (job,) = Job.objects.filter(kind=letter_queue.SEND)
    execute(job.pk)
    job.refresh_from_db()
    assert (job.state, job.result["summary"]) == ("succeeded", "2 of 2 e-mails were sent.")
    sent = {letter["To"]: letter for letter in mail_server.letters()}
    assert set(sent) == {"ada@example.org", "cleo@example.org"}
    token_of = {invitation.label: token for invitation, token in links}
    assert tokens_in(sent["ada@example.org"]) == [token_of["Ada"]]
    assert sent["ada@example.org"]["Reply-To"] == "lena@example.org"
    assert states() == {"Ada": "sent", "": "sent"}


def test_a_letter_names_neither_study_nor_campaign_and_holds_the_leads_words(marking, lead, mail_server):
    invite(marking, lead, ("Ada", "ada@example.org"), language="de", message="Guten Tag, Frau Beispiel.")
    send(marking)
    (letter,) = mail_server.letters()
    text = f"{letter['Subject']} {body(letter)}"
    assert "Guten Tag, Frau Beispiel." in text
    assert "Studie" in text  # the built-in sentences are in German
    assert "Ada" not in text
    for name in (marking.name, marking.study.name, *marking.study.groups.values_list("name", flat=True)):
        assert name not in body(letter)


def test_neither_address_nor_link_is_stored_readably(marking, lead):
    ((_, token),) = invite(marking, lead, ("Ada", "ada@example.org"))
    rows = [*InvitationLetter.objects.values(), *Mailing.objects.values(), *Job.objects.values()]
    stored = repr(rows) + repr(list(AuditEntry.objects.values()))
    assert "ada@example.org" not in stored
    assert token not in stored
    assert AuditEntry.objects.get(action="letters.planned").details["letters"] == 1


def test_refusals_of_the_mail_server_are_shown_without_the_address(marking, lead, mail_server, caplog):
    invite(marking, lead, ("Ada", "nobody@example.org"), ("Bo", "bo@example.org"))
    counts = send(marking)
    assert (counts.sent, counts.failed) == (1, 1)
    letter = InvitationLetter.objects.get(state=State.FAILED)
    assert letter.problem == "The mail server refused the address (550)."
    assert "nobody" not in caplog.text


def test_a_deferred_letter_is_retried(marking, lead, mail_server):
    invite(marking, lead, ("Ada", "later@example.org"))
    assert send(marking).later == 1
    letter = InvitationLetter.objects.get()
    assert letter.state == State.PLANNED
    assert timedelta(0) < letter.next_try_at - timezone.now() <= timedelta(minutes=1)
    assert send(marking).sent == 0  # not before its time
    InvitationLetter.objects.update(next_try_at=timezone.now())
    assert send(marking).sent == 1
    assert len(mail_server.letters()) == 1


def test_a_letter_is_given_up_after_some_tries(marking, lead, mail_server):
    invite(marking, lead, ("Ada", "later@example.org"))
    InvitationLetter.objects.update(tries=len(letter_delivery._TRIES_AGAIN))
    assert send(marking).failed == 1
    assert states() == {"Ada": "failed"}


def test_a_letter_of_unknown_outcome_is_never_resent_automatically(marking, lead, mail_server):
    invite(marking, lead, ("Ada", "silent@example.org"), ("Bo", "bo@example.org"))
    counts = send(marking)
    assert (counts.unknown, counts.sent) == (1, 1)
    assert states() == {"Ada": "unknown", "Bo": "sent"}
    letter_queue.sweep()
    send(marking)
    assert len(mail_server.letters()) == 2
    assert letters.send_again(campaign=marking, links=marking.invitations.filter(label="Ada"), by=lead) == 1
    send(marking)
    first, second = (letter for letter in mail_server.letters() if letter["To"] == "silent@example.org")
    assert tokens_in(first) == tokens_in(second)


def test_a_letter_claimed_by_a_worker_that_died_is_unknown(marking, lead, mail_server):
    invite(marking, lead, ("Ada", "ada@example.org"))
    assert letter_delivery._claim(InvitationLetter.objects.get())
    send(marking)
    assert states() == {"Ada": "sending"}
    InvitationLetter.objects.update(next_try_at=timezone.now())
    letter_queue.sweep()
    send(marking)
    assert states() == {"Ada": "unknown"}
    assert mail_server.letters() == []


def test_a_letter_is_claimed_by_one_worker_only(marking, lead):
    invite(marking, lead, ("Ada", "ada@example.org"))
    first, second = (InvitationLetter.objects.get() for _ in range(2))
    assert letter_delivery._claim(first)
    assert not letter_delivery._claim(second)


def test_an_unreachable_mail_server_fails_the_job_and_keeps_the_letters(marking, lead, settings):
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", free_port()
    invite(marking, lead, ("Ada", "ada@example.org"))
    job = Job.objects.get(kind=letter_queue.SEND)
    execute(job.pk)
    job.refresh_from_db()
    assert (job.state, job.error_code) == ("failed", "mail_not_sent")
    assert states() == {"Ada": "planned"}
    letter_queue.sweep()
    assert Job.objects.filter(kind=letter_queue.SEND).count() == 1  # not due yet
    InvitationLetter.objects.update(next_try_at=None)
    Job.objects.update(finished_at=timezone.now() - timedelta(minutes=6))
    letter_queue.sweep()
    assert Job.objects.filter(kind=letter_queue.SEND, state="queued").count() == 1


def test_without_a_mail_server_addresses_are_refused(marking, lead, settings):
    settings.EMAIL_HOST = ""
    with pytest.raises(DomainError, match="sends no e-mail"):
        invite(marking, lead, ("Ada", "ada@example.org"))
    assert not marking.invitations.exists()


@pytest.mark.parametrize(
    ("people", "code"),
    [
        ([("Ada", "ada@")], "addresses_invalid"),
        ([("Ada", "a@example.org\nBcc: b@example.org")], "addresses_invalid"),
        ([("Ada", "ada@example.org"), ("Bo", "Ada@Example.org")], "addresses_repeated"),
    ],
)
def test_wrong_addresses_make_no_links(marking, lead, people, code):
    with pytest.raises(DomainError) as refusal:
        invite(marking, lead, *people)
    assert refusal.value.code == code
    assert not marking.invitations.exists()


def test_a_list_that_is_uploaded_twice_sends_nobody_a_second_link(marking, lead):
    invite(marking, lead, ("Ada", "ada@example.org"))
    with pytest.raises(Conflict, match=r"sent before to ADA@example\.org"):
        invite(marking, lead, ("Ada", "ADA@example.org"), ("Bo", "bo@example.org"))
    assert marking.invitations.count() == 1


def test_joining_erases_address_and_link(marking, lead, mail_server):
    ((_, token),) = invite(marking, lead, ("Ada", "ada@example.org"))
    send(marking)
    invitations.accept(token=token, user=None)
    letter = InvitationLetter.objects.get()
    assert (letter.address_sealed, letter.link_sealed, letter.state) == ("", "", "sent")
    with pytest.raises(Conflict):
        letters.send_again(campaign=marking, links=marking.invitations.all(), by=lead)


@pytest.mark.parametrize("verb", [invitations.revoke, invitations.reissue])
def test_a_link_that_stops_working_is_not_sent_any_more(marking, lead, verb):
    ((invitation, _),) = invite(marking, lead, ("Ada", "ada@example.org"))
    verb(invitation=invitation, by=lead)
    assert not InvitationLetter.objects.exists()


def test_a_letter_whose_link_has_expired_is_not_sent_again(marking, lead, mail_server):
    invite(marking, lead, ("Ada", "ada@example.org"))
    send(marking)
    marking.invitations.update(expires_at=timezone.now())
    with pytest.raises(Conflict, match="can be sent again"):
        letters.send_again(campaign=marking, links=marking.invitations.all(), by=lead)
    assert states() == {"Ada": "sent"}


def test_addresses_are_erased_after_thirty_days_or_when_the_campaign_closes(marking, lead, mail_server):
    invite(marking, lead, ("Ada", "ada@example.org"))
    send(marking)
    addresses.erase_old()
    assert InvitationLetter.objects.get().address_sealed
    lifecycle.close(campaign=marking, by=lead)
    assert addresses.erase_old() == 1
    assert InvitationLetter.objects.get().address_hash
    InvitationLetter.objects.update(planned_at=timezone.now() - addresses.KEPT)
    assert addresses.erase_old() == 1
    assert InvitationLetter.objects.get().address_hash is None
    assert addresses.erase_old() == 0


def test_a_corrected_address_gets_the_same_link(marking, lead, mail_server):
    ((invitation, token),) = invite(marking, lead, ("Ada", "nobody@example.org"))
    send(marking)
    letters.send_to(
        invitation=invitation, address="ada@example.org", text=LetterText(link_of=link_of), by=lead
    )
    assert send(marking).sent == 1
    (letter,) = mail_server.letters()
    assert (letter["To"], tokens_in(letter)) == ("ada@example.org", [token])


def test_a_link_that_is_not_stored_is_replaced_before_it_is_mailed(marking, lead, mail_server):
    invitation, token = invitations.invite(campaign=marking, by=lead, label="Ada")
    letters.send_to(
        invitation=invitation, address="ada@example.org", text=LetterText(link_of=link_of), by=lead
    )
    send(marking)
    (fresh,) = tokens_in(mail_server.letters()[0])
    assert fresh != token
    assert invitations.look_up(fresh) == invitation


def test_the_link_of_somebody_who_joined_is_not_mailed(marking, lead, settings):
    invitation, token = invitations.invite(campaign=marking, by=lead, label="Ada")
    invitations.accept(token=token, user=None)
    invitation.refresh_from_db()
    with pytest.raises(Conflict, match="joined already"):
        letters.send_to(
            invitation=invitation, address="ada@example.org", text=LetterText(link_of=link_of), by=lead
        )


def test_after_a_restore_letters_wait_for_a_lead(marking, lead, mail_server):
    invite(marking, lead, ("Ada", "ada@example.org"))
    assert letters.hold_restored() == 1
    send(marking)
    assert states() == {"Ada": "unknown"}
    assert mail_server.letters() == []
