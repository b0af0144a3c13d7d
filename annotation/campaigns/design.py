"""The settings of a campaign, declared here for forms, the command and the API."""

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from pydantic import field_validator

from annotation.kinds.declaration import Kind
from annotation.kinds.registry import KINDS
from annotation.models import Campaign
from foundation.errors import DomainError
from foundation.parameters import ParameterSet, Problem, parameter

LONGEST_NAME = 120
# The settings that are columns of the campaign.
COLUMNS = (
    "name", "kind", "annotators_per_task", "attributes_per_screen", "boxes_required", "lease_minutes", "options",
)  # fmt: skip


class CampaignDesign(ParameterSet):
    """The design of a campaign: its questions and the number of people who answer."""

    error_code: ClassVar[str] = "numbers_invalid"

    name: str = parameter(max_length=LONGEST_NAME, label="Name", help="Annotators never see it.")
    kind: str = parameter(
        expected=f"the key of a kind: {', '.join(KINDS)}, or one of the study’s own",
        label="Kind",
        help="What annotators are asked.",
    )
    annotators_per_task: int = parameter(
        3,
        ge=1,
        le=100,
        label="Annotators per task",
        help="How many people answer each screen independently of each other.",
    )
    attributes_per_screen: int = parameter(
        5, ge=1, le=5, label="Attributes per screen", help="How many attributes are shown with an image."
    )
    boxes_required: bool = parameter(
        True,
        label="Each ticked attribute needs at least one box on the image",
        help="Whether each ticked attribute needs a box.",
    )
    lease_minutes: int = parameter(
        30,
        ge=1,
        le=7 * 24 * 60,
        label="Minutes per task",
        help="A task that is not answered in this time is offered to somebody else.",
    )
    options: dict[str, Any] = parameter(
        {}, expected="an object", label="Options", help="What the campaign asks about; see the options."
    )
    guidelines: str | None = parameter(
        None, label="Guidelines", help="Shown beside every task. By default, the guidelines of the kind."
    )
    quotas: Sequence[Any] = parameter(
        (), label="Quotas", help="Who must be among the annotators of each task: rules as lines or objects."
    )

    @field_validator("name", mode="before")
    @classmethod
    def _check_name(cls, name: Any) -> str:
        text = " ".join(str(name).split())
        if not 1 <= len(text) <= LONGEST_NAME:
            raise DomainError(
                "name_invalid",
                f"Give the campaign a name of 1 to {LONGEST_NAME} characters.",
                fields={"name": "invalid"},
            )
        return text

    @field_validator("options", mode="before")
    @classmethod
    def _no_options(cls, options: Any) -> Any:
        return {} if options is None else options

    @field_validator("kind", mode="before")
    @classmethod
    def _check_kind(cls, kind: Any) -> str:
        if not isinstance(kind, str):
            raise DomainError(
                "kind_unknown", "Give the key of a kind of campaign.", fields={"kind": "unknown"}
            )
        return kind

    @field_validator("guidelines")
    @classmethod
    def _check_guidelines(cls, text: str | None) -> str | None:
        return text if text is None else checked_guidelines(text)

    @classmethod
    def of(cls, campaign: Campaign, **changes: Any) -> "CampaignDesign":
        """Return the design of a campaign with some changes, without its guidelines and quotas."""
        return cls.read({name: getattr(campaign, name) for name in COLUMNS} | changes)

    def columns(self) -> dict[str, Any]:
        """Return the values of the campaign's columns."""
        return {name: getattr(self, name) for name in COLUMNS}

    @classmethod
    def refusal(cls, problems: list[Problem]) -> DomainError:
        """Return one error that names each wrong value."""
        fields = {problem.name: cls.sentence(problem) for problem in problems}
        message = " ".join(f"{name}: {sentence}" for name, sentence in fields.items())
        return DomainError(cls.error_code, message, fields=fields)

    @classmethod
    def sentence(cls, problem: Problem) -> str:
        return f"Give {problem.declaration.expected}." if problem.declaration else super().sentence(problem)


def needless_for(kind: Kind) -> frozenset[str]:
    """Return the settings that have no meaning for a kind."""
    needless = set() if kind.marks_attributes else {"attributes_per_screen"}
    if not any(region.required is None for region in kind.regions):
        needless.add("boxes_required")
    return frozenset(needless)


def refuse_needless(given: Iterable[str], kind: Kind) -> None:
    """Raise DomainError `setting_needless` for a setting without a meaning for the kind."""
    if needless := sorted(needless_for(kind).intersection(given)):
        sentence = f"Campaigns of the kind “{kind.name}” have no such setting."
        message = f"Campaigns of the kind “{kind.name}” have no {' and no '.join(needless)}."
        raise DomainError("setting_needless", message, fields=dict.fromkeys(needless, sentence))


def checked_guidelines(text: str) -> str:
    """Return guidelines in stored form; raises DomainError `guidelines_empty`."""
    if not text.strip():
        raise DomainError(
            "guidelines_empty", "Write guidelines for annotators.", fields={"guidelines": "empty"}
        )
    return text.strip()
