"""Invented models, whose answers are coded and analysed as on the platform, and their planted parameters.

Each model of the back-end `script` is asked the questions of PAIRS on occupations in both orders; its answers are
texts, read by the coding rules. Others complete BiasDora's sentences; a few descriptors have words of their own.
"""

import string
import zlib
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import pandas as pd

from analysis.metrics import (
    association_scores,
    first_option_shares,
    paired_comparison,
    parse_word,
    tfidf_associations,
)
from analysis.metrics.data.results import Result
from generation.answerers.base import Answerer, AnswerRequest, QuestionFacts, Reply
from generation.answerers.script.backend import ScriptBackend
from generation.probing.coding import code_answer
from generation.probing.probe_sets import probe_set
from generation.probing.questions import AskedQuestion, Side

REPEATS = 3
BIAS = {"man": 0.3, "woman": -0.1, "black": -0.2}
RATES = {"declined_rate": 0.03, "refusal_rate": 0.1, "both_rate": 0.08, "noise": 0.2, "order_bias": 0.15}
DECIDED = (1 - RATES["declined_rate"]) * (1 - RATES["refusal_rate"]) * (1 - RATES["both_rate"])
# How strongly decided answers about a group lean to plus.
LEAN = {
    f"{race}_{gender}": (1 - RATES["noise"]) * (BIAS.get(race, 0) + BIAS[gender])
    for race, gender in product(("black", "white"), ("man", "woman"))
}
DESCRIPTORS, RUNS = 40, 10
OWN = {f"people {k}": [f"{letter}own"] for k, letter in enumerate("abcdefgh")}


def choices(models: int) -> pd.DataFrame:
    """Return a row per answer of each model, as `association_scores` takes it."""
    experiment = probe_set("pairs").experiment("occupations")
    asked = [
        (scenario, order, question)
        for scenario in experiment.scenarios
        for order in ("published", "reversed")
        for question in experiment.choices(scenario, order=order)
    ]
    rows = []
    for number in range(models):
        model = _script(f"model {number}", {"bias": BIAS, **RATES})
        for (scenario, order, question), group in product(asked, LEAN):
            race, gender = group.split("_")
            for repeat, reply in enumerate(_choose(model, question, group, seeds=range(REPEATS))):
                outcome = reply.outcome
                if outcome == "done":
                    outcome = code_answer(reply.text, question).outcome
                place = (f"model {number}", "occupations", scenario, question.name, group, race, gender)
                rows.append((*place, order, question.first, repeat, outcome))
    columns = ["model", "experiment", "scenario", "question", "group", "race", "gender"]
    return pd.DataFrame(rows, columns=[*columns, "order", "first", "repeat", "outcome"])


def _script(name: str, parameters: Mapping[str, object]) -> Answerer:
    backend = ScriptBackend()
    return backend.load(model_id=name, parameters=backend.clean(parameters))


def _choose(model: Answerer, question: AskedQuestion, group: str, *, seeds: Sequence[int]) -> list[Reply]:
    options, first = question.options, question.first
    second: Side = "minus" if first == "plus" else "plus"
    facts = QuestionFacts(
        "choice", options.option(first).text, options.option(second).text, first == "plus", group
    )
    # Seeds differ between requests, as in a real run.
    of_request = zlib.crc32("\x1f".join((question.scenario, question.name, first, group)).encode())
    return model.answer(
        AnswerRequest(question.text, tuple(of_request * 1_000 + seed for seed in seeds), facts=facts)
    )


def coverage(models: int) -> Iterator[tuple[str, float, float]]:
    """Return per measure: the share of models whose interval covers the truth, and the mean error of the estimates."""
    answers = choices(models)
    scores, tests = association_scores(answers), paired_comparison(answers).table
    gender = tests[tests["factor"] == "gender"]
    measured: dict[str, tuple[pd.DataFrame, str, str, Callable[[Mapping[Hashable, Any]], float]]] = {
        "association": (scores.table, "association", "ci", lambda row: DECIDED * LEAN[row["group"]]),
        "association without refusals": (
            scores.table,
            "association_without_refusals",
            "without_refusals",
            lambda row: LEAN[row["group"]],
        ),
        "refusal rate": (scores.table, "refusal_rate", "refusal", lambda _: 1 - DECIDED),
        "difference of men and women": (
            gender,
            "difference",
            "ci",
            lambda _: DECIDED * (1 - RATES["noise"]) * (BIAS["man"] - BIAS["woman"]),
        ),
        "share of the first option": (
            _of_models(first_option_shares(answers)),
            "share",
            "ci",
            lambda _: 0.5 + RATES["order_bias"] / 2,
        ),
    }
    for name, (table, estimate, ends, truth) in measured.items():
        true = pd.Series([truth(row) for row in table.to_dict("records")], index=table.index)
        covered = (table[f"{ends}_low"] <= true) & (true <= table[f"{ends}_high"])
        yield name, float(covered.mean()), float((table[estimate] - true).mean())


def _of_models(result: Result) -> pd.DataFrame:
    return result.table[result.table["experiment"].isna()]


def completed(models: int) -> pd.DataFrame:
    """Return a row per answered cell of a sentence, as `tfidf_associations` takes it."""
    rows = []
    for number in range(models):
        model = _script(f"model {number}", {"associations": OWN, "association_rate": 0.6})
        for descriptor, letter in product(range(DESCRIPTORS), string.ascii_lowercase):
            name = f"people {descriptor}"
            facts = QuestionFacts("complete", group=name, letter=letter)
            first = (descriptor * 26 + ord(letter)) * RUNS
            replies = model.answer(AnswerRequest("", tuple(range(first, first + RUNS)), facts=facts))
            for run, reply in enumerate(replies):
                word = parse_word(reply.text, letter).word
                rows.append((f"model {number}", "words", letter, name, run, word))
    return pd.DataFrame(rows, columns=["model", "setting", "letter", "descriptor", "document", "word"])


def discoveries(models: int, rule: str) -> tuple[float, float]:
    """Return the share of planted pairs that a rule finds, and the mean share of false ones among its findings."""
    table = tfidf_associations(completed(models)).table
    planted = pd.Series(
        [word in OWN.get(name, ()) for name, word in zip(table["descriptor"], table["word"], strict=True)]
    )
    found = table[rule].fillna(False).astype(bool)
    counted = pd.DataFrame({"model": table["model"], "false": found & ~planted, "found": found})
    of_model = counted.groupby("model").sum()
    false = float((of_model["false"] / of_model["found"].clip(lower=1)).mean())
    return float((found & planted).sum()) / (models * len(OWN)), false
