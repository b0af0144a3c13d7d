"""A person's names in texts and JSON values."""

from privacy.erasure.names import PersonNames

NAMES = PersonNames(["Maria Kern", "17"])


def test_names_are_found_in_any_case_and_as_keys():
    for value in ("MARIA KERN agreed", {"note": ["see maria kern"]}, {"Maria Kern": 5}):
        assert NAMES.are_in(value)
        assert not NAMES.are_in(NAMES.removed_from(value))


def test_parts_of_other_words_and_short_numbers_are_not_names():
    for value in ("Maria Kerning", "in 17 studies", {"kern": "maria"}):
        assert not NAMES.are_in(value)
        assert NAMES.removed_from(value) == value
