"""Sending personal links by e-mail: an outbox from which a worker sends each letter once.

A letter is sent again only if a lead asks for it; it then contains the same link.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from accounts.models import User
from annotation.models import Campaign, Enrolment, Invitation, InvitationLetter, Mailing
from annotation.people import addresses, invitations
from annotation.people.letter_queue import wake
from annotation.people.recipients import Recipient, check_addresses, is_address
from foundation.errors import Conflict, DomainError
from foundation.languages import ENGLISH
from studies import audit

LONGEST_MESSAGE = 2000
State = InvitationLetter.State
_SHOWN = 5


@dataclass(frozen=True)
class LetterText:
    """The contents of letters: the language, the lead's addition, and the address of a link by its token."""

    link_of: Callable[[str], str]
    language: str = ENGLISH
    message: str = ""


def can_send() -> bool:
    """Return whether this server sends letters."""
    return bool(settings.EMAIL_HOST)


@transaction.atomic
def invite_people(
    *,
    campaign: Campaign,
    by: User | None,
    recipients: Sequence[Recipient],
    text: LetterText,
    expires_at: datetime | None = None,
) -> list[tuple[Invitation, str]]:
    """Make a personal link for each person and mail it to those who have an address; return links with tokens."""
    check_addresses(recipients)
    addressed = [recipient.address for recipient in recipients if recipient.address]
    if addressed:
        _refuse_if_unable(text)
    if invited := addresses.invited_already(campaign, addressed):
        more = f" and {len(invited) - _SHOWN:,} more" if len(invited) > _SHOWN else ""
        message = (
            f"A link of this campaign was sent before to {', '.join(invited[:_SHOWN])}{more}. "
            "Leave these addresses out; you can send their e-mails again from the list of links."
        )
        raise Conflict("addresses_invited", message, fields={"labels": message})
    links = invitations.invite_each(
        campaign=campaign,
        by=by,
        labels=[recipient.note for recipient in recipients],
        expires_at=expires_at,
    )
    letters = [
        _letter(invitation, recipient.address, text.link_of(token))
        for (invitation, token), recipient in zip(links, recipients, strict=True)
        if recipient.address
    ]
    if letters:
        _plan(campaign, by, text, letters)
    return links


@transaction.atomic
def send_to(*, invitation: Invitation, address: str, text: LetterText, by: User | None) -> InvitationLetter:
    """Mail a personal link to an address, which may be a corrected one. A link that is no longer stored is replaced
    first."""
    address = address.strip()
    if not is_address(address):
        message = "Enter an e-mail address, such as name@example.org."
        raise DomainError("addresses_invalid", message, fields={"address": message})
    _refuse_if_unable(text)
    _refuse_if_joined(invitation)
    letter = InvitationLetter.objects.select_for_update().filter(invitation=invitation).first()
    if letter is not None and letter.state in (State.PLANNED, State.SENDING):
        raise Conflict("letter_under_way", "This e-mail is already being sent.")
    if letter is not None and letter.link_sealed and invitation.revoked_at is None:
        link = addresses.unseal(letter.link_sealed)
    else:
        invitation, token = invitations.reissue(invitation=invitation, by=by)
        link = text.link_of(token)
    InvitationLetter.objects.filter(invitation=invitation).delete()
    letter = _letter(invitation, address, link)
    _plan(invitation.campaign, by, text, [letter])
    return letter


@transaction.atomic
def send_again(*, campaign: Campaign, links: QuerySet[Invitation], by: User | None) -> int:
    """Send letters again to people who have not joined; return to how many. Others of `links` are left out."""
    again = InvitationLetter.objects.select_for_update().filter(
        invitation__in=list(sendable_again(campaign, links).values_list("pk", flat=True))
    )
    keys = list(again.values_list("pk", flat=True))
    if not keys:
        raise Conflict("no_letters", "None of these links has a letter that can be sent again.")
    InvitationLetter.objects.filter(pk__in=keys).update(
        state=State.PLANNED, tries=0, next_try_at=None, problem=""
    )
    _record(campaign, by, "again", len(keys))
    wake(campaign, by=by)
    return len(keys)


def sendable_again(campaign: Campaign, links: QuerySet[Invitation]) -> QuerySet[Invitation]:
    """Return the links with a letter that is not being sent, and whose person has not joined."""
    joined = Enrolment.objects.filter(campaign=campaign).values("annotator")
    return (
        links.filter(campaign=campaign, revoked_at=None)
        .filter(letter__state__in=[State.SENT, State.FAILED, State.UNKNOWN])
        .exclude(letter__address_sealed="")
        .exclude(annotator__isnull=False, annotator__in=joined)
        .exclude(expires_at__lte=timezone.now())
    )


def hold_restored() -> int:
    """Hold letters that were planned when a backup was made: they may have been sent since. Return how many."""
    waiting = InvitationLetter.objects.filter(state__in=[State.PLANNED, State.SENDING])
    return waiting.update(
        state=State.UNKNOWN,
        next_try_at=None,
        problem="The server was restored from a backup. This e-mail may have been sent after the backup was made.",
    )


def _letter(invitation: Invitation, address: str, link: str) -> InvitationLetter:
    return InvitationLetter(
        invitation=invitation,
        address_sealed=addresses.seal(address),
        link_sealed=addresses.seal(link),
        address_hash=addresses.hashes(address)[0],
    )


def _plan(campaign: Campaign, by: User | None, text: LetterText, letters: Sequence[InvitationLetter]) -> None:
    mailing = Mailing.objects.create(
        campaign=campaign, language=text.language, message=text.message.strip(), created_by=by
    )
    for letter in letters:
        letter.mailing = mailing
    InvitationLetter.objects.bulk_create(letters)
    _record(campaign, by, "planned", len(letters))
    wake(campaign, by=by)


def _refuse_if_unable(text: LetterText) -> None:
    if not can_send():
        raise DomainError(
            "mail_not_set_up",
            "This server sends no e-mail. Leave the addresses out and hand the links over yourself, "
            "or ask the person who runs the server to set EMAIL_HOST.",
        )
    if len(text.message) > LONGEST_MESSAGE:
        message = f"Keep the message under {LONGEST_MESSAGE:,} characters."
        raise DomainError("message_too_long", message, fields={"message": message})


def _refuse_if_joined(invitation: Invitation) -> None:
    joined = Enrolment.objects.filter(campaign=invitation.campaign_id, annotator=invitation.annotator_id)
    if invitation.limit != 1:
        raise Conflict("link_for_several", "Only a link for one person can be sent by e-mail.")
    if invitation.annotator_id is not None and joined.exists():
        raise Conflict("link_used", "This person has joined already. Reissue the link if the person lost it.")


def _record(campaign: Campaign, by: User | None, how: str, number: int) -> None:
    audit.record(
        by=by,
        action=f"letters.{how}",
        subject=campaign,
        study=campaign.study,
        campaign=campaign.name,
        letters=number,
    )
