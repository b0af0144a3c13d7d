"""What an analyst may choose before results are computed, validated once."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from accounts.errors import DomainError
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


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """Every choice that a result depends on, besides the labels themselves."""

    resamples: int
    seed: int
    none_of_the_above: str
    min_raters: int
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

    def as_json(self) -> dict[str, Any]:
        return {
            name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()
        }


def parameters_of(
    study: Study,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
    none_of_the_above: str = "ignore",
    min_raters: int | None = None,
    min_stereotypes: int | None = None,
    without_annotators: Iterable[str] = (),
    offensiveness_source: str = "stored",
    not_offensive: int = -1,
    campaigns: Iterable[str] = (),
    target_precision: float = TARGET_PRECISION,
    top_k: int = TOP_K,
    salient_among: str = "visual",
) -> Parameters:
    """Return the parameters with the study's own numbers where none were given, or raise DomainError."""
    given = Parameters(
        resamples=resamples,
        seed=seed,
        none_of_the_above=none_of_the_above,
        min_raters=study.min_raters if min_raters is None else min_raters,
        min_stereotypes=study.min_stereotypes if min_stereotypes is None else min_stereotypes,
        without_annotators=tuple(sorted(set(without_annotators))),
        offensiveness_source=offensiveness_source,
        not_offensive=not_offensive,
        campaigns=tuple(sorted(set(campaigns))),
        target_precision=target_precision,
        top_k=top_k,
        salient_among=salient_among,
    )
    _require_range("resamples", given.resamples, 100, MOST_RESAMPLES)
    _require_range("seed", given.seed, 0, 2**63 - 1)
    _require_range("min_raters", given.min_raters, 1, 1_000)
    _require_range("min_stereotypes", given.min_stereotypes, 1, 1_000)
    _require_choice("none_of_the_above", given.none_of_the_above, NONE_OF_THE_ABOVE)
    _require_choice("offensiveness_source", given.offensiveness_source, OFFENSIVENESS_SOURCES)
    _require_choice("not_offensive", given.not_offensive, NOT_OFFENSIVE)
    _require_choice("salient_among", given.salient_among, SALIENT_AMONG)
    _require_range("top_k", given.top_k, 1, MOST_TOP_K)
    if not 0 < given.target_precision < 1:  # not a number is refused too
        raise DomainError(
            "invalid_parameter",
            f"target_precision must be a share between 0 and 1, such as 0.9, not {given.target_precision}.",
            fields={"target_precision": "between 0 and 1"},
        )
    return given


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
