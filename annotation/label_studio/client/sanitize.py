"""Text from another server, cleaned so that every database can store it and every page can show it."""

import unicodedata


def storable(text: object, *, longest: int) -> str:
    """Return a text as one line of at most `longest` characters, without invisible and direction-changing ones."""
    if not isinstance(text, str):
        return ""
    line = " ".join("".join(map(_seen, text[: 20 * longest])).split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def _seen(character: str) -> str:
    if character.isspace():
        return " "
    return "" if unicodedata.category(character)[0] == "C" else character
