"""The tabs of a study's results: `{% load results %}`."""

from collections.abc import Iterable, Mapping
from typing import Any

from django import template
from django.template import Context
from django.urls import reverse

from analysis.results.schema import DIVISIVE
from analysis.results.summaries import annotators
from web.templatetags.design import tabs

register = template.Library()
register.filter(annotators.annotators_of_images)
register.filter(annotators.annotators_of_attributes)
register.filter(annotators.resampled_for_marks)
register.filter(annotators.resampled_for_ratings)

PROBES = ("Answers of models", "probes")
# The pages under “Answers of models”.
CHOICES = (("Groups", "probes"), ("Order of options", "probe_orders"), ("Models compared", "probe_models"))
WORDS = ("Words", "probe_words")
ASSOCIATIONS = (
    ("Associations", "associations"),
    ("Heat maps", "heat_maps"),
    ("Overlap", "overlap"),
    ("Judge and people", "judge"),
)
PLANNER = ("Planner", "probe_planner")
QUESTIONS = ("Questions", "questions")
AUTOMATED = ("Automated", "automated")
LABELS = (
    ("Groups", "groups"),
    ("Attributes", "attributes"),
    ("Agreement", "agreement"),
    ("Disagreement", "disagreement"),
)
ANNOTATORS = (("Annotators", "annotators"), ("Groups of annotators", "annotator_groups"))
# The table that a page shows, by the name of the page's address; of several, the first with rows.
TABLES_OF_PAGE = {
    "overview": ("tendency",),
    "groups": ("tendency",),
    "group": ("likelihood",),
    "attributes": ("likelihood",),
    "attribute": ("likelihood",),
    "image": ("likelihood",),
    "agreement": ("agreement",),
    "disagreement": (DIVISIVE,),
    "annotators": ("annotators",),
    "annotator_groups": ("annotator_groups",),
    "visual_attributes": ("visual_attributes",),
    "questions": ("preferences", "rankings", "scales", "choices", "marked_words", "texts"),
    "automated": ("concordance", "salience", "pull", "mcas", "automated_tendency"),
    "concordance": ("concordance",),
    "captions": ("salience",),
    "pull": ("pull",),
    "mcas": ("mcas",),
    "automated_tendency": ("automated_tendency",),
    "compare": ("model_differences",),
    "probes": ("pairs_scores",),
    "probe_orders": ("pairs_order_effects",),
    "probe_models": ("pairs_model_differences",),
    "probe_words": ("pairs_words",),
    "probe_planner": ("pairs_scenarios",),
    "associations": ("associations",),
    "heat_maps": ("association_shares",),
    "overlap": ("association_overlap",),
    "judge": ("judge_agreement",),
}
# How a program loads a table, by language.
CODE_EXAMPLES = {
    "Python": """import os
import pandas as pd

key = os.environ["STEREOSCOPE_KEY"]
{table} = pd.read_csv(
    "{address}",
    storage_options={{"Authorization": f"Bearer {{key}}"}},
)""",
    "R": """key <- Sys.getenv("STEREOSCOPE_KEY")
{table} <- read.csv(url(
  "{address}",
  headers = c(Authorization = paste("Bearer", key))
), na.strings = "", encoding = "UTF-8")""",
}
BESIDE = (("Compare", "compare"), ("Visual attributes", "visual_attributes"))


@register.inclusion_tag("analysis/partials/_use_in_code.html", takes_context=True)
def use_in_code(context: Context) -> dict[str, object]:
    """How a program loads the table behind this page; nothing where the table has no rows."""
    request, study, page = context["request"], context["study"], context["page"]
    candidates = TABLES_OF_PAGE.get(request.resolver_match.url_name, ())
    campaign = context.get("campaign") if request.resolver_match.url_name == "questions" else None
    table = next((name for name in candidates if _has_rows(page, name, campaign)), None)
    if table is None:
        return {}
    path = reverse("api:results-table", args=[study.slug, table])
    address = request.build_absolute_uri(path)
    examples = [
        {
            "language": language,
            "id": f"use-in-{language.lower()}",
            "code": code.format(table=table, address=address),
        }
        for language, code in CODE_EXAMPLES.items()
    ]
    return {"study": study, "table": table, "examples": examples, "in_zip": table in page.files}


def _has_rows(page: Any, table: str, campaign: Mapping[str, Any] | None) -> bool:
    """Whether a table has rows: of a campaign, where the page is about one."""
    if campaign is not None:
        return any(row["campaign"] == campaign["campaign"] for row in page.optional(table))
    return table in page.files or (table == DIVISIVE and bool(page.optional(table)))


@register.filter
def any_reason(rows: Iterable[Any]) -> bool:
    """Whether a value of these rows is missing, so that a table needs a column that says why."""
    return any(row.get("reason") if isinstance(row, Mapping) else row.reason for row in rows)


@register.inclusion_tag("web/components/navigation/tabs.html", takes_context=True)
def results_tabs(context: Context) -> dict[str, object]:
    """The tabs of pages that have something to say about this study: before there are results, as its protocol has
    it."""
    study, page = context["study"], context.get("page")
    shown = _tabs_of(page) if page else _tabs_expected(is_probing=context["is_probing"])
    pairs = [("Overview", "overview"), *shown]
    urls = [
        value for label, name in pairs for value in (label, reverse(f"analysis:{name}", args=[study.slug]))
    ]
    return tabs(context, "Results", *urls)


@register.inclusion_tag("web/components/navigation/tabs.html", takes_context=True)
def probing_tabs(context: Context) -> dict[str, object]:
    """The tabs of the pages about models' answers: those about choices, about words, and the planner."""
    study, page = context["study"], context["page"]
    urls = [
        value
        for label, name in (*_probing_tabs_of(page), PLANNER)
        for value in (label, reverse(f"analysis:{name}", args=[study.slug]))
    ]
    return tabs(context, "Answers of models", *urls)


def _probing_tabs_of(page: Any) -> list[tuple[str, str]]:
    words = page.words or {}
    return [
        *(CHOICES if page.probes else ()),
        *([WORDS] if words.get("texts") else []),
        *(ASSOCIATIONS if words.get("words") else ()),
    ]


def _tabs_of(page: Any) -> list[tuple[str, str]]:
    probes = [PROBES] if page.has_probing else []
    questions = [QUESTIONS] if page.questions else []
    if page.only_questions or not page.has_labels:
        return [*probes, *questions, AUTOMATED]
    return [*LABELS, *probes, *questions, *ANNOTATORS, AUTOMATED, *BESIDE]


def _tabs_expected(*, is_probing: bool) -> list[tuple[str, str]]:
    return [PROBES, AUTOMATED] if is_probing else [*LABELS, *ANNOTATORS, AUTOMATED, *BESIDE]
