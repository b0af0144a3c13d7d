"""Checks and practice of a campaign: the list with how people answered, and making, changing and removing one."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.campaigns import known_tasks, lifecycle
from annotation.kinds.options import Options
from annotation.lead.forms import show_refusal
from annotation.lead.page_context import (
    campaign_context,
    campaign_for_lead,
    campaign_of,
    page_of,
    person,
    typed,
)
from annotation.lead.quality.known_task_forms import (
    CheckSettingsForm,
    ChooseAttributeForm,
    MarkingAnswersForm,
    PurposeField,
    RatingAnswersForm,
)
from annotation.lead.quality.known_task_lines import as_lines
from annotation.lead.quality.known_task_lines import known_tasks as listed
from annotation.models import Annotation, Campaign, CampaignAttribute, Task
from annotation.quality.practice.gate import failed, outcomes
from catalog.models import Attribute
from foundation.errors import DomainError
from generation.images.signed_urls import image_url
from generation.models import Image
from studies.access import LEAD, study_for
from web.keyset import key_page

PER_PAGE = 20
IMAGES_PER_PAGE = 48
FAILED_SHOWN = 50


@login_required
@require_safe
def known_list(request: HttpRequest, study: str, campaign: str) -> HttpResponse:
    """What has known answers, how many people agree with them, and how often checks come."""
    return _list_page(request, study, campaign)


@login_required
@require_POST
def known_settings(request: HttpRequest, study: str, campaign: str) -> HttpResponse:
    """Change how often checks and repeats come, and what passes practice."""
    found = campaign_for_lead(request, study, campaign)
    form = CheckSettingsForm(request.POST)
    if form.is_valid():
        try:
            lifecycle.change_settings(campaign=found, by=person(request), options=form.options())
        except DomainError as error:
            show_refusal(form, error)
        else:
            messages.success(request, "Saved. It holds from the next screen on.")
            return redirect("annotation:known_tasks", study, campaign)
    return _list_page(request, study, campaign, form=form)


def _list_page(
    request: HttpRequest, study: str, campaign: str, *, form: CheckSettingsForm | None = None
) -> HttpResponse:
    context = campaign_context(request, study, campaign)
    found = context["campaign"]
    wanted = typed(request.GET.get("purpose"))
    page = page_of(request, listed(found, wanted), per_page=PER_PAGE)
    lines = as_lines(found, list(page.object_list))
    viewer = f"user:{request.user.pk}"
    context |= {
        "page": page,
        "shown": [(one, image_url(one.task.image, viewer=viewer) if one.task.image else "") for one in lines],
        "wanted": wanted,
        "purposes": known_tasks.PURPOSES,
        "may_add": context["may_change"] and _may_add(found),
        "settings": (settings := CheckSettingsForm.initial_of(found)),
        "form": form or CheckSettingsForm(initial=settings),
        "outcomes": outcomes(found),
        "failed": failed(found).select_related("annotator").order_by("-pk")[:FAILED_SHOWN],
        "golds": listed(found, Task.Purpose.GOLD).count(),
        "practised": listed(found, Task.Purpose.PRACTICE).exists(),
    }
    status = 400 if form is not None and form.errors else 200
    return render(request, "annotation/lead/quality/known_tasks.html", context, status=status)


def _may_add(campaign: Campaign) -> bool:
    return not campaign.imported and campaign.state != Campaign.State.CLOSED


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def known_new(request: HttpRequest, study: str, campaign: str) -> HttpResponse:
    """Choose what is shown, then say what is right; `annotation` in the address begins from an answer."""
    found = campaign_of(study_for(request.user, study, role=LEAD), campaign)
    chosen = _Chosen.of(request, found)
    context = {"study": found.study, "campaign": found, "may_change": True, "chosen": chosen}
    if not chosen.attributes:
        return _choose(request, found, context)
    form = _answers_form(request, found, chosen)
    if request.method == "POST" and form.is_valid():
        try:
            known_tasks.add(
                campaign=found,
                purpose=form.cleaned_data["purpose"],
                by=person(request),
                image=chosen.image,
                attributes=form.asked(),
                answers=form.answers(),
                explanations=form.explanations(),
            )
        except DomainError as error:
            form.show_refusal(error)
        else:
            messages.success(request, "It is there, and holds from the next screen on.")
            return redirect("annotation:known_tasks", study, campaign)
    context |= {"form": form, "rows": form.rows(), "image_url": _address(request, chosen.image)}
    status = 400 if form.errors else 200
    return render(request, "annotation/lead/quality/known_task_form.html", context, status=status)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def known_change(request: HttpRequest, study: str, campaign: str, task: UUID) -> HttpResponse:
    """Say anew what is right."""
    found = campaign_for_lead(request, study, campaign)
    known = get_object_or_404(listed(found), public_id=task)
    asked = [one.attribute for one in known.task_attributes.select_related("attribute")]
    kind = MarkingAnswersForm if found.kind == Campaign.Kind.STEREOTYPE_MARKING else RatingAnswersForm
    initial = kind.initial_of(known.known_answers.all(), asked)
    form = kind(request.POST or None, attributes=asked, initial=initial, **_labels(found))
    if request.method == "POST" and form.is_valid():
        try:
            known_tasks.change(
                task=known, by=person(request), answers=form.answers(), explanations=form.explanations()
            )
        except DomainError as error:
            form.show_refusal(error)
        else:
            messages.success(request, "Changed. Earlier answers to checks are measured by it, too.")
            return redirect("annotation:known_tasks", study, campaign)
    context = {"study": found.study, "campaign": found, "may_change": True, "task": known, "form": form}
    context |= {"rows": form.rows(), "image_url": _address(request, known.image)}
    status = 400 if form.errors else 200
    return render(request, "annotation/lead/quality/known_task_form.html", context, status=status)


@login_required
@require_POST
def known_remove(request: HttpRequest, study: str, campaign: str, task: UUID) -> HttpResponse:
    """Ask it no more."""
    found = campaign_for_lead(request, study, campaign)
    known = get_object_or_404(listed(found), public_id=task)
    try:
        known_tasks.remove(task=known, by=person(request))
    except DomainError as error:
        messages.error(request, error.message)
    else:
        messages.success(request, "Removed. It measures nobody any more.")
    return redirect("annotation:known_tasks", study, campaign)


class _Chosen:
    """What a new task shows: an image or none, and the attributes it may ask, with answers to begin from."""

    def __init__(self, image: Image | None, attributes: list[Attribute], initial: dict[str, Any]) -> None:
        self.image, self.attributes, self.initial = image, attributes, initial

    @classmethod
    def of(cls, request: HttpRequest, campaign: Campaign) -> "_Chosen":
        number = typed(request.GET.get("annotation"))
        if number.isdecimal():
            rows = Annotation.objects.filter(campaign=campaign).select_related("task__image")
            return cls._from_annotation(get_object_or_404(rows, pk=int(number[:18])))
        if campaign.kind == Campaign.Kind.ATTRIBUTE_LIKERT:
            wanted = typed(request.GET.get("attribute"))
            known = known_tasks.listed_attributes(campaign)
            pk = int(wanted[:18]) if wanted.isdecimal() else 0
            return cls(None, list(Attribute.objects.filter(pk=pk)) if pk in known else [], {})
        wanted = typed(request.GET.get("image"))
        if not wanted:
            return cls(None, [], {})
        try:
            image = get_object_or_404(_images(campaign), public_id=UUID(wanted))
        except ValueError:
            return cls(None, [], {})
        return cls(image, _askable(campaign, image), {})

    @classmethod
    def _from_annotation(cls, annotation: Annotation) -> "_Chosen":
        judged = annotation.judgements.select_related("attribute").order_by("pk")
        initial: dict[str, Any] = {}
        for one in judged:
            given = [str(one.rating)] if one.present is None else "yes" if one.present else "no"
            initial[f"answer_{one.attribute_id}"] = given
        return cls(annotation.task.image, [one.attribute for one in judged], initial)


def _images(campaign: Campaign) -> Any:
    """Return what the campaign could show: what it judges looks like them, or a check would stand out."""
    images = campaign.study.images.filter(
        condition=Options.of(campaign).condition, group__isnull=False, retracted_at=None
    )
    return images.exclude(file="").select_related("group")


def _askable(campaign: Campaign, image: Image) -> list[Attribute]:
    """Return what the campaign asks about the image; before it opens, and for others, what the study lists."""
    asked = CampaignAttribute.objects.filter(campaign=campaign, group=image.group_id).values("attribute")
    found = list(Attribute.objects.filter(pk__in=asked).order_by("text"))
    if found:
        return found
    return list(Attribute.objects.filter(pk__in=known_tasks.listed_attributes(campaign)).order_by("text"))


def _choose(request: HttpRequest, campaign: Campaign, context: dict[str, Any]) -> HttpResponse:
    if campaign.kind == Campaign.Kind.ATTRIBUTE_LIKERT:
        form = ChooseAttributeForm(listed=known_tasks.listed_attributes(campaign))
        return render(request, "annotation/lead/quality/known_task_choose.html", {**context, "form": form})
    groups = list(campaign.study.groups.order_by("name"))
    group = next((one for one in groups if one.name == typed(request.GET.get("group"))), None)
    images = _images(campaign)
    if group is not None:
        images = images.filter(group=group)
    page = key_page(request, images, size=IMAGES_PER_PAGE, order="pk")
    context |= {
        "page": page,
        "groups": groups,
        "group": group,
        "shown": [(one, _address(request, one)) for one in page.object_list],
    }
    return render(request, "annotation/lead/quality/known_task_choose.html", context)


def _answers_form(
    request: HttpRequest, campaign: Campaign, chosen: _Chosen
) -> MarkingAnswersForm | RatingAnswersForm:
    form: MarkingAnswersForm | RatingAnswersForm
    given = request.POST or None
    if campaign.kind == Campaign.Kind.STEREOTYPE_MARKING:
        form = MarkingAnswersForm(
            given, attributes=chosen.attributes, initial=chosen.initial, may_leave_out=True
        )
    else:
        form = RatingAnswersForm(
            given, attributes=chosen.attributes, initial=chosen.initial, **_labels(campaign)
        )
    form.fields["purpose"] = PurposeField()
    if (purpose := typed(request.GET.get("purpose"))) in known_tasks.PURPOSES:
        form.initial["purpose"] = purpose
    return form


def _labels(campaign: Campaign) -> dict[str, Any]:
    if campaign.kind == Campaign.Kind.STEREOTYPE_MARKING:
        return {}
    instrument = campaign.instruments.first()
    return {"labels": instrument.labels if instrument else None}


def _address(request: HttpRequest, image: Image | None) -> str:
    return image_url(image, viewer=f"user:{request.user.pk}") if image is not None and image.file else ""
