"""Pages of gold and practice tasks: the list with people's answers, and adding, changing and removing tasks."""

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from annotation.campaigns import known_tasks, lifecycle
from annotation.kinds.options import NO_KNOWN_ANSWERS, Options
from annotation.kinds.registry import kind_of
from annotation.lead.page_context import CampaignView, page_of, typed
from annotation.lead.quality.known_task_forms import (
    CheckSettingsForm,
    ChooseAttributeForm,
    MarkingAnswersForm,
    PurposeField,
    RatingAnswersForm,
)
from annotation.lead.quality.known_task_lines import as_lines, tasks_with_answers
from annotation.models import Annotation, Campaign, CampaignAttribute, Task
from annotation.quality.practice.progress import failed, outcomes
from catalog.models import Attribute
from foundation.errors import NotFound
from generation.images.signed_urls import image_url
from generation.models import Image
from web.form_page import Button, FormPage
from web.keyset import key_page

PER_PAGE = 20
IMAGES_PER_PAGE = 48
FAILED_SHOWN = 50


class KnownView(CampaignView):
    """A view of known answers, which only campaigns about attributes have."""

    def load(self) -> None:
        super().load()
        if not kind_of(self.campaign).about_attributes:
            raise NotFound("known_answers_impossible", NO_KNOWN_ANSWERS)


class KnownList(KnownView, FormPage[CheckSettingsForm]):
    """List the known answers, how many people agree with them, and the settings.

    The settings are the shares of checks and repeats, and the pass mark of practice; they have an address of their own.
    """

    readers = None
    template_name = "annotation/lead/quality/known_tasks.html"
    leads_to = "annotation:known_tasks"

    def load(self) -> None:
        super().load()
        self.settings = CheckSettingsForm.initial_of(self.campaign)

    def make_form(self, data: Any) -> CheckSettingsForm:
        return CheckSettingsForm(data, initial=self.settings)

    def call(self) -> str:
        lifecycle.change_settings(campaign=self.campaign, by=self.by, options=self.form.options())
        return "Saved. It holds from the next screen on."

    def context(self) -> dict[str, Any]:
        context = super().context()
        campaign = self.campaign
        purpose = typed(self.request.GET.get("purpose"))
        page = page_of(self.request, tasks_with_answers(campaign, purpose), per_page=PER_PAGE)
        lines = as_lines(campaign, list(page.object_list))
        return context | {
            "page": page,
            "shown": [(line, _address(self.request, line.task.image)) for line in lines],
            "wanted": purpose,
            "purposes": known_tasks.PURPOSES,
            "may_add": context["may_change"] and _may_add(campaign),
            "settings": self.settings,
            "outcomes": outcomes(campaign),
            "failed": failed(campaign).select_related("annotator").order_by("-pk")[:FAILED_SHOWN],
            "golds": tasks_with_answers(campaign, Task.Purpose.GOLD).count(),
            "practised": tasks_with_answers(campaign, Task.Purpose.PRACTICE).exists(),
        }


def _may_add(campaign: Campaign) -> bool:
    return not campaign.imported and campaign.state != Campaign.State.CLOSED


class KnownAnswers(KnownView, FormPage[MarkingAnswersForm | RatingAnswersForm]):
    """The form of the right answers about an image's attributes, or about one attribute."""

    template_name = "annotation/lead/quality/known_task_form.html"
    leads_to = "annotation:known_tasks"
    may_leave_out = False
    image: Image | None
    attributes: list[Attribute]

    def initial(self) -> dict[str, Any]:
        return {}

    def make_form(self, data: Any) -> MarkingAnswersForm | RatingAnswersForm:
        given = {"attributes": self.attributes, "initial": self.initial()}
        if kind_of(self.campaign).marks_attributes:
            return MarkingAnswersForm(data, may_leave_out=self.may_leave_out, **given)
        instrument = self.campaign.instruments.first()
        return RatingAnswersForm(data, labels=instrument.labels if instrument else None, **given)

    def field_of(self, name: str) -> str:
        kind, _, attribute = name.partition(".")
        return f"{kind.removesuffix('s')}_{attribute}" if attribute else name

    def context(self) -> dict[str, Any]:
        address = _address(self.request, self.image)
        return super().context() | {"rows": self.form.rows(), "image_url": address}


class KnownNew(KnownAnswers):
    """Choose image and attributes, then the right answers; `?annotation=` starts from an existing answer."""

    may_leave_out = True

    def load(self) -> None:
        super().load()
        self.chosen = _NewTask.of(self.request, self.campaign)
        self.image, self.attributes = self.chosen.image, self.chosen.attributes

    def instead(self) -> HttpResponse | None:
        if self.attributes:
            return None
        context = {"study": self.study, "campaign": self.campaign, "may_change": True, "chosen": self.chosen}
        return _choose(self.request, self.campaign, context)

    def initial(self) -> dict[str, Any]:
        purpose = typed(self.request.GET.get("purpose"))
        return self.chosen.initial | ({"purpose": purpose} if purpose in known_tasks.PURPOSES else {})

    def make_form(self, data: Any) -> MarkingAnswersForm | RatingAnswersForm:
        form = super().make_form(data)
        form.fields["purpose"] = PurposeField()
        return form

    def call(self) -> str:
        known_tasks.add(
            campaign=self.campaign,
            purpose=self.form.cleaned_data["purpose"],
            by=self.by,
            image=self.image,
            attributes=self.form.chosen_attributes(),
            answers=self.form.answers(),
            explanations=self.form.explanations(),
        )
        return "It is there, and holds from the next screen on."


class KnownTaskView(KnownView):
    """A view of the task with known answers in its address."""

    def load(self) -> None:
        super().load()
        self.known_task = get_object_or_404(tasks_with_answers(self.campaign), public_id=self.kwargs["task"])


class KnownChange(KnownTaskView, KnownAnswers):
    """Change the right answers."""

    def load(self) -> None:
        super().load()
        self.image = self.known_task.image
        self.attributes = [
            row.attribute for row in self.known_task.task_attributes.select_related("attribute")
        ]

    def initial(self) -> dict[str, Any]:
        marking = kind_of(self.campaign).marks_attributes
        form = MarkingAnswersForm if marking else RatingAnswersForm
        return form.initial_of(self.known_task.known_answers.all(), self.attributes)

    def call(self) -> str:
        known_tasks.change(
            task=self.known_task,
            by=self.by,
            answers=self.form.answers(),
            explanations=self.form.explanations(),
        )
        return "Changed. Earlier answers to checks are measured by it, too."

    def context(self) -> dict[str, Any]:
        return super().context() | {"task": self.known_task}


class KnownRemove(KnownTaskView, Button):
    """Remove a task."""

    leads_to = "annotation:known_tasks"

    def call(self) -> str:
        known_tasks.remove(task=self.known_task, by=self.by)
        return "Removed. It measures nobody any more."


class _NewTask:
    """The image, attributes and initial answers of a new task."""

    def __init__(self, image: Image | None, attributes: list[Attribute], initial: dict[str, Any]) -> None:
        self.image, self.attributes, self.initial = image, attributes, initial

    @classmethod
    def of(cls, request: HttpRequest, campaign: Campaign) -> "_NewTask":
        number = typed(request.GET.get("annotation"))
        if number.isdecimal():
            rows = Annotation.objects.filter(campaign=campaign).select_related("task__image")
            return cls._from_annotation(get_object_or_404(rows, pk=int(number[:18])))
        if kind_of(campaign).rates_attributes:
            value = typed(request.GET.get("attribute"))
            listed_texts = known_tasks.listed_attributes(campaign)
            pk = int(value[:18]) if value.isdecimal() else 0
            return cls(None, list(Attribute.objects.filter(pk=pk)) if pk in listed_texts else [], {})
        value = typed(request.GET.get("image"))
        if not value:
            return cls(None, [], {})
        try:
            image = get_object_or_404(_images(campaign), public_id=UUID(value))
        except ValueError:
            return cls(None, [], {})
        return cls(image, _askable(campaign, image), {})

    @classmethod
    def _from_annotation(cls, annotation: Annotation) -> "_NewTask":
        judged = annotation.judgements.select_related("attribute").order_by("pk")
        initial: dict[str, Any] = {}
        for judgement in judged:
            initial_value = (
                [str(judgement.rating)] if judgement.present is None else "yes" if judgement.present else "no"
            )
            initial[f"answer_{judgement.attribute_id}"] = initial_value
        return cls(
            annotation.task.image,
            [judgement.attribute for judgement in judged if judgement.attribute],
            initial,
        )


def _images(campaign: Campaign) -> Any:
    """Return images like those the campaign shows, so that no check stands out."""
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


def _choose(request: HttpRequest, campaign: Campaign, context: dict[str, Any]) -> HttpResponse:
    if kind_of(campaign).rates_attributes:
        form = ChooseAttributeForm(listed=known_tasks.listed_attributes(campaign))
        return render(request, "annotation/lead/quality/known_task_choose.html", {**context, "form": form})
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
        "shown": [(candidate, _address(request, candidate)) for candidate in page.object_list],
    }
    return render(request, "annotation/lead/quality/known_task_choose.html", context)


def _address(request: HttpRequest, image: Image | None) -> str:
    return image_url(image, viewer=f"user:{request.user.pk}") if image is not None and image.file else ""
