"""Options named by their place: former, latter, first, second, option 2."""

from generation.probing.coding.options import Mention
from generation.probing.coding.tokens import PhraseIndex, word_set
from generation.probing.questions import Side

_NOUNS = (
    "option",
    "one",
    "choice",
    "answer",
    "alternative",
    "possibility",
    "category",
    "description",
    "label",
)
_PLACES = {"first": ("first", "1st"), "second": ("second", "2nd")}
_NUMBERS = {"first": ("1", "a", "one", "i"), "second": ("2", "b", "two", "ii")}
# Words after which “first” or “second” is a place among options if no noun follows.
_CHOOSING = word_set("the choose pick say select with is answer option choice")


# Words before a number that is the whole answer.
_ANNOUNCED: tuple[list[str], ...] = (
    [],
    ["answer"],
    ["my", "answer"],
    ["the", "answer", "is"],
    ["my", "answer", "is"],
)


def _phrases() -> list[tuple[tuple[str, ...], str]]:
    phrases: list[tuple[tuple[str, ...], str]] = []
    for place, words in _PLACES.items():
        for word in words:
            phrases += [((word, noun), place) for noun in _NOUNS]
            phrases += [
                ((word, "of", "the", "two"), place),
                ((word, "of", "these"), place),
                ((word,), f"bare {place}"),
            ]
    for place, numbers in _NUMBERS.items():
        for number in numbers:
            phrases += [
                ((noun, number), place) for noun in ("option", "choice", "answer", "number", "alternative")
            ]
            phrases += [((noun, "(", number, ")"), place) for noun in ("option", "choice", "answer")]
    phrases += [(("former",), "bare first"), (("latter",), "bare second")]
    return phrases


_INDEX = PhraseIndex(_phrases())


def position_mentions(words: list[str], first: Side, named_options: list[Mention]) -> list[Mention]:
    """Return where an option is named by its place.

    Places refer to the question as asked. If the answer names both options before “former” or “latter”, they refer to
    the answer.
    """
    alone = [word for word in words if word not in ".()\n:"]
    if alone[:-1] in _ANNOUNCED:
        for place, numbers in _NUMBERS.items():
            if alone and alone[-1] in numbers[:2]:
                number = len(words) - 1 - words[::-1].index(alone[-1])
                return [Mention(number, number + 1, _side(place, first), "position")]
    places = []
    for start, end, value in _INDEX.find(words):
        place = value.removeprefix("bare ")
        order = first
        if words[start] in {"former", "latter"}:
            if not _ends_clause(words, end):  # a former teacher
                continue
            sides = [mention.side for mention in named_options if mention.end <= start and mention.side]
            if {"plus", "minus"} <= set(sides):
                order = sides[0] or first
        elif value.startswith("bare ") and not (
            _ends_clause(words, end)
            and (len(alone) == 1 or (words[start - 1 : start] and words[start - 1] in _CHOOSING))
        ):
            continue
        places.append(Mention(start, end, _side(place, order), "position"))
    return places


def _side(place: str, first: Side) -> Side:
    if place == "first":
        return first
    return "minus" if first == "plus" else "plus"


def _ends_clause(words: list[str], end: int) -> bool:
    following = words[end] if end < len(words) else "."
    return following in ".,;:!?\n()—" or following in {
        "is",
        "seems",
        "appears",
        "because",
        "since",
        "as",
        "due",
        "option",
        "over",
        "rather",
        "instead",
        "than",
    }
