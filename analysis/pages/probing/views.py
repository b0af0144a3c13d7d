"""What models answered about images that differ only in the person: differences between groups, with intervals."""

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
    """One section per experiment; `by` in the address breaks the groups' scores down.

    Where models were asked for words alone, their page is shown instead.
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
    """Models beside each other, on the scenarios that both answered."""
    probing = ProbingPage(page)
    return {"probing": probing, "sections": probing.sections(parts.model_parts)}


@results_page("analysis/probing/orders.html")
def orders(page: ResultsPage) -> dict[str, Any]:
    """What the order of the options does to the answers."""
    probing = ProbingPage(page)
    return {"probing": probing, "parts": parts.order_parts(probing.rows)}


def the_plot(page: ResultsPage, name: str) -> Plot | None:
    """A plot of the experiment and model that the address names."""
    return parts.plot_of(ProbingPage(page).rows, name)
