"""How people and rules code the same answers of models, and the effect of people's codings on scores."""

from typing import Any

import pandas as pd

from analysis.metrics.agreement.fleiss_kappa import fleiss_kappa
from analysis.metrics.agreement.krippendorff_alpha import krippendorff_alpha
from analysis.metrics.data.results import Result
from analysis.metrics.probing.coding_errors import coding_errors
from analysis.metrics.probing.paired.scores import association_scores
from analysis.results.data.coding_reviews import CodingReviewData
from analysis.results.data.probe_answers import ProbeAnswerData
from analysis.results.parameters import Parameters
from analysis.results.probe_tables import REVIEW_TABLES
from generation.probing.coding import CODES

CODERS, RULES, MODEL = "coder_coder", "rules_people", "model_people"
_AGREEMENT = {"alpha": krippendorff_alpha, "kappa": fleiss_kappa}
_SCORE = ["model", "experiment", "group"]


def review_results(
    review: CodingReviewData, answers: ProbeAnswerData, parameters: Parameters
) -> tuple[dict[str, pd.DataFrame], dict[str, Any]]:
    """Return the tables of `REVIEW_TABLES`, and their inputs."""
    people = review.ratings[["answer", "outcome"]]
    both = pd.concat(
        [
            review.reviewed[["answer", side]].set_axis(["answer", "outcome"], axis=1)
            for side in ("rules", "people")
        ]
    )
    compared = [(CODERS, "", people), (RULES, review.version, both)]
    decided = review.reviewed[["answer", "people"]].set_axis(["answer", "outcome"], axis=1)
    for coder, codings in review.models.groupby("coder"):
        by_both = [frame[["answer", "outcome"]] for frame in (codings, decided)]
        compared.append((MODEL, str(coder), pd.concat(by_both)))
    rows = [
        {"compared": name, "coder": coder} | row
        for name, coder, ratings in compared
        for row in _agreement_rows(ratings, parameters)
    ]
    errors = coding_errors(review.reviewed, review.sizes)
    tables = {
        "pairs_review": pd.DataFrame(
            [*rows, *_error_rows(errors, review.version)], columns=list(REVIEW_TABLES["pairs_review"])
        ),
        "pairs_review_scores": _scores(answers),
    }
    return tables, {
        "coders": int(review.ratings["coder"].nunique()),
        "answers": int(review.ratings["answer"].nunique()),
        "undecided": review.undecided,
        "rules": review.version,
        "sizes": dict(review.sizes),
        "method": f"α and κ: percentile, answers resampled; errors: {errors.method}",
    }


def _agreement_rows(ratings: pd.DataFrame, parameters: Parameters) -> list[dict[str, Any]]:
    """α and κ of two readings of each answer, from how many readings each outcome has."""
    number = pd.crosstab(ratings["answer"], ratings["outcome"]).reindex(columns=list(CODES), fill_value=0)
    # In a fixed order, so that draws do not depend on keys of answers.
    twice = number[number.sum(axis=1) > 1].sort_values(list(CODES))
    rows = []
    for measure, agreement in _AGREEMENT.items():
        if len(twice):
            row = agreement(twice.to_numpy(), resamples=parameters.resamples, seed=parameters.seed).rows()[0]
        else:
            row = {"value": None, "ci_low": None, "ci_high": None, "reason": "no_unit_rated_twice"}
        rows.append(
            {
                "measure": measure,
                "stratum": "all",
                **{name: row[name] for name in ("value", "ci_low", "ci_high", "reason")},
                "reviewed": len(twice),
                "answers": len(number),
            }
        )
    return rows


def _error_rows(errors: Result, version: str) -> list[dict[str, Any]]:
    return [{"compared": RULES, "coder": version, **row} for row in errors.rows()]


def _scores(data: ProbeAnswerData) -> pd.DataFrame:
    """Return the scores that count, together with the scores by the rules alone."""
    rules = data.answers.assign(outcome=data.by_rules)
    rules = rules[rules["outcome"].notna()]
    counted = association_scores(data.answers, factors=data.factors).table
    by_rules = association_scores(rules, factors=data.factors).table
    table = counted.merge(by_rules, on=_SCORE, how="left", suffixes=("", "_rules"))
    table["difference"] = table["association"] - table["association_rules"]
    return table.reindex(columns=list(REVIEW_TABLES["pairs_review_scores"]))
