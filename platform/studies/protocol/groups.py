"""The identity groups of a resource, with the data that leads need to choose among them."""

import unicodedata
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from unicodedata import combining

from django.db.models import Case, When

from catalog.models import Resource, Stereotype
from catalog.raters import rated
from studies.protocol.attribute_roles import stereotypes

NO_REGION = "Region not given"


@dataclass(frozen=True)
class GroupChoice:
    """A group with its stereotypes by the study's rule and their mean stored offensiveness (None if unrated).

    `most` is the limit of attributes that the study uses; None for all.
    """

    pk: int
    name: str
    region: str
    attributes: tuple[str, ...]
    offensiveness: float | None
    most: int | None = None

    @property
    def stereotypes(self) -> int:
        number = len(self.attributes)
        return number if self.most is None else min(number, self.most)


@dataclass(frozen=True)
class GroupFilter:
    """A filter of groups; "" and None match all groups."""

    name: str = ""
    region: str = ""
    at_least: int | None = None
    offensiveness_from: float | None = None
    offensiveness_to: float | None = None

    def shows(self, choice: GroupChoice) -> bool:
        """Return whether `choice` matches; an unrated group never matches a bound on offensiveness."""
        if self.name and not _names(choice, self.name):
            return False
        if self.region and choice.region != self.region:
            return False
        if self.at_least is not None and choice.stereotypes < self.at_least:
            return False
        if self.offensiveness_from is None and self.offensiveness_to is None:
            return True
        if choice.offensiveness is None:
            return False
        above = self.offensiveness_from is None or choice.offensiveness >= self.offensiveness_from
        below = self.offensiveness_to is None or choice.offensiveness <= self.offensiveness_to
        return above and below


def _names(choice: GroupChoice, words: str) -> bool:
    """Return whether the group's name or region contains all words, ignoring case and accents."""
    name = _plain(f"{choice.name} {choice.region}")
    return all(word in name for word in _plain(words).split())


def _plain(text: str) -> str:
    return "".join(
        character for character in unicodedata.normalize("NFKD", text.casefold()) if not combining(character)
    )


def group_choices(
    resource: Resource, *, min_raters: int, rater_pools: str, most: int | None = None
) -> list[GroupChoice]:
    """Return the resource's groups, sorted by region and name, in two queries."""
    attributes: dict[int, list[str]] = defaultdict(list)
    ratings: dict[int, list[float]] = defaultdict(list)
    pairs = Stereotype.objects.filter(group__resource=resource)
    listed = stereotypes(pairs, min_raters=min_raters, rater_pools=rater_pools)
    score = Case(When(rated(), then="offensiveness_stored"))
    rows = listed.order_by("attribute__text").values_list("group", "attribute__text", score)
    for group, text, offensiveness in rows:
        attributes[group].append(text)
        if offensiveness is not None:
            ratings[group].append(offensiveness)
    choices = [
        GroupChoice(
            pk=pk,
            name=name,
            region=region or NO_REGION,
            attributes=tuple(attributes[pk]),
            offensiveness=sum(ratings[pk]) / len(ratings[pk]) if ratings[pk] else None,
            most=most,
        )
        for pk, name, region in resource.groups.values_list("pk", "display_name", "region")
    ]
    return sorted(choices, key=lambda choice: (choice.region == NO_REGION, choice.region, choice.name))


def by_region(choices: Iterable[GroupChoice]) -> dict[str, list[GroupChoice]]:
    """Return region → choices, in the given order."""
    regions: dict[str, list[GroupChoice]] = defaultdict(list)
    for choice in choices:
        regions[choice.region].append(choice)
    return dict(regions)
