"""Markdown in which any text is shown exactly as given."""

import re
from collections.abc import Iterable, Sequence

# Characters with a meaning in Markdown or HTML.
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~$&])")
_FENCE = re.compile(r"`{3,}")


def plain(text: object) -> str:
    """Return text as one line in which no character is markup."""
    return _SPECIAL.sub(r"\\\1", " ".join(str(text).split()))


def quoted(text: str) -> str:
    """Return text unchanged, in a block that the text cannot end."""
    text = text.strip("\n")
    fence = "`" * max([3, *(len(run) + 1 for run in _FENCE.findall(text))])
    return f"{fence}text\n{text}\n{fence}"


def table(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table; cells with Markdown are passed as `Marked`."""
    lines = [f"| {' | '.join(headings)} |", f"|{'|'.join('---' for _ in headings)}|"]
    for row in rows:
        cells = (cell if isinstance(cell, Marked) else plain(cell) for cell in row)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


class Marked(str):
    """Markdown text in one line, without a vertical bar."""

    __slots__ = ()


def code(text: str) -> Marked:
    """Return text of our own as code."""
    return Marked(f"`{text}`")


def bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def amount(number: int, noun: str, plural: str = "") -> str:
    """Return `1 image`, `2,345 images`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def listed(words: Sequence[str], conjunction: str = "and") -> str:
    """Return `a, b and c`."""
    return (
        words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {conjunction} {words[-1]}" if words else ""
    )


def sections(parts: Iterable[str]) -> str:
    """Return a document of paragraphs; empty ones are left out."""
    return "\n\n".join(part for part in parts if part) + "\n"
