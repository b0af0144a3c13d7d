"""Why annotations do not count, in words."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from annotation.answers.inclusion import Reason

EXCLUDED_BY_ANALYST = "excluded_by_analyst"
OTHER_CONDITION = "other_condition"
WORDS = {reason.value: str(reason.label) for reason in Reason} | {
    EXCLUDED_BY_ANALYST: "annotator left out by the analyst",
    OTHER_CONDITION: "image of another condition than these results are about",
}


def not_counted_words(summary: Mapping[str, Any]) -> list[tuple[str, int]]:
    """Reasons for leaving out annotations, with their numbers over all kinds of campaigns, the most frequent first."""
    totals = Counter[str]()
    for reasons in summary["not_counted"].values():
        totals.update(reasons)
    return [(WORDS.get(reason, reason), number) for reason, number in totals.most_common()]
