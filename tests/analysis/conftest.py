"""A small study whose every number can be worked out by hand.

Velmari, stereotypes tall hat and blue scarf, random drum and kite (listed, but by one rater only):

    image  annotator   tall hat  blue scarf  drum  kite   none of the above
    v1     p              1          0         0     1          no
    v1     q              1          1         0     0          no
    v1     r              1          0         0     0          no
    v2     p              0          0         0     0          yes
    v2     q              1          0         1     0          no
    v2     r              0          0         0     0          yes
    marked of 6           4          1         1     1           2

Orsani, stereotypes round glasses and drum, random attributes lantern and blue scarf:

    image  annotator   glasses    drum     lantern  scarf  none of the above
    o1     p              1         1         0       0         no
    o1     q              1         0         0       0         no
    o1     r              1         0         0       0         no
    o2     p              0         0         0       0         yes
    o2     q              0         0         0       0         yes
    o2     r              1         0         0       0         no
    marked of 6           4         1         0       0          2
"""

from dataclasses import dataclass
from datetime import timedelta

import pytest
from django.db.models import F
from django.utils import timezone

from accounts.models import Annotator
from annotation.models import (
    Annotation,
    Assignment,
    Box,
    Campaign,
    CampaignAttribute,
    Enrolment,
    Judgement,
    Task,
    TaskAttribute,
)
from catalog.models import Attribute
from generation.models import Image
from studies.models import Study, StudyGroup
from studies.protocol.freeze import freeze

VELMARI = {
    "v1": {"p": "1001", "q": "1100", "r": "1000"},
    "v2": {"p": "0000", "q": "1010", "r": "0000"},
}
ORSANI = {
    "o1": {"p": "1100", "q": "1000", "r": "1000"},
    "o2": {"p": "0000", "q": "0000", "r": "1000"},
}
ASKED = {
    "Velmari": ["tall hat", "blue scarf", "drum", "kite"],
    "Orsani": ["round glasses", "drum", "lantern", "blue scarf"],
}
# Ratings of p, q, r: visual when all are Agree or Strongly Agree.
RATINGS = {"tall hat": (5, 4, 5), "blue scarf": (5, 5, 5), "kind": (1, 3, 4), "clever": (2, 2, 1)}


@dataclass
class Marked:
    """The study and the rows that tests change."""

    study: Study
    campaign: Campaign
    likert: Campaign
    annotators: dict[str, Annotator]
    images: dict[str, Image]

    def submit(
        self, task: Task, annotator: Annotator, slot: int, *, none: bool | None = None, **fields
    ) -> Annotation:
        """Write one submission as the annotator's page does."""
        now = timezone.now()
        assignment = Assignment.objects.create(
            task=task,
            annotator=annotator,
            slot=slot,
            state=Assignment.State.SUBMITTED,
            expires_at=now + timedelta(minutes=30),
            ended_at=now,
        )
        Task.objects.filter(pk=task.pk).update(held=F("held") + 1)
        return Annotation.objects.create(
            campaign=task.campaign,
            task=task,
            annotator=annotator,
            assignment=assignment,
            none_of_the_above=none,
            active_seconds=10.0 + slot,
            **fields,
        )


@pytest.fixture
def marked(study, lead) -> Marked:
    """The study of the table above, both campaigns closed and fully labelled."""
    return labelled(study, lead)


def labelled(study: Study, lead) -> Marked:
    """Label a study of the invented resource as in the table above, by three annotators of its own."""
    listed = {("Velmari", "tall hat"): 2.0, ("Velmari", "blue scarf"): -1.0}
    listed |= {("Orsani", "round glasses"): 1.0, ("Orsani", "drum"): -1.0}
    for (group, attribute), stored in listed.items():
        pair = study.resource.groups.get(name=group).stereotypes.get(attribute__text=attribute)
        pair.offensiveness_stored = pair.rating_1 = pair.rating_2 = pair.rating_3 = stored
        pair.save()
    freeze(study=study, by=lead)
    annotators = {name: Annotator.objects.create(source=study.slug, source_id=name) for name in "pqr"}
    marking, likert = (
        Campaign.objects.create(
            study=study,
            slug=kind.replace("_", "-"),
            name=kind,
            kind=kind,
            state=Campaign.State.CLOSED,
            seed=1,
            opened_at=timezone.now(),
            closed_at=timezone.now(),
        )
        for kind in ("stereotype_marking", "attribute_likert")
    )
    for annotator in annotators.values():
        Enrolment.objects.create(campaign=marking, annotator=annotator)
        Enrolment.objects.create(campaign=likert, annotator=annotator)
    made = Marked(study, marking, likert, annotators, {})
    for group_name, pictures in (("Velmari", VELMARI), ("Orsani", ORSANI)):
        _mark(made, StudyGroup.objects.get(study=study, name=group_name), pictures)
    for text, values in RATINGS.items():
        attribute, _ = Attribute.objects.get_or_create(text=text)
        task = Task.objects.create(campaign=likert)
        TaskAttribute.objects.create(task=task, attribute=attribute, position=0)
        for slot, (annotator, rating) in enumerate(zip(annotators.values(), values, strict=True)):
            annotation = made.submit(task, annotator, slot, justification="?" if rating == 3 else "")
            Judgement.objects.create(annotation=annotation, attribute=attribute, rating=rating)
    return made


def _mark(made: Marked, group: StudyGroup, pictures: dict[str, dict[str, str]]) -> None:
    attributes = [Attribute.objects.get_or_create(text=text)[0] for text in ASKED[group.name]]
    for index, attribute in enumerate(attributes):
        CampaignAttribute.objects.create(
            campaign=made.campaign,
            group=group,
            attribute=attribute,
            role="stereotype" if index < 2 else "random",
        )
    mark_pictures(made, group, pictures)


def mark_pictures(made: Marked, group: StudyGroup, pictures: dict[str, dict[str, str]]) -> None:
    """Write what each person ticked in each of a group's pictures, in the order of `ASKED`."""
    attributes = list(Attribute.objects.filter(text__in=ASKED[group.name]))
    attributes.sort(key=lambda attribute: ASKED[group.name].index(attribute.text))
    for name, answers in pictures.items():
        image = Image.objects.create(
            study=made.study,
            group=group,
            model_label="sketch",
            source_name=f"{name}.png",
            width=512,
            height=512,
        )
        made.images[name] = image
        task = Task.objects.create(campaign=made.campaign, image=image)
        for position, attribute in enumerate(attributes):
            TaskAttribute.objects.create(task=task, attribute=attribute, position=position)
        for slot, (person, ticks) in enumerate(answers.items()):
            annotation = made.submit(task, made.annotators[person], slot, none="1" not in ticks)
            for attribute, tick in zip(attributes, ticks, strict=True):
                judgement = Judgement.objects.create(
                    annotation=annotation, attribute=attribute, present=tick == "1"
                )
                if tick == "1":
                    Box.objects.create(judgement=judgement, x=0.1, y=0.1, width=0.2 + slot / 10, height=0.3)
