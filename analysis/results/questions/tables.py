"""Every declared measure of campaigns with questions: named tables and their inputs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from analysis.results.data.answers import CampaignAnswers
from analysis.results.parameters import Parameters
from analysis.results.question_tables import QUESTION_TABLES
from analysis.results.questions import agreement, answers, preferences, words
from analysis.results.questions.groupings import Measured, stacked
from analysis.results.questions.registry import DeclaredMeasure, measures_of, unknown, unread
from annotation.kinds.declaration import Kind
from annotation.kinds.questions import Question
from jobs.progress.reporter import Progress

Compute = Callable[[CampaignAnswers, Question, Parameters], Measured]
# By the names in the registry. Two measures with the same function are computed once.
COMPUTED: dict[str, Compute] = {
    "win_rate": preferences.strengths_of_pairs,
    "bradley_terry_ties": preferences.strengths_of_pairs,
    "group_strengths": preferences.strengths_by_group,
    "position_bias": preferences.position,
    "plackett_luce": preferences.strengths_of_rankings,
    "kendall_w": preferences.concordance,
    "means": answers.scale_means,
    "point_shares": answers.answer_shares,
    "shares": answers.answer_shares,
    "group_differences": answers.group_differences,
    "model_differences": answers.model_differences,
    "alpha_ordinal": agreement.ordinal_alpha,
    "alpha_nominal": agreement.nominal_alpha,
    "alpha_masi": agreement.masi_alpha,
    "alpha_answers": agreement.answer_alphas,
    "texts": words.texts,
    "word_shares": words.marked_words,
    "word_agreement": agreement.word_alpha,
    "point_agreement": agreement.points,
    "box_agreement": agreement.boxes,
}


@dataclass(frozen=True, eq=False)
class QuestionResults:
    """Tables by name, those that the declared measures fill; and a line for each campaign."""

    tables: dict[str, pd.DataFrame]
    campaigns: list[dict[str, Any]]


def question_results(
    campaigns: Sequence[CampaignAnswers], parameters: Parameters, progress: Progress
) -> QuestionResults:
    """Measure the answers of each campaign as its kind declares."""
    parts: dict[str, list[pd.DataFrame]] = {
        name: [] for campaign in campaigns for name in tables_of(campaign.kind)
    }
    lines = []
    for campaign in campaigns:
        left_out: dict[str, dict[str, int]] = {}
        methods: dict[str, str] = {}
        done: set[tuple[str, Compute]] = set()
        for question, measure in measures_of(campaign.kind):
            compute = COMPUTED[measure.name]
            if (question.name, compute) in done:
                continue
            done.add((question.name, compute))
            progress.check_cancelled()
            progress.advance(0, f"{campaign.campaign}: {measure.name} of {question.name}")
            measured = compute(campaign, question, parameters)
            left_out.setdefault(question.name, {}).update(measured.left_out)
            methods[measure.name] = measured.method
            for name, table in measured.tables.items():
                parts[name].append(table.assign(campaign=campaign.campaign, question=question.name))
        lines.append(_line(campaign, left_out, methods))
    tables = {
        name: stacked(tables).reindex(columns=list(QUESTION_TABLES[name])) for name, tables in parts.items()
    }
    return QuestionResults(tables, lines)


def tables_of(kind: Kind) -> list[str]:
    """The tables that the measures of a kind fill, in the order of the schema."""
    names = {measure.table for _, measure in measures_of(kind)}
    if names & {"preferences", "rankings"}:
        names.add("preference_pairs")
    return [name for name in QUESTION_TABLES if name in names]


def _line(
    campaign: CampaignAnswers, left_out: dict[str, dict[str, int]], methods: dict[str, str]
) -> dict[str, Any]:
    by_question: dict[str, list[DeclaredMeasure]] = {
        question.name: [] for question in campaign.kind.questions
    }
    for question, measure in measures_of(campaign.kind):
        by_question[question.name].append(measure)
    answered = campaign.judgements.drop_duplicates(["annotation", "question", "stimulus"])["question"]
    images = campaign.stimuli[campaign.stimuli["image"].notna()]
    return {
        "campaign": campaign.campaign,
        "name": campaign.name,
        "kind": campaign.kind.key,
        "kind_name": campaign.kind.name,
        "condition": campaign.condition,
        "annotations": len(campaign.annotations),
        "annotators": int(campaign.annotations["annotator"].nunique()),
        "tasks": int(campaign.annotations["task"].nunique()),
        "images": int(images["image"].nunique()),
        "judgements": len(campaign.judgements),
        "questions": [
            {
                "name": question.name,
                "type": question.type,
                "label": question.label["en"],
                "answers": int((answered == question.name).sum()),
                "measures": [measure.name for measure in by_question[question.name]],
                "left_out": left_out.get(question.name, {}),
            }
            for question in campaign.kind.questions
        ],
        "unread": unread(campaign.kind),
        "unknown_measures": unknown(campaign.kind),
        "methods": methods,
        "not_counted": dict(campaign.not_counted),
    }
