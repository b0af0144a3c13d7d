"""report.html: one file that needs no network, with methods in words, plots and tables."""

from datetime import datetime
from typing import Any

from django.template.loader import render_to_string

from analysis.not_counted import not_counted_words
from analysis.plots.colours import stylesheet
from analysis.plots.figures import alpha_plot, consensus_plot, likelihood_plot, theta_plot
from analysis.plots.plot import Plot
from analysis.results import COEFFICIENTS, Results, records
from studies.models import Study

STYLES = ("web/tokens.css", "analysis/plots.css", "analysis/report.css")


def report_html(study: Study, results: Results, computed_at: datetime) -> str:
    """Return the report as one self-contained page; what is very long stays in the CSV files."""
    names = dict(study.groups.values_list("name", "display_name"))
    tables = {name: records(frame) for name, frame in results.tables.items()}
    return render_to_string(
        "analysis/report_file.html",
        {
            "study": study,
            "summary": results.summary,
            "styles": "\n".join(stylesheet(name) for name in STYLES),
            "computed_at": computed_at,
            "not_counted": not_counted_words(results.summary),
            "models": [_model(line, tables, names) for line in results.summary["headline"]],
            "consensus": consensus_plot(
                [row for row in tables["consensus"] if row["campaign_kind"] == "attribute_likert"]
            ),
            "ratings_agreement": [
                row | {"words": COEFFICIENTS.get(row["measure"], row["measure"])}
                for row in tables["agreement"]
                if row["campaign_kind"] == "attribute_likert" and row["scope"] == "all"
            ],
            "visual": sum(bool(row["visual"]) for row in tables["visual_attributes"]),
            "rated": len(tables["visual_attributes"]),
        },
    )


# Beyond it a page of pictures no longer helps; likelihood.csv has every number.
MOST_GROUPS = 40


def _model(
    line: dict[str, Any], tables: dict[str, list[dict[str, Any]]], names: dict[str, str]
) -> dict[str, Any]:
    """What the report says of one image model."""
    mine = {name: [row for row in rows if row.get("model") == line["model"]] for name, rows in tables.items()}
    offensiveness = {row["identity_group"]: row for row in mine["offensiveness"]}
    presence = [row for row in mine["agreement"] if row["campaign_kind"] == "stereotype_marking"]
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in mine["likelihood"]:
        groups.setdefault(row["identity_group"], []).append(row)
    plots: list[Plot] = []
    if len(groups) <= MOST_GROUPS:
        plots = [likelihood_plot(rows, names.get(group, group)) for group, rows in groups.items()]
    for row in presence:
        row["words"] = COEFFICIENTS.get(row["measure"], row["measure"])
    return {
        "headline": line,
        "theta": theta_plot(mine["tendency"], names),
        "tendency": [
            {
                **row,
                "name": names.get(row["identity_group"], row["identity_group"]),
                "offence": offensiveness[row["identity_group"]],
            }
            for row in mine["tendency"]
        ],
        "agreement": [row for row in presence if row["scope"] == "all"],
        "alpha": alpha_plot(
            [
                row
                for row in presence
                if row["scope"] == "identity_group" and row["measure"] == "krippendorff_alpha_nominal"
            ],
            names,
            "identity_group",
        ),
        "groups": plots,
        "left_to_files": len(groups) > MOST_GROUPS,
    }
