"""The cells of a campaign: the people whom its quota rules need, and the number of places."""

from collections import defaultdict
from dataclasses import dataclass

from django.db.models import Sum

from annotation.assignment import quota_rules
from annotation.assignment.quotas import AT_LEAST
from annotation.campaigns import feasibility
from annotation.campaigns.planning.cells import people_needed
from annotation.models import Campaign, Task

ANYBODY = "Anybody"


@dataclass(frozen=True)
class Cell:
    """People to be recruited together, with the filters of one study in a panel."""

    name: str
    answers: int  # screens that these people have to answer

    def places(self, screens: int) -> int:
        """Return the number of places with `screens` screens each."""
        return people_needed(self.answers, screens)


@dataclass(frozen=True)
class Proposal:
    """The cells of one profile field and everybody else, and the rules that these cells do not cover."""

    cells: tuple[Cell, ...]
    others: tuple[str, ...] = ()


def propose(campaign: Campaign) -> Proposal:
    """Return the cells by the field whose rules ask for most people, with `ANYBODY` for what remains."""
    tasks = Task.objects.filter(campaign=campaign, purpose=Task.Purpose.LABEL, withdrawn=False).order_by()
    answers = int(tasks.aggregate(answers=Sum("wanted"))["answers"] or 0)
    rules = quota_rules.stored(campaign)
    by_field: dict[str, list[Cell]] = defaultdict(list)
    for cell in feasibility.cells_of_campaign(campaign):
        by_field[cell.rule.field].append(Cell(cell.name, cell.answers))
    chosen = max(by_field, key=lambda field: sum(cell.answers for cell in by_field[field]), default="")
    cells = by_field.get(chosen, [])
    remaining = answers - sum(cell.answers for cell in cells)
    if remaining > 0:
        cells = [*cells, Cell(ANYBODY, remaining)]
    others = (quota_rules.in_words(rule) for rule in rules if rule.kind != AT_LEAST or rule.field != chosen)
    return Proposal(tuple(cells), tuple(others))
