"""Choosing the subject of a new task with known answers, on pages of pictures, attributes or screens."""

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from annotation.answers.validation import answer_of
from annotation.campaigns import known_tasks
from annotation.kinds.options import Options
from annotation.kinds.registry import kind_of
from annotation.lead.page_context import page_of, typed
from annotation.lead.quality.known_task_forms import ChooseAttributeForm
from annotation.models import Annotation, Campaign, CampaignAttribute
from catalog.models import Attribute
from generation.images.signed_urls import image_url
from generation.models import Image
from web.keyset import key_page

IMAGES_PER_PAGE = 48
SCREENS_PER_PAGE = 12
TEMPLATE = "annotation/lead/quality/known_task_choose.html"


@dataclass(frozen=True)
class ChosenTask:
    """The image and attributes, or the screen, of a new task, and its initial values."""

    image: Image | None = None
    attributes: list[Attribute] = field(default_factory=list)
    initial: dict[str, Any] = field(default_factory=dict)
    screen: known_tasks.PlannedScreen | None = None
    answers: dict[str, Any] = field(default_factory=dict)  # to questions, of the answer it is made of

    @property
    def is_complete(self) -> bool:
        return bool(self.attributes) or self.screen is not None


def chosen_task(request: HttpRequest, campaign: Campaign) -> ChosenTask:
    """Return the subject in the address; `?annotation=` starts from an existing answer."""
    number = typed(request.GET.get("annotation"))
    kind = kind_of(campaign)
    if number.isdecimal():
        rows = Annotation.objects.filter(campaign=campaign).select_related("task__image", "task__campaign")
        annotation = get_object_or_404(rows, pk=int(number[:18]))
        return _of_annotation(annotation) if kind.about_attributes else _of_question_answer(annotation)
    if not kind.about_attributes:
        key = typed(request.GET.get("screen"))
        return ChosenTask(screen=known_tasks.screen_named(campaign, key) if key else None)
    if kind.rates_attributes:
        value = typed(request.GET.get("attribute"))
        listed_texts = known_tasks.listed_attributes(campaign)
        pk = int(value[:18]) if value.isdecimal() else 0
        return ChosenTask(attributes=list(Attribute.objects.filter(pk=pk)) if pk in listed_texts else [])
    value = typed(request.GET.get("image"))
    if not value:
        return ChosenTask()
    try:
        image = get_object_or_404(_images(campaign), public_id=UUID(value))
    except ValueError:
        return ChosenTask()
    return ChosenTask(image, _askable(campaign, image))


def _of_annotation(annotation: Annotation) -> ChosenTask:
    judged = annotation.judgements.select_related("attribute").order_by("pk")
    initial: dict[str, Any] = {}
    for judgement in judged:
        initial_value = (
            [str(judgement.rating)] if judgement.present is None else "yes" if judgement.present else "no"
        )
        initial[f"answer_{judgement.attribute_id}"] = initial_value
    attributes = [judgement.attribute for judgement in judged if judgement.attribute]
    return ChosenTask(annotation.task.image, attributes, initial)


def _of_question_answer(annotation: Annotation) -> ChosenTask:
    given = answer_of(annotation).questions
    assert given is not None  # the kind declares questions
    screen = known_tasks.PlannedScreen(str(annotation.task.public_id), known_tasks.shown_in(annotation.task))
    return ChosenTask(screen=screen, answers=given.as_json(kind_of(annotation.campaign))["answers"])


def _images(campaign: Campaign) -> Any:
    """Return images like the campaign's, so that checks are not recognisable."""
    images = campaign.study.images.filter(
        condition=Options.of(campaign).condition, group__isnull=False, retracted_at=None
    )
    return images.exclude(file="").select_related("group")


def _askable(campaign: Campaign, image: Image) -> list[Attribute]:
    """Return the attributes the campaign asks about the image, or else all that the study lists."""
    planned_ids = CampaignAttribute.objects.filter(campaign=campaign, group=image.group_id).values(
        "attribute"
    )
    attributes = list(Attribute.objects.filter(pk__in=planned_ids).order_by("text"))
    if attributes:
        return attributes
    return list(Attribute.objects.filter(pk__in=known_tasks.listed_attributes(campaign)).order_by("text"))


def choose_page(request: HttpRequest, campaign: Campaign, context: dict[str, Any]) -> HttpResponse:
    """Show the possible subjects of a new task."""
    kind = kind_of(campaign)
    if not kind.about_attributes:
        return render(request, TEMPLATE, context | _screens(request, campaign))
    if kind.rates_attributes:
        form = ChooseAttributeForm(listed=known_tasks.listed_attributes(campaign))
        return render(request, TEMPLATE, {**context, "form": form})
    groups = list(campaign.study.groups.order_by("name"))
    group = next(
        (candidate for candidate in groups if candidate.name == typed(request.GET.get("group"))), None
    )
    images = _images(campaign)
    if group is not None:
        images = images.filter(group=group)
    page = key_page(request, images, size=IMAGES_PER_PAGE, order="pk")
    context |= {
        "page": page,
        "groups": groups,
        "group": group,
        "shown": [(candidate, address_of(request, candidate)) for candidate in page.object_list],
    }
    return render(request, TEMPLATE, context)


def _screens(request: HttpRequest, campaign: Campaign) -> dict[str, Any]:
    page = page_of(request, known_tasks.screens_of(campaign), per_page=SCREENS_PER_PAGE)
    screens = [known_tasks.as_screen(row) for row in page.object_list]
    return {"page": page, "screens": [(one.key, shown_stimuli(request, one)) for one in screens]}


def shown_stimuli(
    request: HttpRequest, screen: known_tasks.PlannedScreen
) -> list[tuple[str, Image | None, str]]:
    """Return address, image and text of everything that a screen shows."""
    images = Image.objects.in_bulk([stimulus.image_id for stimulus in screen.stimuli if stimulus.image_id])
    shown = [(images.get(stimulus.image_id or 0), stimulus.text) for stimulus in screen.stimuli]
    return [(address_of(request, image), image, text) for image, text in shown]


def address_of(request: HttpRequest, image: Image | None) -> str:
    """Return the address of an image for this lead; empty if its file is missing."""
    return image_url(image, viewer=f"user:{request.user.pk}") if image is not None and image.file else ""
