"""Downloads of results: tables as CSV, all tables as a zip, plots as SVG, PNG, Vega-Lite and CSV."""

import io
import json
import zipfile
from collections.abc import Callable
from functools import partial

from django.http import HttpResponse

from accounts.rights import Capability, requires
from analysis.models import Report
from analysis.pages.automated.measures import plot_of_category, the_calibration, the_pull, the_theta
from analysis.pages.probing.associations import the_plot as the_association_plot
from analysis.pages.probing.views import the_plot as the_probe_plot
from analysis.pages.questions.views import QUESTION_PLOTS, the_plot
from analysis.pages.results.agreement import ALPHA
from analysis.pages.results.groups import the_map, the_strip
from analysis.pages.results_page import MOST_LABELS, ResultsPage, results_page
from analysis.plots.figures.judgements import (
    alpha_plot,
    attribute_plot,
    consensus_plot,
    likelihood_plot,
    overlap_plot,
    theta_plot,
)
from analysis.plots.maps.country_values import MEASURES
from analysis.plots.plot import Plot
from analysis.results.output.codebook import CODEBOOK, codebook_csv
from analysis.results.output.csv_tables import rows_to_csv, to_csv
from analysis.results.output.report_file import READS, report_html
from analysis.results.output.report_pdf import report_pdf
from analysis.results.reports import parameters_from
from analysis.results.schema import DIVISIVE, LABELS, LIKERT, MARKING, files_of
from analysis.results.summaries.probing.associations import PLOTS as ASSOCIATION_PLOTS
from analysis.results.summaries.probing.parts import PLOTS as PROBE_PLOTS
from foundation.errors import Conflict, NotFound
from studies.audit.files import CSV, ZIP

NO_TEMPLATE = ""
# A fixed time in the archive, so that equal inputs give equal bytes.
_EPOCH = (1980, 1, 1, 0, 0, 0)


@results_page(NO_TEMPLATE)
def table(page: ResultsPage, table: str) -> HttpResponse:
    """Download one table of the report."""
    return page.file(table_csv(page.report, table), f"{table}.csv", CSV)


@requires(get=Capability.SEE_LABELS)
@results_page(NO_TEMPLATE)
def labels(page: ResultsPage, table: str) -> HttpResponse:
    """Download annotators' answers that count now, row by row, with the report's parameters."""
    if table not in LABELS:
        raise NotFound("table_not_found", f"There is no table “{table}”. The tables are {', '.join(LABELS)}.")
    if page.too_many_labels:
        raise Conflict(
            "too_many_labels",
            f"There are more than {MOST_LABELS:,} labels, too many for one table. Build a release instead.",
        )
    from analysis.results.data.labels import load
    from analysis.results.tables.labels import LABEL_TABLES

    data = load(study=page.study, parameters=parameters_from(page.study, page.report.parameters))
    return page.file(to_csv(LABEL_TABLES[table](data)), f"{table}.csv", CSV)


@results_page(NO_TEMPLATE)
def archive(page: ResultsPage) -> HttpResponse:
    """Download all tables of the report that have rows, with a codebook of their columns."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as folder:
        stored = {table.name: table for table in page.report.tables.all()}
        for name in page.files:
            _pack(folder, page, f"{name}.csv", rows_to_csv(stored[name].columns, stored[name].values()))
        tables = {name: stored[name].columns for name in page.files}
        _pack(folder, page, CODEBOOK, codebook_csv(tables))
    return page.file(packed.getvalue(), "results.zip", ZIP)


def _pack(folder: zipfile.ZipFile, page: ResultsPage, name: str, text: str) -> None:
    entry = zipfile.ZipInfo(f"{page.study.slug}-results/{name}", _EPOCH)
    entry.compress_type = zipfile.ZIP_DEFLATED
    folder.writestr(entry, text)


@results_page(NO_TEMPLATE)
def report(page: ResultsPage) -> HttpResponse:
    """Download the whole report as one HTML file that works offline."""
    return page.file(_report_html(page), "report.html", "text/html; charset=utf-8")


@results_page(NO_TEMPLATE)
def report_as_pdf(page: ResultsPage) -> HttpResponse:
    """Download the report as a PDF, to attach to a paper."""
    return page.file(report_pdf(_report_html(page)), "report.pdf", "application/pdf")


def _report_html(page: ResultsPage) -> str:
    stored = {table.name: table.rows() for table in page.report.tables.filter(name__in=READS)}
    return report_html(page.study, stored, page.report.summary, page.report.computed_at)


@results_page(NO_TEMPLATE)
def plot(page: ResultsPage, plot: str, format: str) -> HttpResponse:
    """Download one plot; `group`, `attribute` and `model` in the address choose its data."""
    drawn = _PLOTS[plot](page) if plot in _PLOTS else None
    if drawn is None:
        raise NotFound("plot_not_found", f"There is no plot “{plot}” in these results.")
    content, content_type = _drawing(drawn, format)
    return page.file(content, f"{drawn.name}.{format}", content_type)


def _drawing(plot: Plot, format: str) -> tuple[str | bytes, str]:
    if format == "csv":
        return rows_to_csv(plot.columns, plot.rows), CSV
    spec = plot.spec()
    if format == "vl.json":
        return json.dumps(spec, ensure_ascii=False, indent=1), "application/json"
    import vl_convert  # starts a JavaScript engine

    if format == "svg":
        return vl_convert.vegalite_to_svg(spec), "image/svg+xml"
    return vl_convert.vegalite_to_png(spec, scale=2), "image/png"


def table_csv(report: Report, name: str) -> str:
    """Return one stored table as CSV: a table for download, or the items on the page *Disagreement*."""
    names = set(report.tables.values_list("name", flat=True))
    files = files_of(names)
    if name not in files and not (name == DIVISIVE and name in names):
        raise NotFound("table_not_found", f"There is no table “{name}”. The tables are {', '.join(files)}.")
    stored = report.tables.get(name=name)
    return rows_to_csv(stored.columns, stored.values())


def _of_group(page: ResultsPage) -> Plot | None:
    group = page.request.GET.get("group", "")
    rows = [row for row in page.rows("likelihood") if row["identity_group"] == group]
    return likelihood_plot(rows, page.names.get(group, group)) if rows else None


def _of_attribute(page: ResultsPage) -> Plot | None:
    attribute = page.request.GET.get("attribute", "")
    rows = [row for row in page.rows("likelihood") if row["attribute"] == attribute]
    return attribute_plot(rows, page.names, attribute) if rows else None


_PLOTS: dict[str, Callable[[ResultsPage], Plot | None]] = {
    **{f"question-{name}": partial(the_plot, name=f"question-{name}") for name in QUESTION_PLOTS},
    **{name: partial(the_probe_plot, name=name) for name in PROBE_PLOTS},
    **{name: partial(the_association_plot, name=name) for name in ASSOCIATION_PLOTS},
    **{f"map-{key}": partial(the_map, key=key) for key in MEASURES},
    **{f"ranked-{key}": partial(the_strip, key=key) for key in MEASURES},
    "theta": lambda page: theta_plot(page.rows("tendency"), page.names),
    "likelihood": _of_group,
    "attribute": _of_attribute,
    "consensus": lambda page: consensus_plot(
        [row for row in page.table("consensus") if row["campaign_kind"] == LIKERT]
    ),
    "overlap": lambda page: overlap_plot(page.rows("iou_distribution")),
    "calibration": the_calibration,
    "pull": the_pull,
    "mcas": plot_of_category,
    "automated-theta": the_theta,
    "alpha-by-identity-group": lambda page: alpha_plot(
        page.agreement(MARKING, "identity_group", ALPHA), page.names, "identity_group"
    ),
    "alpha-by-attribute": lambda page: alpha_plot(
        page.agreement(MARKING, "attribute", ALPHA), {}, "attribute"
    ),
}
