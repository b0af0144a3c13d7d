"""The progress of a campaign's translations: missing texts, and texts that changed after translation."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.utils.translation import get_language_info

from annotation.campaigns.instruments import versions
from annotation.campaigns.instruments.languages.sources import SourceText, source_texts
from annotation.models import Campaign, CampaignLanguage
from foundation.languages import LANGUAGES

MISSING, OUTDATED, TRANSLATED, BUILT_IN = "missing", "outdated", "translated", "built-in"


@dataclass(frozen=True)
class TranslatedText:
    """One text in one language. An outdated one translates an earlier version of the source."""

    source: SourceText
    text: str
    state: str


@dataclass(frozen=True)
class LanguageState:
    """One language of a campaign."""

    row: CampaignLanguage
    texts: tuple[TranslatedText, ...]
    offered: bool

    @property
    def code(self) -> str:
        return self.row.language

    @property
    def name(self) -> str:
        return language_name(self.code)

    @property
    def is_draft(self) -> bool:
        """Whether nobody has reviewed the built-in texts of the language."""
        return LANGUAGES[self.code].is_draft if self.code in LANGUAGES else False

    @property
    def counts(self) -> Counter[str]:
        return Counter(text.state for text in self.texts)

    @property
    def missing(self) -> int:
        return self.counts[MISSING]

    @property
    def outdated(self) -> int:
        return self.counts[OUTDATED]

    @property
    def complete(self) -> bool:
        return not self.missing and not self.outdated

    @property
    def allowed(self) -> bool:
        """Whether annotators may choose it: it is complete, or a lead left texts untranslated on purpose."""
        return self.complete or bool(self.row.untranslated_reason)


def language_name(code: str) -> str:
    """Return the English name of a language."""
    try:
        return str(get_language_info(code)["name"])
    except KeyError:
        return code


def language_states(campaign: Campaign) -> list[LanguageState]:
    """Return the languages of a campaign besides English, each with every text."""
    rows = list(campaign.languages.all())
    if not rows:
        return []
    sources, translations = source_texts(campaign), versions.current(campaign).translations
    offered = campaign.offered_languages or ()
    return [
        LanguageState(
            row,
            tuple(translated_text(source, row.language, translations) for source in sources),
            row.language in offered,
        )
        for row in rows
    ]


def translated_text(
    source: SourceText, language: str, translations: Mapping[str, Mapping[str, Sequence[str]]]
) -> TranslatedText:
    """Return a text in a language: a lead's translation, else the translation of the platform or the study."""
    stored = translations.get(language, {}).get(source.key)
    if stored is not None:
        text, digest = stored
        return TranslatedText(source, text, TRANSLATED if digest == source.digest else OUTDATED)
    if built_in := source.built_in.get(language, ""):
        return TranslatedText(source, built_in, BUILT_IN)
    return TranslatedText(source, "", MISSING)
