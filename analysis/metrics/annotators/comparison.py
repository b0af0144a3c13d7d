"""Whether groups of annotators answer differently."""

from dataclasses import dataclass
from itertools import combinations
from math import log
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from analysis.metrics.agreement.krippendorff_alpha import krippendorff_alpha
from analysis.metrics.annotators.group_agreement import cross_agreement
from analysis.metrics.annotators.levels import Levels, levels_of
from analysis.metrics.data.annotator_ids import UNUSABLE, annotator_ids_usable
from analysis.metrics.data.arrays import Array, ratio
from analysis.metrics.data.judgements import Judgements
from analysis.metrics.data.results import Result, counts, labels, numbers, words
from analysis.metrics.data.roles import stereotype_cells
from analysis.metrics.data.validation import require_choice, require_whole
from analysis.metrics.marking.comparison import MEASURES, compare_models, measures_by_scope
from analysis.metrics.resampling.bootstrap import DEFAULT_RESAMPLES, Resampling, pigeonhole_bootstrap
from analysis.metrics.resampling.intervals import TOO_FEW_ANNOTATORS
from analysis.metrics.resampling.multiplicity import LEVEL, PERMUTATIONS_PER_TEST, holm, max_t, permutation_p

SCOPES = ("all", "identity_group")
BOTH = "both"
HOLM_AT_MOST = 20  # tests; with more tests, the permutations that Holm needs cost more than max-T
PERMUTED_AT_ONCE = 2_000_000


@dataclass(frozen=True, eq=False, kw_only=True)
class AnnotatorGroups(Result):
    """`table`: one difference per pair of groups, measure and scope. `agreement`: α within groups and agreement across
    groups."""

    agreement: pd.DataFrame


def compare_annotator_groups(
    judgements: Any,
    roles: pd.DataFrame,
    annotator_groups: pd.DataFrame,
    *,
    identity_groups: pd.DataFrame | None = None,
    by: str = "all",
    adjust: str = "auto",
    permutations: int = 2_000,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = 0,
) -> AnnotatorGroups:
    """Compare groups of annotators: L and θ of each, difference, within-group α, agreement across groups.

    `annotator_groups`: annotator, group; annotators without a group are left out and counted. With
    `identity_groups` (identity_group, nationality, region) it is annotator, nationality, region, and the
    group depends on who is depicted: `in_group` (same nationality), else `same_region`, else `out_group`.

    `by`: "all", "identity_group", or "both" (two families). p by permuting the *annotators'* labels, two-sided, (b +
    1)/(B + 1). The family is every non-null row of the scope (`notes["family"]`); p_adjusted by Holm with B ≥
    20·family/0.05, or by max-T (`adjust`: "auto" takes Holm up to 20 tests). Null: `too_few_annotators` if the distinct
    relabellings cannot reach 0.05/family (max-T: 0.05), `annotator_ids_unusable` if ids do not identify people.
    Intervals and values as in `compare_models`. Table: model, scope, scope_value, measure, group_a, group_b, value_a,
    value_b, difference, ci_low, ci_high, p, p_adjusted, reason. `agreement`: model, group_a, group_b, measure, value,
    units, reason.
    """
    require_choice(by, "by", (*SCOPES, BOTH))
    require_choice(adjust, "adjust", ("auto", "holm", "max_t"))
    permutations = require_whole(permutations, "permutations", 1)
    data = Judgements.of(judgements)
    levels = levels_of(data, annotator_groups, identity_groups)
    level = levels.of_rows(data)
    cell = data.unit_cell[data.row_unit]
    model_of = data.cell_model[cell]
    masks = [(level >= 0) & (model_of == code) for code in range(len(data.model_names))]
    frames = [_relabelled(data, rows, level, levels.names) for rows in masks]
    shared = [pigeonhole_bootstrap(frame, resamples=resamples, seed=seed) for frame in frames]
    comparison = _ComparisonData(data, roles, levels, masks, shared, annotator_ids_usable(data).usable, seed)
    agreements = [
        _agreement(frame, str(name), levels.names)
        for frame, name in zip(frames, data.model_names, strict=True)
    ]
    scopes = [
        _compare_scope(comparison, scope, adjust, permutations) for scope in (SCOPES if by == BOTH else (by,))
    ]
    used = sum(int(rows.sum()) for rows in masks)
    families = {scope.name: scope.family for scope in scopes}
    return AnnotatorGroups(
        table=pd.concat([scope.table for scope in scopes], ignore_index=True),
        agreement=_without_people(pd.concat(agreements, ignore_index=True), comparison.usable),
        used=used,
        dropped={"annotator_without_group": int((~data.cell_is_none[cell]).sum()) - used},
        method="permutation of annotators' labels, "
        f"{' and '.join(dict.fromkeys(scope.adjustment for scope in scopes))}; pigeonhole bootstrap",
        seed=seed,
        resamples=resamples,
        notes={
            "family": families if by == BOTH else families[by],
            "permutations": max(scope.permutations for scope in scopes),
            "annotators_alike": levels.sizes,
        },
    )


@dataclass(frozen=True, eq=False)
class _ComparisonData:
    """Data shared by all scopes: one mask over rows and one resampling per model."""

    data: Judgements
    roles: pd.DataFrame
    levels: Levels
    masks: list[Array]
    shared: list[Resampling]
    usable: bool
    seed: int


@dataclass(frozen=True, eq=False)
class _Scope:
    name: str
    table: pd.DataFrame
    family: int
    permutations: int
    adjustment: str


def _compare_scope(comparison: _ComparisonData, by: str, adjust: str, permutations: int) -> _Scope:
    """The differences in one scope. They form one family."""
    data, levels = comparison.data, comparison.levels
    tests = len(data.model_names) * len(list(combinations(levels.names, 2))) * len(MEASURES)
    tests *= 1 if by == "all" else len(data.group_names)
    holm_used = adjust == "holm" or (adjust == "auto" and tests <= HOLM_AT_MOST)
    drawn = max(permutations, PERMUTATIONS_PER_TEST * tests) if holm_used else permutations
    tables, statistics = [], []
    for name, rows, shared in zip(data.model_names, comparison.masks, comparison.shared, strict=True):
        compared = compare_models(shared.judgements, comparison.roles, by=by, resampling=shared).table
        compared.insert(0, "model", labels([name] * len(compared)))
        tables.append(compared)
        if comparison.usable and len(compared):
            statistics.append(_permuted(comparison, rows, by, drawn, compared))
    table = pd.concat(tables, ignore_index=True).drop(columns=["ratio", "ratio_low", "ratio_high"])
    table = table.rename(columns={"model_a": "group_a", "model_b": "group_b"})
    observed = table["difference"].to_numpy(dtype=float, na_value=np.nan)
    family = int((~np.isnan(observed)).sum())
    reason = table["reason"].fillna("").to_numpy(dtype=object)
    p: Array = np.full(len(table), np.nan)
    adjusted: Array = p
    if not comparison.usable:
        reason = np.full(len(table), UNUSABLE, dtype=object)
        nothing = ["value_a", "value_b", "difference", "ci_low", "ci_high"]
        table = table.assign(**{name: numbers(np.full(len(table), np.nan)) for name in nothing})
        family = 0
    elif family and levels.log_relabellings() < log((family if holm_used else 1) / LEVEL):
        reason = np.full(len(table), TOO_FEW_ANNOTATORS, dtype=object)
    elif family:
        permuted = np.concatenate(statistics)
        p = permutation_p(observed, permuted)
        adjusted = holm(p) if holm_used else max_t(observed, permuted)
    table = table.drop(columns="reason").assign(
        p=numbers(p), p_adjusted=numbers(adjusted), reason=words(reason)
    )
    return _Scope(by, table, family, drawn, "Holm" if holm_used else "max-T")


def _relabelled(data: Judgements, rows: Array, level: Array, names: list[str]) -> pd.DataFrame:
    """The judgements with the annotator's group in place of the model."""
    unit = data.row_unit[rows]
    cell = data.unit_cell[unit]

    def column(codes: Array, values: Any) -> pd.Categorical:
        return pd.Categorical.from_codes(codes, pd.Index(values, dtype=object))

    return pd.DataFrame(
        {
            "image": data.unit_image[unit],
            "identity_group": column(data.cell_group[cell], data.group_names),
            "attribute": column(data.cell_attribute[cell], data.attribute_names),
            "annotator": data.row_annotator[rows],
            "present": data.row_present[rows],
            "model": column(level[rows], names),
        }
    )


def _permuted(
    comparison: _ComparisonData, rows: Array, by: str, permutations: int, compared: pd.DataFrame
) -> Array:
    """The differences under permuted labels, in the order of `compared` (rows × permutations)."""
    cells = _CellCounts.of(comparison, rows)
    names = comparison.levels.names
    levels = [names.index(name) for name in sorted(set(compared["model_a"]) | set(compared["model_b"]))]
    pairs = list(combinations(range(len(levels)), 2))
    generator = np.random.default_rng(np.random.SeedSequence(comparison.seed, spawn_key=(5,)))
    at_once = max(PERMUTED_AT_ONCE // max(len(cells.group), 1), 1)
    parts = []
    for begin in range(0, permutations, at_once):
        width = min(at_once, permutations - begin)
        shuffled = generator.permuted(np.tile(cells.profile, (width, 1)), axis=1).T
        by_level = [
            measures_by_scope(*cells.role_means(comparison.levels.level_of, shuffled, level), by)
            for level in levels
        ]
        parts.append(np.concatenate([(by_level[a] - by_level[b]).reshape(-1, width) for a, b in pairs]))
    return _in_order(np.concatenate(parts, axis=1), compared, comparison.data, cells.group_codes, by)


@dataclass(frozen=True, eq=False)
class _CellCounts:
    """The judgements and marks of each person in each cell: a single product gives totals over people."""

    judgements: csr_array  # cells × people
    marks: csr_array
    group_codes: Array
    group: Array  # of each cell, as an index into `group_codes`
    roles: tuple[csr_array, csr_array]  # averages of each group's stereotypes, and of its random attributes
    profile: Array  # of each person

    @classmethod
    def of(cls, comparison: _ComparisonData, rows: Array) -> "_CellCounts":
        data = comparison.data
        people, who = np.unique(data.row_annotator[rows], return_inverse=True)
        cells, cell = np.unique(data.unit_cell[data.row_unit[rows]], return_inverse=True)
        shape = (len(cells), len(people))
        marks = csr_array((data.row_present[rows].astype(float), (cell, who)), shape=shape)
        marks.eliminate_zeros()
        group_codes, group = np.unique(data.cell_group[cells], return_inverse=True)
        stereotype = stereotype_cells(data, comparison.roles)[cells]
        return cls(
            judgements=csr_array((np.ones(len(who)), (cell, who)), shape=shape),
            marks=marks,
            group_codes=group_codes,
            group=group,
            roles=(
                _averager(group, stereotype, len(group_codes)),
                _averager(group, ~stereotype, len(group_codes)),
            ),
            profile=comparison.levels.profile[people],
        )

    def role_means(self, level_of: Array, shuffled: Array, level: int) -> tuple[Array, Array]:
        """Return the mean likelihoods of both roles by group, from the people whom each column assigns to a level."""
        totals = self._totals(level_of, shuffled, level)
        stereotypes, random = (_role_mean(totals, role) for role in self.roles)
        return stereotypes, random

    def _totals(self, level_of: Array, shuffled: Array, level: int) -> tuple[Array, Array]:
        if (level_of == level_of[0]).all():  # a person's level does not depend on the group shown
            chosen = (level_of[0][shuffled] == level).astype(float)
            return self.judgements @ chosen, self.marks @ chosen
        totals = np.zeros((2, len(self.group), shuffled.shape[1]))
        for code, identity in enumerate(self.group_codes):
            cells = np.flatnonzero(self.group == code)
            chosen = (level_of[identity][shuffled] == level).astype(float)
            totals[0, cells], totals[1, cells] = self.judgements[cells] @ chosen, self.marks[cells] @ chosen
        return totals[0], totals[1]


def _in_order(
    permuted: Array, compared: pd.DataFrame, data: Judgements, group_codes: Array, by: str
) -> Array:
    """Put the values in the order of `compared`; a row with a group that no pair of annotators judged is NaN."""
    if by == "all":
        return permuted
    names = [str(name) for name in data.group_names[group_codes]]
    listed = list(dict.fromkeys(compared["scope_value"]))
    if listed == names:
        return permuted
    place = [names.index(name) if name in names else -1 for name in listed]
    blocks = permuted.reshape(-1, len(names), permuted.shape[1])
    return np.where(np.array(place)[None, :, None] >= 0, blocks[:, place], np.nan).reshape(
        -1, permuted.shape[1]
    )


def _averager(group: Array, mask: Array, groups: int) -> csr_array:
    return csr_array((mask.astype(float), (group, np.arange(len(group)))), shape=(groups, len(group)))


def _role_mean(totals: tuple[Array, Array], role: csr_array) -> Array:
    n_shown, n_marked = totals
    was_shown = n_shown > 0
    share = np.divide(n_marked, n_shown, out=np.zeros(n_shown.shape), where=was_shown)
    number = role @ was_shown.astype(float)
    return ratio(role @ share, number)


def _agreement(frame: pd.DataFrame, model: str, names: list[str]) -> pd.DataFrame:
    """α within each group and, for each pair of groups, the mean over shared units of the share of agreeing cross
    pairs."""
    rows: list[tuple[str, str, str, float, int, str]] = []
    if len(frame):
        within = krippendorff_alpha(frame, resamples=0).table
        for _, row in within.iterrows():
            value = float(row["value"]) if pd.notna(row["value"]) else np.nan
            reason = "" if pd.isna(row["reason"]) else str(row["reason"])
            rows.append(
                (
                    row["model"],
                    row["model"],
                    "krippendorff_alpha_nominal",
                    value,
                    int(row["paired_units"]),
                    reason,
                )
            )
    unit = frame.groupby(["identity_group", "image", "attribute"], observed=True).ngroup().to_numpy()
    level = frame["model"].cat.codes.to_numpy()
    answer = frame["present"].to_numpy().astype(np.int64)
    rows += [
        (names[a], names[b], "cross_group_agreement", value, units, reason)
        for a, b, value, units, reason in cross_agreement(unit, level, answer, groups=len(names))
    ]
    columns = list(zip(*rows, strict=True)) or [()] * 6
    return pd.DataFrame(
        {
            "model": labels([model] * len(rows)),
            "group_a": labels(columns[0]),
            "group_b": labels(columns[1]),
            "measure": labels(columns[2]),
            "value": numbers(columns[3]),
            "units": counts(columns[4]),
            "reason": words(columns[5]),
        }
    )


def _without_people(agreement: pd.DataFrame, usable: bool) -> pd.DataFrame:
    if usable:
        return agreement
    return agreement.assign(
        value=numbers(np.full(len(agreement), np.nan)), reason=words([UNUSABLE] * len(agreement))
    )
