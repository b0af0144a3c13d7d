"""Preview of the annotator's screen with sample tasks; nothing can be submitted."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from accounts.rights import Capability, requires
from annotation.annotator.payload import instrument_payload
from annotation.annotator.questions import questions_payload, stimulus_payload
from annotation.annotator.screen import Screen
from annotation.answers.questions.stimuli import ShownStimulus, refs_of
from annotation.campaigns.planning import task_plan
from annotation.kinds.registry import kind_of, work_in
from annotation.lead.page_context import campaign_context
from annotation.models import Campaign, ImageReport, Task
from catalog.models import Attribute
from generation.images.signed_urls import image_url
from generation.models import Image
from studies import consent

SAMPLES = 20
# No assignment has this id.
_NOBODYS = "00000000-0000-0000-0000-000000000000"


@dataclass(frozen=True)
class Sample:
    """One screen of the campaign, and its place among the samples."""

    number: int
    of: int
    image: Image | None = None
    attributes: tuple[str, ...] = ()
    stimuli: tuple[ShownStimulus, ...] = ()  # of a campaign that asks declared questions

    @property
    def previous(self) -> int | None:
        return self.number - 1 if self.number > 1 else None

    @property
    def next(self) -> int | None:
        return self.number + 1 if self.number < self.of else None


@requires(get=Capability.SEE_CAMPAIGNS)
def preview(request: HttpRequest, study: str, campaign: str) -> HttpResponse:
    """Show one sample screen."""
    context = campaign_context(request, study, campaign)
    study_campaign = context["campaign"]
    sample_number = request.GET.get("sample", "")
    sample = (
        None
        if study_campaign.imported
        else sample_of(study_campaign, int(sample_number) if sample_number.isdecimal() else 1)
    )
    if sample is None:
        return render(request, "annotation/lead/campaigns/preview/unavailable.html", context, status=404)
    payload = _payload(study_campaign, sample, viewer=f"user:{request.user.pk}")
    context |= {
        "sample": sample,
        "campaign_id": study_campaign.pk,
        "work": work_in(study_campaign),
        "payload": payload,
        "screen": Screen.of(payload),
        "now": timezone.now(),
        "report_reasons": ImageReport.Reason.choices,
        "text": consent.current_text(study_campaign.study),
    }
    return render(request, "annotation/lead/campaigns/preview/preview.html", context)


def sample_of(campaign: Campaign, number: int) -> Sample | None:
    """Return a sample screen: of the campaign's plan while it is a draft, else of its tasks."""
    if campaign.state == Campaign.State.DRAFT:
        planned = task_plan.plan(campaign).tasks
        count = min(len(planned), SAMPLES)
        if not count:
            return None
        number = min(max(number, 1), count)
        task = planned[(number - 1) * len(planned) // count]
        if task.stimuli:
            images = Image.objects.in_bulk([shown.image_id for shown in task.stimuli if shown.image_id])
            pairs = [(images.get(shown.image_id or 0), shown.text) for shown in task.stimuli]
            return Sample(number, count, stimuli=_shown(campaign, pairs))
        texts = dict(Attribute.objects.filter(pk__in=task.attribute_ids).values_list("pk", "text"))
        image = Image.objects.get(pk=task.image_id) if task.image_id else None
        return Sample(number, count, image, tuple(texts[pk] for pk in task.attribute_ids))
    tasks = Task.objects.filter(campaign=campaign, purpose=Task.Purpose.LABEL, withdrawn=False).order_by("pk")
    total = tasks.count()
    count = min(total, SAMPLES)
    if not count:
        return None
    number = min(max(number, 1), count)
    chosen = tasks.select_related("image")[(number - 1) * total // count]
    if not kind_of(campaign).about_attributes:
        rows = chosen.stimuli.select_related("image").order_by("position")
        pairs = [(row.image, row.text) for row in rows]
        return Sample(number, count, stimuli=_shown(campaign, pairs))
    attribute_texts = chosen.task_attributes.order_by("position").values_list("attribute__text", flat=True)
    return Sample(number, count, chosen.image, tuple(attribute_texts))


def _shown(campaign: Campaign, pairs: Sequence[tuple[Image | None, str]]) -> tuple[ShownStimulus, ...]:
    refs = refs_of(kind_of(campaign), len(pairs))
    return tuple(ShownStimulus(0, ref, image, text) for ref, (image, text) in zip(refs, pairs, strict=True))


def _payload(campaign: Campaign, sample: Sample, *, viewer: str) -> dict[str, Any]:
    """Return the payload of this screen as `annotation.annotator.payload.screen` does, with placeholder ids."""
    kind = kind_of(campaign)
    payload = {
        "assignment": _NOBODYS,
        "expires_at": timezone.now().isoformat(),
        "kind": kind.public_name,
        "instrument": instrument_payload(campaign.instruments.first(), kind),
        "progress": {"done": sample.number - 1, "left": sample.of - sample.number + 1},
        "answer": None,
    }
    if not kind.about_attributes:
        stimuli = [stimulus_payload(stimulus, viewer=viewer) for stimulus in sample.stimuli]
        return payload | questions_payload(kind, stimuli, regions_required=campaign.boxes_required)
    image = sample.image
    has_file = image is not None and bool(image.file)
    return payload | {
        "image": {"url": image_url(image, viewer=viewer), "width": image.width, "height": image.height}
        if image is not None and has_file
        else None,
        "attributes": [
            {"ref": f"preview-{position}", "text": text} for position, text in enumerate(sample.attributes)
        ],
        "boxes_required": campaign.boxes_required and kind.marks_attributes,
    }
