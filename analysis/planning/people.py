"""How many people of each kind a design needs so that quota rules are met."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from annotation.assignment import quota_rules
from annotation.assignment.quotas import AT_LEAST, Rule
from annotation.campaigns.planning.cells import cells_of, people_needed
from annotation.kinds.registry import MARKING
from annotation.models import Campaign
from studies.models import Study

if TYPE_CHECKING:
    from analysis.metrics.marking.simulate_studies import Design


@dataclass(frozen=True)
class PlannedPeople:
    """How many of a design's annotators a rule asks for; `each_group`: for each identity group that many."""

    name: str
    needed: int
    each_group: bool = False


def rules_of(written: str, annotators_per_task: int) -> tuple[Rule, ...]:
    """Return the rules of a plan, written with semicolons between them; DomainError where they are wrong."""
    lines = [line for line in written.replace("\n", ";").split(";") if line.strip()]
    return quota_rules.parse(lines, annotators_per_task=annotators_per_task, kind=MARKING)


def people_of(design: "Design", written: str) -> list[PlannedPeople]:
    """Return how many people each rule needs where everybody judges as many images.

    A rule for k of the n people of each image needs max(k, ⌈k × annotators ÷ n⌉) people; a rule on the group shown
    needs max(k, ⌈k × annotators ÷ (n × groups)⌉) for each group.
    """
    rules = rules_of(written, design.annotators_per_task)
    images = design.groups * design.images
    per_person = Fraction(images * design.annotators_per_task, design.annotators)
    people = [
        PlannedPeople(cell.name, people_needed(cell.answers, per_person, cell.rule.k))
        for cell in cells_of([rule for rule in rules if not rule.matches_group], {None: images}, {})
    ]
    for rule in rules:
        if rule.matches_group and rule.kind == AT_LEAST:
            words = quota_rules.FIELD_WORDS[rule.field]
            name = f"{words[:1].upper()}{words[1:]}: {'not ' * rule.negated}the same as the group’s"
            people.append(
                PlannedPeople(
                    name, people_needed(rule.k * design.images, per_person, rule.k), each_group=True
                )
            )
    return people


def written_rules(rules: Sequence[Rule]) -> str:
    """Return rules as the form of a plan takes them."""
    return "; ".join(map(quota_rules.line, rules))


def rules_of_study(study: Study) -> str:
    """Return the rules of the newest marking campaign of a study that has any, "" where none has."""
    campaigns = Campaign.objects.filter(study=study, kind=MARKING.key, quota_rules__isnull=False)
    newest = campaigns.order_by("-pk").first()
    return written_rules(quota_rules.stored(newest)) if newest is not None else ""
