"""What pages of automated measures share: filters of the address, and what to do where there is nothing yet."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any
from urllib.parse import urlencode

from analysis.pages.results_page import ResultsPage
from analysis.results.parameters import Parameters
from foundation.errors import NotFound

# Why there is nothing, by the reason in the summary: as a sentence.
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
# What gives it: the scorer to run, or in words.
_SCORERS = {
    "concordance": "clip",
    "salience": "captions",
    "pull": "pull",
    "mcas": "mcas",
    "automated_tendency": "clip",
}
_OTHERWISE = {
    "pull": "Pull needs default, stereotypical and non-stereotypical images of each group. Generate them "
    "with prompts "
    "of these three conditions.",
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
    """The choices of the address: scorer, encoder, target precision. An unknown one is not found."""

    page: ResultsPage

    def values(self, column: str, table: str) -> list[str]:
        """Scorers (or encoders) that the table has for the model shown, in order of their names."""
        return self.page.distinct(table, column)

    def chosen(self, column: str, table: str) -> str:
        """The scorer (or encoder) of the address, else the first."""
        return self.one_of(self.values(column, table), column)

    def one_of(self, values: Sequence[str], column: str) -> str:
        """What the address names of these, else the first."""
        requested = self.page.request.GET.get(column, "")
        if requested and requested not in values and values:
            raise NotFound(f"{column}_not_found", f"These results have no {column} named “{requested}”.")
        return requested if requested in values else next(iter(values), "")

    def rests_on(self, table: str, encoder: str) -> dict[str, Any]:
        """The inputs of an encoder's numbers, and the images and texts that it has not read."""
        notes = self.page.report.summary["notes"].get(table, {}).get(encoder, {})
        return {"encoder": encoder, **notes}

    @property
    def target(self) -> float:
        """The precision that the lead asks of a machine."""
        default = self.page.report.parameters.get(
            "target_precision", Parameters.declaration("target_precision").default
        )
        try:
            value = float(self.page.request.GET.get("target", default))
        except ValueError:
            return float(default)
        return min(max(value, 0.0), 1.0) if isfinite(value) else float(default)

    def query(self, **chosen: Any) -> str:
        """What addresses of plots carry: the model and what was chosen."""
        parameters = {name: value for name, value in chosen.items() if value}
        return f"?{urlencode(parameters)}{self.page.and_model}" if parameters else self.page.query


def why_empty(page: ResultsPage, table: str) -> str:
    """A sentence that says why a table has nothing to show, "" where it has."""
    return _WHY.get(_reason(page, table), "")


def how_to_get(page: ResultsPage, table: str) -> dict[str, str]:
    """What to do: a command to run, or a sentence."""
    reason = _reason(page, table)
    if reason == "no_images_of_these_conditions":
        return {"words": _OTHERWISE[table]}
    if reason in _NOT_BY_SCORING:
        return {}
    return {"command": f"python manage.py score --study {page.study.slug} --scorer {_SCORERS[table]}"}


def _reason(page: ResultsPage, table: str) -> str:
    empty = page.report.summary.get("empty_tables", {})
    return str(empty.get(table, "not_of_this_model"))
