"""The registry of measures, and the check of the measures that kinds declare."""

import pytest

from analysis.results.question_tables import QUESTION_TABLES
from analysis.results.questions.checks import check_declared_measures, problems
from analysis.results.questions.registry import MEASURES, idle, measures_of, unknown, unread
from analysis.results.questions.tables import COMPUTED, tables_of
from annotation.kinds.questions import RankQuestion, TextQuestion
from annotation.kinds.registry import KINDS
from annotation.kinds.stimuli import Stimuli
from tests.analysis.questions.kinds import PAIR, RANKING, RUBRIC, both, kind, scale

pytestmark = pytest.mark.database_free


def test_every_measure_is_computed_and_has_its_table():
    assert set(COMPUTED) == set(MEASURES)
    assert {measure.table for measure in MEASURES.values()} <= set(QUESTION_TABLES)


def test_built_in_kinds_declare_existing_measures():
    assert check_declared_measures(None) == []
    assert problems(KINDS.values()) == []


def test_the_kinds_of_the_tests_use_every_measure_but_that_of_boxes():
    declared = {name for declaration in (PAIR, RANKING, RUBRIC) for name in declaration.measures}
    assert declared == set(MEASURES) - {"box_agreement"}
    assert problems([PAIR, RANKING, RUBRIC]) == []


def test_a_measure_that_does_not_exist_is_refused_at_start():
    faulty = PAIR.model_copy(update={"measures": (*PAIR.measures, "beauty")})
    assert unknown(faulty) == ["beauty"]
    assert [message.id for message in problems([faulty])] == ["stereoscope.E010"]


@pytest.mark.parametrize("name", ["plackett_luce", "shares", "texts", "point_agreement", "alpha_masi"])
def test_a_measure_with_nothing_to_read_is_refused_at_start(name):
    faulty = PAIR.model_copy(update={"measures": (*PAIR.measures, name)})
    assert idle(faulty) == [name]
    assert [message.id for message in problems([faulty])] == ["stereoscope.E011"]


def test_a_question_that_no_measure_reads_is_named():
    faulty = RUBRIC.model_copy(update={"measures": ("means",)})
    assert unread(faulty) == ["shows", "faults", "missing", "why"]
    assert {message.id for message in problems([faulty])} == {"stereoscope.W010"}


def test_a_measure_of_one_answer_does_not_read_several():
    read = {(question.name, measure.name) for question, measure in measures_of(RUBRIC)}
    assert ("shows", "alpha_nominal") in read
    assert ("faults", "alpha_masi") in read
    assert ("faults", "alpha_nominal") not in read
    assert ("shows", "alpha_masi") not in read


def test_points_are_read_where_points_are_asked_for():
    read = {question.name for question, measure in measures_of(RUBRIC) if measure.name == "point_agreement"}
    assert read == {"worst"}


def test_the_unit_decides_whether_a_measure_applies():
    """Strengths of rankings are of sets: a kind that takes single answers for its unit has none."""
    questions = (
        RankQuestion(name="order", label=both("Order")),
        TextQuestion(name="why", label=both("Why?")),
    )
    answers = kind(
        "answers",
        stimuli=Stimuli(medium="image", least=3, most=3),
        questions=questions,
        unit="answer",
        measures=("plackett_luce", "texts"),
    )
    assert idle(answers) == ["plackett_luce"]
    assert unread(answers) == ["order"]


def test_a_leaderboard_of_each_group_needs_screens_of_one_group():
    together = Stimuli(medium="image", least=2, most=2, differ="group")
    between_groups = PAIR.model_copy(
        update={
            "stimuli": together,
            "questions": PAIR.questions[:1],
            "measures": ("win_rate", "group_strengths"),
        }
    )
    assert idle(between_groups) == ["group_strengths"]
    assert idle(PAIR) == []


def test_tables_are_those_of_declared_measures():
    assert tables_of(RANKING) == ["rankings", "preference_pairs", "group_leaderboards", "question_agreement"]
    assert tables_of(PAIR) == [
        "preferences",
        "preference_pairs",
        "group_leaderboards",
        "position_bias",
        "scales",
        "question_differences",
    ]
    one = kind(
        "one",
        stimuli=Stimuli(medium="image"),
        questions=(scale("a"),),
        unit="image",
        measures=("means",),
    )
    assert tables_of(one) == ["scales"]
