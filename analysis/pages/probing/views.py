"""Models' answers about images that differ only in the person: differences between groups, with intervals."""

from functools import partial
from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect

from analysis.pages.probing.probing_page import ProbingPage
from analysis.pages.results_page import ResultsPage, results_page
from analysis.plots.plot import Plot
from analysis.results.summaries.probing import parts
from analysis.results.summaries.probing.review import review_parts
from analysis.results.summaries.probing.scores import BREAKDOWNS
from foundation.errors import NotFound


@results_page("analysis/probing/answers.html")
def probes(page: ResultsPage) -> HttpResponse | dict[str, Any]:
    """Show a section per experiment; `by` in the address breaks down the groups' scores.

    Redirects to the page of associations or words if models were asked only for words.
    """
    if page.probes is None and page.has_probing:
        has_words = bool(page.words and page.words["words"])
        return redirect(
            "analysis:associations" if has_words else "analysis:probe_words", study=page.study.slug
        )
    by = page.request.GET.get("by", "")
    if by and by not in BREAKDOWNS:
        raise NotFound("breakdown_not_found", f"Answers are not broken down by “{by}”.")
    probing = ProbingPage(page)
    return {
        "probing": probing,
        "by": by,
        "breakdowns": [
            (title, probing.query(by=name))
            for name, title in [
                ("", "Whole experiments"),
                *((name, title) for name, (_, title) in BREAKDOWNS.items()),
            ]
            if name != by
        ],
        "sections": probing.sections(partial(parts.experiment_parts, by=by)),
        "review": review_parts(probing.rows) if probing.summary.get("review") and not by else [],
    }


@results_page("analysis/probing/models.html")
def models(page: ResultsPage) -> dict[str, Any]:
    """Compare models on the scenarios that both answered."""
    probing = ProbingPage(page)
    return {"probing": probing, "sections": probing.sections(parts.model_parts)}


@results_page("analysis/probing/orders.html")
def orders(page: ResultsPage) -> dict[str, Any]:
    """Show the effect of the order of options on the answers."""
    probing = ProbingPage(page)
    return {"probing": probing, "parts": parts.order_parts(probing.rows)}


def the_plot(page: ResultsPage, name: str) -> Plot | None:
    """Return a plot of the experiment and model in the address."""
    return parts.plot_of(ProbingPage(page).rows, name)
