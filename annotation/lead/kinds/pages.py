"""Pages of a study's own kinds: reading a file, showing its questions, downloading and removing it."""

from typing import Any

from django import forms
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from accounts.rights import Capability, requires
from annotation.campaigns.instruments.markup import as_html
from annotation.kinds import study_kinds
from annotation.kinds.declaration import Kind
from annotation.kinds.questions import ChoiceQuestion, Question, ScaleQuestion
from annotation.kinds.registry import KINDS
from annotation.kinds.stimuli import Stimuli
from annotation.lead.page_context import study_context
from foundation.errors import DomainError
from foundation.parameters import Declaration
from studies.access import study_for
from studies.audit.files import JSON, recorded_file
from studies.models import Study
from studies.study_view import StudyView
from web.form_page import Button, FormPage

_TYPES = {
    "scale": "a scale",
    "choice": "a choice",
    "compare": "a comparison",
    "rank": "a ranking",
    "text": "a text",
    "span": "words of the text",
    "marks": "marks of attributes",
}


class KindFileForm(forms.Form):
    """A file that declares a kind."""

    file = forms.FileField(
        label="Declaration",
        help_text=f"A JSON file of at most {study_kinds.LARGEST_FILE // 1000} kB, such as one downloaded "
        f"from another "
        "study. A kind of this study with the same key is replaced.",
        widget=forms.ClearableFileInput(attrs={"accept": ".json,application/json"}),
    )


@requires(get=Capability.SEE_CAMPAIGNS, post=Capability.MANAGE_STUDY)
class KindList(StudyView, FormPage[KindFileForm]):
    """The kinds that the study's campaigns can have, and a form that adds one from a file."""

    template_name = "annotation/lead/kinds/list.html"
    form_class = KindFileForm

    def context(self) -> dict[str, Any]:
        kinds = study_kinds.kinds_for(self.study)
        own_kinds = [kind for key, kind in kinds.items() if key not in KINDS]
        return super().context() | {"own_kinds": own_kinds, "shipped": KINDS.values()}

    def call(self) -> HttpResponse:
        # A byte more than is allowed, so that a larger file is refused as such.
        content = self.form.cleaned_data["file"].read(study_kinds.LARGEST_FILE + 1)
        kind = study_kinds.add(study=self.study, content=content, by=self.by)
        message = "The kind is added. Check its questions, then start a campaign of this kind."
        return self.redirect_with(message, "annotation:kind", self.study.slug, kind.key)


@requires(post=Capability.MANAGE_STUDY)
class KindRemove(StudyView, Button):
    """Remove a kind of the study."""

    leads_to = "annotation:kinds"

    def call(self) -> str:
        study_kinds.remove(study=self.study, key=self.kwargs["key"], by=self.by)
        return "The kind is removed. Campaigns of this kind keep their own copy."


@requires(get=Capability.SEE_CAMPAIGNS)
def kind_page(request: HttpRequest, study: str, key: str) -> HttpResponse:
    """Show the stimuli, questions and measures of a kind."""
    context = study_context(request, study)
    kind = _kind_or_404(context["study"], key)
    values = {
        "kind": kind,
        "own": kind.key not in KINDS,
        "facts": _facts(kind),
        "questions": [(question, _asked(question, kind)) for question in kind.questions],
        "measures": study_kinds.measures_of(kind),
        "guidelines": as_html(kind.guidelines),
    }
    return render(request, "annotation/lead/kinds/detail.html", context | values)


@requires(get=Capability.SEE_CAMPAIGNS)
def kind_file(request: HttpRequest, study: str, key: str) -> HttpResponse:
    """Download the file that declares a kind."""
    current_study = study_for(request, study)
    content = study_kinds.as_file(_kind_or_404(current_study, key))
    return recorded_file(content, by=request.user, study=current_study, name=f"{key}.json", content_type=JSON)


def _kind_or_404(study: Study, key: str) -> Kind:
    try:
        return study_kinds.kind_for(study, key)
    except DomainError:
        raise Http404("This kind of campaign does not exist.") from None


def _facts(kind: Kind) -> list[tuple[str, str]]:
    stimuli = kind.stimuli
    number = str(stimuli.least) if stimuli.least == stimuli.most else f"{stimuli.least} to {stimuli.most}"
    noun = stimuli.medium if stimuli.most == 1 else f"{stimuli.medium}s"
    shown = f"{number} {noun}" + (" beside the prompt" if stimuli.prompt_shown else "")
    facts = [("A screen shows", shown)]
    words = {name: Declaration(name, info).words for name, info in Stimuli.model_fields.items()}
    if stimuli.together:
        facts.append(("They share", ", ".join(words["together"][name] for name in stimuli.together)))
    if stimuli.differ:
        facts.append(("They differ in", words["differ"][stimuli.differ]))
    if stimuli.most > 1:
        facts.append(("Order", words["order"][stimuli.order]))
    hidden = [word for name, word in words["blind"].items() if name in stimuli.blind]
    facts.append(("Kept from annotators", ", ".join(hidden) or "Nothing"))
    facts.append(("Unit of results", Declaration("unit", Kind.model_fields["unit"]).words[kind.unit]))
    return [*facts, ("Work, as annotators read it", kind.work["en"])]


def _asked(question: Question, kind: Kind) -> str:
    """Return a phrase for the type and the condition of a question."""
    parts = [_TYPES[question.type]]
    if question.each:
        parts.append("for each stimulus")
    if question.when is not None:
        labels = _labels(kind.question(question.when.question))
        answers = " or ".join(labels.get(answer, str(answer)) for answer in question.when.answers)
        parts.append(f"after {question.when.question}: {answers}")
    if question.region is not None:
        parts.append(f"with a {question.region.shape} in the image")
    return ", ".join(parts) + ("" if question.required else "; may be left out")


def _labels(question: Question) -> dict[int | str, str]:
    """Return the answers that a condition can name, as leads read them."""
    if isinstance(question, ScaleQuestion):
        return {point.code: f"“{point.label['en']}”" for point in question.points}
    if isinstance(question, ChoiceQuestion):
        return {answer.code: f"“{answer.label['en']}”" for answer in question.answers}
    return {0: "the first", 1: "the second", "tie": "a tie"}
