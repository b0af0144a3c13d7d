"""Annotators' details about themselves: every part is optional and can be changed or emptied at any time.

Typed words are stored unchanged (`AnnotatorProfile.words`), together with a code if the spelling is unambiguous, if a
study has a people or region of this name, or if a lead matched the words with a code.
"""

import unicodedata
from collections.abc import Iterable, Sequence

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.module_loading import import_string
from django.utils.translation import gettext

from accounts.models import Annotator, AnnotatorProfile, MatchedWords, User
from accounts.profile_codes import codes
from foundation.errors import DomainError

LANGUAGES_AT_MOST = 20
LANGUAGE_LENGTH = 60
LENGTHS = {"gender": 60, "region_of_origin": 80, "nationality": 80, "country_of_residence": 80}


def of(annotator: Annotator) -> AnnotatorProfile:
    """Return the profile of `annotator`, an empty unsaved one if there is none yet."""
    profile = AnnotatorProfile.objects.filter(annotator=annotator).first()
    return profile or AnnotatorProfile(annotator=annotator)


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
    """Save the whole profile; omitted fields are emptied."""
    profile = of(annotator)
    texts = {
        "gender": _tidy(gender),
        "region_of_origin": _tidy(region_of_origin),
        "nationality": _tidy(nationality),
        "country_of_residence": _tidy(country_of_residence),
    }
    listed = parse_languages(languages)
    profile.words = {field: text for field, text in texts.items() if text}
    if listed:
        profile.words["languages"] = listed
    profile.age_band = age_band
    for field in LENGTHS:
        setattr(profile, field, "")
    profile.languages = []
    _code(profile)
    _check(profile, texts)
    profile.save()
    # Quotas depend on profiles, but this app must not import campaigns, so the settings name the listeners.
    import_string(settings.PROFILE_CHANGED)(annotator)
    return profile


def code_of(field: str, text: str) -> str:
    """Return the code of typed words: their own, that of a study's people, or a lead's match; otherwise ""."""
    if code := sure_code_of(field, text):
        return code
    matched = MatchedWords.objects.filter(field=field, words=words_key(text)).first() if text else None
    return matched.code if matched else ""


def sure_code_of(field: str, text: str) -> str:
    """Return the code of typed words without leads' matches."""
    return codes.code_of(field, text) or str(import_string(settings.PROFILE_OWN_CODES)(field, text))


def words_key(text: str) -> str:
    """Return words in the form for comparison: without differences of case and spaces.

    Accents stay, because they distinguish words: Hungarian “nő” is a woman, “no” is no answer.
    """
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())[:80]


@transaction.atomic
def match(*, field: str, words: str, code: str, by: User | None) -> int:
    """Match annotators' words with `code`, or with none if it is empty; return the number of changed profiles."""
    if field not in codes.CODED:
        raise DomainError("field_unknown", f"The profile field “{field}” has no codes.")
    key = words_key(words)
    chosen = codes.canonical(field, code) if code else ""
    if code and not chosen:
        raise DomainError(
            "code_unknown",
            f"“{code}” is not a code for this field.",
            fields={"code": "Choose an answer from the list."},
        )
    if chosen:
        MatchedWords.objects.update_or_create(
            field=field, words=key, defaults={"code": chosen, "decided_by": by}
        )
    else:
        MatchedWords.objects.filter(field=field, words=key).delete()
    profiles = AnnotatorProfile.objects.select_for_update(of=("self",)).filter(words__has_key=field)
    return recode(profile for profile in profiles.order_by("pk") if key in _keys(profile, field))


def recode(profiles: Iterable[AnnotatorProfile]) -> int:
    """Update the codes of profiles to the current reading of their words; return the number changed."""
    changed = 0
    for profile in profiles:
        before = [getattr(profile, field) for field in codes.CODED]
        _code(profile)
        if before != [getattr(profile, field) for field in codes.CODED]:
            profile.save()
            import_string(settings.PROFILE_CHANGED)(profile.annotator)
            changed += 1
    return changed


def shown(profile: AnnotatorProfile, field: str) -> str:
    """Return the displayed value of a field: the person's own words, or the name of the code."""
    if field == "languages":
        listed = profile.words.get(field) or [codes.label(field, code) for code in profile.languages]
        return ", ".join(code for code in listed if code != codes.UNCODED)
    return profile.words.get(field) or codes.label(field, getattr(profile, field))


def parse_languages(languages: Sequence[str]) -> list[str]:
    """Return the languages with spaces tidied and duplicates removed regardless of case, in the given order."""
    names: dict[str, str] = {}
    for language in map(_tidy, languages):
        if len(language) > LANGUAGE_LENGTH:
            raise DomainError(
                "language_too_long",
                gettext("A language has at most %(most)s characters; put commas between languages.")
                % {"most": LANGUAGE_LENGTH},
                fields={"languages": "one language is too long"},
            )
        if language:
            names.setdefault(language.casefold(), language)
    if len(names) > LANGUAGES_AT_MOST:
        raise DomainError(
            "too_many_languages",
            gettext("Name at most %(most)s languages.") % {"most": LANGUAGES_AT_MOST},
            fields={"languages": f"{len(names)} named"},
        )
    return list(names.values())


def _code(profile: AnnotatorProfile) -> None:
    """Set the codes of a profile from its words."""
    for field in LENGTHS:
        if text := profile.words.get(field, ""):
            setattr(profile, field, code_of(field, text))
    if listed := profile.words.get("languages", []):
        language_codes = [code_of("languages", text) or codes.UNCODED for text in listed]
        profile.languages = list(dict.fromkeys(language_codes))


def _keys(profile: AnnotatorProfile, field: str) -> set[str]:
    text_or_list = profile.words.get(field, "")
    return {words_key(text) for text in (text_or_list if isinstance(text_or_list, list) else [text_or_list])}


def _check(profile: AnnotatorProfile, texts: dict[str, str]) -> None:
    fields = {
        name: gettext("Use at most %(most)s characters.") % {"most": most}
        for name, most in LENGTHS.items()
        if len(texts[name]) > most
    }
    try:
        profile.full_clean(exclude=["annotator", *LENGTHS])
    except ValidationError as error:
        fields |= {name: " ".join(messages) for name, messages in error.message_dict.items()}
    if fields:
        message = "; ".join(f"{name}: {text}" for name, text in fields.items())
        raise DomainError("profile_invalid", message, fields=fields)


def _tidy(text: str) -> str:
    return " ".join(text.split())
