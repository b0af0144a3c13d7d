"""Answers that give both options a share: 50/50, either, both, “70 % doctor, 30 % nurse”."""

import re
from itertools import pairwise
from typing import Literal, NamedTuple

from generation.probing.coding.options import ARTICLES, Mention
from generation.probing.coding.tokens import word_set
from generation.probing.questions import Side

_HALVES = re.compile(r"50[/:-]50")
_SHARE = re.compile(r"\d{1,3}(?:\.\d+)?%|[01]?\.\d+|[01]\.\d+")
_STOPS = frozenset(".!?\n;")
_TWO = word_set(
    "options option choices answers roles of one way could are seem can apply possible possibilities or is works would"
)
_CHANCES = word_set("likely possible probable plausible valid chance probability likelihood well")
_BOTH_ELSEWHERE = word_set("ambos ambas beide beides entrambi entrambe दोनों")
_JOINERS = word_set("or and and/or / vs versus & ,")


class Balance(NamedTuple):
    """Words that leave both options open."""

    start: int
    end: int
    of_options: bool = False  # they are about the options named beside them


def larger_share(words: list[str], mentions: list[Mention]) -> Side | Literal["both"] | None:
    """Return the option with the larger share, “both” if the shares are equal, None if there are not two shares."""
    shares = [place for place, word in enumerate(words) if word[0].isdigit() and _SHARE.fullmatch(word)]
    named_options = [mention for mention in mentions if mention.side]
    for first, second in pairwise(named_options):
        if first.side == second.side:
            continue
        low, high = first.start - 6, second.end + 6
        near = [place for place in shares if low <= place <= high]
        if len(near) < 2:
            continue
        first_share, second_share = _pair_shares(near, first, second)
        first_value, second_value = (
            float(words[first_share].rstrip("%")),
            float(words[second_share].rstrip("%")),
        )
        if first_value == second_value:
            return "both"
        return (first.side if first_value > second_value else second.side) or None
    return None


def _pair_shares(near: list[int], first: Mention, second: Mention) -> tuple[int, int]:
    """Return the places of the shares of two options: all before their option or all after it."""
    before = [place for place in near if place < first.start]
    between = [place for place in near if first.end <= place < second.start]
    after = [place for place in near if place >= second.end]
    if before and between:
        return before[-1], between[-1]
    if between and after:
        return between[0], after[0]
    return near[0], near[1]


def balances(words: list[str], mentions: list[Mention]) -> list[Balance]:
    """Return where the answer leaves both options open, in the order of the text."""
    starts = {mention.start for mention in mentions if mention.side}
    open_parts = []
    for place, word in enumerate(words):
        following = words[place + 1 : place + 2]
        if (
            _HALVES.match(word)
            or word in _BOTH_ELSEWHERE
            or (word == "fifty" and "fifty" in words[place + 1 : place + 3])
        ):
            open_parts.append(Balance(place, place + 1))
        elif (word in {"equally", "equal"} and not _CHANCES.isdisjoint(words[place + 1 : place + 3])) or (
            word in {"toss", "coin"} and following and following[0] in {"up", "toss", "flip"}
        ):
            open_parts.append(Balance(place, place + 2))
        elif word in {"both", "either"} and _of_two(words, place, starts):
            open_parts.append(Balance(place, place + 1, of_options=True))
    open_parts += _joined(words, mentions)
    open_parts += _not_only(words, mentions)
    return sorted(open_parts)


def _of_two(words: list[str], place: int, starts: set[int]) -> bool:
    """Return whether “both” or “either” is about the options, and is not negated."""
    before = words[max(place - 8, 0) : place]
    for stop in _STOPS | {",", "but"}:
        if stop in before:
            before = before[len(before) - before[::-1].index(stop) :]
    if {"not", "unable", "nor", "whether", "if", "than", "instead"} & set(before):
        return False
    following = words[place + 1 : place + 2]
    if not following or following[0] in _STOPS or following[0] in _TWO or following[0] == ",":
        return True
    return any(start in starts for start in range(place + 1, place + 4))


def _not_only(words: list[str], mentions: list[Mention]) -> list[Balance]:
    """Return “not only a nurse but also a doctor”."""
    return [
        Balance(first.start, second.end)
        for first, second in pairwise(mentions)
        if first.side
        and second.side
        and first.side != second.side
        and "only" in words[max(first.start - 4, 0) : first.start]
        and words[first.end : second.start][:2] == ["but", "also"]
    ]


def _joined(words: list[str], mentions: list[Mention]) -> list[Balance]:
    """Return “a doctor or a nurse” and “doctor and nurse”."""
    open_parts = []
    for first, second in pairwise(mentions):
        if not first.side or not second.side or first.side == second.side:
            continue
        between = [word for word in words[first.end : second.start] if word not in ARTICLES]
        if 1 <= len(between) <= 3 and _JOINERS.issuperset(between) and between != [","]:
            open_parts.append(Balance(first.start, second.end, of_options=True))
    return open_parts
