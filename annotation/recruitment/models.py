"""Panels, recruitments with their rewards, and the state of each place."""

import secrets
import uuid
from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now
from django.db.models.lookups import GreaterThanOrEqual

from accounts.models import Annotator
from annotation.models import FLOOR, Campaign, Enrolment
from studies.models import Study

_CODE_ALPHABET = "23456789ABCDEFGHJKMNPQRSTVWXYZ"


def new_code() -> str:
    """Return a random code that people copy by hand: without 0/O, 1/I/L, U."""
    return "".join(secrets.choice(_CODE_ALPHABET) for _ in range(8))


def _pays_the_floor() -> Q:
    condition = ~Q(currency__in=FLOOR)
    for currency, floor in FLOOR.items():
        enough = GreaterThanOrEqual(F("reward") * 60, F("minutes") * floor)
        condition |= Q(currency=currency) & Q(enough)
    return condition


class Provider(models.Model):
    """A panel from which people of a study come, and the form of the links between it and us."""

    class Kind(models.TextChoices):
        LINKS = "links", "links"  # people come and go by links; everything else is done by hand at the panel
        PROLIFIC = "prolific", "Prolific"  # by its API

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="providers")
    name = models.CharField(max_length=80)
    kind = models.CharField(max_length=10, choices=Kind, default=Kind.LINKS, db_default=Kind.LINKS)
    # For an API: the token, encrypted; the workspace that pays; the secret, encrypted, that signs its events.
    token_sealed = models.TextField(blank=True, db_default="")
    workspace = models.CharField(max_length=80, blank=True, db_default="")
    secret_sealed = models.TextField(blank=True, db_default="")
    events_id = models.UUIDField(unique=True, null=True, blank=True)  # in the address to which it tells them
    signs_links = models.BooleanField(default=False, db_default=False)
    # When the last event without this secret's signature arrived, if no signed event has arrived since.
    unsigned_at = models.DateTimeField(null=True, blank=True)
    # The names of the query parameters of its links for the person, the place and the panel's study.
    person_parameter = models.CharField(max_length=40)
    place_parameter = models.CharField(max_length=40, blank=True)  # "": the person's id names the place too
    study_parameter = models.CharField(max_length=40, blank=True)
    # The address to which people return; {code}, {person} and {place} are replaced by the code and the panel's ids.
    completion_address = models.CharField(max_length=500, blank=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["study", "name"], name="provider_name_unique_in_study"),
            models.CheckConstraint(
                condition=~Q(person_parameter="")
                & ~Q(person_parameter=F("place_parameter"))
                & ~Q(person_parameter=F("study_parameter")),
                name="provider_person_parameter_its_own",
            ),
            models.CheckConstraint(
                condition=Q(place_parameter="") | ~Q(place_parameter=F("study_parameter")),
                name="provider_place_parameter_its_own",
            ),
            models.CheckConstraint(
                condition=Q(completion_address="") | Q(completion_address__startswith="https://"),
                name="provider_completion_address_encrypted",
            ),
            models.CheckConstraint(
                condition=Q(
                    kind="links",
                    token_sealed="",
                    workspace="",
                    secret_sealed="",
                    signs_links=False,
                )
                | Q(kind="prolific") & ~Q(token_sealed="") & ~Q(workspace=""),
                name="provider_api_has_a_token",
            ),
        ]
        ordering: ClassVar = ["study", "name"]

    def __str__(self) -> str:
        return self.name

    @property
    def has_api(self) -> bool:
        return self.kind != self.Kind.LINKS


class PanelPerson(models.Model):
    """The identity of an annotator in a panel, encrypted; erased some time after everybody was paid.

    One person is one annotator in all recruitments of a provider. The hash, with the same key as the encryption,
    identifies them again.
    """

    provider = models.ForeignKey(Provider, on_delete=models.CASCADE, related_name="people")
    annotator = models.ForeignKey(Annotator, on_delete=models.CASCADE, related_name="panel_people")
    id_hash = models.CharField(max_length=64, null=True, blank=True)  # noqa: DJ001 - unique unless erased
    id_sealed = models.TextField(blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["provider", "id_hash"], name="panel_person_once"),
            models.UniqueConstraint(fields=["provider", "annotator"], name="panel_person_is_one_annotator"),
            models.CheckConstraint(
                condition=Q(id_hash__isnull=True, id_sealed="") | Q(id_hash__isnull=False) & ~Q(id_sealed=""),
                name="panel_person_sealed_or_erased",
            ),
        ]
        verbose_name_plural = "panel people"

    def __str__(self) -> str:
        return f"{self.annotator} at {self.provider}"


class Recruitment(models.Model):
    """People for one cell of a campaign from one provider: their number, working time and reward."""

    class State(models.TextChoices):
        DRAFT = "draft", "draft"
        OPEN = "open", "open"
        PAUSED = "paused", "paused"
        CLOSED = "closed", "closed"

    public_id = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="recruitments")
    provider = models.ForeignKey(Provider, on_delete=models.PROTECT, related_name="recruitments")
    name = models.CharField(max_length=120)  # the cell, in the lead's words
    remote_study = models.CharField(max_length=80, blank=True)  # the panel's own id of it
    # From a panel's API: the state of the study, its cost, and when all its places were compared.
    remote_state = models.CharField(max_length=20, blank=True, db_default="")
    remote_cost = models.PositiveBigIntegerField(null=True, blank=True)
    compared_at = models.DateTimeField(null=True, blank=True)
    places = models.PositiveIntegerField()
    # How many places are held now; `annotation.recruitment.places` changes it together with the place it counts.
    held = models.PositiveIntegerField(default=0, db_default=0)
    screens = models.PositiveIntegerField()  # that a place is paid for
    minutes = models.PositiveIntegerField()  # planned working time
    reward = models.PositiveIntegerField()  # of a place, in the smallest unit of the currency
    currency = models.CharField(max_length=3)
    fee_percent = models.DecimalField(
        max_digits=5, decimal_places=2, default=0
    )  # of the panel, on the reward
    completed_code = models.CharField(max_length=20, default=new_code)
    declined_code = models.CharField(max_length=20, default=new_code)
    screened_out_code = models.CharField(max_length=20, default=new_code)
    # The pay of people for whom there was nothing to do, if less than the reward, and the code for this payment at the
    # panel, which nobody sees.
    screen_out_reward = models.PositiveIntegerField(null=True, blank=True)
    screen_out_code = models.CharField(max_length=20, blank=True, db_default="")
    state = models.CharField(max_length=8, choices=State, default=State.DRAFT)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    # When everybody had been paid or refused; the panel's ids are erased some time later.
    settled_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["campaign", "name"], name="recruitment_name_unique_in_campaign"),
            models.CheckConstraint(
                condition=Q(places__gte=1, screens__gte=1, minutes__gte=1, reward__gte=1),
                name="recruitment_numbers_positive",
            ),
            models.CheckConstraint(condition=Q(held__lte=F("places")), name="recruitment_held_within_places"),
            models.CheckConstraint(condition=_pays_the_floor(), name="recruitment_pays_the_floor"),
            models.CheckConstraint(
                condition=Q(fee_percent__gte=0, fee_percent__lte=100), name="recruitment_fee_is_a_share"
            ),
            models.CheckConstraint(
                condition=~Q(completed_code=F("declined_code"))
                & ~Q(completed_code=F("screened_out_code"))
                & ~Q(declined_code=F("screened_out_code")),
                name="recruitment_codes_differ",
            ),
            models.CheckConstraint(
                condition=Q(screen_out_reward__isnull=True, screen_out_code="")
                | Q(
                    screen_out_reward__isnull=False,
                    screen_out_reward__gte=1,
                    screen_out_reward__lt=F("reward"),
                )
                & ~Q(screen_out_code=""),
                name="recruitment_screen_out_below_reward",
            ),
            models.CheckConstraint(
                condition=Q(state__in=["draft", "open", "paused", "closed"]), name="recruitment_state_known"
            ),
            models.CheckConstraint(
                condition=Q(settled_at__isnull=True) | Q(state="closed"), name="recruitment_settled_is_closed"
            ),
        ]
        ordering: ClassVar = ["campaign", "id"]

    def __str__(self) -> str:
        return self.name


class PanelPlace(models.Model):
    """One person's place in a recruitment: its state, and whether it is paid."""

    class State(models.TextChoices):
        WORKING = "working", "working"
        COMPLETED = "completed", "completed"
        SCREENED_OUT = "screened_out", "screened out"  # there was nothing for them to do
        DECLINED = "declined", "declined"  # did not take part
        LEFT = "left", "left"  # gave the place back, or the panel took it

    class Outcome(models.TextChoices):
        APPROVED = "approved", "approved"
        REJECTED = "rejected", "rejected"

    class RemoteStatus(models.TextChoices):
        """The states of a place at Prolific."""

        RESERVED = "RESERVED", "reserved"
        ACTIVE = "ACTIVE", "active"
        AWAITING_REVIEW = "AWAITING REVIEW", "awaiting review"
        APPROVED = "APPROVED", "approved"
        PARTIALLY_APPROVED = "PARTIALLY APPROVED", "partially approved"
        SCREENED_OUT = "SCREENED OUT", "screened out"
        RETURNED = "RETURNED", "returned"
        TIMED_OUT = "TIMED-OUT", "timed out"
        REJECTED = "REJECTED", "rejected"

    class Verified(models.TextChoices):
        """How a panel confirmed that the person has the place."""

        ASKED = "asked", "asked"  # from its API
        SIGNED = "signed", "signed"  # its signature on the link

    # Places that count among those of the recruitment, unless the panel gave them to somebody else since.
    HELD: ClassVar = (State.WORKING, State.COMPLETED)
    GIVEN_ON: ClassVar = (
        *(RemoteStatus.RETURNED, RemoteStatus.TIMED_OUT, RemoteStatus.REJECTED),
        RemoteStatus.SCREENED_OUT,
    )

    recruitment = models.ForeignKey(Recruitment, on_delete=models.CASCADE, related_name="panel_places")
    person = models.ForeignKey(
        PanelPerson, null=True, blank=True, on_delete=models.SET_NULL, related_name="places"
    )
    enrolment = models.ForeignKey(
        Enrolment, null=True, blank=True, on_delete=models.SET_NULL, related_name="panel_places"
    )
    # The panel's id of this place, sealed; found again by its keyed hash.
    submission_hash = models.CharField(max_length=64, null=True, blank=True)  # noqa: DJ001 - unique unless erased
    submission_sealed = models.TextField(blank=True)
    answered_before = models.PositiveIntegerField(default=0)  # screens, in the same campaign
    answered = models.PositiveIntegerField(default=0)  # screens, counted when the place ends
    state = models.CharField(max_length=12, choices=State, default=State.WORKING)
    verified = models.CharField(max_length=6, choices=Verified, blank=True, db_default="")
    # The last status from the panel's API, and its time.
    remote_status = models.CharField(max_length=20, choices=RemoteStatus, blank=True, db_default="")
    remote_at = models.DateTimeField(null=True, blank=True)
    arrived_at = models.DateTimeField(db_default=Now(), editable=False)
    ended_at = models.DateTimeField(null=True, blank=True)
    outcome = models.CharField(max_length=8, choices=Outcome, blank=True)
    reason = models.CharField(max_length=500, blank=True)
    decided_at = models.DateTimeField(null=True, blank=True)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["recruitment", "submission_hash"], name="panel_place_once_per_submission"
            ),
            models.UniqueConstraint(
                fields=["enrolment"], condition=Q(state="working"), name="panel_place_one_at_a_time"
            ),
            models.CheckConstraint(
                condition=Q(submission_hash__isnull=True, submission_sealed="")
                | Q(submission_hash__isnull=False) & ~Q(submission_sealed=""),
                name="panel_place_sealed_or_erased",
            ),
            models.CheckConstraint(
                condition=Q(state="working", ended_at__isnull=True)
                | Q(state__in=["completed", "screened_out", "declined", "left"], ended_at__isnull=False),
                name="panel_place_ended_unless_working",
            ),
            models.CheckConstraint(
                condition=Q(outcome="", decided_at__isnull=True)
                | Q(outcome="approved", decided_at__isnull=False) & ~Q(state="working")
                | Q(outcome="rejected", decided_at__isnull=False) & ~Q(state="working") & ~Q(reason=""),
                name="panel_place_decided_after_work",
            ),
            models.CheckConstraint(
                condition=Q(remote_status="", remote_at__isnull=True)
                | ~Q(remote_status="") & Q(remote_at__isnull=False),
                name="panel_place_remote_status_dated",
            ),
        ]
        indexes: ClassVar = [models.Index(fields=["recruitment", "state"], name="panel_place_by_state")]
        ordering: ClassVar = ["id"]

    def __str__(self) -> str:
        return f"place {self.pk} of {self.recruitment}"


class PanelPayment(models.Model):
    """One decision about a place that is sent to a panel, or one amount paid there.

    `sent` and its key are committed before the request goes out, so that a process that dies after that never pays a
    second time: a sent payment that is not visible at the panel is `unknown` until it is visible, or a person plans it
    again.
    """

    class Kind(models.TextChoices):
        APPROVE = "approve", "approval"
        REJECT = "reject", "rejection"
        SCREEN_OUT = "screen_out", "screen-out"
        BONUS = "bonus", "bonus"

    class Cause(models.TextChoices):
        """The reason for a bonus; each at most once per place."""

        WORK = "work", "work in a place that was given back"
        TOP_UP = "top_up", "work that took longer than planned"

    class State(models.TextChoices):
        PLANNED = "planned", "planned"
        SENT = "sent", "sent"
        CONFIRMED = "confirmed", "confirmed"
        UNKNOWN = "unknown", "unknown"
        REFUSED = "refused", "refused"

    # Payments that are not yet visible at the panel, or wait for a person's decision.
    OPEN: ClassVar = (State.PLANNED, State.SENT, State.UNKNOWN)
    DECISIONS: ClassVar = (Kind.APPROVE, Kind.REJECT, Kind.SCREEN_OUT)

    place = models.ForeignKey(PanelPlace, on_delete=models.CASCADE, related_name="payments")
    kind = models.CharField(max_length=10, choices=Kind)
    cause = models.CharField(max_length=6, choices=Cause, blank=True)  # of a bonus
    amount = models.PositiveIntegerField()  # in the smallest unit of the currency, without the panel's fee
    currency = models.CharField(max_length=3)
    category = models.CharField(max_length=40, blank=True)  # of a rejection, in the panel's own words
    state = models.CharField(max_length=9, choices=State, default=State.PLANNED)
    # The key of its request, and the panel's id of the bulk payment that contains a bonus.
    key = models.UUIDField(null=True, blank=True)
    batch = models.CharField(max_length=80, blank=True)
    attempts = models.PositiveIntegerField(default=0)  # how often it was sent
    problem = models.CharField(max_length=300, blank=True)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    next_try_at = models.DateTimeField(null=True, blank=True)  # not sent or looked up before this time
    sent_at = models.DateTimeField(null=True, blank=True)
    looked_at = models.DateTimeField(null=True, blank=True)  # when the panel last did not show it
    settled_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["place"],
                condition=Q(kind__in=["approve", "reject", "screen_out"]),
                name="payment_decides_a_place_once",
            ),
            models.UniqueConstraint(
                fields=["place", "cause"], condition=Q(kind="bonus"), name="payment_bonus_once_a_cause"
            ),
            models.CheckConstraint(
                condition=Q(kind__in=["approve", "reject", "screen_out"], cause="")
                | Q(kind="bonus", cause__in=["work", "top_up"]),
                name="payment_kind_has_its_cause",
            ),
            models.CheckConstraint(
                condition=Q(kind="reject", amount=0) | ~Q(kind="reject") & Q(amount__gte=1),
                name="payment_amount_positive",
            ),
            models.CheckConstraint(
                condition=Q(kind="reject") & ~Q(category="") | ~Q(kind="reject") & Q(category=""),
                name="payment_rejection_has_category",
            ),
            models.CheckConstraint(
                condition=Q(state="planned", key__isnull=True, sent_at__isnull=True, settled_at__isnull=True)
                | Q(
                    state__in=["sent", "unknown"],
                    key__isnull=False,
                    sent_at__isnull=False,
                    settled_at__isnull=True,
                )
                | Q(state="confirmed", settled_at__isnull=False)
                | Q(state="refused", settled_at__isnull=False) & ~Q(problem=""),
                name="payment_state_has_its_fields",
            ),
            models.CheckConstraint(
                condition=~Q(kind="bonus", state__in=["sent", "unknown"]) | ~Q(batch=""),
                name="payment_bonus_sent_in_a_batch",
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["next_try_at"], condition=Q(settled_at__isnull=True), name="payment_open"),
        ]
        ordering: ClassVar = ["id"]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} of {self.place}"


class PanelEvent(models.Model):
    """An event from a panel's API, unchanged: stored before it is acknowledged, then processed by a job."""

    provider = models.ForeignKey(Provider, on_delete=models.CASCADE, related_name="events")
    event_id = models.CharField(max_length=100)
    body_sealed = models.TextField()  # it names people
    happened_at = models.DateTimeField()  # by the panel's clock
    signed_at = models.DateTimeField()
    received_at = models.DateTimeField(db_default=Now(), editable=False)
    # When the screens of somebody who left were freed; a job handles the other effects of the event.
    read_at = models.DateTimeField(null=True, blank=True)
    handled_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["provider", "event_id"], name="panel_event_once"),
            models.CheckConstraint(
                condition=~Q(event_id="") & ~Q(body_sealed=""), name="panel_event_has_id_and_body"
            ),
        ]
        indexes: ClassVar = [
            models.Index(
                fields=["provider", "happened_at"],
                condition=Q(handled_at__isnull=True),
                name="panel_event_to_handle",
            ),
            models.Index(
                fields=["id"],
                condition=Q(handled_at__isnull=True, read_at__isnull=True),
                name="panel_event_to_read",
            ),
        ]
        ordering: ClassVar = ["happened_at", "id"]

    def __str__(self) -> str:
        return f"event {self.pk} of {self.provider}"
