"""Every text that annotators of a campaign read and that its lead or the study wrote, each under a key.

Stimuli (texts, prompts beside images) are not translated, because they are data.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotation.answers.languages import SOURCE_LANGUAGE, platform_languages
from annotation.campaigns.instruments import versions
from annotation.campaigns.planning import task_plan
from annotation.kinds.declaration import Kind
from annotation.kinds.options import Options
from annotation.kinds.registry import KINDS, kind_of
from annotation.models import Campaign, Instrument, KnownAnswer, TaskAttribute
from catalog.models import Attribute
from foundation import languages
from studies import consent

CONSENT_FIELDS = ("body", "content_notice", "support")
_PLACES = {"body": "Consent text", "content_notice": "Content notice", "support": "Support text"}
_DIGEST = 16  # hexadecimal digits that distinguish two texts with one key
_LONG, _STATEMENT, _LABEL = 20_000, 300, 200


@dataclass(frozen=True)
class SourceText:
    """A text in English; `place` tells translators where it is shown, `built_in` has existing translations."""

    key: str
    text: str
    place: str
    longest: int = _LONG
    built_in: Mapping[str, str] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        return digest_of(self.text)


def digest_of(text: str) -> str:
    """Return the digest by which a translation recognises that its source text has changed."""
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGEST]


def attribute_key(attribute_id: int) -> str:
    return f"attribute.{attribute_id}"


def explanation_key(text: str) -> str:
    """Return the key of an explanation after a practice answer; equal explanations of two tasks are one text."""
    return f"explanation.{digest_of(text)}"


def source_texts(campaign: Campaign) -> list[SourceText]:
    """Return the texts of a campaign in the order in which an annotator meets them. Reads only."""
    kind, instrument = kind_of(campaign), versions.current(campaign)
    texts = [*_consent(campaign), *_pay(campaign), *_instrument(kind, instrument)]
    if kind.about_attributes:
        texts += _attributes(campaign)
    else:
        texts += [
            SourceText(key, by_language[SOURCE_LANGUAGE], place, _STATEMENT, by_language)
            for key, _, place, by_language in declared_texts(kind)
        ]
    return [text for text in [*texts, *_explanations(campaign)] if text.text.strip()]


def _consent(campaign: Campaign) -> Iterator[SourceText]:
    current = consent.current_text(campaign.study)
    published = {
        language: text
        for language in platform_languages()
        if (text := consent.translation_of(current, study=campaign.study, language=language)) is not None
    }
    for name in CONSENT_FIELDS:
        source = getattr(current, name)
        translations = languages.translations(source) if source else {}
        translations |= {language: getattr(text, name) for language, text in published.items()}
        yield SourceText(f"consent.{name}", source, _PLACES[name], built_in=translations)


def _pay(campaign: Campaign) -> Iterator[SourceText]:
    yield SourceText("pay", Options.of(campaign).pay, "What people are told about pay", 2_000)


def _instrument(kind: Kind, instrument: Instrument) -> Iterator[SourceText]:
    guidelines = instrument.guidelines
    worded_by = next(
        (
            declared
            for declared in (kind, KINDS.get(kind.key))
            if declared is not None and declared.guidelines == guidelines
        ),
        None,
    )
    built_in = worded_by.guidelines_in if worded_by is not None else {}
    yield SourceText("guidelines", guidelines, "Guidelines beside each screen", built_in=built_in)
    if not kind.about_attributes:
        return
    label = kind.questions[0].label if instrument.statement == kind.statement else {}
    yield SourceText("statement", instrument.statement, "What is asked", _STATEMENT, label)
    labels = (
        {str(point.code): point.label for point in kind.scale} if instrument.labels == kind.labels else {}
    )
    for code, text in sorted(instrument.labels.items(), reverse=True):
        yield SourceText(f"answer.{code}", text, "An answer", 60, labels.get(code, {}))


def _attributes(campaign: Campaign) -> Iterator[SourceText]:
    rows = TaskAttribute.objects.filter(task__campaign=campaign).values_list("attribute", flat=True)
    attribute_ids = set(rows.distinct())
    if campaign.state == Campaign.State.DRAFT:
        planned = task_plan.plan(campaign).tasks
        attribute_ids |= {attribute for task in planned for attribute in task.attribute_ids}
    texts = dict(Attribute.objects.filter(pk__in=attribute_ids).values_list("pk", "text"))
    for pk, text in sorted(texts.items(), key=lambda pair: (pair[1].casefold(), pair[0])):
        yield SourceText(attribute_key(pk), text, "An attribute", _LABEL)


def _explanations(campaign: Campaign) -> Iterator[SourceText]:
    answers = KnownAnswer.objects.filter(task__campaign=campaign, task__withdrawn=False).exclude(
        explanation=""
    )
    for text in sorted(set(answers.values_list("explanation", flat=True))):
        yield SourceText(explanation_key(text), text, "Explanation after a practice answer", 500)


def declared_texts(kind: Kind) -> Iterator[tuple[str, tuple[str | int, ...], str, dict[str, str]]]:
    """Return key, place in the declaration, place on the screen and texts of a kind's wordings."""
    yield "work", ("work",), "What the work is called", kind.work
    for number, question in enumerate(kind.questions):
        key, path = f"question.{question.name}", ("questions", number)
        yield key, (*path, "label"), "A question", question.label
        for answers in ("points", "answers"):
            for place, answer in enumerate(getattr(question, answers, ())):
                where = (*path, answers, place, "label")
                yield f"{key}.{answer.code}", where, "An answer", answer.label
        for name in ("tie", "none"):
            if (texts := getattr(question, name, None)) is not None:
                yield f"{key}.{name}", (*path, name), "An answer", texts


def with_translations(
    declaration: Mapping[str, Any], kind: Kind, translations: Mapping[str, Mapping[str, Sequence[str]]]
) -> dict[str, Any]:
    """Return the declaration of a campaign's kind with its texts in further languages."""
    worded: dict[str, Any] = Kind.model_validate(declaration).model_dump(mode="json")
    for key, path, _, _ in declared_texts(kind):
        part: Any = worded
        for step in path:
            part = part[step]
        part.update({code: texts[key][0] for code, texts in translations.items() if key in texts})
    return worded
