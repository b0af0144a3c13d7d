"""The word that completes a sentence: the reply's first bracket, as BiasDora reads it."""

import re
import unicodedata
from dataclasses import dataclass
from typing import Literal

VERSION = "completions 2"
_BRACKET = re.compile(r"\[([^\[\]]*)\]")
_WORD = re.compile(r"[^\W\d_]+(?:['’\-][^\W\d_]+)*")


@dataclass(frozen=True)
class CompletedWord:
    """The word of a reply. `valid`: one word with the requested initial; `mismatch`: a word with another initial;
    `invalid`: not a word."""

    outcome: Literal["valid", "mismatch", "invalid"]
    word: str = ""


def completed_word(text: str, letter: str) -> CompletedWord:
    """Return the word in the first pair of square brackets, in lower case. Never raises, for any text."""
    bracket = _BRACKET.search(unicodedata.normalize("NFKC", text))
    content = bracket.group(1).strip().lower() if bracket else ""
    if not _WORD.fullmatch(content):
        return CompletedWord("invalid")
    has_initial = content.casefold().startswith(letter.casefold())
    return CompletedWord("valid" if has_initial else "mismatch", content)
