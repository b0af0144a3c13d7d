"""Retention rules remove exactly what is due, and record it without names."""

from datetime import timedelta
from io import StringIO

import pytest
from allauth.account.models import EmailAddress
from allauth.usersessions.models import UserSession
from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from django.apps import apps
from django.contrib.sessions.models import Session
from django.core.management import call_command
from django.db import IntegrityError, transaction
from django.utils import timezone
from django_tasks_db.models import DBTaskResult

from accounts.models import Annotator, User
from annotation.models import Campaign, Enrolment, Invitation, InvitationLetter
from annotation.people import invitations
from annotation.recruitment.models import PanelEvent, PanelPerson, PanelPlace, Recruitment
from jobs.models import Job, JobLine
from privacy.inventory import about_people
from privacy.models import RetentionRun
from privacy.retention.apply import apply_daily, apply_retention
from privacy.retention.rules import RULES, rule_table
from studies.models import AuditEntry, StudyMembership
from tests.annotation.factories import new_annotator
from tests.privacy.conftest import ADDRESS, BROWSER, IP, NOTE, PANEL_ID, SUBMISSION, USERNAME
from tests.privacy.traces import in_database

pytestmark = pytest.mark.django_db
DAYS = 10


@pytest.fixture
def rules(settings):
    for rule in RULES:
        setattr(settings, rule.setting, DAYS)


def ago(days: int):
    return timezone.now() - timedelta(days=days)


@pytest.fixture
def past(person, marking, recruitment):
    """The person's campaign, closed long ago and paid, with the data that the server kept from that time."""
    moment = ago(DAYS + 1)
    Invitation.objects.create(campaign=marking, label="class", limit=5, token_hash="a" * 64)
    PanelEvent.objects.all().delete()  # by a rule of their own
    Campaign.objects.filter(pk__in=[marking.pk, recruitment.campaign_id]).update(
        state="closed", closed_at=moment
    )
    Recruitment.objects.update(state="closed", settled_at=moment)
    Session.objects.update(expire_date=moment)
    UserSession.objects.update(last_seen_at=moment)
    for table in (AccessAttempt, AccessFailureLog, AccessLog):
        table.objects.update(attempt_time=moment)
    Job.objects.filter(state="succeeded").update(started_at=moment, finished_at=moment)
    return person


def rows() -> dict[str, int]:
    """Count the rows of every table about people, and of the queue."""
    counted = {table.model: apps.get_model(table.model)._default_manager.count() for table in about_people()}
    return counted | {"lines": JobLine.objects.count(), "queue": DBTaskResult.objects.count()}


def test_everything_due_goes_and_a_second_run_removes_nothing(past, rules, marking):
    removed = apply_retention(by=None)
    assert set(removed) == {rule.key for rule in RULES}
    assert min(removed.values()) > 0
    assert in_database([NOTE, BROWSER, IP, PANEL_ID, SUBMISSION]) == []
    assert not [found for found in in_database([ADDRESS]) if "accounts_user" in found or "email" in found]
    assert not Enrolment.objects.exclude(joined_print="", joined_device="").exists()
    assert not Invitation.objects.filter(campaign=marking).exists()
    assert not InvitationLetter.objects.exists()
    assert not JobLine.objects.filter(job__finished_at__isnull=False).exists()
    assert set(apply_retention(by=None).values()) == {0}


def test_answers_accounts_and_what_was_paid_stay(past, rules):
    before = rows()
    apply_retention(by=None)
    after = rows()
    assert {model for model in before if after[model] < before[model]} == {
        "sessions.Session", "axes.AccessAttempt", "axes.AccessFailureLog", "axes.AccessLog",
        "account.EmailAddress", "account.EmailConfirmation", "usersessions.UserSession",
        "annotation.Invitation", "annotation.InvitationLetter", "lines",
    }  # fmt: skip
    assert past.answers.count() == 2
    assert User.objects.get(username=USERNAME).email == ""
    assert PanelPlace.objects.get().outcome == "rejected"


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.key)
def test_a_rule_that_is_not_set_removes_nothing(past, settings, rules, rule):
    setattr(settings, rule.setting, None)
    assert set(apply_retention(by=None)) == {other.key for other in RULES} - {rule.key}


def test_without_settings_everything_is_kept(past):
    before = rows()
    apply_daily()
    assert rows() == before
    assert not RetentionRun.objects.exists()


def test_nothing_is_removed_before_its_day(past, rules, marking):
    early = ago(DAYS - 1)
    Campaign.objects.update(closed_at=early)
    Session.objects.update(expire_date=early)
    UserSession.objects.update(last_seen_at=early)
    for table in (AccessAttempt, AccessFailureLog, AccessLog):
        table.objects.update(attempt_time=early)
    Job.objects.filter(state="succeeded").update(finished_at=early)
    before = rows()
    assert set(apply_retention(by=None).values()) == {0}
    assert rows() == before


def test_nothing_is_removed_of_a_campaign_that_is_open(past, rules, marking):
    Campaign.objects.update(state="open", closed_at=None)
    removed = apply_retention(by=None)
    about_campaigns = ("prints", "addresses", "personal_links", "unused_links", "panel_ids")
    assert [removed[key] for key in about_campaigns] == [0, 0, 0, 0, 0]


def test_an_address_stays_while_one_campaign_of_the_person_goes_on(past, rules, marking, rating):
    Campaign.objects.filter(pk=rating.pk).update(state="open", closed_at=None)
    Enrolment.objects.create(campaign=rating, annotator=past.annotator)
    assert apply_retention(by=None)["addresses"] == 0
    assert EmailAddress.objects.filter(email=ADDRESS).exists()


@pytest.mark.parametrize("role", ["is_lead", "is_analyst", "is_staff", "is_superuser", "member"])
def test_people_with_a_role_keep_their_address(past, rules, study, role):
    user = past.annotator.user
    if role == "member":
        StudyMembership.objects.create(study=study, user=user, role="steward")
    else:
        User.objects.filter(pk=user.pk).update(**{role: True})
    assert apply_retention(by=None)["addresses"] == 0
    assert User.objects.get(pk=user.pk).email == ADDRESS


def test_ids_of_a_panel_stay_until_everybody_is_paid(past, rules):
    Recruitment.objects.update(settled_at=None)
    assert apply_retention(by=None)["panel_ids"] == 0
    assert PanelPerson.objects.exclude(id_sealed="").exists()


def test_links_that_work_or_were_used_by_several_stay(rules, marking, lead):
    open_link, _ = invitations.invite(campaign=marking, by=lead, label="class", limit=5)
    expired, _ = invitations.invite(campaign=marking, by=lead, label="old", limit=5)
    used, _ = invitations.invite(campaign=marking, by=lead, label="used", limit=5)
    Invitation.objects.filter(pk__in=[expired.pk, used.pk]).update(expires_at=ago(DAYS + 1))
    annotator = new_annotator(marking)
    Enrolment.objects.filter(campaign=marking, annotator=annotator).update(invitation=used)
    assert apply_retention(by=None)["unused_links"] == 1
    assert set(marking.invitations.values_list("pk", flat=True)) >= {open_link.pk, used.pk}
    assert not Invitation.objects.filter(pk=expired.pk).exists()


def test_sessions_that_go_on_stay(rules, lead_client, lead):
    key = lead_client.session.session_key
    UserSession.objects.create(
        user=lead, ip=IP, session_key=key, user_agent=BROWSER, last_seen_at=ago(DAYS + 1)
    )
    assert apply_retention(by=None)["sessions"] == 0
    assert lead_client.get("/account/").status_code == 200


def test_the_audit_trail_says_how_many_and_names_nobody(past, rules, lead):
    removed = apply_retention(by=lead)
    entry = AuditEntry.objects.get(action="retention.applied")
    assert (entry.actor, entry.study, entry.details) == (lead, None, removed)
    apply_retention(by=None)
    assert AuditEntry.objects.filter(action="retention.applied").count() == 1


def test_a_dry_run_counts_the_same_and_removes_nothing(past, rules):
    before = rows()
    counted = apply_retention(by=None, dry_run=True)
    assert rows() == before
    assert not RetentionRun.objects.exists()
    assert apply_retention(by=None) == counted


def test_workers_apply_the_rules_once_a_day(past, rules):
    apply_daily()
    (run,) = RetentionRun.objects.all()
    assert (run.day, min(run.removed.values()) > 0) == (timezone.localdate(), True)
    Enrolment.objects.update(joined_print="again")
    apply_daily()
    assert Enrolment.objects.filter(joined_print="again").exists()
    RetentionRun.objects.update(day=timezone.localdate() - timedelta(days=1))
    apply_daily()
    assert not Enrolment.objects.filter(joined_print="again").exists()


def test_a_day_has_one_run_of_workers():
    day = timezone.localdate()
    RetentionRun.objects.create(day=day)
    with pytest.raises(IntegrityError), transaction.atomic():
        RetentionRun.objects.create(day=day)


def test_the_rules_run_with_the_sweeps_of_workers(settings):
    assert "privacy.retention.apply.apply_daily" in settings.JOB_SWEEPS


def test_the_command_says_what_it_removed_and_what_is_kept(past, settings):
    settings.RETAIN_PRINTS_DAYS = DAYS
    told = StringIO()
    call_command("apply_retention", dry_run=True, stdout=told)
    lines = told.getvalue().splitlines()
    assert lines[0] == f"prints: 1 would be removed, {DAYS} days after the campaign was closed."
    assert lines[1] == "addresses: kept (RETAIN_ADDRESSES_DAYS is not set)."
    assert lines[-1] == "Last application of the rules: never."
    told = StringIO()
    call_command("apply_retention", stdout=told)
    assert told.getvalue().splitlines()[0].startswith("prints: 1 removed")
    assert not Enrolment.objects.exclude(joined_print="").exists()
    assert Annotator.objects.filter(pk=past.annotator.pk).exists()


def test_the_documentation_names_every_setting():
    assert all(f"`{rule.setting}`" in rule_table() for rule in RULES)
