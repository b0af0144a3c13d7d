"""The words of an answer. Contractions are expanded, so that “isn't”, “isnt” and “is not” are equal."""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple


def word_set(words: str) -> frozenset[str]:
    """Return the words in a string."""
    return frozenset(words.split())


_LETTERS = r"(?:[^\W\d_\u3040-\u30ff\u3400-\u9fff][\u0300-\u036f\u0900-\u0903\u093a-\u094f\u0962\u0963]*)+"
_TOKEN = re.compile(
    r"\d+(?:st|nd|rd|th)\b|\d+(?:[.,:/-]\d+)*(?: ?%)?|"
    # Scripts without spaces between words: each sign is a word. Then words with their accents and vowel signs.
    r"[\u3040-\u30fa\u30fc-\u30ff\u3400-\u4dbf\u4e00-\u9fff]|"
    rf"{_LETTERS}(?:'{_LETTERS})*|[.!?;:,()\n—|/=+-]"
)
_PRONOUNS = word_set("he she it that this there who what i they we you here")
_WHOLE = {
    "cannot": ("can", "not"),
    "won't": ("will", "not"),
    "can't": ("can", "not"),
    "shan't": ("shall", "not"),
    "ain't": ("is", "not"),
    "let's": ("let", "us"),
    "dont": ("do", "not"),
    "doesnt": ("does", "not"),
    "isnt": ("is", "not"),
    "cant": ("can", "not"),
    "wont": ("will", "not"),
    "wasnt": ("was", "not"),
    "arent": ("are", "not"),
    "wouldnt": ("would", "not"),
    "couldnt": ("could", "not"),
    "didnt": ("did", "not"),
    "im": ("i", "am"),
}
_ELIDED = frozenset({"qu", "l", "d", "c", "n", "s", "j", "m", "t"})  # French: n'est
_ENDINGS = {"re": "are", "m": "am", "ve": "have", "d": "would", "ll": "will"}


class Words(NamedTuple):
    """Words and marks in order."""

    words: list[str]

    def window(self, start: int, end: int) -> list[str]:
        return self.words[max(start, 0) : end]


def tokenise(text: str) -> Words:
    """Return the words of a normalised text; a possessive becomes the word and 's."""
    words: list[str] = []
    for token in _TOKEN.findall(text):
        if "'" in token or token in _WHOLE:
            words.extend(_apart(token))
        elif token[0].isdigit():
            words.append(token.replace(" ", ""))
        else:
            words.append(token)
    return Words(words)


def _apart(token: str) -> Iterator[str]:
    if token in _WHOLE:
        yield from _WHOLE[token]
        return
    base, _, ending = token.rpartition("'")
    if token.endswith("n't"):
        yield from (token[:-3], "not")
    elif ending in _ENDINGS:
        yield from (base, _ENDINGS[ending])
    elif ending == "s":
        yield from (base, "is" if base in _PRONOUNS else "'s")
    elif base in _ELIDED:
        yield from (base, ending)
    else:
        yield token.replace("'", "")


class PhraseIndex:
    """Finds phrases in words, the longest at each place; one pass over the text."""

    def __init__(self, phrases: Iterable[tuple[tuple[str, ...], str]]) -> None:
        self._by_first: dict[str, list[tuple[tuple[str, ...], str]]] = {}
        for words, value in phrases:
            self._by_first.setdefault(words[0], []).append((words, value))
        for candidates in self._by_first.values():
            candidates.sort(key=lambda candidate: -len(candidate[0]))

    def find(self, words: list[str]) -> Iterator[tuple[int, int, str]]:
        """Yield (start, end, value) from left to right without overlaps."""
        place = 0
        while place < len(words):
            for phrase, value in self._by_first.get(words[place], ()):
                end = place + len(phrase)
                if len(phrase) == 1 or tuple(words[place:end]) == phrase:
                    yield place, end, value
                    place = end - 1
                    break
            place += 1


@lru_cache(maxsize=64)
def phrase_index(lines: str) -> PhraseIndex:
    """Return an index of phrases, one per line; the value of a phrase is the phrase itself."""
    phrases = [tuple(tokenise(line.strip()).words) for line in lines.splitlines() if line.strip()]
    return PhraseIndex((words, " ".join(words)) for words in phrases)
