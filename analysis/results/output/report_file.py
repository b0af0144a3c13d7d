"""report.html: one self-contained file with methods in words, plots and tables."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.template.loader import render_to_string

from analysis.plots.colours import stylesheet
from analysis.plots.figures.judgements import (
    alpha_plot,
    consensus_plot,
    likelihood_plot,
    overlap_plot,
    theta_plot,
)
from analysis.plots.figures.maps import map_plot
from analysis.plots.maps.country_values import MEASURES
from analysis.plots.plot import Plot
from analysis.results.output.association_report import READS as ASSOCIATION_READS
from analysis.results.output.association_report import association_part
from analysis.results.output.automated_report import automated_part
from analysis.results.output.probe_report import probe_part
from analysis.results.output.question_report import question_part
from analysis.results.preregistrations import changes_since, latest_registration
from analysis.results.probe_tables import PROBE_TABLES, REVIEW_TABLES
from analysis.results.question_tables import QUESTION_TABLES
from analysis.results.schema import AUTOMATED, BY_LANGUAGE, LIKERT, MARKING, described
from analysis.results.summaries.group_rows import group_rows, of_groups, on_map
from analysis.results.summaries.headline_rows import headline_by_mode, sensitivity_rows
from analysis.results.summaries.language_rows import language_rows
from analysis.results.summaries.study_design import parameters_in_words, study_design
from studies.models import Study

Row = dict[str, Any]
Tables = Mapping[str, Sequence[Row]]

STYLES = ("web/css/tokens.css", "analysis/plots.css", "analysis/report.css")
# Beyond it a page of pictures no longer helps; likelihood.csv has every number.
MOST_GROUPS = 40
# The tables that the report reads, if they exist; other tables are only in the files and are not opened.
READS = (
    "likelihood",
    "tendency",
    "offensiveness",
    "agreement",
    "consensus",
    "visual_attributes",
    "sensitivity",
    "annotator_groups",
    "model_differences",
    "iou_distribution",
    *BY_LANGUAGE,
    *AUTOMATED,
    *QUESTION_TABLES,
    *PROBE_TABLES,
    *REVIEW_TABLES,
    *ASSOCIATION_READS,
)


def report_html(study: Study, tables: Tables, summary: Mapping[str, Any], computed_at: datetime) -> str:
    """Return the report as one self-contained page; very long tables are only in the CSV files."""
    registration = latest_registration(study)
    groups = of_groups({group.name: group for group in study.groups.all()})
    campaigns = dict(study.campaigns.values_list("slug", "name"))
    ratings = [row for row in tables["agreement"] if row["campaign_kind"] == LIKERT]
    about_attributes = _about_attributes(summary)
    return render_to_string(
        "analysis/report/report.html",
        {
            "study": study,
            "summary": summary,
            "registration": registration,
            "changes": changes_since(registration) if registration is not None else [],
            "styles": "\n".join(stylesheet(name) for name in STYLES),
            "computed_at": computed_at,
            "design": study_design(study, summary, registration),
            "parameters": parameters_in_words(summary, about_attributes=about_attributes),
            "about_attributes": about_attributes,
            "models": [_model(line, tables, summary, groups) for line in summary["headline"]],
            "questions": question_part(study, tables, summary, groups),
            "probes": probe_part(tables, summary, groups),
            "associations": association_part(tables, summary),
            "automated": automated_part(tables, summary, groups),
            "differences": [
                _sides_named(row, campaigns) | {"words": MEASURE_WORDS[row["measure"]]}
                for row in tables["model_differences"]
                if row["scope"] == "all"
            ],
            "languages": language_rows(tables.get("by_language", ())),
            "consensus": consensus_plot(
                [row for row in tables["consensus"] if row["campaign_kind"] == LIKERT]
            ),
            "ratings_agreement": [described(row) for row in ratings if row["scope"] == "all"],
            "visual": sum(bool(row["visual"]) for row in tables["visual_attributes"]),
            "rated": len(tables["visual_attributes"]),
        },
    )


def _about_attributes(summary: Mapping[str, Any]) -> bool:
    """Whether the report has a part about stereotypes: not in a study that asks only declared questions or models."""
    others = summary.get("questions") or summary.get("probes") or summary.get("words")
    counted = summary["counted"]
    return not others or bool(counted["judgements"] or counted["ratings"] or summary["automated"]["models"])


MEASURE_WORDS = {
    "theta": "θ",
    "likelihood_stereotype": "L(stereotypes)",
    "likelihood_random": "L(random attributes)",
}


def _model(
    line: Row, tables: Tables, summary: Mapping[str, Any], groups: Mapping[str, Mapping[str, Any]]
) -> Row:
    """The report's part about one image model."""
    model_tables = {
        name: [row for row in rows if row.get("model") == line["model"]] for name, rows in tables.items()
    }
    names = {name: group["name"] for name, group in groups.items()}
    presence = [row for row in model_tables["agreement"] if row["campaign_kind"] == MARKING]
    rows = group_rows(
        model_tables["tendency"], model_tables["offensiveness"], model_tables["likelihood"], groups
    )
    plots = _group_plots(model_tables["likelihood"], names)
    return {
        "headline": line,
        "conventions": headline_by_mode(line, summary["parameters"]["none_of_the_above"]),
        "theta": theta_plot(model_tables["tendency"], names),
        "maps": _maps(rows, model_tables["likelihood"], summary, line["model"]),
        "tendency": rows,
        "sensitivity": sensitivity_rows(model_tables["sensitivity"], names),
        "agreement": [described(row) for row in presence if row["scope"] == "all"],
        "alpha": alpha_plot(_alpha(presence, "identity_group"), names, "identity_group"),
        "alpha_by_attribute": alpha_plot(_alpha(presence, "attribute"), {}, "attribute"),
        "overlap": overlap_plot(model_tables["iou_distribution"]),
        "annotator_groups": [
            row | {"words": MEASURE_WORDS[row["measure"]]}
            for row in model_tables["annotator_groups"]
            if row["scope"] == "all" and row["group_a"] is not None
        ],
        "groups": plots,
        "left_to_files": bool(model_tables["likelihood"]) and not plots,
    }


def _maps(
    rows: Sequence[Row], likelihood: Sequence[Row], summary: Mapping[str, Any], model: str
) -> list[Plot]:
    """The maps of every measure, if any group has a place on them."""
    note = summary["notes"].get("tendency", {})
    epsilon = note["epsilon"].get(model) if note.get("none_of_the_above") == "ignore" else None
    drawn = []
    for measure in MEASURES.values():
        mapped_rows, places = on_map(measure, rows, likelihood, epsilon, lambda _: "")
        if places:
            drawn.append(map_plot(measure, places, mapped_rows))
    return drawn


def _group_plots(likelihood: Sequence[Row], names: Mapping[str, str]) -> list[Plot]:
    together: dict[str, list[Row]] = {}
    for row in likelihood:
        together.setdefault(row["identity_group"], []).append(row)
    if len(together) > MOST_GROUPS:
        return []
    return [likelihood_plot(rows, names.get(group, group)) for group, rows in together.items()]


def _alpha(rows: Sequence[Row], scope: str) -> list[Row]:
    return [row for row in rows if row["scope"] == scope and row["measure"] == "krippendorff_alpha_nominal"]


def _sides_named(row: Row, campaigns: Mapping[str, str]) -> Row:
    """The row with the names of its campaigns; names of models do not change."""
    if row["compared"] != "campaign":
        return row
    return row | {side: campaigns.get(row[side], row[side]) for side in ("side_a", "side_b")}
