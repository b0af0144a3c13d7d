"""Salience, compared with plain loops, and its agreement with people."""

from math import log
from statistics import median
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.metrics import likelihood, match_captions, salience
from tests.analysis.metrics.tables import ROLES, judgements, marks

ATTRIBUTES = ["hat", "drum", "boat", "tall hat"]
Caption = tuple[str, str, str, str]  # scorer, model, group, caption


def table(rows: list[Caption]) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=["scorer", "model", "identity_group", "caption"])
    return frame.assign(image=[f"i{n // 2}" for n in range(len(rows))])


def contains(caption: str, attribute: str) -> bool:
    return f" {attribute} " in f" {caption} "


def oracle(rows: list[Caption], top: int) -> dict[tuple[str, ...], dict[str, Any]]:
    """From the definition, with counts in dictionaries."""
    result: dict[tuple[str, ...], dict[str, Any]] = {}
    for scorer, model in sorted({row[:2] for row in rows}):
        mine = [row for row in rows if row[:2] == (scorer, model)]
        df = {a: sum(contains(row[3], a) for row in mine) for a in ATTRIBUTES}
        for group in sorted({row[2] for row in mine}):
            c = {a: sum(contains(row[3], a) for row in mine if row[2] == group) for a in ATTRIBUTES}
            scored = {
                a: (c[a] + 1) / (sum(c.values()) + len(ATTRIBUTES)) * (log((1 + len(mine)) / (1 + df[a])) + 1)
                for a in ATTRIBUTES
            }
            named = sorted((a for a in ATTRIBUTES if c[a]), key=lambda a: (-scored[a], -c[a], a))
            for a in ATTRIBUTES:
                rank = named.index(a) + 1 if a in named and named.index(a) < top else None
                result[(scorer, model, group, a)] = {"captions": c[a], "salience": scored[a], "rank": rank}
    return result


caption = st.lists(st.sampled_from(["hat", "drum", "boat", "tall hat", "sky"]), max_size=3).map(" and ".join)
row = st.tuples(st.sampled_from("st"), st.sampled_from("mn"), st.sampled_from(["Aru", "Bel", "Cir"]), caption)


@settings(max_examples=40, deadline=None)
@given(st.lists(row, max_size=25), st.integers(1, 4))
def test_equals_plain_loops(rows: list[Caption], top: int) -> None:
    result = salience(table(rows), ATTRIBUTES, top=top)
    expected = oracle(rows, top)
    names = ("scorer", "model", "identity_group", "attribute")
    assert [tuple(r[name] for name in names) for r in result.rows()] == list(expected)
    for ours, theirs in zip(result.rows(), expected.values(), strict=True):
        assert ours["salience"] == pytest.approx(theirs["salience"], rel=1e-12)
        assert (ours["captions"], ours["rank"]) == (theirs["captions"], theirs["rank"])


def test_worked_by_hand() -> None:
    # Aru: 3 captions, hat in 2, drum in 1; Bel: 1 caption, a hat. |A| = 2, |C| = 4.
    # tf(hat, Aru) = (2 + 1)/(3 + 2) = .6; tf(drum, Aru) = .4; tf(hat, Bel) = 2/3; tf(drum, Bel) = 1/3.
    # idf(hat) = ln(5/4) + 1 = 1.223144; idf(drum) = ln(5/2) + 1 = 1.916291.
    # Aru: hat .733886, drum .766516, so the drum comes first. Bel: hat .815429 alone; no drum was named.
    captions = table(
        [
            ("s", "m", "Aru", "a hat"),
            ("s", "m", "Aru", "Hats"),
            ("s", "m", "Aru", "a drum"),
            ("s", "m", "Bel", "hat"),
        ]
    )
    rows = salience(captions, ["hat", "drum"]).rows()
    assert [r["salience"] for r in rows] == pytest.approx([0.733886, 0.766516, 0.815429, 0.638764], abs=1e-6)
    assert [r["rank"] for r in rows] == [2, 1, 1, None]
    assert [r["document_frequency"] for r in rows] == [3, 1, 3, 1]


def test_ties_are_broken_by_the_alphabet() -> None:
    captions = table([("s", "m", "Aru", "hat drum boat")])
    rows = {r["attribute"]: r["rank"] for r in salience(captions, ["hat", "drum", "boat"], top=2).rows()}
    assert rows == {"boat": 1, "drum": 2, "hat": None}


def asked() -> pd.DataFrame:
    """People were shown hat (2 of 4), drum (0 of 4) and boat (4 of 4) for Aru, and kite (1 of 4) for Bel."""
    frame = judgements(
        *marks("Aru", "hat", 4, 2),
        *marks("Aru", "drum", 4, 0),
        *marks("Aru", "boat", 4, 4),
        *marks("Bel", "kite", 4, 1),
    )
    return frame.assign(model="m")


def test_salient_attributes_beside_people() -> None:
    captions = table(
        [("s", "m", "Aru", "hat drum boat"), ("s", "m", "Aru", "hat"), ("s", "m", "Bel", "hat kite")]
    )
    people = likelihood(asked(), ROLES, resamples=20)
    result = salience(captions, ["hat", "drum", "boat", "kite"], likelihood=people)
    rows = {(r["identity_group"], r["attribute"]): r for r in result.rows()}
    # Median of Aru's three is ½ (hat itself); Bel's one is its own median.
    assert median([0.5, 0, 1]) == 0.5
    asked_of_aru = {a: rows[("Aru", a)]["above_median"] for a in ("hat", "drum", "boat", "kite")}
    assert asked_of_aru == {"hat": False, "drum": False, "boat": True, "kite": None}
    assert (rows[("Aru", "hat")]["likelihood"], rows[("Aru", "hat")]["shown"]) == (0.5, 4)
    assert rows[("Bel", "hat")]["likelihood"] is None
    # Salient: hat, drum, boat of Aru; hat, kite of Bel. Hats of Bel were never shown. Of the four shown hat,
    # boat and kite have L > 0, only the boat is above its group's median.
    assert result.notes["models"] == [
        {
            "scorer": "s",
            "model": "m",
            "salient": 5,
            "shown": 4,
            "never_shown": 1,
            "likely_share": 0.75,
            "above_median_share": 0.25,
        }
    ]
    assert (
        salience(captions, ["hat", "drum", "boat", "kite"], likelihood=people.table).rows() == result.rows()
    )


def test_people_who_judged_another_model_do_not_count() -> None:
    captions = table([("s", "other", "Aru", "hat")])
    result = salience(captions, ["hat"], likelihood=likelihood(asked(), ROLES, resamples=20))
    (note,) = result.notes["models"]
    assert (note["shown"], note["never_shown"], note["likely_share"]) == (0, 1, None)


def test_without_people_columns_about_people_are_empty() -> None:
    result = salience(table([("s", "m", "Aru", "hat")]), ["hat"])
    (note,) = result.notes["models"]
    assert (note["salient"], note["shown"], note["never_shown"], note["likely_share"]) == (
        1,
        None,
        None,
        None,
    )
    (row,) = result.rows()
    assert (row["likelihood"], row["shown"], row["above_median"]) == (None, None, None)


def test_captions_without_group_are_dropped_and_counted() -> None:
    captions = table([("s", "m", "Aru", "hat"), ("s", "m", None, "drum")])
    result = salience(captions, ["hat", "drum"])
    assert (result.used, result.dropped) == (1, {"no_identity_group": 1})
    assert [row["document_frequency"] for row in result.rows()] == [1, 0]


@pytest.mark.parametrize("rows", [[], [("s", "m", None, "hat")]])
def test_without_matches_there_are_no_rows(rows: list[Any]) -> None:
    result = salience(table(rows), ["hat"], likelihood=likelihood(asked(), ROLES, resamples=20))
    assert result.table.empty
    assert result.notes["models"] == []


def test_no_attributes_no_rows() -> None:
    assert salience(table([("s", "m", "Aru", "hat")]), []).table.empty


def test_matches_at_hand_give_the_same() -> None:
    captions = table([("s", "m", "Aru", "hat"), ("s", "m", "Bel", "a tall hat")])
    matches = match_captions(captions, ATTRIBUTES)
    assert salience(captions, ATTRIBUTES, matches=matches).rows() == salience(captions, ATTRIBUTES).rows()
    with pytest.raises(ValueError, match="matches: of 2 captions, got 1"):
        salience(captions[:1], ATTRIBUTES, matches=matches)


def test_a_likelihood_given_twice_is_refused() -> None:
    people = likelihood(asked(), ROLES, resamples=20).table
    with pytest.raises(ValueError, match="likelihood: 'm', 'Aru', 'boat' is given twice"):
        salience(table([("s", "m", "Aru", "hat")]), ["hat"], likelihood=pd.concat([people, people]))
