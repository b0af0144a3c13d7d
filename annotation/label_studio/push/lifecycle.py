"""Beginning and ending to label a campaign in Label Studio."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts.models import User
from annotation.assignment.leases import lock_enrolments, release_tasks
from annotation.kinds.registry import kind_of
from annotation.label_studio import SLUG
from annotation.label_studio.base import job_queue
from annotation.label_studio.base.locks import alone_with, reading_from
from annotation.label_studio.client.encryption import seal
from annotation.label_studio.format.questions.limits import unsupported
from annotation.label_studio.models import LabelStudioAnnotation, LabelStudioBridge, LabelStudioServer
from annotation.label_studio.push import image_access
from annotation.models import Campaign, Enrolment, Task
from foundation.errors import Conflict, DomainError, NotFound
from jobs.progress.reporter import Unwatched
from studies import audit

BEGUN, ENDED = "label_studio.begun", "label_studio.ended"
_Arrangement = LabelStudioBridge.Arrangement
_PATIENCE = 5.0  # seconds to wait for a job that is reading
_WAITING = ("new", "waiting", "consent", "flagged")


@transaction.atomic
def begin(
    *, campaign: Campaign, server: LabelStudioServer, arrangement: str, by: User | None
) -> LabelStudioBridge:
    """Begin labelling a campaign in Label Studio: our own pages give out none of its tasks until `end`.

    Gold tasks, repeats and practice stay here: only tasks for labels are sent. Earlier answers on our own pages keep
    their places.
    """
    # An assignment that is being made now exists before its lease is ended below.
    lock_enrolments(campaign.pk)
    campaign = Campaign.locked(campaign.pk)
    if server.study_id != campaign.study_id:
        raise NotFound("server_not_found", "This study is not connected to this Label Studio.")
    _check(campaign, arrangement)
    bridge = _made(campaign, server, arrangement, by)
    Campaign.objects.filter(pk=campaign.pk).update(labelled_in=SLUG)
    # A task that somebody has open here would otherwise keep its place until the next check of leases.
    release_tasks(tasks=campaign.tasks.filter(purpose=Task.Purpose.LABEL))
    audit.record(
        by=by,
        action=BEGUN,
        subject=campaign,
        study=campaign.study,
        server=server.url,
        arrangement=arrangement,
    )
    return bridge


def begin_and_push(
    *, campaign: Campaign, server: LabelStudioServer, arrangement: str, by: User | None
) -> LabelStudioBridge:
    """Begin, and queue sending the tasks unless the campaign is a draft, whose tasks are fixed when it opens."""
    bridge = begin(campaign=campaign, server=server, arrangement=arrangement, by=by)
    if campaign.state != Campaign.State.DRAFT:
        job_queue.start_push(bridge=bridge, by=by)
    return bridge


def _made(
    campaign: Campaign, server: LabelStudioServer, arrangement: str, by: User | None
) -> LabelStudioBridge:
    pictures = image_access.shows_pictures(campaign)
    try:
        with transaction.atomic():
            return LabelStudioBridge.objects.create(
                campaign=campaign,
                server=server,
                arrangement=arrangement,
                address_secret=seal(secrets.token_urlsafe(32)),
                header_secret=seal(secrets.token_urlsafe(32)),
                images_until=timezone.now() + timedelta(days=image_access.DAYS) if pictures else None,
                created_by=by,
            )
    except IntegrityError:
        raise Conflict(
            "bridged_already", f"“{campaign.name}” is already labelled in a Label Studio."
        ) from None


def end(*, bridge: LabelStudioBridge, by: User | None) -> None:
    """Give out the campaign's tasks on our own pages again. Labels stay; answers that wait for an annotator or a
    decision are not imported. The projects in Label Studio belong to their owner and do not change.
    """
    with _nobody_else_with(bridge), transaction.atomic():
        campaign = Campaign.locked(bridge.campaign_id)
        current = LabelStudioBridge.objects.select_related("server").filter(pk=bridge.pk).first()
        if current is None:
            raise Conflict("not_bridged", f"“{campaign.name}” is no longer labelled in a Label Studio.")
        waiting = LabelStudioAnnotation.objects.filter(project__bridge=current, state__in=_WAITING).count()
        projects = sorted(current.projects.values_list("external_id", flat=True))
        audit.record(
            by=by,
            action=ENDED,
            subject=campaign,
            study=campaign.study,
            server=current.server.url,
            projects=projects,
            not_taken=waiting,
        )
        current.delete()
        Campaign.objects.filter(pk=campaign.pk).update(labelled_in="")


@contextmanager
def _nobody_else_with(bridge: LabelStudioBridge) -> Iterator[None]:
    with alone_with(bridge), reading_from(bridge, seconds=_PATIENCE, progress=Unwatched()) as has_lock:
        if not has_lock:
            raise Conflict(
                "label_studio_busy",
                "Answers are being read from Label Studio now. Wait until the job has ended, or stop the "
                "job under Jobs.",
            )
        yield


def _check(campaign: Campaign, arrangement: str) -> None:
    if campaign.imported:
        raise Conflict(
            "campaign_imported",
            f"“{campaign.name}” was imported from a file, so it cannot be labelled in Label Studio.",
        )
    if campaign.options.get("texts_from"):
        message = (
            f"“{campaign.name}” shows texts that annotators or models wrote. "
            "Such texts are never sent to Label Studio."
        )
        raise Conflict("texts_stay_here", message)
    if why := unsupported(kind_of(campaign)):
        raise Conflict(
            "kind_not_in_label_studio", f"“{campaign.name}” cannot be labelled in Label Studio: {why}"
        )
    if campaign.state == Campaign.State.CLOSED:
        raise Conflict(
            "wrong_state", f"“{campaign.name}” is closed. Reopen the campaign to have it labelled."
        )
    if arrangement not in _Arrangement.values:
        message = f"Choose one of {', '.join(_Arrangement.values)}."
        raise DomainError("arrangement_unknown", message, fields={"arrangement": message})
    if image_access.shows_pictures(campaign):
        image_access.needs_site_url()
    if arrangement == _Arrangement.PER_ANNOTATOR and campaign.opened_at is not None:
        needs_annotators(campaign)


def needs_annotators(campaign: Campaign) -> None:
    """Raise Conflict if there are no annotators to make projects for."""
    if not campaign.enrolments.filter(state=Enrolment.State.ACTIVE).exists():
        message = (
            "A project for each annotator needs annotators. Invite people and wait until they have joined by their "
            "links, or choose a project for each answer."
        )
        raise Conflict("nobody_enrolled", message, fields={"arrangement": message})
