"""Studies, their members, frozen copies of their resources, and the audit trail."""

from typing import ClassVar, Self

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now
from django.utils import timezone

from accounts import rights
from accounts.models import Annotator, ConsentText
from catalog.models import Association, Attribute, IdentityGroup, Resource
from catalog.raters import MIN_RATERS, RaterPools


class Study(models.Model):
    """One run of a protocol. `parameters` has the numbers of the protocol without a column of their own."""

    class Protocol(models.TextChoices):
        VISAGE = "visage", "ViSAGe: visual stereotypes around the globe"
        MCAS = "mcas", "MCAS: associations between targets and sets of attributes"
        PAIRS = "pairs", "PAIRS: questions about images that differ in the person"
        BIASDORA = "biasdora", "BiasDora: words that models associate with descriptors"

    name = models.CharField(max_length=120, unique=True)
    slug = models.SlugField(max_length=120, unique=True)
    description = models.TextField(blank=True)
    protocol = models.CharField(max_length=20, choices=Protocol, default=Protocol.VISAGE)
    resource = models.ForeignKey(
        Resource, null=True, blank=True, on_delete=models.PROTECT, related_name="studies"
    )
    parameters = models.JSONField(default=dict, blank=True)
    min_raters = models.PositiveSmallIntegerField(default=MIN_RATERS)
    rater_pools = models.CharField(max_length=10, choices=RaterPools, default=RaterPools.SEPARATE)
    min_stereotypes = models.PositiveSmallIntegerField(default=2)
    # Limit of stereotypes per group, those with most raters first; null for all.
    most_stereotypes = models.PositiveSmallIntegerField(null=True, blank=True)
    # All random choices of the study (attribute draws, orders, image seeds) derive from this seed.
    seed = models.BigIntegerField()
    # Labels of simulated annotators count only in simulated studies, whose pages say so.
    simulated = models.BooleanField(default=False)
    consent_text = models.ForeignKey(
        ConsentText, null=True, blank=True, on_delete=models.PROTECT, related_name="studies"
    )
    frozen_at = models.DateTimeField(null=True, blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(condition=Q(min_raters__gte=1), name="study_min_raters_positive"),
            models.CheckConstraint(
                condition=Q(rater_pools__in=RaterPools.values), name="study_rater_pools_known"
            ),
            models.CheckConstraint(condition=~Q(name=""), name="study_has_name"),
            models.CheckConstraint(
                condition=Q(most_stereotypes=None) | Q(most_stereotypes__gte=1),
                name="study_most_stereotypes_positive",
            ),
        ]
        ordering: ClassVar = ["-id"]
        verbose_name_plural = "studies"

    def __str__(self) -> str:
        return self.name

    @property
    def asks_models(self) -> bool:
        """Whether the protocol asks models questions, whose answers people may review."""
        return self.protocol in {self.Protocol.PAIRS, self.Protocol.BIASDORA}


class StudyMembership(models.Model):
    """A member of a study with a role (`accounts.rights`)."""

    class Role(models.TextChoices):
        LEAD = rights.Role.LEAD.value, rights.Role.LEAD.words
        COORDINATOR = rights.Role.COORDINATOR.value, rights.Role.COORDINATOR.words
        STEWARD = rights.Role.STEWARD.value, rights.Role.STEWARD.words
        ANALYST = rights.Role.ANALYST.value, rights.Role.ANALYST.words

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="study_memberships"
    )
    role = models.CharField(max_length=10, choices=Role)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["study", "user", "role"], name="study_membership_unique"),
        ]

    def __str__(self) -> str:
        return f"{self.user} ({self.role}) in {self.study}"


class BreakGlassQuerySet(models.QuerySet["BreakGlass"]):
    """Filters for accesses in force, and for expired accesses whose end is not yet recorded."""

    def in_force(self) -> Self:
        return self.filter(ended_at=None, ends_at__gt=timezone.now())

    def expired(self) -> Self:
        return self.filter(ended_at=None, ends_at__lte=timezone.now())


class BreakGlass(models.Model):
    """A time-limited, read-only access of an administrator who is not a member, with the reason."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="break_glasses")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="break_glasses")
    reason = models.CharField(max_length=500)
    began_at = models.DateTimeField()
    ends_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)  # early end, or `ends_at` once expired

    objects = BreakGlassQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["study", "user"], condition=Q(ended_at=None), name="break_glass_open_once"
            ),
            models.CheckConstraint(condition=~Q(reason=""), name="break_glass_has_reason"),
            models.CheckConstraint(
                condition=Q(ends_at__gt=F("began_at")), name="break_glass_ends_after_it_began"
            ),
            models.CheckConstraint(
                condition=Q(ended_at=None) | Q(ended_at__gte=F("began_at"), ended_at__lte=F("ends_at")),
                name="break_glass_ended_in_its_time",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user} in {self.study} until {self.ends_at:%Y-%m-%d %H:%M}"


class Withdrawal(models.Model):
    """An annotator's withdrawal from a study, regardless of its text; ended by agreeing again at `ended_at`."""

    annotator = models.ForeignKey(Annotator, on_delete=models.CASCADE, related_name="withdrawals")
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="withdrawals")
    withdrawn_at = models.DateTimeField(db_default=Now())
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["annotator", "study"], condition=Q(ended_at=None), name="withdrawal_stands_once"
            ),
            models.CheckConstraint(
                condition=Q(ended_at__isnull=True) | Q(ended_at__gte=F("withdrawn_at")),
                name="withdrawal_ended_after_withdrawn",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.annotator.pseudonym} withdrew from study {self.study_id}"


class StudyGroup(models.Model):
    """A study's own copy of an identity group, so that a later import cannot change results."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="groups")
    group = models.ForeignKey(
        IdentityGroup, null=True, blank=True, on_delete=models.SET_NULL, related_name="study_groups"
    )
    name = models.CharField(max_length=120)
    display_name = models.CharField(max_length=120)
    region = models.CharField(max_length=80, blank=True)
    iso_code = models.CharField(max_length=10, blank=True)
    map_code = models.CharField(max_length=3, blank=True)
    # The factors that the group combines: black_man has race=black, gender=man.
    factors = models.JSONField(default=dict, blank=True)
    # For a descriptor: its forms in sentences (singular, plural), and its dimensions.
    forms = models.JSONField(default=dict, blank=True)
    dimensions = models.JSONField(default=list, blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["study", "name"], name="study_group_name_unique"),
            models.CheckConstraint(condition=~Q(name=""), name="study_group_has_name"),
        ]
        ordering: ClassVar = ["study", "name"]

    def __str__(self) -> str:
        return self.display_name


class StudyAssociation(Association):
    """A pair listed by the study's resource, copied when the first campaign opens (or labels are imported).

    Whether it is a stereotype follows from its rater counts, `min_raters` and `rater_pools` (see `attribute_roles`).
    """

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="associations")
    group = models.ForeignKey(StudyGroup, on_delete=models.CASCADE, related_name="associations")
    attribute = models.ForeignKey(Attribute, on_delete=models.PROTECT, related_name="+")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["group", "attribute"], name="study_association_once"),
        ]

    def __str__(self) -> str:
        return f"{self.group}: {self.attribute}"


class AuditEntry(models.Model):
    """An entry of the audit trail, written in the transaction of the change; only redaction changes it."""

    study = models.ForeignKey(
        Study, null=True, blank=True, on_delete=models.SET_NULL, related_name="audit_entries"
    )
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    action = models.CharField(max_length=60)  # e.g. campaign.opened
    subject = models.CharField(max_length=120)  # e.g. campaign:12
    details = models.JSONField(default=dict, blank=True)
    at = models.DateTimeField(db_default=Now(), editable=False, db_index=True)
    is_sealed = models.BooleanField(default=False, editable=False)  # whether it has a link in the chain

    class Meta:
        ordering: ClassVar = ["-id"]
        verbose_name_plural = "audit entries"
        indexes: ClassVar = [
            models.Index(fields=["id"], condition=Q(is_sealed=False), name="audit_entry_unsealed")
        ]

    def __str__(self) -> str:
        return f"{self.action} {self.subject}"


class AuditLink(models.Model):
    """A link of the chain that shows whether entries of the audit trail were changed or removed.

    It copies the numbers that an entry loses when its study or person is deleted, but no text.
    """

    position = models.BigIntegerField(primary_key=True)  # from 1, without gaps
    entry = models.OneToOneField(AuditEntry, null=True, on_delete=models.SET_NULL, related_name="link")
    entry_number = models.BigIntegerField()
    study_number = models.BigIntegerField(null=True)
    actor_number = models.BigIntegerField(null=True)
    # Without the salt, the contents of an entry cannot be guessed; it is erased together with the details.
    salt = models.CharField(max_length=32, blank=True)
    content = models.CharField(max_length=64)  # keyed hash of salt and entry
    digest = models.CharField(max_length=64, unique=True)  # keyed hash of this link and the digest before it

    class Meta:
        ordering: ClassVar = ["position"]
        constraints: ClassVar = [
            models.CheckConstraint(condition=Q(position__gte=1), name="audit_link_from_one"),
        ]

    def __str__(self) -> str:
        return f"link {self.position}"
