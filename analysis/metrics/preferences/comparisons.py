"""Comparisons of two items, validated and coded."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.metrics.data.validation import first_value, require_columns, require_filled

FIRST, SECOND, TIE = "first", "second", "tie"
ANSWERS = (FIRST, SECOND, TIE)
COLUMNS = ("first", "second", "answer", "prompt", "annotator")


@dataclass(frozen=True, eq=False)
class Comparisons:
    """One row per comparison; `first` and `second` are codes of `items`, in the order they were shown.

    `answer` is 0 if the item shown first was preferred, 1 if the second was preferred, 2 for a tie. Prompts and
    annotators are codes from 0.
    """

    items: NDArray[Any]
    first: NDArray[Any]
    second: NDArray[Any]
    answer: NDArray[Any]
    prompt: NDArray[Any]
    prompts: int
    annotator: NDArray[Any]
    annotators: int

    def __len__(self) -> int:
        return len(self.first)

    @classmethod
    def of(cls, comparisons: Any) -> "Comparisons":
        """Read a table with the columns first, second, answer, prompt and annotator.

        Raises ValueError for a missing column, an empty cell, an answer other than first, second or tie, or an item
        that is compared with itself.
        """
        if isinstance(comparisons, cls):
            return comparisons
        table = require_columns(comparisons, "comparisons", COLUMNS)
        require_filled(table, "comparisons", COLUMNS)
        answer = pd.Index(ANSWERS, dtype=object).get_indexer(
            pd.Index(table["answer"].astype(str), dtype=object)
        )
        if (answer < 0).any():
            value = first_value(table["answer"], answer < 0)
            raise ValueError(f"comparisons: column 'answer' must contain first, second or tie, got {value!r}")
        names = pd.concat([table["first"], table["second"]]).astype(str)
        codes, items = pd.factorize(names, sort=True)
        shown_first, shown_second = codes[: len(table)], codes[len(table) :]
        if (shown_first == shown_second).any():
            value = first_value(table["first"], shown_first == shown_second)
            raise ValueError(f"comparisons: {value!r} is compared with itself")
        prompt, prompts = pd.factorize(table["prompt"].astype(str), sort=True)
        annotator, annotators = pd.factorize(table["annotator"].astype(str), sort=True)
        return cls(
            items=np.asarray(items, dtype=object),
            first=shown_first,
            second=shown_second,
            answer=answer.astype(np.int64),
            prompt=prompt,
            prompts=len(prompts),
            annotator=annotator,
            annotators=len(annotators),
        )

    @property
    def preferred(self) -> NDArray[Any]:
        """The share of each answer that counts for the item shown first: 1, 0, or ½ for a tie."""
        shares: NDArray[Any] = np.array([1.0, 0.0, 0.5])[self.answer]
        return shares

    def outcomes(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Wins of i over j at [i, j], and ties at [i, j] and [j, i] (items × items)."""
        items = len(self.items)
        wins, ties = np.zeros((items, items)), np.zeros((items, items))
        np.add.at(wins, (self.first[self.answer == 0], self.second[self.answer == 0]), 1)
        np.add.at(wins, (self.second[self.answer == 1], self.first[self.answer == 1]), 1)
        np.add.at(ties, (self.first[self.answer == 2], self.second[self.answer == 2]), 1)
        return wins, ties + ties.T
