"""Answers to declared questions: rules refuse by the name of the field, and valid answers are returned unchanged."""

import copy
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.answers.questions.validation import checked
from annotation.answers.questions.values import ScreenQuestions
from annotation.kinds.questions import (
    AskedAfter,
    CompareQuestion,
    RankQuestion,
    Region,
    SpanQuestion,
    TextQuestion,
)
from annotation.kinds.stimuli import Stimuli
from foundation.errors import DomainError
from tests.annotation.kinds.examples import PAIRWISE, RANKING, RUBRIC, choice, declared, scale, texts
from tests.annotation.kinds.strategies import answers_to, screens

pytestmark = pytest.mark.database_free

RUBRIC_SCREEN = ScreenQuestions(RUBRIC, ("s1",), words=5)
PAIR_SCREEN = ScreenQuestions(PAIRWISE, ("s1", "s2"))
RANKING_SCREEN = ScreenQuestions(RANKING, ("s1", "s2", "s3"), regions_required=True)
RUBRIC_ANSWER = {"fitting": 4, "missing": [0, 2], "faults": ["hands"]}
RANKING_ANSWER = {"odd": {"s1": 1, "s2": 1, "s3": 1}, "order": {"s1": 1, "s2": 2, "s3": 3}}
BOX = {"stimulus": "s1", "x": 0.1, "y": 0.2, "width": 0.3, "height": 0.4}
POINT = {"stimulus": "s3", "x": 0.1, "y": 0.2}


def read(screen, answers, regions=None):
    return checked({"answers": answers, "regions": regions or {}}, screen).as_json(screen.kind)


def refused(screen, answers, regions=None):
    with pytest.raises(DomainError) as error:
        checked({"answers": answers, "regions": regions or {}}, screen)
    assert error.value.code == "answer_invalid"
    assert str(error.value)
    return error.value.fields


@given(st.data())
@settings(max_examples=400)
def test_every_valid_answer_comes_back_as_it_was(data):
    screen = data.draw(screens())
    answer = data.draw(answers_to(screen))
    assert checked(answer, screen).as_json(screen.kind) == answer
    assert checked(json.loads(json.dumps(answer)), screen) == checked(answer, screen)


def paths(value, path=()):
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from paths(inner, (*path, key))


ODD_VALUES = [
    None,
    True,
    0,
    2,
    99,
    -1,
    0.5,
    1e400,
    "",
    "a",
    "s1",
    "s9",
    "tie",
    "a\0",
    "\ud800",
    [],
    ["a"],
    [1, 1],
    {},
    {"s1": 1},
]


@given(st.data())
@settings(max_examples=600)
def test_a_corrupted_answer_is_refused_or_valid(data):
    screen = data.draw(screens())
    answer = copy.deepcopy(data.draw(answers_to(screen)))
    path = data.draw(st.sampled_from([path for path in paths(answer) if path]))
    parent = answer
    for key in path[:-1]:
        parent = parent[key]
    change = data.draw(st.sampled_from(["value", "drop", "add"]))
    if change == "drop":
        del parent[path[-1]]
    elif change == "add" and isinstance(parent, dict):
        parent[data.draw(st.sampled_from(["s1", "s9", "q0", "q5", "x", "\ud800"]))] = parent[path[-1]]
    else:
        parent[path[-1]] = data.draw(st.sampled_from(ODD_VALUES))
    fields = fields_refused(answer, screen)
    json.dumps(sorted(fields), ensure_ascii=False).encode()
    assert all(name.startswith("answer.") for name in fields)
    if not fields:
        read_answer = checked(answer, screen)
        assert checked(read_answer.as_json(screen.kind), screen) == read_answer


def fields_refused(answer, screen):
    """Return the refused fields, none if the answer is valid."""
    try:
        checked(answer, screen)
    except DomainError as error:
        return error.fields or ["no field is named"]
    return []


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"fitting": 0}, "answers.fitting"),
        ({"fitting": 6}, "answers.fitting"),
        ({"fitting": True}, "answers.fitting"),
        ({"fitting": "4"}, "answers.fitting"),
        ({"fitting": 4.0}, "answers.fitting"),
        ({"fitting": None}, "answers.fitting"),
        ({"missing": [5]}, "answers.missing"),
        ({"missing": [-1]}, "answers.missing"),
        ({"missing": [1, 1]}, "answers.missing"),
        ({"missing": [True]}, "answers.missing"),
        ({"missing": "kite"}, "answers.missing"),
        ({"faults": []}, "answers.faults"),
        ({"faults": "hands"}, "answers.faults"),
        ({"faults": ["hands", "hands"]}, "answers.faults"),
        ({"faults": ["feet"]}, "answers.faults"),
        ({"faults": ["hands", "none"]}, "answers.faults"),
        ({"faults": [["hands"]]}, "answers.faults"),
        ({"colour": 1}, "answers.colour"),
        ({"why": "Because."}, "answers.why"),  # asked only of what does not fit
    ],
)
def test_a_wrong_answer_is_refused_by_the_name_of_its_question(change, field):
    assert list(refused(RUBRIC_SCREEN, RUBRIC_ANSWER | change)) == [f"answer.{field}"]


@pytest.mark.parametrize("name", RUBRIC_ANSWER)
def test_a_required_question_has_to_be_answered(name):
    answers = {key: value for key, value in RUBRIC_ANSWER.items() if key != name}
    assert list(refused(RUBRIC_SCREEN, answers)) == [f"answer.answers.{name}"]


@pytest.mark.parametrize("text", ["a\0b", "half a letter \ud800", "x" * 201, ["x"], 3, None])
def test_texts_of_wrong_type_or_length_are_refused(text):
    assert "answer.answers.why" in refused(RUBRIC_SCREEN, RUBRIC_ANSWER | {"fitting": 1, "why": text})


def test_a_text_may_be_as_long_as_its_question_allows():
    kept = read(RUBRIC_SCREEN, RUBRIC_ANSWER | {"fitting": 1, "why": "x" * 200})["answers"]
    assert kept["why"] == "x" * 200


@pytest.mark.parametrize("reason", ["size", "Colour", "tie", "", 0, None, ["colour"], {"colour": True}])
def test_the_answer_to_a_choice_is_one_of_those_offered(reason):
    assert list(refused(PAIR_SCREEN, {"better": "s1", "reason": reason})) == ["answer.answers.reason"]


def test_a_blank_text_is_no_answer_if_optional_and_refused_if_required():
    assert "why" not in read(RUBRIC_SCREEN, RUBRIC_ANSWER | {"fitting": 1, "why": " \n"})["answers"]
    kind = declared("words", Stimuli(medium="image"), TextQuestion(name="why", label=texts("Why?")))
    screen = ScreenQuestions(kind, ("s1",))
    assert "answer.answers.why" in refused(screen, {"why": " \n"})
    assert read(screen, {"why": " so \n"})["answers"] == {"why": "so"}


def test_an_empty_choice_of_words_is_valid_only_where_offered():
    assert read(RUBRIC_SCREEN, RUBRIC_ANSWER | {"missing": []})["answers"]["missing"] == []
    span = SpanQuestion(name="missing", label=texts("Which?"))
    screen = ScreenQuestions(declared("words", Stimuli(medium="text"), span), ("s1",), words=2)
    assert "answer.answers.missing" in refused(screen, {"missing": []})


def test_lists_are_kept_in_the_order_of_the_declaration_and_the_text():
    answers = RUBRIC_ANSWER | {"faults": ["text", "hands"], "missing": [4, 1]}
    kept = read(RUBRIC_SCREEN, answers)["answers"]
    assert (kept["faults"], kept["missing"]) == (["hands", "text"], [1, 4])


@pytest.mark.parametrize("better", ["s3", "prompt", 0, 1, None, ["s1"], "better"])
def test_a_comparison_names_one_of_the_two(better):
    assert "answer.answers.better" in refused(PAIR_SCREEN, {"better": better, "reason": "colour"})


def test_a_tie_is_an_answer_only_where_it_is_offered():
    assert read(PAIR_SCREEN, {"better": "tie"})["answers"] == {"better": "tie"}
    strict = declared("strict", PAIRWISE.stimuli, CompareQuestion(name="better", label=texts("Which?")))
    assert "answer.answers.better" in refused(ScreenQuestions(strict, ("s1", "s2")), {"better": "tie"})


def test_a_question_after_a_comparison_depends_on_its_answer():
    assert list(refused(PAIR_SCREEN, {"better": "s2"})) == ["answer.answers.reason"]
    assert list(refused(PAIR_SCREEN, {"better": "tie", "reason": "colour"})) == ["answer.answers.reason"]


@pytest.mark.parametrize(
    "order",
    [
        {"s1": 1, "s2": 2},
        {"s1": 1, "s2": 2, "s3": 4},
        {"s1": 1, "s2": 1, "s3": 2},  # two first places are followed by the third
        {"s1": 0, "s2": 1, "s3": 2},
        {"s1": 2, "s2": 2, "s3": 2},
        {"s1": 1, "s2": 2, "s3": 3, "s4": 4},
        {"s1": 1, "s2": 2, "s3": True},
        {"s1": True, "s2": 2, "s3": 3},
        {"s1": 1, "s2": 2, "s3": 3.0},
        {"s1": 1, "s2": 2, "s3": "3"},
        ["s1", "s2", "s3"],
    ],
)
def test_a_ranking_has_no_gaps_and_places_everything(order):
    assert list(refused(RANKING_SCREEN, RANKING_ANSWER | {"order": order})) == ["answer.answers.order"]


@pytest.mark.parametrize(
    "order", [{"s1": 1, "s2": 1, "s3": 3}, {"s1": 1, "s2": 2, "s3": 2}, {"s1": 1, "s2": 1, "s3": 1}]
)
def test_ties_share_a_place_only_where_the_question_allows_them(order):
    assert read(RANKING_SCREEN, RANKING_ANSWER | {"order": order})["answers"]["order"] == order
    strict = declared("strict", RANKING.stimuli, RankQuestion(name="order", label=texts("Order?")))
    assert "answer.answers.order" in refused(ScreenQuestions(strict, ("s1", "s2", "s3")), {"order": order})


def test_a_question_about_each_stimulus_is_answered_for_each():
    for odd, field in (
        ({"s1": 1, "s2": 1}, "odd.s3"),
        ({"s1": 1, "s2": 1, "s3": 9}, "odd.s3"),
        ({"s1": 1, "s2": 1, "s3": 1, "s4": 1}, "odd.s4"),
        (1, "odd"),
        ([1, 1, 1], "odd"),
    ):
        assert list(refused(RANKING_SCREEN, RANKING_ANSWER | {"odd": odd})) == [f"answer.answers.{field}"]


def test_a_condition_applies_to_each_stimulus_separately():
    odd = {"odd": {"s1": 1, "s2": 1, "s3": 3}}
    regions = {"odd": [POINT]}
    answers = RANKING_ANSWER | odd | {"oddity": {"s3": "large"}}
    assert read(RANKING_SCREEN, answers, regions) == {"answers": answers, "regions": regions}
    wrong = refused(RANKING_SCREEN, answers | {"oddity": {"s2": "large"}}, regions)
    assert list(wrong) == ["answer.answers.oddity.s2"]


def test_a_question_after_one_that_was_answered_wrongly_is_not_complained_about():
    for why in ({}, {"why": "Because."}):
        answers = RUBRIC_ANSWER | {"fitting": 9} | why
        assert list(refused(RUBRIC_SCREEN, answers)) == ["answer.answers.fitting"]


def test_questions_that_depend_on_an_unasked_question_are_not_asked():
    kind = declared(
        "chain",
        Stimuli(medium="image"),
        scale("first"),
        scale("second", when=AskedAfter(question="first", answers=(1,))),
        choice("third", ("yes", "no"), when=AskedAfter(question="second", answers=(1,))),
    )
    screen = ScreenQuestions(kind, ("s1",))
    assert read(screen, {"first": 2})["answers"] == {"first": 2}
    assert list(refused(screen, {"first": 2, "third": "yes"})) == ["answer.answers.third"]
    assert list(refused(screen, {"first": 1, "second": 1})) == ["answer.answers.third"]


@pytest.mark.parametrize(
    ("place", "field"),
    [
        ({"x": 1.1}, "0.x"),
        ({"x": "0"}, "0.x"),
        ({"width": 0}, "0.width"),
        ({"width": 0.95}, "0.width"),
        ({"height": None}, "0.height"),
        ({"y": 1e400}, "0.y"),
        ({"stimulus": "s2"}, "0.stimulus"),
        ({"stimulus": ["s1"]}, "0.stimulus"),
        ({"stimulus": "prompt"}, "0.stimulus"),
        ({"label": "x"}, "0.label"),
    ],
)
def test_a_wrong_box_is_refused_by_its_side(place, field):
    regions = {"fitting": [BOX | place]}
    wrong = refused(RUBRIC_SCREEN, RUBRIC_ANSWER | {"fitting": 1}, regions)
    assert list(wrong) == [f"answer.regions.fitting.{field}"]


@pytest.mark.parametrize(
    ("place", "field"),
    [
        ({"x": -0.1}, "0.x"),
        ({"y": 1.1}, "0.y"),
        ({"y": "0"}, "0.y"),
        ({"x": True}, "0.x"),
        ({"x": 1e400}, "0.x"),
        ({"width": 0.1}, "0.width"),
    ],
)
def test_a_wrong_point_is_refused_by_its_side(place, field):
    screen = ScreenQuestions(RANKING, RANKING_SCREEN.refs, regions_required=False)
    odd = RANKING_ANSWER | {"odd": {"s1": 1, "s2": 1, "s3": 3}}
    assert list(refused(screen, odd, {"odd": [POINT | place]})) == [f"answer.regions.odd.{field}"]


def test_a_place_is_accepted_only_with_an_answer_that_asks_for_it():
    for answers, regions, field in (
        (RUBRIC_ANSWER, {"fitting": [BOX]}, "fitting.0.stimulus"),  # it fits well
        (RUBRIC_ANSWER, {"faults": [BOX]}, "faults"),
        (RUBRIC_ANSWER, {"fitting": BOX}, "fitting"),
        (RUBRIC_ANSWER, {"nothing": []}, "nothing"),
    ):
        assert list(refused(RUBRIC_SCREEN, answers, regions)) == [f"answer.regions.{field}"]


def test_a_place_is_needed_where_the_kind_or_else_the_lead_requires_it():
    odd = RANKING_ANSWER | {"odd": {"s1": 3, "s2": 1, "s3": 3}}
    assert list(refused(RANKING_SCREEN, odd, {"odd": [POINT]})) == ["answer.regions.odd.s1"]
    relaxed = ScreenQuestions(RANKING, RANKING_SCREEN.refs, regions_required=False)
    assert read(relaxed, odd, {"odd": [POINT]})["regions"] == {"odd": [POINT]}
    for required in (True, False):
        kind = declared(
            "place", Stimuli(medium="image"), scale("fit", region=Region(shape="box", required=required))
        )
        screen = ScreenQuestions(kind, ("s1",), regions_required=not required)
        if required:
            assert list(refused(screen, {"fit": 1})) == ["answer.regions.fit"]
        else:
            assert read(screen, {"fit": 1})["regions"] == {}
        practised = ScreenQuestions(kind, ("s1",), regions_required=None)
        assert read(practised, {"fit": 1})["regions"] == {}


def test_at_most_fifty_places_for_one_answer():
    low = RUBRIC_ANSWER | {"fitting": 1}
    assert len(read(RUBRIC_SCREEN, low, {"fitting": [BOX] * 50})["regions"]["fitting"]) == 50
    assert list(refused(RUBRIC_SCREEN, low, {"fitting": [BOX] * 51})) == ["answer.regions.fitting"]
    many = RANKING_ANSWER | {"odd": {"s1": 3, "s2": 1, "s3": 3}}
    points = [POINT] * 51 + [POINT | {"stimulus": "s1"}]
    assert list(refused(RANKING_SCREEN, many, {"odd": points})) == ["answer.regions.odd.s3"]


def test_a_place_on_the_edge_is_moved_inside():
    (box,) = read(
        RUBRIC_SCREEN, RUBRIC_ANSWER | {"fitting": 1}, {"fitting": [BOX | {"x": -1e-9, "width": 1 + 1e-9}]}
    )["regions"]["fitting"]
    assert (box["x"], box["width"]) == (0.0, 1.0)
    odd = RANKING_ANSWER | {"odd": {"s1": 1, "s2": 1, "s3": 3}}
    (point,) = read(RANKING_SCREEN, odd, {"odd": [POINT | {"x": 1 + 1e-9, "y": -1e-9}]})["regions"]["odd"]
    assert (point["x"], point["y"]) == (1.0, 0.0)


@pytest.mark.parametrize(
    "data",
    [{"answers": []}, {"answers": RUBRIC_ANSWER, "regions": []}, {"answers": RUBRIC_ANSWER, "rating": 3}],
)
def test_an_answer_of_another_shape_is_refused(data):
    with pytest.raises(DomainError) as error:
        checked(data, RUBRIC_SCREEN)
    assert len(error.value.fields) == 1
