"""Scores of associations: of a text, shared by all pairs with this text, or of a pair."""

from typing import ClassVar

from django.db import models
from django.db.models import Q

from analysis.models.scores import Scorer


class AssociationScore(models.Model):
    """A label that a classifier gives a text, or the level that a judge gives a pair; null for a reason.

    `key` is a digest of the text, or of descriptor and text. Classifiers name no descriptor.
    """

    BIAS_LEVEL = "bias_level"
    LONGEST_REPLY = 2_000

    scorer = models.ForeignKey(
        Scorer, on_delete=models.CASCADE, related_name="association_scores", db_index=False
    )
    key = models.CharField(max_length=64)
    descriptor = models.CharField(max_length=120, blank=True)
    text = models.TextField()
    repeat = models.PositiveSmallIntegerField(default=0)
    label = models.CharField(max_length=80)
    score = models.FloatField(null=True, blank=True)  # a probability, or a level from 1 to 5
    reason = models.CharField(max_length=40, blank=True)  # why there is no score: unparsed, declined
    reply = models.TextField(blank=True)  # of a judge, as it came

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["scorer", "key", "repeat", "label"], name="association_score_once"
            ),
            models.CheckConstraint(
                condition=Q(score__isnull=True) & ~Q(reason="") | Q(score__isnull=False, reason=""),
                name="association_score_null_for_a_reason",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.label} of “{self.text[:60]}” by {self.scorer}"
