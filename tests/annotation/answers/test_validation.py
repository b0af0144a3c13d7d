"""Validation of answers: invalid ones are refused by the name of the field."""

import pytest

from annotation.answers.attribute_references import references
from annotation.answers.validation import Answer, instrument_version, seconds, submission_id
from annotation.assignment.leases import next_assignment
from foundation.errors import DomainError
from tests.annotation.factories import new_annotator

pytestmark = pytest.mark.django_db


@pytest.fixture
def task(marking):
    return next_assignment(campaign=marking, annotator=new_annotator(marking)).task


@pytest.fixture
def refs(task):
    return list(references(task))


def box(ref, **changes):
    return {"attribute": ref, "x": 0.1, "y": 0.1, "width": 0.5, "height": 0.5} | changes


def refused(data, task):
    with pytest.raises(DomainError) as refusal:
        Answer.parse(data, task)
    assert refusal.value.code == "answer_invalid"
    return refusal.value.fields


def test_ticks_and_boxes_are_read_by_reference(task, refs):
    asked = references(task)
    answer = Answer.parse({"ticked": refs[:1], "boxes": [box(refs[0]), box(refs[0], x=0.2)]}, task)
    assert answer.ticked == {asked[refs[0]]}
    assert [(one.attribute_id, one.x) for one in answer.boxes] == [
        (asked[refs[0]], 0.1),
        (asked[refs[0]], 0.2),
    ]
    assert answer.none_of_the_above is False


def test_a_reference_means_something_in_its_own_task_only(task, marking):
    other = marking.tasks.exclude(pk=task.pk).filter(image=task.image).get()
    foreign = next(iter(references(other)))
    assert refused({"ticked": [foreign], "boxes": [box(foreign)]}, task).keys() == {
        "answer.ticked",
        "answer.boxes.0.attribute",
    }
    assert not set(references(task)) & set(references(other))


def test_nothing_chosen_is_refused(task):
    assert "answer.ticked" in refused({"ticked": [], "boxes": [], "none_of_the_above": False}, task)
    assert "answer.ticked" in refused({}, task)


def test_none_of_the_above_goes_with_nothing_else(task, refs):
    assert "answer.none_of_the_above" in refused(
        {"ticked": refs[:1], "boxes": [box(refs[0])], "none_of_the_above": True}, task
    )
    assert Answer.parse({"none_of_the_above": True}, task).none_of_the_above is True


def test_a_tick_needs_a_box_where_the_campaign_says_so(task, refs):
    data = {"ticked": refs[:2], "boxes": [box(refs[0])]}
    assert list(refused(data, task)) == [f"answer.boxes.{refs[1]}"]
    task.campaign.boxes_required = False
    assert len(Answer.parse(data, task).boxes) == 1


def test_a_box_needs_its_tick(task, refs):
    data = {"ticked": refs[:1], "boxes": [box(refs[0]), box(refs[1])]}
    assert list(refused(data, task)) == ["answer.boxes.1.attribute"]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"x": float("nan")}, "x"),
        ({"y": float("inf")}, "y"),
        ({"x": "0.1"}, "x"),
        ({"x": None}, "x"),
        ({"x": True}, "x"),
        ({"x": -0.01}, "x"),
        ({"y": 1.01}, "y"),
        ({"x": 10**400}, "x"),
        ({"x": 1.0}, "width"),
        ({"width": 0}, "width"),
        ({"width": -0.1}, "width"),
        ({"height": 0.0}, "height"),
        ({"width": 0.95}, "width"),
        ({"height": 1e300}, "height"),
        ({"rotation": 3}, "rotation"),
    ],
)
def test_a_box_must_have_an_area_inside_the_picture(task, refs, change, field):
    data = {"ticked": refs[:1], "boxes": [box(refs[0], **change)]}
    assert f"answer.boxes.0.{field}" in refused(data, task)


def test_rounding_errors_at_the_edge_are_corrected(task, refs):
    data = {"ticked": refs[:1], "boxes": [box(refs[0], x=-1e-9, y=0.7, width=1 + 1e-9, height=0.3000000001)]}
    (kept,) = Answer.parse(data, task).boxes
    assert (kept.x, kept.width) == (0.0, 1.0)
    assert kept.y + kept.height <= 1


def test_at_most_fifty_boxes_for_one_answer(task, refs):
    fifty = [box(refs[0])] * 50
    assert len(Answer.parse({"ticked": refs[:1], "boxes": fifty}, task).boxes) == 50
    assert f"answer.boxes.{refs[0]}" in refused({"ticked": refs[:1], "boxes": [*fifty, box(refs[0])]}, task)
    assert "answer.boxes" in refused({"ticked": refs[:1], "boxes": fifty * 4}, task)


@pytest.mark.parametrize(
    ("data", "field"),
    [
        (None, "answer"),
        ([], "answer"),
        ({"ticked": "x"}, "answer.ticked"),
        ({"ticked": [3]}, "answer.ticked"),
        ({"ticked": [["x"]]}, "answer.ticked"),
        ({"ticked": ["unknown"]}, "answer.ticked"),
        ({"boxes": {}}, "answer.boxes"),
        ({"boxes": [3]}, "answer.boxes.0.attribute"),
        ({"boxes": [{"attribute": []}]}, "answer.boxes.0.attribute"),
        ({"none_of_the_above": 1}, "answer.none_of_the_above"),
        ({"none_of_the_above": True, "rating": 3}, "answer.rating"),
    ],
)
def test_malformed_answers_are_refused_by_field(task, data, field):
    assert field in refused(data, task)


def test_a_tick_given_twice_is_refused(task, refs):
    data = {"ticked": [refs[0], refs[0]], "boxes": [box(refs[0])]}
    assert list(refused(data, task)) == ["answer.ticked"]


@pytest.mark.parametrize(
    ("data", "field"),
    [
        ({}, "answer.rating"),
        ({"rating": 0}, "answer.rating"),
        ({"rating": 6}, "answer.rating"),
        ({"rating": "4"}, "answer.rating"),
        ({"rating": 4.0}, "answer.rating"),
        ({"rating": True}, "answer.rating"),
        ({"rating": 3}, "answer.justification"),
        ({"rating": 3, "justification": " \n"}, "answer.justification"),
        ({"rating": 3, "justification": "x" * 2001}, "answer.justification"),
        ({"rating": 4, "justification": ["x"]}, "answer.justification"),
        ({"rating": 3, "justification": "a\0b"}, "answer.justification"),
        ({"rating": 3, "justification": "half a letter \ud800"}, "answer.justification"),
        ({"rating": 4, "ticked": []}, "answer.ticked"),
    ],
)
def test_a_rating_is_one_of_five_and_unsure_says_why(rating, data, field):
    leased = next_assignment(campaign=rating, annotator=new_annotator(rating))
    assert field in refused(data, leased.task)


def test_a_reason_for_being_unsure_may_have_two_thousand_characters(rating):
    leased = next_assignment(campaign=rating, annotator=new_annotator(rating))
    answer = Answer.parse({"rating": 3, "justification": "x" * 2000}, leased.task)
    assert answer.justification == "x" * 2000


@pytest.mark.parametrize("raw", ["1", 0, -1, True, 1.0, 32_768, 10**18, [1]])
def test_a_version_of_the_guidelines_is_a_number_from_1(raw):
    with pytest.raises(DomainError, match="version"):
        instrument_version(raw)
    assert (instrument_version(32_767), instrument_version(None)) == (32_767, None)


@pytest.mark.parametrize("raw", ["", "x", None, 3, "0" * 31])
def test_a_submission_id_is_a_uuid(raw):
    with pytest.raises(DomainError, match="UUID"):
        submission_id(raw)


@pytest.mark.parametrize("raw", ["3", -1, float("nan"), float("inf"), True, 10**400])
def test_active_seconds_are_a_number_from_0(raw):
    with pytest.raises(DomainError, match="active_seconds"):
        seconds(raw)
