"""The languages of pages for annotators, and built-in texts in these languages.

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
    """A language. `reviewed` names the reviewer of its catalogues and the date; empty for a draft."""

    code: str
    name: str  # in the language itself
    english_name: str
    reviewed: str = ""

    @property
    def is_draft(self) -> bool:
        return self.code != ENGLISH and not self.reviewed


# In the order of the choice for annotators.
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
    """Return the code of the language for a locale such as `es-mx`; English if it is not offered."""
    code = (locale or ENGLISH).partition("-")[0]
    return code if code in LANGUAGES else ENGLISH


def built_in(text: str, language: str) -> str | None:
    """Return a built-in text in a language, or None if the catalogue lacks any paragraph of it."""
    catalogue = _catalogue(language)
    # Do not look up empty paragraphs: catalogues have their header under the empty text.
    paragraphs = [paragraph and catalogue.gettext(paragraph) for paragraph in text.split("\n\n")]
    return "\n\n".join(paragraphs) if all(paragraphs) else None


def translations(text: str) -> dict[str, str]:
    """Return language → translation of a built-in text, without English."""
    return {code: found for code in TRANSLATIONS if (found := built_in(text, code)) is not None}


class _Untranslated(gettext.NullTranslations):
    """Returns "" for every text, whereas gettext would return the text itself."""

    def gettext(self, message: str) -> str:  # noqa: ARG002
        return ""


@cache
def _catalogue(language: str) -> gettext.GNUTranslations:
    with (LOCALE / language / "LC_MESSAGES" / "texts.mo").open("rb") as file:
        catalogue = gettext.GNUTranslations(file)
    catalogue.add_fallback(_Untranslated())
    return catalogue
