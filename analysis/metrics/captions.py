"""Which captions contain which attributes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from analysis.metrics.caption_words import BETWEEN, Phrase, fold, phrases_of, places, spaced, tokens, words
from analysis.metrics.results import numbers
from analysis.metrics.validation import require_columns, require_filled
from analysis.metrics.vector_sets import UNNAMED

SUBJECT = ("scorer", "model", "identity_group", "image")


@dataclass(frozen=True, eq=False)
class CaptionMatches:
    """`present[c, a]`: whether caption c (rows of `captions`) contains attribute a (of `attributes`); sparse
    booleans. `captions` says what each is of: scorer, model, identity_group, image."""

    captions: pd.DataFrame
    attributes: tuple[str, ...]
    present: csr_array

    def shares(self) -> pd.DataFrame:
        """Caption score of every image and attribute: the share of the image's captions that contain it.

        Columns model, scorer, identity_group, image, attribute, score (0 … 1), in order of the images' first
        captions; an attribute that no caption contains has score 0.
        """
        groups = self.captions.groupby(list(SUBJECT), sort=False, dropna=False, observed=True)
        image = groups.ngroup().to_numpy()
        number = np.bincount(image)
        held = csr_array(
            (np.ones(len(image)), (image, np.arange(len(image)))), shape=(len(number), len(image))
        )
        score = (held @ self.present.astype(float)).toarray() / number[:, None]
        first = np.unique(image, return_index=True)[1]
        each = np.repeat(np.arange(len(number)), len(self.attributes))
        subject = self.captions.iloc[first]
        table = {name: pd.Categorical(subject[name]) for name in SUBJECT}
        attributes = pd.Categorical(self.attributes, categories=list(self.attributes))
        attribute = np.tile(np.arange(len(self.attributes)), len(number))
        return pd.DataFrame(
            {
                **{name: table[name].take(each) for name in ("model", "scorer", "identity_group", "image")},
                "attribute": attributes.take(attribute),
                "score": numbers(score.ravel()),
            }
        )


def match_captions(captions: pd.DataFrame, attributes: Iterable[str]) -> CaptionMatches:
    """Find attributes in captions: as whole words, whatever their case and inflection (Jha et al. 2024).

    'hats' contains 'hat', 'hatter' does not; a hyphen is a space; words of an attribute must be neighbours, with
    no other character between; 'tall hat' contains 'hat' too. Words are folded with simplemma's English
    lemmas, possessives lose their ending.

    `captions`: identity_group, image, caption[, scorer, model]; one row per caption. `attributes`: text, each
    once. An attribute without a word is found nowhere. ValueError: a column is missing, a caption is empty
    (null).
    """
    require_columns(captions, "captions", ("identity_group", "image", "caption"))
    require_filled(captions, "captions", ["caption"])
    phrases = phrases_of(attributes)
    distinct = list(dict.fromkeys(phrase for phrase in phrases.values() if phrase))
    present = _present(captions["caption"].tolist(), distinct)
    column = [distinct.index(phrase) if phrase else len(distinct) for phrase in phrases.values()]
    unnamed = dict.fromkeys({"scorer", "model"} - set(captions), UNNAMED)
    return CaptionMatches(
        captions.assign(**unnamed)[list(SUBJECT)].reset_index(drop=True),
        tuple(phrases),
        csr_array(present[:, column]),
    )


def match_spans(text: str, attributes: Iterable[str]) -> list[tuple[int, int, str]]:
    """Where attributes stand in a text: (start, end, attribute), in order; spans may overlap.

    >>> match_spans("Two tall-hats and a hatter's hat", ["hat", "tall hat"])
    [(4, 13, 'tall hat'), (9, 13, 'hat'), (29, 32, 'hat')]
    """
    found = words(text)
    folded = [word.folded for word in found]
    return sorted(
        (found[place].start, found[place + len(phrase) - 1].end, attribute)
        for attribute, phrase in phrases_of(attributes).items()
        for place in places(phrase, folded)
    )


def _present(texts: Sequence[str], phrases: Sequence[Phrase]) -> csr_array:
    """Captions × phrases (and one empty column), from one pass over all tokens."""
    joined = BETWEEN.join(spaced(str(text)) for text in texts)
    codes, distinct = pd.factorize(np.array(tokens(joined), dtype=object))
    number: dict[str, int] = {BETWEEN: 0}
    of_token = np.array([number.setdefault(fold(token), len(number)) for token in distinct], dtype=np.int64)
    stream = of_token[codes] if len(codes) else np.empty(0, dtype=np.int64)
    caption = np.cumsum(stream == 0)
    known = [
        (column, [number[word] for word in phrase])
        for column, phrase in enumerate(phrases)
        if all(word in number for word in phrase)
    ]
    where, which = _occurrences(stream, known, len(number))
    width = len(phrases) + 1
    cells = np.unique(caption[where] * width + which)
    return csr_array(
        (np.ones(len(cells), dtype=bool), (cells // width, cells % width)), shape=(len(texts), width)
    )


def _occurrences(
    stream: np.ndarray, phrases: list[tuple[int, list[int]]], folded: int
) -> tuple[np.ndarray, np.ndarray]:
    """Positions in the stream at which a phrase begins, and which phrase."""
    begins = np.zeros(folded, dtype=bool)
    begins[[phrase[0] for _, phrase in phrases]] = True
    at = np.flatnonzero(begins[stream])
    at = at[np.argsort(stream[at], kind="stable")]
    beginning = stream[at]
    longest = max((len(phrase) for _, phrase in phrases), default=1)
    padded = np.concatenate([stream, np.zeros(longest, dtype=stream.dtype)])
    where: list[np.ndarray] = [np.empty(0, dtype=np.int64)]
    which: list[np.ndarray] = [np.empty(0, dtype=np.int64)]
    for column, phrase in phrases:
        first, last = np.searchsorted(beginning, [phrase[0], phrase[0] + 1])
        here = at[first:last]
        for step, word in enumerate(phrase[1:], start=1):
            here = here[padded[here + step] == word]
        where.append(here)
        which.append(np.full(len(here), column))
    return np.concatenate(where), np.concatenate(which)
