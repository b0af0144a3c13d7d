"""Associations of a stored report: filtered, sorted, one page at a time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

from django.core.paginator import Page, Paginator

from analysis.models import Report
from analysis.results.probe_tables import SIGNIFICANT
from foundation.errors import DomainError, NotFound

Row = dict[str, Any]
# The shown pairs, by the column that selects them; showing all pairs reads the whole table, which is slower.
RULES: Mapping[str, tuple[str, ...]] = {
    "either": ("significant", "significant_exact"),
    "published": ("significant",),
    "exact": ("significant_exact",),
    "all": (),
}
CHOICES = ("model", "modality", "setting", "dimension", "sentiment")
# How rows can be ordered: by which column, and whether the largest comes first. Nulls come last.
ORDERS: Mapping[str, tuple[str, bool]] = {
    "tfidf": ("tfidf", True),
    "q_all_pairs": ("q_all_pairs", False),
    "tf": ("tf", True),
    "toxicity": ("toxicity", True),
    "bias_level": ("bias_level", True),
    "bias_level_people": ("bias_level_people", True),
    "descriptor": ("descriptor", False),
    "word": ("word", False),
}
ROWS_A_PAGE = 100
MOST_ROWS_A_PAGE = 1_000


@dataclass(frozen=True)
class AssociationFilter:
    """A filter of associations. An empty value admits all; descriptor and word may be parts of a word.

    `least_level`: the judge's level at least. `least_toxicity`: P(toxic) at least.
    """

    rule: str = "either"
    model: str = ""
    modality: str = ""
    setting: str = ""
    dimension: str = ""
    sentiment: str = ""
    descriptor: str = ""
    word: str = ""
    least_level: float | None = None
    least_toxicity: float | None = None

    def __post_init__(self) -> None:
        if self.rule not in RULES:
            message = f"rule must be {', '.join(RULES)}, not {self.rule!r}."
            raise DomainError("invalid_parameter", message, fields={"rule": message})

    def matching(self, columns: Sequence[str], rows: list[list[Any]]) -> list[list[Any]]:
        """Return the rows that are wanted; `columns` names their values."""
        at = {name: place for place, name in enumerate(columns)}
        rules = [at[name] for name in RULES[self.rule]]
        if rules:
            rows = [row for row in rows if any(row[place] for place in rules)]
        for name in CHOICES:
            if getattr(self, name):
                rows = [row for row in rows if row[at[name]] == getattr(self, name)]
        for name in ("descriptor", "word"):
            part = getattr(self, name).casefold()
            if part:
                rows = [row for row in rows if part in row[at[name]].casefold()]
        for name, least in (("bias_level", self.least_level), ("toxicity", self.least_toxicity)):
            if least is not None:
                rows = [row for row in rows if row[at[name]] is not None and row[at[name]] >= least]
        return rows


@dataclass(frozen=True)
class AssociationPage:
    """Some rows, with the number of all that match, and the values that each choice has in the report."""

    rows: Page[Row]
    total: int
    choices: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def match_count(self) -> int:
        """How many rows match the filter."""
        return int(self.rows.paginator.count)


def association_page(
    report: Report,
    wanted: AssociationFilter,
    *,
    order: str = "tfidf",
    page: str | int | None = 1,
    size: int = ROWS_A_PAGE,
) -> AssociationPage:
    """Return the associations of a report that pass a filter, `size` on a page.

    A page number beyond the last gives the last page. Raises NotFound if the report has no associations, and
    DomainError for an unknown order or a size below 1 or above 1,000.
    """
    if order not in ORDERS:
        message = f"order must be {', '.join(ORDERS)}, not {order!r}."
        raise DomainError("invalid_parameter", message, fields={"order": message})
    if not 1 <= size <= MOST_ROWS_A_PAGE:
        message = f"A page has 1 to {MOST_ROWS_A_PAGE:,} rows."
        raise DomainError("invalid_parameter", message, fields={"size": message})
    table = report.tables.filter(name=SIGNIFICANT if RULES[wanted.rule] else "associations").first()
    if table is None:
        raise NotFound("associations_not_found", "These results have no associations.")
    rows, columns = table.values(), table.columns
    paginator: Paginator[Any] = Paginator(in_order(wanted.matching(columns, rows), columns, order), size)
    place = paginator.get_page(page)
    shown: list[Row] = [dict(zip(columns, row, strict=True)) for row in place.object_list]
    choices = {
        name: sorted({row[place] for row in rows} - {None})
        for name, place in ((name, columns.index(name)) for name in CHOICES)
    }
    return AssociationPage(Page(shown, place.number, paginator), len(rows), choices)


def in_order(rows: list[list[Any]], columns: Sequence[str], order: str) -> list[list[Any]]:
    """Return rows sorted by a column, rows without a value last, equal rows in stored order."""
    column, largest = ORDERS[order]
    at = columns.index(column)
    with_value = [row for row in rows if row[at] is not None]
    with_value.sort(key=itemgetter(at), reverse=largest)
    return with_value + [row for row in rows if row[at] is None]
