"""Tasks and their assignments. A database constraint on slots limits the annotations of each task."""

import uuid
from typing import ClassVar

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from accounts.models import Annotator
from annotation.models.campaigns import Campaign
from catalog.models import Attribute
from generation.models import Coding, Image


class Task(models.Model):
    """The contents of one screen: an attribute to rate, an image with one to five attributes, or stimuli.

    Gold and practice tasks have known answers (`KnownAnswer`) and need no labels: `wanted` is 0, so that they
    are never among the open tasks. `annotation.campaigns.known_tasks` creates them.
    """

    class Purpose(models.TextChoices):
        LABEL = "label", "label"
        GOLD = "gold", "gold task"
        PRACTICE = "practice", "practice"

    public_id = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="tasks", db_index=False)
    image = models.ForeignKey(Image, null=True, blank=True, on_delete=models.PROTECT, related_name="tasks")
    screen = models.PositiveSmallIntegerField(default=0)  # 0, 1, … among the screens of the image
    # The number of accepted annotations that the task needs; slots are numbered 0 … wanted − 1.
    wanted = models.PositiveSmallIntegerField(default=3)
    # The number of slots held now. Stored here instead of counted from assignments, so that one step finds
    # the next of 30,000 tasks; `annotation.assignment.slots` changes it together with assignments.
    held = models.PositiveSmallIntegerField(default=0, db_default=0)
    # The quota-relevant properties of the task's annotators (assignment.quotas), "" without quotas. Tasks
    # with equal mixes are open to the same annotators, so that an index finds the next task.
    quota_mix = models.TextField(default="", db_default="", blank=True)
    withdrawn = models.BooleanField(default=False)  # no longer offered (retracted image)
    purpose = models.CharField(max_length=8, choices=Purpose, default=Purpose.LABEL, db_default="label")
    # Asks for a stereotype of the depicted group that raters called offensive, or has a sensitive kind; a
    # daily limit applies to such tasks.
    sensitive = models.BooleanField(default=False, db_default=False)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(purpose="label") | Q(purpose__in=["gold", "practice"], wanted=0),
                name="task_only_for_labels_wanted",
            ),
            models.CheckConstraint(condition=Q(held__lte=F("wanted")), name="task_held_within_wanted"),
        ]
        indexes: ClassVar = [
            models.Index(fields=["campaign", "image", "screen"], name="task_campaign_image"),
            models.Index(fields=["campaign", "id"], name="task_campaign_in_order"),
            models.Index(
                fields=["campaign", "held", "id"],
                condition=Q(held__lt=F("wanted"), withdrawn=False),
                name="task_open_least_covered",
            ),
            models.Index(
                fields=["campaign", "quota_mix", "id"],
                condition=Q(held__lt=F("wanted"), withdrawn=False, quota_mix__gt=""),
                name="task_open_by_quota_mix",
            ),
            models.Index(
                fields=["campaign", "id"], condition=Q(purpose="gold", withdrawn=False), name="task_gold"
            ),
        ]

    def __str__(self) -> str:
        return str(self.public_id)


class TaskAttribute(models.Model):
    """An attribute that a task asks about, with its (shuffled) position on the screen."""

    task = models.ForeignKey(Task, on_delete=models.CASCADE, related_name="task_attributes")
    attribute = models.ForeignKey(Attribute, on_delete=models.PROTECT, related_name="+")
    position = models.PositiveSmallIntegerField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["task", "attribute"], name="task_attribute_once"),
        ]
        ordering: ClassVar = ["task", "position"]

    def __str__(self) -> str:
        return f"{self.task}: {self.attribute}"


class TaskStimulus(models.Model):
    """A text or an image in a task, with its position. Tasks about attributes have none: see `Task.image`.

    The order is drawn when the campaign opens; some kinds use every order equally often.
    """

    task = models.ForeignKey(Task, on_delete=models.CASCADE, related_name="stimuli", db_index=False)
    position = models.PositiveSmallIntegerField()  # 0, 1, … as shown
    image = models.ForeignKey(
        Image, null=True, blank=True, on_delete=models.PROTECT, related_name="task_stimuli"
    )
    text = models.TextField(blank=True)

    class Meta:
        verbose_name_plural = "task stimuli"
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["task", "position"], name="task_stimulus_place_taken_once"),
            models.CheckConstraint(
                condition=Q(image__isnull=False, text="") | Q(image__isnull=True) & ~Q(text=""),
                name="task_stimulus_is_image_or_text",
            ),
        ]
        ordering: ClassVar = ["task", "position"]

    def __str__(self) -> str:
        return f"{self.task}, stimulus {self.position + 1}"


class CopiedText(models.Model):
    """The writer of a text that a stimulus copies from another campaign; null after they withdraw it.

    A writer cannot be deleted before `annotation.answers.questions.copied_texts` has blanked their texts.
    """

    stimulus = models.OneToOneField(TaskStimulus, on_delete=models.CASCADE, related_name="copied_text")
    writer = models.ForeignKey(
        Annotator, null=True, blank=True, on_delete=models.PROTECT, related_name="copied_texts"
    )

    def __str__(self) -> str:
        return f"{self.stimulus} by {self.writer or 'nobody'}"


class ReviewedCoding(models.Model):
    """A coding of a model's answer by rules, for people to check; the stimulus shows question and answer.

    Answers with equal texts share a stimulus.
    """

    stimulus = models.ForeignKey(TaskStimulus, on_delete=models.CASCADE, related_name="reviewed_codings")
    coding = models.ForeignKey(Coding, on_delete=models.CASCADE, related_name="reviews", db_index=False)
    first = models.CharField(max_length=5)  # the option named first in the question: plus or minus

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["coding", "stimulus"], name="reviewed_coding_once_per_stimulus"),
            models.CheckConstraint(
                condition=Q(first__in=["plus", "minus"]), name="reviewed_coding_first_option_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.coding}, reviewed"


class Assignment(models.Model):
    """A task leased to an annotator, with its outcome.

    A leased or submitted assignment holds one slot of its task; the constraint on (task, slot) prevents more
    accepted annotations than wanted. A submission after the lease expired and the slot was reassigned is kept
    as surplus, without a slot. Gold tasks and repeats hold no slot: they are mixed in to measure an
    annotator's work (`annotation.assignment.gold_and_repeats`).
    """

    class Purpose(models.TextChoices):
        LABEL = "label", "label"
        GOLD = "gold", "gold task"
        REPEAT = "repeat", "repeat"

    class State(models.TextChoices):
        LEASED = "leased", "leased"
        SUBMITTED = "submitted", "submitted"
        SURPLUS = "surplus", "surplus"
        SKIPPED = "skipped", "skipped"
        EXPIRED = "expired", "expired"

    public_id = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    task = models.ForeignKey(Task, on_delete=models.CASCADE, related_name="assignments")
    annotator = models.ForeignKey(Annotator, on_delete=models.CASCADE, related_name="assignments")
    state = models.CharField(max_length=10, choices=State, default=State.LEASED)
    purpose = models.CharField(max_length=8, choices=Purpose, default=Purpose.LABEL, db_default="label")
    slot = models.PositiveSmallIntegerField(null=True, blank=True)
    leased_at = models.DateTimeField(db_default=Now())
    expires_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["task", "slot"], name="assignment_slot_held_once"),
            # A repeat is a second assignment of the task to the same annotator.
            models.UniqueConstraint(
                fields=["task", "annotator", "purpose"], name="assignment_annotator_once_per_task"
            ),
            models.CheckConstraint(
                condition=Q(purpose="label", state__in=["leased", "submitted"], slot__isnull=False)
                | Q(purpose="label", state__in=["surplus", "skipped", "expired"], slot__isnull=True)
                | Q(purpose__in=["gold", "repeat"], slot__isnull=True),
                name="assignment_holds_slot_while_it_counts",
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["annotator", "state"], name="assignment_annotator_state"),
            models.Index(fields=["annotator", "-id"], name="assignment_annotator_recent"),
            models.Index(fields=["state", "expires_at"], name="assignment_expiry"),
        ]

    def __str__(self) -> str:
        return str(self.public_id)
