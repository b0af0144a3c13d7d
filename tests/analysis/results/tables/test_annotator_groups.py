"""Groups of annotators in results: comparisons, and groups too small to be described."""

from typing import Any

import pandas as pd
import pytest
from django.template.loader import render_to_string

from analysis.metrics import compare_annotator_groups, sensitivity
from analysis.results.compute import compute
from analysis.results.schema import PROMISED, records
from jobs.progress.reporter import Unwatched
from tests.analysis.study_data import CHOICES, listed, marks, parameters, study_data

PEOPLE = [f"p{i:02}" for i in range(24)]


def tables_of(data, **choices: Any) -> dict[str, list[dict[str, Any]]]:
    results = compute(data=data, parameters=parameters(**choices), progress=Unwatched())
    return {name: records(results.tables[name]) for name in PROMISED}


def profiles(field: str, sizes: dict[str, int]) -> dict[str, dict[str, str]]:
    """The first annotators say the first value, and so on."""
    said = [value for value, size in sizes.items() for _ in range(size)]
    return {who: {field: value} for who, value in zip(PEOPLE, said, strict=False)}


def test_groups_are_compared_field_by_field_as_the_library_does() -> None:
    frame = marks()
    said = profiles("gender", {"woman": 12, "man": 12})
    rows = tables_of(study_data(frame, profiles=said))["annotator_groups"]
    groups = pd.DataFrame([(who, v["gender"]) for who, v in said.items()], columns=["annotator", "group"])
    expected = compare_annotator_groups(
        frame, listed(), groups, adjust="max_t", permutations=2_000, resamples=CHOICES["resamples"]
    ).rows()
    overall = [row for row in rows if row["scope"] == "all"]
    assert [(r["field"], r["annotators_a"], r["annotators_b"]) for r in overall] == [("gender", 12, 12)] * 3
    for row, one in zip(overall, expected, strict=True):
        for name in ("measure", "group_a", "group_b"):
            assert row[name] == one[name]
        for name in ("value_a", "value_b", "difference", "ci_low", "ci_high", "p", "p_adjusted"):
            assert row[name] == pytest.approx(one[name]), name
    assert {row["scope_value"] for row in rows if row["scope"] == "identity_group"} == {
        "Velmari",
        "Orsani",
        "Quenli",
    }


def test_agreement_within_and_across_groups_is_in_its_table() -> None:
    rows = tables_of(study_data(marks(), profiles=profiles("gender", {"woman": 12, "man": 12})))[
        "annotator_group_agreement"
    ]
    assert [(r["measure"], r["group_a"], r["group_b"]) for r in rows] == [
        ("krippendorff_alpha_nominal", "man", "man"),
        ("krippendorff_alpha_nominal", "woman", "woman"),
        ("cross_group_agreement", "man", "woman"),
    ]
    assert all(r["field"] == "gender" and r["value"] is not None for r in rows)


@pytest.mark.parametrize(
    ("sizes", "shown"),
    [
        ({"a": 10, "b": 9, "c": 5}, {"a", "b", "c"}),
        # two groups of three together are six
        ({"a": 10, "b": 8, "c": 3, "d": 3}, {"a", "b"}),
        # two left over could be told from the difference: the smallest shown group is folded with them
        ({"a": 11, "b": 11, "c": 2}, {"b"}),
        ({"a": 6, "b": 16, "c": 2}, {"b"}),
    ],
)
def test_a_group_of_fewer_than_five_people_is_never_shown(sizes: dict[str, int], shown: set[str]) -> None:
    tables = tables_of(study_data(marks(), profiles=profiles("gender", sizes)))
    named = {row[side] for row in tables["annotator_groups"] for side in ("group_a", "group_b")} - {None}
    assert named == (shown if len(shown) > 1 else set())
    agreeing = {row["group_a"] for row in tables["annotator_group_agreement"]}
    assert agreeing <= shown
    alone = {r["scenario_value"] for r in tables["sensitivity"] if r["scenario"] == "annotator_group"}
    assert alone == {f"gender: {value}" for value in shown} | ({"gender"} if shown != set(sizes) else set())
    if shown == set(sizes):
        return
    folded = [row for row in tables["annotator_groups"] if row["group_a"] is None]
    assert [(r["field"], r["value_a"], r["reason"]) for r in folded] == [
        ("gender", None, "too_few_annotators")
    ]
    hidden = next(r for r in tables["sensitivity"] if r["scenario_value"] == "gender")
    assert (hidden["value"], hidden["annotators"], hidden["reason"]) == (None, None, "too_few_annotators")


def test_the_family_of_tests_names_its_scope_where_single_identity_groups_are_not_compared() -> None:
    frame = marks()
    few = frame[
        (frame["identity_group"] != "Velmari") | (frame["annotator"] < "p04") | (frame["annotator"] > "p11")
    ]
    data = study_data(few, profiles=profiles("gender", {"woman": 12, "man": 12}))
    results = compute(data=data, parameters=parameters(), progress=Unwatched())
    notes = results.summary["notes"]["annotator_groups"]
    assert {name: note["family"] for name, note in notes.items()} == {"gender": {"all": 3}}
    words = render_to_string("analysis/methods/_family.html", {"note": notes["gender"]})
    assert words.startswith("a family of 3 tests over all groups depicted, ")


def test_single_identity_groups_are_shown_of_all_or_of_none() -> None:
    frame = marks()
    data = study_data(frame, profiles=profiles("gender", {"woman": 12, "man": 12}))
    enough = tables_of(data)
    assert {row["scope"] for row in enough["annotator_groups"]} == {"all", "identity_group"}
    assert {row["scenario"] for row in enough["sensitivity_ranks"]} >= {"baseline", "annotator_group"}
    # Of the women only p00 to p03 judged Velmari: from all groups but this one, and the mean, it could be told.
    few = frame[
        (frame["identity_group"] != "Velmari") | (frame["annotator"] < "p04") | (frame["annotator"] > "p11")
    ]
    tables = tables_of(study_data(few, profiles=profiles("gender", {"woman": 12, "man": 12})))
    assert {(row["scope"], row["value_a"] is None) for row in tables["annotator_groups"]} == {("all", False)}
    assert "annotator_group" not in {row["scenario"] for row in tables["sensitivity_ranks"]}
    alone = [row for row in tables["sensitivity"] if row["scenario"] == "annotator_group"]
    assert {(r["statistic"], r["value"] is None) for r in alone} == {
        ("pooled", False),
        ("mean", True),
        ("median", True),
    }
    for row in alone:
        hidden = ("kendall_tau", "largest_rank_change", "largest_rank_change_group", "groups")
        assert ([row[name] for name in hidden], row["reason"]) == ([None] * 4, "too_few_annotators")


def test_the_size_of_a_single_group_is_not_revealed() -> None:
    tables = tables_of(study_data(marks(), profiles=profiles("gender", {"woman": 12, "man": 12})))
    for row in tables["sensitivity"]:
        if row["scenario"] == "annotator_group":
            assert row["value"] is not None
            assert [row[name] for name in ("judgements", "judgements_left_out", "annotators")] == [None] * 3


def test_each_model_is_compared_separately() -> None:
    frame = marks(models=("sketch", "paint"))
    # Of the women only p00 to p03 judged what paint made.
    few = frame[(frame["model"] == "sketch") | (frame["annotator"] < "p04") | (frame["annotator"] > "p11")]
    data = study_data(few, profiles=profiles("gender", {"woman": 12, "man": 12}))
    results = compute(data=data, parameters=parameters(), progress=Unwatched())
    tables = {name: records(results.tables[name]) for name in PROMISED}
    compared = [row for row in tables["annotator_groups"] if row["group_a"] is not None]
    assert {row["model"] for row in compared} == {"sketch"}
    assert {row["model"] for row in tables["annotator_group_agreement"]} == {"sketch"}
    alone = [r for r in tables["sensitivity"] if r["scenario_value"].startswith("gender: ")]
    assert {(r["model"], r["scenario_value"]) for r in alone if r["value"] is not None} == {
        ("sketch", "gender: woman"),
        ("sketch", "gender: man"),
    }
    assert {r["reason"] for r in alone if r["model"] == "paint"} == {"too_few_annotators"}
    # Hidden tests are not part of the adjustment.
    assert results.summary["notes"]["annotator_groups"]["gender, sketch"]["family"]["all"] == 3


@pytest.mark.parametrize("choice", [{"without_annotators": ("p05",)}, {"campaigns": ("first",)}])
def test_groups_are_not_described_from_a_part_of_the_labels(choice: dict[str, Any]) -> None:
    data = study_data(marks(), profiles=profiles("gender", {"woman": 12, "man": 12}))
    results = compute(data=data, parameters=parameters(**choice), progress=Unwatched())
    for name in ("annotator_groups", "annotator_group_agreement"):
        assert results.tables[name].empty
        assert results.summary["empty_tables"][name] == "annotators_left_out"
    for name in ("sensitivity", "sensitivity_ranks"):
        alone = [r for r in records(results.tables[name]) if r["scenario"] == "annotator_group"]
        assert {(r["scenario_value"], r["reason"]) for r in alone} == {("", "annotators_left_out")}
    assert "woman" not in str(results.summary) + str([records(frame) for frame in results.tables.values()])


@pytest.mark.parametrize(
    ("languages", "shown"),
    [
        # Two who named no velmi could be told from everybody.
        (["velmi"] * 22 + ["orsi"] * 2, set()),
        (["velmi"] * 16 + ["orsi"] * 8, {"languages: velmi", "languages: orsi"}),
        # All but two of those with velmi have orsi too: the difference would tell of these two.
        (["velmi orsi"] * 10 + ["velmi"] * 2 + ["quen"] * 12, {"languages: velmi", "languages: quen"}),
    ],
)
def test_languages_that_reveal_a_few_by_subtraction_are_not_shown(
    languages: list[str], shown: set[str]
) -> None:
    said = {who: {"languages": one.split()} for who, one in zip(PEOPLE, languages, strict=True)}
    rows = tables_of(study_data(marks(), profiles=said))["sensitivity"]
    alone = {r["scenario_value"] for r in rows if r["scenario"] == "annotator_group"}
    assert {value for value in alone if ": " in value} == shown


def test_several_languages_put_an_annotator_in_several_groups() -> None:
    said = {who: {"languages": ["velmi", "orsi"] if i < 8 else ["velmi"]} for i, who in enumerate(PEOPLE)}
    said |= {who: {"languages": ["quen"]} for who in PEOPLE[18:]}
    rows = [
        row
        for row in tables_of(study_data(marks(), profiles=said))["annotator_groups"]
        if row["scope"] == "all" and row["measure"] == "theta"
    ]
    # velmi 18, orsi 8, quen 6; each against those who gave other languages only.
    sizes = {(r["group_a"], r["group_b"]): (r["annotators_a"], r["annotators_b"]) for r in rows}
    assert sizes == {
        ("not velmi", "velmi"): (6, 18),
        ("not orsi", "orsi"): (16, 8),
        ("not quen", "quen"): (18, 6),
    }


def test_in_group_same_region_and_out_group_follow_who_is_depicted() -> None:
    frame = marks()
    nations = ["velmari", "orsani", "elsewhere"]
    said = {
        who: {"nationality": nations[i % 3], "region_of_origin": "coast" if i % 3 == 2 else "isles"}
        for i, who in enumerate(PEOPLE)
    }
    tables = tables_of(study_data(frame, profiles=said))
    rows = [r for r in tables["annotator_groups"] if r["field"] == "relation_to_depicted"]
    pairs = {(r["group_a"], r["group_b"]) for r in rows}
    assert pairs == {("in_group", "out_group"), ("in_group", "same_region"), ("out_group", "same_region")}

    def related(row: pd.Series) -> str:
        nation = said[row["annotator"]]["nationality"]
        if nation == row["identity_group"].lower():
            return "in_group"
        return "out_group" if nation == "elsewhere" else "same_region"

    relation = frame.apply(related, axis=1)
    for name in ("in_group", "same_region", "out_group"):
        mine = frame[relation == name]
        expected = sensitivity(mine, listed()).rows()[0]["value"]
        found = next(
            r
            for r in tables["sensitivity"]
            if (r["scenario_value"], r["statistic"]) == (f"relation_to_depicted: {name}", "pooled")
        )
        assert found["value"] == pytest.approx(expected)
        assert found["judgements"] is None
        shares = mine[mine["identity_group"] == "Velmari"].groupby("attribute")["present"].mean()
        row = next(
            (
                (r, side)
                for r in rows
                for side in ("a", "b")
                if r[f"group_{side}"] == name
                and (r["scope_value"], r["measure"]) == ("Velmari", "likelihood_stereotype")
            ),
            None,
        )
        assert row is not None
        assert row[0][f"value_{row[1]}"] == pytest.approx((shares["tall hat"] + shares["blue scarf"]) / 2)


def test_annotators_without_a_nationality_have_no_relation() -> None:
    said = {who: {"region_of_origin": "isles"} for who in PEOPLE}
    tables = tables_of(study_data(marks(), profiles=said))
    assert not [r for r in tables["annotator_groups"] if r["field"] == "relation_to_depicted"]


def test_nothing_of_a_profile_is_in_the_summary() -> None:
    said = profiles("nationality", {"velmari": 14, "orsani": 8, "solitary": 2})
    results = compute(data=study_data(marks(), profiles=said), parameters=parameters(), progress=Unwatched())
    assert "solitary" not in str(results.summary)
    assert all("solitary" not in str(records(frame)) for frame in results.tables.values())
    assert "annotators_alike" not in str(results.summary)


def test_ids_that_are_not_people_are_not_compared() -> None:
    frame = marks()
    said = profiles("gender", {"woman": 12, "man": 12})
    data = study_data(pd.concat([frame, frame], ignore_index=True), profiles=said)
    results = compute(data=data, parameters=parameters(), progress=Unwatched())
    assert results.tables["annotator_groups"].empty
    assert results.summary["empty_tables"]["annotator_groups"] == "annotator_ids_unusable"
    alone = [r for r in records(results.tables["sensitivity"]) if r["scenario"] == "annotator_group"]
    assert {(r["value"], r["reason"]) for r in alone} == {(None, "annotator_ids_unusable")}


def test_without_profiles_there_are_no_groups() -> None:
    results = compute(data=study_data(marks()), parameters=parameters(), progress=Unwatched())
    assert results.summary["empty_tables"]["annotator_groups"] == "no_profiles"
    alone = [r for r in records(results.tables["sensitivity"]) if r["scenario"] == "annotator_group"]
    assert {r["reason"] for r in alone} == {"no_annotator_groups"}
