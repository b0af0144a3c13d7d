"""Handwritten annotations in the format of Label Studio's API, for tests of the mirror."""

from datetime import UTC, datetime, timedelta

from annotation.label_studio.labels.settle import settle
from annotation.label_studio.models import (
    LabelStudioBridge,
    LabelStudioProject,
    LabelStudioTask,
    LabelStudioUser,
)
from annotation.label_studio.pull.deletions import missed, missing
from annotation.label_studio.pull.mirror import mirror

START = datetime(2026, 1, 5, 9, tzinfo=UTC)


def number_of(bridge: LabelStudioBridge, task, slot: int = 1) -> int:
    """Return the number of our task in Label Studio."""
    return LabelStudioTask.objects.get(project__bridge=bridge, project__slot=slot, task=task).external_id


def choices(name: str, *values: str) -> dict:
    return {
        "id": f"{name}-1",
        "from_name": name,
        "to_name": "image",
        "type": "choices",
        "value": {"choices": list(values)},
        "origin": "manual",
    }


def rectangle(text: str, x=10.0, y=20.0, width=30.0, height=40.0, **more) -> dict:
    return {
        "id": f"box-{text}",
        "from_name": "box",
        "to_name": "image",
        "type": "rectanglelabels",
        "value": {
            "x": x,
            "y": y,
            "width": width,
            "height": height,
            "rotation": 0,
            "rectanglelabels": [text],
            **more,
        },
        "original_width": 512,
        "original_height": 512,
        "image_rotation": 0,
        "origin": "manual",
    }


def rating(value: int, why: str = "") -> list[dict]:
    found = [choices("rating", str(value)) | {"to_name": "attribute"}]
    if why:
        text = {
            "from_name": "justification",
            "to_name": "attribute",
            "type": "textarea",
            "value": {"text": [why]},
        }
        found.append(text)
    return found


def marks(*texts: str) -> list[dict]:
    """Return ticks with a box each; without any, 'None of the above'."""
    if not texts:
        return [choices("none_of_the_above", "yes")]
    return [choices("present", *texts), *(rectangle(text) for text in texts)]


def annotation(
    number: int, *, task: int, user: int, result=None, minute: float = 0, changed=None, **more
) -> dict:
    """One annotation as the API gives it; `minute` is when it was made."""
    made = START + timedelta(minutes=minute)
    changed = made if changed is None else START + timedelta(minutes=changed)
    return {
        "id": number,
        "task": task,
        "completed_by": user,
        "created_username": f"Worker worker{user}@example.org, {user}",
        "updated_by": user,
        "created_at": made.isoformat().replace("+00:00", "Z"),
        "updated_at": changed.isoformat().replace("+00:00", "Z"),
        "was_cancelled": False,
        "ground_truth": False,
        "result": marks() if result is None else result,
        "lead_time": 12.5,
        **more,
    }


def project_of(bridge: LabelStudioBridge, slot: int = 1) -> LabelStudioProject:
    return bridge.projects.select_related("bridge__campaign__study").get(slot=slot)


def tell(bridge: LabelStudioBridge, *annotations: dict, slot: int = 1):
    """Mirror these and settle what they touch."""
    touched = mirror(project=project_of(bridge, slot), annotations=annotations)
    return settle(bridge=bridge, task_ids=touched)


def compare(bridge: LabelStudioBridge, *annotations: dict, slot: int = 1):
    """Mirror these as all annotations of the project, and settle."""
    project = project_of(bridge, slot)
    touched = mirror(project=project, annotations=annotations)
    numbers = set(project.tasks.values_list("external_id", flat=True))
    touched |= gone(project, numbers, [one["id"] for one in annotations])
    return settle(bridge=bridge, task_ids=touched)


def gone(project: LabelStudioProject, numbers, present) -> set[int]:
    """Record that of these tasks only the present annotations are left; return our tasks."""
    return missed(project=project, rows=missing(project=project, external_tasks=numbers, present=present))


def worker(bridge: LabelStudioBridge, number: int, annotator=None) -> LabelStudioUser:
    """Create a Label Studio user, mapped to the annotator if one is given."""
    state = LabelStudioUser.State.MAPPED if annotator else LabelStudioUser.State.WAITING
    return LabelStudioUser.objects.create(
        server=bridge.server, external_id=number, name=f"Worker {number}", state=state, annotator=annotator
    )
