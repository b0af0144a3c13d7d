"""Coding answers by the rules: each version of the rules adds one coding per answer."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from accounts.models import User
from generation.models import Answer, Coding, ProbeRun
from generation.probing.coding import VERSION, code_answer, sentences
from generation.probing.probe_sets import ProbeSet
from generation.probing.questions import Order, ProbeQuestion
from jobs.progress.reporter import Progress
from studies import audit
from studies.models import Study

# The first of these sources with a coding counts: its newest coding or, for people, their joint decision. A model's
# coding never counts by itself: it is shown and compared, and a lead who agrees with it overrides the rules.
CODERS = (Coding.Coder.OVERRIDE, Coding.Coder.PERSON, Coding.Coder.RULES)
UNPARSED = "unparsed"  # a model's reply that is not a code
DECIDING = 3  # number of people of whom the last decides if there is no majority
_BLOCK = 1000
_LONGEST_SPAN = 200
_VERSIONS = {"choice": VERSION, "complete": sentences.VERSION}


# Returns the sources of people's codings that no longer count.
VoidSources = Callable[[Collection[str]], Collection[str]]
_void_sources: list[VoidSources] = []


def register_void_sources(rule: VoidSources) -> None:
    """Register the rule by which the app for people's codings decides which of them no longer count."""
    _void_sources.append(rule)


def counted_codings(answers: Iterable[Answer]) -> dict[int, Coding]:
    """Return the coding that counts for each of these answers, if there is one."""
    by_answer: dict[int, list[Coding]] = {}
    for coding in Coding.objects.filter(answer__in=list(answers)).order_by("pk"):
        by_answer.setdefault(coding.answer_id, []).append(coding)
    by_people = {
        coding.source
        for codings in by_answer.values()
        for coding in codings
        if coding.coder == Coding.Coder.PERSON
    }
    void = {source for rule in _void_sources for source in rule(by_people)} if by_people else set()
    counting = {answer: _counting(codings, void) for answer, codings in by_answer.items()}
    return {answer: coding for answer, coding in counting.items() if coding is not None}


def _counting(codings: Sequence[Coding], void: Collection[str]) -> Coding | None:
    """Return the coding that counts, given all codings of an answer from the oldest to the newest."""
    for coder in CODERS:
        codings_by = [coding for coding in codings if coding.coder == coder and coding.source not in void]
        if coder == Coding.Coder.PERSON:
            outcome = decided([coding.outcome for coding in codings_by])
            codings_by = [coding for coding in codings_by if coding.outcome == outcome]
        if codings_by:
            return codings_by[-1]
    return None


def decided(outcomes: Sequence[str]) -> str:
    """Return people's joint decision about an answer, given their outcomes in order; "" if there is no decision.

    The majority decides. Among three or more people without a majority the last one decides; two who disagree decide
    nothing.
    """
    most = max(outcomes, key=outcomes.count, default="")
    if 2 * outcomes.count(most) > len(outcomes):
        return most
    return outcomes[-1] if len(outcomes) >= DECIDING else ""


@dataclass(frozen=True)
class CodingResult:
    """The number of answers coded now, and the number of sure codings among them."""

    coded: int = 0
    sure: int = 0

    def __str__(self) -> str:
        return f"{self.coded:,} answers coded, {self.sure:,} of them without doubt."


def code_by_rules(*, study: Study, by: User | None, progress: Progress) -> CodingResult:
    """Code all answers to choices and sentences to complete that these rules have not coded yet."""
    return _code(study, study.probe_runs.order_by("pk"), by, progress)


def code_run(*, run: ProbeRun, by: User | None, progress: Progress) -> CodingResult:
    """Code the answers of one run that these rules have not coded yet."""
    return _code(run.study, [run], by, progress)


def _code(study: Study, runs: Iterable[ProbeRun], by: User | None, progress: Progress) -> CodingResult:
    coded = sure = 0
    progress.step("Coding answers")
    for run in runs:
        for number, certain in _code_run(run, progress):
            coded, sure = coded + number, sure + certain
    if coded:
        audit.record(by=by, action="answers.coded", subject=study, study=study, coded=coded, rules=VERSION)
    return CodingResult(coded, sure)


def _code_run(run: ProbeRun, progress: Progress) -> list[tuple[int, int]]:
    probe_set = ProbeSet.model_validate(run.questions)
    counts: list[tuple[int, int]] = []
    for experiment in probe_set.experiments:
        for question in experiment.questions:
            if question.kind not in _VERSIONS:
                continue
            answers = _uncoded(run, experiment.name, question)
            while block := list(answers[:_BLOCK]):
                progress.check_cancelled()
                codings = [_coding(answer, question) for answer in block]
                with transaction.atomic():
                    Coding.objects.bulk_create(codings, batch_size=500, ignore_conflicts=True)
                progress.advance(len(block), str(block[-1]))
                counts.append((len(block), sum(coding.sure for coding in codings)))
    return counts


def _uncoded(run: ProbeRun, experiment: str, question: ProbeQuestion) -> QuerySet[Answer]:
    by_these_rules = Coding.objects.filter(
        answer=OuterRef("pk"), coder=Coding.Coder.RULES, version=_VERSIONS[question.kind]
    )
    answers = run.answers.filter(outcome=Answer.Outcome.DONE, experiment=experiment, question=question.name)
    return answers.filter(~Exists(by_these_rules)).order_by("pk")


def _coding(answer: Answer, question: ProbeQuestion) -> Coding:
    fields = {"answer": answer, "coder": Coding.Coder.RULES, "version": _VERSIONS[question.kind]}
    if question.kind == "complete":
        word = sentences.completed_word(answer.text, answer.letter)
        return Coding(
            **fields, outcome=word.outcome, span=word.word[:_LONGEST_SPAN], sure=True, reason="first bracket"
        )
    order: Order = "reversed" if answer.order == Answer.Order.REVERSED else "published"
    read = code_answer(answer.text, question.asked(scenario=answer.scenario, order=order))
    return Coding(
        **fields,
        outcome=read.outcome,
        code=read.code,
        span=read.span[:_LONGEST_SPAN],
        sure=read.sure,
        reason=f"{read.rule}: {read.reason}"[:300] if read.reason else read.rule,
    )
