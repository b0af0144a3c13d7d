"""Measures by the language in which a screen was read, and agreement within and between languages."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from analysis.metrics.agreement.krippendorff_alpha import krippendorff_alpha
from analysis.metrics.annotators.comparison import compare_annotator_groups
from analysis.metrics.annotators.group_agreement import cross_agreement
from analysis.metrics.marking.likelihood import likelihood
from analysis.metrics.marking.tendency import tendency
from analysis.metrics.resampling.bootstrap import pigeonhole_bootstrap
from analysis.metrics.resampling.intervals import TOO_FEW_ANNOTATORS
from analysis.results.data.answers import CampaignAnswers
from analysis.results.data.labels import StudyData
from analysis.results.parameters import Parameters
from analysis.results.questions.tables import question_results
from analysis.results.schema import BY_LANGUAGE, LIKERT, MARKING
from analysis.results.tables.groupings import LEAST_ANNOTATORS
from annotation.kinds.questions import ChoiceQuestion, CompareQuestion, ScaleQuestion
from jobs.progress.reporter import Unwatched

ALPHA, CROSS = "krippendorff_alpha_nominal", "cross_language_agreement"
ORDINAL_ALPHA = "krippendorff_alpha_ordinal"
UNSURE = 3  # of ratings: no point of the scale
# For questions: the column of each table with the estimate, and the meaning of n.
_OF_QUESTIONS = {"question_agreement": ("measure", "value", "answers"), "scales": ("mean", "mean", "answers")}


def languages_table(data: StudyData, parameters: Parameters) -> pd.DataFrame | None:
    """Return a row per language and estimate; None where all answers were read in one language.

    A language that fewer than `LEAST_ANNOTATORS` people read has no estimates, so that nobody is described alone. A
    report that leaves annotators out has no estimates by language, because two reports would reveal one person's
    answers.
    """
    parts = [] if parameters.part_of_the_labels else list(_parts(data, parameters))
    if not parts:
        return None
    columns = BY_LANGUAGE["by_language"]
    return pd.concat([part.reindex(columns=list(columns)) for part in parts], ignore_index=True)


def _parts(data: StudyData, parameters: Parameters) -> Iterator[pd.DataFrame]:
    readings = ((data.judgements, "judgements", _marking), (data.ratings, "ratings", _rating))
    for frame, name, measures in readings:
        languages = data.languages.get(name)
        if languages is None:
            continue
        frame = frame.assign(language=languages.to_numpy())
        yield from _by_language(frame, partial(measures, data, parameters))
        if name == "judgements":
            yield from _between(data, parameters, frame)
        else:
            same = frame.assign(unit=frame["attribute"], answer=frame["rating"])
            yield from _between_answers(same[same["rating"] != UNSURE], campaign_kind=str(LIKERT))
    for answers in data.answers:
        about = {"campaign": answers.campaign}
        yield from _by_language(answers.annotations, partial(_questions, answers, parameters), **about)
        for question, given in _comparable(answers):
            yield from _between_answers(given, campaign_kind=answers.kind.key, question=question, **about)


def _by_language(
    frame: pd.DataFrame, measures: Callable[[pd.DataFrame], Iterator[pd.DataFrame]], **about: str
) -> Iterator[pd.DataFrame]:
    languages = sorted(frame["language"].dropna().unique())
    if len(languages) < 2:
        return
    for language in languages:
        rows = frame[frame["language"] == language]
        annotators = int(rows["annotator"].nunique())
        told = {**about, "language": language, "annotators": annotators}
        if annotators < LEAST_ANNOTATORS:
            yield pd.DataFrame([{**told, "n": len(rows), "reason": TOO_FEW_ANNOTATORS}])
            continue
        for part in measures(rows):
            yield part.assign(**told)


def _marking(data: StudyData, parameters: Parameters, rows: pd.DataFrame) -> Iterator[pd.DataFrame]:
    kind = {"campaign_kind": str(MARKING)}
    judgements = rows.drop(columns="language")
    resampling = pigeonhole_bootstrap(judgements, resamples=parameters.resamples, seed=parameters.seed)
    shares = likelihood(judgements, data.associations, resampling=resampling).to_frame()
    yield shares.rename(columns={"shown": "n", "likelihood": "estimate"}).assign(measure="likelihood", **kind)
    theta = tendency(
        judgements,
        data.associations,
        min_stereotypes=parameters.min_stereotypes,
        resampling=resampling,
    )
    names = {"theta": "estimate", "theta_low": "ci_low", "theta_high": "ci_high"}
    shown = judgements.groupby(["model", "identity_group"], observed=True).size().rename("n").reset_index()
    by_group = theta.to_frame().merge(shown, how="left", on=["model", "identity_group"])
    yield by_group.rename(columns=names).assign(measure="theta", **kind)
    pooled = theta.overall[theta.overall["statistic"] == "pooled"]
    yield pooled.rename(columns=names).assign(measure="theta_pooled", n=len(rows), **kind)
    alpha = krippendorff_alpha(judgements, resampling=resampling).to_frame()
    yield _agreeing(alpha).assign(measure=ALPHA, **kind)


def _rating(data: StudyData, parameters: Parameters, rows: pd.DataFrame) -> Iterator[pd.DataFrame]:
    del data
    alpha = krippendorff_alpha(
        rows.drop(columns="language"),
        level="ordinal",
        unsure="missing",
        resamples=parameters.resamples,
        seed=parameters.seed,
    )
    yield _agreeing(alpha.to_frame()).assign(measure=ORDINAL_ALPHA, campaign_kind=str(LIKERT))


def _agreeing(alpha: pd.DataFrame) -> pd.DataFrame:
    names = {"value": "estimate", "judgements": "n"}
    return alpha.drop(columns=["annotators"], errors="ignore").rename(columns=names)


def _between(data: StudyData, parameters: Parameters, frame: pd.DataFrame) -> Iterator[pd.DataFrame]:
    """How often people who read different languages agree about the same image and attribute."""
    languages = _read_by_enough(frame)
    if len(languages) < 2:
        return
    rows = frame[frame["language"].isin(languages)]
    # An annotator who changed the language is one annotator in each language: the comparison is about texts, not
    # people.
    rows = rows.assign(annotator=rows["annotator"].astype(str) + " " + rows["language"].astype(str))
    people = rows[["annotator", "language"]].drop_duplicates().rename(columns={"language": "group"})
    result = compare_annotator_groups(
        rows.drop(columns="language"),
        data.associations,
        people.astype(object),
        permutations=1,
        resamples=min(parameters.resamples, 100),
        seed=parameters.seed,
    )
    agreement = result.agreement[result.agreement["measure"] == "cross_group_agreement"]
    names = {"group_a": "language", "group_b": "other_language", "value": "estimate", "units": "n"}
    yield agreement.rename(columns=names).assign(measure=CROSS, campaign_kind=str(MARKING))


def _read_by_enough(frame: pd.DataFrame) -> list[str]:
    readers = frame[frame["language"].notna()].groupby("language")["annotator"].nunique()
    return sorted(readers[readers >= LEAST_ANNOTATORS].index)


def _between_answers(frame: pd.DataFrame, **about: str) -> Iterator[pd.DataFrame]:
    """How often people who read different languages give the same answer; wants annotator, language, unit, answer."""
    languages = _read_by_enough(frame)
    if len(languages) < 2:
        return
    rows = frame[frame["language"].isin(languages)]
    unit, answer = (pd.factorize(rows[name])[0].astype(np.int64) for name in ("unit", "answer"))
    language = pd.Categorical(rows["language"], categories=languages).codes.astype(np.int64)
    between = cross_agreement(unit, language, answer, groups=len(languages))
    yield pd.DataFrame(
        {
            "language": [languages[row.group_a] for row in between],
            "other_language": [languages[row.group_b] for row in between],
            "estimate": [row.value for row in between],
            "n": [row.units for row in between],
            "reason": [row.reason or None for row in between],
        }
    ).assign(measure=CROSS, **about)


def _comparable(answers: CampaignAnswers) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the answers to each question that offers answers, with their subject and language."""
    languages = answers.annotations.set_index("annotation")["language"]
    for question in answers.kind.questions:
        if not isinstance(question, ScaleQuestion | ChoiceQuestion | CompareQuestion):
            continue
        rows = answers.of(question)
        if isinstance(question, ScaleQuestion):
            rows = rows[~rows["rating"].isin([point.code for point in question.points if point.apart])]
            rows = rows.assign(answer=rows["rating"])
        elif isinstance(question, CompareQuestion):
            rows = rows.assign(answer=rows["code"].fillna("").astype(str) + rows["stimulus"].astype(str))
        elif question.several:  # choosing none is the empty set
            chosen = rows.groupby(["annotation", "stimulus"], sort=False)["code"].agg(frozenset).to_dict()
            rows = answers.about(answers.asked(question), question)
            keys = zip(rows["annotation"], rows["stimulus"], strict=True)
            rows = rows.assign(answer=[chosen.get(key, frozenset()) for key in keys])
        else:
            rows = rows.assign(answer=rows["code"])
        yield question.name, rows.assign(unit=rows["rated"], language=rows["annotation"].map(languages))


def _questions(
    answers: CampaignAnswers, parameters: Parameters, rows: pd.DataFrame
) -> Iterator[pd.DataFrame]:
    kept = answers.judgements[answers.judgements["annotation"].isin(rows["annotation"])]
    read = replace(
        answers,
        annotations=rows,
        judgements=kept,
        points=answers.points[answers.points["judgement"].isin(kept["judgement"])],
        boxes=answers.boxes[answers.boxes["judgement"].isin(kept["judgement"])],
    )
    tables: Mapping[str, Any] = question_results([read], parameters, Unwatched()).tables
    for name, (measure, value, number) in _OF_QUESTIONS.items():
        if name not in tables:
            continue
        table = tables[name]
        table = table[table["by"] == "all"]
        measures = table.get("measure", measure)
        yield table.assign(measure=measures, campaign_kind=answers.kind.key).rename(
            columns={value: "estimate", number: "n"}
        )
