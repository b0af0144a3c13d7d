"""Shared parts of the pages of automated measures: filters in the address, and advice on missing measures."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any
from urllib.parse import urlencode

from analysis.pages.results_page import ResultsPage
from analysis.results.parameters import Parameters
from foundation.errors import NotFound

# Sentences for the reasons in the summary why a table is empty.
_WHY = {
    "no_scores": "No model has scored the images of this study yet.",
    "no_captions": "No model has written captions for the images of this study yet.",
    "no_vectors": "No encoder has read images of all conditions that this measure compares.",
    "no_judgements": "People have not judged the images yet, so scores cannot be compared with people’s answers.",
    "no_judged_image_was_scored": "None of the images that people judged have been scored.",
    "no_attributes": "The study has no attributes to look for.",
    "no_scored_image_has_a_group": "None of the scored images were generated for a group.",
    "no_images_of_these_conditions": "The study has no images of the conditions that this measure compares.",
    "no_attribute_sets": "The study does not name two attribute sets to compare.",
    "images_without_phrase": "The images of targets and attribute sets were imported without phrases, so it "
    "is not known what they show. MCAS measures only images that Stereoscope generated from the study’s phrases.",
    "texts_without_vectors": "The encoder has not read all phrases and prompts of the study yet.",
    "not_of_this_model": "There are no automated measures for the chosen model.",
}
# The scorer to run for each missing table.
_SCORERS = {
    "concordance": "clip",
    "salience": "captions",
    "pull": "pull",
    "mcas": "mcas",
    "automated_tendency": "clip",
}
_OTHERWISE = {
    "pull": "The measure pull needs default, stereotypical and non-stereotypical images of each group. Generate images "
    "with prompts of these three conditions.",
    "mcas": "MCAS needs images of targets and of two attribute sets: create a study with the protocol MCAS.",
}
_NOT_BY_SCORING = {
    "no_judgements",
    "no_judged_image_was_scored",
    "no_attributes",
    "no_scored_image_has_a_group",
    "no_attribute_sets",
    "images_without_phrase",
    "not_of_this_model",
}


@dataclass(frozen=True)
class AutomatedPage:
    """The choices in the address: scorer, encoder, target precision. Unknown names raise NotFound."""

    page: ResultsPage

    def values(self, column: str, table: str) -> list[str]:
        """Return the scorers (or encoders) in the table for the model shown, sorted by name."""
        return self.page.distinct(table, column)

    def chosen(self, column: str, table: str) -> str:
        """Return the scorer (or encoder) in the address, or the first in the table."""
        return self.one_of(self.values(column, table), column)

    def one_of(self, values: Sequence[str], column: str) -> str:
        """Return the value of `column` in the address, or the first of `values`, or ""."""
        requested = self.page.request.GET.get(column, "")
        if requested and requested not in values and values:
            raise NotFound(f"{column}_not_found", f"These results have no {column} named “{requested}”.")
        return requested if requested in values else next(iter(values), "")

    def rests_on(self, table: str, encoder: str) -> dict[str, Any]:
        """Return the inputs of an encoder's numbers, and the images and texts that it has not read."""
        notes = self.page.report.summary["notes"].get(table, {}).get(encoder, {})
        return {"encoder": encoder, **notes}

    @property
    def target(self) -> float:
        """The precision required of a scorer, from 0 to 1."""
        default = self.page.report.parameters.get(
            "target_precision", Parameters.declaration("target_precision").default
        )
        try:
            value = float(self.page.request.GET.get("target", default))
        except ValueError:
            return float(default)
        return min(max(value, 0.0), 1.0) if isfinite(value) else float(default)

    def query(self, **chosen: Any) -> str:
        """Return the query string for plots: the model and the given choices."""
        parameters = {name: value for name, value in chosen.items() if value}
        return f"?{urlencode(parameters)}{self.page.and_model}" if parameters else self.page.query


def why_empty(page: ResultsPage, table: str) -> str:
    """Return a sentence that explains why a table is empty, or "" for an unknown reason."""
    return _WHY.get(_reason(page, table), "")


def how_to_get(page: ResultsPage, table: str) -> dict[str, str]:
    """Return how to fill an empty table: a command to run, a sentence, or nothing."""
    reason = _reason(page, table)
    if reason == "no_images_of_these_conditions":
        return {"words": _OTHERWISE[table]}
    if reason in _NOT_BY_SCORING:
        return {}
    return {"command": f"python manage.py score --study {page.study.slug} --scorer {_SCORERS[table]}"}


def _reason(page: ResultsPage, table: str) -> str:
    empty = page.report.summary.get("empty_tables", {})
    return str(empty.get(table, "not_of_this_model"))
