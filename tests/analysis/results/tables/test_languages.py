"""Measures by language: what is in the table, what is null, and that one language changes nothing."""

from dataclasses import replace

import pandas as pd
import pytest

from analysis.metrics import krippendorff_alpha, tendency
from analysis.results.compute import compute
from analysis.results.data.digest import inputs_digest
from analysis.results.schema import BY_LANGUAGE, records
from jobs.progress.reporter import Unwatched
from tests.analysis.study_data import CHOICES, listed, marks, parameters, study_data

PEOPLE = [f"p{i:02}" for i in range(24)]


def read_by(sizes: dict[str, int]):
    """The study in which the first people read the first language, and so on."""
    frame = marks()
    language = dict(zip(PEOPLE, [code for code, size in sizes.items() for _ in range(size)], strict=False))
    data = study_data(frame)
    return replace(
        data, languages={"judgements": data.judgements["annotator"].astype(str).map(language).astype(object)}
    )


def rows_of(data, **choices):
    return records(
        compute(data=data, parameters=parameters(**choices), progress=Unwatched()).tables["by_language"]
    )


def test_each_language_is_measured_by_itself_as_the_library_does():
    rows = rows_of(read_by({"en": 12, "de": 12}))
    assert list(rows[0]) == list(BY_LANGUAGE["by_language"])
    frame = marks()
    german = frame[frame["annotator"].isin(PEOPLE[12:])]
    theta = tendency(german, listed(), resamples=CHOICES["resamples"], min_stereotypes=1).overall
    pooled = theta[theta["statistic"] == "pooled"].iloc[0]
    alpha = krippendorff_alpha(german, resamples=CHOICES["resamples"]).rows()[0]
    by_measure = {row["measure"]: row for row in rows if row["language"] == "de"}
    assert by_measure["theta_pooled"]["estimate"] == pytest.approx(pooled["theta"])
    assert by_measure["theta_pooled"]["n"] == len(german)
    assert by_measure["krippendorff_alpha_nominal"]["estimate"] == pytest.approx(alpha["value"])
    assert by_measure["krippendorff_alpha_nominal"]["ci_low"] == pytest.approx(alpha["ci_low"])
    assert {row["annotators"] for row in rows if row["language"] and not row["other_language"]} == {12}


def test_agreement_between_languages_is_over_what_both_judged():
    (row,) = [row for row in rows_of(read_by({"en": 12, "de": 12})) if row["other_language"]]
    assert (row["language"], row["other_language"], row["measure"]) == (
        "de",
        "en",
        "cross_language_agreement",
    )
    assert 0 <= row["estimate"] <= 1
    assert row["n"] > 0


def test_a_language_that_few_people_read_has_no_estimate():
    rows = rows_of(read_by({"en": 20, "de": 4}))
    (german,) = [row for row in rows if row["language"] == "de"]
    assert (german["estimate"], german["reason"], german["annotators"]) == (None, "too_few_annotators", 4)
    assert not any(row["other_language"] for row in rows)


def test_one_language_has_no_table_and_the_digest_it_had():
    data = study_data(marks())
    results = compute(data=data, parameters=parameters(), progress=Unwatched())
    assert "by_language" not in results.tables
    assert inputs_digest(replace(data, languages={})) == inputs_digest(data)
    assert inputs_digest(read_by({"en": 12, "de": 12})) != inputs_digest(data)


def test_a_report_without_somebody_tells_nothing_by_language():
    results = compute(
        data=read_by({"en": 12, "de": 12}),
        parameters=parameters(without_annotators=("p00",)),
        progress=Unwatched(),
    )
    assert "by_language" not in results.tables


def test_rows_without_a_language_are_in_none():
    data = read_by({"en": 12, "de": 6})
    rows = rows_of(data)
    assert pd.isna(data.languages["judgements"]).any()
    assert {row["language"] for row in rows} == {"en", "de"}
