"""Handing letters to the mail server, each once.

A letter is claimed and the claim committed before it is passed to the mail server. A letter that the server refuses was
not sent. If the connection breaks in between, it is unknown whether it was sent: the letter is `unknown`, and only a
lead sends it again.
"""

import contextlib
import smtplib
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.core.mail import EmailMessage, get_connection
from django.utils import timezone, translation
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from annotation.models import Campaign, InvitationLetter
from annotation.people import addresses
from annotation.people.letter_queue import due, give_up_lost
from foundation.errors import DomainError
from jobs.progress.reporter import Progress

State = InvitationLetter.State
# Far longer than one letter takes: EMAIL_TIMEOUT limits each step of it.
_CLAIM_HOLDS = timedelta(minutes=10)
# After how many minutes a letter is tried again that the server put off, as servers do with strangers.
_TRIES_AGAIN = (1, 5, 30, 120, 360)


@dataclass(frozen=True)
class Delivery:
    """The state of a letter, and why it was not sent."""

    state: str
    problem: str = ""


@dataclass
class DeliveryCounts:
    sent: int = 0
    failed: int = 0
    later: int = 0
    unknown: int = 0


class Post:
    """A connection to the mail server; it is opened again if the server closed it."""

    def __init__(self) -> None:
        self.connection = get_connection()

    def __enter__(self) -> "Post":
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        with contextlib.suppress(smtplib.SMTPException, OSError):
            self.connection.close()

    def ready(self) -> None:
        """Open the connection, or check that it still is; raise SMTPException or OSError if it cannot be."""
        # Only the SMTP backend has a connection that the server may have closed meanwhile.
        session: Any = getattr(self.connection, "connection", None)
        if session is not None and not _answers(session):
            self.close()
        self.connection.open()

    def deliver(self, letter: EmailMessage) -> Delivery:
        """Send a letter once, and return its state. No error with an address leaves this function."""
        letter.connection = self.connection
        try:
            letter.send()
        except smtplib.SMTPRecipientsRefused as error:
            code = max((refusal[0] for refusal in error.recipients.values()), default=550)
            return _refused(code, "The mail server refused the address")
        except (smtplib.SMTPSenderRefused, smtplib.SMTPDataError) as error:
            return _refused(error.smtp_code, "The mail server refused the letter")
        except (smtplib.SMTPHeloError, smtplib.SMTPNotSupportedError):
            return Delivery(State.FAILED, "The mail server cannot send to this address.")
        except (smtplib.SMTPException, OSError) as error:
            self.close()
            reason = f"The connection broke off ({type(error).__name__}). The e-mail may have been sent."
            return Delivery(State.UNKNOWN, reason)
        return Delivery(State.SENT)


def send_due(campaign: Campaign, progress: Progress) -> DeliveryCounts:
    """Send the letters of a campaign that are due; raises DomainError if the mail server cannot be reached."""
    give_up_lost()
    counts = DeliveryCounts()
    progress.start(due(campaign).count())
    with Post() as post:
        while (
            letter := due(campaign).select_related("invitation", "mailing__created_by").first()
        ) is not None:
            progress.check_cancelled()
            try:
                post.ready()
            except (smtplib.SMTPException, OSError) as error:
                raise _unreachable(campaign, error) from None
            if _claim(letter):
                _note(letter, post.deliver(write(letter)), counts)
                progress.advance()
    return counts


def write(letter: InvitationLetter) -> EmailMessage:
    """Return the letter in its language. It names no study, group or campaign: annotators must not know them."""
    mailing = letter.mailing
    with translation.override(mailing.language):
        paragraphs = [
            mailing.message,
            _("You are invited to take part in a research study. This is your personal link:"),
            addresses.unseal(letter.link_sealed),
            _(
                "The page that opens says what the work is, how much there is and what you get for it. "
                "Nothing begins before you agree on that page."
            ),
            _(
                "The link is for you only; please do not pass it on. The link also brings you back to your work."
            ),
            _expiry(letter.invitation.expires_at),
            _("If you do not want to take part, you need not do anything."),
        ]
        subject = _("Your personal link to a research study")
    by = mailing.created_by
    return EmailMessage(
        subject,
        "\n\n".join(filter(None, paragraphs)) + "\n",
        settings.DEFAULT_FROM_EMAIL,
        [addresses.address_of(letter)],
        reply_to=[by.email] if by is not None and by.email else None,
    )


def _expiry(moment: datetime | None) -> str:
    if moment is None:
        return ""
    day = date_format(timezone.localtime(moment), "DATE_FORMAT")
    return _("You can join until %(day)s.") % {"day": day}


def _claim(letter: InvitationLetter) -> bool:
    """Claim a letter before it is sent; False if another worker did, or if it must no longer be sent."""
    planned = InvitationLetter.objects.filter(pk=letter.pk, state=State.PLANNED, tries=letter.tries)
    until = timezone.now() + _CLAIM_HOLDS
    return planned.update(state=State.SENDING, tries=letter.tries + 1, next_try_at=until) == 1


def _note(letter: InvitationLetter, delivery: Delivery, counts: DeliveryCounts) -> None:
    tries = letter.tries + 1
    fields: dict[str, Any] = {"state": delivery.state, "problem": delivery.problem, "next_try_at": None}
    if delivery.state == State.SENT:
        fields["sent_at"] = timezone.now()
        counts.sent += 1
    elif delivery.state == State.PLANNED and tries <= len(_TRIES_AGAIN):
        fields["next_try_at"] = timezone.now() + timedelta(minutes=_TRIES_AGAIN[tries - 1])
        counts.later += 1
    elif delivery.state == State.UNKNOWN:
        counts.unknown += 1
    else:
        fields["state"] = State.FAILED
        counts.failed += 1
    own = InvitationLetter.objects.filter(pk=letter.pk, tries=tries)
    if fields["state"] == State.PLANNED:
        # Erased meanwhile: the person joined by the link in another way.
        own.filter(state=State.SENDING, address_sealed="").update(
            state=State.FAILED, next_try_at=None, problem=delivery.problem
        )
    own.filter(state__in=[State.SENDING, State.UNKNOWN]).update(**fields)


def _refused(code: int, sentence: str) -> Delivery:
    """4xx: the server asks to try again later; 5xx: it never will."""
    return Delivery(State.PLANNED if 400 <= code < 500 else State.FAILED, f"{sentence} ({code}).")


def _answers(session: smtplib.SMTP) -> bool:
    try:
        return session.noop()[0] == 250
    except (smtplib.SMTPException, OSError):
        return False


def _unreachable(campaign: Campaign, error: Exception) -> DomainError:
    """Postpone the letters, and log only the type of error, because a mail server's answer may contain addresses."""
    due(campaign).update(next_try_at=timezone.now() + timedelta(minutes=_TRIES_AGAIN[1]))
    return DomainError(
        "mail_not_sent",
        f"The mail server cannot be reached ({type(error).__name__}). Check EMAIL_HOST and the other EMAIL settings. "
        "This server tries to send the e-mails again in five minutes.",
    )
