"""The words of a reply: one word for a letter, or the words of a description."""

import re
import unicodedata
from dataclasses import dataclass

from analysis.metrics.probing.words.stop_words import NLTK

VALID, INVALID, MISMATCH, MISSING = "valid", "invalid", "mismatch", "missing"
_BRACKET = re.compile(r"\[([^\[\]]*)\]")
_PUBLISHED_BRACKET = re.compile(r"\[(.*?)\]")
_WORD = re.compile(r"[^\W\d_]+(?:['’\-][^\W\d_]+)*")  # letters, with hyphens and apostrophes within
_LETTERS = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True)
class ParsedWord:
    """`word` is None if the reply does not count. `outcome`: valid, invalid, mismatch or missing."""

    word: str | None
    outcome: str


def parse_word(reply: str | None, letter: str, *, published: bool = False) -> ParsedWord:
    """The word of a reply to a template with an initial letter.

    The word is the content of the reply's first [bracket], in lower case. If it is not a single word (letters, with
    hyphens or apostrophes inside), or if there is no bracket, the outcome is `invalid`; with another initial than
    `letter`, `mismatch`; without a reply, `missing`. Null, none, nan and na are ordinary words.

    `published=True`: any content of the first bracket counts, without its spaces; a reply without a bracket, or with an
    empty one, is missing. Words that would be invalid or a mismatch have this outcome together with the word.

    Source: Raj et al. 2024, *BiasDora*.

    >>> parse_word("It is [Null].", "n"), parse_word("[two words]", "t"), parse_word("[apple]", "b").outcome
    (ParsedWord(word='null', outcome='valid'), ParsedWord(word=None, outcome='invalid'), 'mismatch')
    """
    if not isinstance(reply, str):
        return ParsedWord(None, MISSING)
    text = unicodedata.normalize("NFKC", reply)
    bracket = _BRACKET.search(text)
    content = bracket[1].strip().lower() if bracket else ""
    outcome = VALID if content.casefold().startswith(letter.casefold()) else MISMATCH
    if not _WORD.fullmatch(content):
        outcome = INVALID
    if not published:
        return ParsedWord(content if outcome == VALID else None, outcome)
    kept = _PUBLISHED_BRACKET.search(reply)
    word = kept[1].lower().strip().replace(" ", "") if kept else ""
    return ParsedWord(word, outcome) if word else ParsedWord(None, MISSING)


def description_tokens(text: str | None, *, published: bool = False) -> list[str]:
    """The words of a description, without English stop words (NLTK's list).

    The text is split at all characters except letters, and lower-cased. `published=True` splits at white space and
    keeps only tokens of letters: words next to punctuation are lost. Without text there are no words.

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
