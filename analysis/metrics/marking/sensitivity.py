"""How θ and the ranking of groups change if the same answers are counted differently."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from analysis.metrics.agreement.krippendorff_alpha import NO_VARIATION
from analysis.metrics.data.annotator_ids import UNUSABLE, annotator_ids_usable
from analysis.metrics.data.arrays import Array
from analysis.metrics.data.judgements import Judgements
from analysis.metrics.data.results import Result, counts, labels, numbers, words
from analysis.metrics.data.roles import stereotype_cells
from analysis.metrics.data.validation import require_choice, require_columns, require_filled, require_whole
from analysis.metrics.marking.role_means import RoleMeans, role_means
from analysis.metrics.marking.tendency import (
    NOT_SHOWN,
    epsilons,
    mean_and_median,
    pooled_theta,
    ratios,
    smoothed,
)

BASELINE, WITHOUT_FLAGGED, MAJORITY = "baseline", "without_flagged", "majority"
ANNOTATOR_GROUP, NONE_OTHERWISE = "annotator_group", "none_of_the_above"
STATISTICS = ("pooled", "mean", "median")
NOT_ASKED = "none_of_the_above_not_asked"
NO_GROUPS = "no_annotator_groups"
TOO_FEW_GROUPS = "too_few_groups"


@dataclass(frozen=True, eq=False, kw_only=True)
class Sensitivity(Result):
    """`table`: the headline in each scenario. `ranks`: the rank of each identity group in each scenario."""

    ranks: pd.DataFrame


@dataclass(frozen=True, eq=False, kw_only=True)
class _Scenario:
    """Which answers count: per cell `shown` and `marked`, the cells that are used, and their judgements."""

    name: str
    value: str = ""
    n_shown: Array
    n_marked: Array
    counted: Array
    left_out: Array  # judgements per cell
    annotators: Array | None = None  # per model
    undefined: str = ""


@dataclass(frozen=True, eq=False)
class _Ranking:
    """θ_smoothed of each (model, group), and whether the tendency table would list the group."""

    means: RoleMeans
    theta: Array
    reason: Array
    smoothed: Array
    listed: Array


def sensitivity(
    judgements: Any,
    roles: pd.DataFrame,
    *,
    none_rows: pd.DataFrame | None = None,
    none_of_the_above: str = "ignore",
    min_stereotypes: int = 2,
    flagged: Collection[Any] = (),
    annotator_groups: pd.DataFrame | None = None,
) -> Sensitivity:
    """θ and the ranking of groups by θ_smoothed, with the same answers counted in other ways.

    Scenarios: `baseline`; `without_flagged`, without the annotators `flagged`; `majority`, each unit (image, attribute)
    counting once, with the answer of more than half of its judgements, ties left out; `annotator_group`, each group of
    annotators alone (`annotator_groups`: field, group, annotator[, identity_group: the depicted group to which the row
    applies, empty for all]); `none_of_the_above`, the other of "ignore" and "as_random". In each scenario, θ,
    θ_smoothed (with the scenario's own ε) and the listed groups are those that `tendency` would give.

    Table: model, scenario, scenario_value, statistic (pooled, mean, median as in `tendency`), value,
    baseline, difference, groups (behind the value), kendall_tau (τ-b of θ_smoothed with the baseline, over
    the groups listed in both; Kendall 1945), largest_rank_change (signed: positive = further down) and its
    group (the first by name), judgements, reason, judgements_left_out, annotators. `ranks`: model, scenario,
    scenario_value, identity_group, theta_smoothed, rank (1 = largest; ties share the smallest), baseline_rank
    (among the same groups), reason. Null: as θ, and `annotator_ids_unusable`, `no_annotator_groups`,
    `none_of_the_above_not_asked`, `too_few_groups` (fewer than two to rank), `no_variation` (all tied).
    """
    require_choice(none_of_the_above, "none_of_the_above", ("ignore", "as_random"))
    min_stereotypes = require_whole(min_stereotypes, "min_stereotypes", 0)
    data = Judgements.of(judgements, none_rows=none_rows)
    stereotype = stereotype_cells(data, roles)
    parts = [
        (scenario, _ranking(data, stereotype, scenario, min_stereotypes))
        for scenario in _scenarios(data, none_of_the_above, flagged, annotator_groups)
    ]
    base = parts[0][1]
    models = range(len(data.model_names))
    rows = [row for code in models for part in parts for row in _rows(data, code, *part, base)]
    ranks = [_ranks(data, code, *part, base) for code in models for part in parts]
    return Sensitivity(
        table=_table(rows),
        ranks=pd.concat(ranks, ignore_index=True),
        used=int(parts[0][0].n_shown[parts[0][0].counted].sum()),
        method="the same answers counted differently; Kendall's τ-b of θ_smoothed",
        notes={"none_of_the_above": none_of_the_above, "flagged": len(set(flagged))},
    )


def _scenarios(
    data: Judgements, none_of_the_above: str, flagged: Collection[Any], groups: pd.DataFrame | None
) -> Iterator[_Scenario]:
    everything = np.ones(len(data.cell_shown), dtype=bool)
    counted = everything if none_of_the_above == "as_random" else ~data.cell_is_none
    usable = annotator_ids_usable(data).usable
    unusable = "" if usable else UNUSABLE
    base = _Scenario(
        name=BASELINE,
        n_shown=data.cell_shown,
        n_marked=data.cell_marked,
        counted=counted,
        left_out=np.zeros_like(data.cell_shown),
    )
    base = replace(base, annotators=_people(data, base, None) if usable else None)
    yield base
    unflagged = ~np.isin(data.annotator_names, list(flagged))[data.row_annotator]
    yield replace(_only(data, base, unflagged), name=WITHOUT_FLAGGED, undefined=unusable)
    yield _majority(data, base)
    yield from _groups_alone(data, base, groups, unusable)
    other_mode = "ignore" if none_of_the_above == "as_random" else "as_random"
    was_asked = bool(data.cell_is_none.any())
    yield replace(
        base,
        name=NONE_OTHERWISE,
        value=other_mode,
        counted=everything if other_mode == "as_random" else ~data.cell_is_none,
        undefined="" if was_asked else NOT_ASKED,
    )


def _only(data: Judgements, base: _Scenario, rows: Array) -> _Scenario:
    """The baseline with only some judgements (a mask over rows)."""
    cell = data.unit_cell[data.row_unit]
    cells = len(data.cell_group)
    n_shown = np.bincount(cell[rows], minlength=cells)
    n_marked = np.bincount(cell[rows & data.row_present], minlength=cells)
    people = None if base.annotators is None else _people(data, base, rows)
    return replace(
        base, n_shown=n_shown, n_marked=n_marked, left_out=data.cell_shown - n_shown, annotators=people
    )


def _people(data: Judgements, base: _Scenario, rows: Array | None) -> Array:
    cell = data.unit_cell[data.row_unit]
    counted = base.counted[cell] if rows is None else base.counted[cell] & rows
    models, people = len(data.model_names), len(data.annotator_names)
    who = data.cell_model[cell[counted]].astype(np.int64) * people + data.row_annotator[counted]
    judged: Array = np.bincount(who, minlength=models * people) > 0
    return np.asarray(judged.reshape(models, people).sum(axis=1))


def _majority(data: Judgements, base: _Scenario) -> _Scenario:
    """Units instead of judgements; `left_out` are the judgements of tied units."""
    tied = 2 * data.unit_marked == data.unit_shown
    present = 2 * data.unit_marked > data.unit_shown
    return replace(
        base,
        name=MAJORITY,
        n_shown=data.cell_sum(~tied),
        n_marked=data.cell_sum(present),
        left_out=data.cell_sum(data.unit_shown * tied),
    )


def _groups_alone(
    data: Judgements, base: _Scenario, groups: pd.DataFrame | None, unusable: str
) -> Iterator[_Scenario]:
    if groups is None or groups.empty:
        yield replace(base, name=ANNOTATOR_GROUP, undefined=unusable or NO_GROUPS)
        return
    groups = require_columns(groups, "annotator_groups", ("field", "group", "annotator"))
    require_filled(groups, "annotator_groups", ("field", "group", "annotator"))
    who = pd.Index(data.annotator_names).get_indexer(pd.Index(groups["annotator"], dtype=object))
    about = np.full(len(groups), -1)
    if "identity_group" in groups:
        about = pd.Index(data.group_names).get_indexer(pd.Index(groups["identity_group"], dtype=object))
        about[groups["identity_group"].isna().to_numpy()] = -1
        # Rows about a group without judgements here have no effect.
        who[(about < 0) & groups["identity_group"].notna().to_numpy()] = -1
    depicted = data.cell_group[data.unit_cell[data.row_unit]]
    value = (groups["field"].astype(str) + ": " + groups["group"].astype(str)).to_numpy(dtype=object)
    for name in sorted(set(value)):
        places = np.flatnonzero(value == name)
        member = np.zeros((len(data.group_names), len(data.annotator_names)), dtype=bool)
        for place in places[who[places] >= 0]:
            member[about[place] if about[place] >= 0 else slice(None), who[place]] = True
        rows = member[depicted, data.row_annotator]
        alone = _only(data, base, rows)
        yield replace(alone, name=ANNOTATOR_GROUP, value=name, undefined=unusable)


def _ranking(data: Judgements, stereotype: Array, scenario: _Scenario, min_stereotypes: int) -> _Ranking:
    means = role_means(
        data, stereotype, scenario.counted, n_shown=scenario.n_shown, n_marked=scenario.n_marked
    )
    epsilon = epsilons(data, scenario.counted, scenario.n_shown)[means.block // len(data.group_names)]
    theta, reason = ratios(means.stereo, means.random)
    listed = means.stereotypes >= max(min_stereotypes, 0)
    return _Ranking(means, theta, reason, smoothed(means, epsilon), listed)


def _compared(data: Judgements, model: int, scenario: _Scenario, ranking: _Ranking, base: _Ranking) -> Array:
    """The (model, group)s ranked in both: listed, and θ_smoothed defined."""
    in_model = ranking.means.block // len(data.group_names) == model
    defined = ~np.isnan(ranking.smoothed) & ~np.isnan(base.smoothed)
    return np.asarray(in_model & ranking.listed & base.listed & defined & (not scenario.undefined))


def _rank(values: Array) -> Array:
    from scipy.stats import rankdata  # half a second to import

    # Ratios that are equal but were summed in another order must remain tied.
    return rankdata(-np.round(values, 12), method="min").astype(int)


def _rows(
    data: Judgements, model: int, scenario: _Scenario, ranking: _Ranking, base: _Ranking
) -> Iterator[dict[str, Any]]:
    compared = _compared(data, model, scenario, ranking, base)
    tau, rank_reason, change, group = _change(data, ranking, base, compared)
    of_model = scenario.counted & (data.cell_model == model)
    values, standing = _headline(data, model, ranking), _headline(data, model, base)
    for statistic, (value, groups, reason), (baseline, _, _) in zip(
        STATISTICS, values, standing, strict=True
    ):
        if scenario.undefined:
            value, groups, reason = np.nan, 0, scenario.undefined
        yield {
            "model": data.model_names[model],
            "scenario": scenario.name,
            "scenario_value": scenario.value,
            "statistic": statistic,
            "value": value,
            "baseline": baseline,
            "groups": groups,
            "kendall_tau": tau,
            "largest_rank_change": change,
            "largest_rank_change_group": group,
            "judgements": 0 if scenario.undefined else _behind(scenario, of_model, data),
            "reason": reason or rank_reason,
            "judgements_left_out": 0 if scenario.undefined else int(scenario.left_out[of_model].sum()),
            "annotators": None
            if scenario.undefined or scenario.annotators is None
            else int(scenario.annotators[model]),
        }


def _behind(scenario: _Scenario, cells: Array, data: Judgements) -> int:
    return int((data.cell_shown - scenario.left_out)[cells].sum())


def _headline(data: Judgements, model: int, ranking: _Ranking) -> list[tuple[float, int, str]]:
    """Pooled, mean and median θ of one model: value, number of groups, reason."""
    in_model = ranking.means.block // len(data.group_names) == model
    defined = in_model & ~np.isnan(ranking.means.stereo) & ~np.isnan(ranking.means.random)
    pooled, why = pooled_theta(ranking.means, defined)
    mean, median, groups, reason = mean_and_median(ranking.theta[in_model & ranking.listed])
    return [(pooled, int(defined.sum()), why), (mean, groups, reason), (median, groups, reason)]


def _change(
    data: Judgements, ranking: _Ranking, base: _Ranking, compared: Array
) -> tuple[float, str, int | None, str | None]:
    """τ, the reason if it is null, the largest change of rank (signed) and its group."""
    from scipy.stats import kendalltau  # half a second to import

    if compared.sum() < 2:
        return np.nan, TOO_FEW_GROUPS, None, None
    now, then = np.round(ranking.smoothed[compared], 12), np.round(base.smoothed[compared], 12)
    moved = _rank(now) - _rank(then)
    most = int(np.argmax(np.abs(moved)))
    name = str(data.group_names[ranking.means.block[compared] % len(data.group_names)][most])
    varies = np.ptp(now) > 0 and np.ptp(then) > 0
    tau = float(kendalltau(now, then).statistic) if varies else np.nan
    return tau, "" if varies else NO_VARIATION, int(moved[most]), name if moved[most] else None


def _table(rows: list[dict[str, Any]]) -> pd.DataFrame:
    frame = pd.DataFrame(rows)
    value, baseline = frame["value"].to_numpy(float), frame["baseline"].to_numpy(float)
    return pd.DataFrame(
        {
            **{name: labels(frame[name]) for name in ("model", "scenario", "scenario_value", "statistic")},
            "value": numbers(value),
            "baseline": numbers(baseline),
            "difference": numbers(value - baseline),
            "groups": counts(frame["groups"]),
            "kendall_tau": numbers(frame["kendall_tau"]),
            "largest_rank_change": frame["largest_rank_change"].astype("Int64"),
            "largest_rank_change_group": words([row["largest_rank_change_group"] for row in rows]),
            "judgements": counts(frame["judgements"]),
            "reason": words(frame["reason"]),
            "judgements_left_out": counts(frame["judgements_left_out"]),
            "annotators": frame["annotators"].astype("Int64"),
        }
    )


def _ranks(
    data: Judgements, model: int, scenario: _Scenario, ranking: _Ranking, base: _Ranking
) -> pd.DataFrame:
    """Every group that the baseline lists, and its rank."""
    compared = _compared(data, model, scenario, ranking, base)
    ranked = base.listed & (base.means.block // len(data.group_names) == model)
    rank, before = np.zeros((2, len(ranked)), dtype=int)
    rank[compared], before[compared] = _rank(ranking.smoothed[compared]), _rank(base.smoothed[compared])
    reason = np.where(
        np.isnan(ranking.smoothed), NOT_SHOWN, np.where(ranking.listed, "", "too_few_stereotypes")
    )
    reason = np.where(np.isnan(base.smoothed), NOT_SHOWN, reason)
    undefined = bool(scenario.undefined)
    theta = np.where(undefined, np.nan, ranking.smoothed)[ranked]
    number = int(ranked.sum())
    return pd.DataFrame(
        {
            "model": labels([data.model_names[model]] * number),
            "scenario": labels([scenario.name] * number),
            "scenario_value": labels([scenario.value] * number),
            "identity_group": labels(data.group_names[ranking.means.block[ranked] % len(data.group_names)]),
            "theta_smoothed": numbers(theta),
            "rank": counts(rank[ranked], compared[ranked]),
            "baseline_rank": counts(before[ranked], compared[ranked]),
            "reason": words([scenario.undefined] * number if undefined else reason[ranked]),
        }
    )
