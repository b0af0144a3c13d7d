"""The arguments of --map, --value and --image-size."""

import pytest

from annotation.imports.column_map import ColumnMap, parse_columns, parse_size, parse_words, with_words
from foundation.errors import DomainError


def test_fields_are_mapped_to_columns_that_may_hold_spaces_and_equal_signs():
    assert parse_columns(["image=img path", "group=a=b"]) == {"image": "img path", "group": "a=b"}


@pytest.mark.parametrize(
    ("pairs", "sentence"),
    [
        (["image"], "“image” is not FIELD=COLUMN"),
        (["image="], "“image=” is not FIELD=COLUMN"),
        (["picture=a"], "There is no field “picture”"),
        (["image=a", "image=b"], "Image is mapped twice"),
    ],
)
def test_a_malformed_map_is_refused(pairs, sentence):
    with pytest.raises(DomainError, match=sentence) as refusal:
        parse_columns(pairs)
    assert refusal.value.code == "map_bad"


def test_image_sizes_are_parsed():
    assert parse_size("512x768") == (512, 768)
    for text in ("512", "0x10", "axb", "-1x5", "1x2x3"):
        with pytest.raises(DomainError, match="is not a size"):
            parse_size(text)


def test_words_for_yes_and_no_add_to_those_known_and_win_over_them():
    column_map = with_words(ColumnMap(columns={"present": "x"}), parse_words(["Ja=yes", "1=no"]))
    assert "ja" in column_map.yes
    assert "yes" in column_map.yes
    assert "1" in column_map.no
    assert "1" not in column_map.yes


def test_words_for_ratings_are_parsed():
    column_map = with_words(
        ColumnMap(columns={"rating": "x"}), parse_words(["Stimme zu=4", "nein=strongly disagree"])
    )
    assert (column_map.ratings["stimme zu"], column_map.ratings["nein"]) == (4, 1)


@pytest.mark.parametrize(
    ("columns", "word", "sentence"),
    [
        ({"present": "x"}, "ja=perhaps", "“perhaps” is not yes or no"),
        ({"rating": "x"}, "ja=6", "“6” is not a rating"),
        ({"present": "x"}, "ja", "is not WORD=MEANING"),
    ],
)
def test_an_unknown_meaning_is_refused(columns, word, sentence):
    with pytest.raises(DomainError, match=sentence):
        with_words(ColumnMap(columns=columns), parse_words([word]))
