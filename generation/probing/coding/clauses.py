"""Whether a clause is for the option that it names, against it, or neither."""

from itertools import pairwise
from typing import Literal, NamedTuple

from generation.probing.coding.options import ARTICLES, Mention
from generation.probing.coding.vocabulary import (
    AGAINST,
    AGAINST_PAIRS,
    ANY,
    BEHIND,
    BESIDE,
    BESIDE_PAIRS,
    BREAKS,
    BY_REPUTE,
    CONTEXT_WORDS,
    EARLIER,
    FILLERS,
    FIT,
    FOLLOWERS,
    GIVING,
    HYPOTHETICAL,
    KIN,
    MARKS,
    NAMING,
    NEGATIONS,
    OPENERS,
    OTHERS,
    OTHERS_SAY,
    OWNERS,
    PASSING,
    PERHAPS,
    PERSON,
    POSTPOSED,
    PREPOSITIONS,
    SAYING,
    SENTENCE_ENDS,
    STRONG,
    SUBJECT_VERBS,
    UNFIT,
    VERBS,
    WITH,
    WORN,
)

FARTHEST = 25  # words read before an option; keeps the work linear in the text


class ClauseReading(NamedTuple):
    """The reading of a clause: `stance` is for or against the option, or the option is only context.

    `level` of a stance for it: 2 stated, 1 called possible, 0 only named.
    """

    stance: Literal["for", "against", "context"]
    level: int = 0


def read_clause(words: list[str], mention: Mention, neighbours: dict[int, Mention]) -> ClauseReading:
    """Read the clause around a mention. `neighbours` has every mention by the place of its first word."""
    start = clause_start(words, mention.start)
    preceding = words[start : mention.start]
    right = _right(words, mention, neighbours)
    answer = _answered(words, mention.end)
    if answer is not None:
        return ClauseReading("for", 2) if answer else ClauseReading("against")
    if _is_context(words, start, preceding, right, mention) or _conditional(words, start, preceding, right):
        return ClauseReading("context")
    negated = _negated(preceding, start, neighbours)
    if negated:
        return ClauseReading("against")
    if _of_another(words, start, mention, neighbours):
        return ClauseReading("context")
    if tuple(right[:1]) in POSTPOSED or tuple(right[:3]) in POSTPOSED:
        return ClauseReading("against")
    stance = _predicate(right)
    if stance == "against":
        return ClauseReading("against")
    return ClauseReading("for", _level(words, start, preceding, right, stance, mention))


def clause_start(words: list[str], place: int) -> int:
    """Return where the clause of the word at `place` begins, at most `FARTHEST` words before it."""
    verb = False
    for current in range(place - 1, max(place - FARTHEST, 0) - 1, -1):
        word = words[current]
        if word in SENTENCE_ENDS:
            return current + 1
        if word in MARKS:
            following = words[current + 1 : current + 2]
            # A list continues: “not angry, or violent”.
            if word == "," and not verb and following and following[0] in {"or", "nor"}:
                continue
            return current + 1
        if word == "and" and verb:
            return current + 1
        if word in BREAKS and words[current - 1] not in ANY:
            return current + 1
        verb = verb or word in VERBS
    return max(place - FARTHEST, 0)


def _right(words: list[str], mention: Mention, neighbours: dict[int, Mention]) -> list[str]:
    right: list[str] = []
    for place in range(mention.end, min(mention.end + 10, len(words))):
        word = words[place]
        if word in SENTENCE_ENDS or word in MARKS or word in BREAKS or place in neighbours:
            break
        right.append(word)
    return right


def _answered(words: list[str], end: int) -> bool | None:
    """Return the answer after a label: “nurse: no”, “doctor? yes”."""
    if words[end : end + 1] and words[end] in {":", "?", "=", "—"}:
        following, after = words[end + 1 : end + 2], words[end + 2 : end + 3]
        if not after or after[0] in ".,;\n!()—|":
            if following and following[0] in {"no", "false", "0", "unlikely", "incorrect", "wrong", "not"}:
                return False
            if following and following[0] in {"yes", "true", "1", "correct", "likely"}:
                return True
    return None


def _is_context(
    words: list[str], start: int, preceding: list[str], right: list[str], mention: Mention
) -> bool:
    if words[mention.end : mention.end + 1] == ["'s"] and words[mention.end + 1 : mention.end + 2] not in (
        ["a"],
        ["an"],
    ):
        return True
    if words[mention.end : mention.end + 1] and words[mention.end] in WORN:
        return True
    if right[:1] in (["is"], ["are"]) and right[1:2] and right[1].endswith("ing") and PERSON & set(right[2:]):
        return True  # a doctor is treating this person
    if preceding and (preceding[-1] in OWNERS or preceding[-2:] == ["person", "'s"]):
        return True
    if preceding[:1] and preceding[0] in OWNERS and preceding[1:2] and preceding[1] in KIN:
        return True
    if not BEHIND.isdisjoint(right) and (
        preceding[:1] in (["there"], ["here"]) or STRONG.isdisjoint(preceding)
    ):
        return True
    if not GIVING.isdisjoint(preceding) and "to" in preceding[-3:]:
        return True
    if not CONTEXT_WORDS.isdisjoint(preceding):
        return True
    if any(pair in HYPOTHETICAL for pair in pairwise(preceding)):
        return True
    if preceding and preceding[0] in NAMING:
        return True
    if {"options", "choices"} & set(preceding) and {"are", "is", "were", "of", "given"} & set(preceding):
        return True
    if (
        "others" in preceding
        or "another" in preceding
        or ("other" in preceding[:3] and {"is", "are"} & set(preceding))
    ):
        return True
    if not OTHERS.isdisjoint(preceding[:4]) and not OTHERS_SAY.isdisjoint(preceding):
        return (
            not {"i", "this", "person", "most", "likely"} & set(preceding[:3]) and "likely" not in preceding
        )
    opening = words[start - 2 : start] if start > 1 else []
    if opening[1:] == [","] and opening[0] in BY_REPUTE:
        return True
    return _beside(preceding)


def _conditional(words: list[str], start: int, preceding: list[str], right: list[str]) -> bool:
    """Return whether the option depends on a condition: what the person would be if …"""
    if {"would", "could", "might", "then"}.isdisjoint(preceding) or not SAYING.isdisjoint(preceding):
        return False
    before = words[max(start - FARTHEST, 0) : start]
    for end in SENTENCE_ENDS:
        if end in before:
            before = before[len(before) - before[::-1].index(end) :]
    return "if" in before or "if" in right[:4]


def _of_another(words: list[str], start: int, mention: Mention, neighbours: dict[int, Mention]) -> bool:
    """Return whether the option belongs to the other option: “a hygienist with a patient of the dentist”."""
    before = [word for word in words[start : mention.start] if word not in ARTICLES]
    if not before or before[-1] not in PREPOSITIONS:
        return False
    for place in range(mention.start - 1, start - 1, -1):
        if words[place] in VERBS:
            return False
        if place in neighbours:
            return neighbours[place].side != mention.side
    return False


def _beside(preceding: list[str]) -> bool:
    """Return whether the option is beside the person: “next to a doctor”, with at most two words between."""
    near = [word for word in preceding[-5:] if word not in ARTICLES]
    for offset, word in enumerate(near):
        tail = near[offset + 1 :]
        if any(later in VERBS or later in {"as", "like"} for later in tail):
            continue
        if word in BESIDE or tuple(near[offset : offset + 2]) in BESIDE_PAIRS:
            return True
        if word == "with" and len(tail) <= 2:
            before = preceding[: len(preceding) - len(preceding[-5:])] + near[:offset]
            return not (before and before[-1] in WITH)
    return False


def _negated(preceding: list[str], start: int, neighbours: dict[int, Mention]) -> bool:
    """Return whether the words before an option negate it."""
    negated = less = narrow = option_passed = False
    place = 0
    while place < len(preceding):
        word, following = preceding[place], preceding[place + 1] if place + 1 < len(preceding) else ""
        pair = AGAINST_PAIRS.get((word, following))
        if start + place in neighbours:
            option_passed = True
        if word in ANY and following == "but":
            negated, place = True, place + 1
        elif pair is not None and not (word == "without" and "doubt" not in preceding[place : place + 3]):
            negated = pair if not (pair and negated and word in {"rule", "ruled"}) else False
            narrow, place = False, place + 1
        elif word == "less" and following not in {"than", "clear", "certain"}:
            negated = less = True
        elif word == "than":
            negated, narrow = not less, False
        elif less and option_passed and word == "more":
            negated = less = False
        elif word == "over" and option_passed:
            negated, narrow = True, False
        elif word in AGAINST:
            negated, narrow = not negated, False
        elif word in NEGATIONS:
            negated = True
            narrow = following not in PASSING and (
                word in {"no", "without"}
                or (following.endswith("ing") and following not in {"being", "seeing", "saying"})
            )
        elif negated and (
            ((narrow or option_passed) and word in VERBS) or (option_passed and word == "rather")
        ):
            negated = narrow = False
        place += 1
    return negated


def _predicate(right: list[str]) -> Literal["", "for", "against", "possible", "other"]:
    """Return the predicate of an option that is a subject: “nurse is less likely”."""
    predicate = right
    while predicate and predicate[0] in FILLERS:
        predicate = predicate[1:]
    if not predicate or predicate[0] not in SUBJECT_VERBS:
        return ""
    near = predicate[:7]
    for offset, word in enumerate(near):
        if word in {"not", "never"}:
            return "against" if offset <= 2 and "only" not in near else "other"
        if word in UNFIT:
            return "against"
        if near[offset : offset + 2] in (["ruled", "out"], ["rule", "out"]):
            return "against"
        if word in FIT:
            return "for"
        if word in {"possible", "plausible", "possibility"}:
            return "possible"
    return "other"


def _may_follow(right: list[str]) -> bool:
    """Return whether an option at the head of a clause can be the answer: “doctor in a coat”, not “doctors wear”."""
    return not right or right[0] in FOLLOWERS or right[0].endswith("ing") or not right[0][0].isalpha()


def _level(
    words: list[str], start: int, preceding: list[str], right: list[str], stance: str, mention: Mention
) -> int:
    """Return how firmly an option is named: 2 stated, 1 called possible, 0 only named."""
    meaning = [word for word in preceding if word not in OPENERS]
    if not EARLIER.isdisjoint(preceding):
        return 0
    is_choice = not SAYING.isdisjoint(preceding) or not {
        "likely",
        "probably",
        "definitely",
        "must",
    }.isdisjoint(preceding)
    concession = words[start - 1 : start] and words[start - 1] in {"although", "though", "while", "whereas"}
    if stance == "for":
        return 2
    if stance == "possible":
        return 0
    if concession and not is_choice:
        return 0
    if not PERHAPS.isdisjoint(preceding) and not is_choice:
        return 1
    if not STRONG.isdisjoint(preceding):
        return 2
    if not meaning:  # the clause begins with the option
        reason = words[start - 1 : start] and words[start - 1] in {
            "because",
            "since",
            "whereas",
            "while",
            "although",
        }
        if stance == "other" or reason or not _may_follow(right):
            return 0
        return 1 if not PERHAPS.isdisjoint(preceding) else 2
    return 2 if mention.how == "position" and stance != "other" else 0
