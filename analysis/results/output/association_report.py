"""The report's part about words that models associate with descriptors."""

from collections.abc import Mapping, Sequence
from typing import Any

from analysis.results.probe_tables import SIGNIFICANT
from analysis.results.summaries.probing.associations import (
    RULES,
    AssociationTables,
    harm_parts,
    judge_parts,
    overlap_parts,
)
from foundation.formats import reason_text

Row = dict[str, Any]
READS = ("association_shares", "association_overlap", "judge_agreement", SIGNIFICANT)
# Beyond it a list of words no longer helps; associations.csv has every pair.
MOST_PAIRS = 40


def association_part(tables: Mapping[str, Sequence[Row]], summary: Mapping[str, Any]) -> Row | None:
    """The strongest pairs by the exact test, heat maps, overlap and judge; None if no words were requested."""
    words = summary.get("words")
    if words is None or not words["words"]:
        return None
    rows = AssociationTables(lambda table: tables.get(table, ()))
    pairs = [row for row in tables.get(SIGNIFICANT, ()) if row["significant_exact"]]
    pairs.sort(key=lambda row: (row["q_all_pairs"], -row["tfidf"]))
    sections = (
        (f"Harm, by the {RULES[rows.rule]}", harm_parts(rows)),
        (f"Overlap, by the {RULES[rows.rule]}", overlap_parts(rows)),
        ("Judge and people", judge_parts(rows)),
    )
    return {
        "summary": words,
        "pairs": pairs[:MOST_PAIRS],
        "more_pairs": max(len(pairs) - MOST_PAIRS, 0),
        "sections": [(title, parts) for title, parts in sections if parts],
        "not_counted": [
            (reason_text(reason), number) for reason, number in sorted(words["not_counted"].items())
        ],
        "methods": sorted(words["methods"].items()),
    }
