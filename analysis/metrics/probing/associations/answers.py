"""Words of models' answers, as codes: descriptor, document, letter and word of each."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from analysis.metrics.data.arrays import Array
from analysis.metrics.data.validation import require_columns, require_filled

REQUIRED = ("setting", "letter", "descriptor", "document", "word")
LETTERS = 26
UNNAMED = ""


@dataclass(frozen=True, eq=False)
class WordAnswers:
    """The answers of one model × setting. `word` is −1 if there is none."""

    model: str
    setting: str
    descriptor: Array
    document: Array
    documents: int
    letter: Array
    word: Array
    descriptor_names: Array
    word_names: Array
    letter_names: Array
    is_sampled: bool
    repeats_left_out: int

    @property
    def has_letters(self) -> bool:
        return bool((self.letter_names[self.letter] != UNNAMED).any()) if len(self.letter) else False

    @property
    def total(self) -> int:
        """T: documents × 26 if words were requested by letter, otherwise documents."""
        return self.documents * (LETTERS if self.has_letters else 1)


def parts(answers: Any, *, sampled: bool) -> Iterator[WordAnswers]:
    """The answers of each model × setting, in order."""
    table = require_columns(answers, "answers", REQUIRED)
    require_filled(table, "answers", ("setting", "descriptor", "document"))
    columns = {name: _codes(table[name]) for name in ("setting", "descriptor", "document")}
    columns["model"] = _codes(table["model"]) if "model" in table else _unnamed(len(table))
    columns["letter"] = _codes(table["letter"].astype(object).where(table["letter"].notna(), UNNAMED))
    word, word_names = _codes(_words(table["word"]))
    temperature = (
        pd.to_numeric(table["temperature"]).to_numpy(dtype=float) if "temperature" in table else None
    )
    repeat = _codes(table["repeat"])[0] if "repeat" in table else None
    template = _codes(table["template"])[0] if "template" in table else np.zeros(len(table), dtype=int)

    settings = len(columns["setting"][1])
    key = columns["model"][0].astype(np.int64) * max(settings, 1) + columns["setting"][0]
    order = np.argsort(key, kind="stable")
    starts = np.flatnonzero(np.diff(key[order], prepend=-1))
    for rows in np.split(order, starts[1:]) if len(order) else ():
        model = columns["model"][1][columns["model"][0][rows[0]]]
        setting = columns["setting"][1][columns["setting"][0][rows[0]]]
        is_sampled = sampled and not (temperature is not None and bool((temperature[rows] == 0).all()))
        descriptor, document = (columns[name][0][rows] for name in ("descriptor", "document"))
        keep = _one_repeat(descriptor, template[rows], document if repeat is None else repeat[rows])
        keep |= is_sampled
        _, place = np.unique(document[keep] + descriptor[keep] * (document.max() + 1), return_inverse=True)
        yield WordAnswers(
            model=str(model),
            setting=str(setting),
            descriptor=descriptor[keep],
            document=place,
            documents=int(place.max(initial=-1)) + 1,
            letter=columns["letter"][0][rows][keep],
            word=word[rows][keep],
            descriptor_names=columns["descriptor"][1],
            word_names=word_names,
            letter_names=columns["letter"][1],
            is_sampled=is_sampled,
            repeats_left_out=int((~keep).sum()),
        )


def _codes(values: pd.Series) -> tuple[Array, Array]:
    """Codes in the order of the names as text; −1 if there is no name."""
    codes, names = pd.factorize(values.astype(object))
    texts = pd.Series([str(name) for name in names], dtype=object)
    fold, sorted_names = pd.factorize(texts, sort=True)
    places = np.append(fold, -1).astype(np.int64)  # the last is for rows without a name
    return places[codes], np.asarray(sorted_names, dtype=object)


def _words(values: pd.Series) -> pd.Series:
    """Lower case by Python's rules, as published (Arrow's rules have no final sigma); blanks are not words."""
    codes, names = pd.factorize(values.astype(object))
    texts = [None if not str(name).strip() else str(name).lower() for name in names]
    return pd.Series(np.array([*texts, None], dtype=object)[codes], dtype=object)


def _unnamed(rows: int) -> tuple[Array, Array]:
    return np.zeros(rows, dtype=np.int64), np.array([UNNAMED], dtype=object)


def _one_repeat(descriptor: Array, template: Array, repeat: Array) -> Array:
    """Which rows belong to the lowest repeat of their descriptor × template."""
    asked = descriptor.astype(np.int64) * (int(template.max(initial=0)) + 1) + template
    _, place = np.unique(asked, return_inverse=True)
    lowest = np.full(int(place.max(initial=-1)) + 1, np.iinfo(np.int64).max)
    np.minimum.at(lowest, place, repeat)
    return np.asarray(repeat == lowest[place])
