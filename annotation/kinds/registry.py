"""The existing kinds of campaign, by key, and the kind of a campaign."""

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Protocol

from django.utils.translation import get_language

from annotation.kinds.built_in import (
    answer_coding,
    attribute_likert,
    bias_level,
    image_text,
    open_question,
    pair_check,
    pairwise,
    ranking,
    rubric,
    stereotype_marking,
)
from annotation.kinds.declaration import Kind

# In the order in which a lead is offered them.
_MODULES = (
    *(attribute_likert, stereotype_marking),
    *(pairwise, ranking, rubric, image_text, open_question, pair_check, bias_level, answer_coding),
)
KINDS: dict[str, Kind] = {module.KIND.key: module.KIND for module in _MODULES}
# The two built-in kinds: for the places that have tables, files or forms for them alone.
RATING = next(kind for kind in KINDS.values() if kind.rates_attributes)
MARKING = next(kind for kind in KINDS.values() if kind.marks_attributes)
CHOICES = [(kind.key, kind.name) for kind in KINDS.values()]
RATING_KINDS = [kind.key for kind in KINDS.values() if kind.rates_attributes]
RATING_LABELS = RATING.labels
# As shown: Unsure is apart from the scale, at the end.
RATING_ORDER = tuple(str(point.code) for point in RATING.scale)
ANSWER_REVIEW = answer_coding.KIND
coding_question = answer_coding.coding_question
LIKENESS_CHECK = pair_check.KIND
likeness_question = pair_check.likeness_question
ALIKE, SMALL_DIFFERENCES, DIFFERENT = pair_check.ANSWERS
BIAS_LEVELS = bias_level.KIND  # the kind whose answers a judge is compared with
UNSURE = next(point.code for point in RATING.scale if point.apart)
# Names of tasks for annotators and their programs: they describe the work, not its purpose.
OWN_KIND = (
    "questions",
    "answer questions that the study asks",
)  # of any kind that a study declares for itself
TASK_KINDS = [*((kind.public_name, kind.public_help) for kind in KINDS.values()), OWN_KIND]


class OfKind(Protocol):
    """A campaign, or a plan or record of one."""

    @property
    def kind(self) -> str: ...


def kind_of(campaign: OfKind) -> Kind:
    """Return the kind of a campaign in the version used when the campaign was made."""
    shipped = KINDS.get(campaign.kind)
    if shipped is not None and shipped.about_attributes:
        return shipped
    declaration = getattr(campaign, "declaration", None)
    if declaration is None:
        return KINDS[campaign.kind]
    return _declared(json.dumps(declaration, sort_keys=True))


def frozen(kind: Kind) -> dict[str, Any] | None:
    """Return the declaration that a campaign stores about its kind (`Campaign.declaration`).

    Kinds about attributes are built in: they have their own tables, files and measures.
    """
    return None if kind.about_attributes else kind.model_dump(mode="json")


@lru_cache(maxsize=256)
def _declared(declaration: str) -> Kind:
    return Kind.model_validate_json(declaration)


def work_in(campaign: OfKind) -> str:
    """Return the title that annotators see instead of a campaign's name, which may reveal too much."""
    return in_language(kind_of(campaign).work)


def instrument_in_language(
    kind: Kind,
    *,
    guidelines: str,
    statement: str,
    labels: Mapping[str, str],
    translations: Mapping[str, Mapping[str, Sequence[str]]] | None = None,
) -> dict[str, Any]:
    """Return the texts for annotators in the page's language: a lead's translations, else the kind's own.

    A campaign keeps its declaration; guidelines that were translated since are those of the kind under its key.
    """
    language = (get_language() or "en").partition("-")[0]
    translated = (translations or {}).get(language, {})
    for declared in (kind, KINDS.get(kind.key)):
        if declared is not None and guidelines == declared.guidelines and language in declared.guidelines_in:
            guidelines = declared.guidelines_in[language]
            break
    if statement and statement == kind.statement:
        statement = in_language(kind.questions[0].label)
    return {
        "guidelines": translated.get("guidelines", (guidelines,))[0],
        "statement": translated.get("statement", (statement,))[0],
        "labels": labels_in_language(kind, labels, translations),
    }


def labels_in_language(
    kind: Kind,
    labels: Mapping[str, str],
    translations: Mapping[str, Mapping[str, Sequence[str]]] | None = None,
) -> dict[str, str]:
    """Return the labels of a rating by code, in the page's language if they are translated."""
    translated = (translations or {}).get((get_language() or "en").partition("-")[0], {})
    if labels == kind.labels:
        labels = {str(point.code): in_language(point.label) for point in kind.scale}
    return {code: translated.get(f"answer.{code}", (label,))[0] for code, label in labels.items()}


def in_language(texts: Mapping[str, str]) -> str:
    """Return a declared text in the page's language, or in English if it is not translated."""
    language = (get_language() or "en").partition("-")[0]
    return texts.get(language, texts["en"])
