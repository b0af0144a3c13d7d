"""Estimates by language as pages and the report show them: over all groups, in words."""

from collections.abc import Iterable, Mapping
from typing import Any

from analysis.results.schema import COEFFICIENTS, LIKERT, MARKING
from foundation.languages import LANGUAGES

Row = dict[str, Any]
_WORDS = {
    **COEFFICIENTS,
    "theta_pooled": "θ, pooled",
    "cross_language_agreement": "Agreement between languages",
    "mean": "Mean",
}
_KINDS = {MARKING: "Images", LIKERT: "Ratings"}


def language_rows(rows: Iterable[Mapping[str, Any]]) -> list[Row]:
    """Return the rows over all groups and attributes, with languages and measures in words."""
    return [
        {
            **row,
            "about": " · ".join(filter(None, (_about(row), row["model"]))),
            "languages": " and ".join(map(_name, filter(None, (row["language"], row["other_language"])))),
            "words": _WORDS.get(row["measure"] or "", row["measure"] or "—"),
        }
        for row in rows
        if not row["identity_group"]
    ]


def _about(row: Mapping[str, Any]) -> str:
    campaign, question = row["campaign"] or "", row["question"] or ""
    return f"{campaign}: {question}" if question else campaign or _KINDS.get(row["campaign_kind"], "")


def _name(code: str) -> str:
    return LANGUAGES[code].english_name if code in LANGUAGES else code
