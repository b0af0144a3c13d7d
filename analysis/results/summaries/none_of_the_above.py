"""The headline by both ways of counting 'none of the above', one line each: for the overview and the report."""

from collections.abc import Mapping
from typing import Any

WORDS = {"ignore": "left out", "as_random": "as one more random attribute, as published"}


def headline_by_mode(line: Mapping[str, Any], chosen: str) -> list[dict[str, Any]]:
    """The statistics of each mode; empty where 'none of the above' was not asked and there is only one.

    line: of one model in the summary's headline. chosen: the mode that the other numbers are computed in.
    """
    modes = line["none_of_the_above"]
    if modes["as_random"] is None:
        return []
    return [
        {"words": WORDS[mode], "chosen": mode == chosen, **statistics} for mode, statistics in modes.items()
    ]
