"""The question of a small campaign, and its two answers: that something is there, or is not."""

from collections.abc import Mapping
from typing import Any, Protocol

from annotation.answers.questions import check_answers
from annotation.assignment import gold_and_repeats
from annotation.kinds.declaration import Kind
from annotation.kinds.questions import AskedAfter
from annotation.kinds.registry import MARKING
from annotation.kinds.stimuli import Stimuli
from annotation.models import Annotation, Assignment, Campaign
from tests.annotation.kinds.examples import choice, declared, scale
from tests.annotation.labelling.production_paths import NONE_OF_THEM, ticking_all

STRONG, WEAK = 3, 1
# A scale, with a reason that is required for exactly one of its points.
TEXT = declared(
    "strength",
    Stimuli(medium="text"),
    scale("strong"),
    choice("reason", ("tone", "words"), when=AskedAfter(question="strong", answers=(STRONG,))),
    unit="association",
)


class Asking(Protocol):
    """A question, its answers, and reading them back."""

    kind: Kind

    def answer(self, leased: Assignment, ticked: bool) -> Mapping[str, Any]:
        """Return one of the two answers, as a client sends it."""

    def stored(self, annotation: Annotation) -> bool:
        """Return which of the two answers is stored, judgement by judgement."""

    def checks(self, campaign: Campaign) -> tuple[int, int]:
        """Return the number of scored gold tasks and repeats."""


class _AboutAttributes:
    kind = MARKING

    def answer(self, leased: Assignment, ticked: bool) -> Mapping[str, Any]:
        return ticking_all(leased) if ticked else NONE_OF_THEM

    def stored(self, annotation: Annotation) -> bool:
        return bool(annotation.judgements.get().present)

    def checks(self, campaign: Campaign) -> tuple[int, int]:
        golds, repeats = gold_and_repeats.gold_answers(campaign), gold_and_repeats.repeat_pairs(campaign)
        return len(list(golds)), len(list(repeats))


class _AboutAText:
    kind = TEXT

    def answer(self, leased: Assignment, ticked: bool) -> Mapping[str, Any]:
        return {"answers": {"strong": STRONG, "reason": "tone"} if ticked else {"strong": WEAK}}

    def stored(self, annotation: Annotation) -> bool:
        given = list(annotation.judgements.order_by("pk").values_list("question", "rating", "code"))
        ticked = [("strong", STRONG, None), ("reason", None, "tone")]
        assert given in (ticked, [("strong", WEAK, None)])
        return given == ticked

    def checks(self, campaign: Campaign) -> tuple[int, int]:
        golds, repeats = check_answers.gold_answers(campaign), check_answers.repeated_answers(campaign)
        return len({row[:2] for row in golds}), len({row[:2] for row in repeats})


ABOUT_ATTRIBUTES: Asking = _AboutAttributes()
ABOUT_A_TEXT: Asking = _AboutAText()
