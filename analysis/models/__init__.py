"""The models of this app; this module defines reports, which store computed results."""

import json
import zlib
from typing import Any, ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from analysis.models.association_scores import AssociationScore
from analysis.models.plans import Preregistration, StudyPlan
from analysis.models.releases import Release
from analysis.models.scores import (
    AttributeScore,
    Caption,
    Encoder,
    ImageEmbedding,
    ScoredImage,
    Scorer,
    TextEmbedding,
    TextScore,
)
from studies.models import Study

__all__ = [
    "AssociationScore",
    "AttributeScore",
    "Caption",
    "Encoder",
    "ImageEmbedding",
    "Preregistration",
    "Release",
    "Report",
    "ReportTable",
    "ScoredImage",
    "Scorer",
    "StudyPlan",
    "TextEmbedding",
    "TextScore",
]


class Report(models.Model):
    """The results of a study at one moment, with their parameters and the digest of their inputs."""

    # Raised when tables change shape: reports of an older format are computed again, never reused.
    FORMAT = 9

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="reports")
    format = models.PositiveSmallIntegerField(default=FORMAT)
    parameters = models.JSONField()
    inputs_digest = models.CharField(max_length=64)
    summary = models.JSONField()
    # Annotations with a larger key came after this report.
    last_annotation = models.BigIntegerField()
    # Audit entries with a larger key came after this report was begun.
    last_audit_entry = models.BigIntegerField(default=0)
    # What the scores of machines stood at when the report was begun: see `analysis.scoring.freshness`.
    last_score = models.CharField(max_length=80, blank=True)
    computed_at = models.DateTimeField(db_default=Now())
    computed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(condition=~Q(inputs_digest=""), name="report_has_inputs_digest"),
        ]
        ordering: ClassVar = ["-id"]

    def __str__(self) -> str:
        return f"results of {self.study} ({self.inputs_digest[:8]})"

    def rows(self, name: str) -> list[dict[str, Any]]:
        """The rows of one table as plain values."""
        table = self.tables.get(name=name)
        return table.rows()


class ReportTable(models.Model):
    """One table of a report: compressed columns, read as a whole."""

    report = models.ForeignKey(Report, on_delete=models.CASCADE, related_name="tables")
    name = models.CharField(max_length=40)
    columns = models.JSONField()
    content = models.BinaryField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["report", "name"], name="report_table_once"),
        ]

    def __str__(self) -> str:
        return f"{self.name} of {self.report}"

    @staticmethod
    def packed(values: list[list[Any]]) -> bytes:
        """Return rows as they are stored."""
        text = json.dumps(values, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        return zlib.compress(text.encode(), 6)

    def values(self) -> list[list[Any]]:
        """The rows as lists, in the order of `columns`."""
        stored: list[list[Any]] = json.loads(zlib.decompress(bytes(self.content)))
        return stored

    def rows(self) -> list[dict[str, Any]]:
        return [dict(zip(self.columns, row, strict=True)) for row in self.values()]
