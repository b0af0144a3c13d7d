"""Annotations in Label Studio are mirrored unchanged."""

import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotation.label_studio.base.reasons import why_no_result
from annotation.label_studio.labels.settle import settle
from annotation.label_studio.models import LabelStudioAnnotation, LabelStudioUser
from annotation.label_studio.pull.mirror import mirror
from annotation.label_studio.pull.parse import parse_annotation
from tests.annotation.label_studio.payloads import START, annotation, gone, marks, number_of, project_of
from tests.annotation.label_studio.rows import bridge_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def bridge(marking):
    return bridge_of(marking)


@pytest.fixture
def project(bridge):
    return project_of(bridge)


@pytest.fixture
def number(bridge, marking) -> int:
    return number_of(bridge, marking.tasks.earliest("pk"))


def test_an_annotation_is_mirrored_once(marking, project, number):
    task = marking.tasks.earliest("pk")
    told = annotation(5, task=number, user=7, result=marks("kite"), minute=2, changed=3)
    assert mirror(project=project, annotations=[told, told]) == {task.pk}
    assert mirror(project=project, annotations=[told]) == set()
    row = LabelStudioAnnotation.objects.get()
    assert (row.external_id, row.external_task, row.task, row.updated_by) == (5, number, task, 7)
    assert (row.made_at - START).seconds == 120
    assert (row.changed_at - START).seconds == 180
    assert row.result == told["result"]
    assert (row.state, row.lead_time, row.cancelled, row.deleted_at) == ("new", 12.5, False, None)


def test_every_change_is_seen(project, number):
    told = annotation(5, task=number, user=7)
    mirror(project=project, annotations=[told])
    for change in (
        {"result": marks("kite")},
        {"was_cancelled": True},
        {"updated_by": 8},
        {"completed_by": 9},
        {"lead_time": 3.5},
        {"updated_at": "2026-02-01T10:00:00Z"},
    ):
        LabelStudioAnnotation.objects.update(state="counted")
        told |= change
        assert mirror(project=project, annotations=[told])
        assert LabelStudioAnnotation.objects.get().state == "new"


def test_missing_annotations_are_deleted_and_may_return(marking, project, number):
    told = [annotation(one, task=number, user=7) for one in (5, 6)]
    mirror(project=project, annotations=told)
    touched = gone(project, [number], [6])
    assert touched == {marking.tasks.earliest("pk").pk}
    assert gone(project, [number], [6]) == set()
    assert LabelStudioAnnotation.objects.get(deleted_at=None).external_id == 6
    assert mirror(project=project, annotations=told) == touched
    assert not LabelStudioAnnotation.objects.exclude(deleted_at=None).exists()


def test_annotations_are_mirrored_once_their_task_is_known(bridge, project, number, marking):
    sent = project.tasks.get(external_id=number)
    sent.delete()
    told = annotation(5, task=number, user=7)
    assert mirror(project=project, annotations=[told]) == set()
    sent.save(force_insert=True)
    assert mirror(project=project, annotations=[told]) == {sent.task_id}


def test_users_get_the_names_that_the_server_gives_them(project, number):
    told = annotation(5, task=number, user=7)
    told["completed_by"] = {"id": 7, "first_name": "Ana", "last_name": "Lie", "email": "ana@example.org"}
    mirror(project=project, annotations=[told, annotation(6, task=number, user=8)])
    assert dict(LabelStudioUser.objects.values_list("external_id", "name")) == {
        7: "ana@example.org (Ana Lie)",
        8: "worker8@example.org (Worker)",
    }
    assert set(LabelStudioUser.objects.values_list("state", flat=True)) == {"waiting"}


DEEP: list = []
for _ in range(2_000):
    DEEP = [DEEP]


@pytest.mark.parametrize(
    "change",
    [
        {"result": None},
        {"result": "[]"},
        {"result": {"refused": "as if by us"}},
        {"result": [{"value": {"text": ["a \0 b"]}}]},
        {"result": [{"value": {"text": ["\ud800"]}}]},
        {"result": [{"value": {"x": 10**400}}]},
        {"result": DEEP},
        {"result": ["x" * 2_000_000]},
        {"created_at": None},
        {"created_at": "yesterday"},
        {"created_at": "9999-12-31T23:59:59-14:00"},
        {"created_at": "0001-01-01T00:00:00+14:00"},
    ],
)
def test_unstorable_annotations_are_refused_with_a_reason(bridge, project, number, change):
    told = annotation(5, task=number, user=7) | change
    assert mirror(project=project, annotations=[told])
    assert mirror(project=project, annotations=[told]) == set()
    assert why_no_result(LabelStudioAnnotation.objects.get().result)


@pytest.mark.parametrize(
    "change",
    [
        {"lead_time": "long"},
        {"lead_time": math.inf},
        {"lead_time": -1},
        {"lead_time": True},
        {"updated_by": "me"},
        {"completed_by": None},
        {"completed_by": 2**70},
        {"updated_at": 12},
        {"was_cancelled": "perhaps"},
        {"result": [{"value": {"x": math.nan, "text": ["\\u0000"]}}]},
        {"created_username": None},
        {"created_username": "half \ud800, 7"},
    ],
)
def test_invalid_metadata_of_an_annotation_is_left_out(bridge, project, number, change):
    told = annotation(5, task=number, user=7) | change
    touched = mirror(project=project, annotations=[told])
    settle(bridge=bridge, task_ids=touched)
    row = LabelStudioAnnotation.objects.get()
    assert row.lead_time in (None, 12.5)
    assert row.made_at == START


@pytest.mark.parametrize(
    "told", [None, [], {}, {"id": 5}, {"id": "5", "task": 1}, {"id": -1, "task": 1}, {"id": True}]
)
def test_annotations_that_could_not_be_identified_again_are_left_out(project, told):
    assert mirror(project=project, annotations=[told]) == set()
    assert not LabelStudioAnnotation.objects.exists()


odd = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12) | st.datetimes().map(str),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
FIELDS = ["completed_by", "created_username", "updated_by", "created_at", "updated_at"]
FIELDS += ["was_cancelled", "result", "lead_time"]


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(change=st.dictionaries(st.sampled_from(FIELDS), odd), place=st.integers(1, 3))
def test_no_response_of_a_server_breaks_the_mirror(bridge, project, number, change, place):
    told = annotation(place, task=number, user=7) | change
    touched = mirror(project=project, annotations=[told])
    assert mirror(project=project, annotations=[told]) == set()
    settle(bridge=bridge, task_ids=touched)
    row = LabelStudioAnnotation.objects.get(external_id=place)
    row.full_clean(exclude=["reason", "result"])
    assert row.state != "new"


def test_equal_annotations_have_equal_digests(number):
    told = annotation(5, task=number, user=7, result=marks("kite"))
    turned = dict(reversed(told.items())) | {"completed_by": {"id": 7, "email": "a@example.org"}}
    turned["created_at"] = told["created_at"].replace("Z", "+00:00")
    assert parse_annotation(told).digest == parse_annotation(turned).digest
