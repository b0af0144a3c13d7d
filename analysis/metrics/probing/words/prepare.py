"""Texts as the words that are counted in them: the processing is part of what PAIRS measures."""

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from analysis.metrics.probing.words.bigrams import join_bigrams
from analysis.metrics.probing.words.stop_words import SMART

APOSTROPHES = "'’‘ʼ＇"
LANGUAGE = "en"
_SPLITTING = re.compile(f"[{APOSTROPHES}/]")
_DASH = re.compile("[–—―]|--+")  # between words without a space; a hyphen is within one


def process_texts(texts: Iterable[str], *, published: bool = False, bigrams: bool = True) -> list[str]:
    """Each text as its tokens, joined by spaces: what `distinguishing_words` counts.

    In this order: lower case; apostrophes and slashes part words (`published`: they are deleted, so that don't is
    dont); dashes between words part them; digits, punctuation and other characters that are no letters are
    deleted, a hyphen too (well-dressed is welldressed); SMART's stop words out; lemmas of simplemma (English);
    stop words out again; bigrams joined by `_` (`join_bigrams`) over all texts together: hand over the texts of
    all models of a study at once. Missing texts are empty.

    Source: Fraser & Kiritchenko 2024, app. C; Salton 1971; Barbaresi 2021 (simplemma); Mikolov et al. 2013.

    >>> process_texts(["The man's 2 dogs were running", "An and/or well-dressed person."])
    ['man dog run', 'welldressed person']
    """
    tokens = [words_of(text, published=published) for text in texts]
    if bigrams:
        tokens = join_bigrams(tokens)
    return [" ".join(words) for words in tokens]


def words_of(text: str | None, *, published: bool = False) -> list[str]:
    """The lemmas of one text without stop words."""
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
