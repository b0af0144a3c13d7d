"""Random sequences of whatever people and leads do, with quotas, checks and caps, against a plain model of sets."""

from datetime import UTC, datetime, timedelta
from itertools import count

import pytest
from django.db import transaction
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from accounts import profiles
from annotation.answers import submission
from annotation.answers.inclusion import counted, not_counted
from annotation.assignment import checks, leases, quota_rules
from annotation.assignment.slots import profiles_of
from annotation.campaigns import lifecycle
from annotation.models import Annotation, Assignment, Campaign, Enrolment, KnownAnswer, Task
from annotation.people import enrolments
from catalog.models import Attribute
from foundation.errors import Conflict, Forbidden
from studies.models import Study
from tests.annotation.assignment.test_leases import slots_are_counted
from tests.annotation.factories import new_annotator, none_of_them, submit

SAID = (
    {"gender": "man", "region_of_origin": "Polynesia"},
    {"gender": "man", "region_of_origin": "Eastern Asia"},
    {"gender": "woman", "region_of_origin": "Polynesia"},
    {},
)
PEOPLE, TASKS, GOLDS, WANTED = len(SAID), 3, 2, 2
LEASE = timedelta(minutes=30)
people = st.integers(0, PEOPLE - 1)
numbers = st.integers(0, 2 * PEOPLE * TASKS - 1)
quotas = st.sampled_from(
    [
        (),
        (),
        ("at_least 1 gender != man",),
        ("distinct region_of_origin", "at_most 1 gender = man"),
        ("at_most 0 gender = woman",),
    ]
)
# Of a campaign that is gone a process may keep the rules; its number may be given again, its seed not.
seeds = count(1)


def pick(given, number):
    """Return one of `given`, or None. What Hypothesis draws must not depend on which task the engine chose."""
    return sorted(given)[number % len(given)] if given else None


class Labelling(RuleBasedStateMachine):
    """The model: what was given to whom as what until when, what they did with it, and what became of it.

    A thing given is a triple of person, task and purpose.
    """

    @initialize(
        quotas=quotas,
        gold=st.sampled_from([0.0, 0.3, 0.5]),
        repeat=st.sampled_from([0.0, 0.5]),
        tasks_a_day=st.sampled_from([None, None, 3]),
        sensitive_a_day=st.sampled_from([None, None, 1]),
    )
    def begin(self, quotas, gold, repeat, tasks_a_day, sensitive_a_day):
        self.rollback = transaction.atomic()
        self.rollback.__enter__()
        seed = next(seeds)
        study = Study.objects.create(name="Machine", slug="machine", seed=1)
        self.now = datetime(2030, 1, 1, tzinfo=UTC)
        self.tasks_a_day, self.sensitive_a_day = tasks_a_day, sensitive_a_day
        options = {"gold_share": gold, "repeat_share": repeat, "repeat_after": 1}
        options |= {"tasks_per_day": tasks_a_day, "sensitive_per_day": sensitive_a_day}
        self.campaign = Campaign.objects.create(
            study=study,
            slug="m",
            name="M",
            kind="stereotype_marking",
            seed=seed,
            state="open",
            opened_at=self.now,
            lease_minutes=LEASE.seconds // 60,
            options=options,
        )
        rules = quota_rules.parse(quotas, annotators_per_task=WANTED, kind="stereotype_marking")
        quota_rules.store(self.campaign, rules)
        self.quotas = quota_rules.quotas_of(self.campaign)
        self._make_tasks()
        self.people = [new_annotator(self.campaign) for _ in range(PEOPLE)]
        for annotator, said in zip(self.people, SAID, strict=True):
            profiles.describe(annotator=annotator, **said)
        self.profiles = profiles_of([one.pk for one in self.people])
        self.parts = ["active"] * PEOPLE
        self.state = "open"
        self.leases = {}  # thing given -> end of the lease; kept until the lease is released
        self.accepted, self.surplus, self.excluded, self.skipped = set(), set(), set(), set()
        self.checked = set()  # answered gold tasks and repeats
        self.answers = []  # labels in the order they came
        self.known = {}  # thing given -> assignment
        self.given_at = {}

    def _make_tasks(self):
        attribute = Attribute.objects.create(text="hat")
        mix = self.quotas.first_mix(None, WANTED) if self.quotas else ""
        for number in range(TASKS):
            Task.objects.create(
                campaign=self.campaign, wanted=WANTED, quota_mix=mix, sensitive=number == 0, screen=number
            )
        for _ in range(GOLDS):
            gold = Task.objects.create(campaign=self.campaign, wanted=0, purpose="gold")
            KnownAnswer.objects.create(task=gold, attribute=attribute, present=False)
        for task in self.campaign.tasks.all():
            task.task_attributes.create(attribute=attribute, position=0)
        keys = dict(self.campaign.tasks.values_list("pk", "purpose"))
        self.tasks = sorted(pk for pk, purpose in keys.items() if purpose == "label")
        self.golds = sorted(pk for pk, purpose in keys.items() if purpose == "gold")
        self.sensitive = {self.tasks[0]}

    def teardown(self):
        if hasattr(self, "rollback"):
            transaction.set_rollback(True)
            self.rollback.__exit__(None, None, None)

    # What the model knows.

    def holders(self, task):
        given = {*self.leases, *self.accepted}
        return [person for person, one, purpose in given if (one, purpose) == (task, "label")]

    def completable(self, people):
        if self.quotas is None:
            return True
        rules = self.quotas.of_group(None)
        return rules.completable([rules.member(self.profiles[self.people[one].pk]) for one in people], WANTED)

    def has_place(self, task, person):
        holders = self.holders(task)
        return len(holders) < WANTED and self.completable([*holders, person])

    def answered(self, thing):
        return thing in self.accepted | self.surplus | self.excluded | self.checked

    def had(self, thing):
        return self.answered(thing) or thing in self.skipped or thing in self.leases

    def today(self, person):
        midnight = self.now.replace(hour=0, minute=0)
        mine = [one for one, at in self.given_at.items() if one[0] == person and at >= midnight]
        given = sum(self.answered(one) or one in self.leases for one in mine)
        seen = sum(one[1] in self.sensitive for one in mine)
        return (
            self.tasks_a_day is not None and given >= self.tasks_a_day,
            self.sensitive_a_day is not None and seen >= self.sensitive_a_day,
        )

    def open_for(self, person, *, calm):
        return {
            task
            for task in self.tasks
            if self.has_place(task, person)
            and not self.had((person, task, "label"))
            and not (calm and task in self.sensitive)
        }

    def fits(self, person, task, purpose, *, calm):
        if self.had((person, task, purpose)) or (calm and task in self.sensitive):
            return False
        if purpose == "gold":
            return task in self.golds and bool(self.campaign.options["gold_share"])
        first = (person, task, "label")
        return (
            bool(self.campaign.options["repeat_share"])
            and first in self.accepted | self.surplus | self.excluded
        )

    def forget_overdue(self):
        self.leases = {thing: end for thing, end in self.leases.items() if end > self.now}

    def refused(self, error, verb, **given):
        with pytest.raises(error), transaction.atomic():
            verb(**given)

    # What people do.

    @rule(minutes=st.sampled_from([1, 10, 29, 30, 31, 90, 1000]))
    def wait(self, minutes):
        self.now += timedelta(minutes=minutes)

    @rule(person=people)
    def ask(self, person):
        ask = {"campaign": self.campaign, "annotator": self.people[person], "now": self.now}
        self.forget_overdue()
        if self.state != "open" or self.parts[person] != "active":
            error = Forbidden if self.parts[person] != "active" else Conflict
            self.refused(error, leases.next_assignment, **ask)
            # On a server the release of overdue leases commits by itself; here the refusal undid it too.
            leases.expire(campaign=self.campaign, now=self.now)
            return
        mine = [thing for thing in self.leases if thing[0] == person]
        enough, calm = self.today(person)
        expected = self.open_for(person, calm=calm)
        leased = leases.next_assignment(**ask)
        if leased is None:
            assert not mine
            assert enough or not expected
            return
        thing = (person, leased.task_id, str(leased.purpose))
        if mine:
            assert [thing] == mine
        else:
            assert not enough
            assert expected, "nothing is given, not even a check, when no ordinary task is left"
            if leased.purpose != "label":
                assert self.fits(*thing, calm=calm)
            else:
                assert leased.task_id in expected
                fewest = min(len(self.holders(task)) for task in expected)
                assert self.quotas is not None or len(self.holders(leased.task_id)) == fewest
            self.given_at[thing] = self.now
        self.leases[thing] = self.now + LEASE
        self.known[thing] = leased

    @rule(number=numbers)
    def submit(self, number):
        thing = pick(self.known, number)
        if thing is None:
            return
        person, task, purpose = thing
        if self.parts[person] != "active":
            self.refused(Forbidden, submit, assignment=self.known[thing], now=self.now)
            return
        answered = self.answered(thing)
        kept = submit(self.known[thing], now=self.now)
        if answered:
            assert (kept.revision, Annotation.objects.filter(assignment=self.known[thing]).count()) == (1, 1)
            return
        alive = thing in self.leases and (self.leases[thing] > self.now or self.state != "closed")
        self.leases.pop(thing, None)
        self.skipped.discard(thing)
        if purpose != "label":
            self.checked.add(thing)
            assert kept.status == purpose
            return
        free = self.state != "closed" and self.has_place(task, person)
        (self.accepted if alive or free else self.surplus).add(thing)
        self.answers.append(thing)
        assert kept.status == ("accepted" if thing in self.accepted else "surplus")

    @rule(number=numbers)
    def skip(self, number):
        thing = pick(self.known, number)
        if thing is None:
            return
        given = {"assignment": self.known[thing], "annotator": self.people[thing[0]], "now": self.now}
        if self.answered(thing):
            self.refused(Conflict, leases.skip, **given)
            return
        leases.skip(**given)
        self.leases.pop(thing, None)
        self.skipped.add(thing)

    @rule(number=numbers)
    def send_again(self, number):
        thing = pick(self.accepted | self.checked, number)
        if thing is None or self.parts[thing[0]] != "active":
            return
        before = Annotation.objects.get(assignment=self.known[thing])
        again = submission.submit(
            assignment=self.known[thing],
            annotator=self.people[thing[0]],
            submission_id=before.submission_id,
            answer=none_of_them(self.known[thing]),
            now=self.now,
        )
        assert again == before

    @rule(person=people)
    def take_a_break(self, person):
        leases.release(annotator=self.people[person], campaign=self.campaign, now=self.now)
        self.leases = {thing: end for thing, end in self.leases.items() if thing[0] != person}

    # What a lead does.

    @rule(verb=st.sampled_from(["pause", "resume", "close", "reopen"]))
    def change_state(self, verb):
        moves = {
            ("open", "pause"): "paused",
            ("paused", "resume"): "open",
            ("open", "close"): "closed",
            ("paused", "close"): "closed",
            ("closed", "reopen"): "open",
        }
        after = moves.get((self.state, verb))
        if after is None:
            self.refused(Conflict, getattr(lifecycle, verb), campaign=self.campaign, by=None)
            return
        getattr(lifecycle, verb)(campaign=self.campaign, by=None)
        self.state = after

    @rule(person=people, verb=st.sampled_from(["pause", "resume", "exclude"]))
    def change_part(self, person, verb):
        moves = {
            ("active", "pause"): "paused",
            ("active", "exclude"): "excluded",
            ("paused", "exclude"): "excluded",
            ("paused", "resume"): "active",
            ("excluded", "resume"): "active",
        }
        given = {
            "enrolment": Enrolment.objects.get(annotator=self.people[person]),
            "by": None,
            "reason": "so",
        }
        after = moves.get((self.parts[person], verb))
        if after is None:
            self.refused(Conflict, getattr(enrolments, verb), **given)
            return
        if verb == "exclude":
            enrolments.exclude(**given, ask_again=True)
        else:
            getattr(enrolments, verb)(**given)
        self.parts[person] = after
        if verb != "resume":
            self.leases = {thing: end for thing, end in self.leases.items() if thing[0] != person}
        if verb == "exclude":
            self.excluded |= {thing for thing in self.accepted if thing[0] == person}
            self.accepted -= self.excluded
        if verb == "resume":
            for thing in [one for one in self.answers if one in self.excluded and one[0] == person]:
                (self.accepted if self.has_place(thing[1], person) else self.surplus).add(thing)
                self.excluded.discard(thing)

    # What always holds.

    @invariant()
    def the_database_agrees(self):
        if not hasattr(self, "known"):
            return
        number = {annotator.pk: index for index, annotator in enumerate(self.people)}
        by_state = {}
        for owner, task, purpose, state in Assignment.objects.values_list(
            "annotator", "task", "purpose", "state"
        ):
            by_state.setdefault(state, set()).add((number[owner], task, purpose))
        assert by_state.get("submitted", set()) == self.accepted | self.checked
        assert by_state.get("surplus", set()) == self.surplus | self.excluded
        assert by_state.get("skipped", set()) == self.skipped
        assert by_state.get("leased", set()) == set(self.leases)

    @invariant()
    def no_task_has_too_many_and_quotas_can_still_be_met(self):
        if not hasattr(self, "known"):
            return
        assert slots_are_counted()
        for task in self.tasks:
            holders = self.holders(task)
            assert len(holders) <= WANTED
            assert self.completable(holders) or not holders

    @invariant()
    def checks_never_count(self):
        if not hasattr(self, "known"):
            return
        labels = {thing for thing in self.accepted if self.parts[thing[0]] != "excluded"}
        assert counted(self.campaign).count() == len(labels)
        reasons = not_counted(self.campaign)
        assert reasons["gold"] + reasons["repeat"] == len(self.checked)
        assert len(list(checks.gold_answers(self.campaign))) == reasons["gold"]
        assert len(list(checks.repeat_pairs(self.campaign))) == reasons["repeat"]


@pytest.mark.django_db
def test_any_sequence_keeps_the_promises():
    run_state_machine_as_test(
        Labelling, settings=settings(max_examples=25, stateful_step_count=40, deadline=None)
    )
