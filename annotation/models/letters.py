"""Letters with personal links. Addresses are personal data: they are encrypted and later erased."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from annotation.models.campaigns import Campaign, Invitation
from annotation.models.language_codes import LANGUAGE_CODES


class Mailing(models.Model):
    """Letters that a lead sent together, with their language and the lead's message."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="mailings")
    language = models.CharField(max_length=2)
    message = models.TextField(blank=True, max_length=2000)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(condition=Q(language__in=LANGUAGE_CODES), name="mailing_language_known"),
        ]
        ordering: ClassVar = ["-id"]

    def __str__(self) -> str:
        return f"letters {self.pk} of {self.campaign}"


class InvitationLetter(models.Model):
    """A letter with a personal link. It is sent again only at a lead's request.

    A letter is `sending` before it goes to the mail server. A letter found in this state later may have been
    sent: it becomes `unknown` and is not sent again automatically.
    """

    class State(models.TextChoices):
        PLANNED = "planned", "to be sent"
        SENDING = "sending", "being sent"
        SENT = "sent", "sent"
        FAILED = "failed", "not sent"
        UNKNOWN = "unknown", "may have been sent"

    invitation = models.OneToOneField(Invitation, on_delete=models.CASCADE, related_name="letter")
    mailing = models.ForeignKey(Mailing, on_delete=models.CASCADE, related_name="letters")
    state = models.CharField(max_length=8, choices=State, default=State.PLANNED)
    # Both encrypted; emptied when somebody joins, when the link is revoked, or after 30 days.
    address_sealed = models.TextField(blank=True)
    link_sealed = models.TextField(blank=True)
    address_hash = models.CharField(max_length=64, null=True, blank=True)  # noqa: DJ001 - null once it is erased
    problem = models.CharField(max_length=200, blank=True)  # our words: a mail server's may contain addresses
    tries = models.PositiveSmallIntegerField(default=0)
    next_try_at = models.DateTimeField(null=True, blank=True)
    planned_at = models.DateTimeField(db_default=Now())
    sent_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=~Q(state="planned") | (~Q(address_sealed="") & ~Q(link_sealed="")),
                name="invitation_letter_planned_has_address",
            ),
            models.CheckConstraint(
                condition=~Q(state="sent") | Q(sent_at__isnull=False), name="invitation_letter_sent_when"
            ),
        ]
        indexes: ClassVar = [models.Index(fields=["address_hash"], name="invitation_letter_address")]

    def __str__(self) -> str:
        return f"letter {self.pk}: {self.state}"
