"""Releases: the data that each was built from, so that the next can list the changes, and its key."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from studies.models import Study


class Release(models.Model):
    """One version of a study's dataset. Its files can be built again as long as the labels stand.

    `key` makes the pseudonymous ids. It was derived from the server's secret and is kept, because secrets rotate;
    it never leaves the database. Which annotations, annotators and images were in it is kept as bits by key.
    """

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="releases")
    version = models.PositiveIntegerField()
    parameters = models.JSONField()
    inputs_digest = models.CharField(max_length=64)
    key = models.BinaryField()
    # Rows by table, guidelines by campaign, days, what changed: what later changelogs say of this release.
    facts = models.JSONField()
    annotations = models.BinaryField()
    annotators = models.BinaryField()
    images = models.BinaryField()
    # What was shown of each annotator: see `analysis.releases.privacy.profile_history`; null before this was kept.
    profiles = models.BinaryField(null=True)
    # Since when a lead says that nobody ever got it: later releases are not checked against it.
    set_aside_at = models.DateTimeField(null=True, blank=True)
    archive = models.CharField(
        max_length=300, blank=True
    )  # name of the zip in storage, "" when none was kept
    archive_bytes = models.BigIntegerField(null=True, blank=True)
    built_at = models.DateTimeField(db_default=Now())
    built_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["study", "version"], name="release_version_once"),
            models.CheckConstraint(condition=Q(version__gte=1), name="release_version_from_one"),
            models.CheckConstraint(condition=~Q(inputs_digest=""), name="release_has_inputs_digest"),
            models.CheckConstraint(
                condition=Q(archive="", archive_bytes__isnull=True)
                | ~Q(archive="") & Q(archive_bytes__isnull=False),
                name="release_archive_has_size",
            ),
            models.CheckConstraint(
                condition=Q(set_aside_at__isnull=True) | Q(archive=""), name="release_set_aside_without_files"
            ),
        ]
        ordering: ClassVar = ["study", "-version"]

    def __str__(self) -> str:
        return f"release {self.version} of {self.study}"
