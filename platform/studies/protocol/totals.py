"""Expected numbers of images, questions and hours of a study, before it exists."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from studies.protocol.groups import GroupChoice

# The published protocol asks three people; a campaign may ask more or fewer.
ANNOTATORS = 3
# Assumed until a campaign has a median of its own.
SECONDS_PER_RATING = 8
SECONDS_PER_SCREEN = 30
ATTRIBUTES_PER_SCREEN = 5


@dataclass(frozen=True)
class StudyTotals:
    """Counts for the chosen groups. Those of marking are upper bounds: only visual attributes are marked."""

    groups: int
    prompts: int
    images_per_group: int
    images: int
    stereotypes: int
    attributes: int
    too_few: tuple[str, ...]
    ratings: int
    screens_at_most: int
    judgements_at_most: int

    @property
    def rating_hours(self) -> float:
        return self.ratings * SECONDS_PER_RATING / 3600

    @property
    def marking_hours_at_most(self) -> float:
        return self.screens_at_most * SECONDS_PER_SCREEN / 3600


def study_totals(
    choices: Iterable[GroupChoice],
    *,
    chosen: Collection[int],
    prompts: int,
    images_per_prompt: int,
    min_stereotypes: int,
) -> StudyTotals:
    """Return the totals of a study of the `chosen` groups."""
    groups = [choice for choice in choices if choice.pk in chosen]
    per_group = prompts * images_per_prompt
    stereotypes = sum(group.stereotypes for group in groups)
    # With a limit per group, the attributes are known only when the study has its seed.
    attributes = min(len({text for group in groups for text in group.attributes}), stereotypes)
    # Each image is shown with as many random attributes as stereotypes.
    attributes_shown = [2 * group.stereotypes for group in groups]
    return StudyTotals(
        groups=len(groups),
        prompts=prompts,
        images_per_group=per_group,
        images=len(groups) * per_group,
        stereotypes=stereotypes,
        attributes=attributes,
        too_few=tuple(group.name for group in groups if group.stereotypes < min_stereotypes),
        ratings=ANNOTATORS * attributes,
        screens_at_most=ANNOTATORS
        * per_group
        * sum(-(-n // ATTRIBUTES_PER_SCREEN) for n in attributes_shown),
        judgements_at_most=ANNOTATORS * per_group * sum(attributes_shown),
    )
