"""Rows of a campaign in a Label Studio for tests of pages, without a server."""

from datetime import timedelta

from django.utils import timezone

from annotation.campaigns.instruments import versions
from annotation.label_studio import SLUG
from annotation.label_studio.client.encryption import seal
from annotation.label_studio.models import (
    LabelStudioAnnotation,
    LabelStudioBridge,
    LabelStudioProject,
    LabelStudioServer,
    LabelStudioTask,
    LabelStudioUser,
)
from annotation.models import Campaign, Task

URL = "https://labels.example.org"
TOKEN = "a-token-nobody-may-see"
State = LabelStudioAnnotation.State


def server_of(study, *, url: str = URL, **more) -> LabelStudioServer:
    return LabelStudioServer.objects.create(study=study, url=url, token=seal(TOKEN), version="1.23.2", **more)


def bridge_of(campaign: Campaign, server: LabelStudioServer | None = None, **more) -> LabelStudioBridge:
    """Create a bridge with a project for each answer, completely pushed."""
    bridge = LabelStudioBridge.objects.create(
        campaign=campaign,
        server=server or server_of(campaign.study),
        address_secret=seal("address secret"),
        header_secret=seal("header secret"),
        images_until=timezone.now() + timedelta(days=30),
        pushed_at=timezone.now(),
        **more,
    )
    Campaign.objects.filter(pk=campaign.pk).update(labelled_in=SLUG)
    tasks = list(campaign.tasks.filter(purpose=Task.Purpose.LABEL).order_by("pk"))
    read = versions.current(campaign)
    for slot in range(1, campaign.annotators_per_task + 1):
        project = LabelStudioProject.objects.create(
            bridge=bridge, slot=slot, external_id=10 + slot, webhook_id=slot, instrument=read
        )
        LabelStudioTask.objects.bulk_create(
            LabelStudioTask(project=project, task=task, external_id=1000 * slot + number)
            for number, task in enumerate(tasks)
        )
    return bridge


def user_of(server: LabelStudioServer, number: int, **more) -> LabelStudioUser:
    more.setdefault("name", f"worker{number}@example.org (Worker {number})")
    return LabelStudioUser.objects.create(server=server, external_id=number, **more)


def seen(
    bridge: LabelStudioBridge, user: LabelStudioUser | None, number: int = 1, **more
) -> list[LabelStudioAnnotation]:
    """Create this many annotations of a user, as seen in the first project."""
    project = bridge.projects.earliest("pk")
    tasks = list(project.tasks.order_by("pk"))
    first = LabelStudioAnnotation.objects.count()
    now = timezone.now()
    return LabelStudioAnnotation.objects.bulk_create(
        LabelStudioAnnotation(
            project=project,
            external_id=first + place + 1,
            external_task=tasks[place % len(tasks)].external_id,
            task_id=tasks[place % len(tasks)].task_id,
            user=user,
            made_at=now - timedelta(seconds=first + place),
            changed_at=now - timedelta(seconds=first + place),
            digest=f"{first + place:064d}",
            **more,
        )
        for place in range(number)
    )


def in_trouble(bridge: LabelStudioBridge, code: str = "token_wrong") -> None:
    """Record a problem, as after a request that Label Studio refused."""
    told = {"problem": code, "problem_text": "Label Studio does not know this token."}
    LabelStudioServer.objects.filter(pk=bridge.server_id).update(**told)
    LabelStudioBridge.objects.filter(pk=bridge.pk).update(**told, problem_at=timezone.now())
