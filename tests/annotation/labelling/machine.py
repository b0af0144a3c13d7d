"""Actions of people and leads in a small campaign, on the path of real answers, compared with a plain model.

By the verbs that the API's handlers call, or over HTTP.
"""

import uuid
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.db import transaction
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from accounts import consent_texts
from annotation.answers.inclusion import counted, not_counted
from annotation.assignment import leases
from annotation.campaigns import lifecycle
from annotation.models import Annotation, Assignment, Enrolment
from annotation.people import enrolments, withdrawal
from foundation.errors import DomainError
from studies import consent
from tests.annotation.assignment.test_leases import slots_are_counted
from tests.annotation.labelling.asking import ABOUT_A_TEXT, ABOUT_ATTRIBUTES
from tests.annotation.labelling.model import EDITING, LEASE, WANTED, LabellingModel, Revision, Thing
from tests.annotation.labelling.production_paths import ByVerbs, OverHttp
from tests.annotation.labelling.small_campaign import SAID, TASKS, small_campaign

PEOPLE = len(SAID)
people = st.integers(0, PEOPLE - 1)
numbers = st.integers(0, 2 * PEOPLE * TASKS - 1)
QUOTAS = (
    (),
    ("at_least 1 gender != man",),
    ("distinct region_of_origin", "at_most 1 gender = man"),
    ("at_most 0 gender = woman",),
)


def pick(given, number):
    """Return one of `given`, or None. What Hypothesis draws must not depend on which task the engine chose."""
    return sorted(given)[number % len(given)] if given else None


class Labelling(RuleBasedStateMachine):
    """People ask, answer, correct and withdraw; a lead pauses, excludes and closes."""

    path = ByVerbs
    asks = ABOUT_ATTRIBUTES

    @initialize(
        quotas=st.sampled_from(QUOTAS),
        gold=st.sampled_from([0.0, 0.3, 0.5]),
        repeat=st.sampled_from([0.0, 0.5]),
        tasks_a_day=st.sampled_from([None, None, 3]),
        sensitive_a_day=st.sampled_from([None, None, 1]),
    )
    def begin(self, quotas, gold, repeat, tasks_a_day, sensitive_a_day):
        self.rollback = transaction.atomic()
        self.rollback.__enter__()
        self.labelling = self.path()
        now = datetime(2030, 1, 1, tzinfo=UTC)
        options = {"gold_share": gold, "repeat_share": repeat, "repeat_after": 1}
        options |= {"tasks_per_day": tasks_a_day, "sensitive_per_day": sensitive_a_day}
        small = small_campaign(quota_lines=quotas, options=options, opened_at=now, kind=self.asks.kind)
        self.campaign, self.people = small.campaign, small.people
        self.number = {annotator.pk: index for index, annotator in enumerate(self.people)}
        self.model = LabellingModel(
            quotas=small.quotas,
            profiles=small.profiles,
            tasks=small.tasks,
            golds=small.golds,
            sensitive=frozenset(small.tasks[:1]),
            gold_share=gold,
            repeat_share=repeat,
            tasks_a_day=tasks_a_day,
            sensitive_a_day=sensitive_a_day,
            now=now,
        )
        self.leased = {}  # thing given -> assignment
        self.texts = 1

    def teardown(self):
        if hasattr(self, "rollback"):
            transaction.set_rollback(True)
            self.rollback.__exit__(None, None, None)

    def do(self, verb, **given):
        """Do something at the time of the model."""
        with time_machine.travel(self.model.now, tick=False):
            return verb(**given)

    def refused(self, code, verb, **given):
        with pytest.raises(DomainError) as refusal:
            self.do(verb, **given)
        assert refusal.value.code == code

    # Actions of people.

    @rule(minutes=st.sampled_from([1, 10, 29, 30, 31, 90, 1000]))
    def wait(self, minutes):
        self.model.now += timedelta(minutes=minutes)

    @rule(person=people)
    def ask(self, person):
        model = self.model
        asked = {"campaign": self.campaign, "annotator": self.people[person]}
        model.forget_overdue()  # for any response to the request
        if refusal := model.refusal(person) or ("campaign_not_open" if model.state != "open" else ""):
            self.refused(refusal, self.labelling.next_task, **asked)
        else:
            self.given(person, self.do(self.labelling.next_task, **asked))

    @rule(person=people, tasks=st.integers(1, 4), ticked=st.booleans())
    def work(self, person, tasks, ticked):
        """Answer some tasks, one after the other."""
        if not self.model.held_by(person):
            self.ask(person)
        for _ in range(tasks):
            thing = pick(self.model.held_by(person), 0)
            if thing is not None:
                self.answer(thing, ticked)

    def given(self, person, leased):
        """Check that somebody who asks in an open campaign gets a permitted task."""
        model = self.model
        own = model.held_by(person)
        enough, calm = model.caps(person)
        expected = model.open_for(person, calm=calm)
        if leased is None:
            assert not own
            assert enough or not expected
            return
        thing = Thing(person, leased.task_id, str(leased.purpose))
        stored = Assignment.objects.get(pk=leased.pk)
        assert (stored.annotator_id, stored.expires_at) == (self.people[person].pk, model.now + LEASE)
        if own:
            assert [thing] == own
        else:
            assert not enough
            assert expected, "nothing is given, not even a check, when no ordinary task is left"
            if leased.purpose != "label":
                assert model.fits(thing, calm=calm)
            else:
                assert leased.task_id in expected
                fewest = min(len(model.holders(task)) for task in expected)
                assert model.quotas is not None or len(model.holders(leased.task_id)) == fewest
        model.give(thing)
        self.leased[thing] = leased

    @rule(number=numbers, ticked=st.booleans())
    def submit(self, number, ticked):
        unanswered = [thing for thing in self.leased if not self.model.answered(thing)]
        thing = pick(unanswered if number % 3 else self.leased, number // 3)
        if thing is not None:
            self.answer(thing, ticked)

    def answer(self, thing, ticked):
        """Send a first answer, or another one to an answered task."""
        model = self.model
        revision = Revision(uuid.uuid4(), ticked)
        earlier = model.revisions.get(thing)
        if earlier and model.now >= model.answered_at[thing] + EDITING:
            self.submission_refused("edit_window_over", thing, revision)
        elif refusal := model.refusal(thing.person):
            self.submission_refused(refusal, thing, revision)
        elif earlier and earlier[-1].ticked == ticked:
            self.submitted(thing, revision, kept=earlier[-1])
        elif earlier and model.state == "closed":
            self.submission_refused("campaign_closed", thing, revision)
        elif earlier:
            earlier.append(revision)
            self.submitted(thing, revision, kept=revision)
        else:
            status = model.end(thing)
            model.revisions[thing] = [revision]
            kept = self.submitted(thing, revision, kept=revision)
            assert kept.status == status

    @rule(number=numbers, which=numbers)
    def send_again(self, number, which):
        """Send a stored answer once more."""
        thing = pick(self.model.revisions, number)
        if thing is not None:
            earlier = self.model.revisions[thing]
            revision = earlier[which % len(earlier)]
            self.submitted(thing, revision, kept=revision)

    @rule(number=numbers, other=numbers)
    def use_a_submission_id_twice(self, number, other):
        model, thing, taken = self.model, pick(self.leased, number), pick(self.model.revisions, other)
        if thing is None or taken is None or thing == taken:
            return
        late = model.answered(thing) and model.now >= model.answered_at[thing] + EDITING
        same = thing.person == taken.person
        code = "edit_window_over" if late else (not same and model.refusal(thing.person))
        self.submission_refused(code or "submission_id_taken", thing, model.revisions[taken][0])

    @rule(number=numbers, person=people)
    def answer_for_another(self, number, person):
        thing = pick(self.leased, number)
        if thing is None or thing.person == person:
            return
        meddler = self.people[person]
        self.submission_refused("assignment_not_found", thing, Revision(uuid.uuid4(), True), by=meddler)
        self.refused("assignment_not_found", self.labelling.skip, leased=self.leased[thing], by=meddler)

    def _sent(self, thing, revision, by=None):
        leased = self.leased[thing]
        return {
            "leased": leased,
            "by": by or self.people[thing.person],
            "submission_id": revision.submission_id,
            "answer": self.asks.answer(leased, revision.ticked),
        }

    def submission_refused(self, code, thing, revision, by=None):
        before = Annotation.objects.count()
        self.refused(code, self.labelling.submit, **self._sent(thing, revision, by))
        assert Annotation.objects.count() == before

    def submitted(self, thing, revision, *, kept):
        """Send an answer that is or was stored, check the response and the next task, and return the stored answer."""
        model = self.model
        answered = self.do(self.labelling.submit, **self._sent(thing, revision))
        annotation = answered.annotation
        revisions = model.revisions[thing]
        assert annotation.submission_id == kept.submission_id
        assert annotation.revision == revisions.index(kept) + 1
        assert annotation.assignment_id == self.leased[thing].pk
        assert self.asks.stored(annotation) is kept.ticked
        assert annotation.is_latest is (kept == revisions[-1])
        assert Annotation.objects.filter(assignment=self.leased[thing]).count() == len(revisions)
        if annotation.is_latest:
            assert annotation.status == model.status(thing)
        if thing.purpose == "label":
            assert answered.shown_status == annotation.status
        model.forget_overdue()
        if refusal := model.refusal(thing.person) or ("campaign_not_open" if model.state != "open" else ""):
            assert (answered.following, answered.why) == (None, refusal)
            return annotation
        if answered.following is None:
            more = "enough_for_today" if model.capped(thing.person) else "nothing_left"
            assert answered.why == more
        self.given(thing.person, answered.following)
        return annotation

    @rule(number=numbers)
    def skip(self, number):
        model, thing = self.model, pick(self.leased, number)
        if thing is None:
            return
        given = {"leased": self.leased[thing], "by": self.people[thing.person]}
        if model.answered(thing):
            self.refused("already_submitted", self.labelling.skip, **given)
            return
        self.do(self.labelling.skip, **given)
        model.leases.pop(thing, None)
        model.skipped.add(thing)

    @rule(person=people)
    def take_a_break(self, person):
        self.do(leases.release, annotator=self.people[person], campaign=self.campaign)
        self.model.release(person)

    def few_are_kept_from_work(self):
        """Return whether fewer than two people are barred from labelling."""
        return sum(bool(self.model.refusal(person)) for person in range(PEOPLE)) < 2

    @rule(person=people)
    def withdraw(self, person):
        model = self.model
        if not self.few_are_kept_from_work():
            return
        changed = self.do(withdrawal.withdraw, annotator=self.people[person], study=self.campaign.study)
        assert changed == (person not in model.withdrawn)
        if changed:
            model.agreed.discard(person)
            model.withdrawn.add(person)
            model.release(person)
            model.put_aside(person)

    @rule(person=people)
    def agree(self, person):
        study = self.campaign.study
        text = consent.current_text(study)
        self.do(withdrawal.agree, annotator=self.people[person], text=text, study=study)
        self.model.agreed.add(person)
        self.model.withdrawn.discard(person)
        self.model.take_back(person)

    # Actions of a lead.

    @rule()
    def publish_another_consent_text(self):
        """Ask everybody to agree again, once."""
        if self.texts > 1 or not self.few_are_kept_from_work():
            return
        consent_texts.publish(series="default", body="Another text.", content_notice="A notice.")
        self.texts += 1
        self.model.agreed.clear()

    @rule(verb=st.sampled_from(["pause", "resume", "close", "reopen", "resume", "reopen"]))
    def change_state(self, verb):
        moves = {
            ("open", "pause"): "paused",
            ("paused", "resume"): "open",
            ("open", "close"): "closed",
            ("paused", "close"): "closed",
            ("closed", "reopen"): "open",
        }
        after = moves.get((self.model.state, verb))
        if after is None:
            self.refused("wrong_state", getattr(lifecycle, verb), campaign=self.campaign, by=None)
            return
        self.do(getattr(lifecycle, verb), campaign=self.campaign, by=None)
        self.model.state = after

    @rule(person=people, verb=st.sampled_from(["pause", "resume", "exclude"]))
    def change_part(self, person, verb):
        model = self.model
        moves = {
            ("active", "pause"): "paused",
            ("active", "exclude"): "excluded",
            ("paused", "exclude"): "excluded",
            ("paused", "resume"): "active",
            ("excluded", "resume"): "active",
        }
        enrolment = Enrolment.objects.get(annotator=self.people[person])
        given = {"enrolment": enrolment, "by": None, "reason": "so"}
        if verb != "resume" and not self.few_are_kept_from_work():
            return
        after = moves.get((model.parts[person], verb))
        if after is None:
            self.refused("wrong_state", getattr(enrolments, verb), **given)
            return
        if verb == "exclude":
            given["ask_again"] = True
        self.do(getattr(enrolments, verb), **given)
        model.parts[person] = after
        if verb == "resume":
            model.take_back(person)
            return
        model.release(person)
        if verb == "exclude":
            model.put_aside(person)

    # Invariants.

    @precondition(lambda self: hasattr(self, "leased"))
    @invariant()
    def the_database_agrees(self):
        model = self.model
        by_state = {}
        for owner, task, purpose, state in Assignment.objects.values_list(
            "annotator", "task", "purpose", "state"
        ):
            by_state.setdefault(state, set()).add((self.number[owner], task, purpose))
        assert by_state.get("submitted", set()) == model.accepted | model.checked
        assert by_state.get("surplus", set()) == model.surplus | model.excluded
        assert by_state.get("skipped", set()) == model.skipped
        assert by_state.get("leased", set()) == set(model.leases)

    @precondition(lambda self: hasattr(self, "leased"))
    @invariant()
    def no_task_has_too_many_and_quotas_can_still_be_met(self):
        assert slots_are_counted()
        for task in self.model.tasks:
            holders = self.model.holders(task)
            assert len(holders) <= WANTED
            assert self.model.completable(holders) or not holders

    @precondition(lambda self: hasattr(self, "leased"))
    @invariant()
    def checks_never_count(self):
        model = self.model
        assert counted(self.campaign).count() == len(model.accepted)
        reasons = not_counted(self.campaign)
        checked = sum(len(model.revisions[thing]) for thing in model.checked)
        assert reasons["gold"] + reasons["repeat"] == checked
        golds = {thing for thing in model.checked if thing.purpose == "gold"}
        checks = self.asks.checks(self.campaign)
        assert checks == (len(golds), len(model.checked - golds))


class LabellingOverHttp(Labelling):
    """The same by requests."""

    path = OverHttp


class LabellingQuestions(Labelling):
    """The same where the kind declares questions."""

    asks = ABOUT_A_TEXT


class LabellingQuestionsOverHttp(LabellingOverHttp):
    """The same by requests."""

    asks = ABOUT_A_TEXT
