"""The plain form of a kind of questions: restored answers, and reading of the submitted form."""

import json

import pytest
from django.http import QueryDict

from annotation.annotator.questions import questions_payload
from annotation.annotator.screen.form import competition_ranks, posted_answer
from annotation.annotator.screen.questions import QuestionScreen
from annotation.kinds.declaration import Kind
from annotation.kinds.questions import (
    AskedAfter,
    CompareQuestion,
    RankQuestion,
    Region,
    SpanQuestion,
    TextQuestion,
)
from annotation.kinds.registry import frozen
from annotation.kinds.stimuli import Stimuli
from annotation.models import Campaign
from tests.annotation.annotator.scripts.pages import marking, task_page
from tests.annotation.kinds.examples import choice, declared, scale, texts

pytestmark = pytest.mark.database_free

AFTER_BAD = AskedAfter(question="quality", answers=(1,))
ONE = Stimuli(medium="image", prompt_shown=True)
PAIR = Stimuli(medium="image", least=2, most=2)
FEW = Stimuli(medium="image", least=3, most=4)
WHY = TextQuestion(name="why", label=texts("Why?"), when=AFTER_BAD)
SPAN = SpanQuestion(name="missed", label=texts("Which words?"), none=texts("None"))
RANK = RankQuestion(name="order", label=texts("Which order?"), ties=True)
BETTER = CompareQuestion(name="better", label=texts("Which one?"), tie=texts("Same"))
SHARED = {"s1": 1, "s2": 1, "s3": 3}


def read(kind: Kind, posted: str):
    campaign = Campaign(kind=kind.key, declaration=frozen(kind))
    return posted_answer(QueryDict(posted), campaign)["answers"]


@pytest.mark.parametrize(
    ("questions", "stimuli", "posted", "answers"),
    [
        ([scale("quality")], ONE, "answers.quality=3", {"quality": 3}),
        ([scale("quality", codes=(-1, 0, 4))], ONE, "answers.quality=-1", {"quality": -1}),
        ([scale("quality")], ONE, "answers.quality=good", {}),
        ([scale("quality")], ONE, "", {}),
        ([choice("fault", ("a", "b"))], ONE, "answers.fault=b", {"fault": "b"}),
        ([choice("fault", ("a", "b"), several=True)], ONE, "answers.fault=a&answers.fault=b", {"fault": ["a", "b"]}),
        ([choice("fault", ("a", "b"), several=True)], ONE, "", {}),
        ([BETTER], PAIR, "answers.better=s2", {"better": "s2"}),
        ([BETTER], PAIR, "answers.better=tie", {"better": "tie"}),
        ([RANK], FEW, "answers.order.s1=2&answers.order.s2=2&answers.order.s3=4", {"order": SHARED}),
        ([RANK], FEW, "answers.order.s1=x", {}),
        ([SPAN], ONE, "answers.missed=0&answers.missed=4", {"missed": [0, 4]}),
        ([SPAN], ONE, "answers.missed=none&answers.missed=4", {"missed": [-1, 4]}),
        ([SPAN], ONE, "", {}),
        ([scale("quality", each=True)], PAIR, "answers.quality.s2=3", {"quality": {"s2": 3}}),
        ([scale("quality"), WHY], ONE, "answers.quality=1&answers.why=Dark", {"quality": 1, "why": "Dark"}),
        ([scale("quality"), WHY], ONE, "answers.quality=3&answers.why=Dark", {"quality": 3}),
        ([scale("quality"), WHY], ONE, "answers.why=Dark", {}),
        ([scale("quality"), WHY], ONE, "answers.quality=1&answers.why=+", {"quality": 1}),
    ],
)  # fmt: skip
def test_plain_forms_are_read_like_requests_of_the_api(questions, stimuli, posted, answers):
    assert read(declared("posted", stimuli, *questions), posted) == answers


def test_without_scripts_questions_not_asked_of_a_picture_are_left_out():
    questions = [
        scale("quality", each=True),
        TextQuestion(name="why", label=texts("Why?"), each=True, when=AFTER_BAD),
    ]
    kind = declared("each", PAIR, *questions)
    posted = "answers.quality.s1=1&answers.quality.s2=3&answers.why.s1=Dark&answers.why.s2=Fine"
    assert read(kind, posted) == {"quality": {"s1": 1, "s2": 3}, "why": {"s1": "Dark"}}


@pytest.mark.parametrize(("answer", "asked"), [("s1", True), ("s2", False), ("tie", False)])
def test_conditions_refer_to_compared_stimuli_by_position(answer, asked):
    after_first = AskedAfter(question="better", answers=(0,))
    kind = declared("pair", PAIR, BETTER, TextQuestion(name="why", label=texts("Why?"), when=after_first))
    assert ("why" in read(kind, f"answers.better={answer}&answers.why=Dark")) is asked


@pytest.mark.parametrize(
    ("places", "ranks"),
    [((1, 2, 3), (1, 2, 3)), ((1, 1, 2), (1, 1, 3)), ((2, 2, 2), (1, 1, 1)), ((4, 1, 1), (3, 1, 1))],
)
def test_places_become_competition_ranks(places, ranks):
    refs = ("s1", "s2", "s3")
    assert competition_ranks(dict(zip(refs, places, strict=True))) == dict(zip(refs, ranks, strict=True))


def payload_of(kind: Kind, pictures: int = 1):
    image = {"url": "/a.png", "width": 64, "height": 64}
    stimuli = [{"ref": f"s{number}", "image": image} for number in range(1, pictures + 1)]
    if kind.stimuli.prompt_shown:
        stimuli.append({"ref": "prompt", "text": "a red kite"})
    return marking(attributes=[]) | questions_payload(kind, stimuli, regions_required=True)


def test_the_page_shows_what_was_answered_before():
    kind = declared("again", ONE, scale("quality"), WHY, SPAN, choice("fault", ("a", "b"), several=True))
    answers = {"quality": 1, "why": "Dark", "missed": [1], "fault": ["b"]}
    text = task_page(payload_of(kind) | {"answer": {"answers": answers, "regions": {}}})
    checked = [tag for tag in text.split("<input") if "checked" in tag and 'name="answers.' in tag]
    assert [tag.split('value="')[1].split('"')[0] for tag in checked] == ["1", "1", "b"]
    assert ">Dark</textarea>" in text


@pytest.mark.parametrize(
    ("stimuli", "pictures", "question", "value", "shown"),
    [
        (FEW, 3, RANK, {"s1": 2, "s2": 1, "s3": 2}, ["2", "1", "2"]),
        (PAIR, 2, BETTER, "tie", ["tie"]),
        (PAIR, 2, scale("quality", each=True), {"s1": 3, "s2": 1}, ["3", "1"]),
        (ONE, 1, SPAN, [], ["none"]),
    ],
)
def test_each_shape_of_answer_is_shown_again(stimuli, pictures, question, value, shown):
    kind = declared("shape", stimuli, question)
    answer = {"answers": {question.name: value}, "regions": {}}
    text = task_page(payload_of(kind, pictures) | {"answer": answer})
    checked = [tag for tag in text.split("<input") if "checked" in tag and 'name="answers.' in tag]
    assert [tag.split('value="')[1].split('"')[0] for tag in checked] == shown


def test_without_scripts_a_condition_is_read():
    text = task_page(payload_of(declared("read", ONE, scale("quality"), WHY)))
    assert "Answer this question only if you answered:" in text
    assert "How quality?" in text
    assert "“quality 1”" in text


@pytest.mark.parametrize(
    ("kind", "pictures", "arrangement"),
    [
        (declared("pair", PAIR, BETTER), 2, "below"),
        (declared("pair", PAIR, BETTER, scale("quality", each=True)), 2, "beside"),
        (declared("one", ONE, scale("quality")), 1, "beside"),
        (declared("few", FEW, RANK), 3, "beside"),
    ],
)
def test_few_questions_are_below_a_pair_and_others_beside_the_stimuli(kind, pictures, arrangement):
    payload = payload_of(kind, pictures)
    assert QuestionScreen.of(payload, {}).arrangement == arrangement


def test_without_scripts_the_page_says_that_places_need_them():
    kind = declared("place", ONE, scale("quality", region=Region(shape="point", after=(1,))))
    payload = payload_of(kind)
    assert payload["questions"][0]["region"]["required"] is True
    assert "needs JavaScript" in task_page(payload)


@pytest.mark.parametrize(
    ("codes", "keys"),
    [
        ((5, 4, 2, 1, 3), ["5", "4", "2", "1", "3"]),
        ((-1, 0, 4), ["1", "2", "3"]),
        (tuple(range(0, 110, 10)), [*"123456789", "", ""]),
    ],
)
def test_the_key_of_a_point_is_its_number_where_all_have_one_digit(codes, keys):
    payload = payload_of(declared("keys", ONE, scale("quality", codes=codes)))
    (asked,) = QuestionScreen.of(payload, {}).asked
    assert [option.key for option in asked.parts[0].options] == keys


def test_the_page_embeds_exactly_the_payload():
    kind = declared("json", ONE, SPAN)
    payload = payload_of(kind)
    text = task_page(payload)
    embedded = text.split('id="task-payload" type="application/json">')[1].split("</script>")[0]
    assert json.loads(embedded) == payload
