"""Converting annotations: the same answers as on our own pages, or a refusal with a reason."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.answers.validation import Answer, AnswerBox
from annotation.label_studio.base.reasons import instead_of_result
from annotation.label_studio.format.writer import Answer as Written
from annotation.label_studio.format.writer import Rectangle, Screen, annotation_of
from annotation.label_studio.labels.convert import Question, Unreadable, read_answer
from tests.annotation.label_studio.payloads import choices, marks, rating, rectangle

MARKING = Question(rates=False, boxes_required=True, attributes={"kite": 1, "drum": 2, "green hat": 3})
WITHOUT_BOXES = Question(rates=False, boxes_required=False, attributes=MARKING.attributes)
RATING = Question(rates=True, boxes_required=True, attributes={"kite": 1})


def turned(**more) -> list[dict]:
    return [choices("present", "kite"), rectangle("kite", **more)]


def test_ticks_and_boxes_are_read_as_drawn():
    assert read_answer(marks("kite"), MARKING) == Answer(
        ticked=frozenset({1}), boxes=(AnswerBox(1, 0.1, 0.2, 0.3, 0.4),), none_of_the_above=False
    )


def test_a_box_ticks_its_attribute():
    assert read_answer([rectangle("kite")], MARKING).ticked == {1}


def test_words_are_compared_as_attributes_are_stored():
    assert read_answer([rectangle("  Green  HAT ")], MARKING).ticked == {3}


@pytest.mark.parametrize("said", ["yes", "None of the above"])
def test_none_of_the_above_is_an_answer(said):
    assert read_answer([choices("none_of_the_above", said)], MARKING) == Answer(none_of_the_above=True)


def test_ticks_need_boxes_only_where_the_campaign_asks_for_them():
    ticked = [choices("present", "kite")]
    assert read_answer(ticked, WITHOUT_BOXES).ticked == {1}
    with pytest.raises(Unreadable, match="kite: Draw a box"):
        read_answer(ticked, MARKING)


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        ([], "Tick what the picture shows"),
        (None, "not a list"),
        (instead_of_result("too large"), "too large"),
        ([None], "not an object"),
        ([{"value": 3}], "not an object"),
        ([choices("none_of_the_above", "yes"), *marks("kite")], "together with a tick"),
        ([choices("none_of_the_above", "perhaps")], "not a valid answer for"),
        ([choices("none_of_the_above", "yes")] * 2, "answered 2 times"),
        (marks("lamp"), "“lamp” is not one of the attributes"),
        (turned(rotation=12), "rotated"),
        (turned(x=-5), "outside the picture"),
        (turned(x=99, width=2), "outside the picture"),
        (turned(x=10, width=0), "no area"),
        (turned(x="10"), "not a number"),
        (turned(x=10**400), "not a number"),
        (turned(x=float("nan")), "not a number"),
        ([rectangle("kite") | {"image_rotation": 90}], "rotated"),
        ([rectangle("kite", rectanglelabels=[])], "no label"),
        ([rectangle("kite", rectanglelabels=[""])], "empty"),
        ([rectangle("kite", rectanglelabels=["\ud800"])], "half a character"),
        ([rectangle("kite")] * 51, "At most 50"),
        (rating(4), "a rating, but the task asks for marks"),
    ],
)
def test_invalid_answers_are_refused_with_the_reason(result, reason):
    with pytest.raises(Unreadable, match=reason):
        read_answer(result, MARKING)


def test_ratings_are_read():
    assert read_answer(rating(4), RATING) == Answer(rating=4)
    assert read_answer(rating(3, "it may be a sail"), RATING) == Answer(
        rating=3, justification="it may be a sail"
    )


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        ([], "no rating"),
        (rating(3), "why you are unsure"),
        (rating(3, "  "), "why you are unsure"),
        (rating(9), "not one of the five"),
        ([choices("rating", "1", "2")], "has 2 answers"),
        ([*rating(1), *rating(2)], "answered 2 times"),
        ([choices("rating", "Agree")], "not one of the five"),
        (marks("kite"), "marks attributes, but the task asks for a rating"),
        (rating(3, "x" * 2001), "at most 2,000"),
        (rating(3, "a \0 b"), "Write text"),
    ],
)
def test_invalid_ratings_are_refused_with_the_reason(result, reason):
    with pytest.raises(Unreadable, match=reason):
        read_answer(result, RATING)


def test_only_rounding_errors_are_clipped_at_the_edge():
    box = read_answer(turned(x=70.00005, width=30), MARKING).boxes[0]
    assert box.x + box.width <= 1
    assert abs(box.width - 0.3) <= 1e-6
    with pytest.raises(Unreadable, match="outside"):
        read_answer(turned(x=70.001, width=30), MARKING)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["from_name", "type", "value", "choices", "x", "rectanglelabels", "text"]), inner
        )
    ),
    max_leaves=12,
)
names = st.sampled_from(["present", "box", "none_of_the_above", "rating", "justification", "other"])


@given(
    st.lists(st.fixed_dictionaries({"from_name": names, "type": json_values, "value": json_values}))
    | json_values
)
def test_no_response_of_a_server_breaks_the_reader(result):
    for asked in (MARKING, RATING, WITHOUT_BOXES):
        assert isinstance(said(result, asked), Answer) or 0 < len(said(result, asked)) <= 300


def said(result, asked) -> Answer | str:
    try:
        return read_answer(result, asked)
    except Unreadable as refusal:
        return str(refusal)


@st.composite
def boxes(draw):
    x, y = (draw(st.floats(0, 0.999)) for _ in range(2))
    return AnswerBox(
        draw(st.sampled_from([1, 2, 3])), x, y, draw(st.floats(1e-6, 1 - x)), draw(st.floats(1e-6, 1 - y))
    )


@given(st.lists(boxes(), min_size=1, max_size=8))
def test_boxes_survive_a_round_trip_to_label_studio(drawn):
    texts = {number: text for text, number in MARKING.attributes.items()}
    ticked: dict[str, list[Rectangle]] = {}
    for box in drawn:
        ticked.setdefault(texts[box.attribute_id], []).append(Rectangle(box.x, box.y, box.width, box.height))
    sent = annotation_of(Screen(1, tuple(MARKING.attributes), image="i"), Written(1, "a", ticked, False))
    back = read_answer(sent["result"], MARKING)
    assert back.ticked == {box.attribute_id for box in drawn}
    for before, after in zip(sorted(drawn, key=_place), sorted(back.boxes, key=_place), strict=True):
        assert before.attribute_id == after.attribute_id
        for side in ("x", "y", "width", "height"):
            assert abs(getattr(before, side) - getattr(after, side)) <= 1e-6
        assert after.x + after.width <= 1 + 1e-6


def _place(box: AnswerBox) -> tuple:
    return box.attribute_id, round(box.x, 9), round(box.y, 9), round(box.width, 9)
