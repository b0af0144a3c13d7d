"""The people whose answers count in a study, and their details about themselves."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from django.db.models import Exists, OuterRef

from accounts.models import AnnotatorProfile
from analysis.releases.privacy.coarsen import stated_by
from analysis.releases.privacy.languages import Languages, languages_read
from analysis.releases.privacy.levels import Profile
from annotation.answers.inclusion import counted
from annotation.models import Campaign, Enrolment

_AT_ONCE = 500


@dataclass(frozen=True)
class People:
    """Everybody with an answer that counts: origin by key, and the profiles of those who stated anything.

    `languages`: the languages that they read, if there are several. Readers of a release can see these, so the
    languages are part of the origin: a profile is shared with people who read the same languages.
    """

    origins: Mapping[int, str]
    stated: Mapping[int, Profile]
    languages: Languages = field(default_factory=dict)


def people_of(campaigns: Sequence[Campaign], *, using: str) -> People:
    """Read everybody with an answer that counts; one index lookup per person, however many answers there are."""
    origins: dict[int, str] = {}
    for campaign in campaigns:
        answered = Exists(counted(campaign).filter(annotator=OuterRef("annotator")))
        enrolled = Enrolment.objects.using(using).filter(answered, campaign=campaign)
        origins.update(enrolled.values_list("annotator", "annotator__origin"))
    languages = languages_read(campaigns, using=using)
    if languages:
        origins = {
            key: " ".join((origin, *sorted(languages.get(key, ())))) for key, origin in origins.items()
        }
    return People(dict(sorted(origins.items())), profiles_of(origins, using=using), languages)


def profiles_of(keys: Iterable[int], *, using: str) -> dict[int, Profile]:
    """Return these people's details, in the order of their keys."""
    ordered = sorted(keys)
    stated: dict[int, Profile] = {}
    for start in range(0, len(ordered), _AT_ONCE):
        batch = ordered[start : start + _AT_ONCE]
        rows = AnnotatorProfile.objects.using(using).filter(annotator__in=batch).order_by("annotator")
        stated.update(
            {row[0]: stated_by(row[1:]) for row in rows.values_list("annotator", *AnnotatorProfile.FIELDS)}
        )
    return stated
