"""Subscriptions to Prolific's events: one secret per workspace, one subscription per type of event."""

from uuid import uuid4

from django.db import transaction
from django.urls import reverse

from accounts.models import User
from annotation.recruitment.models import Provider
from annotation.recruitment.prolific import access
from annotation.recruitment.prolific.connection import SHORT
from foundation.errors import DomainError
from studies import audit

EVENTS = ("submission.status.change", "study.status.change")


def connect(*, provider: Provider, site: str, by: User) -> Provider:
    """Subscribe this server to events, signed with a new secret. `site` is its public address."""
    if not site.startswith(("https://", "http://127.0.0.1:", "http://127.0.0.1/")):
        raise DomainError(
            "site_not_encrypted",
            "Prolific sends events only to addresses that begin with https://. Ask the operator to change SITE_URL.",
        )
    provider.events_id = provider.events_id or uuid4()
    address = f"{site}{reverse('panel:events', args=[provider.events_id])}"
    with access.client_of(provider, patience=SHORT) as client:
        secret = client.create_secret(provider.workspace)
        # Stored before anything else can fail: the previous secret is no longer valid, and Prolific does not show a
        # secret again.
        _keep_secret(provider, secret, by)
        subscriptions = client.subscriptions(provider.workspace)
        for event in EVENTS:
            if not any(row.target_url == address and row.event_type == event for row in subscriptions):
                client.confirm(client.subscribe(provider.workspace, event, address))
    return provider


@transaction.atomic
def _keep_secret(provider: Provider, secret: str, by: User) -> None:
    """Store the secret of a workspace for all panels here that use it: Prolific has one for all of them."""
    provider.save(update_fields=["events_id"])
    sealed = access.seal(secret)
    panels = Provider.objects.filter(kind=provider.kind, workspace=provider.workspace)
    panels.update(secret_sealed=sealed, unsigned_at=None)
    provider.secret_sealed, provider.unsigned_at = sealed, None
    audit.record(
        by=by, action="provider.events_received", subject=provider, study=provider.study, name=provider.name
    )
