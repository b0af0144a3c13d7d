"""Rankings of several items, validated and coded."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.metrics.data.arrays import pairs_within
from analysis.metrics.data.validation import finite, first_value, require_columns, require_filled

COLUMNS = ("ranking", "item", "rank", "prompt", "annotator")
MOST_RANKED = 10  # items of a ranking: any of 2¹⁰ − 1 sets of them may take the next place


@dataclass(frozen=True, eq=False)
class Rankings:
    """One entry per ranked item, sorted by ranking and then by rank.

    `item` and `ranking` are codes from 0. `place` is the number of items ranked above, 0 for the first; tied items
    share it. `prompt` and `annotator` have one code from 0 per ranking. `single_item` is the number of rankings of a
    single item, which were left out.
    """

    items: NDArray[Any]
    item: NDArray[Any]
    ranking: NDArray[Any]
    place: NDArray[Any]
    prompt: NDArray[Any]
    annotator: NDArray[Any]
    prompt_names: NDArray[Any]
    annotators: int
    single_item: int

    def __len__(self) -> int:
        return len(self.prompt)

    @classmethod
    def of(cls, rankings: Any) -> "Rankings":
        """Read a table with the columns ranking, item, rank, prompt and annotator, one row per ranked item.

        Only the order of ranks within a ranking counts; equal ranks are a tie. Raises ValueError for a missing column,
        an empty cell, a rank that is not a number, an item that occurs twice in a ranking, a ranking of more than ten
        items, or a ranking with several prompts or annotators.
        """
        if isinstance(rankings, cls):
            return rankings
        table = require_columns(rankings, "rankings", COLUMNS)
        require_filled(table, "rankings", COLUMNS)
        rank = finite(table["rank"], "rankings")
        (ranking, names), (item, items), (prompt, prompts), (annotator, annotators) = (
            pd.factorize(table[column].astype(str), sort=True)
            for column in ("ranking", "item", "prompt", "annotator")
        )
        _require_single_owner(ranking, prompt, annotator, np.asarray(names))
        repeated = pd.DataFrame({"ranking": ranking, "item": item}).duplicated().to_numpy()
        if repeated.any():
            value = first_value(table["item"], repeated)
            raise ValueError(f"rankings: item {value!r} occurs twice in a ranking")
        size = np.bincount(ranking, minlength=len(names))
        if size.max(initial=0) > MOST_RANKED:
            raise ValueError(
                f"rankings: {names[int(size.argmax())]!r} ranks {size.max()} items, at most {MOST_RANKED} are allowed"
            )
        order = np.lexsort((item, rank, ranking))
        order = order[size[ranking[order]] > 1]
        starts = np.flatnonzero(np.diff(ranking[order], prepend=-1))
        code = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(order)))
        return cls(
            items=np.asarray(items, dtype=object),
            item=item[order],
            ranking=code,
            place=_places(starts, code, rank[order]),
            prompt=prompt[order][starts],
            annotator=annotator[order][starts],
            prompt_names=np.asarray(prompts, dtype=object),
            annotators=len(annotators),
            single_item=int((size == 1).sum()),
        )

    @cached_property
    def size(self) -> NDArray[Any]:
        """The number of items of each ranking."""
        return np.bincount(self.ranking, minlength=len(self))

    @cached_property
    def start(self) -> NDArray[Any]:
        """The index of the first entry of each ranking."""
        return np.asarray(np.cumsum(self.size) - self.size)

    @cached_property
    def tied(self) -> NDArray[Any]:
        """For each entry, the number of items that share its place, including itself."""
        _, group, number = np.unique(
            self.ranking * (MOST_RANKED + 1) + self.place, return_inverse=True, return_counts=True
        )
        return np.asarray(number[group])

    def outcomes(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """How often i was ranked above j, at [i, j], and tied with j, at [i, j] and [j, i] (items × items)."""
        items = len(self.items)
        above, below = pairs_within(self.ranking)
        level = self.place[above] == self.place[below]
        key = self.item[above] * items + self.item[below]
        wins, ties = (
            np.bincount(key[chosen], minlength=items * items).reshape(items, items)
            for chosen in (~level, level)
        )
        return wins, ties + ties.T


def _places(starts: NDArray[Any], ranking: NDArray[Any], rank: NDArray[Any]) -> NDArray[Any]:
    """The number of items ranked above each entry."""
    position = np.arange(len(rank)) - starts[ranking] if len(rank) else np.arange(0)
    begins = position == 0
    begins[1:] |= rank[1:] != rank[:-1]
    return np.asarray(position[begins][np.cumsum(begins) - 1])


def _require_single_owner(
    ranking: NDArray[Any], prompt: NDArray[Any], annotator: NDArray[Any], names: NDArray[Any]
) -> None:
    """Refuse a ranking that is not one answer of one annotator about one prompt."""
    belongs = pd.DataFrame({"ranking": ranking, "prompt": prompt, "annotator": annotator}).drop_duplicates()
    torn = belongs["ranking"].duplicated().to_numpy()
    if torn.any():
        name = names[belongs["ranking"].to_numpy()[int(np.argmax(torn))]]
        raise ValueError(f"rankings: {name!r} has more than one prompt or annotator")
