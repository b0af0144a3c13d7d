"""Guards against formulas in CSV files: an apostrophe before text, which can be removed again."""

import re

_GUARDED = re.compile(r"'*[=+\-@\t\r\n]")
_MARK = "'"


def guarded(text: str) -> str:
    """Return a text with an apostrophe in front if a spreadsheet would run it or if it looks guarded itself.

    `unguarded` returns the original text.
    """
    return _MARK + text if _GUARDED.match(text) else text


def unguarded(text: str) -> str:
    """Return the text without the apostrophe of `guarded`."""
    return text[1:] if text.startswith(_MARK) and _GUARDED.match(text) else text
