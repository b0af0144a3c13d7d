"""Concurrency: real threads with separate connections, on SQLite in a file and on PostgreSQL."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
import uuid
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest
from django.db import connection, connections, transaction
from django.utils import timezone

from accounts import profiles, tokens
from accounts.models import Annotator
from annotation.assignment import leases, selection, slots, sql
from annotation.assignment.selection import Choice
from annotation.campaigns import lifecycle
from annotation.models import Annotation, Assignment, Campaign, Enrolment, Task
from annotation.people import enrolments, invitations, withdrawal
from foundation.database.statements import rows
from foundation.errors import Conflict, Forbidden
from tests.annotation.assignment.test_gold_and_repeats import add_gold
from tests.annotation.assignment.test_leases import slots_are_counted
from tests.annotation.databases import shared_database
from tests.annotation.factories import add_images, new_annotator
from tests.annotation.labelling.production_paths import NONE_OF_THEM, ByVerbs, ticking_all
from tests.foundation.database.postgres import postgres_url
from tests.foundation.database.waiting import WAITING, Waiting

pytestmark = pytest.mark.django_db(transaction=True)
ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def shared(tmp_path):
    with shared_database(tmp_path):
        yield


@pytest.fixture
def campaign(marking, shared):
    return marking


def at_once(jobs):
    """Run `jobs` in threads that start together; return what each returned or raised."""
    results = [None] * len(jobs)
    start = threading.Barrier(len(jobs))

    def run(index, job):
        try:
            start.wait()
            results[index] = job()
        except Exception as error:  # returned to the test, which decides
            results[index] = error
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=pair) for pair in enumerate(jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def label_all(campaign, annotator, path=None):
    """Let an annotator work until no task is left for them; return the number of screens."""
    path = path or ByVerbs()
    done, leased = 0, path.next_task(campaign, annotator)
    while leased is not None:
        leased = path.submit(leased, by=annotator).following
        done += 1
    return done


def test_no_task_ever_gets_more_annotations_than_wanted(campaign, path):
    people = [new_annotator(campaign) for _ in range(6)]
    done = at_once([lambda person=person: label_all(campaign, person, path) for person in people])
    assert all(isinstance(number, int) for number in done), done
    per_task = {task.pk: task.annotations.filter(status="accepted").count() for task in campaign.tasks.all()}
    assert set(per_task.values()) == {2}
    assert sum(done) == 16
    assert slots_are_counted()


def test_quotas_and_exact_numbers_hold_with_checks_mixed_in(study, lead, tmp_path, path):
    add_images(study, 2)
    draft = lifecycle.create(
        study=study,
        name="Checked",
        kind="stereotype_marking",
        by=lead,
        annotators_per_task=2,
        quotas=["at_most 1 gender = man"],
        options={"gold_share": 0.3, "repeat_share": 0.2, "repeat_after": 1},
    )
    with shared_database(tmp_path):
        campaign = lifecycle.open_(campaign=draft, by=lead)
        add_gold(campaign, 4)
        people = [new_annotator(campaign) for _ in range(6)]
        for annotator in people[:4]:
            profiles.describe(annotator=annotator, gender="man")
        done = at_once([lambda person=person: label_all(campaign, person, path) for person in people])
        assert all(isinstance(number, int) for number in done), done
        labels = campaign.tasks.filter(purpose="label")
        for task in labels:
            holders = task.assignments.filter(slot__isnull=False)
            assert task.annotations.filter(status="accepted").count() == holders.count() == 2
            assert holders.filter(annotator__in=people[:4]).count() <= 1
        checked = Assignment.objects.exclude(purpose="label")
        assert sum(done) == 2 * labels.count() + checked.count()
        assert not checked.filter(slot__isnull=False).exists()
        assert Annotation.objects.filter(status__in=["gold", "repeat"]).count() == checked.count()
        assert slots_are_counted()


def test_leases_that_run_out_meanwhile_break_nothing(campaign):
    """Clocks differ by hours, so that requests expire the leases of the others."""
    people = [new_annotator(campaign) for _ in range(5)]
    path = ByVerbs()

    def work(index, person):
        for step in range(12):
            now = timezone.now() + timedelta(hours=index + step)
            leased = path.next_task(campaign, person, now=now)
            if leased is not None and step % 3:
                path.submit(leased, by=person, now=now)
        return "done"

    jobs = [lambda pair=pair: work(*pair) for pair in enumerate(people)]
    assert at_once(jobs) == ["done"] * 5
    assert slots_are_counted()
    for task in campaign.tasks.all():
        assert task.annotations.filter(status="accepted", is_latest=True).count() <= 2


def test_one_submission_sent_many_times_at_once_is_one_annotation(campaign, path):
    anna = new_annotator(campaign)
    leased = path.next_task(campaign, anna)
    key = uuid.uuid4()
    results = at_once([lambda: path.submit(leased, by=anna, submission_id=key).annotation.pk] * 6)
    assert results == [Annotation.objects.get().pk] * 6


def test_answers_of_two_tabs_at_once_are_two_revisions_in_one_place(campaign, path):
    anna = new_annotator(campaign)
    leased = path.next_task(campaign, anna)
    answers = [NONE_OF_THEM, ticking_all(leased)]
    results = at_once(
        [
            lambda answer=answer: path.submit(leased, by=anna, answer=answer).annotation.pk
            for answer in answers
        ]
    )
    kept = Annotation.objects.order_by("revision")
    assert set(results) == {annotation.pk for annotation in kept}
    assert [(one.revision, one.is_latest) for one in kept] == [(1, False), (2, True)]
    assert slots_are_counted()


def test_a_withdrawal_during_an_answer_leaves_nothing_open_or_counted(campaign, path):
    people = [new_annotator(campaign) for _ in range(4)]
    jobs = []
    for annotator in people:
        leased = path.submit(path.next_task(campaign, annotator), by=annotator).following
        jobs += [
            lambda leased=leased, annotator=annotator: path.submit(leased, by=annotator),
            lambda annotator=annotator: withdrawal.withdraw(annotator=annotator, study=campaign.study),
        ]
    results = at_once(jobs)
    assert results[1::2] == [True] * 4
    refused = [result for result in results[::2] if isinstance(result, Exception)]
    assert {(type(error), error.code) for error in refused} <= {(Forbidden, "consent_missing")}
    assert not Assignment.objects.filter(slot__isnull=False).exists()
    assert not Assignment.objects.filter(state="leased").exists()
    assert not Annotation.objects.filter(status="accepted").exists()
    assert slots_are_counted()


def test_annotators_with_the_same_tasks_are_excluded_at_once(campaign):
    # They wait for each other only now and then, so several groups are excluded, one after another.
    for _ in range(5):
        assert at_once([excluding(worker) for worker in at_work(campaign, 4)]) == ["excluded"] * 4
        assert not Assignment.objects.filter(slot__isnull=False).exists()
        assert slots_are_counted()


def at_work(campaign, number):
    """Enrol some people who answered three screens each and have the next one open: all places are taken."""
    path, people = ByVerbs(), [new_annotator(campaign) for _ in range(number)]
    for annotator in people * 3:
        path.submit(path.next_task(campaign, annotator), by=annotator)
    return [annotator.enrolments.get() for annotator in people]


def excluding(enrolment):
    return lambda: enrolments.exclude(enrolment=enrolment, by=None, reason="so", ask_again=True).state


def test_two_tabs_get_the_same_task(campaign, path):
    anna = new_annotator(campaign)
    assert set(at_once([lambda: path.next_task(campaign, anna).pk] * 4)) == {Assignment.objects.get().pk}


def test_late_submissions_are_accepted_only_while_places_are_free(campaign, path):
    task = campaign.tasks.earliest("pk")
    Task.objects.exclude(pk=task.pk).update(withdrawn=True)
    ago = timezone.now() - timedelta(hours=1)
    late = [
        Assignment.objects.create(
            task=task, annotator=new_annotator(campaign), state="expired", leased_at=ago, expires_at=ago
        )
        for _ in range(5)
    ]
    results = at_once([lambda one=one: path.submit(one, by=one.annotator).shown_status for one in late])
    assert sorted(results) == ["accepted", "accepted", "surplus", "surplus", "surplus"]
    assert slots_are_counted()


@pytest.mark.skipif("connection.vendor != 'postgresql'", reason="SQLite locks all rows")
def test_a_task_skipped_while_its_answer_is_being_saved_stays_answered(campaign):
    anna = new_annotator(campaign)
    leased = ByVerbs().next_task(campaign, anna)
    skipping = Waiting(lambda: leases.skip(assignment=leased, annotator=anna))
    with transaction.atomic():
        ByVerbs().submit(leased, by=anna)
        skipping.begin()
    assert skipping.result().code == "already_submitted"
    leased.refresh_from_db()
    assert (leased.state, Annotation.objects.get().status) == ("submitted", "accepted")
    assert slots_are_counted()


@pytest.mark.skipif("connection.vendor != 'postgresql'", reason="SQLite locks all rows")
def test_a_submission_id_used_for_two_tasks_at_once_is_refused_for_the_second(campaign):
    path, people, key = ByVerbs(), [new_annotator(campaign) for _ in range(2)], uuid.uuid4()
    first, second = [path.next_task(campaign, person) for person in people]
    sending = Waiting(lambda: path.submit(second, by=people[1], submission_id=key))
    with transaction.atomic():
        path.submit(first, by=people[0], submission_id=key)
        sending.begin()
    assert sending.result().code == "submission_id_taken"
    assert Annotation.objects.get().assignment == first


def test_the_last_place_is_given_once(campaign, path):
    task = campaign.tasks.earliest("pk")
    Task.objects.exclude(pk=task.pk).update(withdrawn=True)
    people = [new_annotator(campaign) for _ in range(5)]
    results = at_once([lambda person=person: path.next_task(campaign, person) for person in people])
    assert sum(isinstance(result, Assignment) for result in results) == 2
    assert results.count(None) == 3


def test_an_overtaken_annotator_still_gets_the_remaining_place(campaign, monkeypatch):
    task = campaign.tasks.earliest("pk")
    Task.objects.exclude(pk=task.pk).update(withdrawn=True)
    anna, otto = new_annotator(campaign), new_annotator(campaign)
    taken = []

    def overtaken(query, asked):
        """Read as usual, but let Otto take a place after the first read of the held places."""
        found = rows(query, asked)
        if not taken and query == sql.ANY_TASK.level:
            taken.append(None)
            taken[0] = leases.next_assignment(campaign=campaign, annotator=otto)
        return found

    monkeypatch.setattr(selection, "rows", overtaken)
    leased = leases.next_assignment(campaign=campaign, annotator=anna)
    assert [taken[0].task, leased.task] == [task, task]


def test_a_batch_link_lets_in_as_many_as_it_says(campaign):
    _, token = invitations.invite(campaign=campaign, by=None, limit=3)
    results = at_once([lambda: invitations.accept(token=token, user=None)] * 6)
    assert sum(isinstance(result, Enrolment) for result in results) == 3
    assert [result.code for result in results if isinstance(result, Conflict)] == ["invitation_used_up"] * 3
    assert Annotator.objects.count() == 3


def test_a_personal_link_opened_twice_at_once_is_one_annotator(campaign):
    _, token = invitations.invite(campaign=campaign, by=None)
    results = at_once([lambda: invitations.accept(token=token, user=None).annotator.pk] * 4)
    assert set(results) == {Annotator.objects.get().pk}


def test_a_campaign_opened_by_two_leads_at_once_is_opened_once(study, lead, tmp_path):
    add_images(study, 2)
    draft = lifecycle.create(study=study, name="Twice", kind="stereotype_marking", by=lead)
    with shared_database(tmp_path):
        results = at_once([lambda: lifecycle.open_(campaign=draft, by=lead)] * 3)
        assert sum(isinstance(result, Campaign) for result in results) == 1
        assert [result.code for result in results if isinstance(result, Conflict)] == ["wrong_state"] * 2
        assert draft.tasks.count() == 6


SUBMIT_AND_DIE = """
import json, os, signal, sys
sys.path[:0] = [{root!r}, {root!r} + "/platform"]
import django
django.setup()
from django.test import Client
client = Client(headers={{"authorization": "Bearer " + sys.argv[1], "host": "127.0.0.1"}})
answer = client.post(sys.argv[2], sys.argv[3], content_type="application/json")
os.write(1, str(answer.status_code).encode())
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_acknowledged_answers_survive_a_kill_of_the_server(campaign):
    anna = new_annotator(campaign)
    leased = leases.next_assignment(campaign=campaign, annotator=anna)
    _, key = tokens.issue(user=anna.user, name="test", scopes=["annotate"])
    body = {"submission_id": str(uuid.uuid4()), "answer": {"none_of_the_above": True}}
    settings = connection.settings_dict
    url = f"sqlite:///{settings['NAME']}"
    if connection.vendor == "postgresql":
        url = f"postgresql://{settings['USER']}@{settings['HOST']}:{settings['PORT']}/{settings['NAME']}"
    died = subprocess.run(
        [
            sys.executable,
            "-c",
            SUBMIT_AND_DIE.format(root=str(ROOT)),
            key,
            f"/api/v1/assignments/{leased.public_id}/submit",
            json.dumps(body),
        ],
        env=os.environ | {"DATABASE_URL": url, "DJANGO_SETTINGS_MODULE": "config.settings"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (died.stdout, died.returncode) == ("200", -signal.SIGKILL), died.stderr
    kept = Annotation.objects.get(submission_id=body["submission_id"])
    assert kept.judgements.count() == leased.task.task_attributes.count()


@pytest.mark.skipif("connection.vendor != 'postgresql'", reason="about the locks of PostgreSQL")
def test_a_locked_task_is_skipped_unless_it_is_the_last(campaign):
    tasks = list(campaign.tasks.order_by("pk"))
    annotator = new_annotator(campaign)
    with psycopg.connect(postgres_url(connection.settings_dict["NAME"])) as other:
        other.execute("SELECT 1 FROM annotation_task WHERE id = %s FOR UPDATE", [tasks[0].pk])
        choice = Choice(tasks[0].pk, tasks[0].held, tasks[0].quota_mix)
        assert not slots.hold(choice, choice.mix, wait=False)
        other.rollback()
        assert slots.hold(choice, choice.mix, wait=False)
        Task.objects.filter(pk=choice.task_id).update(held=0)

        other.execute("SELECT 1 FROM annotation_task FOR NO KEY UPDATE")
        released = threading.Event()

        def release():
            with psycopg.connect(postgres_url(connection.settings_dict["NAME"]), autocommit=True) as watching:
                for _ in range(3_000):
                    if watching.execute(WAITING).fetchone():
                        break
                    time.sleep(0.01)
            released.set()
            other.rollback()

        releasing = threading.Thread(target=release)
        releasing.start()
        following = leases.next_assignment(campaign=campaign, annotator=annotator)
        assert released.is_set()
        releasing.join()
    assert following.task in tasks
    assert slots_are_counted()
