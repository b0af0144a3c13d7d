"""Numbers have the same format everywhere."""

import math
from decimal import Decimal

import numpy as np
import pytest

from foundation.formats import format_duration, format_number, format_percent, is_null, reason_text


@pytest.mark.parametrize(
    ("value", "digits", "written"),
    [
        (122675, None, "122,675"),
        (np.int64(7), None, "7"),
        (3.14159, None, "3.14"),
        (np.float32(0.5), 1, "0.5"),
        (Decimal("2.005"), 1, "2.0"),
        (-0.25, 2, "\u22120.25"),
        (-0.001, 2, "0.00"),
        (1999.5, 0, "2,000"),
        (None, 2, "—"),
        (math.nan, 2, "—"),
        (math.inf, 2, "—"),
        ("", 0, "—"),
    ],
)
def test_a_number_is_written_for_people(value, digits, written):
    assert format_number(value, digits) == written


def test_a_difference_shows_its_sign_unless_it_rounds_to_nothing():
    assert format_number(0.5, 1, signed=True) == "+0.5"
    assert format_number(-0.5, 1, signed=True) == "\u22120.5"
    assert format_number(0.01, 1, signed=True) == "0.0"


def test_a_share_is_written_as_a_percentage():
    assert format_percent(0.4217, 1) == "42.2\u202f%"
    assert format_percent(None) == "—"
    assert format_percent(0) == "0\u202f%"


def test_zero_is_a_number_and_not_missing():
    assert not is_null(0)
    assert format_number(0) == "0"


def test_what_is_no_number_is_refused_by_name():
    with pytest.raises(ValueError, match="'many'"):
        format_number("many")


def test_the_code_of_a_reason_becomes_words():
    assert reason_text("too_few_annotators") == "too few annotators"
    assert reason_text(None) == ""


@pytest.mark.parametrize(
    ("seconds", "written"),
    [
        *[(0.2, "1 second"), (1.2, "1 second"), (89, "89 seconds"), (200, "3 minutes"), (600, "10 minutes")],
        *[(7_200, "2 hours"), (200_000, "2.3 days")],
    ],
)
def test_a_duration_is_written_in_one_unit(seconds, written):
    assert format_duration(seconds) == written
