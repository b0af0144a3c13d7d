"""A campaign with three annotators who answer in Label Studio, for tests of the outcome of their answers."""

import pytest

from annotation.label_studio.labels.settle import settle
from annotation.label_studio.models import LabelStudioAnnotation
from annotation.label_studio.pull.reconcile import unsettled_tasks
from annotation.models import Task
from tests.annotation.factories import new_annotator
from tests.annotation.label_studio.payloads import annotation, marks, number_of, tell, worker
from tests.annotation.label_studio.rows import bridge_of


@pytest.fixture
def anna(marking):
    return new_annotator(marking)


@pytest.fixture
def bela(marking):
    return new_annotator(marking)


@pytest.fixture
def clara(marking):
    return new_annotator(marking)


@pytest.fixture
def bridge(marking, anna, bela, clara):
    bridge = bridge_of(marking)
    for number, annotator in enumerate((anna, bela, clara), start=1):
        worker(bridge, number, annotator)
    return bridge


@pytest.fixture
def task(marking) -> Task:
    return marking.tasks.earliest("pk")


def told(bridge, task, number, user, *texts, slot=1, **more):
    """Mirror and settle an annotation of `task`."""
    one = annotation(number, task=number_of(bridge, task, slot), user=user, result=marks(*texts), **more)
    return tell(bridge, one, slot=slot)


def count_what_is_left(bridge) -> None:
    """Settle as after a comparison that finds nothing new."""
    settle(bridge=bridge, task_ids=unsettled_tasks(bridge))


def row(number) -> LabelStudioAnnotation:
    return LabelStudioAnnotation.objects.get(external_id=number)


def text_of(task, place=0) -> str:
    return task.task_attributes.order_by("position")[place].attribute.text


def statuses(task) -> dict:
    latest = task.annotations.filter(is_latest=True)
    return dict(latest.values_list("annotator", "status"))
