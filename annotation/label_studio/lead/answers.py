"""Answers from Label Studio, and their state here."""

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from accounts.rights import Capability, requires
from annotation.label_studio.labels import edits
from annotation.label_studio.lead.campaigns import BridgeView, bridge_for_lead
from annotation.label_studio.lead.forms import AnswerFilter, chosen
from annotation.label_studio.models import LabelStudioAnnotation, LabelStudioBridge
from annotation.label_studio.overview import queries as showing
from annotation.label_studio.overview.history import versions_of
from annotation.lead.page_context import page_of, typed
from web.form_page import Button

_VERBS: dict[str, Callable[..., LabelStudioAnnotation]] = {
    "keep": edits.keep,
    "take": edits.take,
    "restore": edits.restore,
    "undo": edits.undo,
}
_GIVEN: dict[str, tuple[str, ...]] = {
    "keep": ("seen",),
    "take": ("seen",),
    "restore": ("seen", "version"),
    "undo": (),
}
_SAID = {
    "keep": "the author’s version is kept.",
    "take": "the change is accepted.",
    "restore": "this version counts now.",
    "undo": "the decision is undone.",
}


@requires(get=Capability.CONNECT)
def answer_list(request: HttpRequest, study: str, campaign: str) -> HttpResponse:
    """Every annotation read from Label Studio, with its state and the reason; the filters are in the address."""
    bridge = bridge_for_lead(request, study, campaign)
    form = AnswerFilter(request.GET)
    state, name = chosen(form, "state"), typed(chosen(form, "q"))
    page = page_of(request, showing.answers(bridge, state=state, person=name))
    context = {
        "study": bridge.campaign.study,
        "campaign": bridge.campaign,
        "may_change": True,
        "bridge": bridge,
        "form": form,
        "page": page,
        "rows": showing.answer_lines(bridge, page.object_list),
        "explained": showing.EXPLAINED.get(state, ""),
        "filtered": bool(state or name),
        "told": not bridge.projects.filter(gone_at=None, webhook_id=None).exists(),
        "minutes": settings.LABEL_STUDIO_RECONCILE_MINUTES,
    }
    return render(request, "label_studio/answers/list.html", context)


@requires(get=Capability.CONNECT)
def answer_page(request: HttpRequest, study: str, campaign: str, answer: int) -> HttpResponse:
    """The stored versions of one answer, and a lead's possible decisions about them."""
    bridge = bridge_for_lead(request, study, campaign)
    mirrored = _answer(bridge, answer)
    context = {
        "study": bridge.campaign.study,
        "campaign": bridge.campaign,
        "may_change": True,
        "title": f"No. {mirrored.external_id} in Label Studio",
        "answer": mirrored,
        "line": showing.answer_lines(bridge, [mirrored])[0],
        "given_to": showing.name_of(mirrored.given_to).partition(" (")[0] if mirrored.given_to else "",
        "versions": versions_of(mirrored, bridge.campaign),
    }
    return render(request, "label_studio/answers/detail.html", context)


@requires(post=Capability.CONNECT)
class AnswerDecide(BridgeView, Button):
    """Keep the author's version, accept a change, restore a version, or undo such a decision."""

    leads_to = "annotation:label_studio_answer"

    def load(self) -> None:
        super().load()
        self.mirrored = _answer(self.bridge, self.kwargs["answer"])

    def place(self) -> tuple[Any, ...]:
        return (*super().place(), self.mirrored.pk)

    def call(self) -> str:
        decision, sent = self.kwargs["decision"], self.request.POST
        arguments = {name: typed(sent.get(name)) for name in _GIVEN[decision]}
        _VERBS[decision](mirrored=self.mirrored, by=self.by, **arguments)
        return f"No. {self.mirrored.external_id}: {_SAID[decision]}"


def _answer(bridge: LabelStudioBridge, answer: int) -> LabelStudioAnnotation:
    rows = LabelStudioAnnotation.objects.select_related(
        "project__bridge__server", "user__annotator", "given_to", "task"
    )
    return get_object_or_404(rows, project__bridge=bridge, pk=answer)
