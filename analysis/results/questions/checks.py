"""Checks that each measure declared by a kind exists and has a question to read; a question without a measure is
named."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.apps import AppConfig
from django.core.checks import ERROR, CheckMessage, Error, Warning

from analysis.results.questions.registry import MEASURES, idle, unknown, unread
from annotation.kinds.declaration import Kind
from annotation.kinds.registry import KINDS
from annotation.kinds.study_kinds import OfferedMeasure


def check_declared_measures(
    app_configs: Sequence[AppConfig] | None,  # noqa: ARG001
    **kwargs: Any,  # noqa: ARG001
) -> list[CheckMessage]:
    """Check the kinds that the platform comes with."""
    return problems(KINDS.values())


class DeclaredMeasures:
    """Messages about the measures of a kind that a study declares: see `annotation.kinds.study_kinds`."""

    def problems(self, kind: Kind) -> list[str]:
        """Return the problems of a kind's measures, in sentences."""
        return [str(message.msg) for message in problems([kind]) if message.is_serious(ERROR)]

    def explained(self, kind: Kind) -> list[tuple[str, str]]:
        """Return the title and the explanation of each measure of a kind."""
        return [
            (MEASURES[name].title, MEASURES[name].explanation) for name in kind.measures if name in MEASURES
        ]

    def offered(self, kind: Kind) -> list[OfferedMeasure]:
        """Return every measure with the questions that it reads, or the reason why there are none."""
        return [
            OfferedMeasure(
                name=measure.name,
                title=measure.title,
                explanation=measure.explanation,
                reads=reads,
                reason="" if reads else measure.idle_reason(kind),
            )
            for measure in MEASURES.values()
            for reads in [
                tuple(question.name for question in kind.questions if measure.reads(question, kind))
            ]
        ]


def problems(kinds: Iterable[Kind]) -> list[CheckMessage]:
    """Return the problems of the measures of kinds."""
    messages: list[CheckMessage] = []
    for kind in kinds:
        messages += [
            Error(
                f"The kind {kind.key} declares the measure {name}, which does not exist.",
                hint="analysis/results/questions/registry.py has the measures by name.",
                id="stereoscope.E010",
            )
            for name in unknown(kind)
        ]
        messages += [
            Error(
                f"The kind {kind.key} declares the measure {name}, which can read none of its questions.",
                hint="A measure can read a question only if it supports the question's type and the kind's unit.",
                id="stereoscope.E011",
            )
            for name in idle(kind)
        ]
        if not kind.about_attributes:
            messages += [
                Warning(
                    f"No measure of the kind {kind.key} reads the question {name}.",
                    hint="The answers are among the labels, but no table of results includes them.",
                    id="stereoscope.W010",
                )
                for name in unread(kind)
            ]
    return messages
