"""Values of identity groups on a world map; a country with several groups has one combined value.

docs/develop/decisions/0002 describes how values are combined.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import fmean

from analysis.plots.maps.choropleth import CountryValue, Scale, count_scale, ratio_scale, signed_scale
from analysis.plots.maps.world import countries
from analysis.plots.plot import Row
from foundation.formats import format_number, reason_text

STEREOTYPE = "stereotype"


@dataclass(frozen=True)
class MapMeasure:
    """A measure for maps; `column` names its value in rows of groups, `low` and `high` its interval."""

    key: str
    words: str
    title: str
    column: str
    low: str
    high: str
    scale: Callable[[Sequence[float]], Scale]
    digits: int = 2
    note: str = ""


MEASURES = {
    measure.key: measure
    for measure in (
        MapMeasure(
            "theta",
            "Tendency (θ smoothed)",
            "Where are stereotypes marked more often than random attributes?",
            "theta_smoothed",
            "theta_low",
            "theta_high",
            lambda _: ratio_scale("θ smoothed; 1: as often as random attributes"),
            note="the interval is that of θ",
        ),
        MapMeasure(
            "offensiveness",
            "Offensiveness",
            "Whose images show offensive stereotypes?",
            "offensiveness",
            "offensiveness_low",
            "offensiveness_high",
            lambda values: signed_scale(values, "Offensiveness: likelihood × mean offensiveness"),
            digits=3,
        ),
        MapMeasure(
            "stereotypes",
            "Visual stereotypes",
            "How many visual stereotypes does each group have?",
            "stereotypes",
            "",
            "",
            lambda values: count_scale(values, "Number of visual stereotypes shown"),
            digits=0,
            note="a count, without interval",
        ),
    )
}


@lru_cache(maxsize=1)
def _codes() -> frozenset[str]:
    return frozenset(country.code for country in countries() if country.code)


def on_the_map(code: str) -> bool:
    """Return whether a group with this code can be placed on the map."""
    return code in _codes()


def places(
    measure: MapMeasure,
    rows: Iterable[Row],
    likelihood: Iterable[Row],
    *,
    epsilon: float | None,
    url: Callable[[Sequence[Row]], str],
) -> list[CountryValue]:
    """Return the countries of the groups in `rows` (with map_code, name, judgements and the measures).

    `likelihood` has each group's counts of marked and shown. `epsilon` is the ε of θ smoothed, or None if
    groups cannot be pooled (when ‘none of the above’ counts as random, its marks are in no table).
    """
    together: dict[str, list[Row]] = {}
    for row in rows:
        if on_the_map(row["map_code"]):
            together.setdefault(row["map_code"], []).append(row)
    marks: dict[str, list[Row]] = {}
    for cell in likelihood:
        marks.setdefault(cell["identity_group"], []).append(cell)
    return [
        CountryValue(code, *_value_and_words(measure, groups, marks, epsilon), url=url(groups))
        for code, groups in sorted(together.items())
    ]


def _value_and_words(
    measure: MapMeasure, groups: list[Row], marks: Mapping[str, list[Row]], epsilon: float | None
) -> tuple[float | None, str]:
    if len(groups) == 1:
        return groups[0][measure.column], group_text(measure, groups[0])
    groups = sorted(groups, key=lambda row: -row["judgements"])
    cells = [cell for row in groups for cell in marks.get(row["identity_group"], [])]
    value = _pooled(measure, groups, cells, epsilon)
    together = "not defined together" if value is None else f"together {format_number(value, measure.digits)}"
    return value, f"{together}; " + "; ".join(group_text(measure, row) for row in groups)


def group_text(measure: MapMeasure, row: Row) -> str:
    """Return a group in words: `Velmari 2.10, 95 % interval of θ 1.20 to 3.90, n = 1,200 judgements`."""
    value, n = row[measure.column], f"n = {row['judgements']:,} judgements"
    if value is None:
        return (
            f"{row['name']} not defined ({reason_text(row.get(f'{measure.key}_reason')) or 'no value'}), {n}"
        )
    text = f"{row['name']} {format_number(value, measure.digits)}"
    low, high = row.get(measure.low), row.get(measure.high)
    if low is not None:
        end = "without an upper end" if high is None else f"to {format_number(high, measure.digits)}"
        of = " of θ" if measure.key == "theta" else ""
        text += f", 95 % interval{of} {format_number(low, measure.digits)} {end}"
    elif measure.low:
        text += ", no interval"
    return f"{text}, {n}"


def _pooled(
    measure: MapMeasure, groups: Sequence[Row], cells: Sequence[Row], epsilon: float | None
) -> float | None:
    """Return the value of all groups pooled into one, or None if undefined."""
    if measure.key == "stereotypes":
        return float(len({cell["attribute"] for cell in cells if cell["role"] == STEREOTYPE}))
    stereo, random = _pooled_likelihood(cells, STEREOTYPE), _pooled_likelihood(cells, "random")
    if measure.key == "theta":
        if stereo is None or random is None or epsilon is None:
            return None
        return (stereo + epsilon) / (random + epsilon)
    rated = [(row["offensiveness_unscaled"], row["rated_stereotypes"]) for row in groups]
    rated = [(value, number) for value, number in rated if value is not None and number]
    if stereo is None or not rated:
        return None
    mean = sum(value * number for value, number in rated) / sum(number for _, number in rated)
    return float(stereo * mean)


def _pooled_likelihood(cells: Sequence[Row], role: str) -> float | None:
    """Return the mean over attributes of marked ÷ shown, summed over groups; None without attributes."""
    counts: dict[str, list[int]] = {}
    for cell in cells:
        if cell["role"] == role:
            totals = counts.setdefault(cell["attribute"], [0, 0])
            totals[0] += cell["marked"]
            totals[1] += cell["shown"]
    return fmean(marked / n_shown for marked, n_shown in counts.values()) if counts else None
