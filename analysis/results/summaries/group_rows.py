"""One row with the results of each identity group, for the table of groups, the map and the report."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from analysis.plots.maps.choropleth import CountryValue
from analysis.plots.maps.country_values import MapMeasure, on_the_map, places
from analysis.plots.plot import Row
from studies.models import StudyGroup


def of_groups(groups: Mapping[str, StudyGroup]) -> dict[str, dict[str, Any]]:
    """The study's results for its groups."""
    return {
        name: {"name": group.display_name, "region": group.region, "map_code": group.map_code}
        for name, group in groups.items()
    }


def group_rows(
    tendency: Iterable[Row],
    offensiveness: Iterable[Row],
    likelihood: Iterable[Row],
    groups: Mapping[str, Mapping[str, Any]],
) -> list[dict[str, Any]]:
    """Tendency, offensiveness and judgements of each group of one model, in the order of the tendency table."""
    offence = {row["identity_group"]: row for row in offensiveness}
    judged: dict[str, int] = {}
    for row in likelihood:
        judged[row["identity_group"]] = judged.get(row["identity_group"], 0) + row["shown"]
    rows = []
    for row in tendency:
        name = row["identity_group"]
        its = offence[name]
        rows.append(
            {
                **row,
                "region": "",
                "map_code": "",
                "name": name,
                **groups.get(name, {}),
                "judgements": judged.get(name, 0),
                "offence": its,
                "offensiveness": its["offensiveness"],
                "offensiveness_low": its["ci_low"],
                "offensiveness_high": its["ci_high"],
                "offensiveness_unscaled": its["offensiveness_unscaled"],
                "offensiveness_reason": its["reason"],
                "rated_stereotypes": (its["marked_stereotypes"] or 0) - (its["unrated_stereotypes"] or 0),
                "theta_reason": row["reason"],
            }
        )
    return rows


def on_map(
    measure: MapMeasure,
    rows: Sequence[Row],
    likelihood: Iterable[Row],
    epsilon: float | None,
    url: Callable[[Sequence[Row]], str],
) -> tuple[list[Row], list[CountryValue]]:
    """The groups that have a place on the map, and their countries."""
    mapped_rows = [row for row in rows if on_the_map(row["map_code"])]
    return mapped_rows, places(measure, mapped_rows, likelihood, epsilon=epsilon, url=url)
