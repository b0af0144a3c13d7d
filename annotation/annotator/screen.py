"""A task payload arranged for the template; it holds nothing that the payload does not."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from django.http import QueryDict
from django.utils.safestring import SafeString

from annotation.campaigns.instruments.markup import as_html
from annotation.kinds.attribute_likert import RATING_ORDER
from annotation.kinds.registry import kind_of
from annotation.models import Campaign


@dataclass(frozen=True)
class Choice:
    """One of the five answers of a rating."""

    value: str
    label: str
    checked: bool


@dataclass(frozen=True)
class Tick:
    """One attribute of a marking task, numbered as its key and its colour."""

    number: int
    ref: str
    text: str
    checked: bool


@dataclass(frozen=True)
class Screen:
    """What the template needs besides the payload itself."""

    rating: bool
    choices: tuple[Choice, ...]
    ticks: tuple[Tick, ...]
    none_checked: bool
    justification: str
    guidelines: SafeString
    # What the browser copies for each attribute of the next task.
    blank: Tick = Tick(1, "", "", False)

    @classmethod
    def of(cls, payload: Mapping[str, Any], *, answer: Mapping[str, Any] | None = None) -> Self:
        """Arrange `payload`; `answer` (what was just posted) goes before the answer given earlier."""
        current_answer = answer or payload.get("answer") or {}
        instrument = payload["instrument"]
        labels = instrument.get("labels") or {}
        ticked = set(current_answer.get("ticked") or ())
        return cls(
            rating=bool(labels),
            choices=tuple(
                Choice(value, labels[value], str(current_answer.get("rating")) == value)
                for value in RATING_ORDER
                if value in labels
            ),
            ticks=tuple(
                Tick(number, attribute["ref"], attribute["text"], attribute["ref"] in ticked)
                for number, attribute in enumerate(payload["attributes"], start=1)
            ),
            none_checked=bool(current_answer.get("none_of_the_above")),
            justification=current_answer.get("justification") or "",
            guidelines=as_html(instrument["guidelines"], labels.values()),
        )


def posted_answer(posted: QueryDict, campaign: Campaign) -> dict[str, Any]:
    """Return the answer of a plain form in the shape of the API's."""
    if kind_of(campaign).rates_attributes:
        rating = posted.get("rating", "")
        return {
            "rating": int(rating) if rating in {"1", "2", "3", "4", "5"} else None,
            "justification": posted.get("justification", ""),
        }
    return {
        "ticked": posted.getlist("ticked"),
        "boxes": [],
        "none_of_the_above": "none_of_the_above" in posted,
    }
