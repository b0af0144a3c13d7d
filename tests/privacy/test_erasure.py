"""Erasing a person leaves no row, file or log line that names them."""

import json
import logging
from hashlib import sha256

import pytest
from axes.models import AccessLog
from django.core.management import call_command
from django.db.models.functions import Now
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from redis import Redis

from accounts import profiles
from accounts.consent_texts import ErasurePromise
from accounts.models import Annotator, MatchedWords, User
from analysis.models import Report
from annotation.answers import exclusion
from annotation.answers.inclusion import counted
from annotation.assignment import leases
from annotation.models import Assignment, Campaign, Enrolment, Judgement, Task
from annotation.people.letter_queue import SEND
from annotation.recruitment import identities
from annotation.recruitment.models import PanelPayment, PanelPlace
from foundation.errors import Conflict, DomainError
from jobs.run.execution import enqueue
from privacy.erasure.erase import erase_again, erase_annotator
from privacy.erasure.tombstones import hashes_of
from privacy.inventory import Erasing, tables
from privacy.models import Erasure
from studies import audit, consent
from studies.audit import chain
from studies.models import AuditEntry, Study, StudyMembership
from tests.annotation.assignment.test_quota_assignment import opened
from tests.annotation.assignment.test_quota_assignment import person as described
from tests.annotation.campaigns.test_extension import mixes_are_true
from tests.annotation.factories import new_annotator, submit
from tests.foundation.database.own_database import own_server, platform_on
from tests.foundation.database.postgres import on_postgres
from tests.privacy.conftest import ADDRESS, BROWSER, IP, NAME, OWN_WORDS, USERNAME, promise
from tests.privacy.traces import in_database, in_files, in_redis

pytestmark = pytest.mark.django_db
_ALL_TABLES = {
    True: "SELECT name FROM sqlite_master WHERE type = 'table'",
    False: "SELECT tablename FROM pg_tables WHERE schemaname = 'public'",
}


@pytest.fixture
def other(marking):
    annotator = new_annotator(marking)
    submit(leases.next_assignment(campaign=marking, annotator=annotator))
    return annotator


def test_the_fixture_has_something_in_every_table_about_people(person):
    """Otherwise the tests below would prove nothing about an empty table."""
    # Answers of the marking campaign have no points and these labels no boxes; the others need a service or a kind.
    elsewhere = {
        "accounts.User_groups", "accounts.User_user_permissions", "annotation.Box", "annotation.Point",
        "annotation.CopiedText", "annotation.TaskStimulus", "label_studio.LabelStudioProject",
        "label_studio.LabelStudioAnnotation", "label_studio.LabelStudioVersion", "recruitment.PanelPayment",
        "studies.Withdrawal",
    }  # fmt: skip
    empty = {
        table.model for table in tables() if table.person and not table.rows_of(person.annotator).exists()
    }
    assert empty == elsewhere
    assert {found.rpartition(": ")[2] for found in in_database(person.words)} == set(person.words)


@pytest.mark.parametrize("labels", ["delete", "sever"])
def test_no_row_no_file_no_log_line_and_nothing_in_redis_names_an_erased_person(
    person, marking, other, labels, files, redis, caplog, lead, settings, django_capture_on_commit_callbacks
):
    promise(marking, labels)
    settings.EMAIL_HOST = "mail.example.org"
    forgetful = Client(HTTP_USER_AGENT=BROWSER, REMOTE_ADDR=IP)
    forgetful.post(reverse("account_reset_password"), {"email": ADDRESS})  # counted in the cache
    with django_capture_on_commit_callbacks(execute=True):
        enqueue(kind=SEND, title=f"Write to {NAME}", arguments={"to": [ADDRESS]}, by=lead)
    assert in_redis(["jobs.run.tasks.run_job"], redis)
    assert len(Redis.from_url(redis).keys()) > 2  # messages, and what the cache counts
    chain.seal_entries()
    caplog.set_level(logging.DEBUG)
    logging.getLogger("django.db.backends").setLevel(logging.WARNING)
    with django_capture_on_commit_callbacks(execute=True):
        erase_annotator(annotator=person.annotator, by=lead)
    call_command("analyze", study="Isles", output=files / "results", resamples=100)
    call_command("release", study="Isles", output=files / "release")
    assert in_database(person.words) == []
    assert in_files(person.words, files) == []
    assert in_redis([*person.words, sha256(ADDRESS.encode()).hexdigest()], redis) == []
    assert [line for line in caplog.messages for word in person.words if word in line] == []
    assert not chain.verify().problems


def test_answers_are_deleted_where_that_was_promised_and_their_places_are_free_again(
    person, marking, other, lead
):
    promise(marking, "delete")
    report = erase_annotator(annotator=person.annotator, by=lead)
    assert (report.answers_deleted, report.answers_kept) == (2, 0)
    assert not Annotator.objects.filter(pk=person.annotator.pk).exists()
    assert not Assignment.objects.filter(annotator=person.annotator.pk).exists()
    for task in Task.objects.filter(campaign=marking):
        assert task.held == task.assignments.filter(slot__isnull=False).count()
    assert counted(marking).count() == 1


def test_answers_stay_under_a_nameless_code_where_that_was_promised(person, marking, other, lead):
    promise(marking, "sever")
    assert leases.next_assignment(campaign=marking, annotator=person.annotator) is not None
    before = set(
        Judgement.objects.filter(annotation__annotator=person.annotator).values_list("pk", flat=True)
    )
    report = erase_annotator(annotator=person.annotator, by=lead)
    assert (report.answers_deleted, report.answers_kept) == (0, 2)
    nameless = Annotator.objects.get(pk=person.annotator.pk)
    assert (nameless.user, nameless.pseudonym == person.annotator.pseudonym) == (None, False)
    assert (
        set(Judgement.objects.filter(annotation__annotator=nameless).values_list("pk", flat=True)) == before
    )
    assert counted(marking).filter(annotator=nameless).count() == 2
    assert set(person.answers.values_list("justification", flat=True)) == {""}
    assert not Assignment.objects.filter(annotator=nameless, state="leased").exists()
    enrolment = Enrolment.objects.get(annotator=nameless)
    assert (enrolment.state, enrolment.reason, enrolment.invitation, enrolment.joined_print) == (
        "paused", "", None, "",
    )  # fmt: skip
    assert consent.has_consented(nameless, marking.study)


def test_a_promise_of_deletion_in_one_version_is_kept(person, marking, lead, study):
    promise(marking, "delete")
    later = consent.publish_consent(study=study, body="Our own text.", content_notice="Careful.", by=lead)
    second = consent.publish_consent(
        study=study, body="Once more.", content_notice="Careful.", promise=ErasurePromise("sever"), by=lead
    )
    consent.give(annotator=person.annotator, text=later, study=study)
    consent.give(annotator=person.annotator, text=second, study=study)
    assert (later.labels_when_erased, second.labels_when_erased) == ("delete", "sever")
    assert erase_annotator(annotator=person.annotator, by=lead).answers_kept == 0


def agree_to_keep_answers(person, marking, lead):
    """Let a person who agreed to the deletion of answers agree to the study's own text, which keeps them."""
    promise(marking, "delete")
    own = consent.publish_consent(
        study=marking.study,
        body="Our text.",
        content_notice="Careful.",
        promise=ErasurePromise("sever"),
        by=lead,
    )
    consent.give(annotator=person.annotator, text=own, study=marking.study)


def test_a_promise_of_the_text_that_was_read_before_the_study_had_its_own_is_kept(person, marking, lead):
    agree_to_keep_answers(person, marking, lead)
    assert erase_annotator(annotator=person.annotator, by=lead).answers_kept == 0


def test_a_text_that_somebody_read_only_in_another_study_promises_nothing_in_this_one(person, marking, lead):
    agree_to_keep_answers(person, marking, lead)
    person.answers.update(submitted_at=Now())
    assert erase_annotator(annotator=person.annotator, by=lead).answers_kept == 2


def test_answers_of_a_study_that_somebody_withdrew_from_are_deleted(person, marking, lead, study):
    promise(marking, "sever")
    consent.withdraw(annotator=person.annotator, study=study)
    assert erase_annotator(annotator=person.annotator, by=lead).answers_kept == 0


def test_the_history_of_a_study_that_somebody_withdrew_from_without_taking_part_says_so(person, lead):
    lakes = Study.objects.create(name="Lakes", slug="lakes", seed=1)
    lakes.memberships.create(user=lead, role="lead")
    consent.withdraw(annotator=person.annotator, study=lakes)
    erase_annotator(annotator=person.annotator, by=lead)
    entry = AuditEntry.objects.get(action="annotator.erased", study=lakes)
    assert entry.details == {"labels": "deleted"}


def test_answers_whose_author_a_labelling_tool_knows_are_deleted(person, marking, lead):
    promise(marking, "sever")
    Campaign.objects.filter(pk=marking.pk).update(labelled_in="label_studio")
    report = erase_annotator(annotator=person.annotator, by=lead)
    assert (report.answers_deleted, report.answers_kept) == (2, 0)


def test_consent_given_in_another_study_keeps_no_answers_of_a_study_that_somebody_withdrew_from(
    person, marking, lead, study
):
    promise(marking, "sever")
    consent.withdraw(annotator=person.annotator, study=study)
    elsewhere = Study.objects.create(name="Lakes", slug="lakes", seed=1)
    consent.give(annotator=person.annotator, text=consent.current_text(study), study=elsewhere)
    assert consent.rests_on(person.annotator, study).exists()
    report = erase_annotator(annotator=person.annotator, by=lead)
    assert (report.answers_deleted, report.answers_kept) == (2, 0)


def test_a_match_of_words_that_somebody_else_typed_too_is_kept(person, other, lead):
    profiles.describe(annotator=other, gender=OWN_WORDS)
    erase_annotator(annotator=person.annotator, by=lead)
    assert MatchedWords.objects.get().words == profiles.words_key(OWN_WORDS)


def test_quotas_no_longer_know_what_an_erased_person_said(study, lead):
    campaign = opened(study, lead, "at_most 1 gender = man", wanted=2)
    man = described(campaign, gender="man")
    submit(leases.next_assignment(campaign=campaign, annotator=man))
    promise(campaign, "sever")
    assert erase_annotator(annotator=man, by=lead).answers_kept == 1
    assert mixes_are_true(campaign)


def test_sign_ins_with_the_address_instead_of_the_user_name_are_deleted(person, lead):
    AccessLog.objects.create(username=ADDRESS, ip_address=IP, user_agent=BROWSER)
    erase_annotator(annotator=person.annotator, by=lead)
    assert not AccessLog.objects.filter(username=ADDRESS).exists()


def test_entries_of_the_audit_trail_by_the_person_are_redacted(person, study, lead):
    audit.record(by=person.annotator.user, action="study.viewed", subject=study, study=study, page="own")
    erase_annotator(annotator=person.annotator, by=lead)
    assert AuditEntry.objects.get(action="study.viewed").details == {}


def test_entries_of_the_audit_trail_about_answers_and_places_of_the_person_are_redacted(person, lead):
    answer, _ = person.answers
    exclusion.exclude(annotation=answer, by=lead, reason="The baker from next door", ask_again=False)
    identities.show(place=PanelPlace.objects.get(), by=lead)
    erase_annotator(annotator=person.annotator, by=lead)
    entries = AuditEntry.objects.filter(action__in=["annotation.excluded", "panel_place.id_shown"])
    assert [entry.details for entry in entries] == [{}, {}]


def test_nothing_of_anybody_else_is_touched(person, marking, other, lead):
    before = {
        table.model: list(table.rows_of(other).order_by("pk").values()) for table in tables() if table.person
    }
    erase_annotator(annotator=person.annotator, by=lead)
    assert before == {
        table.model: list(table.rows_of(other).order_by("pk").values()) for table in tables() if table.person
    }


def test_tables_declared_deleted_keep_no_row_of_the_person(person, marking, lead):
    promise(marking, "sever")
    erase_annotator(annotator=person.annotator, by=lead)
    deleted = [table for table in tables() if table.person and table.erasing is Erasing.DELETE]
    assert [table.model for table in deleted if table.rows_of(person.annotator).exists()] == []


def test_payments_for_a_place_are_kept_without_the_person(person, lead):
    place = PanelPlace.objects.get()
    payment = PanelPayment.objects.create(
        place=place, kind="bonus", cause="work", amount=50, currency="GBP", state="refused",
        settled_at=timezone.now(), problem=f"Nobody is called {NAME}.",
    )  # fmt: skip
    erase_annotator(annotator=person.annotator, by=lead)
    place.refresh_from_db()
    payment.refresh_from_db()
    assert (payment.amount, payment.problem) == (50, "(erased)")
    assert (place.person, place.submission_hash, place.outcome, place.reason) == (
        None, None, "rejected", "(erased)",
    )  # fmt: skip


@pytest.mark.parametrize(
    "changes",
    [{"state": "working", "ended_at": None, "outcome": "", "decided_at": None}, {"state": "completed", "outcome": "",
     "decided_at": None}],
)  # fmt: skip
def test_nobody_is_erased_while_a_panel_still_has_to_pay_them(person, lead, changes):
    PanelPlace.objects.update(**changes)
    with pytest.raises(Conflict, match="still has to pay"):
        erase_annotator(annotator=person.annotator, by=lead)
    assert User.objects.filter(pk=person.annotator.user_id).exists()


def test_nobody_is_erased_while_a_payment_is_under_way(person, lead):
    PanelPayment.objects.create(
        place=PanelPlace.objects.get(), kind="reject", amount=0, currency="GBP", category="OTHER"
    )
    with pytest.raises(Conflict, match="still has to pay"):
        erase_annotator(annotator=person.annotator, by=lead)


def test_a_member_of_a_study_is_not_erased(person, lead, study):
    StudyMembership.objects.create(study=study, user=person.annotator.user, role="analyst")
    with pytest.raises(Conflict, match="also a lead"):
        erase_annotator(annotator=person.annotator, by=lead)


def test_answers_are_kept_without_where_their_author_was_imported_from(person, marking, lead):
    promise(marking, "sever")
    people = Annotator.objects.filter(pk=person.annotator.pk)
    people.update(source="survey.csv", source_id="row of Maria")
    erase_annotator(annotator=people.get(), by=lead)
    assert list(people.values_list("source", "source_id", "user")) == [("", "", None)]


def test_stored_results_are_deleted_because_they_contain_the_code(person, marking, study, lead):
    lakes = Study.objects.create(name="Lakes", slug="lakes", seed=1)
    for each in (study, lakes):
        Report.objects.create(
            study=each, parameters={}, inputs_digest="a" * 64, summary={}, last_annotation=0
        )
    erase_annotator(annotator=person.annotator, by=lead)
    assert [report.study for report in Report.objects.all()] == [lakes]


def test_simulated_annotators_are_nobody_to_erase(marking, lead):
    annotator = new_annotator(marking, origin=Annotator.Origin.SIMULATED)
    with pytest.raises(Conflict, match="simulated"):
        erase_annotator(annotator=annotator, by=lead)
    assert Annotator.objects.filter(pk=annotator.pk, user=annotator.user).exists()


def test_the_history_says_that_somebody_was_erased_and_by_which_lead(
    person, marking, lead, lead_client, study
):
    promise(marking, "sever")
    erase_annotator(annotator=person.annotator, by=lead)
    entry = AuditEntry.objects.get(action="annotator.erased")
    assert (entry.study, entry.actor, entry.details) == (
        study,
        lead,
        {"labels": "kept under a nameless code"},
    )
    page = lead_client.get(reverse("studies:history", args=[study.slug])).content.decode()
    assert "a person was erased; their answers were kept under a nameless code" in page


def test_the_erased_person_is_signed_out_everywhere(person, lead):
    assert person.client.get(reverse("annotate:home")).status_code == 200
    erase_annotator(annotator=person.annotator, by=lead)
    assert person.client.get(reverse("annotate:home")).status_code == 302


@pytest.mark.parametrize("labels", ["delete", "sever"])
def test_the_next_release_says_how_many_were_erased(person, marking, other, lead, labels, tmp_path):
    promise(marking, labels)

    def built(name: str) -> tuple[dict, str]:
        call_command("release", study="Isles", output=tmp_path / name)
        (manifest,) = (tmp_path / name).rglob("release.json")
        return json.loads(manifest.read_text()), (manifest.parent / "CHANGELOG.md").read_text()

    first, _ = built("first")
    assert "annotators_erased" not in first["changes"]
    erase_annotator(annotator=person.annotator, by=lead)
    second, changelog = built("second")
    assert (second["version"], second["changes"]["annotators_erased"]) == (2, 1)
    assert "1 annotator erased" in changelog
    again, _ = built("again")
    assert (again["version"], again["changes"]) == (2, second["changes"])


def test_the_list_outside_the_database_holds_a_hash_and_no_name(
    person, lead, settings, django_capture_on_commit_callbacks
):
    with django_capture_on_commit_callbacks(execute=True):
        erase_annotator(annotator=person.annotator, by=lead)
    (line,) = settings.ERASURES_FILE.read_text().splitlines()
    assert json.loads(line)["code_hash"] == Erasure.objects.get().code_hash
    assert settings.ERASURES_FILE.stat().st_mode & 0o777 == 0o600


def test_the_bytes_of_the_database_and_of_all_files_name_nobody(tmp_path):
    """Uses a separate database: SQLite's file and journal, and every file under `var`."""
    make = f"""
from accounts.models import Annotator, ConsentText, User
from accounts import profiles
user = User.objects.create(username={USERNAME!r}, email={ADDRESS!r}, display_name={NAME!r})
annotator = Annotator.objects.create(user=user)
profiles.describe(annotator=annotator, gender={OWN_WORDS!r})
answer = annotator.pseudonym
"""
    with own_server(tmp_path) as server:
        code = server.ask(make)
        words = [USERNAME, NAME, ADDRESS, OWN_WORDS, code]
        on_sqlite = server.env["DATABASE_URL"].startswith("sqlite")
        assert not on_sqlite or in_files(words, tmp_path)
        done = server.run("erase_annotator", code, "--confirm", code, LOG_LEVEL="DEBUG")
        assert in_files(words, tmp_path) == []
        assert not [word for word in words if word in done.stdout]
        tables = server.rows(_ALL_TABLES[on_sqlite])
        rows = [repr(server.rows(f'SELECT * FROM "{table}"')) for (table,) in tables]
        assert len(rows) > 80
        assert not [word for word in words for row in rows if word in row]
        (line,) = (tmp_path / "var" / "erasures.jsonl").read_text().splitlines()
        assert json.loads(line).keys() == {"code_hash", "erased_at"}


@pytest.mark.skipif(on_postgres(), reason="restores into a file")
def test_restoring_an_older_backup_erases_again(tmp_path):
    make = f"""
from accounts.models import Annotator, User
people = [Annotator.objects.create(user=User.objects.create(username=name)) for name in ({USERNAME!r}, "other")]
answer = people[0].pseudonym
"""
    with own_server(tmp_path) as server:
        code = server.ask(make)
        server.run("backup", str(tmp_path / "backups"))
        server.run("erase_annotator", code, "--confirm", code)
        listed = str(tmp_path / "var" / "erasures.jsonl")
    place = tmp_path / "restored"
    place.mkdir()
    restored = platform_on(f"sqlite:///{place / 'new.sqlite3'}", place, ERASURES_FILE=listed)
    printed = restored.run("restore", str(tmp_path / "backups")).stdout
    assert "People erased again, because they were erased after this backup: 1." in printed
    assert restored.rows("SELECT username FROM accounts_user") == [("other",)]
    assert in_files([USERNAME, code], place) == []


def test_people_in_the_list_are_erased_again_from_a_restored_database(person, other, settings):
    (line,) = [{"code_hash": hashes_of(person.annotator)[0], "erased_at": "2026-11-01T00:00:00+00:00"}]
    settings.ERASURES_FILE.write_text(json.dumps(line) + "\n")
    PanelPlace.objects.update(state="working", ended_at=None, outcome="", decided_at=None)
    assert erase_again() == (0, 1)
    PanelPlace.objects.update(state="left", ended_at=timezone.now())
    assert erase_again() == (1, 0)
    assert in_database(person.words) == []
    assert Annotator.objects.filter(pk=other.pk).exists()
    assert erase_again() == (0, 0)


def test_the_command_asks_for_the_code_twice(person, capsys):
    code = person.annotator.pseudonym
    with pytest.raises(DomainError, match="--confirm"):
        call_command("erase_annotator", code)
    call_command("erase_annotator", code, confirm=code)
    assert capsys.readouterr().out.startswith("Erased one person from 1 studies")
    assert not User.objects.filter(pk=person.annotator.user_id).exists()
