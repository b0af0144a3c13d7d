"""The ids by which a panel names people and their places: sealed, found again by a keyed hash, erased in time.

They are personal data. Nothing else stores them: no log, session, history, table, release or labelling tool.
"""

from datetime import timedelta

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from accounts.models import User
from annotation.recruitment.models import PanelPerson, PanelPlace, Provider, Recruitment
from foundation import encryption
from foundation.errors import DomainError
from studies import audit

KEPT = timedelta(days=90)  # after everybody was paid or refused
_LONGEST = 200
_USE = "stereoscope panel ids"


def seal(text: str) -> str:
    return encryption.seal(text, use=_USE)


def unseal(sealed: str) -> str:
    return encryption.unseal(sealed, use=_USE)


def hashes(text: str) -> tuple[str, ...]:
    """Return the hashes of an id: the first is stored, all are searched."""
    return encryption.keyed_hashes(text, use=_USE)


def check(text: str) -> str:
    """Return an id from a link; raises DomainError if the panel put none there."""
    text = text.strip()
    # A panel leaves unknown placeholders unchanged: {{%ID%}}, %ID%, ${ID}, [ID].
    if not text or len(text) > _LONGEST or not text.isprintable() or any(mark in text for mark in "{}%$[]<>"):
        raise DomainError(
            "panel_id_missing",
            "The link does not say who you are. Open the link on the page of the panel that sent you.",
        )
    return text


@transaction.atomic
def show(*, place: PanelPlace, by: User) -> str:
    """Return the panel's id of a place, for a person who decides about it there; the history records who looked."""
    if not place.submission_sealed:
        raise DomainError("panel_id_erased", "The panel’s id of this place was erased.")
    campaign = place.recruitment.campaign
    audit.record(
        by=by, action="panel_place.id_shown", subject=place, study=campaign.study, campaign=campaign.name
    )
    return unseal(place.submission_sealed)


def erase_old() -> int:
    """Erase the ids of recruitments that were settled long ago; return how many places were concerned."""
    before = timezone.now() - KEPT
    return erase(Recruitment.objects.filter(settled_at__lte=before))


def erase(recruitments: QuerySet[Recruitment]) -> int:
    """Erase the ids of these recruitments; return how many places were concerned.

    A person's own id is erased with the last recruitment of the provider that might need it.
    """
    erased = 0
    for recruitment in recruitments.filter(panel_places__submission_hash__isnull=False).distinct():
        with transaction.atomic():
            places = PanelPlace.objects.filter(recruitment=recruitment)
            erased += places.update(submission_hash=None, submission_sealed="")
            needed = PanelPlace.objects.filter(submission_hash__isnull=False).values("person")
            people = PanelPerson.objects.filter(provider=recruitment.provider_id, id_hash__isnull=False)
            people.exclude(pk__in=needed.filter(person__isnull=False)).update(id_hash=None, id_sealed="")
    return erased


def person_of(provider: Provider, person_id: str) -> PanelPerson | None:
    """Return the person with this id in the panel, if they came before."""
    known = PanelPerson.objects.select_related("annotator__user")
    return known.filter(provider=provider, id_hash__in=hashes(person_id)).first()
