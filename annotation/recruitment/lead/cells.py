"""The cells of a campaign: whom its quota rules ask for, and how many places of so many screens that takes."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil

from django.db.models import Count, Sum

from annotation.assignment import quota_rules
from annotation.assignment.quotas import AT_LEAST, Rule, normalise
from annotation.models import Campaign, Task

ANYBODY = "Anybody"


@dataclass(frozen=True)
class Cell:
    """People to be recruited together: in a panel, the filters of one of its studies."""

    name: str
    answers: int  # screens that these people have to answer

    def places(self, screens: int) -> int:
        """Return how many places of `screens` screens that takes."""
        return ceil(self.answers / screens)


@dataclass(frozen=True)
class Proposal:
    """The cells of one profile field and everybody else, and the rules that these cells leave to chance."""

    cells: tuple[Cell, ...]
    others: tuple[str, ...] = ()


def propose(campaign: Campaign) -> Proposal:
    """Return the cells by the field whose rules ask for most people, with `ANYBODY` for what remains."""
    tasks = Task.objects.filter(campaign=campaign, purpose=Task.Purpose.LABEL, withdrawn=False).order_by()
    totals = tasks.aggregate(answers=Sum("wanted"), screens=Count("pk"))
    answers, screens = int(totals["answers"] or 0), int(totals["screens"])
    rules = quota_rules.stored(campaign)
    by_field: dict[str, list[Cell]] = defaultdict(list)
    for rule in rules:
        if rule.kind == AT_LEAST and not rule.matches_group:
            by_field[rule.field].append(Cell(_name(rule), rule.k * screens))
        elif rule.kind == AT_LEAST:
            by_field[rule.field] += _cells_of_groups(campaign, rule)
    chosen = max(by_field, key=lambda field: sum(cell.answers for cell in by_field[field]), default="")
    cells = by_field.get(chosen, [])
    remaining = answers - sum(cell.answers for cell in cells)
    if remaining > 0:
        cells = [*cells, Cell(ANYBODY, remaining)]
    others = (quota_rules.in_words(rule) for rule in rules if rule.kind != AT_LEAST or rule.field != chosen)
    return Proposal(tuple(cells), tuple(others))


def _name(rule: Rule) -> str:
    words = quota_rules.FIELD_WORDS[rule.field]
    return f"{words[:1].upper()}{words[1:]}: {'not ' if rule.negated else ''}{quota_rules.names_of(rule)}"


def _cells_of_groups(campaign: Campaign, rule: Rule) -> Iterable[Cell]:
    """Return a cell for each group shown, whose own region or nationality the rule asks for."""
    tasks = Task.objects.filter(campaign=campaign, purpose=Task.Purpose.LABEL, withdrawn=False)
    by_group = dict(tasks.order_by().values_list("image__group").annotate(number=Count("pk")))
    words = quota_rules.FIELD_WORDS[rule.field]
    for group in campaign.study.groups.filter(pk__in=[pk for pk in by_group if pk]).order_by("name"):
        shown = group.region if rule.matches_group == "region" else group.display_name or group.name
        if normalise(shown):
            name = f"{words[:1].upper()}{words[1:]}: {'not ' if rule.negated else ''}{shown}"
            yield Cell(name, rule.k * by_group[group.pk])
