"""A campaign's options: what may stand in `Campaign.options`, and what holds where nothing stands."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from annotation.models import Campaign
from foundation.errors import DomainError
from generation.models import Condition
from studies.models import Study

FROM_CAMPAIGN = "campaign:"
_PAY_LENGTH = 500
# What a lead may change while people work; all else is fixed when the campaign opens.
CHANGEABLE = frozenset(
    {
        "pay",
        "pay_amount",
        "pay_currency",
        "pay_per",
        "edit_minutes",
        "gold_share",
        "repeat_share",
        "repeat_after",
    }
    | {"tasks_per_day", "sensitive_per_day", "practice_pass_mark", "practice_attempts", "reopen_withdrawn"}
)
_LIKERT = CHANGEABLE | {"attributes"}
_MARKING = CHANGEABLE | {
    "visual_source",
    "visual_rule",
    "random_per_stereotype",
    "model_labels",
    "images_per_group",
    "condition",
}
_WHOLE = {
    "random_per_stereotype": (0, 20),
    "images_per_group": (1, 100_000),
    "edit_minutes": (0, 10_080),
    "repeat_after": (1, 1000),
    "tasks_per_day": (1, 10_000),
    "sensitive_per_day": (0, 10_000),
    "practice_attempts": (1, 20),
}
_SHARES = {"gold_share": 0.5, "repeat_share": 0.5, "practice_pass_mark": 1.0}


@dataclass(frozen=True)
class Options:
    """Which attributes and images a campaign asks about.

    attributes: 'stereotypes' or 'all' listed pairs of the study's groups (ratings).
    visual_source: 'all' stereotypes count as visual, or those a rating campaign found so ('campaign:<slug>').
    visual_rule: rated 4 or 5 by every annotator ('unanimous') or by more than half ('majority').
    random_per_stereotype: random attributes drawn for each stereotype of a group.
    model_labels, images_per_group: None stands for all.
    pay: what annotators are told about pay, in the lead's words.
    edit_minutes: for how long an annotator may correct an answer.
    gold_share, repeat_share: how often a gold task, or a task answered at least `repeat_after` tasks ago, comes
    in place of a new one.
    tasks_per_day, sensitive_per_day: the most one annotator is given in a day; None stands for no cap.
    practice_pass_mark, practice_attempts: the share of right answers that passes, and how many rounds one has.
    pay_amount, pay_currency, pay_per: the rate that statements of pay are reckoned with; None for none.
    reopen_withdrawn: whether tasks of whoever takes back consent are asked again.
    """

    attributes: str = "stereotypes"
    visual_source: str = "all"
    visual_rule: str = "unanimous"
    random_per_stereotype: int = 1
    model_labels: tuple[str, ...] | None = None
    images_per_group: int | None = None
    condition: str = Condition.DEFAULT
    pay: str = ""
    edit_minutes: int = 30
    gold_share: float = 0.0
    repeat_share: float = 0.0
    repeat_after: int = 10
    tasks_per_day: int | None = None
    sensitive_per_day: int | None = None
    practice_pass_mark: float = 0.8
    practice_attempts: int = 3
    pay_amount: float | None = None
    pay_currency: str = "EUR"
    pay_per: str = "hour"
    reopen_withdrawn: bool = True

    @classmethod
    def parse(cls, raw: Mapping[str, Any] | None, *, kind: str, study: Study) -> Self:
        """Return checked options; raises DomainError `options_invalid` that names each wrong field."""
        raw = {name: value for name, value in (raw or {}).items() if value is not None}
        known = _LIKERT if kind == Campaign.Kind.ATTRIBUTE_LIKERT else _MARKING
        wrong = {f"options.{name}": "There is no such option." for name in raw if name not in known}
        wrong |= {
            f"options.{name}": message
            for name, message in _problems(raw, study).items()
            if f"options.{name}" not in wrong
        }
        if wrong:
            message = " ".join(f"{name}: {text}" for name, text in wrong.items())
            raise DomainError("options_invalid", message, fields=wrong)
        if "model_labels" in raw:
            raw["model_labels"] = tuple(sorted(set(raw["model_labels"])))
        return cls(**raw)

    @classmethod
    def of(cls, campaign: Campaign) -> Self:
        """Return the options of a campaign."""
        return cls.parse(campaign.options, kind=campaign.kind, study=campaign.study)


def _problems(raw: Mapping[str, Any], study: Study) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, allowed in (
        ("attributes", ("stereotypes", "all")),
        ("visual_rule", ("unanimous", "majority")),
        ("condition", tuple(Condition.values)),
        ("pay_per", ("hour", "task")),
    ):
        if name in raw and raw[name] not in allowed:
            found[name] = f"Choose one of {', '.join(allowed)}."
    for name, (low, high) in _WHOLE.items():
        value = raw.get(name)
        if value is not None and (type(value) is not int or not low <= value <= high):
            found[name] = f"Give a whole number from {low} to {high}."
    for name, most in _SHARES.items():
        if name in raw and not _is_number(raw[name], most):
            found[name] = f"Give a share from 0 to {most:g}."
    if "pay_amount" in raw and not _is_number(raw["pay_amount"], 1_000_000):
        found["pay_amount"] = "Give an amount from 0 to 1,000,000."
    if "pay_currency" in raw and not re.fullmatch(r"[A-Z]{3}", str(raw["pay_currency"])):
        found["pay_currency"] = "Give a currency by its three capital letters, as EUR."
    if "reopen_withdrawn" in raw and type(raw["reopen_withdrawn"]) is not bool:
        found["reopen_withdrawn"] = "Say true or false."
    if "pay" in raw and (not isinstance(raw["pay"], str) or len(raw["pay"]) > _PAY_LENGTH):
        found["pay"] = f"Write at most {_PAY_LENGTH} characters."
    if "visual_source" in raw and (message := _visual_source_problem(raw["visual_source"], study)):
        found["visual_source"] = message
    labels = raw.get("model_labels")
    if labels is not None:
        listed = isinstance(labels, list | tuple) and all(isinstance(one, str) for one in labels)
        if not listed or not labels:
            found["model_labels"] = "Give a list of at least one model label, or leave it out for all."
        else:
            known = set(study.images.values_list("model_label", flat=True).order_by().distinct())
            unknown = sorted(set(labels) - known)
            if unknown:
                found["model_labels"] = f"The study has no images of {', '.join(unknown)}."
    return found


def _is_number(value: object, most: float) -> bool:
    return isinstance(value, int | float) and type(value) is not bool and 0 <= value <= most


def _visual_source_problem(value: object, study: Study) -> str | None:
    if value == "all":
        return None
    if not isinstance(value, str) or not value.startswith(FROM_CAMPAIGN):
        return "Write 'all' or 'campaign:' and the short name of a rating campaign of this study."
    slug = value.removeprefix(FROM_CAMPAIGN)
    if study.campaigns.filter(slug=slug, kind=Campaign.Kind.ATTRIBUTE_LIKERT).exists():
        return None
    return f"This study has no rating campaign “{slug}”."
