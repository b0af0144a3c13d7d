"""The languages in which annotators read this platform, and its built-in texts in them.

Texts of pages and scripts are in the catalogues `django` and `djangojs` of `locale/`, which Django reads. Built-in
texts (consent, content notice, support, and kinds of campaign) are in the catalogue `texts`, read here.
"""

import gettext
from dataclasses import dataclass
from functools import cache
from pathlib import Path

LOCALE = Path(__file__).resolve().parents[2] / "locale"
ENGLISH = "en"
DRAFT_TRANSLATION = "Draft translation: have a speaker review it."


@dataclass(frozen=True)
class Language:
    """A language by its code. `reviewed` is who reviewed its catalogues, and when; empty for a draft."""

    code: str
    name: str  # in the language itself
    english_name: str
    reviewed: str = ""

    @property
    def is_draft(self) -> bool:
        return self.code != ENGLISH and not self.reviewed


# In the order in which annotators are offered them.
LANGUAGES = {
    language.code: language
    for language in (
        Language(ENGLISH, "English", "English"),
        Language("de", "Deutsch", "German"),
        Language("es", "Español", "Spanish"),
        Language("hi", "हिन्दी", "Hindi"),
    )
}
TRANSLATIONS = tuple(code for code in LANGUAGES if code != ENGLISH)


def of_locale(locale: str | None) -> str:
    """Return the code of a language of ours for a locale such as `es-mx`, English for any other."""
    code = (locale or ENGLISH).partition("-")[0]
    return code if code in LANGUAGES else ENGLISH


def built_in(text: str, language: str) -> str | None:
    """Return a built-in text in a language, None where the catalogue lacks any paragraph of it."""
    paragraphs = [_catalogue(language).get(paragraph) for paragraph in text.split("\n\n")]
    return "\n\n".join(map(str, paragraphs)) if all(paragraphs) else None


def translations(text: str) -> dict[str, str]:
    """Return a built-in text by language, without English."""
    return {code: found for code in TRANSLATIONS if (found := built_in(text, code)) is not None}


@cache
def _catalogue(language: str) -> dict[str, str]:
    with (LOCALE / language / "LC_MESSAGES" / "texts.mo").open("rb") as file:
        catalogue: dict[str, str] = gettext.GNUTranslations(file)._catalog  # type: ignore[attr-defined]
    return {text: words for text, words in catalogue.items() if text}
