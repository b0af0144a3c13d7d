"""Pairs of words that occur together more often than expected from their frequencies."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

LEAST_COUNT = 5
THRESHOLD = 10.0
JOINT = "_"


def join_bigrams(texts: Sequence[Sequence[str]]) -> list[list[str]]:
    """The tokens of each text, with bigrams as single tokens.

    A pair of neighbours a, b is a bigram where (c_ab − 5)·|V|/(c_a·c_b) > 10, with c the counts in all texts and |V|
    the number of distinct words and pairs. Pairs are joined from left to right; a joined word is not part of a second
    bigram.

    Source: Mikolov et al. 2013, eq. 6, with the defaults of gensim's Phrases (min_count 5, threshold 10).
    """
    counts: Counter[str] = Counter()
    pairs: Counter[tuple[str, str]] = Counter()
    for words in texts:
        counts.update(words)
        pairs.update(pairwise(words))
    vocabulary = len(counts) + len(pairs)
    joined = {
        pair
        for pair, together in pairs.items()
        if together > LEAST_COUNT
        and (together - LEAST_COUNT) / (counts[pair[0]] * counts[pair[1]]) * vocabulary > THRESHOLD
    }
    return [_join(words, joined) for words in texts] if joined else [list(words) for words in texts]


def _join(words: Sequence[str], joined: set[tuple[str, str]]) -> list[str]:
    tokens = []
    place = 0
    while place < len(words):
        if place + 1 < len(words) and (words[place], words[place + 1]) in joined:
            tokens.append(words[place] + JOINT + words[place + 1])
            place += 2
        else:
            tokens.append(words[place])
            place += 1
    return tokens
