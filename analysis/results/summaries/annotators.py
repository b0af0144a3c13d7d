"""The annotators, and what the intervals of agreement resample, from a report's summary, by type of task."""

from collections.abc import Mapping
from typing import Any

from analysis.results.schema import LIKERT, MARKING

Summary = Mapping[str, Any]


def annotators_of_images(summary: Summary) -> int:
    """Return how many annotators marked attributes in images."""
    return int(summary["counted"]["annotators"][MARKING])


def annotators_of_attributes(summary: Summary) -> int:
    """Return how many annotators rated attributes."""
    return int(summary["counted"]["annotators"][LIKERT])


def resampled_for_marks(summary: Summary) -> str:
    """Return what the intervals of agreement over marks resample, "" if there are none."""
    return str(summary["agreement_resampled"].get(MARKING, ""))


def resampled_for_ratings(summary: Summary) -> str:
    """Return what the intervals of agreement over ratings resample, "" if there are none."""
    return str(summary["agreement_resampled"].get(LIKERT, ""))
