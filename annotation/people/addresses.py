"""Addresses of invited people and the links in their letters: sealed, found again by a keyed hash, erased in time.

They are personal data. Nothing else stores them: no log, job, session, history, table or release.
"""

from datetime import timedelta

from django.core.cache import cache
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from annotation.models import Campaign, Enrolment, Invitation, InvitationLetter
from foundation import encryption

KEPT = timedelta(days=30)  # after the letter was written
LOOKED = "annotation.people.addresses.looked"
_ONCE_IN_SECONDS = 60
_USE = "stereoscope invitation letters"
_BLANK = {"address_sealed": "", "link_sealed": ""}
State = InvitationLetter.State


def seal(text: str) -> str:
    return encryption.seal(text, use=_USE)


def unseal(sealed: str) -> str:
    return encryption.unseal(sealed, use=_USE)


def hashes(address: str) -> tuple[str, ...]:
    """Return the hashes of an address: the first is stored, all are searched. Case does not matter."""
    return encryption.keyed_hashes(address.strip().casefold(), use=_USE)


def address_of(letter: InvitationLetter) -> str:
    """Return the address of a letter; "" after it is erased."""
    return unseal(letter.address_sealed) if letter.address_sealed else ""


def forget(invitation: Invitation) -> None:
    """Erase address and link of a letter that is no longer needed, and cancel it if it was not sent yet."""
    letters = InvitationLetter.objects.filter(invitation=invitation)
    letters.filter(state=State.PLANNED).delete()
    letters.update(**_BLANK)


def invited_already(campaign: Campaign, addresses: list[str]) -> list[str]:
    """Return those of the addresses to which a letter of the campaign was written, while that is stored."""
    by_hash = {each: address for address in addresses for each in hashes(address)}
    letters = InvitationLetter.objects.filter(mailing__campaign=campaign, address_hash__in=list(by_hash))
    invited = {by_hash[each] for each in letters.values_list("address_hash", flat=True) if each}
    return [address for address in addresses if address in invited]


def erase_now_and_then() -> int:
    """Erase data that are no longer needed, unless that was done within the last minute."""
    return erase_old() if cache.add(LOOKED, 1, timeout=_ONCE_IN_SECONDS) else 0


def erase_old() -> int:
    """Erase addresses and links of old letters, and of links with which nobody can join; return how many letters."""
    letters = InvitationLetter.objects.filter(
        Q(address_hash__isnull=False) | ~Q(address_sealed="") | ~Q(link_sealed="")
    )
    old = letters.filter(planned_at__lte=timezone.now() - KEPT)
    old.filter(state=State.PLANNED).delete()
    erased = old.update(address_hash=None, **_BLANK)
    needless = _needless(letters)
    needless.filter(state=State.PLANNED).delete()
    return erased + needless.exclude(address_sealed="", link_sealed="").update(**_BLANK)


def _needless(letters: QuerySet[InvitationLetter]) -> QuerySet[InvitationLetter]:
    joined = Enrolment.objects.filter(
        campaign=OuterRef("invitation__campaign"), annotator=OuterRef("invitation__annotator")
    )
    return letters.filter(
        Exists(joined)
        | Q(invitation__revoked_at__isnull=False)
        | Q(invitation__expires_at__lte=timezone.now())
        | Q(invitation__campaign__state=Campaign.State.CLOSED)
    )
