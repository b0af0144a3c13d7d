"""Which captions contain which attributes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array, vstack

from analysis.metrics.captions.words import BETWEEN, Phrase, fold, phrases_of, places, spaced, tokens, words
from analysis.metrics.data.arrays import Array
from analysis.metrics.data.results import numbers
from analysis.metrics.data.validation import require_columns, require_filled
from analysis.metrics.data.vector_sets import UNNAMED, as_text

CAPTIONS_AT_ONCE = 250_000  # bounds the memory of their words
SUBJECT = ("scorer", "model", "identity_group", "image")


@dataclass(frozen=True, eq=False)
class CaptionMatches:
    """`present[c, a]`: whether caption c (rows of `captions`) contains attribute a (of `attributes`); sparse
    booleans. `captions` states the scorer, model, identity_group and image of each caption."""

    captions: pd.DataFrame
    attributes: tuple[str, ...]
    present: csr_array

    def shares(self, units: pd.DataFrame | None = None) -> pd.DataFrame:
        """Caption score of every image and attribute: the share of the image's captions that contain it.

        Columns model, scorer, identity_group, image, attribute, score (0 … 1), in order of the images' first captions;
        an attribute that no caption contains has score 0. `units`: image, attribute; limits the result to these if all
        images and attributes would be too many.
        """
        groups = self.captions.groupby(list(SUBJECT), sort=False, dropna=False, observed=True)
        subject_of = groups.ngroup().to_numpy()
        number, first_rows = np.bincount(subject_of), np.unique(subject_of, return_index=True)[1]
        captions_of_image = csr_array(
            (np.ones(len(subject_of)), (subject_of, np.arange(len(subject_of)))),
            shape=(len(number), len(subject_of)),
        )
        hits = csr_array(captions_of_image @ self.present.astype(float))
        subject = self.captions.iloc[first_rows]
        if units is None:
            row = np.repeat(np.arange(len(number)), len(self.attributes))
            column = np.tile(np.arange(len(self.attributes)), len(number))
            times = hits.toarray().ravel()
        else:
            row, column = self._cells(subject["image"], units)
            times = np.asarray(hits[row, column], dtype=float).ravel() if len(row) else np.empty(0)
        subjects = {name: pd.Categorical(subject[name]).take(row) for name in SUBJECT}
        return pd.DataFrame(
            {
                **{name: subjects[name] for name in ("model", "scorer", "identity_group", "image")},
                "attribute": pd.Categorical(self.attributes, categories=list(self.attributes)).take(column),
                "score": numbers(times / number[row]),
            }
        )

    def _cells(self, images: pd.Series, units: pd.DataFrame) -> tuple[Array, Array]:
        """Rows (of `images`) and columns of the units, in order; an image of several scorers has several rows."""
        require_columns(units, "units", ("image", "attribute"))
        # By code: many images and attributes make millions of units, each with a long name.
        image, image_names = pd.factorize(units["image"])
        attribute, attribute_names = pd.factorize(units["attribute"])
        column = _places(self.attributes, attribute_names)[attribute]
        is_known = (image >= 0) & (attribute >= 0) & (column >= 0)
        pairs = pd.DataFrame({"image": image, "column": column})[is_known].drop_duplicates()
        rows = pd.DataFrame({"image": _places(image_names, as_text(images)), "row": np.arange(len(images))})
        cells = pairs.merge(rows, on="image").sort_values(["row", "column"])
        return cells["row"].to_numpy(dtype=int), cells["column"].to_numpy(dtype=int)


def _places(names: Iterable[Any], queries: Iterable[Any]) -> Array:
    """The position of each queried name among `names`; −1 if it is not one of them."""
    place = {str(name): number for number, name in enumerate(names)}
    return np.array([place.get(str(name), -1) for name in queries], dtype=np.int64)


def match_captions(captions: pd.DataFrame, attributes: Iterable[str]) -> CaptionMatches:
    """Find attributes in captions as whole words, in any case and inflection (Jha et al. 2024).

    'hats' contains 'hat', 'hatter' does not; a hyphen is a space; the words of an attribute must be adjacent, with no
    other character between them; 'tall hat' contains 'hat' too. Words are folded with simplemma's English lemmas;
    possessives lose their ending.

    `captions`: identity_group, image, caption[, scorer, model]; one row per caption. `attributes`: text, each
    once. An attribute without a word never matches. ValueError: a column is missing, a caption is empty
    (null).
    """
    require_columns(captions, "captions", ("identity_group", "image", "caption"))
    require_filled(captions, "captions", ["caption"])
    phrases = phrases_of(attributes)
    distinct = list(dict.fromkeys(phrase for phrase in phrases.values() if phrase))
    place = {phrase: number for number, phrase in enumerate(distinct)}
    texts = captions["caption"].tolist()
    parts = [
        _present(texts[begin : begin + CAPTIONS_AT_ONCE], distinct)
        for begin in range(0, max(len(texts), 1), CAPTIONS_AT_ONCE)
    ]
    column = [place.get(phrase, len(distinct)) for phrase in phrases.values()]
    unnamed = dict.fromkeys({"scorer", "model"} - set(captions), UNNAMED)
    return CaptionMatches(
        captions.assign(**unnamed)[list(SUBJECT)].reset_index(drop=True),
        tuple(phrases),
        csr_array(vstack(parts, format="csr")[:, column]),
    )


def match_spans(text: str, attributes: Iterable[str]) -> list[tuple[int, int, str]]:
    """The places of attributes in a text: (start, end, attribute), in order. Spans may overlap.

    >>> match_spans("Two tall-hats and a hatter's hat", ["hat", "tall hat"])
    [(4, 13, 'tall hat'), (9, 13, 'hat'), (29, 32, 'hat')]
    """
    text_words = words(text)
    folded = [word.folded for word in text_words]
    return sorted(
        (text_words[place].start, text_words[place + len(phrase) - 1].end, attribute)
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
    coded_phrases = [
        (column, [number[word] for word in phrase])
        for column, phrase in enumerate(phrases)
        if all(word in number for word in phrase)
    ]
    where, which = _occurrences(stream, coded_phrases, len(number))
    width = len(phrases) + 1
    cells = np.unique(caption[where] * width + which)
    return csr_array(
        (np.ones(len(cells), dtype=bool), (cells // width, cells % width)), shape=(len(texts), width)
    )


def _occurrences(stream: Array, phrases: list[tuple[int, list[int]]], folded: int) -> tuple[Array, Array]:
    """Positions in the stream at which a phrase begins, and which phrase."""
    begins = np.zeros(folded, dtype=bool)
    begins[[phrase[0] for _, phrase in phrases]] = True
    at = np.flatnonzero(begins[stream])
    at = at[np.argsort(stream[at], kind="stable")]
    beginning = stream[at]
    longest = max((len(phrase) for _, phrase in phrases), default=1)
    padded = np.concatenate([stream, np.zeros(longest, dtype=stream.dtype)])
    where: list[Array] = [np.empty(0, dtype=np.int64)]
    which: list[Array] = [np.empty(0, dtype=np.int64)]
    for column, phrase in phrases:
        start, stop = np.searchsorted(beginning, [phrase[0], phrase[0] + 1])
        starts = at[start:stop]
        for step, word in enumerate(phrase[1:], start=1):
            starts = starts[padded[starts + step] == word]
        where.append(starts)
        which.append(np.full(len(starts), column))
    return np.concatenate(where), np.concatenate(which)
