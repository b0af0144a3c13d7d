"""The parameters of results, declared here for forms, commands, the API and the docs."""

from collections.abc import Iterable, Mapping
from typing import Any

from catalog.raters import RaterPools
from foundation.errors import DomainError
from foundation.parameters import ParameterSet, parameter
from studies.models import Study

# The published analysis of ViSAGe: the preset of `analyze --preset as-published` and of the form.
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


class Parameters(ParameterSet):
    """Every choice that a result depends on, besides the labels themselves."""

    resamples: int = parameter(
        2_000, ge=100, le=20_000, label="Resamples", help="Number of bootstrap resamples."
    )
    seed: int = parameter(
        0, ge=0, le=2**63 - 1, label="Seed", help="Seed of the random numbers used for resampling."
    )
    none_of_the_above: str = parameter(
        "ignore",
        words={"ignore": "is left out", "as_random": "counts as a random attribute, as published"},
        label="‘None of the above’",
        help="Whether ‘none of the above’ is left out or counts as one more random attribute.",
    )
    min_raters: int = parameter(
        ge=1,
        le=1_000,
        label="Raters needed for a stereotype",
        help="How many raters must call an attribute a stereotype of a group. By default, the study’s setting is used.",
    )
    rater_pools: str = parameter(
        words=dict(RaterPools.choices),
        label="Raters counted",
        help="Whether the raters needed for a stereotype must all be from one pool, in the region or outside it "
        "(separate), or may be from both pools together (summed). By default, the study’s setting is used.",
    )
    min_stereotypes: int = parameter(
        ge=1,
        le=1_000,
        label="Stereotypes a group needs for θ",
        help="How many visual stereotypes a group needs. By default, the study’s setting is used.",
    )
    without_annotators: tuple[str, ...] = parameter(
        (),
        label="Without annotators",
        help="Annotators to leave out: their pseudonyms or their ids in the imported file, separated by spaces.",
    )
    offensiveness_source: str = parameter(
        "stored",
        words={"stored": "the stored mean", "ratings": "the ratings"},
        label="Offensiveness from",
        help="Offensiveness as the resource stores it, or as the mean of its ratings.",
    )
    not_offensive: int = parameter(
        -1,
        words={-1: "−1", 0: "0"},
        label="“Not offensive” counts as",
        help="Whether the rating −1 (“not offensive”) counts as −1 or as 0.",
    )
    campaigns: tuple[str, ...] = parameter(
        (), label="Campaigns", help="Campaigns whose labels are used. If none are chosen, all are used."
    )
    target_precision: float = parameter(
        0.9,
        gt=0,
        lt=1,
        expected="a share between 0 and 1, such as 0.9",
        label="Precision required of a scorer",
        help="An attribute can be left to a scorer if the lower end of the interval of the scorer’s "
        "precision reaches this value.",
    )
    top_k: int = parameter(
        5,
        ge=1,
        le=100,
        label="Salient attributes of a group",
        help="Number of attributes that count as salient for each group.",
    )
    salient_among: str = parameter(
        "visual",
        words={"visual": "the visual attributes", "all": "all attributes"},
        label="Captions are searched for",
        help="Attributes that were rated visual or shown with images, or all attributes that the study lists.",
    )
    association_words: str = parameter(
        "valid",
        words={
            "valid": "words that begin with the letter asked for; a descriptor counts in each of its dimensions",
            "published": "the text in the answer’s brackets; a descriptor counts in its first dimension, as published",
        },
        label="Words associated with descriptors",
        help="Which answers count as words (BiasDora), and how a descriptor with several dimensions counts.",
    )

    @property
    def part_of_the_labels(self) -> bool:
        """Whether annotators or campaigns were chosen: results then say nothing about groups of annotators."""
        return bool(self.without_annotators or self.campaigns)

    @property
    def preset(self) -> str | None:
        """The preset that these parameters agree with, if any."""
        for name, values in PRESETS.items():
            if all(getattr(self, parameter) == value for parameter, value in values.items()):
                return name
        return None

    def as_json(self) -> dict[str, Any]:
        return self.model_dump(mode="json")


NONE_OF_THE_ABOVE = tuple(Parameters.declaration("none_of_the_above").words)


def parameters_of(
    study: Study,
    *,
    preset: str | None = None,
    without_annotators: Iterable[str] = (),
    campaigns: Iterable[str] = (),
    **chosen: Any,
) -> Parameters:
    """Return the parameters, or raise DomainError.

    Parameters that are not `chosen` (or None) come from the preset, then the study's own number, then the default.
    """
    if preset is not None and preset not in PRESETS:
        message = f"preset must be {' or '.join(PRESETS)}, not {preset}."
        raise DomainError("invalid_parameter", message, fields={"preset": message})
    return Parameters.read(
        {
            "min_raters": study.min_raters,
            "rater_pools": str(study.rater_pools),
            "min_stereotypes": study.min_stereotypes,
            **(PRESETS[preset] if preset is not None else {}),
            **{name: value for name, value in chosen.items() if value is not None},
            "without_annotators": tuple(sorted(set(without_annotators))),
            "campaigns": tuple(sorted(set(campaigns))),
        }
    )
