"""The report's part about declared questions: each campaign, and its questions with their tables and plots."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from analysis.results.data.exclusions import WORDS
from analysis.results.question_tables import QUESTION_TABLES
from analysis.results.questions.registry import MEASURES
from analysis.results.summaries.questions.estimate_tables import QuestionSource, other_condition
from analysis.results.summaries.questions.parts import parts_of
from annotation.kinds.questions import Question
from annotation.kinds.registry import kind_of
from studies.models import Study

Row = dict[str, Any]
Tables = Mapping[str, Sequence[Row]]


def question_part(
    study: Study, tables: Tables, summary: Mapping[str, Any], groups: Mapping[str, Mapping[str, Any]]
) -> list[Row]:
    """A part for each campaign that asks declared questions and is still there, in the order of the results."""
    names = {name: group["name"] for name, group in groups.items()}
    kinds = {campaign.slug: kind_of(campaign) for campaign in study.campaigns.all()}
    return [
        {
            "campaign": line,
            "condition": other_condition(line),
            "questions": list(_questions(line, kinds[line["campaign"]].questions, tables, names)),
            "methods": [
                # In the registry's order: a summary that a database stored has lost its own.
                (measure.title, line["methods"][name])
                for name, measure in MEASURES.items()
                if line["methods"].get(name)
            ],
            "not_counted": [
                (WORDS.get(reason, reason), number) for reason, number in sorted(line["not_counted"].items())
            ],
        }
        for line in summary.get("questions", [])
        if line["campaign"] in kinds
    ]


def _questions(
    line: Row, questions: Sequence[Question], tables: Tables, names: Mapping[str, str]
) -> Iterator[Row]:
    declared = {question.name: question for question in questions}
    for asked in line["questions"]:
        equal = {"campaign": line["campaign"], "question": asked["name"]}
        rows = {
            table: [row for row in tables.get(table, ()) if equal.items() <= row.items()]
            for table in QUESTION_TABLES
        }
        source = QuestionSource(rows.__getitem__, declared[asked["name"]], asked["measures"], names)
        yield {"line": asked, "parts": parts_of(source)}
