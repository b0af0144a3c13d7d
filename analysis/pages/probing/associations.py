"""Words that models associate with descriptors or write about groups: tables, heat maps, overlap, judge and people."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse

from analysis.pages.results_page import ResultsPage, results_page
from analysis.pages.table_page import Order, table_page
from analysis.plots.plot import Plot
from analysis.results.probing.association_rows import (
    CHOICES,
    ORDERS,
    AssociationFilter,
    AssociationPage,
    association_page,
)
from analysis.results.summaries.probing.associations import (
    PLOTS,
    RULES,
    AssociationTables,
    harm_parts,
    judge_parts,
    overlap_parts,
)
from analysis.results.summaries.questions.estimate_tables import QuestionPart
from annotation.lead.page_context import typed
from foundation.errors import DomainError, NotFound

ROWS_SHOWN = 50
TABLE_RULES = {"either": "either rule", **RULES}
ORDER_WORDS = {
    "tfidf": "tf-idf, largest first",
    "q_all_pairs": "q of the exact test, smallest first",
    "tf": "most often given",
    "toxicity": "most toxic",
    "bias_level": "highest level by the judge",
    "bias_level_people": "highest level by people",
    "descriptor": "descriptor",
    "word": "word",
}
WORD_ORDERS = {
    "frequency": Order("Most frequent", "frequency"),
    "smoothed": Order("Largest difference", "smoothed"),
    "word": Order("Word", "word", largest=False),
}
LEVELS = range(2, 6)


@dataclass(frozen=True)
class AssociationsPage:
    """A page of associations with the choices in its address: `rule` and `answers_of` (a model)."""

    results: ResultsPage

    @property
    def summary(self) -> dict[str, Any]:
        return self.results.words or {"models": [], "words": 0, "texts": 0}

    @cached_property
    def rule(self) -> str:
        return self._chosen("rule", RULES, "exact")

    @cached_property
    def model(self) -> str:
        return self._chosen("answers_of", self.summary["models"], "")

    @property
    def tables(self) -> AssociationTables:
        return AssociationTables(self._table, self.rule, self.model)

    @property
    def rules(self) -> dict[str, str]:
        return RULES

    @property
    def has_associations(self) -> bool:
        return bool(self.summary["words"])

    @property
    def query(self) -> str:
        values = {"rule": self.rule, "answers_of": self.model}
        return f"?{urlencode({name: value for name, value in values.items() if value})}"

    def shown(self, parts: list[QuestionPart]) -> dict[str, Any]:
        return {"associations": self, "parts": parts}

    def _chosen(self, name: str, values: Any, default: str) -> str:
        value: str = self.results.request.GET.get(name, "") or default
        if value and value not in values:
            raise NotFound(f"{name}_not_found", f"These results have no data about “{value}”.")
        return value

    def _table(self, name: str) -> list[dict[str, Any]]:
        stored = self.results.report.tables.filter(name=name).first()
        return stored.rows() if stored else []


@results_page("analysis/probing/associations.html")
def associations(page: ResultsPage) -> HttpResponse | dict[str, Any]:
    """Show significant associations, filtered and ordered as in the address."""
    association_pages = AssociationsPage(page)
    if not association_pages.has_associations:
        return association_pages.shown([])
    wanted = filter_of(page)
    order = page.request.GET.get("order", "") or "tfidf"
    number = page.request.GET.get("page")
    found: AssociationPage = association_page(page.report, wanted, order=order, page=number, size=ROWS_SHOWN)
    return association_pages.shown([]) | {
        "found": found,
        "wanted": wanted,
        "table_rules": TABLE_RULES,
        "order": order,
        "orders": {name: ORDER_WORDS[name] for name in ORDERS},
        "choices": [
            (name, getattr(wanted, name), values)
            for name in CHOICES
            if len(values := found.choices[name]) > 1
        ],
        "levels": LEVELS,
        "is_open": bool(page.request.GET),
        "judge": page.words["scorers"].get("judge") if page.words else None,
    }


def filter_of(page: ResultsPage) -> AssociationFilter:
    """Read the filter from the address; raise DomainError for an invalid rule or number."""
    values = page.request.GET
    texts = {name: typed(values.get(name)) for name in (*CHOICES, "descriptor", "word")}
    return AssociationFilter(
        rule=values.get("rule", "") or "either",
        **{name: text for name, text in texts.items() if text},
        least_level=_number(values.get("least_level", ""), "least_level"),
        least_toxicity=_number(values.get("least_toxicity", ""), "least_toxicity"),
    )


def _number(text: str, name: str) -> float | None:
    if not text.strip():
        return None
    try:
        return float(text)
    except ValueError:
        message = f"{name.replace('_', ' ')} must be a number, not {text!r}."
        raise DomainError("invalid_parameter", message, fields={name: message}) from None


@results_page("analysis/probing/words.html")
def words(page: ResultsPage) -> dict[str, Any]:
    """Show words of open answers that distinguish one group from the others."""
    association_pages = AssociationsPage(page)
    rows = page.table("pairs_words") if association_pages.summary["texts"] else []
    choices = {
        "answers_of": ("model", sorted({row["model"] for row in rows})),
        "scope": ("scope", sorted({row["scope"] for row in rows}, key=lambda name: (name != "all", name))),
        "factor": ("factor", sorted({row["factor"] or "" for row in rows})),
        "of_group": ("group", sorted({row["group"] for row in rows})),
    }
    chosen = {name: typed(page.request.GET.get(name)) for name in choices}
    chosen["scope"] = chosen["scope"] or "all"
    kept = [
        row | {"group_name": page.names.get(row["group"], row["group"])}
        for row in rows
        if (row["factor"] or "") == chosen["factor"]
        and all(chosen[name] in ("", row[choices[name][0]]) for name in ("answers_of", "scope", "of_group"))
    ]
    return association_pages.shown([]) | {
        "found": table_page(page.request, kept, WORD_ORDERS, name="word", size=ROWS_SHOWN),
        "word_choices": {name: (chosen[name], values) for name, (_, values) in choices.items()},
        "texts": association_pages.summary["texts"],
    }


@results_page("analysis/probing/heat_maps.html")
def heat_maps(page: ResultsPage) -> dict[str, Any]:
    """Show shares of negative, toxic and biased associations by dimension, setting and model."""
    association_pages = AssociationsPage(page)
    return association_pages.shown(harm_parts(association_pages.tables))


@results_page("analysis/probing/overlap.html")
def overlap(page: ResultsPage) -> dict[str, Any]:
    """Show the overlap of associations between models and between settings."""
    association_pages = AssociationsPage(page)
    return association_pages.shown(overlap_parts(association_pages.tables))


@results_page("analysis/probing/judge.html")
def judge(page: ResultsPage) -> dict[str, Any]:
    """Show the agreement of the judge's levels with people's."""
    association_pages = AssociationsPage(page)
    parts = judge_parts(association_pages.tables)
    scorers = association_pages.summary.get("scorers", {})
    return association_pages.shown(parts) | {
        "judge": scorers.get("judge"),
        "unparsed": association_pages.summary.get("unparsed", 0),
    }


def the_plot(page: ResultsPage, name: str) -> Plot | None:
    """Return a plot for the rule and the model in the address."""
    return PLOTS[name](AssociationsPage(page).tables)
