"""A campaign for benchmarks of labelling: invented people, images without files, one quota rule, gold tasks."""

import uuid
from typing import Any

from django.db import connection
from django.db.models import Count, F, Q

from accounts import profiles, tokens
from accounts.models import Annotator, User
from annotation.campaigns import lifecycle
from annotation.models import Annotation, Campaign, Enrolment, KnownAnswer, Task
from catalog.models import Attribute, IdentityGroup, Resource, Stereotype
from generation.models import Image
from studies import consent
from studies.models import Study, StudyGroup

WANTED = 3
RULE = "at_least 1 gender != man"
GOLD_SHARE = 0.05
_ATTRIBUTES = 5
_GOLD_TASKS = 200
_ANALYZED = ("annotation_task", "annotation_taskattribute", "generation_image")


def make(*, tasks: int, annotators: int) -> dict[str, Any]:
    """Open a campaign of `tasks` screens of five attributes and enrol annotators; return its id and their keys."""
    name = uuid.uuid4().hex[:8]
    resource = _resource(name)
    study = Study.objects.create(name=name, slug=name, seed=1, resource=resource)
    group = StudyGroup.objects.create(study=study, group=resource.groups.get(), name="Velmari")
    _add_images(study, group, 0, 1)
    draft = lifecycle.create(
        study=study,
        name="Load",
        kind="stereotype_marking",
        by=None,
        annotators_per_task=WANTED,
        attributes_per_screen=_ATTRIBUTES,
        options={"random_per_stereotype": 0, "gold_share": GOLD_SHARE},
        quotas=[RULE],
    )
    campaign = lifecycle.open_(campaign=draft, by=None)
    planned = campaign.tasks.get()
    _add_tasks(planned, _add_images(study, group, 1, tasks - 1))
    gold = _add_images(study, group, tasks, _GOLD_TASKS)
    _add_known_answers(_add_tasks(planned, gold, purpose=Task.Purpose.GOLD, wanted=0, quota_mix=""))
    if connection.vendor == "postgresql":  # as autovacuum would within a minute
        with connection.cursor() as cursor:
            cursor.execute(f"ANALYZE {', '.join(_ANALYZED)}")
    keys = [_person(campaign, "man" if index % 2 else "woman") for index in range(annotators)]
    return {"campaign": campaign.pk, "keys": keys}


def count(campaign: int) -> dict[str, int]:
    """Return the number of a campaign's annotations, and of tasks with fewer or more than wanted."""
    annotations = Annotation.objects.filter(campaign=campaign, is_latest=True)
    accepted = Count("annotations", filter=Q(annotations__status="accepted"))
    tasks = Task.objects.filter(campaign=campaign, purpose=Task.Purpose.LABEL).annotate(accepted=accepted)
    return {
        "accepted": annotations.filter(status="accepted").count(),
        "gold": annotations.filter(status="gold").count(),
        "surplus": annotations.filter(status="surplus").count(),
        "short": tasks.filter(accepted__lt=F("wanted")).count(),
        "over": tasks.filter(accepted__gt=F("wanted")).count(),
    }


def _add_images(study: Study, group: StudyGroup, start: int, number: int) -> list[Image]:
    return Image.objects.bulk_create(
        (
            Image(
                study=study, group=group, sha256=f"{index:064x}", file=f"{index}.png", width=512, height=512
            )
            for index in range(start, start + number)
        ),
        batch_size=5000,
    )


def _add_tasks(planned: Task, images: list[Image], **differing: Any) -> list[Task]:
    """Create a task with the questions of `planned` for each image, as opening a campaign does but faster."""
    task_fields = {"campaign": planned.campaign, "wanted": planned.wanted, "quota_mix": planned.quota_mix}
    tasks = Task.objects.bulk_create(
        (Task(**task_fields | differing, image=image) for image in images), batch_size=5000
    )
    if tasks:
        with connection.cursor() as cursor:
            cursor.execute(
                "INSERT INTO annotation_taskattribute (task_id, attribute_id, position)"
                " SELECT t.id, a.attribute_id, a.position FROM annotation_task t, annotation_taskattribute a"
                " WHERE a.task_id = %s AND t.campaign_id = %s AND t.id BETWEEN %s AND %s",
                [planned.pk, planned.campaign_id, tasks[0].pk, tasks[-1].pk],
            )
    return tasks


def _add_known_answers(tasks: list[Task]) -> None:
    KnownAnswer.objects.bulk_create(
        KnownAnswer(task=task, attribute_id=task_attribute.attribute_id, present=task_attribute.position == 0)
        for task in tasks
        for task_attribute in task.task_attributes.all()
    )


def _resource(name: str) -> Resource:
    resource = Resource.objects.create(name=name, slug=name, has_rater_counts=True, invented=True)
    group = IdentityGroup.objects.create(resource=resource, name="Velmari", display_name="Velmari")
    votes = {"in_region_stereotype": 3, "in_region_not": 0, "in_region_unsure": 0}
    votes |= {"out_region_stereotype": 0, "out_region_not": 0, "out_region_unsure": 0}
    for number in range(_ATTRIBUTES):
        attribute, _ = Attribute.objects.get_or_create(text=f"lantern {number}")
        Stereotype.objects.create(group=group, attribute=attribute, **votes)
    return resource


def _person(campaign: Campaign, gender: str) -> str:
    user = User.objects.create(username=uuid.uuid4().hex)
    annotator = Annotator.objects.create(user=user)
    profiles.describe(annotator=annotator, gender=gender)
    Enrolment.objects.create(campaign=campaign, annotator=annotator)
    consent.give(annotator=annotator, text=consent.current_text(campaign.study))
    _, key = tokens.issue(user=user, name="load", scopes=["annotate"])
    return key
