"""What annotators say of themselves: each part optional, changed or emptied whenever they like."""

from collections.abc import Sequence

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.module_loading import import_string

from accounts.errors import DomainError
from accounts.models import Annotator, AnnotatorProfile

LANGUAGES_AT_MOST = 20
LANGUAGE_LENGTH = 60


def of(annotator: Annotator) -> AnnotatorProfile:
    """Return the profile of `annotator`, an empty unsaved one if there is none yet."""
    found = AnnotatorProfile.objects.filter(annotator=annotator).first()
    return found or AnnotatorProfile(annotator=annotator)


@transaction.atomic
def describe(
    *,
    annotator: Annotator,
    gender: str = "",
    region_of_origin: str = "",
    nationality: str = "",
    country_of_residence: str = "",
    age_band: str = "",
    languages: Sequence[str] = (),
) -> AnnotatorProfile:
    """Write the whole profile: what is left out is emptied."""
    profile = of(annotator)
    profile.gender = _tidy(gender)
    profile.region_of_origin = _tidy(region_of_origin)
    profile.nationality = _tidy(nationality)
    profile.country_of_residence = _tidy(country_of_residence)
    profile.age_band = age_band
    profile.languages = parse_languages(languages)
    try:
        profile.full_clean(exclude=["annotator"])
    except ValidationError as error:
        fields = {name: " ".join(messages) for name, messages in error.message_dict.items()}
        raise DomainError(
            "profile_invalid", "; ".join(f"{name}: {text}" for name, text in fields.items()), fields=fields
        ) from None
    profile.save()
    # Quotas look at profiles, and accounts know no campaigns: the settings name who has to be told.
    import_string(settings.PROFILE_CHANGED)(annotator)
    return profile


def parse_languages(languages: Sequence[str]) -> list[str]:
    """Return the languages named, tidied, each once whatever its case, in the order given."""
    named: dict[str, str] = {}
    for language in map(_tidy, languages):
        if len(language) > LANGUAGE_LENGTH:
            raise DomainError(
                "language_too_long",
                f"A language has at most {LANGUAGE_LENGTH} characters; put commas between languages.",
                fields={"languages": "one is too long"},
            )
        if language:
            named.setdefault(language.casefold(), language)
    if len(named) > LANGUAGES_AT_MOST:
        raise DomainError(
            "too_many_languages",
            f"Name at most {LANGUAGES_AT_MOST} languages.",
            fields={"languages": f"{len(named)} named"},
        )
    return list(named.values())


def _tidy(text: str) -> str:
    return " ".join(text.split())
