"""Words of captions and attributes, folded so that inflections of a word are the same."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

Phrase = tuple[str, ...]
LANGUAGE = "en"
BETWEEN = "\x00"  # between captions; a separate token, so that no phrase spans two captions
APOSTROPHES = "'’ʼ"
HYPHENS = "\\-‐‑"
JOINERS = "\u00ad\u200b\u200c\u200d\u2060\ufeff"  # invisible, within words
_POSSESSIVE = re.compile(f"[{APOSTROPHES}][sS]$")


class Word(NamedTuple):
    """A word, or another visible character, which separates words."""

    start: int
    end: int
    folded: str


@cache
def token_pattern() -> re.Pattern[str]:
    """A word with its combining marks and inner apostrophes, or one other character. Spaces, hyphens and loose
    apostrophes are not tokens: the words on both sides of them are adjacent."""
    marks = "".join(c for c in map(chr, range(0x300, 0xFFFF)) if unicodedata.category(c)[0] == "M")
    word = f"[\\w{marks}{JOINERS}]+"
    return re.compile(f"{word}(?:[{APOSTROPHES}]{word})*|[^\\s{HYPHENS}{APOSTROPHES}]")


def spaced(text: str) -> str:
    """Replace underscores and the separators of captions by spaces; the length does not change."""
    return text.replace("_", " ").replace(BETWEEN, " ")


def tokens(text: str) -> list[str]:
    """All tokens of `spaced` text, unchanged."""
    return token_pattern().findall(text)


def words(text: str) -> list[Word]:
    """All tokens with their positions; a possessive ending is not part of its word."""
    folded_words = []
    for match in token_pattern().finditer(spaced(text)):
        ending = _POSSESSIVE.search(match[0])
        folded_words.append(
            Word(match.start(), match.end() - (len(ending[0]) if ending else 0), fold(match[0]))
        )
    return folded_words


@lru_cache(maxsize=200_000)
def fold(token: str) -> str:
    """Remove case, possessive ending and inflection: 'Hats', 'hat’s' and 'hat' become equal; 'hatter' differs.

    The lemma is simplemma's; a word unknown to simplemma loses a regular plural ending.
    """
    plain = token.translate(_WITHOUT_JOINERS)
    plain = unicodedata.normalize("NFC", unicodedata.normalize("NFC", plain).casefold())
    plain = _POSSESSIVE.sub("", plain).translate(_ONE_APOSTROPHE)
    if not plain[:1].isalpha():
        return plain
    # Imported here: it takes 0.04 s, and every analysis loads this module.
    import simplemma

    lemma = simplemma.lemmatize(plain, lang=LANGUAGE)
    if lemma.casefold() == plain and not simplemma.is_known(plain, lang=LANGUAGE):
        lemma = _singular(plain)
    return lemma.casefold()


_WITHOUT_JOINERS = dict.fromkeys(map(ord, JOINERS))
_ONE_APOSTROPHE = dict.fromkeys(map(ord, APOSTROPHES), "'")


def _singular(word: str) -> str:
    if len(word) < 4 or not word.endswith("s") or word.endswith("ss"):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-2] if word.endswith(("ses", "xes", "zes", "ches", "shes")) else word[:-1]


def phrases_of(attributes: Iterable[str]) -> dict[str, Phrase]:
    """The folded words of each attribute, once; other characters at its ends are removed."""
    return {attribute: _phrase(attribute) for attribute in dict.fromkeys(map(str, attributes))}


def _phrase(attribute: str) -> Phrase:
    folded = [fold(token) for token in tokens(spaced(attribute))]
    is_word = [any(c.isalnum() for c in token) for token in folded]
    if not any(is_word):
        return ()
    return tuple(folded[is_word.index(True) : len(folded) - is_word[::-1].index(True)])


def places(phrase: Phrase, within: Sequence[str]) -> list[int]:
    """The positions at which the phrase begins among folded tokens."""
    length = len(phrase)
    if not length:
        return []
    return [i for i in range(len(within) - length + 1) if tuple(within[i : i + length]) == phrase]
