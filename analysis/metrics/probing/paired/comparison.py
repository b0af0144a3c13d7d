"""Differences between groups of a probe, tested over scenarios."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from analysis.metrics.data.results import Result, counts, labels, numbers
from analysis.metrics.data.validation import require_choice, require_whole
from analysis.metrics.probing.paired.answers import CODES, DECIDED, ProbeAnswers
from analysis.metrics.probing.paired.comparison_rows import UNITS, Contrast, comparison_table, contrast
from analysis.metrics.probing.paired.statistics import EQUIVALENCE_BOUND, PairedTest, paired_test

REFUSALS = ("counted", "left_out")
PRIMARY, OTHER_FACTOR, INTERACTION, QUESTIONS = "primary", "other_factor", "interaction", "questions"
NAMES = ("model", "experiment", "factor", "level", "other", "question", "family")
METHOD = "paired t test of differences of {}, Holm within each family; sign-flip test without adjustment"


@dataclass(frozen=True, eq=False, kw_only=True)
class PairedComparison(Result):
    """`table`: one row per test of an experiment. `questions`: per question of experiments that ask several questions
    about the same scenarios. `scenarios`: the difference of each scenario, without tests."""

    questions: pd.DataFrame
    scenarios: pd.DataFrame


def paired_comparison(
    answers: Any,
    *,
    comparisons: Mapping[str, str] | None = None,
    factors: Sequence[str] | None = None,
    unit: str = "scenarios",
    refusals: str = "counted",
    bound: float = EQUIVALENCE_BOUND,
    permutations: int = 10_000,
    seed: int = 0,
) -> PairedComparison:
    """How differently a model answers about two kinds of people in images that are otherwise equal.

    `answers` as in `association_scores`. For two levels of a factor (in alphabetical order: black − white, man −
    woman): within each scenario, the mean over repeats in each cell (question × other factors × wording × order) at
    both levels, then over cells with equal weight; a cell without answers at one level is left out at both
    (`lone_cells`), and a scenario without cells is left out (`lone_scenarios`). difference = mean over scenarios of the
    difference, in codes: between −2 and 2. t, df, p, 95 % interval, d_z = mean/sd with its noncentral-t interval,
    sign-flip p, TOST at ±`bound`: `paired_test`.

    `unit="responses"` pairs answers with equal scenario, question, other factors, wording, order and repeat. This gives
    more pairs, but they are not independent, and their intervals are too narrow. `refusals="left_out"` keeps only plus
    and minus.

    Families, each adjusted by Holm over all models and experiments of the table: `primary`, the comparison that
    `comparisons` (experiment → factor) declares; `other_factor`; `interaction`, the double difference (a₁b₁ − a₁b₂) −
    (a₂b₁ − a₂b₂) of two factors with two levels each; `questions` (in `questions`), the primary comparison by question
    if at least two questions were asked about two scenarios each. By default occupations compare gender, status and
    potential_crime compare race, as published, and any other experiment compares its first factor. `test_level` =
    0.05/tests of the family, the strictest level of Holm's procedure; `detectable_d_z` and `detectable_difference`
    (times sd): the effect that is found with 80 % power at that level.

    Missing data: *failed* is missing (`dropped`). Null: `no_pairs`, `one_pair`, `no_variation` (all differences are
    equal: t, p and d_z are null, the difference is given, and the test is not part of its family). Raises ValueError
    for a wrong table, an unknown factor or option, or answers without `repeat` if responses are paired.

    Source: Fraser & Kiritchenko 2024; Holm 1979; Cohen 1988; Schuirmann 1987.
    """
    require_choice(unit, "unit", UNITS)
    require_choice(refusals, "refusals", REFUSALS)
    seed = require_whole(seed, "seed", 0)
    permutations = require_whole(permutations, "permutations", 99)
    if not bound > 0:
        raise ValueError(f"bound: expected a number above 0, got {bound!r}")
    data = ProbeAnswers.of(answers, factors)
    if unit == "responses" and "repeat" not in data.frame:
        raise ValueError("answers: column 'repeat' is missing; pairs of responses need it")
    declared = None if comparisons is None else dict(comparisons)
    kept = list(DECIDED) if refusals == "left_out" else list(CODES)
    used = int(data.frame["outcome"].isin(kept).sum())

    groups = _PairedTests(), _PairedTests(), _PairedTests()
    for (model, experiment), part in data.everything.groupby(["model", "experiment"], sort=True):
        primary = data.comparison_of(str(experiment), declared)
        asked = _Asked(data, part, part[part["outcome"].isin(kept)], primary, unit)
        for name, difference in asked.experiment():
            full = {"model": model, "experiment": experiment, **name}
            groups[0].add(full, difference)
            if name["family"] == PRIMARY:
                groups[2].add(full, difference)
        for name, difference in asked.of_questions():
            groups[1].add({"model": model, "experiment": experiment, **name}, difference)

    def tested(rows: _PairedTests) -> pd.DataFrame:
        tests = [
            paired_test(each.differences, bound=bound, permutations=permutations, seed=seed)
            for each in rows.contrasts
        ]
        return rows.table(tests)

    table = tested(groups[0])
    return PairedComparison(
        table=table.drop(columns="question"),
        questions=tested(groups[1]),
        scenarios=groups[2].scenarios() if unit == "scenarios" else _PairedTests().scenarios(),
        used=used,
        dropped={
            **data.dropped,
            "not_decided": len(data.frame) - used,
            "lone_cells": sum(each.lone_cells for each in groups[0].contrasts),
            "lone_scenarios": sum(each.lone_scenarios for each in groups[0].contrasts),
        },
        method=METHOD.format("scenarios' means" if unit == "scenarios" else "single answers"),
        seed=seed,
        notes={
            "unit": unit,
            "refusals": refusals,
            "equivalence_bound": bound,
            "families": {
                str(family): int(size)
                for family, size in table.drop_duplicates("family").set_index("family")["family_size"].items()
            },
        },
    )


@dataclass(frozen=True, eq=False)
class _PairedTests:
    """The tests of one table, in order."""

    names: list[dict[str, Any]] = field(default_factory=list)
    contrasts: list[Contrast] = field(default_factory=list)

    def add(self, name: dict[str, Any], difference: Contrast) -> None:
        self.names.append({key: name.get(key) for key in NAMES})
        self.contrasts.append(difference)

    def table(self, tests: list[PairedTest]) -> pd.DataFrame:
        simple = [len(each.weights) == 2 for each in self.contrasts]
        means = [
            [
                each.mean(side) if two else float("nan")
                for each, two in zip(self.contrasts, simple, strict=True)
            ]
            for side in (0, 1)
        ]
        return comparison_table(
            self.names,
            tests,
            {
                "names": NAMES,
                "mean_level": numbers(means[0]),
                "mean_other": numbers(means[1]),
                "lone_cells": counts([each.lone_cells for each in self.contrasts]),
                "lone_scenarios": counts([each.lone_scenarios for each in self.contrasts]),
            },
        )

    def scenarios(self) -> pd.DataFrame:
        """The difference of each scenario."""
        rows = [
            (*(name[key] for key in NAMES[:5]), scenario, one, other)
            for name, each in zip(self.names, self.contrasts, strict=True)
            for scenario, one, other in zip(each.frame["scenario"], each.frame[0], each.frame[1], strict=True)
        ]
        columns = list(zip(*rows, strict=True)) if rows else [()] * 8
        level, other = (np.array(values, dtype=float) for values in columns[6:8])
        return pd.DataFrame(
            {
                **{key: labels(values) for key, values in zip(NAMES[:5], columns, strict=False)},
                "scenario": labels(columns[5]),
                "difference": numbers(level - other),
                "mean_level": numbers(level),
                "mean_other": numbers(other),
            }
        )


@dataclass(frozen=True, eq=False)
class _Asked:
    """The questions to one model in one experiment, and the answers that count."""

    data: ProbeAnswers
    everything: pd.DataFrame
    frame: pd.DataFrame
    primary: str
    unit: str

    def experiment(self) -> Iterator[tuple[dict[str, Any], Contrast]]:
        """The contrasts of an experiment: the primary factor, other factors, interactions."""
        factors = self.data.factors
        for factor in (self.primary, *(name for name in factors if name != self.primary)):
            family = PRIMARY if factor == self.primary else OTHER_FACTOR
            for level, other in combinations(self.levels(factor), 2):
                name = {"factor": factor, "level": level, "other": other, "family": family}
                yield name, self.difference(self.frame, factor, level, other)
        for one, two in combinations(factors, 2):
            if len(self.levels(one)) == len(self.levels(two)) == 2:
                yield {"factor": f"{one} × {two}", "family": INTERACTION}, self.double_difference(one, two)

    def of_questions(self) -> Iterator[tuple[dict[str, Any], Contrast]]:
        """The primary comparison by question, if several questions were each asked about several scenarios."""
        scenarios = self.everything.groupby("question")["scenario"].nunique()
        shared = sorted(scenarios[scenarios > 1].index)
        for question in shared if len(shared) > 1 else ():
            frame = self.frame[self.frame["question"] == question]
            for level, other in combinations(self.levels(self.primary), 2):
                name = {"factor": self.primary, "level": level, "other": other}
                yield (
                    {**name, "question": question, "family": QUESTIONS},
                    self.difference(frame, self.primary, level, other),
                )

    def levels(self, factor: str) -> list[str]:
        return sorted(self.everything[factor].unique())

    def difference(self, frame: pd.DataFrame, factor: str, level: str, other: str) -> Contrast:
        return contrast(frame, factor, (level, other), cell=self.data.cell(without=[factor]), unit=self.unit)

    def double_difference(self, one: str, two: str) -> Contrast:
        first, second = (
            (self.frame[name] == self.levels(name)[1]).to_numpy(dtype=int) for name in (one, two)
        )
        return contrast(
            self.frame.assign(_crossed=2 * first + second),
            "_crossed",
            range(4),
            cell=self.data.cell(without=[one, two]),
            weights=(1.0, -1.0, -1.0, 1.0),
            unit=self.unit,
        )
