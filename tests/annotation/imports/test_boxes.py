"""Boxes in the formats of other tools."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.imports.boxes import CLIPPED, NO_AREA, SORTED, BoxFormat, boxes_of, parse_numbers

SIZE = (512, 512)
finite = st.floats(allow_nan=False, allow_infinity=False)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("", []),
        ("[]", []),
        ("['3.5,54', '507,-510.25']", [3.5, 54, 507, -510.25]),
        ("[[3, 54], [507, 510]]", [3, 54, 507, 510]),
        ("3 54 507 510", [3, 54, 507, 510]),
        ("(1e2; .5; 2.; +3)", [100, 0.5, 2, 3]),
    ],
)
def test_brackets_quotes_and_marks_only_separate_numbers(text, numbers):
    assert parse_numbers(text) == numbers


@pytest.mark.parametrize("text", ["[nan, nan]", "inf", "1,2,x", "0x10", "1e9999", "{'x': 1}", "--1", "1_000"])
def test_anything_else_is_refused_naming_the_cell(text):
    with pytest.raises(ValueError, match="are not coordinates"):
        parse_numbers(text)


@given(st.lists(finite))
def test_every_list_of_numbers_that_python_writes_is_read_back(numbers):
    assert parse_numbers(repr(numbers)) == numbers
    assert parse_numbers(repr([f"{number!r}" for number in numbers])) == numbers


@given(st.text(max_size=60))
def test_any_text_gives_finite_numbers_or_a_value_error(text):
    try:
        numbers = parse_numbers(text)
    except ValueError:
        return
    assert all(math.isfinite(number) for number in numbers)


@given(st.lists(finite, min_size=4, max_size=8), st.sampled_from(BoxFormat))
def test_any_numbers_give_a_box_inside_the_image_with_an_area(numbers, box_format):
    numbers = numbers[: len(numbers) // 4 * 4]
    boxes, repairs = boxes_of(numbers, box_format, SIZE)
    assert len(boxes) == len(numbers) // 4 or NO_AREA in repairs
    for box in boxes:
        assert box.x >= 0
        assert box.y >= 0
        assert box.width > 0
        assert box.height > 0
        assert box.x + box.width <= 1.000001
        assert box.y + box.height <= 1.000001


@given(st.permutations([0, 1]), st.permutations([0, 1]))
def test_the_order_of_corners_does_not_matter(across, down):
    xs, ys = (51.2, 256.0), (128.0, 384.0)
    numbers = [xs[across[0]], ys[down[0]], xs[across[1]], ys[down[1]]]
    ((box,), repairs) = boxes_of(numbers, BoxFormat.CORNERS, SIZE)
    assert (box.x, box.y, box.width, box.height) == pytest.approx((0.1, 0.25, 0.4, 0.5))
    assert repairs == (set() if across == [0, 1] and down == [0, 1] else {SORTED})


def test_a_box_that_reaches_outside_is_clipped_and_marked():
    ((box,), repairs) = boxes_of([-20, 128, 700, 256], BoxFormat.CORNERS, SIZE)
    assert (box.x, box.y, box.width, box.height) == (0, 0.25, 1, 0.25)
    assert box.clipped
    assert repairs == {CLIPPED}


def test_a_box_wholly_outside_is_dropped():
    assert boxes_of([520, 10, 600, 90], BoxFormat.CORNERS, SIZE) == ([], {CLIPPED, NO_AREA})


def test_left_top_width_height_in_pixels_or_percent():
    assert boxes_of([128, 256, 128, 64], BoxFormat.XYWH, SIZE)[0][0].width == 0.25
    ((box,), _) = boxes_of([25, 50, 25, 12.5], BoxFormat.PERCENT, None)
    assert (box.x, box.y, box.width, box.height) == (0.25, 0.5, 0.25, 0.125)


def test_a_cell_may_hold_several_boxes():
    assert len(boxes_of([0, 0, 10, 10, 20, 20, 30, 30], BoxFormat.CORNERS, SIZE)[0]) == 2


def test_a_box_has_four_numbers_and_pixels_need_a_size():
    with pytest.raises(ValueError, match="has 3 numbers"):
        boxes_of([1, 2, 3], BoxFormat.CORNERS, SIZE)
    with pytest.raises(ValueError, match="size of the image is not known"):
        boxes_of([1, 2, 3, 4], BoxFormat.CORNERS, None)
