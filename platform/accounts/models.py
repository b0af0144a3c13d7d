"""People: accounts, annotators, their details about themselves, and their consent."""

import secrets
from typing import ClassVar

from django.conf import settings
from django.contrib.auth.models import AbstractUser
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

# Without 0/O, 1/I/L, U, because people read pseudonyms aloud and type them.
_PSEUDONYM_ALPHABET = "23456789ABCDEFGHJKMNPQRSTVWXYZ"


def new_pseudonym() -> str:
    """Return a random pseudonymous annotator id such as `A-7QK3M9XD`."""
    return "A-" + "".join(secrets.choice(_PSEUDONYM_ALPHABET) for _ in range(8))


class User(AbstractUser):
    """A user account. An administrator (`is_superuser`) runs the server and may create studies."""

    first_name = None  # type: ignore[assignment]
    last_name = None  # type: ignore[assignment]
    display_name = models.CharField(max_length=120, blank=True)
    is_lead = models.BooleanField("project lead", default=False)
    is_analyst = models.BooleanField("analyst", default=False)

    def __str__(self) -> str:
        return self.display_name or self.username

    @property
    def leads(self) -> bool:
        """Return whether this person may create studies."""
        return self.is_active and (self.is_lead or self.is_superuser)

    @property
    def works_on_studies(self) -> bool:
        """Return whether this account is for more than annotating; members of studies need not have such an account."""
        return self.is_lead or self.is_analyst or self.is_staff or self.is_superuser


class Annotator(models.Model):
    """A person who labels, or a simulated or imported annotator, identified elsewhere only by `pseudonym`."""

    class Origin(models.TextChoices):
        PERSON = "person", "person"
        SIMULATED = "simulated", "simulated"
        IMPORTED = "imported", "imported"

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.CASCADE, related_name="annotator"
    )
    pseudonym = models.CharField(max_length=32, unique=True, default=new_pseudonym, editable=False)
    origin = models.CharField(max_length=16, choices=Origin, default=Origin.PERSON)
    # Origin of an imported or simulated annotator: the slug of the study, and the name there.
    source = models.CharField(max_length=120, blank=True)
    source_id = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["source", "source_id"], condition=~Q(source_id=""), name="annotator_source_unique"
            ),
            models.CheckConstraint(
                condition=Q(origin="imported", user__isnull=True) | ~Q(origin="imported"),
                name="annotator_imported_has_no_user",
            ),
        ]

    def __str__(self) -> str:
        return self.pseudonym


class AnnotatorProfile(models.Model):
    """An annotator's details about themselves. Every field is optional; they are stored separately from labels.

    The fields contain codes (`accounts.profile_codes.codes`), `words` the typed words. Words without a code count
    toward no quota.
    """

    class AgeBand(models.TextChoices):
        UNDER_25 = "18-24", "18–24"
        UNDER_35 = "25-34", "25–34"
        UNDER_45 = "35-44", "35–44"
        UNDER_55 = "45-54", "45–54"
        UNDER_65 = "55-64", "55–64"
        OLDER = "65+", _("65 or older")

    FIELDS: ClassVar = (
        "gender",
        "region_of_origin",
        "nationality",
        "country_of_residence",
        "age_band",
        "languages",
    )

    annotator = models.OneToOneField(Annotator, on_delete=models.CASCADE, related_name="profile")
    gender = models.CharField(max_length=60, blank=True)
    region_of_origin = models.CharField(max_length=80, blank=True)
    nationality = models.CharField(max_length=80, blank=True)
    country_of_residence = models.CharField(max_length=80, blank=True)
    age_band = models.CharField(max_length=8, blank=True, choices=AgeBand)
    # Codes; `codes.UNCODED` means an answer in own words.
    languages = models.JSONField(default=list, blank=True)
    words = models.JSONField(default=dict, blank=True)
    updated_at = models.DateTimeField(auto_now=True)

    def __str__(self) -> str:
        return f"profile of {self.annotator.pseudonym}"


class MatchedWords(models.Model):
    """A lead's match of annotators' words with a code; `words` are in the form of `profiles.words_key`."""

    field = models.CharField(max_length=24)
    words = models.CharField(max_length=80)
    code = models.CharField(max_length=80)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    decided_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["field", "words"], name="matched_words_once"),
            models.CheckConstraint(condition=~Q(words="") & ~Q(code=""), name="matched_words_have_code"),
            models.CheckConstraint(
                condition=Q(
                    field__in=(
                        "gender",
                        "region_of_origin",
                        "nationality",
                        "country_of_residence",
                        "languages",
                    )
                ),
                name="matched_words_field_has_codes",
            ),
        ]
        verbose_name_plural = "matched words"

    def __str__(self) -> str:
        return f"{self.field}: {self.words} is {self.code}"


class ConsentText(models.Model):
    """One version of the text that annotators read and agree to. A published version never changes."""

    class LabelsWhenErased(models.TextChoices):
        DELETE = "delete", "deleted"
        SEVER = "sever", "kept under a nameless code"

    series = models.SlugField(max_length=80)  # the slug of its study, or "default"
    version = models.PositiveIntegerField()
    language = models.CharField(max_length=12, default="en")
    body = models.TextField()
    content_notice = models.TextField()
    support = models.TextField(blank=True)
    # The promise about answers when a person is erased; annotators read it below the text.
    labels_when_erased = models.CharField(
        max_length=6,
        choices=LabelsWhenErased,
        default=LabelsWhenErased.DELETE,
        db_default=LabelsWhenErased.DELETE,
    )
    may_erase_self = models.BooleanField(default=False, db_default=False)
    translates = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="translations"
    )
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["series", "version", "language"], name="consent_text_version_unique"
            ),
            models.CheckConstraint(
                condition=Q(labels_when_erased__in=["delete", "sever"]),
                name="consent_text_labels_when_erased_known",
            ),
        ]
        ordering: ClassVar = ["series", "-version"]

    def __str__(self) -> str:
        return f"{self.series} v{self.version}"


class Consent(models.Model):
    """An annotator's agreement to one version of a consent text, and its withdrawal."""

    annotator = models.ForeignKey(Annotator, on_delete=models.CASCADE, related_name="consents")
    text = models.ForeignKey(ConsentText, on_delete=models.PROTECT, related_name="consents")
    # The translation of `text` that the annotator read; null for the text itself.
    translation = models.ForeignKey(
        ConsentText, null=True, blank=True, on_delete=models.PROTECT, related_name="consents_in_translation"
    )
    given_at = models.DateTimeField(db_default=Now())
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["annotator", "text"], name="consent_once_per_text"),
            models.CheckConstraint(
                condition=Q(withdrawn_at__isnull=True) | Q(withdrawn_at__gte=F("given_at")),
                name="consent_withdrawn_after_given",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.annotator.pseudonym}: {self.text}"


class UsedAssertion(models.Model):
    """An accepted assertion of a SAML provider, which must not be accepted again.

    Until the browser fetches it, for at most five minutes, the identity is stored with it, encrypted.
    """

    digest = models.CharField(max_length=64, unique=True)  # of issuer and id
    ticket_hash = models.CharField(max_length=64, null=True, blank=True, unique=True)
    statement_sealed = models.TextField(blank=True)
    accepted_at = models.DateTimeField(db_index=True)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(ticket_hash__isnull=True, statement_sealed="")
                | (Q(ticket_hash__isnull=False) & ~Q(statement_sealed="")),
                name="used_assertion_waits_with_ticket",
            )
        ]

    def __str__(self) -> str:
        return f"assertion {self.digest[:12]}"


class ApiToken(models.Model):
    """An API key. Only its hash is stored; the key is shown once."""

    class Scope(models.TextChoices):
        READ = "read", _("read studies and results")
        ANNOTATE = "annotate", _("lease and submit tasks")
        MANAGE = "manage", _("create and change studies and campaigns")

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=80)
    prefix = models.CharField(max_length=12, unique=True)
    key_hash = models.CharField(max_length=64, unique=True)
    scopes = models.JSONField(default=list)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    expires_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering: ClassVar = ["-created_at"]

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"

    @property
    def scope_names(self) -> list[str]:
        """Return the token's permissions, in the language of the page."""
        return [str(self.Scope(scope).label) for scope in self.scopes]
