"""The language in which a person reads a campaign. Texts without a translation stay in English."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from django.conf import settings
from django.utils import translation

from annotation.models import Campaign, Enrolment

SOURCE_LANGUAGE = "en"  # in which leads write


class Translated(Protocol):
    """An object with translations: a version of what annotators read."""

    @property
    def translations(self) -> Mapping[str, Mapping[str, Sequence[str]]]: ...


def platform_languages() -> tuple[str, ...]:
    """Return the languages that the pages for annotators exist in."""
    return tuple(code for code, _ in settings.LANGUAGES)


def page_language() -> str:
    """Return the language of the page or request that is being answered."""
    return (translation.get_language() or SOURCE_LANGUAGE).partition("-")[0]


def offered(campaign: Campaign) -> tuple[str, ...]:
    """Return the languages that annotators of a campaign can choose, English first."""
    return tuple(campaign.offered_languages or platform_languages())


def language_of(chosen: str | None, offered_languages: Sequence[str] | None) -> str:
    """Return a person's language: the chosen one, else the browser's, else English."""
    codes = offered_languages or platform_languages()
    return next((code for code in (chosen, page_language()) if code and code in codes), SOURCE_LANGUAGE)


def read_as(enrolment: Enrolment) -> Enrolment:
    """Answer the running request in the language that the annotator reads the campaign in."""
    translation.activate(language_of(enrolment.language, enrolment.campaign.offered_languages))
    return enrolment


def in_reader_language(translated: Translated | None, key: str, text: str) -> str:
    """Return the translation of a text of a campaign into the language of the page, or the text itself."""
    if translated is None:
        return text
    return str(translated.translations.get(page_language(), {}).get(key, (text,))[0])
