"""Simulated rates at which the standard quality rules warn honest annotators and detect careless ones.

Marking in screens of five attributes, each task answered by three others before, with whom the rules compare.
Everybody answers 300 screens and is checked after every tenth, so an alarm at any check counts. Honest
annotators differ: they overlook 5 to 50 % of the attributes present, tick 0 to 10 % of the absent ones, and take a
median of 5 to 30 seconds. Of the attributes asked, 5 to 40 % are present.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.table import Row
from benchmarks.web_server import ROOT

SCREENS, ON_SCREEN, EVERY, PEOPLE = 300, 5, 10, 500
MOST_FALSE_ALARMS, LEAST_CAUGHT = 0.01, 0.99


def run() -> Iterable[Row]:
    """Simulate honest annotators and three kinds of careless ones, in a process with the platform loaded."""
    command = [sys.executable, "-m", "benchmarks.annotation.quality_rules"]
    printed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for line in printed.splitlines():
        outcome = json.loads(line)
        kind, prevalence, flagged = outcome["kind"], outcome["there"], outcome["flagged"]
        honest = kind == "honest"
        within_limit = flagged <= MOST_FALSE_ALARMS if honest else flagged >= LEAST_CAUGHT
        limit = f"≤ {MOST_FALSE_ALARMS:.0%}" if honest else f"≥ {LEAST_CAUGHT:.0%}"
        yield Row(
            f"standard rules warn: {kind}, {prevalence:.0%} of what is asked is there",
            f"{flagged:.1%}",
            limit,
            within_limit,
        )


def _simulated() -> Iterator[dict[str, Any]]:
    from annotation.kinds.built_in.stereotype_marking import KIND

    rules = {rule.measure: rule for rule in KIND.standard_rules}
    for prevalence in (0.05, 0.15, 0.4):
        generator = np.random.default_rng(1)
        for kind in ("honest", "always none", "97 % none", "fast"):
            flagged = sum(_flagged(kind, prevalence, rules, generator) for _ in range(PEOPLE)) / PEOPLE
            yield {"kind": kind, "there": prevalence, "flagged": flagged}


def _flagged(kind: str, prevalence: float, rules: Mapping[Any, Any], generator: np.random.Generator) -> bool:
    from annotation.quality.enforcement import LATEST, falls_short
    from annotation.quality.measures import variety

    present = generator.random((SCREENS, ON_SCREEN)) < prevalence
    other_marks = np.zeros((SCREENS, ON_SCREEN))
    for _ in range(3):
        other_marks += _honest(present, generator) / 3
    ticked, seconds = (
        _honest(present, generator),
        generator.lognormal(np.log(generator.uniform(5, 30)), 0.6, SCREENS),
    )
    if kind == "fast":
        seconds = generator.uniform(0.0, 0.3, SCREENS)
    elif kind != "honest":
        share = 0.0 if kind == "always none" else 0.03
        ticked = generator.random((SCREENS, ON_SCREEN)) < share / ON_SCREEN
    for window in _looks(LATEST):
        number = window.stop - window.start
        observed = {1: int(ticked[window].sum()), 0: int((~ticked[window]).sum())}
        expected = {1: float(other_marks[window].sum()), 0: float((1 - other_marks[window]).sum())}
        measured = {
            "variety": variety(observed, expected),
            "median_seconds": float(np.median(seconds[window])),
        }
        for measure, value in measured.items():
            rule = rules[measure]
            if value is not None and number >= rule.minimum and falls_short(measure, rule.threshold, value):
                return True
    return False


def _honest(present: NDArray[np.bool_], generator: np.random.Generator) -> NDArray[np.bool_]:
    overlooks, invents = generator.uniform(0.05, 0.5), generator.uniform(0.0, 0.1)
    return np.where(
        present, generator.random(present.shape) >= overlooks, generator.random(present.shape) < invents
    )


def _looks(window: int) -> Iterator[slice]:
    for answered in range(EVERY, SCREENS + 1, EVERY):
        yield slice(max(0, answered - window), answered)


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "platform"))
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    import django

    django.setup()
    for outcome in _simulated():
        print(json.dumps(outcome), flush=True)
