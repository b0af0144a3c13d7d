"""All data of a task that an annotator gets, on a page or through the API: an allow-list of fields.

Nothing here contains the identity group, the prompt, the condition, a role, the topic of the study or any database key.
"""

import time
from datetime import datetime
from functools import lru_cache
from typing import Any
from uuid import UUID

from django.db.models import Count, OuterRef, Subquery
from django.db.models.functions import Coalesce

from annotation.annotator.questions import questions_payload, stimulus_payload
from annotation.answers.attribute_references import Shown, reference, remember, shown_attributes
from annotation.answers.languages import in_reader_language
from annotation.answers.questions import stimuli
from annotation.answers.validation import answer_of
from annotation.assignment import gold_and_repeats
from annotation.assignment.leases import open_tasks
from annotation.assignment.sql import SHOWN_QUESTIONS_TASK, SHOWN_TASK
from annotation.kinds.declaration import Kind
from annotation.kinds.registry import instrument_in_language, kind_of
from annotation.models import Annotation, Assignment, Campaign, Enrolment, Instrument, Task
from annotation.people import pay
from foundation.database.statements import known, rows
from generation.images.signed_urls import image_url
from generation.models import Image


def leased_payload(assignment: Assignment, campaign: Campaign) -> dict[str, Any]:
    """Return `task_payload` of a task that was just leased, with one hand-written statement."""
    task, version, answered_count, most_screens = _leased(assignment, campaign)
    left = _remaining(assignment.annotator_id, campaign, answered_count) + 1
    instrument = (
        None if version is None else _instrument(campaign.pk, campaign.seed, campaign.opened_at, version)
    )
    return {
        "assignment": str(assignment.public_id),
        "expires_at": assignment.expires_at.isoformat(),
        **_screen(task, instrument, viewer=f"annotator:{assignment.annotator_id}"),
        "progress": {
            "done": answered_count,
            "left": left if most_screens is None else min(left, most_screens - answered_count),
        },
        "answer": None,
    }


def _leased(assignment: Assignment, campaign: Campaign) -> tuple[Task, int | None, int, int | None]:
    """Return the task with the latest version of the texts, and the numbers of answered and allowed tasks."""
    parameters = {"annotator": assignment.annotator_id, "campaign": campaign.pk, "task": assignment.task_id}
    if not kind_of(campaign).about_attributes:
        stimulus_rows = rows(SHOWN_QUESTIONS_TASK, parameters)
        public_id, version, answered_count, most_screens = stimulus_rows[0][:4]
        task = known(Task, id=assignment.task_id, public_id=UUID(str(public_id)))
        task.campaign = campaign
        stimuli.remember(task, [row[4:] for row in stimulus_rows])
        return task, version, answered_count, most_screens
    attribute_rows = rows(SHOWN_TASK, parameters)
    public_id, image, image_id, file, width, height, version, answered_count, most_screens = attribute_rows[
        0
    ][:9]
    task = known(Task, id=assignment.task_id, public_id=UUID(str(public_id)))
    task.campaign, task.image = campaign, None
    if image is not None:
        image_id = UUID(str(image_id))
        task.image = known(Image, id=image, public_id=image_id, file=file, width=width, height=height)
    remember(task, [row[-2:] for row in attribute_rows])
    return task, version, answered_count, most_screens


@lru_cache(maxsize=256)
def _instrument(campaign_id: int, seed: int, opened_at: datetime | None, version: int) -> Instrument:  # noqa: ARG001
    """Return a version of the texts, which never changes. Seed and time distinguish campaigns with the same number."""
    return Instrument.objects.get(campaign=campaign_id, version=version)


def task_payload(assignment: Assignment) -> dict[str, Any]:
    """Return the data about a leased task that its annotator may see."""
    task = Task.objects.select_related("campaign", "image").get(pk=assignment.task_id)
    return {
        "assignment": str(assignment.public_id),
        "expires_at": assignment.expires_at.isoformat(),
        **screen(task, viewer=f"annotator:{assignment.annotator_id}"),
        "progress": progress(assignment.annotator_id, task.campaign, current=assignment)
        | _pay(assignment.annotator_id, task.campaign),
        "answer": _previous(assignment, task),
    }


def _pay(annotator_id: int, campaign: Campaign) -> dict[str, Any]:
    """Return the pay so far if a rate is set. It is computed when a task is requested; the script adds later
    screens."""
    earned = pay.so_far(annotator_id, campaign)
    return {"pay": earned} if earned else {}


def screen(task: Task, *, viewer: str) -> dict[str, Any]:
    """Return one screen: texts, stimuli and questions. `viewer` names the person, for the image's address."""
    instrument = Instrument.objects.filter(campaign=task.campaign_id).order_by("-version").first()
    return _screen(task, instrument, viewer=viewer)


def _screen(task: Task, instrument: Instrument | None, *, viewer: str) -> dict[str, Any]:
    campaign = task.campaign
    kind = kind_of(campaign)
    shown = {"kind": kind.public_name, "instrument": instrument_payload(instrument, kind)}
    if not kind.about_attributes:
        return shown | questions_payload(
            kind,
            [stimulus_payload(stimulus, viewer=viewer) for stimulus in stimuli.shown_stimuli(task)],
            regions_required=campaign.boxes_required,
        )
    return shown | {
        "image": _image(task.image, viewer) if task.image is not None else None,
        "attributes": [
            {"ref": attribute.ref, "text": attribute_text(instrument, attribute)}
            for attribute in shown_attributes(task)
        ],
        "boxes_required": campaign.boxes_required and kind.marks_attributes,
    }


def attribute_text(instrument: Instrument | None, attribute: Shown) -> str:
    """Return an attribute as its annotator reads it."""
    return in_reader_language(instrument, f"attribute.{attribute.attribute_id}", attribute.text)


def instrument_payload(instrument: Instrument | None, kind: Kind) -> dict[str, Any] | None:
    """Return the texts beside every task, in the annotator's language if they are the kind's own."""
    if instrument is None:
        return None
    words = instrument_in_language(
        kind,
        guidelines=instrument.guidelines,
        statement=instrument.statement,
        labels=instrument.labels,
        translations=instrument.translations,
    )
    return {"version": instrument.version, **words}


def progress(annotator_id: int, campaign: Campaign, *, current: Assignment | None = None) -> dict[str, int]:
    """Return the number of tasks that the annotator answered, and the number left, including this one.

    Both include checks, which cannot be distinguished (`gold_and_repeats.expected`).
    """
    states = [Assignment.State.SUBMITTED, Assignment.State.SURPLUS]
    own_answers = Assignment.objects.filter(
        annotator=OuterRef("annotator"), task__campaign=OuterRef("campaign"), state__in=states
    )
    number = own_answers.order_by().values("annotator").annotate(number=Count("pk")).values("number")
    enrolment = (
        Enrolment.objects.filter(campaign=campaign, annotator=annotator_id)
        .annotate(answered=Coalesce(Subquery(number), 0))
        .values_list("answered", "most_screens")
        .first()
    )
    answered_count, most_screens = enrolment or (0, None)
    open_now = current is not None and current.state == Assignment.State.LEASED
    left = _remaining(annotator_id, campaign, answered_count) + open_now
    return {
        "done": answered_count,
        "left": left if most_screens is None else max(0, min(left, most_screens - answered_count)),
    }


# Counting tens of thousands of open tasks for every answer would cost more than the answer: a large number is
# counted twice a minute, and what the annotator has done since is subtracted.
_EXACT_UP_TO = 50
_COUNTED_FOR_SECONDS = 30.0
_counted: dict[tuple[int, int, int], tuple[float, int]] = {}


def _remaining(annotator_id: int, campaign: Campaign, answered_count: int) -> int:
    key = (campaign.pk, campaign.seed, annotator_id)
    now = time.monotonic()
    until, together = _counted.get(key, (0.0, 0))
    if now < until and together - answered_count > _EXACT_UP_TO:
        return together - answered_count
    remaining = open_tasks(campaign, annotator_id).count()
    remaining += gold_and_repeats.expected(campaign, annotator_id, remaining)
    if remaining > _EXACT_UP_TO:
        if len(_counted) > 10_000:
            _counted.clear()
        _counted[key] = (now + _COUNTED_FOR_SECONDS, remaining + answered_count)
    return remaining


def _image(image: Image, viewer: str) -> dict[str, Any]:
    return {"url": image_url(image, viewer=viewer), "width": image.width, "height": image.height}


def _previous(assignment: Assignment, task: Task) -> dict[str, Any] | None:
    if assignment.state == Assignment.State.LEASED:
        return None  # a lease ends when its answer comes
    annotation = Annotation.objects.filter(assignment=assignment, is_latest=True).first()
    if annotation is None:
        return None
    annotation.campaign, annotation.task = task.campaign, task
    answer = answer_of(annotation)
    if answer.questions is not None:
        return answer.questions.as_json(kind_of(task.campaign))
    if answer.rating is not None:
        return {"rating": answer.rating, "justification": answer.justification}
    return {
        "ticked": [
            attribute.ref for attribute in shown_attributes(task) if attribute.attribute_id in answer.ticked
        ],
        "boxes": [
            {
                "attribute": reference(task, box.attribute_id),
                "x": box.x,
                "y": box.y,
                "width": box.width,
                "height": box.height,
            }
            for box in answer.boxes
        ],
        "none_of_the_above": bool(answer.none_of_the_above),
    }
