"""Captions on pages: marks equal the matches of the measure, and captions are escaped."""

import pytest

from analysis.metrics.captions.matcher import match_spans
from analysis.pages.captions import find_spans, highlight, phrases_by_first_word

pytestmark = pytest.mark.database_free
ATTRIBUTES = ["tall hat", "hat", "hats and scarves", "drum", "blue scarf", "..."]


@pytest.mark.parametrize(
    "text",
    [
        "Two tall-hats and a hatter's hat",
        "a drum, drums and a DRUM",
        "hats and scarves; hats, and scarves",
        "",
        "nothing of it",
        "a tall",
    ],
)
def test_marks_equal_the_matches_of_the_measure(text):
    assert find_spans(text, phrases_by_first_word(ATTRIBUTES)) == match_spans(text, ATTRIBUTES)


def test_marks_do_not_nest_and_text_is_escaped():
    text = "<b>tall hats</b> & a drum"
    marked = highlight(text, match_spans(text, ATTRIBUTES))
    assert marked == "&lt;b&gt;<mark>tall hats</mark>&lt;/b&gt; &amp; a <mark>drum</mark>"
    assert highlight("no hats", []) == "no hats"
