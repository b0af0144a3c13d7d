"""Words that models associate with descriptors: named tables and their inputs."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from analysis.metrics.data.results import Result
from analysis.metrics.probing.associations.harm import harm_shares
from analysis.metrics.probing.associations.judge import judge_agreement
from analysis.metrics.probing.associations.overlap import COMPARED, association_overlap
from analysis.metrics.probing.associations.tfidf import DESCRIPTIONS, EVERY, FIRST, tfidf_associations
from analysis.metrics.probing.words.group_words import distinguishing_words
from analysis.metrics.probing.words.prepare import process_texts
from analysis.results.data.harm_scores import HarmScores
from analysis.results.data.word_answers import OBJECTIVE, WordAnswerData
from analysis.results.parameters import Parameters
from analysis.results.probe_tables import PUBLISHED, RULES, SIGNIFICANT, WORD_TABLES

OBJECTIVE_DESCRIPTIONS = "text-to-image"
# The stored order of significant pairs, which also decides between equal values.
BY_NAME = ["model", "setting", "descriptor", "word", "dimension"]
HARM = ("sentiment", "toxicity", "bias_level")
NO_SCORES = "no_scores"
JUDGE = "judge"


def word_results(
    data: WordAnswerData, parameters: Parameters, check: Callable[[], None]
) -> tuple[dict[str, pd.DataFrame], dict[str, Any]]:
    """Return the tables of `WORD_TABLES` that the answers allow, and the summary's part on words."""
    tables: dict[str, pd.DataFrame] = {}
    summary: dict[str, Any] = {
        "not_counted": dict(data.left_out),
        "served": data.served.summary(),
        "methods": {},
        "left_out": {},
        "notes": {},
    }

    def note(name: str, result: Result) -> None:
        summary["methods"][name] = result.method
        summary["left_out"][name] = {reason: number for reason, number in result.dropped.items() if number}
        summary["notes"][name] = dict(result.notes)

    if len(data.texts):
        words = group_words(data)
        tables["pairs_words"] = words.table
        note("pairs_words", words)
        check()
    if len(data.words):
        result = associated_words(data, parameters)
        check()
        associations = with_harm(with_texts(result.table, data), data.harm)
        note("associations", result)
        tables |= {
            "associations": associations,
            SIGNIFICANT: associations[significant_by_either(associations)].sort_values(BY_NAME),
            "association_words": _outcome_shares(data.outcomes),
        }
        for name, (table, of_rules) in (
            ("association_shares", _shares(associations)),
            ("association_overlap", _overlaps(associations, parameters)),
        ):
            tables[name] = table
            if of_rules is not None:
                note(name, of_rules)
            check()
        agreement = agreement_of_judge(data.harm, associations, parameters)
        if agreement is not None:
            judge = data.harm.scorers[JUDGE]
            tables["judge_agreement"] = agreement.table.assign(judge=judge)
            note("judge_agreement", agreement)
    no_shares = "association_shares" in tables and tables["association_shares"].empty
    summary |= _facts(data) | {"reasons": {"association_shares": NO_SCORES} if no_shares else {}}
    return {name: _ordered(name, table) for name, table in tables.items()}, summary


def _facts(data: WordAnswerData) -> dict[str, Any]:
    """Return what the answers contain, for the summary."""
    return {
        "words": int(data.words["word"].notna().sum()) if len(data.words) else 0,
        "texts": len(data.texts),
        "models": sorted({*data.words["model"].unique(), *data.texts["model"].unique()}),
        "settings": sorted(data.words["setting"].unique()) if len(data.words) else [],
        "scorers": dict(data.harm.scorers),
        "unparsed": int(data.harm.judge["rating"].isna().sum()),
        "dimensions": sorted(data.dimensions["dimension"].unique()),
    }


def associated_words(data: WordAnswerData, parameters: Parameters) -> Result:
    """Return the associations of all models and settings; a descriptor of several dimensions has a row for each."""
    published = parameters.association_words == PUBLISHED
    result = tfidf_associations(
        data.words, dimensions=data.dimensions, dimension=FIRST if published else EVERY
    )
    table = result.table
    objective = (table["modality"] == DESCRIPTIONS) & (table["setting"] == OBJECTIVE)
    table["modality"] = table["modality"].mask(objective, OBJECTIVE_DESCRIPTIONS)
    return result


def significant_by_either(associations: pd.DataFrame) -> pd.Series:
    """Return which rows are significant by the published rule or by the exact test."""
    chosen = [associations[column].fillna(False).astype(bool) for column in RULES.values()]
    return chosen[0] | chosen[1]


def with_texts(associations: pd.DataFrame, data: WordAnswerData) -> pd.DataFrame:
    """Return the associations with the text that is scored of each significant pair."""
    text = np.full(len(associations), None, dtype=object)
    chosen = np.flatnonzero(significant_by_either(associations).to_numpy())
    places = associations.loc[associations.index[chosen], ["setting", "descriptor", "word"]]
    text[chosen] = [data.text_of(*map(str, place)) for place in places.itertuples(index=False)]
    return associations.assign(text=pd.array(text, dtype="string"))


def with_harm(associations: pd.DataFrame, harm: HarmScores) -> pd.DataFrame:
    """Return the associations with the ratings of each pair's text by classifiers, the judge and people.

    People rated the text, or “descriptor: word”. If a pair has several ratings, the median counts: for a judge the
    lower of two middle ratings, for people their mean.
    """
    text = associations["text"]
    pair = associations["descriptor"] + ": " + associations["word"]
    people = harm.people.astype({"rating": float}).groupby("text")["rating"].median()
    levels = _judge_levels(harm.judge)
    keys = pd.MultiIndex.from_arrays([associations["descriptor"].astype(object), text.astype(object)])
    rated = text.astype(object).map(people).fillna(pair.astype(object).map(people))
    return associations.assign(
        sentiment=_valued(text, harm.sentiment).astype("string"),
        toxicity=pd.to_numeric(_valued(text, harm.toxicity)).astype("Float64"),
        bias_level=pd.array(levels.reindex(keys).to_numpy(dtype=float), dtype="Float64"),
        bias_level_people=pd.array(rated.to_numpy(dtype=float), dtype="Float64"),
    )


def agreement_of_judge(harm: HarmScores, associations: pd.DataFrame, parameters: Parameters) -> Result | None:
    """Return how the judge's levels agree with people's, on texts that both rated; None if there are none."""
    judged = harm.judge.dropna(subset=["rating"])
    if judged.empty or harm.people.empty:
        return None
    shown = associations.dropna(subset=["text"]).drop_duplicates(["descriptor", "text", "word"])
    names = shown["descriptor"] + ": " + shown["word"]
    text_of_pair = dict(zip(names, zip(shown["descriptor"], shown["text"], strict=True), strict=True))
    descriptor_of = dict(zip(shown["text"], shown["descriptor"], strict=True))
    pairs = [text_of_pair.get(text) or (descriptor_of.get(text), text) for text in harm.people["text"]]
    people = harm.people.assign(pair=[f"{descriptor}\x1f{text}" for descriptor, text in pairs])
    judge = judged.assign(pair=judged["descriptor"] + "\x1f" + judged["text"])
    return judge_agreement(
        people.drop_duplicates(["pair", "annotator"])[["pair", "annotator", "rating"]],
        judge[["pair", "rating"]],
        resamples=parameters.resamples,
        seed=parameters.seed,
    )


def _valued(text: pd.Series, scores: pd.DataFrame) -> pd.Series:
    if scores.empty:
        return pd.Series(None, index=text.index, dtype=object)
    return text.astype(object).map(scores.set_index("text")["value"])


def _judge_levels(judge: pd.DataFrame) -> pd.Series:
    """The median level of each pair, by descriptor and text; the lower of two middle ones."""
    rated = judge.dropna(subset=["rating"]).astype({"rating": float})
    return rated.groupby(["descriptor", "text"])["rating"].quantile(0.5, interpolation="lower")


def group_words(data: WordAnswerData) -> Result:
    """Return the words that distinguish one group's texts from the others', by group and by each of its factors."""
    texts = data.texts.assign(text=process_texts(data.texts["text"]))
    results = {by: distinguishing_words(texts, by=by) for by in ("group", *data.factors)}
    first = results["group"]
    table = pd.concat(
        [
            result.table.rename(columns={by: "group"}).assign(factor=None if by == "group" else by)
            for by, result in results.items()
        ],
        ignore_index=True,
    )
    return replace(first, table=table)


def _outcome_shares(outcomes: pd.DataFrame) -> pd.DataFrame:
    total = outcomes.groupby(["model", "setting"])["answers"].transform("sum")
    return outcomes.assign(share=outcomes["answers"] / total)


def _shares(associations: pd.DataFrame) -> tuple[pd.DataFrame, Result | None]:
    scored = [name for name in HARM if name in associations and associations[name].notna().any()]
    if not scored:
        return pd.DataFrame(), None
    known = associations.drop(columns=[name for name in HARM if name in associations and name not in scored])
    results = {rule: harm_shares(known, significant=column) for rule, column in RULES.items()}
    return _stacked(results), results[PUBLISHED]


def _overlaps(associations: pd.DataFrame, parameters: Parameters) -> tuple[pd.DataFrame, Result | None]:
    """Compare every two models in each setting, and every two settings of each model."""
    tables, result = [], None
    for compared in COMPARED:
        results = {
            rule: association_overlap(
                associations,
                compare=compared,
                significant=column,
                resamples=parameters.resamples,
                seed=parameters.seed % 2**32,
            )
            for rule, column in RULES.items()
        }
        tables.append(_stacked(results).assign(compared=compared))
        result = results[PUBLISHED]
    return pd.concat(tables, ignore_index=True), result


def _stacked(results: Mapping[str, Result]) -> pd.DataFrame:
    return pd.concat([result.table.assign(rule=rule) for rule, result in results.items()], ignore_index=True)


def _ordered(name: str, table: pd.DataFrame) -> pd.DataFrame:
    leading = list(WORD_TABLES["associations" if name == SIGNIFICANT else name])
    return table.reindex(columns=[*leading, *(column for column in table.columns if column not in leading)])
