"""The task's page as the server renders it, without a database: real templates around a payload made here."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.template.loader import render_to_string
from django.test import RequestFactory

from annotation.annotator.screen import Screen
from annotation.annotator.task import MODULES, QUESTION_MODULES
from annotation.models import ImageReport

NOW = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)
LEASE = timedelta(minutes=30)
CAMPAIGN = 1
FIRST = "11111111-1111-4111-8111-111111111111"
SECOND = "22222222-2222-4222-8222-222222222222"
TASK_PATH = f"/annotate/{CAMPAIGN}/"
_INSTRUMENT = {"version": 1, "guidelines": "Look closely.", "labels": {}}
_LABELS = {"5": "Yes", "4": "Rather yes", "2": "Rather no", "1": "No", "3": "Unsure"}


def marking(assignment: str = FIRST, **changes: Any) -> dict[str, Any]:
    """Return the payload of a picture with three attributes: a1, a2 and a3."""
    return {
        "assignment": assignment,
        "expires_at": (NOW + LEASE).isoformat(),
        "kind": "marking",
        "instrument": _INSTRUMENT | {"statement": "What does the picture show?"},
        "image": {"url": f"/picture/{assignment[0]}.svg", "width": 400, "height": 400},
        "attributes": [
            {"ref": "a1", "text": "tall hat"},
            {"ref": "a2", "text": "drum"},
            {"ref": "a3", "text": "kite"},
        ],
        "boxes_required": False,
        "progress": {"done": 0, "left": 2},
        "answer": None,
    } | changes


def rating(assignment: str = FIRST, **changes: Any) -> dict[str, Any]:
    """Return the payload of a rating."""
    return marking(assignment) | {
        "kind": "rating",
        "instrument": _INSTRUMENT | {"statement": "Is this word a stereotype?", "labels": _LABELS},
        "image": None,
        "attributes": [{"ref": "a1", "text": "tall hat"}],
        **changes,
    }


def task_page(
    payload: Mapping[str, Any], *, blurred: bool = False, revising: Mapping[str, int] | None = None
) -> str:
    """Render the task's page for somebody whose key is `None`."""
    request = RequestFactory().get(TASK_PATH)
    request.user = AnonymousUser()
    context = {
        "campaign_id": CAMPAIGN,
        "work": "Judge pictures" if "questions" in payload else "Mark pictures",
        "payload": payload,
        "place": None,
        "screen": Screen.of(payload),
        "revising": revising,
        "now": NOW,
        "report_reasons": ImageReport.Reason.choices,
        "modules": QUESTION_MODULES if "questions" in payload else MODULES,
        "blurred": blurred,
    }
    return render_to_string("annotation/annotator/task/task.html", context, request)
