"""What annotators answered: the list, and one answer with its boxes and revisions."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from accounts.models import Annotator
from annotation.answers import submission
from annotation.label_studio.overview.history import of_annotation, versions_of
from annotation.lead.forms import ExclusionForm
from annotation.lead.page_context import PER_PAGE, campaign_context, campaign_for_lead, person, typed
from annotation.lead.people.annotator_lines import shown_lines
from annotation.models import Annotation, Campaign, CampaignAttribute
from annotation.quality.measures import nothing_measured
from annotation.quality.sentences import facts
from foundation.errors import DomainError
from generation.images.signed_urls import image_url
from web.keyset import key_page

_FILTERS = ("annotator", "task", "image", "status")


@login_required
@require_safe
def annotation_list(request: HttpRequest, study: str, campaign: str) -> HttpResponse:
    """Every answer, newest first; the filters stand in the address."""
    context = campaign_context(request, study, campaign)
    wanted = {name: typed(request.GET.get(name)) for name in _FILTERS}
    rows = _filtered(context["campaign"], wanted)
    page = key_page(request, rows.select_related("annotator", "task__image__group"), size=PER_PAGE)
    _count_marks(page.object_list)
    context |= {
        "page": page,
        "wanted": wanted,
        "states": Annotation.Status.choices,
        "filtered": any(wanted.values()),
    }
    return render(request, "annotation/lead/people/annotations.html", context)


@login_required
@require_safe
def annotation_detail(request: HttpRequest, study: str, campaign: str, annotation: int) -> HttpResponse:
    """What this person saw and did."""
    context = campaign_context(request, study, campaign)
    found = get_object_or_404(
        Annotation.objects.select_related("annotator", "task__image__group", "assignment", "instrument"),
        campaign=context["campaign"],
        pk=annotation,
    )
    image = found.task.image
    context |= {
        "annotation": found,
        "title": f"Answer {found.pk}",
        "image": image,
        "image_url": image_url(image, viewer=f"user:{request.user.pk}") if image and image.file else "",
        "answers": _answers(found),
        "revisions": _revisions(found),
        "form": ExclusionForm(),
    }
    # Names of users of Label Studio are for leads only.
    if context["may_change"] and (mirrored := of_annotation(found.assignment_id)) is not None:
        context["versions"] = versions_of(mirrored, context["campaign"])
    enrolled = context["campaign"].enrolments.select_related("annotator").filter(annotator=found.annotator_id)
    lines, context["counted_at"], _ = shown_lines(context["campaign"], enrolled)
    context["quality_facts"] = facts(lines[0].quality if lines else nothing_measured())
    return render(request, "annotation/lead/people/annotation.html", context)


@login_required
@require_POST
def annotation_exclude(request: HttpRequest, study: str, campaign: str, annotation: int) -> HttpResponse:
    """Keep one answer out of every result, for a reason."""
    found = get_object_or_404(campaign_for_lead(request, study, campaign).annotations, pk=annotation)
    form = ExclusionForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Give a reason for the exclusion; it is kept in the study’s history.")
    else:
        _do(request, "The answer is excluded.", submission.exclude, annotation=found, **form.cleaned_data)
    return redirect("annotation:annotation", study, campaign, annotation)


@login_required
@require_POST
def annotation_readmit(request: HttpRequest, study: str, campaign: str, annotation: int) -> HttpResponse:
    """Take an exclusion back."""
    found = get_object_or_404(campaign_for_lead(request, study, campaign).annotations, pk=annotation)
    _do(request, "The exclusion is taken back.", submission.readmit, annotation=found)
    return redirect("annotation:annotation", study, campaign, annotation)


def _do(request: HttpRequest, said: str, verb: Callable[..., Annotation], **arguments: Any) -> None:
    try:
        verb(by=person(request), **arguments)
    except DomainError as error:
        messages.error(request, error.message)
    else:
        messages.success(request, said)


@dataclass(frozen=True)
class DrawnBox:
    """A box in the units of the drawing, 1000 to each side."""

    x: str
    y: str
    width: str
    height: str


@dataclass(frozen=True)
class Answered:
    """One attribute of the screen with the answer it got; `number` is its colour when it was ticked."""

    number: int
    text: str
    role: str
    present: bool | None
    rating: int | None
    label: str
    boxes: list[DrawnBox]


def _filtered(campaign: Campaign, wanted: dict[str, str]) -> QuerySet[Annotation]:
    rows = Annotation.objects.filter(campaign=campaign)
    if wanted["annotator"]:
        # The person first: their answers are few, and all answers of a campaign may be a million.
        people = Annotator.objects.filter(pseudonym__iexact=wanted["annotator"])
        rows = rows.filter(annotator__in=list(people.values_list("pk", flat=True)))
    if wanted["status"] in Annotation.Status.values:
        rows = rows.filter(status=wanted["status"])
    # An id that is no UUID finds nothing, as any unknown one does.
    for name, column in (("task", "task__public_id"), ("image", "task__image__public_id")):
        if wanted[name]:
            try:
                rows = rows.filter(**{column: UUID(wanted[name])})
            except ValueError:
                return rows.none()
    return rows


def _count_marks(annotations: Any) -> None:
    """Put on each annotation how many attributes were ticked of how many shown: one query for the page."""
    counts = {
        pk: (shown, ticked)
        for pk, shown, ticked in Annotation.objects.filter(pk__in=[one.pk for one in annotations])
        .annotate(shown=Count("judgements"), ticked=Count("judgements", filter=Q(judgements__present=True)))
        .values_list("pk", "shown", "ticked")
    }
    for one in annotations:
        one.shown, one.ticked = counts[one.pk]


def _answers(annotation: Annotation) -> list[Answered]:
    places = dict(annotation.task.task_attributes.values_list("attribute", "position"))
    image = annotation.task.image
    roles = {}
    if image is not None and image.group_id is not None:
        asked = CampaignAttribute.objects.filter(campaign=annotation.campaign_id, group=image.group_id)
        roles = dict(asked.values_list("attribute", "role"))
    labels = annotation.instrument.labels if annotation.instrument else {}
    judgements = annotation.judgements.select_related("attribute").prefetch_related("boxes")
    ordered = sorted(judgements, key=lambda one: (places.get(one.attribute_id, 99), one.pk))
    return [
        Answered(
            number=number if number <= 5 else 5,
            text=one.attribute.text,
            role=roles.get(one.attribute_id, ""),
            present=one.present,
            rating=one.rating,
            label=labels.get(str(one.rating), "") if one.rating else "",
            boxes=[_drawn(box) for box in one.boxes.all()],
        )
        for number, one in enumerate(ordered, start=1)
    ]


def _drawn(box: Any) -> DrawnBox:
    return DrawnBox(*(f"{1000 * side:.1f}" for side in (box.x, box.y, box.width, box.height)))


def _revisions(annotation: Annotation) -> list[Annotation]:
    if annotation.assignment_id is None:
        return [annotation]
    return list(Annotation.objects.filter(assignment=annotation.assignment_id).order_by("revision"))
