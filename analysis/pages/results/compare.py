"""Comparison of two models, campaigns or studies: differences with intervals, largest first."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from accounts.models import User
from accounts.rights import Capability, requires, signed_in_user
from analysis.pages.results.annotator_groups import MEASURES, largest_first, span
from analysis.pages.results_page import ResultsPage, Row, results_page
from analysis.results import reports
from analysis.results.output.csv_tables import rows_to_csv
from analysis.results.study_comparison import (
    Side,
    latest_reports,
    most_judged,
    request_comparison,
    running_comparison,
    stored_comparison,
)
from foundation.errors import NotFound
from studies.access import studies_where, study_for
from studies.audit.files import CSV

ROWS_A_PAGE = 150
WITH_STUDY = "study:"


@dataclass(frozen=True)
class Pair:
    """Two sides that the study's own report compares."""

    key: str
    words: str
    rows: list[Row]


@results_page("analysis/results/compare.html")
def compare(page: ResultsPage) -> HttpResponse | dict[str, Any]:
    """Show the possible comparisons, and the differences of the pair chosen in the address."""
    pairs = _pairs(page)
    other_reports = [
        report for report in latest_reports(list(_other_studies(page))) if report.study_id != page.study.pk
    ]
    chosen = page.request.GET.get("with", pairs[0].key if pairs else "")
    context: dict[str, Any] = {"pairs": pairs, "others": other_reports, "chosen": chosen, "rows": None}
    if chosen.startswith(WITH_STUDY):
        context |= _with_study(page, chosen.removeprefix(WITH_STUDY))
    elif chosen:
        pair = next((option for option in pairs if option.key == chosen), None)
        if pair is None:
            raise NotFound("comparison_not_found", "These results do not have this comparison.")
        first_row = pair.rows[0]
        context |= {"found": pair.rows, "side_a": first_row["side_a"], "side_b": first_row["side_b"]}
    if page.request.GET.get("format") == "csv" and context.get("found"):
        rows = context["found"]
        columns = list(rows[0])
        text = rows_to_csv(columns, [[row[name] for name in columns] for row in rows])
        return page.file(text, "differences.csv", CSV)
    return context | (_differences(page, context["found"]) if context.get("found") else {})


@requires(post=Capability.COMPUTE_RESULTS)
def compute(request: HttpRequest, study: str) -> HttpResponse:
    """Compare with another study whose results the analyst may see: at once if small, otherwise in a job."""
    user = signed_in_user(request)
    current_study = study_for(request, study)
    report, _ = reports.report_to_show(study=current_study, by=user)
    slug, model = request.POST.get("with", "").removeprefix(WITH_STUDY), request.POST.get("model", "")
    other_report = _other_report(request, slug)
    if report is None:
        return redirect("analysis:compare", study=current_study.slug)
    a = Side(report, model) if any(line["model"] == model for line in report.summary["headline"]) else None
    b = _side(other_report, model)
    if a is None or b is None:
        raise NotFound("model_not_found", "This model has no results to compare.")
    if request_comparison(a, b, by=user) is not None:
        messages.info(request, "The comparison is being computed. This page follows the progress.")
    address = reverse("analysis:compare", kwargs={"study": current_study.slug})
    return redirect(f"{address}?{urlencode({'with': WITH_STUDY + slug, 'model': model})}")


def _other_studies(page: ResultsPage) -> Any:
    return studies_where(page.request.user, Capability.SEE_RESULTS).exclude(pk=page.study.pk)


def _pairs(page: ResultsPage) -> list[Pair]:
    together: dict[tuple[str, ...], list[Row]] = {}
    for row in page.table("model_differences"):
        if row["compared"] == "model" or row["model"] == page.model:
            together.setdefault((row["compared"], row["side_a"], row["side_b"]), []).append(row)
    names = {campaign.slug: campaign.name for campaign in page.campaigns}
    pairs = []
    for (compared, *sides), rows in sorted(together.items(), key=lambda item: item[0]):
        words = [names.get(side, side) if compared == "campaign" else side for side in sides]
        pairs.append(Pair(":".join((compared, *sides)), " with ".join(words), rows))
    return pairs


def _other_report(request: HttpRequest, slug: str) -> Any:
    """Return the up-to-date report, without withdrawn labels, of a study whose results the user may see."""
    other_study = study_for(request, slug)
    report, _ = reports.report_to_show(study=other_study, by=signed_in_user(request))
    if report is None:
        raise NotFound("no_report", f"{other_study.name} has no results to compare with yet.")
    return report


def _side(report: Any, like: str) -> Side | None:
    model = most_judged(report, like)
    return None if model is None else Side(report, model)


def _with_study(page: ResultsPage, slug: str) -> dict[str, Any]:
    user = page.request.user
    assert isinstance(user, User)  # results_page lets nobody else in
    other_report = _other_report(page.request, slug)
    b = _side(other_report, page.model)
    if b is None or not page.headline:
        return {"nothing": True, "other": other_report.study}
    a = Side(page.report, page.model)
    rows = stored_comparison(a, b)
    return {
        "other": other_report.study,
        "model_b": b.model,
        "found": rows,
        "nothing": rows == [],
        "waiting": running_comparison(a, b) if rows is None else None,
        "side_a": page.study.name,
        "side_b": other_report.study.name,
    }


def _differences(page: ResultsPage, rows: list[Row]) -> dict[str, Any]:
    measure = page.request.GET.get("measure", "theta")
    measure = measure if measure in MEASURES else "theta"
    groups = [row for row in rows if row["scope"] == "identity_group" and row["measure"] == measure]
    groups = [row | {"name": page.names.get(row["scope_value"], row["scope_value"])} for row in groups]
    overall = [row | {"words": MEASURES[row["measure"]]} for row in rows if row["scope"] == "all"]
    parameters = {name: page.request.GET[name] for name in ("with", "model") if name in page.request.GET}
    reach = span(groups)
    return {
        "overall": overall,
        "overall_span": span(overall),
        "overall_start": -span(overall),
        "rows": Paginator(sorted(groups, key=largest_first), ROWS_A_PAGE).get_page(
            page.request.GET.get("page")
        ),
        "reach": reach,
        "start": -reach,
        "measure": measure,
        "measures": MEASURES,
        "csv_query": f"?{urlencode(parameters | {'format': 'csv'})}",
        "notes": rows[0],
    }
