"""How often groups of annotators marked, so coarse that it may be shown together with single annotators' answers.

Shares come from the report, which already withholds groups of fewer than five people and everything that would reveal
them by subtraction. Here shares are read only over everything or for a whole identity group, rounded to tenths, without
their numbers. If one identity group is withheld, all are, because the missing part of a sum could be computed.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from accounts.models import AnnotatorProfile

Row = dict[str, Any]

# Fields with one value: a person with several languages would be in several groups.
FIELDS = tuple(field for field in AnnotatorProfile.FIELDS if field != "languages")
WITHHELD = "too_few_annotators"
_MEASURES = ("likelihood_stereotype", "likelihood_random")
# Shares of 0 and 1 are never shown: they would reveal that everybody in the group gave the same answer.
_LEAST, _MOST = 1, 9


def shares_by_group(rows: Sequence[Row], field: str, identity_group: str) -> list[Row]:
    """Groups of one field with their rounded shares, over everything or (with `identity_group`) for one group.

    rows: from the table `annotator_groups`, for one model. Empty if nothing may be shown.
    """
    field_rows = [row for row in rows if row["field"] == field and row["group_a"] is not None]
    if identity_group and not _every_pair_visible(field_rows):
        return []
    scope = "identity_group" if identity_group else "all"
    shares: dict[str, dict[str, float | None]] = {}
    for row in field_rows:
        in_scope = row["scope"] == scope and (not identity_group or row["scope_value"] == identity_group)
        if in_scope and row["measure"] in _MEASURES and row["reason"] != WITHHELD:
            for side in "ab":
                shares.setdefault(row[f"group_{side}"], {})[row["measure"]] = row[f"value_{side}"]
    return [
        {"value": value, **{measure: _tenths(values.get(measure)) for measure in _MEASURES}}
        for value, values in sorted(shares.items())
    ]


def _every_pair_visible(rows: Iterable[Row]) -> bool:
    """Whether every two groups that are compared over everything are so for each identity group too."""
    pairs: dict[str, set[tuple[str, str]]] = {}
    for row in rows:
        place = row["scope_value"] if row["scope"] == "identity_group" else ""
        if row["reason"] == WITHHELD:
            return False
        pairs.setdefault(place, set()).add((row["group_a"], row["group_b"]))
    return all(compared_pairs == pairs.get("") for compared_pairs in pairs.values())


def _tenths(share: float | None) -> str | None:
    """A share in words: "about 30 %"; the two ends are open."""
    if share is None:
        return None
    tenth = min(max(round(share * 10), _LEAST), _MOST)
    if tenth == _LEAST:
        return "at most 10 %"
    return "at least 90 %" if tenth == _MOST else f"about {tenth}0 %"
