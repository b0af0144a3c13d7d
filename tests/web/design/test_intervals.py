"""The drawing of an interval in a table row matches its numbers."""

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from web.design.interval_svg import interval_svg, interval_words
from web.design.intervals import INSET, WIDTH, draw_interval

# The axis is 160 wide with 8 left free at each end: 144 from minimum to maximum.


def test_an_interval_lies_in_proportion_on_its_axis():
    drawing = draw_interval(2.5, 5, 7.5, minimum=0, maximum=10, reference=1)
    # 8 + 144 x 1/4, 1/2, 3/4, and 1/10 for the reference
    assert (drawing.span_start, drawing.estimate, drawing.span_end) == (44, 80, 116)
    assert drawing.reference == 22.4
    assert not drawing.beyond_start
    assert not drawing.beyond_end


def test_a_ratio_of_one_is_in_the_middle_of_a_symmetric_log_axis():
    drawing = draw_interval(0.5, 1, 2, minimum=0.25, maximum=4, scale="log")
    assert drawing.estimate == 80
    assert (drawing.span_start, drawing.span_end) == (44, 116)


def test_an_end_beyond_the_axis_stops_at_its_edge_and_is_marked():
    drawing = draw_interval(4, 9, 31, minimum=0, maximum=16)
    assert drawing.span_end == WIDTH - INSET
    assert drawing.beyond_end
    assert not drawing.beyond_start


def test_an_estimate_beyond_the_axis_has_no_dot_but_an_arrow():
    drawing = draw_interval(20, 25, 30, minimum=0, maximum=16)
    assert drawing.estimate is None
    assert drawing.span_start is None
    assert drawing.beyond_end


def test_a_likelihood_of_zero_on_a_log_axis_points_to_the_left():
    drawing = draw_interval(0, 0, 1, minimum=0.25, maximum=16, scale="log")
    assert drawing.beyond_start
    assert drawing.span_start == INSET


def test_an_axis_without_length_puts_its_only_value_in_the_middle():
    assert draw_interval(None, 3, None, minimum=3, maximum=3).estimate == WIDTH / 2


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"minimum": 2, "maximum": 1}, "minimum"),
        ({"minimum": 0, "maximum": 1, "scale": "log"}, "minimum"),
        ({"minimum": 0, "maximum": 1, "scale": "cubic"}, "scale"),
    ],
)
def test_an_impossible_axis_is_refused_by_name(arguments, named):
    with pytest.raises(ValueError, match=named):
        draw_interval(0.1, 0.2, 0.3, **arguments)


def test_a_low_end_above_the_high_end_is_refused():
    with pytest.raises(ValueError, match="low 3"):
        draw_interval(3, 2, 1, minimum=0, maximum=4)


values = st.floats(-1e6, 1e6)


@given(st.lists(values, min_size=3, max_size=3).map(sorted), st.tuples(values, values).map(sorted))
def test_everything_drawn_is_on_the_axis_and_in_order(interval, axis):
    low, estimate, high = interval
    drawing = draw_interval(low, estimate, high, minimum=axis[0], maximum=axis[1])
    drawn = [x for x in (drawing.span_start, drawing.estimate, drawing.span_end) if x is not None]
    assert drawn == sorted(drawn)
    assert all(INSET <= x <= WIDTH - INSET for x in drawn)
    assert drawn or drawing.beyond_start or drawing.beyond_end


def test_the_picture_says_its_numbers_in_words():
    svg = interval_svg(2.2, 3.1, 4.6, 0.25, 16, reference=1, scale="log", digits=2)
    assert "<title>3.10, 95 % interval 2.20 to 4.60</title>" in svg
    span = re.search(r'class="span" x1="([\d.]+)" y1="10.0" x2="([\d.]+)"', svg)
    # 8 + 144 x (ln 2.2 - ln 0.25) / (ln 16 - ln 0.25), worked by hand: 8 + 144 x 2.17475 / 4.15888
    assert float(span[1]) == pytest.approx(83.30, abs=0.01)
    assert float(span[2]) == pytest.approx(8 + 144 * math.log(4.6 / 0.25) / math.log(64), abs=0.01)


def test_an_estimate_without_interval_is_a_hollow_dot_with_its_reason():
    svg = interval_svg(None, 0.31, None, 0.25, 16, scale="log", digits=2, reason="too_sparse")
    assert 'class="estimate alone"' in svg
    assert 'class="span"' not in svg
    assert "<title>0.31, no interval: too sparse</title>" in svg


def test_a_missing_interval_without_a_known_reason_is_described_without_one():
    assert interval_words(None, 1.0, None, digits=1) == "1.0, no interval"


def test_an_interval_without_an_upper_end_is_an_arrow_and_says_so():
    drawn = interval_svg(2, 8, None, 0.5, 20, scale="log", reason="unbounded")
    assert "without an upper end" in drawn
    assert 'class="span"' in drawn
    assert 'class="beyond"' in drawn
