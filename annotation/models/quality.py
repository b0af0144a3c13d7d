"""Known answers, practice rounds, and quality rules that warn or pause annotators."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Coalesce, Now

from annotation.models.answers import ABOUT_ATTRIBUTES
from annotation.models.campaigns import Campaign, Enrolment
from annotation.models.tasks import Task, TaskStimulus
from catalog.models import Attribute


class KnownAnswer(models.Model):
    """The right answer for one attribute or question of a gold or practice task.

    Attributes and questions without a row are not scored. `accepted` has the right answers to a question: see
    `annotation.answers.questions.known_answers`.
    """

    task = models.ForeignKey(Task, on_delete=models.CASCADE, related_name="known_answers")
    question = models.CharField(
        max_length=40, default=ABOUT_ATTRIBUTES, db_default=models.Value(ABOUT_ATTRIBUTES)
    )
    # Set if the question is asked about each stimulus.
    stimulus = models.ForeignKey(
        TaskStimulus, null=True, blank=True, on_delete=models.CASCADE, related_name="+"
    )
    attribute = models.ForeignKey(
        Attribute, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    present = models.BooleanField(null=True, blank=True)
    ratings = models.JSONField(default=list, blank=True)  # the right ratings, from 1 to 5
    accepted = models.JSONField(default=list, blank=True)
    explanation = models.CharField(max_length=500, blank=True)  # shown after a practice answer

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["task", "attribute"], name="known_answer_once_per_attribute"),
            models.UniqueConstraint(
                "task",
                "question",
                Coalesce("stimulus", 0),
                condition=Q(attribute__isnull=True),
                name="known_answer_once_per_question",
            ),
            models.CheckConstraint(
                condition=Q(attribute__isnull=False, stimulus__isnull=True, accepted=[])
                & (Q(present__isnull=False, ratings=[]) | Q(present__isnull=True) & ~Q(ratings=[]))
                | Q(attribute__isnull=True, present__isnull=True, ratings=[]) & ~Q(accepted=[]),
                name="known_answer_is_mark_ratings_or_accepted",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.task}: {self.attribute or self.question}"

    @property
    def right(self) -> bool | list[int] | list[int | str]:
        """Return whether the attribute is present, or the right answers."""
        if self.attribute_id is None:
            accepted: list[int | str] = self.accepted
            return accepted
        ratings: list[int] = self.ratings
        return ratings if self.present is None else self.present


class PracticeRound(models.Model):
    """An annotator's attempt at a campaign's practice tasks; `passed` is null while it runs."""

    enrolment = models.ForeignKey(Enrolment, on_delete=models.CASCADE, related_name="practice_rounds")
    number = models.PositiveSmallIntegerField()
    passed = models.BooleanField(null=True, blank=True)
    started_at = models.DateTimeField(db_default=Now(), editable=False)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["enrolment", "number"], name="practice_round_number_unique"),
            models.UniqueConstraint(
                fields=["enrolment"], condition=Q(passed__isnull=True), name="practice_one_round_at_a_time"
            ),
            models.CheckConstraint(
                condition=Q(passed__isnull=True, ended_at__isnull=True)
                | Q(passed__isnull=False, ended_at__isnull=False),
                name="practice_round_ends_with_a_result",
            ),
        ]
        ordering: ClassVar = ["enrolment", "number"]

    def __str__(self) -> str:
        return f"{self.enrolment}, round {self.number}"


class PracticeAnswer(models.Model):
    """An annotator's answer in a practice round. It is not an annotation and never counts."""

    round = models.ForeignKey(PracticeRound, on_delete=models.CASCADE, related_name="answers")
    task = models.ForeignKey(Task, on_delete=models.CASCADE, related_name="practice_answers")
    answer = models.JSONField()
    correct = models.PositiveSmallIntegerField()
    scored = models.PositiveSmallIntegerField()
    answered_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["round", "task"], name="practice_answer_once_a_round"),
            models.CheckConstraint(condition=Q(correct__lte=F("scored")), name="practice_correct_of_scored"),
        ]

    def __str__(self) -> str:
        return f"{self.round}: {self.correct} of {self.scored}"


class QualityMeasure(models.TextChoices):
    """A measure of an annotator's work. Lower is worse, except for straight-lining."""

    GOLD_ACCURACY = "gold_accuracy", "accuracy on gold tasks"
    AGREEMENT = "agreement", "agreement with others"
    SELF_CONSISTENCY = "self_consistency", "self-consistency on repeats"
    MEDIAN_SECONDS = "median_seconds", "median active seconds a task"
    STRAIGHT_LINING = "straight_lining", "share of the most frequent answer"
    VARIETY = "variety", "variety of answers"


class QualityAction(models.TextChoices):
    """The consequence for an annotator who misses a threshold."""

    WARN = "warn", "warn"
    PAUSE = "pause", "pause"


class QualityRule(models.Model):
    """A threshold: an annotator who misses it after enough screens is warned or paused."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="quality_rules")
    measure = models.CharField(max_length=20, choices=QualityMeasure)
    threshold = models.FloatField()
    minimum = models.PositiveIntegerField(default=10)  # the least number of screens for the measure
    action = models.CharField(max_length=5, choices=QualityAction, default=QualityAction.WARN)
    # Created with the campaign (`campaigns.planning.standard_rules`) and unchanged; warns and never pauses.
    standard = models.BooleanField(default=False, db_default=False)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["campaign", "measure", "action"], name="quality_rule_once"),
            models.CheckConstraint(
                condition=Q(standard=False) | Q(action="warn"), name="quality_rule_standard_only_warns"
            ),
            models.CheckConstraint(condition=Q(minimum__gte=1), name="quality_rule_rests_on_something"),
            models.CheckConstraint(
                condition=Q(threshold__gte=0) & (Q(threshold__lte=1) | Q(measure="median_seconds")),
                name="quality_threshold_in_range",
            ),
        ]
        ordering: ClassVar = ["campaign", "id"]

    def __str__(self) -> str:
        return f"{self.campaign}: {self.action} by {self.measure} {self.threshold}"


class QualityEvent(models.Model):
    """A missed threshold: the annotator, the measured value, and the consequence.

    Until the event ends, the same rule makes no other event for the annotator.
    """

    class Ending(models.TextChoices):
        RECOVERED = "recovered", "the threshold is met again"
        RESUMED = "resumed", "the lead let them go on"
        RULE_GONE = "rule_gone", "the rule was removed"

    enrolment = models.ForeignKey(Enrolment, on_delete=models.CASCADE, related_name="quality_events")
    measure = models.CharField(max_length=20, choices=QualityMeasure)
    action = models.CharField(max_length=5, choices=QualityAction)
    value = models.FloatField()
    threshold = models.FloatField()
    rests_on = models.PositiveIntegerField()
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    seen_at = models.DateTimeField(null=True, blank=True)  # by the annotator
    ended_at = models.DateTimeField(null=True, blank=True)
    ending = models.CharField(max_length=10, choices=Ending, blank=True, default="")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["enrolment", "measure", "action"],
                condition=Q(ended_at=None),
                name="quality_event_stands_once",
            ),
            models.CheckConstraint(
                condition=Q(ended_at=None, ending="") | Q(ended_at__isnull=False) & ~Q(ending=""),
                name="quality_event_ends_for_a_reason",
            ),
        ]
        ordering: ClassVar = ["-id"]

    def __str__(self) -> str:
        return f"{self.enrolment}: {self.action} by {self.measure}"


class LaunchWaiver(models.Model):
    """A lead's reason why a draft may open although a check of `annotation.launch` is not met."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="launch_waivers")
    check_key = models.CharField(max_length=20)
    reason = models.CharField(max_length=500)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["campaign", "check_key"], name="launch_waiver_once"),
            models.CheckConstraint(condition=~Q(reason=""), name="launch_waiver_has_reason"),
        ]

    def __str__(self) -> str:
        return f"{self.campaign}: {self.check_key}"
