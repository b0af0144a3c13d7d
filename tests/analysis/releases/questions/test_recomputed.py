"""Measures computed from the files of a release are those that `analyze` computes from the database."""

import io

import pandas as pd
import pytest
from django.core.management import call_command

from analysis.results.output.csv_tables import to_csv
from analysis.results.parameters import parameters_of
from analysis.results.questions.tables import question_results
from jobs.progress.reporter import Unwatched
from tests.analysis.questions.every_kind import answer_every_kind
from tests.analysis.releases.questions.reading import answers_of, campaigns_of

pytestmark = pytest.mark.django_db
KEYS = ["campaign", "question", "identity_group", "by", "item", "other", "code", "measure"]


def in_order(table: pd.DataFrame) -> pd.DataFrame:
    keys = [name for name in KEYS if name in table]
    return table.astype(dict.fromkeys(keys, str)).sort_values(keys, ignore_index=True)


def test_measures_of_released_answers_are_those_of_analyze(study, released, tmp_path):
    answer_every_kind(study)
    call_command("analyze", study="isles", output=tmp_path / "results", resamples=100, stdout=io.StringIO())
    _, folder = released(study, include_justifications=True)
    answers = [answers_of(folder, campaign) for campaign in campaigns_of(folder)]
    results = question_results(answers, parameters_of(study, resamples=100), Unwatched())
    assert set(results.tables) == {
        *("preferences", "rankings", "preference_pairs", "group_leaderboards", "position_bias"),
        *("scales", "choices"),
        *("question_differences", "question_agreement", "texts", "marked_words"),
    }
    for name, found in results.tables.items():
        computed = in_order(pd.read_csv(tmp_path / "results" / f"{name}.csv"))
        again = in_order(pd.read_csv(io.StringIO(to_csv(found))))
        assert len(computed)
        pd.testing.assert_frame_equal(again, computed, check_dtype=False, rtol=1e-9, obj=name)
