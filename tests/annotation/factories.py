"""Factories of annotators who may label a campaign, images and answers."""

import hashlib
import uuid
from collections.abc import Sequence
from datetime import datetime

from accounts.models import Annotator, User
from annotation.answers import submission
from annotation.answers.attribute_references import references
from annotation.answers.submission import SentAnswer
from annotation.answers.validation import Answer
from annotation.kinds.declaration import Kind
from annotation.models import Annotation, Assignment, Campaign, Enrolment
from generation.models import Image
from studies import consent
from studies.models import Study


def new_annotator(campaign: Campaign, *, origin: str = Annotator.Origin.PERSON) -> Annotator:
    """Return someone enrolled in the campaign who agreed to its text."""
    user = User.objects.create(username=f"annotator-{uuid.uuid4().hex[:12]}")
    annotator = Annotator.objects.create(user=user, origin=origin)
    Enrolment.objects.create(campaign=campaign, annotator=annotator)
    consent.give(annotator=annotator, text=consent.current_text(campaign.study))
    return annotator


def add_images(study: Study, per_group: int, *, model_label: str = "sketch") -> None:
    """Give every group of the study images (rows only: the engine never opens the files)."""
    Image.objects.bulk_create(
        Image(
            study=study,
            group=group,
            model_label=model_label,
            sha256=(digest := f"{model_label}-{group.pk}-{index}".encode().hex().ljust(64, "0")[:64]),
            file=f"images/{digest}.png",
            width=512,
            height=512,
        )
        for group in study.groups.all()
        for index in range(per_group)
    )


def add_prompted_images(
    study: Study, prompts: Sequence[str], *, models: Sequence[str] = ("north", "south"), per_prompt: int = 1
) -> None:
    """Give every group of the study images of these prompts by each of these models; {id} is the group."""
    Image.objects.bulk_create(
        Image(
            study=study,
            group=group,
            model_label=model,
            prompt=(prompt := template.replace("{id}", group.name)),
            scenario=template.replace("{id}", "somebody"),
            sha256=(digest := hashlib.sha256(f"{model}|{prompt}|{index}".encode()).hexdigest()),
            file=f"images/{digest}.png",
            width=512,
            height=512,
        )
        for group in study.groups.all()
        for template in prompts
        for model in models
        for index in range(per_prompt)
    )


def options_for(kind: Kind) -> dict[str, object]:
    """Return the options that a kind needs to have anything to ask."""
    texts = ["All islanders wear tall hats.", "Some islanders drum.", "The islands are small."]
    return {"texts": texts} if kind.stimuli.medium == "text" and not kind.about_attributes else {}


def none_of_them(assignment: Assignment) -> Answer:
    """Return the answer 'none of the above'."""
    return Answer.parse({"none_of_the_above": True}, assignment.task)


def ticking(assignment: Assignment, *texts: str) -> Answer:
    """Return the answer that ticks `texts`, each with one box."""
    wanted = set(
        assignment.task.task_attributes.filter(attribute__text__in=texts).values_list(
            "attribute_id", flat=True
        )
    )
    refs = [ref for ref, attribute in references(assignment.task).items() if attribute in wanted]
    boxes = [{"attribute": ref, "x": 0.1, "y": 0.2, "width": 0.3, "height": 0.4} for ref in refs]
    return Answer.parse({"ticked": refs, "boxes": boxes, "none_of_the_above": False}, assignment.task)


def submit(
    assignment: Assignment,
    answer: Answer | None = None,
    *,
    by: Annotator | None = None,
    submission_id: uuid.UUID | None = None,
    active_seconds: float | None = 3.0,
    now: datetime | None = None,
) -> Annotation:
    """Submit an answer (by default: none of them), as the annotator who has the task or `by` another."""
    sent = SentAnswer(
        user_id=(by or assignment.annotator).user_id,
        public_id=assignment.public_id,
        submission_id=submission_id or uuid.uuid4(),
        answer=answer or none_of_them(assignment),
        active_seconds=active_seconds,
    )
    return Annotation.objects.get(pk=submission.submit(sent, now=now).annotation_id)
