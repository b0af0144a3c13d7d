"""Every measure of models' answers to choices: named tables and their inputs."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

import pandas as pd

from analysis.metrics.data.results import Result
from analysis.metrics.probing.paired.answers import FAILED
from analysis.metrics.probing.paired.comparison import paired_comparison
from analysis.metrics.probing.paired.conditions import condition_effects, first_option_shares
from analysis.metrics.probing.paired.model_differences import model_differences
from analysis.metrics.probing.paired.planning import probe_spread
from analysis.metrics.probing.paired.scores import association_scores
from analysis.results.data.probe_answers import ProbeAnswerData
from analysis.results.parameters import Parameters
from analysis.results.probe_tables import PROBE_TABLES

# The columns that identify a request; its repeats differ only by chance.
REQUEST = ("model", "experiment", "scenario", "question", "group", "order")
# A breakdown of the scores, by the column it is by.
_BREAKDOWNS = {"pairs_questions": "question", "pairs_scenarios": "scenario", "pairs_orders": "order"}


@dataclass
class ProbeResults:
    """Tables by name; `summary`: their inputs."""

    tables: dict[str, pd.DataFrame] = field(default_factory=dict)
    methods: dict[str, str] = field(default_factory=dict)
    left_out: dict[str, dict[str, int]] = field(default_factory=dict)

    def keep(self, name: str, table: pd.DataFrame, result: Result) -> None:
        first = list(PROBE_TABLES[name])
        self.tables[name] = table.reindex(
            columns=[*first, *(column for column in table.columns if column not in first)]
        )
        self.methods[name] = result.method
        self.left_out[name] = {reason: number for reason, number in result.dropped.items() if number}


def probe_results(
    data: ProbeAnswerData, parameters: Parameters, check: Callable[[], None]
) -> tuple[dict[str, pd.DataFrame], dict[str, Any]]:
    """Return the tables of `PROBE_TABLES` and the summary's part on probes."""
    results = ProbeResults()
    answers = data.answers
    if len(answers):
        scores = association_scores(answers, factors=data.factors)
        results.keep("pairs_scores", scores.table, scores)
        results.keep("pairs_levels", scores.levels, scores)
        for name, column in _BREAKDOWNS.items():
            check()
            breakdown = association_scores(answers, by=column, factors=data.factors)
            results.keep(name, breakdown.table, breakdown)
        check()
        compared = paired_comparison(
            answers, comparisons=data.comparisons, factors=data.factors, seed=parameters.seed
        )
        results.keep("pairs_tests", compared.table, compared)
        results.keep("pairs_question_tests", compared.questions, compared)
        check()
        for name, result in (
            ("pairs_first_options", first_option_shares(answers)),
            ("pairs_order_effects", condition_effects(answers)),
            ("pairs_model_differences", model_differences(answers, comparisons=data.comparisons)),
        ):
            results.keep(name, result.table, result)
    if len(data.scenarios):
        results.tables["pairs_scenario_checks"] = data.scenarios
    tables = {
        name: results.tables.get(name, pd.DataFrame(columns=list(columns)))
        for name, columns in PROBE_TABLES.items()
    }
    return tables, {
        "answers": len(answers),
        "models": sorted(answers["model"].unique()) if len(answers) else [],
        "experiments": sorted(answers["experiment"].unique()) if len(answers) else [],
        "factors": list(data.factors),
        "comparisons": dict(data.comparisons),
        "not_counted": dict(data.left_out),
        "scenarios": dict(data.scenario_numbers) if data.scenario_numbers is not None else None,
        "served": data.served.summary(),
        "spread": _spread(answers),
        "methods": results.methods,
        "left_out": results.left_out,
    }


def _spread(answers: pd.DataFrame) -> dict[str, float] | None:
    """Return the spread of answers, scenarios and differences for planning; None if no request was repeated."""
    request = [name for name in REQUEST if name in answers]
    if not answers[answers["outcome"] != FAILED].duplicated(request).any():
        return None
    return asdict(probe_spread(answers))
