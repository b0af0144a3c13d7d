"""Studies with hardly any data: every table exists, and states what cannot be computed and why."""

import json
from typing import Any

import pandas as pd
import pytest

from analysis.results.compute import compute
from analysis.results.output.csv_tables import to_csv
from analysis.results.output.folder import write
from analysis.results.schema import PROMISED, Results, records
from jobs.progress.reporter import Unwatched
from tests.analysis.study_data import drawn, listed, marks, parameters, study_data


def computed(data) -> Results:
    return compute(data=data, parameters=parameters(), progress=Unwatched())


def rows(results: Results, name: str, **wanted: Any) -> list[dict[str, Any]]:
    return [
        row
        for row in records(results.tables[name])
        if all(row[column] == value for column, value in wanted.items())
    ]


def one_rating() -> pd.DataFrame:
    return pd.DataFrame([("talk", "kite", "p", 5)], columns=["campaign", "attribute", "annotator", "rating"])


STUDIES = {
    "empty": lambda: study_data(),
    "one annotator": lambda: study_data(marks(people=1, per_task=1)),
    "all 'no'": lambda: study_data(marks(stereotype=0, random=0)),
    "all 'yes'": lambda: study_data(marks(stereotype=1, random=1)),
    "one group": lambda: study_data(marks(groups=("Velmari",))),
    "one image": lambda: study_data(marks(groups=("Velmari",), images=1)),
    "one judgement": lambda: study_data(marks()[:1]),
    "no stereotype": lambda: study_data(marks(), associations=listed()[:0]),
    "only stereotypes": lambda: study_data(marks().merge(listed()[["identity_group", "attribute"]])),
    "one judgement an image": lambda: study_data(marks(per_task=1)),
    "one rating": lambda: study_data(ratings=one_rating()),
    "no box": lambda: study_data(marks()),
    "one box": lambda: study_data(marks(), boxes=drawn(marks())[:1]),
}


@pytest.mark.parametrize("name", STUDIES)
def test_every_table_exists_and_empty_ones_say_why(name: str) -> None:
    results = computed(STUDIES[name]())
    for table, columns in PROMISED.items():
        frame = results.tables[table]
        assert list(frame.columns[: len(columns)]) == list(columns)
        assert to_csv(frame)
        assert (table in results.summary["empty_tables"]) == frame.empty, table


@pytest.mark.parametrize("name", STUDIES)
def test_every_number_that_is_missing_has_its_reason(name: str) -> None:
    results = computed(STUDIES[name]())
    estimates = {
        "likelihood": ("ci_low", "ci_high"),
        "tendency": ("theta",),
        "offensiveness": ("offensiveness", "ci_low"),
        "agreement": ("value",),
        "sensitivity": ("value", "kendall_tau"),
        "model_differences": ("difference",),
        "iou_distribution": ("share",),
    }
    for table, columns in estimates.items():
        for row in records(results.tables[table]):
            for column in columns:
                assert row[column] is not None or row["reason"], (table, column, row)


def test_an_empty_study_has_no_row_anywhere() -> None:
    results = computed(study_data())
    assert set(results.summary["empty_tables"]) == set(PROMISED)
    assert set(results.summary["empty_tables"].values()) == {
        "no_judgements",
        "no_ratings",
        "no_ratings_and_no_judgements",
        "no_scores",
        "no_captions",
        "no_images_of_these_conditions",
    }
    assert results.summary["headline"] == []


def test_one_annotator_agrees_with_nobody() -> None:
    frame = marks(people=1, per_task=1)
    results = computed(study_data(frame))
    assert results.summary["left_out"]["agreement"] == {"single_stereotype_marking": len(frame)}
    alpha = rows(results, "agreement", scope="all", measure="krippendorff_alpha_nominal")[0]
    assert (alpha["value"], alpha["reason"]) == (None, "no_unit_rated_twice")
    annotator = rows(results, "annotators")[0]
    assert annotator["agreement_with_others"] is None
    alone = rows(results, "sensitivity", scenario="majority", statistic="pooled")[0]
    assert alone["difference"] == 0


def test_where_nothing_was_marked_theta_is_null_and_its_smoothed_form_one() -> None:
    results = computed(study_data(marks(stereotype=0, random=0)))
    for row in rows(results, "tendency"):
        assert (row["theta"], row["theta_smoothed"], row["reason"]) == (None, 1, "none_marked")
    ranked = rows(results, "sensitivity", scenario="majority", statistic="pooled")[0]
    assert (ranked["value"], ranked["kendall_tau"], ranked["reason"]) == (None, None, "none_marked")
    assert results.summary["headline"][0]["pooled"]["reason"] == "none_marked"


def test_without_stereotypes_no_group_is_in_the_table_of_theta() -> None:
    results = computed(study_data(marks(), associations=listed()[:0]))
    assert {row["reason"] for row in rows(results, "tendency")} == {"too_few_stereotypes"}
    assert {row["reason"] for row in rows(results, "sensitivity", statistic="mean", scenario="baseline")} == {
        "none_defined"
    }


def test_several_models_and_campaigns_are_compared() -> None:
    both = marks(models=("sketch", "photo"))
    results = computed(study_data(both))
    compared = rows(results, "model_differences", compared="model", scope="all")
    assert [(r["side_a"], r["side_b"], r["measure"]) for r in compared] == [
        ("photo", "sketch", measure) for measure in ("likelihood_stereotype", "likelihood_random", "theta")
    ]
    overall = {line["model"]: line["pooled"]["theta"] for line in results.summary["headline"]}
    theta = compared[-1]
    assert theta["difference"] == pytest.approx(overall["photo"] - overall["sketch"])
    assert theta["ci_low"] < theta["difference"] < theta["ci_high"]
    assert not rows(results, "model_differences", compared="campaign")

    twice = computed(study_data(marks(campaigns=("first", "second"))))
    compared = rows(twice, "model_differences", scope="all")
    assert {(r["compared"], r["model"], r["side_a"], r["side_b"]) for r in compared} == {
        ("campaign", "sketch", "first", "second")
    }
    one = marks(campaigns=("first", "second")).query("campaign == 'first'")
    alone = computed(study_data(one)).summary["headline"][0]["pooled"]["theta"]
    assert compared[-1]["value_a"] == pytest.approx(alone)


def test_the_overlap_of_boxes_is_given_in_ten_bins() -> None:
    frame = marks(stereotype=0.9)
    results = computed(study_data(frame, boxes=drawn(frame)))
    bins = rows(results, "iou_distribution")
    assert [(row["bin_low"], row["bin_high"]) for row in bins] == [
        (pytest.approx(i / 10), pytest.approx((i + 1) / 10)) for i in range(10)
    ]
    assert sum(row["share"] for row in bins) == pytest.approx(1)
    mean_iou = rows(results, "agreement", measure="box_mean_iou")[0]["value"]
    assert sum(row["share"] * row["bin_low"] for row in bins) <= mean_iou
    assert mean_iou <= sum(row["share"] * row["bin_high"] for row in bins)


def test_how_many_boxes_were_clipped_is_reported() -> None:
    frame = marks(stereotype=0.9)
    boxes = drawn(frame)
    boxes["clipped"] = [i % 4 == 0 for i in range(len(boxes))]
    results = computed(study_data(frame, boxes=boxes))
    assert results.summary["notes"]["boxes"]["clipped_share"] == pytest.approx(boxes["clipped"].mean())


@pytest.mark.django_db
@pytest.mark.parametrize("name", STUDIES)
def test_files_are_written_even_if_data_is_missing(name: str, study, tmp_path) -> None:
    written = write(study=study, results=computed(STUDIES[name]()), output=tmp_path / "out")
    assert {path.name for path in written} == {
        *(f"{table}.csv" for table in PROMISED),
        "codebook.csv",
        "summary.json",
        "report.html",
    }
    summary = json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))
    assert {file for file, about in summary["files"].items() if not about["rows"]} == {
        f"{table}.csv" for table in summary["empty_tables"]
    }
