"""The scenarios whose images people found equal except for the person. If people were asked, only these are
compared."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import pandas as pd

from annotation.answers.questions.scenario_verdicts import (
    UNCHECKED,
    Likeness,
    Scenario,
    ScenarioVerdict,
    scenario_verdicts,
)
from studies.models import Study

NOT_ALIKE, NOT_CHECKED = "scenario_not_alike", "scenario_not_checked"
REASONS = {Likeness.KEPT: "", Likeness.FAILED: NOT_ALIKE, Likeness.OPEN: NOT_CHECKED}
COLUMNS = (
    *("image_model", "experiment", "scenario", "verdict"),
    *("alike", "small_differences", "different"),
)


@dataclass(frozen=True)
class ScenarioChecks:
    """People's verdicts about scenarios; `verdicts` is None if nobody was asked, and then all scenarios count."""

    verdicts: Mapping[Scenario, ScenarioVerdict] | None = None

    def reason(self, scenario: Scenario) -> str:
        """Return why answers about the images of a scenario do not count; empty if they do."""
        if self.verdicts is None or not scenario.scenario:
            return ""
        return REASONS[self._verdict(scenario).verdict]

    def table(self, scenarios: Iterable[Scenario]) -> pd.DataFrame:
        """Return a row for each of these scenarios; no rows if nobody was asked."""
        asked = sorted(set(scenarios)) if self.verdicts is not None else []
        rows = [(place, self._verdict(place)) for place in asked if place.scenario]
        return pd.DataFrame(
            [
                (
                    *(place.model, place.experiment, place.scenario, str(found.verdict.value)),
                    *(found.alike, found.small_differences, found.different),
                )
                for place, found in rows
            ],
            columns=list(COLUMNS),
        )

    def numbers(self, scenarios: Iterable[Scenario]) -> dict[str, int] | None:
        """Return the number of these scenarios by verdict; None if nobody was asked."""
        if self.verdicts is None:
            return None
        counted = Counter(self._verdict(place).verdict for place in set(scenarios) if place.scenario)
        return {verdict.value: counted[verdict] for verdict in Likeness}

    def _verdict(self, scenario: Scenario) -> ScenarioVerdict:
        return (self.verdicts or {}).get(scenario, UNCHECKED)


def read_scenario_checks(study: Study) -> ScenarioChecks:
    """Read people's verdicts about the study's scenarios."""
    return ScenarioChecks(scenario_verdicts(study))
