"""Consent events in random order over HTTP, compared with a log that is read from its beginning each time.

Two studies with two campaigns each begin with the default text. People agree, withdraw and answer; leads publish
texts and say whether screens are asked again. The log does not depend on how the data is stored.
"""

import uuid
from itertools import count

import pytest
from django.db import transaction
from django.test import Client
from django.urls import reverse
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from accounts import consent_texts, profiles
from accounts.models import Annotator, User
from analysis.results.data.labels import load
from analysis.results.parameters import parameters_of
from annotation.answers.freed_slots import in_vain
from annotation.answers.inclusion import counted, not_counted
from annotation.models import Annotation, Assignment, Campaign, Enrolment, Task
from catalog.models import Attribute
from generation.models import Image
from studies import consent
from studies.models import Study, StudyGroup
from tests.annotation.assignment.test_leases import slots_are_counted

PEOPLE, STUDIES, TASKS = 2, 2, 6
people = st.integers(0, PEOPLE - 1)
studies = st.integers(0, STUDIES - 1)
campaigns = st.integers(0, 1)
texts = count(1)


class Log:
    """The events in order; every method reads them from the beginning."""

    def __init__(self):
        self.events = []

    def add(self, *event):
        self.events.append(event)

    def current_text(self, study):
        """Return the study's newest own text, or else the newest default one, as (series, version)."""
        default = ("default", 1)
        own = None
        for event in self.events:
            if event[0] == "publish" and event[1] == study:
                own = event[2]
            if event[0] == "publish" and event[1] == "default":
                default = event[2]
        return own or default

    def agreed(self, person):
        """Return the texts to which a person agreed without a later withdrawal."""
        found = set()
        for event in self.events:
            if event[:2] == ("agree", person):
                found.add(event[3])
            if event[:2] == ("withdraw", person):
                found -= event[3]
        return found

    def rests_on(self, person, study):
        agreed = self.agreed(person)
        own = {text for text in agreed if text[0] == self.current_text(study)[0]}
        return own or {text for text in agreed if text[0] == "default"}

    def withdrawn(self, person, study):
        now = False
        for event in self.events:
            if event[:2] == ("agree", person) and event[2] == study:
                now = False
            if event[:2] == ("withdraw", person) and study in event[2]:
                now = True
        return now

    def may_work(self, person, study):
        return not self.withdrawn(person, study) and self.current_text(study) in self.agreed(person)

    def answers(self, person, study):
        return sum(event[:3] == ("answer", person, study) for event in self.events)

    def can_withdraw(self, person, study):
        series = {text[0] for text in self.agreed(person)}
        given = self.answers(person, study) > 0 or self.current_text(study)[0] in series
        return given and not self.withdrawn(person, study)

    def withdraw(self, person, study):
        if not self.can_withdraw(person, study):
            return
        shared = self.rests_on(person, study)
        left = {one for one in range(STUDIES) if one == study or shared & self.rests_on(person, one)}
        self.add("withdraw", person, left, shared.union(*(self.rests_on(person, one) for one in left)))


class Consenting(RuleBasedStateMachine):
    """People and leads act by pages and API; the log gives the required result."""

    @initialize(reopen=st.booleans())
    def begin(self, reopen):
        self.rollback = transaction.atomic()
        self.rollback.__enter__()
        self.log = Log()
        self.held = {}  # (person, campaign) → the task they have open
        root = User.objects.create(username="root", is_lead=True)
        self.lead = Client()
        self.lead.force_login(root)
        self.people = [
            Annotator.objects.create(user=User.objects.create(username=f"person-{number}"))
            for number in range(PEOPLE)
        ]
        self.clients = [Client() for _ in self.people]
        for client, annotator in zip(self.clients, self.people, strict=True):
            client.force_login(annotator.user)
            profiles.describe(annotator=annotator)
        attribute, _ = Attribute.objects.get_or_create(text="hat")
        self.studies = [Study.objects.create(name=f"S{n}", slug=f"s{n}", seed=n) for n in range(STUDIES)]
        for study in self.studies:
            study.memberships.create(user=root, role="lead")
        self.campaigns = [
            [self._campaign(study, attribute, number, reopen) for number in range(2)]
            for study in self.studies
        ]

    def _campaign(self, study, attribute, number, reopen):
        campaign = Campaign.objects.create(
            study=study,
            slug=f"c{number}",
            name=f"C{number}",
            kind="stereotype_marking",
            seed=next(texts),
            state="open",
            opened_at="2030-01-01T00:00Z",
            options={"reopen_withdrawn": reopen},
        )
        campaign.instruments.create(version=1)
        group, _ = StudyGroup.objects.get_or_create(study=study, name="Velmari", display_name="Velmari")
        for index in range(TASKS):
            sha256 = f"{study.pk}-{number}-{index}".encode().hex().ljust(64, "0")
            image = Image.objects.create(
                study=study, group=group, sha256=sha256, file=f"images/{sha256}.png", width=9, height=9
            )
            # As many places as people: a freed place is never taken by the other person.
            task = Task.objects.create(campaign=campaign, image=image, wanted=PEOPLE, screen=index)
            task.task_attributes.create(attribute=attribute, position=0)
        for annotator in self.people:
            Enrolment.objects.create(campaign=campaign, annotator=annotator)
        return campaign

    def teardown(self):
        if hasattr(self, "rollback"):
            for study in range(STUDIES):
                loaded = load(study=self.studies[study], parameters=parameters_of(self.studies[study]))
                assert len(loaded.judgements) == sum(
                    self._counting(study, person) for person in range(PEOPLE)
                )
            transaction.set_rollback(True)
            self.rollback.__exit__(None, None, None)

    def _counting(self, study, person):
        return 0 if self.log.withdrawn(person, study) else self.log.answers(person, study)

    def _page(self, name, study, campaign=0):
        return reverse(f"annotate:{name}", args=[self.campaigns[study][campaign].pk])

    @rule(person=people, study=studies)
    def agree(self, person, study):
        client, address = self.clients[person], self._page("consent", study)
        shown = client.get(address)
        assert (shown.context["withdrawn"] is not None) == self.log.withdrawn(person, study)
        assert shown.context["agreed"] == self.log.may_work(person, study)
        client.post(address, {"text": shown.context["text"].pk})
        self.log.add("agree", person, study, self.log.current_text(study))

    @rule(person=people, study=studies)
    def withdraw(self, person, study):
        client, address = self.clients[person], self._page("withdraw", study)
        assert client.get(address).context["possible"] == self.log.can_withdraw(person, study)
        client.post(address)
        self.log.withdraw(person, study)
        # Their open tasks are freed where they withdrew.
        for owner, place in list(self.held):
            if owner == person and self.log.withdrawn(person, place[0]):
                self.gone = self.held.pop((owner, place))

    @rule(study=st.sampled_from([0, 0, 1, "default"]))
    def publish(self, study):
        body = {"body": f"Text {next(texts)}", "content_notice": "Careful.", "support": ""}
        if study == "default":
            published = consent_texts.publish(series="default", **body)
        else:
            slug = self.studies[study].slug
            assert self.lead.post(reverse("studies:consent", args=[slug]), body).status_code == 302
            published = Study.objects.get(slug=slug).consent_text
        self.log.add("publish", study, (published.series, published.version))

    @rule(study=studies, campaign=campaigns, reopen=st.booleans())
    def say_whether_screens_are_asked_again(self, study, campaign, reopen):
        Campaign.objects.filter(pk=self.campaigns[study][campaign].pk).update(
            options={"reopen_withdrawn": reopen}
        )

    @rule(study=studies, campaign=campaigns)
    def ask_again_what_is_held_in_vain(self, study, campaign):
        one = self.campaigns[study][campaign]
        address = reverse("annotation:screens_reopen", args=[one.study.slug, one.slug])
        if in_vain(one):
            assert self.lead.post(address).status_code == 302
            assert not in_vain(one)

    @rule(person=people, study=studies, campaign=campaigns)
    def ask_for_a_task(self, person, study, campaign):
        answer = self.clients[person].post(
            f"/api/v1/campaigns/{self.campaigns[study][campaign].pk}/next",
            {},
            content_type="application/json",
        )
        if not self.log.may_work(person, study):
            assert (answer.status_code, answer.json()["error"]["code"]) == (403, "consent_missing")
        elif answer.status_code == 200:
            self.held[person, (study, campaign)] = answer.json()["assignment"]
        else:
            assert answer.status_code == 204

    @precondition(lambda self: self.held)
    @rule(number=st.integers(0, 7), quick=st.booleans())
    def answer_a_task(self, number, quick):
        key = sorted(self.held)[number % len(self.held)]
        person, (study, campaign) = key
        if quick:
            answer = self._submit(person, self.held[key])
            allowed, refused = answer.status_code == 200, answer.status_code == 403
        else:
            self.clients[person].post(
                reverse("annotate:answer", args=[self.campaigns[study][campaign].pk, self.held[key]]),
                {"submission_id": str(uuid.uuid4()), "none_of_the_above": "on"},
            )
            kept = Annotation.objects.filter(assignment__public_id=self.held[key]).exists()
            allowed, refused = kept, not kept
        assert allowed == self.log.may_work(person, study)
        assert refused == (not allowed)
        if allowed:
            self.log.add("answer", person, study)
            del self.held[key]
            following = Assignment.objects.filter(
                annotator=self.people[person],
                state="leased",
                task__campaign=self.campaigns[study][campaign],
            ).first()
            if following is not None:
                self.held[key] = str(following.public_id)

    def _submit(self, person, assignment):
        return self.clients[person].post(
            f"/api/v1/assignments/{assignment}/submit",
            {
                "submission_id": str(uuid.uuid4()),
                "answer": {"ticked": [], "boxes": [], "none_of_the_above": True},
            },
            content_type="application/json",
        )

    @precondition(lambda self: getattr(self, "gone", None))
    @rule(person=people)
    def send_an_answer_to_a_task_that_was_freed(self, person):
        """A task open in a browser at the withdrawal is refused until the person agrees again."""
        assignment = Assignment.objects.select_related("task__campaign").filter(public_id=self.gone).first()
        if assignment is None or assignment.state != "expired":
            return
        study = [one.pk for one in self.studies].index(assignment.task.campaign.study_id)
        owner = [one.pk for one in self.people].index(assignment.annotator_id)
        before = Annotation.objects.count()
        answer = self._submit(person, self.gone)
        if person != owner:
            assert answer.status_code == 404
        elif not self.log.may_work(person, study):
            assert answer.json()["error"]["code"] == "consent_missing"
        else:
            assert answer.status_code == 200
            self.log.add("answer", person, study)
            self.gone = None
            for campaign in range(2):  # the request leases the next task, too
                self._find_open(person, study, campaign)
            return
        assert Annotation.objects.count() == before

    def _find_open(self, person, study, campaign):
        found = Assignment.objects.filter(
            annotator=self.people[person], state="leased", task__campaign=self.campaigns[study][campaign]
        ).first()
        if found is not None:
            self.held[person, (study, campaign)] = str(found.public_id)

    @invariant()
    def labels_count_unless_their_person_withdrew(self):
        for study in range(STUDIES):
            for person, annotator in enumerate(self.people):
                labels = sum(
                    counted(one).filter(annotator=annotator).count() for one in self.campaigns[study]
                )
                assert labels == self._counting(study, person)
                consented = consent.has_consented(annotator, self.fresh(study))
                assert consented == self.log.may_work(person, study)
                assert consent.consenting(self.fresh(study)).contains(annotator) == consented
            withdrawn = sum(not_counted(one)["withdrawn"] for one in self.campaigns[study])
            assert withdrawn == sum(
                self.log.answers(person, study)
                for person in range(PEOPLE)
                if self.log.withdrawn(person, study)
            )

    def fresh(self, study):
        return Study.objects.select_related("consent_text").get(pk=self.studies[study].pk)

    @invariant()
    def no_place_is_lost(self):
        assert slots_are_counted()


@pytest.mark.django_db
def test_withdrawal_holds_in_every_order_of_consent_events():
    run_state_machine_as_test(Consenting, settings=settings(max_examples=8, stateful_step_count=20))
