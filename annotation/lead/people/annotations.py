"""Pages of annotators' answers: the list, and one answer with its boxes and revisions."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from accounts.models import Annotator
from accounts.rights import Capability, requires
from annotation import integrations
from annotation.answers import exclusion
from annotation.answers.questions.sentences import answered_questions
from annotation.kinds.declaration import Kind
from annotation.kinds.registry import kind_of
from annotation.lead.forms import ExclusionForm
from annotation.lead.page_context import PER_PAGE, CampaignView, campaign_context, typed
from annotation.lead.people.annotator_lines import shown_lines
from annotation.lead.people.question_answers import about, stimulus_lines, with_answers
from annotation.models import Annotation, Campaign, CampaignAttribute
from annotation.quality.measures import nothing_measured
from annotation.quality.sentences import facts
from foundation.errors import DomainError
from generation.images.signed_urls import image_url
from web.form_page import Button
from web.keyset import key_page

_FILTERS = ("annotator", "task", "image", "status")


@requires(get=Capability.SEE_LABELS)
def annotation_list(request: HttpRequest, study: str, campaign: str) -> HttpResponse:
    """List answers, newest first, filtered by query parameters."""
    context = campaign_context(request, study, campaign)
    filters = {name: typed(request.GET.get(name)) for name in _FILTERS}
    kind = kind_of(context["campaign"])
    rows = _filtered(context["campaign"], filters).select_related("annotator", "task__image__group")
    page = key_page(request, rows if kind.about_attributes else with_answers(rows), size=PER_PAGE)
    if kind.about_attributes:
        _count_marks(page.object_list)
    else:
        _set_words(page.object_list, kind)
    context |= {
        "page": page,
        "wanted": filters,
        "states": Annotation.Status.choices,
        "filtered": any(filters.values()),
    }
    return render(request, "annotation/lead/people/annotations.html", context)


@requires(get=Capability.SEE_LABELS)
def annotation_detail(request: HttpRequest, study: str, campaign: str, annotation: int) -> HttpResponse:
    """Show one answer and what the annotator saw."""
    context = campaign_context(request, study, campaign)
    campaign_annotation = get_object_or_404(
        Annotation.objects.select_related("annotator", "task__image__group", "assignment", "instrument"),
        campaign=context["campaign"],
        pk=annotation,
    )
    image = campaign_annotation.task.image
    kind = kind_of(context["campaign"])
    if kind.about_attributes:
        context["answers"] = _answers(campaign_annotation)
    else:
        context["answered"] = answered_questions(campaign_annotation, kind)
        context["stimuli"] = stimulus_lines(campaign_annotation, kind, viewer=f"user:{request.user.pk}")
    context |= {
        "annotation": campaign_annotation,
        "title": f"Answer {campaign_annotation.pk}",
        "image": image,
        "image_url": image_url(image, viewer=f"user:{request.user.pk}") if image and image.file else "",
        "revisions": _revisions(campaign_annotation),
        "form": ExclusionForm(),
    }
    # Tools' data about the person, such as their name there, are only for leads.
    if context["may_change"]:
        panels = (
            tool.annotation_panel(campaign_annotation, context["campaign"])
            for tool in integrations.registered()
        )
        context["panel"] = next((panel for panel in panels if panel is not None), None)
    enrolled = (
        context["campaign"]
        .enrolments.select_related("annotator")
        .filter(annotator=campaign_annotation.annotator_id)
    )
    lines, context["counted_at"], _ = shown_lines(context["campaign"], enrolled)
    context["quality_facts"] = facts(context["campaign"], lines[0].quality if lines else nothing_measured())
    return render(request, "annotation/lead/people/annotation.html", context)


class AnnotationButton(CampaignView, Button):
    """A button on an answer's page."""

    leads_to = "annotation:annotation"

    def load(self) -> None:
        super().load()
        self.annotation = get_object_or_404(self.campaign.annotations, pk=self.kwargs["annotation"])

    def place(self) -> tuple[Any, ...]:
        return (*super().place(), self.annotation.pk)


@requires(post=Capability.RUN_CAMPAIGNS)
class AnnotationExclude(AnnotationButton):
    """Exclude an answer from all results, with a reason."""

    def call(self) -> str:
        form = ExclusionForm(self.request.POST)
        if not form.is_valid():
            raise DomainError(
                "reason_missing",
                "Give a reason for the exclusion. The reason is kept in the study’s history.",
            )
        exclusion.exclude(annotation=self.annotation, by=self.by, **form.cleaned_data)
        return "The answer is excluded."


@requires(post=Capability.RUN_CAMPAIGNS)
class AnnotationReadmit(AnnotationButton):
    """Undo an exclusion."""

    def call(self) -> str:
        exclusion.readmit(annotation=self.annotation, by=self.by)
        return "The answer counts again."


@dataclass(frozen=True)
class BoxDrawing:
    """A box in the units of the drawing, 1000 to each side."""

    x: str
    y: str
    width: str
    height: str


@dataclass(frozen=True)
class AttributeAnswer:
    """One attribute of the screen with its answer; `number` is its colour when it was ticked."""

    number: int
    text: str
    role: str
    present: bool | None
    rating: int | None
    label: str
    boxes: list[BoxDrawing]


def _filtered(campaign: Campaign, filters: dict[str, str]) -> QuerySet[Annotation]:
    rows = Annotation.objects.filter(campaign=campaign)
    if filters["annotator"]:
        # By annotator first: one person's answers are few, a campaign's may be a million.
        people = Annotator.objects.filter(pseudonym__iexact=filters["annotator"])
        rows = rows.filter(annotator__in=list(people.values_list("pk", flat=True)))
    if filters["status"] in Annotation.Status.values:
        rows = rows.filter(status=filters["status"])
    # An invalid UUID matches nothing, like an unknown one.
    shown = "task__image" if kind_of(campaign).about_attributes else "task__stimuli__image"
    for name, column in (("task", "task__public_id"), ("image", f"{shown}__public_id")):
        if filters[name]:
            try:
                rows = rows.filter(**{column: UUID(filters[name])})
            except ValueError:
                return rows.none()
    return rows


def _count_marks(annotations: Any) -> None:
    """Set on each annotation the numbers of shown and ticked attributes, in one query."""
    counts = {
        pk: (shown_count, ticked)
        for pk, shown_count, ticked in Annotation.objects.filter(
            pk__in=[annotation.pk for annotation in annotations]
        )
        .annotate(shown=Count("judgements"), ticked=Count("judgements", filter=Q(judgements__present=True)))
        .values_list("pk", "shown", "ticked")
    }
    for annotation in annotations:
        annotation.shown, annotation.ticked = counts[annotation.pk]


def _set_words(annotations: Any, kind: Kind) -> None:
    """Set on each annotation which groups it is about, and its answers in words."""
    for annotation in annotations:
        annotation.about = about(annotation.task.stimuli.all())
        annotation.answered = answered_questions(annotation, kind)


def _answers(annotation: Annotation) -> list[AttributeAnswer]:
    places = dict(annotation.task.task_attributes.values_list("attribute", "position"))
    image = annotation.task.image
    roles = {}
    if image is not None and image.group_id is not None:
        planned = CampaignAttribute.objects.filter(campaign=annotation.campaign_id, group=image.group_id)
        roles = dict(planned.values_list("attribute", "role"))
    labels = annotation.instrument.labels if annotation.instrument else {}
    judgements = annotation.judgements.select_related("attribute").prefetch_related("boxes")
    ordered = sorted(
        judgements, key=lambda judgement: (places.get(judgement.attribute_id or 0, 99), judgement.pk)
    )
    return [
        AttributeAnswer(
            number=number if number <= 5 else 5,
            text=judgement.attribute.text if judgement.attribute else judgement.question,
            role=roles.get(judgement.attribute_id or 0, ""),
            present=judgement.present,
            rating=judgement.rating,
            label=labels.get(str(judgement.rating), "") if judgement.rating else "",
            boxes=[_drawn(box) for box in judgement.boxes.all()],
        )
        for number, judgement in enumerate(ordered, start=1)
    ]


def _drawn(box: Any) -> BoxDrawing:
    return BoxDrawing(*(f"{1000 * side:.1f}" for side in (box.x, box.y, box.width, box.height)))


def _revisions(annotation: Annotation) -> list[Annotation]:
    if annotation.assignment_id is None:
        return [annotation]
    return list(Annotation.objects.filter(assignment=annotation.assignment_id).order_by("revision"))
