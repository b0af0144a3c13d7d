"""The assumptions of a plan: the designs to compare, the rates and agreement expected, people's time and pay."""

from itertools import product
from typing import TYPE_CHECKING

from pydantic import field_validator

from foundation.errors import DomainError
from foundation.parameters import ParameterSet, parameter, whole_numbers

if TYPE_CHECKING:
    from analysis.metrics.marking.simulate_studies import Design

MOST_VALUES, MOST_DESIGNS = 6, 24
_AXES = ("images", "annotators", "annotators_per_task")
_SEVERAL = "up to six whole numbers from 1 to 1,000, such as 10, 20, 40"


class PlanParameters(ParameterSet):
    """The designs of a plan and what they are expected to find and cost."""

    images: str = parameter(
        "10, 15, 20, 30", max_length=60, expected=_SEVERAL, label="Images of each group",
        help="Number of images of each identity group: one number, or several to compare.",
    )  # fmt: skip
    annotators: str = parameter(
        "30",
        max_length=60,
        expected=_SEVERAL,
        label="Annotators",
        help="Number of annotators who take part in total.",
    )
    annotators_per_task: str = parameter(
        "3", max_length=60, expected=_SEVERAL, label="Annotators of each image",
        help="Number of different annotators who judge each image.",
    )  # fmt: skip
    groups: int = parameter(
        1, ge=1, le=500, label="Identity groups", help="Number of identity groups that the study compares."
    )
    stereotypes: int = parameter(
        8,
        ge=1,
        le=200,
        label="Stereotypes",
        help="Number of stereotypes of each group that annotators are asked about.",
    )
    random_attributes: int = parameter(
        8,
        ge=1,
        le=200,
        label="Random attributes",
        help="Number of random attributes that annotators are asked about for each group. Random attributes "
        "are not stereotypes of the group.",
    )
    likelihood_stereotype: float = parameter(
        0.3, gt=0, lt=1, expected="a number above 0 and below 1",
        label="Likelihood of stereotypes", help="How often annotators are expected to mark a stereotype: "
        "0.3 for 30 %.",
    )  # fmt: skip
    likelihood_random: float = parameter(
        0.15, gt=0, lt=1, expected="a number above 0 and below 1",
        label="Likelihood of random attributes", help="How often annotators are expected to mark a random "
        "attribute: 0.1 for 10 %.",
    )  # fmt: skip
    agreement: float = parameter(
        0.35, ge=0, lt=1, expected="a number of at least 0 and below 1", label="Agreement",
        help="Expected Krippendorff’s α between annotators. In the released ViSAGe annotations, α is 0.35.",
    )  # fmt: skip
    annotator_sd: float = parameter(
        0.25, ge=0, le=5, label="Difference between annotators",
        help="How much annotators differ in how readily they mark attributes: standard deviation on the "
        "probit scale.",
    )  # fmt: skip
    quotas: str = parameter(
        "",
        max_length=1000,
        label="Quota rules",
        help="Separate rules by semicolons, such as: at_least 1 gender = woman; at_least 1 gender = man. The plan "
        "says how many people each rule needs.",
    )
    attributes_per_screen: int = parameter(
        5, ge=1, le=5, label="Attributes of each screen", help="How many attributes one screen asks about."
    )
    seconds_per_screen: float = parameter(
        25.0,
        ge=1,
        le=3600,
        label="Seconds of each screen",
        help="Average number of seconds that an annotator needs for one screen.",
    )
    hours_per_day: float = parameter(
        1.0, ge=0.1, le=12, label="Hours a day", help="Number of hours that each annotator works a day."
    )
    pay_amount: float | None = parameter(
        None, ge=0, le=100_000, label="Pay", help="What annotators earn. If empty, the plan has no cost."
    )
    pay_currency: str = parameter(
        "EUR", pattern=r"^[A-Z]{3}$", max_length=3, expected="a currency as three capital letters, such as EUR",
        label="Currency", help="Three letters, such as EUR.",
    )  # fmt: skip
    pay_per: str = parameter(
        "hour", words={"hour": "an hour of active work", "task": "a submitted screen"}, label="For",
        help="The unit of work that the pay is for.",
    )  # fmt: skip
    fee_percent: float = parameter(
        0.0,
        ge=0,
        le=200,
        label="Fees, in per cent",
        help="What a panel charges on top of the pay.",
    )
    budget: float | None = parameter(
        None,
        ge=0,
        le=100_000_000,
        label="Budget",
        help="Designs that cost more are marked. If empty, there is no limit.",
    )

    @field_validator(*_AXES)
    @classmethod
    def _require_numbers(cls, value: str) -> str:
        if not 1 <= len(whole_numbers(value)) <= MOST_VALUES:
            raise ValueError("not a list of whole numbers")
        return value

    def designs(self) -> "list[Design]":
        """Return every combination of images, annotators and annotators of each image, or raise DomainError."""
        # Imported here: the measures load pandas and SciPy, and every process starts with this module.
        from analysis.metrics.marking.simulate_studies import Design

        axes = (
            whole_numbers(self.images),
            whole_numbers(self.annotators),
            whole_numbers(self.annotators_per_task),
        )
        designs = [
            Design(images, annotators, per_task, self.stereotypes, self.random_attributes, self.groups)
            for images, annotators, per_task in product(*axes)
        ]
        if len(designs) > MOST_DESIGNS:
            raise DomainError(
                self.error_code,
                f"Your numbers make {len(designs)} designs. Compare at most {MOST_DESIGNS} at a time.",
                fields={"images": "too many designs"},
            )
        if min(axes[0]) < 2:
            raise DomainError(
                self.error_code, "A plan needs at least 2 images of each group.", fields={"images": "too few"}
            )
        if max(axes[2]) > min(axes[1]):
            raise DomainError(
                self.error_code,
                f"Each image cannot have {max(axes[2])} different annotators if only {min(axes[1])} take part.",
                fields={"annotators_per_task": "more than the annotators who take part"},
            )
        return designs
