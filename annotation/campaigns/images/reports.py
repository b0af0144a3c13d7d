"""Annotators' reports of images, and leads' decisions on them."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.models import Annotator, User
from annotation.answers.questions.stimuli import shown_stimuli
from annotation.answers.text import is_text
from annotation.assignment.leases import lock_own
from annotation.campaigns.images import retraction
from annotation.kinds.registry import kind_of
from annotation.models import Assignment, ImageReport, Task
from foundation.errors import Conflict, DomainError
from generation.models import Image
from studies import audit
from studies.models import Study

Reason, State = ImageReport.Reason, ImageReport.State
MAX_DETAILS = 1000


@dataclass(frozen=True)
class ReportedImage:
    """An image with the reports of it that are open."""

    image: Image
    reports: tuple[ImageReport, ...]


@transaction.atomic
def report(
    *, assignment: Assignment, annotator: Annotator, reason: str, details: str = "", stimulus: str = ""
) -> list[ImageReport]:
    """Save an annotator's report that an image of the task should not be shown.

    If there are several images, `stimulus` names one by its name on the screen; without it, all are reported. Each
    annotator has at most one open report of an image: a new report replaces it.
    """
    assignment = lock_own(assignment, annotator)
    images = _reported_images(assignment.task, stimulus)
    details = "".join(filter(is_text, details)).strip()
    _refuse_unclear(reason, details)
    values = {"reason": reason, "details": details, "campaign": assignment.task.campaign}
    return [
        ImageReport.objects.update_or_create(
            image=image, annotator=annotator, state=State.OPEN, defaults=values
        )[0]
        for image in images
    ]


def _reported_images(task: Task, stimulus: str) -> list[Image]:
    if task.image is not None:
        images = {"": task.image}
    elif kind_of(task.campaign).about_attributes:
        images = {}
    else:
        images = {shown.ref: shown.image for shown in shown_stimuli(task) if shown.image is not None}
    if not images:
        raise Conflict("no_image", _("This task has no picture that could be reported."))
    if stimulus and stimulus not in images:
        message = _("Choose a picture of this screen.")
        raise DomainError("report_invalid", message, fields={"stimulus": message})
    return [images[stimulus]] if stimulus else list(images.values())


@transaction.atomic
def retract(*, image: Image, by: User | None, reason: str) -> Image:
    """Retract the image: see `annotation.campaigns.images.retraction`. Its open reports are closed with it."""
    retracted = retraction.retract(image=image, by=by, reason=reason)
    ImageReport.objects.filter(image=image, state=State.OPEN).update(
        state=State.RETRACTED, closed_at=timezone.now(), closed_by=by
    )
    return retracted


@transaction.atomic
def dismiss(*, image: Image, by: User | None, reason: str) -> int:
    """Keep the image, with a reason, and close its open reports; return how many."""
    reason = retraction.checked_reason(reason)
    closed = ImageReport.objects.filter(image=image, state=State.OPEN).update(
        state=State.DISMISSED, closed_at=timezone.now(), closed_by=by
    )
    if not closed:
        raise Conflict("not_reported", "No report of this image is open.")
    audit.record(
        by=by,
        action="image_report.dismissed",
        subject=image,
        study=image.study,
        reason=reason,
        reports=closed,
    )
    return closed


def open_reports(study: Study) -> QuerySet[ImageReport]:
    """Return the undecided reports of the study's images, by image."""
    reports = ImageReport.objects.filter(image__study=study, state=State.OPEN)
    return reports.select_related("image__group", "annotator", "campaign").order_by("image", "pk")


def by_image(reports: Iterable[ImageReport]) -> list[ReportedImage]:
    """Return each reported image with its reports; the most reported first."""
    reports_by_image: dict[int, list[ImageReport]] = {}
    for image_report in reports:
        reports_by_image.setdefault(image_report.image_id, []).append(image_report)
    grouped = [
        ReportedImage(image_reports[0].image, tuple(image_reports))
        for image_reports in reports_by_image.values()
    ]
    return sorted(grouped, key=lambda reported: (-len(reported.reports), reported.image.pk))


def _refuse_unclear(reason: str, details: str) -> None:
    wrong = {}
    if reason not in Reason.values:
        wrong["reason"] = _("Choose what is wrong with the picture.")
    if reason == Reason.OTHER and not details:
        wrong["details"] = _("Write a few words on what is wrong.")
    elif len(details) > MAX_DETAILS:
        wrong["details"] = _("Please write at most 1,000 characters.")
    if wrong:
        raise DomainError("report_invalid", " ".join(wrong.values()), fields=wrong)
