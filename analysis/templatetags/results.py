"""The tabs of a study's results: `{% load results %}`."""

from typing import Any

from django import template
from django.template import Context
from django.urls import reverse

from web.templatetags.design import tabs

register = template.Library()

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
BESIDE = (("Compare", "compare"), ("Visual attributes", "visual_attributes"))


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
