"""Differences between two texts: added and removed paragraphs, and changed words within paragraphs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest

SAME, ADDED, REMOVED = "same", "added", "removed"


@dataclass(frozen=True)
class Piece:
    """Some words of a paragraph: `same`, `added` or `removed`."""

    kind: str
    text: str


@dataclass(frozen=True)
class Change:
    """One changed paragraph."""

    pieces: tuple[Piece, ...]

    @property
    def kind(self) -> str:
        """Return `added` or `removed` if that is true for the whole paragraph, else `changed`."""
        kinds = {piece.kind for piece in self.pieces}
        return kinds.pop() if len(kinds) == 1 else "changed"


def changes(before: Sequence[str], after: Sequence[str]) -> tuple[Change, ...]:
    """Return the paragraphs that differ, in reading order."""
    paragraph_changes: list[Change] = []
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    for operation, i1, i2, j1, j2 in matcher.get_opcodes():
        if operation != "equal":
            paragraph_changes += [
                Change(tuple(_words(old, new)))
                for old, new in zip_longest(before[i1:i2], after[j1:j2], fillvalue="")
            ]
    return tuple(paragraph_changes)


def _words(before: str, after: str) -> Iterator[Piece]:
    old, new = before.split(), after.split()
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    # Paragraphs with little in common are shown as one removed and one added.
    steps = matcher.get_opcodes() if matcher.ratio() >= 0.4 else [("replace", 0, len(old), 0, len(new))]
    for operation, i1, i2, j1, j2 in steps:
        if operation == "equal":
            yield Piece(SAME, " ".join(old[i1:i2]))
            continue
        if old[i1:i2]:
            yield Piece(REMOVED, " ".join(old[i1:i2]))
        if new[j1:j2]:
            yield Piece(ADDED, " ".join(new[j1:j2]))
