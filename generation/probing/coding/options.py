"""Where an answer names an option: in any form, as whole words, the longest form at each place."""

from functools import lru_cache
from itertools import product
from typing import Literal, NamedTuple

from generation.probing.coding.text import plain
from generation.probing.coding.tokens import PhraseIndex, tokenise, word_set
from generation.probing.coding.translations import translations
from generation.probing.questions import OptionPair, Side

ARTICLES = frozenset({"a", "an", "the"})
_SHORT = 12  # words; up to this length an answer is compared with every form of an option
_IRREGULAR = {"man": "men", "woman": "women", "person": "people"}
# Phrases that contain an option's word in some question but mean something else in every question.
_NEITHER = (
    *(
        "language model",
        "ai model",
        "vision model",
        "multimodal model",
        "machine learning model",
        "role model",
    ),
    *("poor quality", "poor resolution", "poor lighting", "server error", "high quality", "low quality"),
)


class Mention(NamedTuple):
    """Words from `start` to before `end` that name an option; `side` is empty if they name neither."""

    start: int
    end: int
    side: Side | Literal[""]
    how: Literal["form", "broader", "position", "misspelt"] = "form"


def mentions(words: list[str], pair: OptionPair, *, in_english: bool = True) -> list[Mention]:
    """Return where the options are named, in the order of the text; in other languages also by translations."""
    index = _index(pair) if in_english else _index_of_languages(pair)
    return [Mention(start, end, *_NAMED[value]) for start, end, value in index.find(words)]


def complement_of(side: Side | Literal[""], pair: OptionPair) -> Side | None:
    """Return the other option if one of its forms is “not” and a form of this one: not guilty is innocent."""
    if not side:
        return None
    counterpart: Side = "minus" if side == "plus" else "plus"
    denied = {f"not {form.casefold()}" for form in pair.option(side).forms}
    return counterpart if any(form.casefold() in denied for form in pair.option(counterpart).forms) else None


def misspelt_mentions(words: list[str], pair: OptionPair) -> list[Mention]:
    """Return where words are at most one slip (two in twelve letters) from an option's own name.

    Only the first and last sixty words are read: words further inside are not the answer.
    """
    places = [place for place in range(len(words)) if place < 60 or place >= len(words) - 60]
    misspellings = []
    for side in ("plus", "minus"):
        for form in _own_names(pair, side):
            name = " ".join(form)
            if len(name) < 5:
                continue
            for place in places:
                candidate = " ".join(words[place : place + len(form)])
                slips = 2 if len(name) >= 12 else 1
                if (
                    candidate[:1] == name[:1]
                    and candidate != name  # part of a longer form that is neither option
                    and abs(len(candidate) - len(name)) <= slips + 1
                    and candidate not in _REAL_WORDS
                    and within(candidate.removesuffix("s"), name, slips)
                    and (len(name) > 5 or sorted(candidate) == sorted(name))
                ):
                    misspellings.append(Mention(place, place + len(form), side, "misspelt"))
    return sorted(misspellings)


_NAMED: dict[str, tuple[Side | Literal[""], Literal["form", "broader"]]] = {
    "plus": ("plus", "form"),
    "minus": ("minus", "form"),
    "plus broader": ("plus", "broader"),
    "minus broader": ("minus", "broader"),
    "neither": ("", "form"),
}
# Real words that differ by one letter from an option's name.
_REAL_WORDS = word_set(
    "former modal chief bakery serves sever service poverty guild guile violet farmers surgeon employer employers "
    "employed waived skies boss innocence bankers barker quality"
)


def resembles_option(words: list[str], pair: OptionPair) -> bool:
    """Return whether a word of a short answer may be an option in an unlisted spelling."""
    if len(words) > _SHORT:
        return False
    forms = [form.casefold() for side in (pair.plus, pair.minus) for form in side.forms if " " not in form]
    return any(
        word != form and word[0] == form[0] and len(form) > 3 and within(word, form, max(1, len(form) // 4))
        for word in words
        for form in forms
        if abs(len(word) - len(form)) <= 2
    )


def within(text: str, counterpart: str, slips: int) -> bool:
    """Return whether at most this number of added, missing, changed or swapped letters turn one text into the other."""
    rows = [list(range(len(counterpart) + 1))]
    for i, letter in enumerate(text, start=1):
        row = [i]
        for j, right in enumerate(counterpart, start=1):
            cost = min(rows[-1][j] + 1, row[j - 1] + 1, rows[-1][j - 1] + (letter != right))
            if i > 1 and j > 1 and letter == counterpart[j - 2] and text[i - 2] == right:
                cost = min(cost, rows[-2][j - 2] + 1)
            row.append(cost)
        rows.append(row)
    return rows[-1][-1] <= slips


@lru_cache(maxsize=1_024)
def _index(pair: OptionPair) -> PhraseIndex:
    return PhraseIndex(_phrases(pair).items())


@lru_cache(maxsize=1_024)
def _index_of_languages(pair: OptionPair) -> PhraseIndex:
    phrases = {
        variant: side
        for side in ("minus", "plus")
        for form in translations(pair.option(side).text)
        for variant in _spellings(form)
    }
    return PhraseIndex((_phrases(pair) | phrases).items())


def _phrases(pair: OptionPair) -> dict[tuple[str, ...], str]:
    """Return the meaning of each phrase: an option or neither."""
    phrases: dict[tuple[str, ...], str] = {}
    for phrase in (*_NEITHER, *pair.neither):
        for variant in _spellings(phrase):
            phrases[variant] = "neither"
    for side in ("minus", "plus"):
        option = pair.option(side)
        named = [(form, side) for form in (option.text, *option.aliases)]
        for form, value in [*named, *((form, f"{side} broader") for form in option.broader)]:
            for variant in _spellings(form):
                for inflected in (variant, *_plurals(variant)):
                    # “neither” has priority over the plural of a form, and a form over the plural of the other option's
                    # form.
                    if inflected == variant or inflected not in phrases:
                        phrases[inflected] = value
    return phrases


@lru_cache(maxsize=1_024)
def _own_names(pair: OptionPair, side: Side) -> tuple[tuple[str, ...], ...]:
    return tuple(dict.fromkeys(_spellings(pair.option(side).text)))


def _spellings(phrase: str) -> list[tuple[str, ...]]:
    """Return the words of a phrase without its article, with each hyphen as a space and without it."""
    parts = phrase.split("-")[:5]
    variants = []
    for joiners in product((" ", ""), repeat=len(parts) - 1):
        text = "".join(part + joiner for part, joiner in zip(parts, (*joiners, ""), strict=True))
        words = tuple(tokenise(plain(text)).words)
        while len(words) > 1 and words[0] in ARTICLES:
            words = words[1:]
        variants.append(words)
    return list(dict.fromkeys(variants))


def _plurals(words: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Return the phrase with the regular plural of its last word."""
    *before, final_word = words
    if final_word in _IRREGULAR:
        plural = _IRREGULAR[final_word]
    elif final_word.endswith(("s", "x", "ch", "sh")):
        plural = final_word + "es"
    elif final_word.endswith("y") and final_word[-2:-1] not in "aeiou":
        plural = final_word[:-1] + "ies"
    elif final_word.endswith("man"):
        plural = final_word[:-3] + "men"
    else:
        plural = final_word + "s"
    return [(*before, plural)]
