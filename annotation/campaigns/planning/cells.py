"""The cells of quotas: the people whom the rules ask for, how many are needed, and how many there are.

The launch page, the other pages of a campaign and recruitment all count with these functions.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil

from accounts.profile_codes.codes import UNCODED
from annotation.assignment import quota_rules
from annotation.assignment.campaign_quotas import own_values
from annotation.assignment.quotas import AT_LEAST, Profile, Rule
from studies.models import StudyGroup


@dataclass(frozen=True)
class QuotaCell:
    """People whom a rule asks for: `rule.k` of the people who answer each of a number of screens."""

    name: str
    rule: Rule  # with the values of the group shown, if it refers to them
    screens: int

    @property
    def answers(self) -> int:
        """Return how many screens these people have to answer."""
        return self.rule.k * self.screens

    def people_needed(self, screens_per_person: int) -> int:
        return people_needed(self.answers, screens_per_person, self.rule.k)

    def counted_in(self, people: Iterable[Profile]) -> int:
        """Return how many people count for it for sure."""
        return sum(self.rule.met_by(profile) for profile in people)


@dataclass(frozen=True)
class CellPeople:
    """How many people a cell needs and has."""

    name: str
    answers: int
    needed: int
    counted: int

    @property
    def shortfall(self) -> int:
        return max(0, self.needed - self.counted)

    @property
    def sentence(self) -> str:
        """Return what is missing; "" if nothing is missing."""
        if not self.shortfall:
            return ""
        takes_part = "1 takes part" if self.counted == 1 else f"{self.counted:,} take part"
        missing = "1 is missing" if self.shortfall == 1 else f"{self.shortfall:,} are missing"
        people = "person" if self.needed == 1 else "people"
        return f"{self.name}: {self.needed:,} {people} needed, {takes_part}, {missing}."


def people_needed(answers: int, screens_per_person: int | Fraction, at_once: int = 1) -> int:
    """Return the number of people for a number of answers; `at_once` different people answer the same screen.

    max(at_once, ⌈answers ÷ screens_per_person⌉), and 0 if there is nothing to answer.
    """
    return max(at_once, ceil(Fraction(answers) / screens_per_person)) if answers else 0


def cells_of(
    rules: Sequence[Rule], screens: Mapping[int | None, int], groups: Mapping[int, StudyGroup]
) -> list[QuotaCell]:
    """Return the cells of the rules that ask for people, in the order of the rules; groups by name.

    `screens`: the number of screens that show each group; None for screens with no group or several.
    """
    total = sum(screens.values())
    cells = []
    for rule in rules:
        if rule.kind != AT_LEAST:
            continue
        if not rule.matches_group:
            cells.append(QuotaCell(_name(rule, quota_rules.names_of(rule)), rule, total))
            continue
        shown = (groups[pk] for pk in screens if pk is not None and pk in groups)
        for group in sorted(shown, key=lambda group: group.name):
            values = own_values(group)[rule.matches_group]
            if values:
                text = group.region if rule.matches_group == "region" else group.display_name or group.name
                cells.append(QuotaCell(_name(rule, text), replace(rule, values=values), screens[group.pk]))
    return cells


def with_people(
    cells: Iterable[QuotaCell], people: Sequence[Profile], screens_per_person: int
) -> list[CellPeople]:
    """Return the needed and present numbers of each cell."""
    return [
        CellPeople(cell.name, cell.answers, cell.people_needed(screens_per_person), cell.counted_in(people))
        for cell in cells
    ]


def unplaced(rules: Iterable[Rule], people: Sequence[Profile]) -> list[str]:
    """Return a sentence for each field of the rules that some people left empty or answered in their own words."""
    sentences = []
    for field in dict.fromkeys(rule.field for rule in rules):
        number = sum(not profile.get(field, frozenset()) - {UNCODED} for profile in people)
        if number:
            sentences.append(
                f"{number:,} of {len(people):,} who take part count{'s' * (number == 1)} toward no rule on "
                f"{quota_rules.FIELD_WORDS[field]}: the answer is missing or in their own words."
            )
    return sentences


def _name(rule: Rule, values: str) -> str:
    words = quota_rules.FIELD_WORDS[rule.field]
    return f"{words[:1].upper()}{words[1:]}: {'not ' if rule.negated else ''}{values}"
