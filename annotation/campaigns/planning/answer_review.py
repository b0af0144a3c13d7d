"""Choosing models' coded answers for people's review: all unsure codings of the rules, and a share of the others."""

from collections import defaultdict
from collections.abc import Iterable
from math import ceil
from typing import cast

from django.db.models import OuterRef, Subquery

from annotation.campaigns.planning.plan import PlannedReview, PlannedStimulus
from annotation.campaigns.planning.shuffle import keyed_hash
from annotation.kinds.options import Options
from annotation.models import Campaign
from generation.models import Answer, Coding, ProbeRun
from generation.probing.probe_sets import ProbeSet
from generation.probing.questions import AskedQuestion, Order
from studies.models import Study


def reviewed_answers(campaign: Campaign, options: Options) -> list[PlannedStimulus]:
    """Return a text for each question and answer. Answers with equal texts share one, and each keeps its coding."""
    questions = _Questions(campaign.study)
    by_text: dict[tuple[str, str], list[int]] = defaultdict(list)
    for coding in _drawn(_codings(campaign.study), campaign.seed, options):
        question = questions.asked(coding.answer)
        if question is not None:
            by_text[screen_text(question.text, coding.answer.text), question.first].append(coding.pk)
    return [
        PlannedStimulus(text=text, reviews=tuple(PlannedReview(pk, first) for pk in codings))
        for (text, first), codings in by_text.items()
    ]


def screen_text(question: str, answer: str) -> str:
    """Return the text for annotators: only the question as asked and the answer."""
    return f"Question: {question.strip()}\n\nAnswer: {answer.strip() or '(empty)'}"


def _codings(study: Study) -> Iterable[Coding]:
    """Return the newest coding by rules of each answer to a choice."""
    newest = Coding.objects.filter(answer=OuterRef("pk"), coder=Coding.Coder.RULES).order_by("-pk")
    answers = Answer.objects.filter(run__study=study, outcome=Answer.Outcome.DONE).exclude(
        order=Answer.Order.NONE
    )
    keys = answers.annotate(newest=Subquery(newest.values("pk")[:1])).values("newest")
    return Coding.objects.filter(pk__in=keys).select_related("answer").order_by("pk")


def _drawn(codings: Iterable[Coding], seed: int, options: Options) -> list[Coding]:
    """Return all unsure codings and a random share of the sure ones, independent of the order of rows."""
    unsure: list[Coding] = []
    sure: list[Coding] = []
    for coding in codings:
        (sure if coding.sure else unsure).append(coding)
    number = max(options.sure_least, ceil(options.sure_share * len(sure)))
    sure.sort(key=lambda coding: keyed_hash(seed, "review", _content(coding.answer)))
    return unsure + sure[:number]


def _content(answer: Answer) -> str:
    asked = (answer.experiment, answer.question, answer.scenario, answer.order, str(answer.repeat))
    return "|".join((answer.request_sha256, *asked))


class _Questions:
    """Choices as asked, by their identity in the study's runs."""

    def __init__(self, study: Study) -> None:
        self._sets = {
            run.pk: ProbeSet.model_validate(run.questions)
            for run in ProbeRun.objects.filter(study=study).exclude(questions={})
        }
        self._asked: dict[tuple[int, str, str, str, str], AskedQuestion | None] = {}

    def asked(self, answer: Answer) -> AskedQuestion | None:
        """Return the question of an answer; None if the run does not contain it."""
        key = (answer.run_id, answer.experiment, answer.question, answer.scenario, answer.order)
        if key not in self._asked:
            self._asked[key] = self._read(answer)
        return self._asked[key]

    def _read(self, answer: Answer) -> AskedQuestion | None:
        probe_set = self._sets.get(answer.run_id)
        for experiment in probe_set.experiments if probe_set else ():
            for question in experiment.questions:
                if (experiment.name, question.name) == (answer.experiment, answer.question):
                    return question.asked(scenario=answer.scenario, order=cast("Order", answer.order))
        return None
