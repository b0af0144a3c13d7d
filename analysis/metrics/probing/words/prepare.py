"""The words that are counted in texts. This processing is part of the measures of PAIRS."""

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from analysis.metrics.probing.words.bigrams import join_bigrams
from analysis.metrics.probing.words.stop_words import SMART

APOSTROPHES = "'’‘ʼ＇"
LANGUAGE = "en"
_SPLITTING = re.compile(f"[{APOSTROPHES}/]")
_DASH = re.compile("[–—―]|--+")  # between words without a space; a hyphen is inside a word


def process_texts(texts: Iterable[str], *, published: bool = False, bigrams: bool = True) -> list[str]:
    """Each text as its tokens, joined by spaces: the input of `distinguishing_words`.

    The steps are: lower case; apostrophes and slashes separate words (`published`: they are deleted, so that don't
    becomes dont); dashes between words separate them; digits, punctuation and all other characters except letters are
    deleted, including hyphens (well-dressed becomes welldressed); SMART's stop words are removed; words are replaced by
    simplemma's English lemmas; stop words are removed again; bigrams are joined by `_` (`join_bigrams`) over all texts
    together, so pass the texts of all models of a study in one call. Missing texts are empty.

    Source: Fraser & Kiritchenko 2024, app. C; Salton 1971; Barbaresi 2021 (simplemma); Mikolov et al. 2013.

    >>> process_texts(["The man's 2 dogs were running", "An and/or well-dressed person."])
    ['man dog run', 'welldressed person']
    """
    tokens = [words_of(text, published=published) for text in texts]
    if bigrams:
        tokens = join_bigrams(tokens)
    return [" ".join(words) for words in tokens]


def words_of(text: str | None, *, published: bool = False) -> list[str]:
    """The lemmas of one text, without stop words."""
    if not isinstance(text, str):
        return []
    plain = unicodedata.normalize("NFC", text).lower()
    plain = _SPLITTING.sub("" if published else " ", plain)
    plain = _DASH.sub(" ", plain)
    letters = "".join(
        c if c.isalpha() or unicodedata.category(c)[0] == "M" else " " * c.isspace() for c in plain
    )
    lemmas = (_lemma(word) for word in letters.split() if word not in SMART)
    return [word for word in lemmas if word not in SMART]


@lru_cache(maxsize=200_000)
def _lemma(word: str) -> str:
    # Imported here: it takes 0.04 s, and every analysis loads this module.
    import simplemma

    return str(simplemma.lemmatize(word, lang=LANGUAGE)).lower()
