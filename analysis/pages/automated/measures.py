"""Pages of automated measures: concordance with people, salience, pull, MCAS and automated θ."""

from typing import Any
from urllib.parse import urlencode

from analysis.pages.automated.automated_page import AutomatedPage, how_to_get, why_empty
from analysis.pages.results_page import ResultsPage, Row, results_page
from analysis.pages.table_page import Order, table_page
from analysis.plots.axis import ratio_axis
from analysis.plots.figures.automated_measures import (
    calibration_plot,
    mcas_plot,
    pull_plot,
    reach_of,
    theta_beside_plot,
)
from analysis.plots.plot import Plot
from foundation.errors import NotFound

SECTIONS = {
    "concordance": "Against people",
    "salience": "Captions",
    "pull": "Stereotypical pull",
    "mcas": "Composite association",
    "automated_tendency": "θ by machines",
}
CONCORDANCE_ORDERS = {
    "precision": Order("highest precision", "precision_low"),
    "f1": Order("highest F1", "f1"),
    "auc": Order("highest AUC", "auc"),
    "n": Order("most answers", "n"),
    "least": Order("lowest precision", "precision", largest=False),
}
PULL_ORDERS = {
    "pull": Order("strongest pull", "pull"),
    "away": Order("furthest away", "pull", largest=False),
    "mean": Order("most alike", "mean_similarity"),
}
THETA_ORDERS = {
    "automated": Order("largest by the machine", "automated_theta_smoothed"),
    "human": Order("largest by people", "human_theta_smoothed"),
    "difference": Order("furthest apart", "apart"),
}


@results_page("analysis/automated/overview.html")
def automated(page: ResultsPage) -> dict[str, Any]:
    """Show the headlines of all automated measures, and how to get those that are missing."""
    # The table of salience is long, and the summary has all that this page shows of it.
    rows = {name: page.rows(name) for name in SECTIONS if name != "salience"}
    rows["salience"] = _salience_notes(page, "")
    return {
        "automated": AutomatedPage(page),
        "headlines": _headlines(page, rows) if any(rows.values()) else {},
        "missing": [
            (SECTIONS[name], why_empty(page, name), how_to_get(page, name))
            for name in SECTIONS
            if not rows[name]
        ],
    }


def _headlines(page: ResultsPage, rows: dict[str, list[Row]]) -> dict[str, Any]:
    overall = [row for row in rows["concordance"] if row["attribute"] is None]
    for row in overall:
        attribute_rows = [
            attribute_row
            for attribute_row in rows["concordance"]
            if attribute_row["scorer"] == row["scorer"] and attribute_row["attribute"]
        ]
        row |= {
            "attributes": len(attribute_rows),
            "automatable": sum(bool(attribute_row["automatable"]) for attribute_row in attribute_rows),
        }
    of_all_terms = [row for row in page.rows("mcas_categories") if row["terms"] == "all"]
    return {
        "concordance": overall,
        "pull": _drawn(rows["pull"]),
        "salience": rows["salience"],
        "mcas": of_all_terms,
        "encoders": {row["encoder"] for row in of_all_terms},
        "theta": _correlations(page, ""),
    }


def _drawn(rows: list[Row]) -> list[dict[str, Any]]:
    """Count, for each encoder, the groups that have a pull and the groups whose pull is positive."""
    pulls_by_encoder: dict[str, list[float]] = {}
    for row in rows:
        if row["pull"] is not None:
            pulls_by_encoder.setdefault(row["encoder"], []).append(row["pull"])
    return [
        {"encoder": encoder, "groups": len(pulls), "positive": sum(value > 0 for value in pulls)}
        for encoder, pulls in pulls_by_encoder.items()
    ]


@results_page("analysis/automated/concordance.html")
def concordance(page: ResultsPage) -> dict[str, Any]:
    """Show how well a scorer finds each attribute that people see, and which can be left to it."""
    choices = AutomatedPage(page)
    scorer = choices.chosen("scorer", "concordance")
    rows = [row for row in page.rows("concordance") if row["scorer"] == scorer]
    target = choices.target
    attributes = [
        row | {"left_to_it": row["precision_low"] is not None and row["precision_low"] >= target}
        for row in rows
        if row["attribute"] is not None
    ]
    return {
        "automated": choices,
        "scorer": scorer,
        "scorers": choices.values("scorer", "concordance"),
        "target": target,
        "computed_for": page.report.parameters.get("target_precision"),
        "overall": next((row for row in rows if row["attribute"] is None), None),
        "attributes": attributes,
        "left": [row["attribute"] for row in attributes if row["left_to_it"]],
        "found": table_page(page.request, attributes, CONCORDANCE_ORDERS, name="attribute"),
        "plot": the_calibration(page),
        "plot_query": choices.query(scorer=scorer),
        "calibration": _calibration_rows(page, scorer),
        "why": why_empty(page, "concordance"),
        "how": how_to_get(page, "concordance"),
    }


def the_calibration(page: ResultsPage) -> Plot | None:
    """Return the calibration plot of the scorer in the address."""
    rows = _calibration_rows(page, AutomatedPage(page).chosen("scorer", "concordance"))
    return calibration_plot(rows, {(row["scorer"], row["model"]): row["scorer"] for row in rows})


def _calibration_rows(page: ResultsPage, scorer: str) -> list[Row]:
    return [row for row in page.rows("calibration") if row["scorer"] == scorer]


@results_page("analysis/automated/pull.html")
def pull(page: ResultsPage) -> dict[str, Any]:
    """Show for each group whether its default images resemble its stereotypical images."""
    choices = AutomatedPage(page)
    rows = _pull_rows(page)
    drawn = [row for row in rows if row["pull"] is not None]
    return {
        "automated": choices,
        "encoder": choices.chosen("encoder", "pull"),
        "encoders": choices.values("encoder", "pull"),
        "plot": the_pull(page),
        "plot_query": choices.query(encoder=choices.chosen("encoder", "pull")),
        "rests_on": choices.rests_on("pull", choices.chosen("encoder", "pull")),
        "drawn": len(drawn),
        "positive": sum(row["pull"] > 0 for row in drawn),
        "sure": sum(row["ci_low"] is not None and row["ci_low"] > 0 for row in drawn),
        "undefined": len(rows) - len(drawn),
        "found": table_page(
            page.request, [row | {"name": _name(page, row)} for row in rows], PULL_ORDERS, name="name"
        ),
        "why": why_empty(page, "pull"),
        "how": how_to_get(page, "pull"),
    }


def the_pull(page: ResultsPage) -> Plot | None:
    """Return the plot of every group's pull, by the encoder in the address."""
    return pull_plot(_pull_rows(page), page.names, _regions(page))


def _pull_rows(page: ResultsPage) -> list[Row]:
    encoder = AutomatedPage(page).chosen("encoder", "pull")
    return [row for row in page.rows("pull") if row["encoder"] == encoder]


@results_page("analysis/automated/mcas.html")
def mcas(page: ResultsPage) -> dict[str, Any]:
    """Show which attribute set each target leans to, by category, optionally beside another model."""
    choices = AutomatedPage(page)
    encoder = choices.chosen("encoder", "mcas")
    rows = _mcas_rows(page, page.model)
    other_models = sorted({row["model"] for row in page.table("mcas")} - {page.model})
    beside = page.request.GET.get("beside", "")
    beside = beside if beside in other_models else ""
    categories = list(dict.fromkeys(row["category"] for row in rows))
    category_rows = [row for row in page.table("mcas_categories") if row["encoder"] == encoder]
    return {
        "automated": choices,
        "encoder": encoder,
        "encoders": choices.values("encoder", "mcas"),
        "rests_on": choices.rests_on("mcas", encoder),
        "sets": _sides(page),
        "rows": rows,
        "plots": [
            {
                "category": category,
                "plot": the_mcas(page, category, page.model),
                "query": choices.query(encoder=encoder, category=category),
                "other": the_mcas(page, category, beside) if beside else None,
                "other_query": f"?{urlencode({'model': beside, 'encoder': encoder, 'category': category})}",
            }
            for category in categories
        ],
        "beside": beside,
        "others": other_models,
        "categories": [row for row in category_rows if row["model"] == page.model],
        "comparison": _by_model(category_rows) if other_models else None,
        "why": why_empty(page, "mcas"),
        "how": how_to_get(page, "mcas"),
    }


def the_mcas(page: ResultsPage, category: str, model: str) -> Plot | None:
    """Return the plot of the targets of one category; all models share one axis."""
    encoder = AutomatedPage(page).chosen("encoder", "mcas")
    reach = reach_of([row for row in page.table("mcas") if row["encoder"] == encoder])
    return mcas_plot(_mcas_rows(page, model), category, _sides(page), reach)


def _mcas_rows(page: ResultsPage, model: str) -> list[Row]:
    encoder = AutomatedPage(page).chosen("encoder", "mcas")
    return [row for row in page.table("mcas") if row["model"] == model and row["encoder"] == encoder]


def _sides(page: ResultsPage) -> tuple[str, str]:
    sets = page.report.summary["automated"]["sets"]
    return (sets[0], sets[1]) if len(sets) == 2 else ("A", "B")


def _by_model(rows: list[Row]) -> dict[str, Any]:
    """Return the mean over all terms for each category and model."""
    models = list(dict.fromkeys(row["model"] for row in rows))
    means = {(row["category"], row["model"]): row for row in rows if row["terms"] == "all"}
    categories = list(dict.fromkeys(row["category"] for row in rows))
    return {
        "models": models,
        "lines": [
            (category, [means.get((category, model), {}).get("mean") for model in models])
            for category in categories
        ],
    }


@results_page("analysis/automated/tendency.html")
def tendency(page: ResultsPage) -> dict[str, Any]:
    """Show θ from a scorer's judgements beside θ from people's."""
    choices = AutomatedPage(page)
    scorer = choices.chosen("scorer", "automated_tendency")
    rows = [_apart(row) | {"name": _name(page, row)} for row in _theta_rows(page)]
    values = [row[name] for row in rows for name in _THETAS]
    return {
        "automated": choices,
        "scorer": scorer,
        "scorers": choices.values("scorer", "automated_tendency"),
        "plot": the_theta(page),
        "plot_query": choices.query(scorer=scorer),
        "correlation": next(iter(_correlations(page, scorer)), None),
        "notes": page.report.summary["notes"].get("automated_tendency", {}),
        "axis": ratio_axis(values, "θ"),
        "found": table_page(page.request, rows, THETA_ORDERS, name="name"),
        "why": why_empty(page, "automated_tendency"),
        "how": how_to_get(page, "automated_tendency"),
    }


_THETAS = tuple(f"{who}_theta{end}" for who in ("human", "automated") for end in ("", "_low", "_high"))


def the_theta(page: ResultsPage) -> Plot | None:
    """Return the plot of both θ for every group, by the scorer in the address."""
    return theta_beside_plot(_theta_rows(page), page.names, _regions(page))


def _theta_rows(page: ResultsPage) -> list[Row]:
    scorer = AutomatedPage(page).chosen("scorer", "automated_tendency")
    return [row for row in page.rows("automated_tendency") if row["scorer"] == scorer]


def _apart(row: Row) -> Row:
    """Return the row with `apart`, the factor by which the two θ differ."""
    machine_theta, human_theta = row["automated_theta_smoothed"], row["human_theta_smoothed"]
    return row | {
        "apart": max(machine_theta / human_theta, human_theta / machine_theta)
        if machine_theta and human_theta
        else None
    }


def _correlations(page: ResultsPage, scorer: str) -> list[Row]:
    lines = page.report.summary["notes"].get("automated_tendency", {}).get("correlations", [])
    return [line for line in lines if line["model"] == page.model and scorer in ("", line["scorer"])]


def _salience_notes(page: ResultsPage, scorer: str) -> list[Row]:
    lines = page.report.summary["notes"].get("salience", {}).get("models", [])
    return [line for line in lines if line["model"] == page.model and scorer in ("", line["scorer"])]


def _name(page: ResultsPage, row: Row) -> str:
    return str(page.names.get(row["identity_group"], row["identity_group"]))


def _regions(page: ResultsPage) -> dict[str, str]:
    return {name: group.region for name, group in page.groups.items()}


def plot_of_category(page: ResultsPage) -> Plot | None:
    """Return the MCAS plot of the category in the address; NotFound if the category has no targets."""
    category = page.request.GET.get("category", "")
    if category not in {row["category"] for row in _mcas_rows(page, page.model)}:
        raise NotFound("plot_not_found", f"There are no targets in a category “{category}” in these results.")
    return the_mcas(page, category, page.model)
