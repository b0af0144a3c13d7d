"""Translating a campaign: its languages, uploads, and the languages that annotators can choose."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import BinaryIO

from django.db import transaction

from accounts.models import User
from annotation.answers.languages import SOURCE_LANGUAGE, offered, platform_languages
from annotation.campaigns.instruments import versions
from annotation.campaigns.instruments.languages import files
from annotation.campaigns.instruments.languages.progress import (
    OUTDATED,
    TRANSLATED,
    LanguageState,
    language_name,
    language_states,
    translated_text,
)
from annotation.campaigns.instruments.languages.sources import (
    SourceText,
    source_texts,
    with_translations,
)
from annotation.kinds.registry import kind_of
from annotation.models import Campaign, CampaignLanguage, Enrolment
from foundation.errors import Conflict, DomainError
from studies import audit, consent

LONGEST_REASON = 300
# Texts that answers are about: who answered has read them, so they are fixed when the campaign opens.
_FIXED = ("attribute.", "question.", "work")
_CONSENT = "consent."
ByLanguage = Mapping[str, Mapping[str, tuple[str, str]]]


@dataclass(frozen=True)
class Upload:
    """The changes of an upload: the number of texts per language, and how many of them translate an earlier source."""

    changed: Mapping[str, int]
    outdated: int

    @property
    def sentence(self) -> str:
        if not self.changed:
            return "The file contains nothing new."
        parts = [f"{language_name(code)}: {number:,}" for code, number in sorted(self.changed.items())]
        sentence = f"Texts stored — {', '.join(parts)}."
        if self.outdated:
            sentence += f" {self.outdated:,} of these texts were translated from an earlier English text."
        return sentence


@transaction.atomic
def add_language(*, campaign: Campaign, language: str, by: User | None) -> CampaignLanguage:
    """Allow the translation of a campaign into one of the languages of annotators' pages."""
    campaign = _changeable(campaign)
    choices = [code for code in platform_languages() if code != SOURCE_LANGUAGE]
    if language not in choices:
        message = f"Choose one of these languages: {', '.join(map(language_name, choices))}."
        raise DomainError("language_unknown", message, fields={"language": message})
    row, created = CampaignLanguage.objects.get_or_create(
        campaign=campaign, language=language, defaults={"created_by": by}
    )
    if created:
        _record(campaign, by, "language_added", language=language)
        settle_opened(campaign, by=by)
    return row


@transaction.atomic
def remove_language(*, campaign: Campaign, language: str, by: User | None) -> None:
    """Take a language away that annotators cannot choose yet. Its translations stay, should it be added again."""
    campaign = _changeable(campaign)
    if campaign.state != Campaign.State.DRAFT and language in (campaign.offered_languages or ()):
        raise Conflict(
            "language_offered", "Annotators can already choose this language, so it cannot be removed."
        )
    if _row(campaign, language).delete()[0]:
        _record(campaign, by, "language_removed", language=language)


@transaction.atomic
def leave_untranslated(
    *, campaign: Campaign, language: str, reason: str, by: User | None
) -> CampaignLanguage:
    """Offer a language although texts are missing: annotators read these in English. The reason is in the audit."""
    campaign = _changeable(campaign)
    row = _row(campaign, language)
    reason = " ".join(reason.split())
    if not reason or len(reason) > LONGEST_REASON:
        message = f"Give a reason of 1 to {LONGEST_REASON} characters."
        raise DomainError("invalid_reason", message, fields={"reason": message})
    state = next(state for state in language_states(campaign) if state.code == language)
    if state.complete:
        raise Conflict("language_complete", "Every text is translated, so no text stays in English.")
    row.untranslated_reason = reason
    row.save(update_fields=["untranslated_reason"])
    _record(
        campaign,
        by,
        "left_untranslated",
        language=language,
        missing=state.missing,
        outdated=state.outdated,
        reason=reason,
    )
    settle_opened(campaign, by=by)
    return row


@transaction.atomic
def upload(*, campaign: Campaign, source: BinaryIO, name: str, by: User | None) -> Upload:
    """Store the translations of a filled-in file, all of them or none.

    A draft changes in place. An opened campaign gets a new version of what annotators read; the judged texts were fixed
    when it opened, so only missing translations of them can be added.
    """
    campaign = _changeable(campaign)
    languages = list(campaign.languages.values_list("language", flat=True))
    sources = {text.key: text for text in source_texts(campaign)}
    cells = files.from_csv(source, name=name, sources=list(sources.values()), languages=languages)
    before = versions.current(campaign).translations
    new_cells = [
        cell
        for cell in cells
        if (cell.text, cell.digest) != tuple(before.get(cell.language, {}).get(cell.key, ()))
        and (cell.text != sources[cell.key].built_in.get(cell.language) or _is_own(before, cell))
    ]
    _refuse_fixed(campaign, new_cells, sources, before)
    if not new_cells:
        return Upload({}, 0)
    after = {code: dict(texts) for code, texts in before.items()}
    for cell in new_cells:
        after.setdefault(cell.language, {})[cell.key] = [cell.text, cell.digest]
    versions.translate(campaign=campaign, translations=after)
    if campaign.declaration is not None:
        campaign.declaration = with_translations(campaign.declaration, kind_of(campaign), after)
        campaign.save(update_fields=["declaration"])
    changed = Counter(cell.language for cell in new_cells)
    _record(campaign, by, "translations_uploaded", changed=dict(sorted(changed.items())))
    if campaign.state == Campaign.State.DRAFT:
        _publish_consents(campaign, language_states(campaign), by)
    else:
        settle(campaign, by=by)
    return Upload(changed, sum(cell.digest != sources[cell.key].digest for cell in new_cells))


def settle_opened(campaign: Campaign, *, by: User | None) -> None:
    """Offer an opened campaign in the languages that were completed since."""
    if campaign.state != Campaign.State.DRAFT:
        settle(campaign, by=by)


def settle(campaign: Campaign, *, by: User | None) -> None:
    """Decide in which languages annotators can read a campaign. Those they could read stay: people work in them."""
    states = language_states(campaign)
    _publish_consents(campaign, states, by)
    standing = campaign.offered_languages or [SOURCE_LANGUAGE]
    complete = [state.code for state in states if state.allowed]
    decided = list(dict.fromkeys([*standing, *complete]))
    if decided != campaign.offered_languages:
        campaign.offered_languages = decided
        campaign.save(update_fields=["offered_languages"])


@transaction.atomic
def choose(*, enrolment: Enrolment, language: str) -> Enrolment:
    """Let an annotator read the campaign in another language from now on. Earlier answers keep their language."""
    enrolment = (
        Enrolment.objects.select_for_update(of=("self",)).select_related("campaign").get(pk=enrolment.pk)
    )
    if language not in offered(enrolment.campaign):
        raise DomainError("language_not_offered", "Choose one of the languages.", fields={"language": "no"})
    enrolment.language = language
    enrolment.save(update_fields=["language"])
    return enrolment


def _changeable(campaign: Campaign) -> Campaign:
    campaign = Campaign.locked(campaign.pk)
    if campaign.imported:
        raise Conflict(
            "campaign_imported", f"“{campaign.name}” was imported from a file, so it needs no translations."
        )
    return campaign


def _row(campaign: Campaign, language: str) -> CampaignLanguage:
    row = campaign.languages.filter(language=language).first()
    if row is None:
        raise DomainError(
            "language_unknown",
            "The campaign does not have this language. Add the language first.",
            fields={"language": "no"},
        )
    return row


def _is_own(before: ByLanguage, cell: files.Translation) -> bool:
    return cell.key in before.get(cell.language, {})


def _refuse_fixed(
    campaign: Campaign,
    cells: Iterable[files.Translation],
    sources: Mapping[str, SourceText],
    before: ByLanguage,
) -> None:
    if campaign.state == Campaign.State.DRAFT:
        return
    readable = campaign.offered_languages or ()
    for cell in cells:
        state = translated_text(sources[cell.key], cell.language, before).state
        if cell.language in readable and cell.key.startswith(_FIXED) and state in {TRANSLATED, OUTDATED}:
            message = f"“{cell.key}” in {language_name(cell.language)} was fixed when the campaign opened."
            raise Conflict("text_fixed", message, fields={"file": message})


def _publish_consents(campaign: Campaign, states: Iterable[LanguageState], by: User | None) -> None:
    """Publish the study's consent text in each language in which all of it is translated."""
    for state in states:
        texts = {text.source.key: text for text in state.texts if text.source.key.startswith(_CONSENT)}
        if texts and all(text.text and text.state != OUTDATED for text in texts.values()):
            words = {key.removeprefix(_CONSENT): text.text for key, text in texts.items()}
            consent.publish_translation(study=campaign.study, language=state.code, by=by, **words)


def _record(campaign: Campaign, by: User | None, action: str, **details: object) -> None:
    audit.record(by=by, action=f"campaign.{action}", subject=campaign, study=campaign.study, **details)
