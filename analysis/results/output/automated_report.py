"""The report's part about automated measures of each image model, compared with people's answers if there are any."""

from collections.abc import Mapping, Sequence
from typing import Any

from analysis.plots.figures.automated_measures import (
    calibration_plot,
    mcas_plot,
    pull_plot,
    reach_of,
    theta_beside_plot,
)
from analysis.plots.plot import Plot
from analysis.results.schema import AUTOMATED

Row = dict[str, Any]
Tables = Mapping[str, Sequence[Row]]
MOST_SALIENT = 300  # rows of a table that somebody reads


def automated_part(
    tables: Tables, summary: Mapping[str, Any], groups: Mapping[str, Mapping[str, Any]]
) -> list[Row]:
    """A part for each model with automated measures."""
    names = {name: group["name"] for name, group in groups.items()}
    regions = {name: group["region"] for name, group in groups.items()}
    return [
        _model(model, _of(tables, "model", model), summary, names, regions)
        for model in summary["automated"]["models"]
    ]


def _model(
    model: str,
    tables: Tables,
    summary: Mapping[str, Any],
    names: Mapping[str, str],
    regions: Mapping[str, str],
) -> Row:
    notes = summary["notes"]
    return {
        "model": model,
        "concordance": [_counted(row, tables) for row in tables["concordance"] if row["attribute"] is None],
        "calibration": _each(
            tables["calibration"], "scorer", lambda rows: calibration_plot(rows, _names(rows))
        ),
        "salience": _noted(notes.get("salience", {}).get("models", []), model),
        "salient": _salient(tables["salience"], names),
        "pull": _each(tables["pull"], "encoder", lambda rows: pull_plot(rows, names, regions)),
        "mcas": _mcas(tables["mcas"], summary["automated"]["sets"]),
        "categories": tables["mcas_categories"],
        "unseen": [
            {"measure": words, "encoder": encoder, "images": number}
            for table, words in (("pull", "stereotypical pull"), ("mcas", "MCAS"))
            for encoder, note in sorted(notes.get(table, {}).items())
            if tables[table] and (number := note.get("images_without_vector", 0))
        ],
        "correlations": _noted(notes.get("automated_tendency", {}).get("correlations", []), model),
        "theta": _each(
            tables["automated_tendency"], "scorer", lambda rows: theta_beside_plot(rows, names, regions)
        ),
    }


def _salient(rows: Sequence[Row], names: Mapping[str, str]) -> list[Row]:
    """Salient attributes, group by group; with very many groups they are only in salience.csv."""
    ranked = [
        row | {"name": names.get(row["identity_group"], row["identity_group"])}
        for row in rows
        if row["rank"] is not None
    ]
    ranked.sort(key=lambda row: (row["name"], row["scorer"], row["rank"]))
    return ranked if len(ranked) <= MOST_SALIENT else []


def _counted(row: Row, tables: Tables) -> Row:
    """The overall line of a scorer, and how many attributes can be left to it."""
    attribute_rows = [
        attribute_row
        for attribute_row in tables["concordance"]
        if attribute_row["scorer"] == row["scorer"] and attribute_row["attribute"] is not None
    ]
    return row | {
        "attributes": len(attribute_rows),
        "left": sum(bool(attribute_row["automatable"]) for attribute_row in attribute_rows),
    }


def _mcas(rows: Sequence[Row], sets: Sequence[str]) -> list[tuple[str, Plot]]:
    sides = (sets[0], sets[1]) if len(sets) == 2 else ("A", "B")

    def of_category(category_rows: Sequence[Row]) -> Plot | None:
        return mcas_plot(category_rows, category_rows[0]["category"], sides, reach_of(rows))

    plots = []
    for encoder in dict.fromkeys(row["encoder"] for row in rows):
        for category, plot in _each(
            [row for row in rows if row["encoder"] == encoder], "category", of_category
        ):
            plots.append((f"{category}, {encoder}", plot))
    return plots


def _each(rows: Sequence[Row], column: str, drawn: Any) -> list[tuple[str, Plot]]:
    """A plot for each value of a column, if there is anything to draw."""
    values = dict.fromkeys(row[column] for row in rows)
    plots = ((value, drawn([row for row in rows if row[column] == value])) for value in values)
    return [(value, plot) for value, plot in plots if plot is not None]


def _names(rows: Sequence[Row]) -> dict[tuple[str, str], str]:
    return {(row["scorer"], row["model"]): row["scorer"] for row in rows}


def _of(tables: Tables, column: str, value: str) -> Tables:
    return {name: [row for row in tables[name] if row[column] == value] for name in AUTOMATED}


def _noted(lines: Sequence[Row], model: str) -> list[Row]:
    return [line for line in lines if line["model"] == model]
