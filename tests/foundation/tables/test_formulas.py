"""Text that a spreadsheet would run as a formula is guarded, and can be restored."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foundation.tables.formulas import guarded, unguarded

pytestmark = pytest.mark.database_free


@given(st.text(alphabet="'=+-@\t\r\n ab1", max_size=8))
def test_every_text_comes_back_and_none_begins_as_a_formula(text):
    assert unguarded(guarded(text)) == text
    assert not guarded(text).startswith(("=", "+", "-", "@", "\t", "\r", "\n"))


@pytest.mark.parametrize("text", ["", "a lamp", "'quoted'", " =1", "1=1"])
def test_text_that_no_spreadsheet_runs_stays(text):
    assert guarded(text) == text
