"""Label Studio servers: the tasks pushed to them, their users, and the answers read from them.

Answers are first stored unchanged (`LabelStudioAnnotation`, a mirror) and then made into labels, so that labels depend
only on the mirror, whatever the order and number of events.
"""

import uuid
from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from accounts.models import Annotator
from annotation.models import Annotation, Campaign, Instrument, Task
from studies.models import Study


class LabelStudioServer(models.Model):
    """A Label Studio server in which campaigns of a study are labelled. Its token is encrypted and never shown."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="label_studio_servers")
    url = models.URLField(max_length=300)  # without a trailing slash
    token = models.TextField()  # encrypted: see annotation.label_studio.client.encryption
    version = models.CharField(max_length=40, blank=True)
    checked_at = models.DateTimeField(null=True, blank=True)
    # The problem at the last use: a code, and a sentence that tells a person what to do.
    problem = models.CharField(max_length=60, blank=True)
    problem_text = models.CharField(max_length=500, blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        db_table = "annotation_labelstudioserver"
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["study", "url"], name="label_studio_server_once_in_study"),
            models.CheckConstraint(
                condition=Q(problem="", problem_text="") | ~Q(problem="") & ~Q(problem_text=""),
                name="label_studio_server_problem_said",
            ),
        ]
        ordering: ClassVar = ["study", "id"]

    def __str__(self) -> str:
        return self.url


class LabelStudioBridge(models.Model):
    """The labelling of a campaign in Label Studio. While it exists, our own pages give out none of its tasks."""

    class Arrangement(models.TextChoices):
        SHARED = "shared", "one project for all"
        PER_SLOT = "per_slot", "a project for each annotation a task asks for"
        PER_ANNOTATOR = "per_annotator", "a project for each annotator"

    campaign = models.OneToOneField(Campaign, on_delete=models.CASCADE, related_name="label_studio")
    server = models.ForeignKey(LabelStudioServer, on_delete=models.RESTRICT, related_name="bridges")
    arrangement = models.CharField(max_length=14, choices=Arrangement, default=Arrangement.PER_SLOT)
    # Identifies the webhook in its address; the secrets in the address and in the header are encrypted.
    public_id = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    address_secret = models.TextField()
    header_secret = models.TextField()
    # Signed addresses of images are valid until then; extending them moves it. A new version revokes all others.
    images_until = models.DateTimeField(null=True, blank=True)
    images_version = models.PositiveIntegerField(default=1)
    pushed_at = models.DateTimeField(null=True, blank=True)  # when the last complete push ended
    event_at = models.DateTimeField(null=True, blank=True)  # the last webhook that was accepted
    reconciled_at = models.DateTimeField(null=True, blank=True)
    problem = models.CharField(max_length=60, blank=True)
    problem_text = models.CharField(max_length=500, blank=True)
    problem_at = models.DateTimeField(null=True, blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        db_table = "annotation_labelstudiobridge"
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(arrangement__in=["shared", "per_slot", "per_annotator"]),
                name="label_studio_arrangement_known",
            ),
            models.CheckConstraint(
                condition=Q(problem="", problem_text="", problem_at__isnull=True)
                | ~Q(problem="") & ~Q(problem_text="") & Q(problem_at__isnull=False),
                name="label_studio_bridge_problem_said",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.campaign} in {self.server}"


class LabelStudioProject(models.Model):
    """One project in Label Studio. Depending on the arrangement it is for a slot, an annotator, or all (both null)."""

    bridge = models.ForeignKey(LabelStudioBridge, on_delete=models.CASCADE, related_name="projects")
    slot = models.PositiveSmallIntegerField(null=True, blank=True)
    annotator = models.ForeignKey(
        Annotator, null=True, blank=True, on_delete=models.CASCADE, related_name="label_studio_projects"
    )
    external_id = models.BigIntegerField()
    webhook_id = models.BigIntegerField(null=True, blank=True)  # in Label Studio
    # What annotators read there: our version, and the digest of the configuration that was sent.
    instrument = models.ForeignKey(
        Instrument, null=True, blank=True, on_delete=models.RESTRICT, related_name="+"
    )
    configuration = models.CharField(max_length=64, blank=True)
    # When we noticed that it no longer exists, or no longer contains our tasks (its server's database was restored).
    # Its answers stay; another project replaces it, perhaps with the same number.
    gone_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        db_table = "annotation_labelstudioproject"
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["bridge", "external_id"], condition=Q(gone_at=None), name="label_studio_project_once"
            ),
            models.UniqueConstraint(
                fields=["bridge", "slot"],
                condition=Q(slot__isnull=False, gone_at=None),
                name="label_studio_project_of_slot",
            ),
            models.UniqueConstraint(
                fields=["bridge", "annotator"],
                condition=Q(annotator__isnull=False, gone_at=None),
                name="label_studio_project_of_annotator",
            ),
            models.CheckConstraint(
                condition=Q(slot__isnull=True) | Q(annotator__isnull=True),
                name="label_studio_project_of_one_thing",
            ),
        ]
        ordering: ClassVar = ["bridge", "id"]

    def __str__(self) -> str:
        return f"project {self.external_id} of {self.bridge}"


class LabelStudioTask(models.Model):
    """One of our tasks in one project in Label Studio."""

    project = models.ForeignKey(LabelStudioProject, on_delete=models.CASCADE, related_name="tasks")
    task = models.ForeignKey(Task, on_delete=models.CASCADE, related_name="label_studio_tasks")
    external_id = models.BigIntegerField()
    # Version of the picture's address that was sent: the picture is shown only if it is the bridge's version. Ratings
    # have no picture.
    images_version = models.PositiveIntegerField(default=1)

    class Meta:
        db_table = "annotation_labelstudiotask"
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["project", "task"], name="label_studio_task_once"),
            models.UniqueConstraint(fields=["project", "external_id"], name="label_studio_task_one_of_ours"),
        ]

    def __str__(self) -> str:
        return f"task {self.external_id} of {self.project}"


class LabelStudioUser(models.Model):
    """A user of Label Studio. Their answers wait and do not count until a lead decides to whom they belong."""

    class State(models.TextChoices):
        WAITING = "waiting", "waiting"
        MAPPED = "mapped", "mapped to an annotator"
        IGNORED = "ignored", "left out"

    server = models.ForeignKey(LabelStudioServer, on_delete=models.CASCADE, related_name="users")
    external_id = models.BigIntegerField()
    # Their name on the server, by which the lead recognises them: personal, shown only to leads, never exported.
    name = models.CharField(max_length=200, blank=True)
    # When they withdrew consent or were erased: their name is never requested again, whatever is decided later, and
    # their answers are stored only for an annotator who agreed.
    forgotten_at = models.DateTimeField(null=True, blank=True)
    state = models.CharField(max_length=8, choices=State, default=State.WAITING)
    annotator = models.ForeignKey(
        Annotator, null=True, blank=True, on_delete=models.CASCADE, related_name="label_studio_users"
    )
    # A personal link by which they agree and identify themselves; the annotator who uses it is this user.
    invitation = models.OneToOneField(
        "annotation.Invitation",
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="label_studio_user",
    )
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    decided_at = models.DateTimeField(null=True, blank=True)
    seen_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        db_table = "annotation_labelstudiouser"
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["server", "external_id"], name="label_studio_user_once"),
            models.UniqueConstraint(
                fields=["server", "annotator"],
                condition=Q(annotator__isnull=False),
                name="label_studio_user_is_one_annotator",
            ),
            models.CheckConstraint(
                condition=Q(state="mapped", annotator__isnull=False)
                | Q(state__in=["waiting", "ignored"], annotator__isnull=True),
                name="label_studio_user_mapped_to_somebody",
            ),
        ]
        ordering: ClassVar = ["server", "id"]

    def __str__(self) -> str:
        return f"user {self.external_id} of {self.server}"


class LabelStudioAnnotation(models.Model):
    """The mirror: one annotation in Label Studio when last seen, and its state here."""

    class State(models.TextChoices):
        NEW = "new", "not checked yet"
        COUNTED = "counted", "counted"
        SURPLUS = "surplus", "surplus: the task already had enough answers"
        FURTHER = "further", "another answer of the same person; only the first counts"
        EXCLUDED = "excluded", "excluded by the lead"
        WAITING = "waiting", "waiting until the lead names the annotator"
        CONSENT = "consent", "waiting for consent"
        FLAGGED = "flagged", "sent or changed in another person’s name"
        REFUSED = "refused", "refused"
        LEFT_OUT = "left_out", "left out together with its Label Studio user"
        SKIPPED = "skipped", "skipped"
        DELETED = "deleted", "deleted in Label Studio"

    class Edit(models.TextChoices):
        OPEN = "open", "changed by somebody else; the author’s version counts until a lead decides"
        KEPT = "kept", "changed by somebody else; a lead kept the author’s version"
        TAKEN = "taken", "changed or sent by somebody else; a lead accepted that version"
        RESTORED = "restored", "restored to an earlier version by a lead"

    class Missing(models.TextChoices):
        HELD = "held", "held until the lead says whether it was deleted"
        KEPT = "kept", "kept by the lead, although Label Studio lost it"

    project = models.ForeignKey(LabelStudioProject, on_delete=models.CASCADE, related_name="annotations")
    # Number in Label Studio; negative if that number belongs to another annotation now, because a database was
    # restored.
    external_id = models.BigIntegerField()
    external_task = models.BigIntegerField()
    # Null for a task in the project that we did not push.
    task = models.ForeignKey(
        Task, null=True, blank=True, on_delete=models.CASCADE, related_name="label_studio_annotations"
    )
    user = models.ForeignKey(
        LabelStudioUser, null=True, blank=True, on_delete=models.CASCADE, related_name="annotations"
    )
    # `user` is the author named in the earliest version; `given_to` is another author whom somebody named later.
    given_to = models.ForeignKey(
        LabelStudioUser, null=True, blank=True, on_delete=models.SET_NULL, related_name="annotations_given"
    )
    # The last sender, by their number in Label Studio; not always the named author.
    updated_by = models.BigIntegerField(null=True, blank=True)
    made_at = models.DateTimeField()  # by Label Studio's clock
    changed_at = models.DateTimeField()
    cancelled = models.BooleanField(default=False)
    result = models.JSONField(default=list, blank=True)
    lead_time = models.FloatField(null=True, blank=True)
    # Of all fields above: rows with equal digests are not processed again.
    digest = models.CharField(max_length=64)
    deleted_at = models.DateTimeField(null=True, blank=True)  # when we noticed that it was deleted
    # It is missing together with so many others that they are not taken for deleted: the last version is kept.
    missing = models.CharField(max_length=4, choices=Missing, blank=True, default="")
    state = models.CharField(max_length=8, choices=State, default=State.NEW)
    reason = models.CharField(max_length=300, blank=True)
    # A lead's decision: the version that counts, by its digest (NOTHING: none), and the version that was current at the
    # time of the decision.
    chosen = models.CharField(max_length=64, blank=True, default="")
    chosen_against = models.CharField(max_length=64, blank=True, default="")
    # Derived from the fields above.
    edit = models.CharField(max_length=8, choices=Edit, blank=True, default="")
    annotation = models.OneToOneField(
        Annotation, null=True, blank=True, on_delete=models.SET_NULL, related_name="label_studio"
    )

    class Meta:
        db_table = "annotation_labelstudioannotation"
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["project", "external_id"], name="label_studio_annotation_once"),
            models.CheckConstraint(
                condition=Q(missing="") | Q(missing__in=["held", "kept"], deleted_at=None),
                name="label_studio_annotation_missing_or_deleted",
            ),
            models.CheckConstraint(
                condition=Q(chosen="", chosen_against="") | ~Q(chosen="") & ~Q(chosen_against=""),
                name="label_studio_annotation_chosen_against_something",
            ),
            models.CheckConstraint(
                condition=Q(edit__in=["", "open", "kept", "taken", "restored"]),
                name="label_studio_annotation_edit_known",
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["project"], condition=Q(edit="open"), name="label_studio_edit_open"),
            models.Index(fields=["project", "state"], name="label_studio_by_state"),
            models.Index(fields=["task"], condition=Q(deleted_at=None), name="label_studio_of_task"),
        ]

    NOTHING: ClassVar = "-"  # instead of a digest

    def __str__(self) -> str:
        return f"annotation {self.external_id} of {self.project}"

    @property
    def allowed(self) -> bool:
        """Return whether a lead accepted a version that somebody else sent."""
        return self.chosen != "" and self.chosen == self.chosen_against == self.digest


class LabelStudioVersion(models.Model):
    """An earlier version of an annotation in Label Studio. The mirror has the latest version."""

    mirrored = models.ForeignKey(LabelStudioAnnotation, on_delete=models.CASCADE, related_name="versions")
    # The named author, and the sender, by their number in Label Studio.
    user = models.ForeignKey(
        LabelStudioUser, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    updated_by = models.BigIntegerField(null=True, blank=True)
    changed_at = models.DateTimeField()
    cancelled = models.BooleanField(default=False)
    result = models.JSONField(default=list, blank=True)
    lead_time = models.FloatField(null=True, blank=True)
    digest = models.CharField(max_length=64)
    # When we noticed that it was replaced.
    replaced_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        db_table = "annotation_labelstudioversion"
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["mirrored", "digest"], name="label_studio_version_once"),
        ]
        ordering: ClassVar = ["mirrored", "changed_at", "digest"]

    def __str__(self) -> str:
        return f"version of {self.mirrored} from {self.changed_at}"


class LabelStudioEvent(models.Model):
    """A received webhook: the rows that it names, and whether they were read."""

    bridge = models.ForeignKey(LabelStudioBridge, on_delete=models.CASCADE, related_name="events")
    received_at = models.DateTimeField(db_default=Now(), editable=False)
    action = models.CharField(max_length=60)
    project = models.BigIntegerField(null=True, blank=True)  # number in Label Studio
    tasks = models.JSONField(default=list, blank=True)
    annotations = models.JSONField(default=list, blank=True)
    done_at = models.DateTimeField(null=True, blank=True)
    outcome = models.CharField(max_length=300, blank=True)

    class Meta:
        db_table = "annotation_labelstudioevent"
        indexes: ClassVar = [
            models.Index(fields=["bridge", "id"], condition=Q(done_at=None), name="label_studio_event_to_do"),
        ]
        ordering: ClassVar = ["-id"]

    def __str__(self) -> str:
        return f"{self.action} for {self.bridge}"
