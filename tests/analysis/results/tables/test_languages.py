"""Measures by language: the table, its nulls, and studies with a single language."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from analysis.metrics import krippendorff_alpha, tendency
from analysis.results.compute import compute
from analysis.results.data.answers import CampaignAnswers
from analysis.results.data.digest import inputs_digest
from analysis.results.schema import BY_LANGUAGE, records
from analysis.results.tables.languages import languages_table
from annotation.kinds.registry import KINDS
from jobs.progress.reporter import Unwatched
from tests.analysis.study_data import CHOICES, listed, marks, parameters, study_data

PEOPLE = [f"p{i:02}" for i in range(24)]


def read_by(sizes: dict[str, int]):
    """Return the study in which the first people read the first language, and so on."""
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


def test_each_language_is_measured_separately_by_the_library():
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


def test_a_report_that_leaves_out_annotators_has_no_language_tables():
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


def between(rows, **about):
    """The rows of agreement between languages, of which `about` holds."""
    found = [row for row in rows if row["measure"] == "cross_language_agreement"]
    return [row for row in found if all(row[name] == value for name, value in about.items())]


def test_ratings_agree_between_languages_as_pairs_of_people_do():
    # hat: six read English (5 5 5 4 4 3), six German (5 5 4 4 4 3). 3 is Unsure and left out: 5 against 5 pairs.
    # Equal pairs: 3 × 2 of fives and 2 × 3 of fours, 12 of 25. drum was rated in English only: not shared.
    english, german = (5, 5, 5, 4, 4, 3), (5, 5, 4, 4, 4, 3)
    rated = [("hat", who, rating) for who, rating in zip(PEOPLE, english + german, strict=False)]
    rated += [("drum", who, 1) for who in PEOPLE[:6]]
    ratings = pd.DataFrame(
        [("words", attribute, who, rating) for attribute, who, rating in rated],
        columns=["campaign", "attribute", "annotator", "rating"],
    )
    language = ["de" if who in PEOPLE[6:] else "en" for _, who, _ in rated]
    data = replace(study_data(ratings=ratings), languages={"ratings": pd.Series(language, dtype=object)})
    (row,) = between(records(languages_table(data, parameters())))
    assert (row["campaign_kind"], row["language"], row["other_language"]) == ("attribute_likert", "de", "en")
    assert (row["estimate"], row["n"], row["reason"]) == (pytest.approx(12 / 25), 1, None)


def answered(kind: str, rows: list[tuple[int, str, str, dict]], *, languages=("en", "de")) -> CampaignAnswers:
    """A campaign in which half of the people read each language; a row is task, annotator, question and answer."""
    people = sorted({who for _, who, _, _ in rows})
    reads = {who: languages[index % 2] for index, who in enumerate(people)}
    screens = sorted({(task, who) for task, who, _, _ in rows})
    number = {screen: place for place, screen in enumerate(screens, start=1)}
    tasks = sorted({task for task, _ in screens})
    empty = {"stimulus": 0, "present": None, "rating": None, "code": None, "rank": None, "words": np.nan}
    return CampaignAnswers(
        campaign="walls",
        name="Walls",
        kind=KINDS[kind],
        annotations=pd.DataFrame(
            [
                {
                    "annotation": number[task, who],
                    "task": task,
                    "annotator": who,
                    "seconds": 9.0,
                    "instrument": 1,
                }
                | {"language": reads[who]}
                for task, who in screens
            ]
        ),
        judgements=pd.DataFrame(
            [
                {**empty, "judgement": place, "annotation": number[task, who], "question": question, **answer}
                for place, (task, who, question, answer) in enumerate(rows, start=1)
            ]
        ),
        stimuli=pd.DataFrame(
            [
                {
                    "stimulus": 2 * task + position,
                    "task": task,
                    "position": position,
                    "image": f"i{task}{position}",
                }
                | {"model": "sketch", "identity_group": None, "prompt": None, "condition": "default"}
                | {"width": 100, "height": 100, "words": np.nan}
                for task in tasks
                for position in (0, 1)
            ]
        ),
        points=pd.DataFrame(columns=["judgement", "x", "y"]),
        boxes=pd.DataFrame(columns=["judgement", "x", "y", "width", "height", "clipped"]),
        condition="default",
        not_counted={},
    )


def test_answers_to_questions_agree_between_languages():
    scale = next(question for question in KINDS["rubric"].questions if question.type == "scale")
    several = next(question for question in KINDS["rubric"].questions if question.type == "choice")
    low, high = scale.points[0].code, scale.points[-1].code
    one, other = several.answers[0].code, several.answers[1].code
    rows = []
    for index, who in enumerate(PEOPLE[:12]):  # even ones read English
        # Task 1: the English all say low, of the Germans half: 1/2. Task 2: everybody says high: 1.
        rows.append((1, who, scale.name, {"rating": high if index % 4 == 1 else low}))
        rows.append((2, who, scale.name, {"rating": high}))
        # Of several answers the set counts: English one and other, Germans one; everybody chose none on task 2.
        rows.append((1, who, several.name, {"code": one}))
        if index % 2 == 0:
            rows.append((1, who, several.name, {"code": other}))
    data = replace(study_data(marks()), answers=(answered("rubric", rows),))
    table = records(languages_table(data, parameters()))
    (row,) = between(table, campaign="walls", question=scale.name)
    assert (row["estimate"], row["n"], row["campaign_kind"]) == (pytest.approx(0.75), 2, "rubric")
    (row,) = between(table, campaign="walls", question=several.name)
    assert (row["estimate"], row["n"]) == (pytest.approx(0.5), 2)


def test_comparisons_agree_between_languages_about_the_picture_chosen():
    kind = next(kind for kind in KINDS.values() if kind.questions and kind.questions[0].type == "compare")
    name = kind.questions[0].name
    rows = []
    for index, who in enumerate(
        PEOPLE[:10]
    ):  # the English choose the first picture, four of five Germans too
        chosen = {"code": "tie"} if index == 1 else {"stimulus": 2, "present": True}
        rows.append((1, who, name, chosen))
    data = replace(study_data(marks()), answers=(answered(kind.key, rows),))
    (row,) = between(records(languages_table(data, parameters())), question=name)
    assert (row["estimate"], row["n"]) == (pytest.approx(0.8), 1)


def test_two_languages_that_few_people_read_are_not_compared():
    scale = next(question for question in KINDS["rubric"].questions if question.type == "scale")
    rows = [(1, who, scale.name, {"rating": scale.points[0].code}) for who in PEOPLE[:8]]
    data = replace(study_data(marks()), answers=(answered("rubric", rows),))
    assert between(records(languages_table(data, parameters()))) == []
