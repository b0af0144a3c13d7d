"""Planning a probe: intervals, requests and costs of designs, before a model is asked."""

from collections.abc import Mapping
from typing import Any

from pydantic import field_validator

from foundation.parameters import ParameterSet, parameter, whole_numbers

MOST_VALUES = 5
_SEVERAL = "up to five whole numbers from 1 to 1,000, such as 10, 20, 40"


class DesignParameters(ParameterSet):
    """The designs to compare: every combination of scenarios, repeats and models."""

    scenarios: str = parameter(
        "10, 20, 40",
        max_length=60,
        expected=_SEVERAL,
        label="Scenarios",
        help="Number of scenarios in one experiment. A scenario is a set of images that differ only in the person.",
    )
    repeats: str = parameter(
        "1, 3",
        max_length=60,
        expected=_SEVERAL,
        label="Repeats",
        help="Number of times that each question is asked.",
    )
    models: str = parameter(
        "1", max_length=60, expected=_SEVERAL, label="Models", help="Number of models that are asked."
    )
    groups: int = parameter(
        4,
        ge=2,
        le=50,
        multiple_of=2,
        label="Groups",
        help="Number of groups of people in each scenario; this number must be even.",
    )
    questions: int = parameter(
        1, ge=1, le=100, label="Questions", help="Number of questions about each image."
    )
    orders: int = parameter(
        2,
        words={1: "the published one", 2: "both"},
        label="Orders of the options",
        help="Whether each question is asked with its options in both orders.",
    )
    experiments: int = parameter(
        3,
        ge=1,
        le=50,
        label="Experiments",
        help="Number of experiments that are tested together. The more experiments there are, the stricter "
        "each test is.",
    )
    tokens_in: int = parameter(
        1_000,
        ge=0,
        le=1_000_000,
        label="Tokens in",
        help="Number of tokens in a request, including the image.",
    )
    tokens_out: int = parameter(
        20, ge=0, le=100_000, label="Tokens out", help="Number of tokens in an answer."
    )
    price_in: float | None = parameter(
        None, ge=0, le=100_000, label="Price in", help="Price of a million input tokens."
    )
    price_out: float | None = parameter(
        None, ge=0, le=100_000, label="Price out", help="Price of a million output tokens."
    )

    @field_validator("scenarios", "repeats", "models")
    @classmethod
    def _require_numbers(cls, value: str) -> str:
        if not 1 <= len(whole_numbers(value)) <= MOST_VALUES:
            raise ValueError("not a list of whole numbers")
        return value


def designs(parameters: DesignParameters, spread: Mapping[str, float] | None) -> list[dict[str, Any]]:
    """Return a row for each design; `spread`: standard deviations of the study's answers, else guesses are used."""
    from analysis.metrics.probing.paired.planning import ProbeSpread, plan_probe

    result = plan_probe(
        scenarios=whole_numbers(parameters.scenarios),
        repeats=whole_numbers(parameters.repeats),
        models=whole_numbers(parameters.models),
        groups=parameters.groups,
        questions=parameters.questions,
        orders=parameters.orders,
        experiments=parameters.experiments,
        spread=None if spread is None else ProbeSpread(**spread),
        tokens_in=parameters.tokens_in,
        tokens_out=parameters.tokens_out,
        price_in=parameters.price_in,
        price_out=parameters.price_out,
    )
    return result.rows()
