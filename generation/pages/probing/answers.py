"""Pages of the models' unchanged answers, with the coding that counts and the rule that decided it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from accounts.rights import Capability, requires
from foundation.errors import NotFound
from generation.images.signed_urls import SMALL, image_url
from generation.models import Answer, Coding, ProbeRun
from generation.pages.probing.answer_pages import ProbeAnswerFilter, answer_page, choices_of
from generation.pages.probing.forms import OverrideForm
from generation.pages.probing.runs import ProbeRunView, probe_run_of
from generation.probing.coding import CODES
from generation.probing.codings import counted_codings
from generation.probing.overrides import override_answer
from generation.probing.probe_sets import ProbeSet
from generation.probing.questions import OptionPair, Order, ProbeQuestion
from studies.access import may, study_for
from studies.protocol.descriptors import forms_of
from web.form_page import FormPage

_PER_PAGE = 50


@dataclass(frozen=True)
class ProbeAnswerLine:
    """An answer as shown on pages."""

    answer: Answer
    coding: Coding | None
    question: str  # in the words sent to the model
    option: str  # words of the option that the coding names

    @property
    def group(self) -> str:
        if self.answer.descriptor is not None:
            return str(self.answer.descriptor.display_name)
        image = self.answer.image
        return str(image.group.display_name) if image is not None and image.group is not None else ""


@requires(get=Capability.SEE_IMAGES)
def answers(request: HttpRequest, study: str, run: int) -> HttpResponse:
    """List the answers of a run that pass the filters in the address, newest first."""
    current_study = study_for(request, study)
    probe_run = probe_run_of(current_study, run)
    filters = ProbeAnswerFilter.parse(request.GET)
    listed = answer_page(probe_run, filters, query=request.GET, size=_PER_PAGE)
    context = {
        "study": current_study,
        "may_change": may(request, current_study, Capability.RUN_MODELS),
        "run": probe_run,
        "filters": filters,
        "choices": choices_of(probe_run),
        "coded_as": list(CODES),
        "page": listed.page,
        "stopped": listed.stopped,
        "lines": lines_of(probe_run, listed.page),
        # After paging or filtering, the reader has already seen the warning.
        "warned": bool(filters) or not listed.page.is_first,
    }
    return render(request, "generation/probing/answers.html", context)


@requires(get=Capability.SEE_IMAGES, post=Capability.RUN_MODELS)
class OneAnswer(ProbeRunView, FormPage[OverrideForm]):
    """Show one answer with its question, image and codings; a lead can override the coding."""

    template_name = "generation/probing/answer.html"
    form_class = OverrideForm
    leads_to = "generation:answer"

    def load(self) -> None:
        super().load()
        self.answer = answer_of(self.run.answers.all(), self.kwargs["answer"])
        self.answer.run = self.run

    def place(self) -> tuple[Any, ...]:
        return (*super().place(), self.answer.pk)

    def call(self) -> str:
        override_answer(answer=self.answer, by=self.by, **self.form.cleaned_data)
        return "Your coding is saved. Your coding counts instead of all other codings of this answer."

    def context(self) -> dict[str, Any]:
        image = self.answer.image
        viewer = f"user:{self.by.pk}"
        return super().context() | {
            "run": self.run,
            "line": lines_of(self.run, [self.answer])[0],
            "codings": self.answer.codings.select_related("created_by").order_by("-pk"),
            "picture": image_url(image, viewer=viewer, size=SMALL) if image and image.file else "",
            "is_choice": self.answer.order != Answer.Order.NONE,
        }


def answer_of(answers: QuerySet[Answer], pk: int) -> Answer:
    """Return the answer with key `pk`; raise NotFound if it is not among `answers`."""
    answer = answers.select_related("run__study", "image__group", "descriptor").filter(pk=pk).first()
    if answer is None:
        raise NotFound("answer_not_found", "This answer does not exist.")
    return answer


def lines_of(run: ProbeRun, answers: Iterable[Answer]) -> list[ProbeAnswerLine]:
    """Return answers with the words of their question and the coding that counts."""
    answers = list(answers)
    codings = counted_codings(answers)
    questions = _questions(run)
    return [_line(answer, codings.get(answer.pk), questions=questions) for answer in answers]


def _questions(run: ProbeRun) -> dict[tuple[str, str], ProbeQuestion]:
    # `questions` may be empty.
    if not run.questions:
        return {}
    return {
        (experiment.name, question.name): question
        for experiment in ProbeSet.model_validate(run.questions).experiments
        for question in experiment.questions
    }


def _line(
    answer: Answer, coding: Coding | None, *, questions: dict[tuple[str, str], ProbeQuestion]
) -> ProbeAnswerLine:
    question = questions.get((answer.experiment, answer.question))
    if question is None:
        return ProbeAnswerLine(answer, coding, "", "")
    if question.kind == "choice":
        order: Order = "reversed" if answer.order == Answer.Order.REVERSED else "published"
        as_asked = question.asked(scenario=answer.scenario, order=order)
        return ProbeAnswerLine(answer, coding, as_asked.text, _option(as_asked.options, coding))
    if question.kind == "complete" and answer.descriptor is not None:
        forms = forms_of(answer.descriptor)
        descriptor = forms.get(question.form, answer.descriptor.display_name)
        words = question.sentence(descriptor=descriptor, letter=answer.letter)
        return ProbeAnswerLine(answer, coding, words, "")
    return ProbeAnswerLine(answer, coding, question.text, "")


def _option(options: OptionPair, coding: Coding | None) -> str:
    if coding is None or coding.outcome not in ("plus", "minus"):
        return ""
    return options.option("plus" if coding.outcome == "plus" else "minus").text
