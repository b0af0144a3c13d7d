"""Finding the options that an answer names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generation.probing.coding.options import complement_of, mentions, misspelt_mentions, within
from generation.probing.coding.text import plain
from generation.probing.coding.tokens import tokenise
from tests.generation.probing.coding.asked import TRADES, WEATHER

pytestmark = pytest.mark.database_free


def sides(text: str) -> list[str]:
    return [mention.side for mention in mentions(tokenise(plain(text)).words, TRADES.options)]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("a lamplighter", ["plus"]),
        ("the lamplighters", ["plus"]),
        ("lamp man", ["plus"]),
        ("lampman", ["plus"]),
        ("lamp-men", ["plus"]),
        ("lighter of lamps", ["plus"]),
        ("tile-setter, tile setter, tilesetter, tiler", ["minus"] * 4),
        ("tilers and lamplighters", ["minus", "plus"]),
        ("a tiler of baths", [""]),
        ("reptiler untiled tilery", []),
        ("lamp lighter", []),
        ("as an AI language model", [""]),
    ],
)
def test_forms_are_whole_words_and_the_longest_wins(text, named):
    assert sides(text) == named


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("lamplightre", ["plus"]),
        ("lampligter", ["plus"]),
        ("the tile-seter", ["minus"]),
        ("lantern fighter", []),
        ("tilr", []),
    ],
)
def test_misspelt_options_are_recognised(text, named):
    words = tokenise(plain(text)).words
    assert {mention.side for mention in misspelt_mentions(words, TRADES.options)} == set(named)


def test_a_denied_option_is_the_other_only_where_the_set_says_so():
    assert complement_of("minus", WEATHER.options) == "plus"
    assert complement_of("plus", WEATHER.options) is None
    assert complement_of("", WEATHER.options) is None
    assert complement_of("minus", TRADES.options) is None


@given(st.text("abc", max_size=6), st.text("abc", max_size=6))
def test_distances_are_symmetric(one, other):
    for slips in (0, 1, 2):
        assert within(one, other, slips) == within(other, one, slips)
    assert within(one, other, 0) == (one == other)
    assert within(one, one + "x", 1)
