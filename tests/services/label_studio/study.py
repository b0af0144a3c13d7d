"""A study with a campaign of each kind that is labelled in Label Studio, and all actions of its people."""

import hashlib
import random
from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from django.utils import timezone

from accounts.models import Annotator
from annotation.answers.validation import answer_of
from annotation.assignment import leases
from annotation.campaigns import lifecycle
from annotation.kinds.registry import UNSURE
from annotation.label_studio.base import job_queue
from annotation.label_studio.base.connections import connect
from annotation.label_studio.models import (
    LabelStudioAnnotation,
    LabelStudioBridge,
    LabelStudioEvent,
    LabelStudioUser,
)
from annotation.label_studio.people import identity
from annotation.label_studio.push.lifecycle import begin
from annotation.models import Annotation, Campaign, Enrolment, Task
from generation.models import Image
from jobs.models import Job
from jobs.run.execution import execute
from studies.models import Study, StudyGroup
from tests.annotation.factories import new_annotator, submit
from tests.services.label_studio.annotators import Hands, marked, rated, there
from tests.services.label_studio.proxy import Wire

Arrangement = LabelStudioBridge.Arrangement


def do_jobs() -> None:
    """Run the queued jobs, as a worker would, until none is left."""
    while (job := Job.objects.filter(state=Job.State.QUEUED).order_by("pk").first()) is not None:
        Job.objects.filter(pk=job.pk).update(wait_until=None)
        execute(job.pk)


class Ways:
    """The routes by which changes there arrive here."""

    def __init__(self, wire: Wire, bridges: Iterable[LabelStudioBridge]) -> None:
        self.wire, self.bridges = wire, list(bridges)

    def webhooks(self) -> None:
        self.wire.release()
        do_jobs()

    def comparing(self) -> None:
        self.wire.drop()
        for bridge in self.bridges:
            job_queue.start_reconcile(bridge=bridge, by=None)
        do_jobs()

    def both(self) -> None:
        """Lose a third of the webhooks, send half of the others twice, in random order, some after the comparison."""
        kept = list(self.wire.kept)
        drawn = random.Random(len(kept))
        order = [place for place in range(len(kept)) if drawn.random() > 1 / 3]
        order += [place for place in order if drawn.random() < 1 / 2]
        drawn.shuffle(order)
        self.wire.release(order[: len(order) // 2])
        do_jobs()
        for bridge in self.bridges:
            job_queue.start_reconcile(bridge=bridge, by=None)
        do_jobs()
        self.wire.kept = kept
        self.wire.release(order[len(order) // 2 :])
        do_jobs()


def two_campaigns(study: Study, lead: Any) -> tuple[Campaign, Campaign]:
    """Open a campaign of ratings (three people each) and one of marks (two people each)."""
    if not study.images.exists():
        _add_images(study)
    rating = lifecycle.create(study=study, name="Ratings", kind="attribute_likert", by=lead)
    marking = lifecycle.create(
        study=study,
        name="Marking",
        kind="stereotype_marking",
        by=lead,
        annotators_per_task=2,
        attributes_per_screen=3,
    )
    return lifecycle.open_(campaign=rating, by=lead), lifecycle.open_(campaign=marking, by=lead)


def _add_images(study: Study) -> None:
    """Give every group two images, the same in every database, because their content determines their questions."""
    for group in study.groups.order_by("name"):
        for number in range(2):
            digest = hashlib.sha256(f"{group.name} {number}".encode()).hexdigest()
            Image.objects.create(
                study=study,
                group=group,
                model_label="sketch",
                sha256=digest,
                file=f"images/{digest}.png",
                width=512,
                height=512,
            )


def bridged(campaign: Campaign, arrangement: str, *, url: str, token: str, lead: Any) -> LabelStudioBridge:
    """Set up labelling of a campaign in Label Studio, and send everything."""
    server = campaign.study.label_studio_servers.first() or connect(
        study=campaign.study, url=url, token=token, by=lead
    )
    bridge = begin(campaign=campaign, server=server, arrangement=arrangement, by=lead)
    job_queue.start_push(bridge=bridge, by=lead)
    do_jobs()
    bridge.refresh_from_db()
    assert bridge.problem == "", bridge.problem_text
    assert bridge.pushed_at is not None, list(Job.objects.values_list("state", "error"))
    return bridge


class Work:
    """The actions of five people in both campaigns; the lead does not know the fifth."""

    def __init__(self, rating: LabelStudioBridge, marking: LabelStudioBridge, hands: list[Hands]) -> None:
        self.hands = hands
        [self.shared] = rating.projects.all()
        self.first, self.second = marking.projects.order_by("slot")
        self.rates = list(Task.objects.filter(campaign=rating.campaign).order_by("pk"))
        self.marks = list(Task.objects.filter(campaign=marking.campaign).order_by("pk"))

    def begin(self) -> None:
        """Have everybody answer once, so that the lead sees them."""
        ada, ben, cleo, dora, _ = self.hands
        task = there(self.shared, self.rates[0])
        self.ada_rated = ada.answer(task, rated(2))
        self.ben_rated = ben.answer(task, rated(UNSURE, "the light is bad"))
        cleo.answer(task, rated(1))
        self.dora_rated = dora.answer(task, rated(4))  # one more than wanted

    def go_on(self) -> None:
        self._rate()
        self._mark()

    def change_their_minds(self) -> None:
        """Delete, change and skip answers that counted."""
        ada, ben, cleo, _, _ = self.hands
        one, two = (there(self.shared, task) for task in self.rates[1:3])
        ada.change(self.ada_rated, rated(UNSURE, "it may be a shadow"))
        ben.delete(self.ben_rated)
        cleo.ask("PATCH", f"annotations/{self.cleo_rated}/", {"was_cancelled": True})
        ben.answer(two, rated(5))
        cleo.answer(one, rated(5))
        ada.delete(self.of_ada[0])
        ben.change(self.of_ben[3], self._marks(3, 1))
        ben.delete_task(there(self.second, self.marks[4]))

    def _rate(self) -> None:
        ada, ben, cleo, dora, eve = self.hands
        one, two, three, four, five = (there(self.shared, task) for task in self.rates[1:])
        ada.answer(one, rated(1))
        changed = ben.answer(one, rated(1))
        cleo.skip(one)
        dora.answer(one, rated(5))
        ben.change(changed, rated(4))
        _, deleted, self.cleo_rated = [hand.answer(two, rated(2)) for hand in (ada, ben, cleo)]
        ben.delete(deleted)
        dora.answer(two, rated(1))
        theirs = ada.answer(three, rated(5))
        eve.answer(three, rated(4), completed_by=ben.person.id)  # in Ben's name
        eve.answer(three, rated(4))
        dora.change(theirs, rated(1))  # in Ada's name
        ada.draft(four, rated(4))
        ben.answer(four, rated(4))
        first = ada.answer(five, rated(1))
        ada.answer(five, rated(2))
        cleo.answer(five, rated(UNSURE))  # unsure, without a reason
        ada.delete(first)
        ada.change(self.ada_rated, rated(5))

    def _mark(self) -> None:
        ada, ben, cleo, _, eve = self.hands
        first = [there(self.first, task) for task in self.marks]
        second = [there(self.second, task) for task in self.marks]
        self.of_ada = of_ada = [ada.answer(first[n], self._marks(n, 1)) for n in range(6)]
        self.of_ben = of_ben = [ben.answer(second[n], self._marks(n, n % 3)) for n in range(5)]
        for n in (6, 7):
            cleo.answer(first[n], self._marks(n, 2))
        ada.answer(second[5], self._marks(5, 0))  # answered already
        ben.change(of_ben[3], self._marks(3, 1, rotation=30))
        cleo.answer(first[0], self._marks(0, 0))  # one more than wanted
        ben.change(of_ben[1], self._marks(1, 0))
        ben.skip(second[6])
        ada.delete(of_ada[2])
        eve.answer(second[7], self._marks(7, 1))

    def _marks(self, task: int, number: int, **more: Any) -> Any:
        texts = list(
            self.marks[task].task_attributes.values_list("attribute__text", flat=True).order_by("pk")
        )
        return marked(*texts[:number], **more)


def known(
    bridges: Iterable[LabelStudioBridge], hands: list[Hands], people_here: list[Annotator], lead: Any
) -> None:
    """Have the lead match the first four with annotators."""
    server = next(iter(bridges)).server
    for hand, annotator in zip(hands[:4], people_here, strict=False):
        user = LabelStudioUser.objects.get(server=server, external_id=hand.person.id)
        identity.confirm(user=user, annotator=annotator, by=lead)
    do_jobs()


def state_of(campaign: Campaign, here: list[Annotator], there: list[Hands]) -> list[Any]:
    """Return all results of labelling, with names that are the same in every database."""
    names = {annotator.pk: f"person {place}" for place, annotator in enumerate(here)}
    users = {hand.person.id: f"user {place}" for place, hand in enumerate(there)}
    state = []
    for task in Task.objects.filter(campaign=campaign).order_by("pk"):
        labels = [
            (names[one.annotator_id], one.status, one.status_reason, content(one), one.active_seconds)
            for one in Annotation.objects.filter(task=task, is_latest=True)
        ]
        seen = [
            (users[one.user.external_id], one.state, one.reason, one.cancelled, one.deleted_at is None)
            for one in LabelStudioAnnotation.objects.filter(task=task).select_related("user")
            if one.user is not None
        ]
        slots = task.assignments.filter(slot__isnull=False).values_list("annotator_id", "state")
        held = sorted((names[annotator], how) for annotator, how in slots)
        state.append((task.held, sorted(labels, key=str), sorted(seen, key=str), held))
    return state


def content(annotation: Annotation) -> Any:
    """Return an answer, with attributes as text."""
    answer = answer_of(annotation)
    words = dict(annotation.judgements.values_list("attribute_id", "attribute__text"))
    boxes = [(words[one.attribute_id], one.x, one.y, one.width, one.height) for one in answer.boxes]
    ticked = sorted(words[one] for one in answer.ticked)
    return ticked, sorted(boxes), answer.none_of_the_above, answer.rating, answer.justification


def twin(study: Study, lead: Any) -> Study:
    """Return a study with the same questions about the same pictures."""
    made = Study.objects.create(
        name="Twin", slug="twin", resource=study.resource, seed=study.seed, created_by=lead, simulated=False
    )
    for one in StudyGroup.objects.filter(study=study):
        StudyGroup.objects.create(
            study=made, group=one.group, name=one.name, display_name=one.display_name, region=one.region
        )
    return made


def same_on_our_pages(campaign: Campaign, other: Campaign, here: list[Annotator]) -> None:
    """Answer `other` on our own pages as `campaign` was answered in Label Studio."""
    accepted = {
        (_shown(one.task), one.annotator_id): one
        for one in Annotation.objects.filter(
            campaign=campaign, is_latest=True, status=Annotation.Status.ACCEPTED
        ).select_related("task")
    }
    for annotator in here:
        Enrolment.objects.get_or_create(campaign=other, annotator=annotator)
    for annotator in here:
        while (leased := leases.next_assignment(campaign=other, annotator=annotator)) is not None:
            one = accepted.pop((_shown(leased.task), annotator.pk), None)
            if one is None:
                leases.skip(assignment=leased, annotator=annotator)
                continue
            later = timezone.now() + timedelta(minutes=1)
            submit(leased, answer_of(one), active_seconds=one.active_seconds or 0, now=later)
    assert not accepted


def _shown(task: Task) -> tuple[Any, ...]:
    texts = sorted(task.task_attributes.values_list("attribute__text", flat=True))
    return (task.image.sha256 if task.image is not None else "", *texts)


def four_people(campaigns_: Iterable[Campaign]) -> list[Annotator]:
    """Return four annotators of both campaigns who agreed to the study's text."""
    first, *rest = campaigns_
    made = [new_annotator(first) for _ in range(4)]
    for campaign in rest:
        for annotator in made:
            Enrolment.objects.create(campaign=campaign, annotator=annotator)
    return made


def events_done() -> bool:
    return not LabelStudioEvent.objects.filter(done_at=None).exists()
