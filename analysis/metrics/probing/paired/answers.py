"""A probe's answers: their columns, the codes of outcomes, and their factors."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from analysis.metrics.data.validation import first_value, require_columns, require_filled

REQUIRED = ("model", "experiment", "scenario", "question", "group", "outcome")
OPTIONAL = ("repeat", "order", "wording", "first")
# Origins of an answer. These columns are never traits of a person in an image.
_PROVENANCE = """
answer code coder cost dimension fingerprint finish_reason id image letter probe_set reason request rule run seconds
seed served_model sure temperature text tokens_in tokens_out variant
"""
PROVENANCE = frozenset(_PROVENANCE.split())
CODES = {"plus": 1.0, "minus": -1.0, "both": 0.0, "refused": 0.0, "other": 0.0, "empty": 0.0, "declined": 0.0}
FAILED = "failed"
DECIDED = ("plus", "minus")
REFUSALS = ("refused", "both", "declined")
# The factor that the study compares in each experiment (Fraser & Kiritchenko 2024).
PUBLISHED_COMPARISONS = {"occupations": "gender", "status": "race", "potential_crime": "race"}


@dataclass(frozen=True, eq=False)
class ProbeAnswers:
    """`frame`: answers that count, with `code` −1, 0 or 1. `failed`: requests without an answer. `everything`: both
    together."""

    everything: pd.DataFrame
    factors: tuple[str, ...]

    @classmethod
    def of(cls, answers: object, factors: Sequence[str] | None = None) -> "ProbeAnswers":
        """Check a table of answers.

        Columns: model, experiment, scenario, question, group, outcome[, repeat, order, wording, and a column for each
        factor]. A factor is a column with one value per group (race and gender of the group black_man). By default the
        factors are all other columns with one value in each group and several values in total, in the order of the
        table, or the group itself if there are none. Raises ValueError for a missing column, an empty cell, an unknown
        outcome or a factor that differs within a group.
        """
        table = require_columns(answers, "answers", [*REQUIRED, *(factors or ())])
        require_filled(table, "answers", [*REQUIRED, *(factors or ())])
        frame = pd.DataFrame({name: table[name].astype(str).astype(object) for name in REQUIRED})
        for name in OPTIONAL:
            if name in table:
                frame[name] = (
                    table[name].astype(object).where(table[name].notna(), "").astype(str).astype(object)
                )
            elif name not in ("repeat", "first"):
                frame[name] = ""
        unknown = ~frame["outcome"].isin([*CODES, FAILED]).to_numpy()
        if unknown.any():
            wrong = first_value(table["outcome"], unknown)
            raise ValueError(
                f"answers: column 'outcome' must be one of {', '.join([*CODES, FAILED])}, got {wrong!r}"
            )
        chosen = _factors(table) if factors is None else tuple(factors)
        for name in chosen:
            frame[name] = table[name].astype(str).astype(object)
            _require_one_value(frame, name)
        frame["code"] = frame["outcome"].map(CODES).astype(float)
        return cls(frame.reset_index(drop=True), chosen or ("group",))

    @cached_property
    def frame(self) -> pd.DataFrame:
        return self.everything[self.everything["outcome"] != FAILED]

    @cached_property
    def dropped(self) -> dict[str, int]:
        return {FAILED: len(self.everything) - len(self.frame)}

    def comparison_of(self, experiment: str, comparisons: dict[str, str] | None) -> str:
        """The factor that an experiment compares: the declared factor, else the published factor, else the first."""
        declared = PUBLISHED_COMPARISONS if comparisons is None else comparisons
        factor = declared.get(experiment, self.factors[0])
        if factor in self.factors:
            return factor
        if comparisons is not None:
            raise ValueError(
                f"comparisons: {factor!r} is not a factor of these answers ({', '.join(self.factors)})"
            )
        return self.factors[0]

    def cell(self, *, without: Sequence[str] = ()) -> list[str]:
        """The columns that define a cell of a scenario: question, wording, order and the person's factors."""
        person = [name for name in ("group", *self.factors) if name not in without]
        if "group" in without or set(without) & set(self.factors):
            person = [name for name in person if name != "group"]
        return list(
            dict.fromkeys(name for name in ("question", "wording", "order", *person) if name not in without)
        )


def _factors(table: pd.DataFrame) -> tuple[str, ...]:
    names = []
    for name in map(str, table.columns):
        if name in (*REQUIRED, *OPTIONAL) or name in PROVENANCE or table[name].isna().any():
            continue
        values = table.groupby("group", observed=True)[name].nunique()
        if len(values) and values.max() == 1 and table[name].nunique() > 1:
            names.append(name)
    return tuple(names)


def _require_one_value(frame: pd.DataFrame, name: str) -> None:
    values = frame.groupby("group")[name].nunique()
    several = values.to_numpy() > 1
    if several.any():
        group = values.index[int(np.argmax(several))]
        raise ValueError(f"answers: column {name!r} differs within the group {group!r}")
