"""After a final comparison, the same labels count for any order and repetition of reads of a history.

They are those of a slow reading of the rules, one task and one annotation after the other. Only where somebody
changed another's answer do earlier reads matter: the last seen version by the author counts.
"""

from dataclasses import dataclass, replace

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotation.assignment import leases
from annotation.assignment.campaign_quotas import load_quotas
from annotation.assignment.slots import profiles_of
from annotation.label_studio.labels.settle import settle
from annotation.label_studio.models import LabelStudioAnnotation
from annotation.label_studio.pull.mirror import mirror
from annotation.models import Annotation
from tests.annotation.assignment.test_leases import slots_are_counted
from tests.annotation.assignment.test_quota_assignment import opened, person
from tests.annotation.factories import submit
from tests.annotation.label_studio.payloads import annotation, gone, marks, project_of, worker
from tests.annotation.label_studio.rows import bridge_of, server_of

pytestmark = pytest.mark.django_db

PEOPLE, TASKS, WANTED = 4, 2, 2
GENDERS = ("man", "man", "woman", "woman")


@dataclass(frozen=True)
class There:
    """The state of an annotation in Label Studio."""

    number: int
    task: int
    slot: int
    user: int  # the last one is not known to the lead
    minute: int
    changed: int
    content: int
    cancelled: bool = False
    by: int = 0  # 0: by themselves


@st.composite
def histories(draw):
    """Draw a list of states, each with the reads made then: annotations or whole tasks, once or twice."""
    made: dict[int, There] = {}
    states = []
    for moment in range(1, draw(st.integers(2, 9))):
        what = draw(st.sampled_from(["make", "make", "make", "change", "skip", "delete", "other", "other"]))
        if what == "make" or not made:
            number = moment
            made[number] = There(
                number,
                task=draw(st.integers(0, TASKS - 1)),
                slot=draw(st.integers(1, WANTED)),
                user=draw(st.integers(1, PEOPLE + 1)),
                minute=draw(st.integers(0, 4)),
                changed=moment + 10,
                content=draw(st.integers(0, 3)),
            )
        else:
            number = draw(st.sampled_from(sorted(made)))
            before = made[number]
            if what == "delete":
                del made[number]
            elif what == "skip":
                made[number] = replace(before, cancelled=not before.cancelled, changed=moment + 10)
            elif what == "other":
                # Somebody changes its content or its name, or neither; or the author takes it back.
                made[number] = replace(
                    before,
                    by=draw(st.integers(0, PEOPLE)),
                    user=draw(st.sampled_from([before.user, before.user, *range(1, PEOPLE + 2)])),
                    content=draw(st.sampled_from([before.content, *range(4)])),
                    cancelled=draw(
                        st.sampled_from([before.cancelled, before.cancelled, not before.cancelled])
                    ),
                    changed=moment + 10,
                )
            else:
                made[number] = replace(before, content=draw(st.integers(0, 3)), by=0, changed=moment + 10)
        looks = draw(st.lists(st.tuples(st.integers(1, WANTED), st.integers(0, TASKS - 1)), max_size=3))
        states.append((dict(made), looks))
    return states


class World:
    """A campaign with its bridge, and methods to read states of Label Studio."""

    def __init__(self, study, lead, quotas, own):
        self.campaign = opened(study, lead, *quotas, wanted=WANTED)
        self.people = [person(self.campaign, gender=gender) for gender in GENDERS]
        self.tasks = list(self.campaign.tasks.order_by("pk")[:TASKS])
        if own:
            mine = leases.next_assignment(campaign=self.campaign, annotator=self.people[3])
            submit(mine)
            self.tasks[0] = mine.task
            self.tasks[1] = self.campaign.tasks.exclude(pk=mine.task_id).earliest("pk")
        self.own = own
        self.bridge = bridge_of(self.campaign, server_of(study))
        for number, annotator in enumerate(self.people, start=1):
            worker(self.bridge, number, annotator)
        self.texts = {
            task.pk: list(task.task_attributes.order_by("position").values_list("attribute__text", flat=True))
            for task in self.tasks
        }

    def told(self, one: There, number: int):
        task = self.tasks[one.task]
        # The third content cannot be read; the others tick this many attributes.
        texts = ["a kite nobody asked for"] if one.content == 3 else self.texts[task.pk][: one.content]
        return annotation(
            one.number,
            task=number,
            user=one.user,
            minute=one.minute,
            changed=one.changed,
            result=marks(*texts),
            was_cancelled=one.cancelled,
            updated_by=one.by or one.user,
        )

    def look(self, made, slot, task):
        """Read a whole task of a project, and settle it."""
        project = project_of(self.bridge, slot)
        number = project.tasks.get(task=self.tasks[task]).external_id
        found = [one for one in made.values() if (one.slot, one.task) == (slot, task)]
        touched = mirror(project=project, annotations=[self.told(one, number) for one in found])
        touched |= gone(project, [number], [one.number for one in found])
        settle(bridge=self.bridge, task_ids=touched)

    def compare(self, made):
        for slot in range(1, WANTED + 1):
            for task in range(TASKS):
                self.look(made, slot, task)

    def state(self):
        """Return the annotations that count, and the holders of places."""
        found = {}
        for task in self.campaign.tasks.order_by("pk"):
            labels = {}
            latest = task.annotations.filter(is_latest=True, status__in=["accepted", "surplus"])
            for label in latest.select_related("assignment"):
                judged = list(label.judgements.order_by("pk").values_list("attribute", "present"))
                boxes = sorted(label.judgements.values_list("boxes__x", "boxes__y", "boxes__width"), key=repr)
                said = (label.status, label.none_of_the_above, label.assignment.slot, label.assignment.state)
                labels[label.annotator_id] = (*said, judged, boxes)
            found[task.pk] = (task.held, task.quota_mix, labels)
        rows = LabelStudioAnnotation.objects.exclude(state="deleted").values_list(
            "external_id", "state", "reason", "edit", "user__external_id"
        )
        return found, sorted(rows)


def seen_of(looks):
    """Return every version of every annotation that these reads show, by its number."""
    found = {}
    for made, (slot, task) in looks:
        for one in made.values():
            if (one.slot, one.task) == (slot, task):
                found.setdefault(one.number, set()).add(one)
    return found


def counting(one, seen):
    """Return the version of an annotation that counts by the rules; None if no version by its author was seen."""
    maker = min(seen, key=lambda version: version.changed).user

    def own(version):
        return version.user == maker and version.by in (0, maker)

    if own(one):
        return one
    return max(filter(own, seen), key=lambda version: version.changed, default=None)


def oracle(world, made, looks=()):
    """Return the holders of the places of each task, by the rules one by one."""
    quotas = load_quotas(world.campaign)
    profiles = profiles_of([one.pk for one in world.people])
    seen = seen_of(looks)
    expected = {}
    for place, task in enumerate(world.tasks):
        rules = quotas.of_group(task.image.group_id) if quotas else None

        def may(holders, rules=rules):
            members = [rules.member(profiles[one]) for one in holders] if rules else []
            return len(holders) <= WANTED and (rules is None or rules.completable(members, WANTED))

        holders = [world.people[3].pk] if world.own and place == 0 else []
        outcome = {one: ("accepted", slot) for slot, one in enumerate(holders)}
        for there in sorted(made.values(), key=lambda one: (one.minute, one.number)):
            one = counting(there, {*seen.get(there.number, ()), there})
            if there.task != place or one is None or one.cancelled or one.user > PEOPLE or one.content == 3:
                continue
            annotator = world.people[one.user - 1].pk
            if annotator in outcome:
                continue
            if may([*holders, annotator]):
                outcome[annotator] = ("accepted", len(holders))
                holders.append(annotator)
            else:
                outcome[annotator] = ("surplus", None)
        expected[task.pk] = outcome
    return expected


def outcome_of(state):
    return {
        task: {annotator: (said[0], said[2]) for annotator, said in labels.items()}
        for task, (_, _, labels) in state[0].items()
    }


@pytest.mark.parametrize("quotas", [(), ("at_least 1 gender = woman",)])
@pytest.mark.parametrize("own", [False, True])
def test_the_outcome_does_not_depend_on_the_order_of_reads(study, lead, quotas, own):
    world = World(study, lead, quotas, own)

    @settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(histories(), st.randoms(use_true_random=False))
    def check(history, random):
        final = history[-1][0]
        with transaction.atomic():
            world.compare(final)
            found = outcome_of(world.state())
            for task, outcome in oracle(world, final).items():
                assert found[task] == outcome
            transaction.set_rollback(True)
        looks = [(made, look) for made, looks in history for look in looks]
        states = []
        for times in (1, 2):
            with transaction.atomic():
                told = looks * times
                random.shuffle(told)  # the first request may be answered last
                for made, look in told:
                    world.look(made, *look)
                    assert slots_are_counted()
                world.compare(final)
                states.append(world.state())
                found = outcome_of(states[-1])
                for task, outcome in oracle(world, final, looks).items():
                    assert found[task] == outcome
                before = list(Annotation.objects.order_by("pk").values())
                assert settle(bridge=world.bridge, task_ids=[task.pk for task in world.tasks]).written == 0
                assert list(Annotation.objects.order_by("pk").values()) == before
                transaction.set_rollback(True)
        assert states[0] == states[1]

    check()
