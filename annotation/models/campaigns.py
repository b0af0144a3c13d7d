"""Campaigns with their kinds, instruments, quota rules, invitations and enrolments."""

from typing import ClassVar, Self

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from accounts.models import Annotator, AnnotatorProfile
from annotation.models.language_codes import LANGUAGE_CODES
from catalog.models import Attribute
from studies.models import Study, StudyGroup


class Campaign(models.Model):
    """One round of questions to annotators. Its plan is fixed when it opens."""

    class State(models.TextChoices):
        DRAFT = "draft", "draft"
        OPEN = "open", "open"
        PAUSED = "paused", "paused"
        CLOSED = "closed", "closed"

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="campaigns")
    slug = models.SlugField(max_length=120)
    name = models.CharField(max_length=120)
    kind = models.CharField(max_length=40)  # the key of an `annotation.kinds.declaration.Kind`
    # The kind when the campaign was created, as JSON; null for kinds that ask about attributes.
    declaration = models.JSONField(null=True, blank=True, editable=False)
    state = models.CharField(max_length=10, choices=State, default=State.DRAFT)
    annotators_per_task = models.PositiveSmallIntegerField(default=3)
    attributes_per_screen = models.PositiveSmallIntegerField(default=5)
    boxes_required = models.BooleanField(default=True)
    lease_minutes = models.PositiveIntegerField(default=30)
    seed = models.BigIntegerField()
    # How attributes are chosen: see campaigns.planning.task_plan (visual source, model labels, random draw …).
    options = models.JSONField(default=dict, blank=True)
    cloned_from = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.SET_NULL, related_name="clones"
    )
    imported = models.BooleanField(default=False)  # labels come from a file; no task is ever leased
    # The external tool that hands out the tasks: the slug of an `annotation.integrations.Integration`.
    labelled_in = models.CharField(max_length=20, blank=True, default="")
    # The languages in which annotators can read the campaign; null means the platform's languages.
    offered_languages = models.JSONField(null=True, blank=True, editable=False)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    opened_at = models.DateTimeField(null=True, blank=True)
    closed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["study", "slug"], name="campaign_slug_unique_in_study"),
            models.CheckConstraint(
                condition=Q(attributes_per_screen__gte=1, attributes_per_screen__lte=5),
                name="campaign_one_to_five_attributes",
            ),
            models.CheckConstraint(
                condition=Q(annotators_per_task__gte=1, annotators_per_task__lte=100),
                name="campaign_annotators_per_task_range",
            ),
            models.CheckConstraint(condition=Q(lease_minutes__gte=1), name="campaign_lease_positive"),
            models.CheckConstraint(
                condition=Q(state="draft", opened_at__isnull=True)
                | ~Q(state="draft") & Q(opened_at__isnull=False),
                name="campaign_opened_once_not_draft",
            ),
        ]
        ordering: ClassVar = ["study", "id"]

    def __str__(self) -> str:
        return self.name

    @classmethod
    def locked(cls, pk: int) -> Self:
        """Return the campaign with its study, locked until the transaction ends.

        Answers do not wait for this lock: at their commit they only check that the campaign exists.
        """
        return cls.objects.select_for_update(of=("self",), no_key=True).select_related("study").get(pk=pk)


class StudyKind(models.Model):
    """A kind of campaign that a study declares: see `annotation.kinds.study_kinds`."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="kinds")
    key = models.CharField(max_length=40)
    declaration = models.JSONField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["study", "key"], name="study_kind_key_unique"),
        ]
        ordering: ClassVar = ["study", "key"]

    def __str__(self) -> str:
        return self.key


class Instrument(models.Model):
    """One version of the texts for annotators: guidelines, statement, answers. Annotations refer to it."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="instruments")
    version = models.PositiveSmallIntegerField(default=1)
    guidelines = models.TextField()
    statement = models.CharField(max_length=300, blank=True)
    labels = models.JSONField(default=dict, blank=True)
    # By language and key, each text with the digest of its source: see `campaigns.instruments.languages`.
    translations = models.JSONField(default=dict, blank=True, db_default=models.Value({}, models.JSONField()))
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["campaign", "version"], name="instrument_version_unique"),
        ]
        ordering: ClassVar = ["campaign", "-version"]

    def __str__(self) -> str:
        return f"{self.campaign} v{self.version}"


class QuotaRule(models.Model):
    """A rule about the annotators of each task of a campaign: see `annotation.assignment.quotas`."""

    class Kind(models.TextChoices):
        AT_LEAST = "at_least", "at least"
        AT_MOST = "at_most", "at most"
        DISTINCT = "distinct", "all different"

    class GroupPart(models.TextChoices):
        REGION = "region", "its region"
        NATIONALITY = "nationality", "its nationality"

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="quota_rules")
    kind = models.CharField(max_length=10, choices=Kind)
    field = models.CharField(max_length=24)  # one of AnnotatorProfile.FIELDS
    k = models.PositiveSmallIntegerField(null=True, blank=True)
    values = models.JSONField(default=list, blank=True)
    negated = models.BooleanField(default=False)  # counts people who gave the field with no listed value
    # Instead of `values`: a property of the group that the task depicts.
    matches_group = models.CharField(max_length=12, blank=True, choices=GroupPart)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(kind="distinct", k__isnull=True, matches_group="", negated=False)
                | Q(kind="at_least", k__isnull=False, k__gte=1)
                | Q(kind="at_most", k__isnull=False, k__gte=0),
                name="quota_rule_counts_unless_distinct",
            ),
            models.CheckConstraint(
                condition=Q(field__in=AnnotatorProfile.FIELDS), name="quota_rule_field_known"
            ),
            models.CheckConstraint(
                condition=Q(matches_group__in=["", "region", "nationality"]),
                name="quota_rule_group_part_known",
            ),
        ]
        ordering: ClassVar = ["campaign", "id"]

    def __str__(self) -> str:
        return f"{self.campaign}: {self.kind} {'' if self.k is None else self.k} {self.field}"


class CampaignAttribute(models.Model):
    """An attribute, with its role, that a marking campaign asks about a group's images: the stored draw."""

    class Role(models.TextChoices):
        STEREOTYPE = "stereotype", "stereotype"
        RANDOM = "random", "random"

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="planned_attributes")
    group = models.ForeignKey(StudyGroup, on_delete=models.CASCADE, related_name="+")
    attribute = models.ForeignKey(Attribute, on_delete=models.PROTECT, related_name="+")
    role = models.CharField(max_length=12, choices=Role)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["campaign", "group", "attribute"], name="campaign_attribute_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.group}: {self.attribute} ({self.role})"


class Invitation(models.Model):
    """A link into a campaign, for one person (`limit` 1) or a batch. Only the hash of its token is stored."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="invitations")
    label = models.CharField(max_length=120, blank=True)  # the lead's note about the recipient
    token_hash = models.CharField(max_length=64, unique=True)
    limit = models.PositiveIntegerField(default=1)
    # Set for a personal link: the person who opens it is this annotator, also after the link is reissued.
    annotator = models.ForeignKey(
        Annotator, null=True, blank=True, on_delete=models.CASCADE, related_name="invitations"
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    # When the page of a personal link was first shown, possibly to a mail program that follows links.
    opened_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(condition=Q(limit__gte=1), name="invitation_limit_positive"),
            models.CheckConstraint(
                condition=Q(annotator__isnull=True) | Q(limit=1), name="invitation_personal_has_limit_one"
            ),
        ]
        ordering: ClassVar = ["-id"]

    def __str__(self) -> str:
        return self.label or f"invitation {self.pk}"


class Enrolment(models.Model):
    """An annotator's participation in a campaign. A person is one annotator and enrolled at most once."""

    class State(models.TextChoices):
        ACTIVE = "active", "active"
        PAUSED = "paused", "paused"
        EXCLUDED = "excluded", "excluded"

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="enrolments")
    annotator = models.ForeignKey(Annotator, on_delete=models.CASCADE, related_name="enrolments")
    invitation = models.ForeignKey(
        Invitation, null=True, blank=True, on_delete=models.SET_NULL, related_name="enrolments"
    )
    state = models.CharField(max_length=10, choices=State, default=State.ACTIVE)
    reason = models.CharField(max_length=300, blank=True)
    # Keyed hashes at joining: of IP address and kind of browser, and of the browser's cookie. Leads see
    # enrolments with equal hashes as suspected duplicates.
    joined_print = models.CharField(max_length=64, blank=True, db_index=True)
    joined_device = models.CharField(max_length=64, blank=True)
    joined_at = models.DateTimeField(db_default=Now(), editable=False)
    # The most screens they may answer, or null without a limit: a panel's place is paid for this many.
    most_screens = models.PositiveIntegerField(null=True, blank=True)
    # The language they chose; null before that, and if the campaign offers no choice.
    language = models.CharField(max_length=2, null=True, blank=True)  # noqa: DJ001

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["campaign", "annotator"], name="enrolment_once"),
            models.CheckConstraint(
                condition=Q(language__isnull=True) | Q(language__in=LANGUAGE_CODES),
                name="enrolment_language_known",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.annotator} in {self.campaign}"
