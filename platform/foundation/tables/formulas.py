"""Text in CSV files that a spreadsheet would run as a formula: an apostrophe in front, which can be taken off again."""

import re

_GUARDED = re.compile(r"'*[=+\-@\t\r\n]")
_MARK = "'"


def guarded(text: str) -> str:
    """Return a text with an apostrophe in front where a spreadsheet would run it, or where it looks guarded itself.

    `unguarded` gives back the same text.
    """
    return _MARK + text if _GUARDED.match(text) else text


def unguarded(text: str) -> str:
    """Return what `guarded` was given."""
    return text[1:] if text.startswith(_MARK) and _GUARDED.match(text) else text
