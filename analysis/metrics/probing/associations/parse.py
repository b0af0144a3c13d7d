"""What a reply says: one word for a letter, or the words of a description."""

import re
import unicodedata
from dataclasses import dataclass

from analysis.metrics.probing.words.stop_words import NLTK

VALID, INVALID, MISMATCH, MISSING = "valid", "invalid", "mismatch", "missing"
_BRACKET = re.compile(r"\[(.*?)\]")
# Letters with their combining marks; within a word also hyphens and apostrophes.
_WORD = re.compile(r"[^\W\d_]+(?:['’‐‑-][^\W\d_]+)*")
_LETTERS = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True)
class ParsedWord:
    """`word` is None where the reply does not count; `outcome` says why: valid, invalid, mismatch or missing."""

    word: str | None
    outcome: str


def parse_word(reply: str | None, letter: str, *, published: bool = False) -> ParsedWord:
    """The word of a reply to a template with an initial letter.

    The reply's first [bracket], lower-cased. Not one word (letters, with hyphens or apostrophes within): `invalid`,
    as is a reply without a bracket. Another initial than `letter`: `mismatch` (accents off: é is e). No reply:
    `missing`. Words such as null, none, nan and na are words.

    `published=True`: whatever the first bracket holds counts, its spaces deleted; a reply without a bracket, or
    with an empty one, is missing. What would be invalid or a mismatch keeps its outcome beside its word.

    Source: Raj et al. 2024, *BiasDora*.

    >>> parse_word("It is [Null].", "n"), parse_word("[two words]", "t"), parse_word("[apple]", "b").outcome
    (ParsedWord(word='null', outcome='valid'), ParsedWord(word=None, outcome='invalid'), 'mismatch')
    """
    if not isinstance(reply, str):
        return ParsedWord(None, MISSING)
    bracket = _BRACKET.search(reply)
    if bracket is None:
        return ParsedWord(None, MISSING if published else INVALID)
    text = unicodedata.normalize("NFC", bracket[1]).lower().strip()
    if published:
        text = text.replace(" ", "")
        if not text:
            return ParsedWord(None, MISSING)
    if not _WORD.fullmatch(text):
        return ParsedWord(text if published else None, INVALID)
    if letter and _initial(text) != _initial(letter.lower()):
        return ParsedWord(text if published else None, MISMATCH)
    return ParsedWord(text, VALID)


def description_tokens(text: str | None, *, published: bool = False) -> list[str]:
    """The words of a description, without English stop words (NLTK's list).

    Letters after splitting at anything else, lower-cased. `published=True` splits at white space and keeps
    tokens of letters alone: words that touch punctuation are lost. No text: no words.

    Source: Raj et al. 2024.

    >>> description_tokens("A young person, smiling at the well-lit window."), description_tokens("A man, 30, smiling.")
    (['young', 'person', 'smiling', 'well', 'lit', 'window'], ['man', 'smiling'])
    >>> description_tokens("A man, 30, smiling here now; kind", published=True)
    ['smiling', 'kind']
    """
    if not isinstance(text, str):
        return []
    plain = unicodedata.normalize("NFC", text).lower()
    if published:
        return [word for word in plain.split() if word not in NLTK and word.isalpha()]
    return [word for word in _LETTERS.findall(plain) if word not in NLTK]


def _initial(word: str) -> str:
    return unicodedata.normalize("NFD", word)[:1]
