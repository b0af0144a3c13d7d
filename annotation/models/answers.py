"""Annotators' answers; every revision is kept."""

import functools
import operator
import uuid
from typing import ClassVar

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Coalesce, Now

from accounts.models import Annotator
from annotation.models.campaigns import Campaign, Instrument
from annotation.models.language_codes import LANGUAGE_CODES
from annotation.models.tasks import Assignment, Task, TaskStimulus
from catalog.models import Attribute

# The name of the question about planned attributes in every kind, as in `annotation.kinds.declaration`.
ABOUT_ATTRIBUTES = "attribute"


class Annotation(models.Model):
    """One submission. A correction is another row with the next `revision`; only the latest counts."""

    class Status(models.TextChoices):
        ACCEPTED = "accepted", "accepted"
        SURPLUS = "surplus", "surplus"
        EXCLUDED = "excluded", "excluded"
        GOLD = "gold", "answer to a gold task"
        REPEAT = "repeat", "repeat"

    # Statuses of labels; answers to gold tasks and repeats are never labels.
    LABELS: ClassVar = (Status.ACCEPTED, Status.SURPLUS, Status.EXCLUDED)

    # Made by the client, so that a retry of a submission is recognised.
    submission_id = models.UUIDField(unique=True, default=uuid.uuid4)
    campaign = models.ForeignKey(
        Campaign, on_delete=models.CASCADE, related_name="annotations", db_index=False
    )
    task = models.ForeignKey(Task, on_delete=models.CASCADE, related_name="annotations")
    annotator = models.ForeignKey(Annotator, on_delete=models.CASCADE, related_name="annotations")
    # Null for imported labels, which were not leased.
    assignment = models.ForeignKey(
        Assignment, null=True, blank=True, on_delete=models.CASCADE, related_name="annotations"
    )
    instrument = models.ForeignKey(
        Instrument, null=True, blank=True, on_delete=models.PROTECT, related_name="annotations"
    )
    revision = models.PositiveSmallIntegerField(default=1)
    is_latest = models.BooleanField(default=True)
    status = models.CharField(max_length=10, choices=Status, default=Status.ACCEPTED)
    status_reason = models.CharField(max_length=300, blank=True)
    # Null if 'none of the above' was not offered, as for ratings.
    none_of_the_above = models.BooleanField(null=True, blank=True)
    justification = models.TextField(blank=True)
    active_seconds = models.FloatField(null=True, blank=True)
    # The language in which the annotator read the screen; null if unknown.
    language = models.CharField(max_length=2, null=True, blank=True)  # noqa: DJ001
    submitted_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["assignment", "revision"], name="annotation_revision_unique"),
            models.UniqueConstraint(
                fields=["assignment"], condition=Q(is_latest=True), name="annotation_one_latest"
            ),
            models.CheckConstraint(condition=Q(revision__gte=1), name="annotation_revision_from_one"),
            models.CheckConstraint(
                condition=Q(active_seconds__isnull=True) | Q(active_seconds__gte=0),
                name="annotation_seconds_not_negative",
            ),
            models.CheckConstraint(
                condition=Q(language__isnull=True) | Q(language__in=LANGUAGE_CODES),
                name="annotation_language_known",
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["campaign", "status", "is_latest"], name="annotation_counted"),
            models.Index(fields=["campaign", "id"], name="annotation_campaign_recent"),
        ]

    def __str__(self) -> str:
        return f"{self.annotator} on {self.task}, revision {self.revision}"


def _one_value() -> Q:
    """Return the condition that exactly one of the columns of values is set."""
    columns = ("present", "rating", "code", "rank", "text")
    return functools.reduce(
        operator.or_,
        (Q(**{f"{column}__isnull": column != value for column in columns}) for value in columns),
    )


class Judgement(models.Model):
    """The answer to one question: about an attribute, about a stimulus, or about the screen as a whole.

    It has exactly one value: a mark (`present`), a point of a scale (`rating`), the `code` of a choice, a
    `rank` or a `text`. If several answers can be chosen, each is a separate judgement.
    """

    annotation = models.ForeignKey(Annotation, on_delete=models.CASCADE, related_name="judgements")
    question = models.CharField(
        max_length=40, default=ABOUT_ATTRIBUTES, db_default=models.Value(ABOUT_ATTRIBUTES)
    )
    stimulus = models.ForeignKey(
        TaskStimulus,
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="judgements",
        db_index=False,
    )
    attribute = models.ForeignKey(
        Attribute, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    present = models.BooleanField(null=True, blank=True)
    rating = models.SmallIntegerField(null=True, blank=True)
    code = models.CharField(max_length=40, null=True, blank=True)  # noqa: DJ001 (null: another column has the value)
    rank = models.SmallIntegerField(null=True, blank=True)  # from 1, the best; ties share a rank
    text = models.TextField(null=True, blank=True)  # noqa: DJ001

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["annotation", "attribute"], name="judgement_once_per_attribute"),
            models.UniqueConstraint(
                "annotation",
                "question",
                Coalesce("stimulus", 0),
                Coalesce("code", models.Value("")),
                condition=Q(attribute__isnull=True),
                name="judgement_once_per_question",
            ),
            models.CheckConstraint(
                condition=_one_value() & (Q(rank__isnull=True) | Q(rank__gte=1)),
                name="judgement_has_one_value",
            ),
            models.CheckConstraint(
                condition=Q(attribute__isnull=True, question__gt="")
                | Q(attribute__isnull=False, question=ABOUT_ATTRIBUTES, stimulus__isnull=True)
                & (Q(present__isnull=False) | Q(rating__isnull=False, rating__gte=1, rating__lte=5)),
                name="judgement_of_attribute_is_mark_or_rating",
            ),
        ]
        indexes: ClassVar = [
            models.Index(
                fields=["stimulus"], condition=Q(stimulus__isnull=False), name="judgement_of_stimulus"
            ),
        ]

    def __str__(self) -> str:
        values = (self.present, self.rating, self.code, self.rank, self.text)
        return f"{self.attribute or self.question}: {next(value for value in values if value is not None)}"


class Box(models.Model):
    """A rectangle on the image, in fractions of its width and height from the top left corner."""

    judgement = models.ForeignKey(Judgement, on_delete=models.CASCADE, related_name="boxes")
    x = models.FloatField()
    y = models.FloatField()
    width = models.FloatField()
    height = models.FloatField()
    clipped = models.BooleanField(default=False)  # the box as drawn extended beyond the image

    class Meta:
        verbose_name_plural = "boxes"
        constraints: ClassVar = [
            # The tolerance is for rounding: x + width may exceed 1 in the last bit.
            models.CheckConstraint(
                condition=Q(x__gte=0, y__gte=0, width__gt=0, height__gt=0)
                & Q(x__lte=1.000001 - F("width"), y__lte=1.000001 - F("height")),
                name="box_inside_image",
            ),
        ]

    def __str__(self) -> str:
        return f"({self.x:.3f}, {self.y:.3f}) {self.width:.3f} × {self.height:.3f}"


class Point(models.Model):
    """A point on the image, in fractions of its width and height from the top left corner."""

    judgement = models.ForeignKey(Judgement, on_delete=models.CASCADE, related_name="points")
    x = models.FloatField()
    y = models.FloatField()

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(x__gte=0, y__gte=0, x__lte=1, y__lte=1), name="point_inside_image"
            ),
        ]

    def __str__(self) -> str:
        return f"({self.x:.3f}, {self.y:.3f})"
