"""One Label Studio project for each place of a campaign: created once, later recognised, set up like our own pages."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils import timezone

from annotation.label_studio.base.opaque_names import mark_of, refs_of, title_of
from annotation.label_studio.client.errors import Trouble
from annotation.label_studio.client.rest import Client
from annotation.label_studio.models import LabelStudioBridge, LabelStudioProject
from annotation.label_studio.push.configuration import as_sent, differs, digest, settings_of
from annotation.label_studio.push.layout import Place
from annotation.models import Campaign, Instrument

_NAMED = ("label_config", "maximum_annotations", "expert_instruction")


@dataclass(frozen=True)
class ProjectSetup:
    """An existing project, and what was changed."""

    project: LabelStudioProject
    tasks: int | None  # number of its tasks, including others' tasks
    is_new: bool = False
    replaces_lost: bool = False  # it replaces a project that no longer exists
    edited: bool = False  # somebody had changed its settings there; they were restored
    changed: bool = False  # its guidelines differed from the current ones here


def set_up(
    client: Client, bridge: LabelStudioBridge, place: Place, campaign: Campaign, instrument: Instrument
) -> ProjectSetup:
    """Return the project of a place, created or changed if necessary. Its labels and tasks do not change."""
    project_settings = settings_of(campaign, instrument, annotations_per_task=place.annotations_per_task)
    before = _row(bridge, place)
    project_body = _shown(client, before, bridge, place) if before is not None else None
    is_new = replaces_lost = False
    if before is None or project_body is None:
        number = _found(client, bridge, place, before)
        is_new = number is None
        if number is None:
            number = _make(client, bridge, place, project_settings)
        project_body = client.project(number)
        project = _written_down(bridge, place, number, before, again=bool(project_body.get("task_number")))
        replaces_lost = before is not None and project.pk != before.pk
    else:
        project = before
    edited = bool(project.configuration) and not as_sent(project, project_body)
    project_settings["description"] = mark_of(bridge, place.name)
    changed = {
        name: value
        for name, value in project_settings.items()
        if differs(name, project_body.get(name), value)
    }
    if changed:
        client.update_project(project.external_id, **changed)
        project_body = client.project(project.external_id)
    project.configuration = digest(project_body)
    project.instrument = instrument if instrument.pk else None
    project.save(update_fields=["configuration", "instrument"])
    return ProjectSetup(
        project=project,
        tasks=project_body.get("task_number"),
        is_new=is_new,
        replaces_lost=replaces_lost,
        edited=edited,
        changed=bool(changed) and not is_new,
    )


def _row(bridge: LabelStudioBridge, place: Place) -> LabelStudioProject | None:
    live = LabelStudioProject.objects.filter(bridge=bridge, gone_at=None).select_related("bridge__campaign")
    return live.filter(slot=place.slot, annotator=place.annotator_id).first()


def _shown(
    client: Client, project: LabelStudioProject, bridge: LabelStudioBridge, place: Place
) -> Mapping[str, Any] | None:
    """Return a project from the server; None if it no longer exists, or its number belongs to another project."""
    try:
        project_body = client.project(project.external_id)
    except Trouble as trouble:
        if trouble.code != "gone":
            raise
        return None
    if project_body.get("description") == mark_of(bridge, place.name):
        return project_body
    own_refs = set(refs_of(project).values())
    if not own_refs and project_body.get("title") == title_of(bridge, place.number):
        return project_body
    return project_body if any(ref in own_refs for _, ref in client.task_refs(project.external_id)) else None


def _found(
    client: Client, bridge: LabelStudioBridge, place: Place, before: LabelStudioProject | None
) -> int | None:
    """Return the number of a project that was created for the place but was not stored, or was hidden a moment ago."""
    live = LabelStudioProject.objects.filter(bridge__server=bridge.server_id, gone_at=None)
    used_ids = set(live.values_list("external_id", flat=True)) - {before.external_id if before else None}
    title, mark = title_of(bridge, place.number), mark_of(bridge, place.name)
    matches = [
        int(project["id"]) for project in client.projects(title=title) if project.get("description") == mark
    ]
    return min(set(matches) - used_ids, default=None)


@transaction.atomic
def _written_down(
    bridge: LabelStudioBridge, place: Place, number: int, before: LabelStudioProject | None, *, again: bool
) -> LabelStudioProject:
    """Return the row of the place's project with this number, an earlier row if it is seen `again`. The place's
    previous project is marked as gone.

    Only a project with tasks is recognised again, because a new project may have the number of a deleted one.
    """
    if again and before is not None and before.external_id == number:
        return before
    if before is not None:
        LabelStudioProject.objects.filter(pk=before.pk).update(gone_at=timezone.now())
        before.tasks.all().delete()
    place_of = {"bridge": bridge, "slot": place.slot, "annotator_id": place.annotator_id}
    rows = LabelStudioProject.objects.filter(**place_of, external_id=number).order_by("-pk")
    project = (rows.first() if again else None) or LabelStudioProject(**place_of, external_id=number)
    project.gone_at = None
    project.save()
    return project


def _make(
    client: Client, bridge: LabelStudioBridge, place: Place, project_settings: Mapping[str, Any]
) -> int:
    return client.create_project(
        title=title_of(bridge, place.number),
        description=mark_of(bridge, place.name),
        configuration=project_settings["label_config"],
        annotations_per_task=project_settings["maximum_annotations"],
        instructions=project_settings["expert_instruction"],
        # All fields at once: a project created in this way needs no second request.
        **{name: value for name, value in project_settings.items() if name not in _NAMED},
    )
