"""What an analyst may choose before results are computed, validated once."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from catalog.raters import RaterPools
from foundation.errors import DomainError
from studies.models import Study

RESAMPLES = 2_000
MOST_RESAMPLES = 20_000
NONE_OF_THE_ABOVE = ("ignore", "as_random")
OFFENSIVENESS_SOURCES = ("stored", "ratings")
NOT_OFFENSIVE = (-1, 0)
SALIENT_AMONG = ("visual", "all")
TARGET_PRECISION = 0.9
TOP_K = 5
MOST_TOP_K = 100
CHOICES: Mapping[str, tuple[Any, ...]] = {
    "none_of_the_above": NONE_OF_THE_ABOVE,
    "rater_pools": tuple(RaterPools.values),
    "offensiveness_source": OFFENSIVENESS_SOURCES,
    "not_offensive": NOT_OFFENSIVE,
    "salient_among": SALIENT_AMONG,
}
_DEFAULTS: Mapping[str, Any] = {
    "resamples": RESAMPLES,
    "seed": 0,
    "none_of_the_above": "ignore",
    "offensiveness_source": "stored",
    "not_offensive": -1,
    "target_precision": TARGET_PRECISION,
    "top_k": TOP_K,
    "salient_among": "visual",
}


# The published analysis of ViSAGe: what `analyze --preset as-published` and the form's preset choose.
AS_PUBLISHED = "as-published"
PRESETS: Mapping[str, Mapping[str, Any]] = {
    AS_PUBLISHED: {
        "min_raters": 2,
        "rater_pools": RaterPools.SEPARATE.value,
        "none_of_the_above": "as_random",
        "min_stereotypes": 2,
        "offensiveness_source": "stored",
        "not_offensive": -1,
    }
}
PRESET_WORDS = {AS_PUBLISHED: "As published (ViSAGe)"}


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """Every choice that a result depends on, besides the labels themselves."""

    resamples: int
    seed: int
    none_of_the_above: str
    min_raters: int
    rater_pools: str
    min_stereotypes: int
    without_annotators: tuple[str, ...]
    offensiveness_source: str
    not_offensive: int
    campaigns: tuple[str, ...]
    # How sure a machine must be before an attribute is left to it; how many attributes are salient in a group.
    target_precision: float = TARGET_PRECISION
    top_k: int = TOP_K
    salient_among: str = "visual"

    @property
    def part_of_the_labels(self) -> bool:
        """Whether annotators or campaigns were chosen: then nothing is told of groups of annotators."""
        return bool(self.without_annotators or self.campaigns)

    @property
    def preset(self) -> str | None:
        """The preset that these parameters agree with, if any."""
        for name, values in PRESETS.items():
            if all(getattr(self, parameter) == value for parameter, value in values.items()):
                return name
        return None

    def as_json(self) -> dict[str, Any]:
        return {
            name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()
        }


def parameters_of(
    study: Study,
    *,
    preset: str | None = None,
    without_annotators: Iterable[str] = (),
    campaigns: Iterable[str] = (),
    **chosen: Any,
) -> Parameters:
    """Return the parameters, or raise DomainError.

    What is not `chosen` (or None) is that of the preset, then the study's own number, then the default.
    """
    if preset is not None:
        _require_choice("preset", preset, tuple(PRESETS))
    values = {
        **_DEFAULTS,
        "min_raters": study.min_raters,
        "rater_pools": str(study.rater_pools),
        "min_stereotypes": study.min_stereotypes,
        **(PRESETS[preset] if preset is not None else {}),
        **{name: value for name, value in chosen.items() if value is not None},
    }
    given = Parameters(
        without_annotators=tuple(sorted(set(without_annotators))),
        campaigns=tuple(sorted(set(campaigns))),
        **values,
    )
    _check(given)
    return given


def _check(given: Parameters) -> None:
    _require_range("resamples", given.resamples, 100, MOST_RESAMPLES)
    _require_range("seed", given.seed, 0, 2**63 - 1)
    _require_range("min_raters", given.min_raters, 1, 1_000)
    _require_range("min_stereotypes", given.min_stereotypes, 1, 1_000)
    for name, choices in CHOICES.items():
        _require_choice(name, getattr(given, name), choices)
    _require_range("top_k", given.top_k, 1, MOST_TOP_K)
    if not 0 < given.target_precision < 1:  # not a number is refused too
        raise DomainError(
            "invalid_parameter",
            f"target_precision must be a share between 0 and 1, such as 0.9, not {given.target_precision}.",
            fields={"target_precision": "between 0 and 1"},
        )


def _require_range(name: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise DomainError(
            "invalid_parameter",
            f"{name} must be a whole number from {least:,} to {most:,}, not {value:,}.",
            fields={name: f"from {least:,} to {most:,}"},
        )


def _require_choice(name: str, value: object, choices: tuple[object, ...]) -> None:
    if value not in choices:
        allowed = " or ".join(map(str, choices))
        raise DomainError(
            "invalid_parameter", f"{name} must be {allowed}, not {value}.", fields={name: allowed}
        )
