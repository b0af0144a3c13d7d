"""For any study, every row about a group of annotators covers at least five, and leaves none or at least five."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from analysis.results.compute import compute
from analysis.results.schema import PROMISED, records
from jobs.progress.reporter import Unwatched
from tests.analysis.study_data import marks, parameters, study_data

NATIONS = ["velmari", "orsani", "elsewhere"]
NUMBERS = {
    "annotator_groups": ("value_a", "value_b", "difference", "p"),
    "annotator_group_agreement": ("value",),
    "sensitivity": ("value", "kendall_tau", "largest_rank_change"),
    "sensitivity_ranks": ("theta_smoothed", "rank"),
}


def study(seed: int) -> tuple[pd.DataFrame, dict[str, dict[str, Any]]]:
    """Judgements of two models, some missing, by people who said more or less of themselves."""
    draw = np.random.default_rng(seed)
    frame = marks(people=30, models=("sketch", "paint"), per_task=6, seed=seed)
    people = sorted(set(frame["annotator"]))
    # Some judged one model only, some not every identity group.
    for who in draw.choice(people, seed % 4 * 4, replace=False):
        frame = frame[(frame["annotator"] != who) | (frame["model"] == "sketch")]
    for who in draw.choice(people, seed % 3 * 5, replace=False):
        frame = frame[(frame["annotator"] != who) | (frame["identity_group"] != "Velmari")]
    shares = draw.dirichlet([4, 3, 1.5])
    said: dict[str, dict[str, Any]] = {}
    for index, who in enumerate(people):
        nation = NATIONS[index % 3]
        said[who] = {
            "gender": ["a", "b", "c"][index % 2 if seed == 0 else draw.choice(3, p=shares)],
            "languages": [one for one in ("velmi", "orsi", "quen") if draw.random() < 0.5],
            "nationality": nation,
            "region_of_origin": "coast" if nation == "elsewhere" else "isles",
        }
        if seed and draw.random() < 0.15:
            del said[who]["gender"]
    return frame, said


def groups_of(row: pd.Series, field: str, said: dict[str, dict[str, Any]]) -> set[str]:
    """Return the groups of a field to which a judgement belongs."""
    mine = said[row["annotator"]]
    if field == "relation_to_depicted":
        if mine["nationality"] == row["identity_group"].lower():
            return {"in_group"}
        return {"same_region"} if mine["region_of_origin"] == "isles" else {"out_group"}
    value = mine.get(field, [])
    return {value} if isinstance(value, str) else set(value)


def few(judged: pd.DataFrame, field: str, group: str) -> bool:
    """Return whether one to four people are in the group, or only in other groups."""
    part = judged[judged[field].map(bool)]
    other = group.removeprefix("not ")
    inside = part[field].map(lambda groups: (other in groups) == (other == group))
    behind, rest = (part.loc[mask, "annotator"].nunique() for mask in (inside, ~inside))
    return behind < 5 or 0 < rest < 5


def named(table: str, row: dict[str, Any]) -> list[tuple[str, str]]:
    if table.startswith("sensitivity"):
        field, _, group = row["scenario_value"].partition(": ")
        return [(field, group)] if row["scenario"] == "annotator_group" and group else []
    return [(row["field"], row[side]) for side in ("group_a", "group_b") if row[side] is not None]


@pytest.mark.parametrize("seed", range(6))
def test_every_row_covers_five_people_and_leaves_none_or_five(seed: int) -> None:
    frame, said = study(seed)
    results = compute(data=study_data(frame, profiles=said), parameters=parameters(), progress=Unwatched())
    fields = ("gender", "languages", "nationality", "region_of_origin", "relation_to_depicted")
    answers = frame.drop_duplicates(["model", "identity_group", "annotator"])
    answers = answers.assign(
        **{field: answers.apply(groups_of, axis=1, args=(field, said)) for field in fields}
    )
    told = 0
    for table, numbers in NUMBERS.items():
        assert table in PROMISED
        for row in records(results.tables[table]):
            if all(row[name] is None for name in numbers):
                continue
            mine = answers[answers["model"] == row["model"]]
            depicted = row.get("identity_group") or row.get("scope_value")
            each = row.get("statistic", "pooled") != "pooled" or row.get("largest_rank_change") is not None
            places = [mine if not depicted else mine[mine["identity_group"] == depicted]]
            places += [of_one for _, of_one in mine.groupby("identity_group")] if each else []
            for field, group in named(table, row):
                told += 1
                for place in places:
                    # A group without members there is not described.
                    held = place[field].map(lambda groups, one=group: one in groups)
                    if place is places[0] or held.any():
                        assert not few(place, field, group), (table, row)
    assert told > 0
    if seed == 0:
        shown = {(row["field"], row["scope"]) for row in records(results.tables["annotator_groups"])}
        assert ("gender", "identity_group") in shown
