"""The headline for each way of counting, one line each, for the overview and the report."""

from collections.abc import Iterable, Mapping
from typing import Any

Row = Mapping[str, Any]
SCENARIOS = {
    "baseline": "As computed",
    "without_flagged": "Without flagged annotators",
    "majority": "Majority vote of each image and attribute",
    "annotator_group": "Only annotators with {}",
    "none_of_the_above": "‘None of the above’ {}",
}
NONE_MODES = {"ignore": "left out", "as_random": "as one more random attribute"}
RELATIONS = {
    "in_group": "the annotator’s own group",
    "same_region": "the annotator’s own region",
    "out_group": "other regions than the annotator’s",
}
MODE_WORDS = {"ignore": "left out", "as_random": "as one more random attribute, as published"}
STATISTICS = ("pooled", "mean", "median")


def headline_by_mode(line: Row, chosen: str) -> list[dict[str, Any]]:
    """The statistics of each mode; empty if 'none of the above' was not asked, so that there is only one mode.

    line: one model in the summary's headline. chosen: the mode of the other numbers.
    """
    modes = line["none_of_the_above"]
    if modes["as_random"] is None:
        return []
    return [
        {"words": MODE_WORDS[mode], "chosen": mode == chosen, **statistics}
        for mode, statistics in modes.items()
    ]


def sensitivity_rows(rows: Iterable[Row], names: Mapping[str, str]) -> list[dict[str, Any]]:
    """Collect the statistics of each scenario of one model, the baseline first."""
    lines: dict[tuple[str, str], dict[str, Any]] = {}
    for row in rows:
        key = (row["scenario"], row["scenario_value"] or "")
        line = lines.setdefault(
            key, {"words": scenario_words(*key), "baseline": key[0] == "baseline", "reason": None}
        )
        line[row["statistic"]] = row
        line["reason"] = line["reason"] or row["reason"]
        if row["statistic"] == STATISTICS[0]:
            group = row["largest_rank_change_group"]
            line |= {
                "tau": row["kendall_tau"],
                "moved": _moved(row["largest_rank_change"], names.get(group, group)),
                "left_out": None if row["judgements_left_out"] is None else int(row["judgements_left_out"]),
            }
    order = list(SCENARIOS)
    return [lines[key] for key in sorted(lines, key=lambda key: (order.index(key[0]), key[1]))]


def scenario_words(scenario: str, value: str) -> str:
    """A way of counting in words; a field without a value means its groups that are too small to show."""
    if scenario == "annotator_group":
        field, _, group = value.partition(": ")
        if not group:
            return f"Groups of annotators{' by ' + field.replace('_', ' ') if field else ', each alone'}"
        if field == "relation_to_depicted":
            return f"Only answers about people of {RELATIONS.get(group, group)}"
    return SCENARIOS[scenario].format(NONE_MODES.get(value, value.replace("_", " ")))


def _moved(change: float | None, group: str | None) -> str:
    """Which group moves furthest in the order, and which way."""
    if change is None:
        return ""
    places = abs(int(change))
    if not places:
        return "no group"
    return f"{group}, {places} place{'' if places == 1 else 's'} {'down' if change > 0 else 'up'}"
