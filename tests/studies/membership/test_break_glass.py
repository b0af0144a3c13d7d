"""An administrator who is not a member reads a study only by break-glass: temporarily, read-only, and recorded."""

from datetime import timedelta

import pytest
import time_machine
from django.core import mail
from django.test import Client
from django.utils import timezone

from accounts import tokens
from accounts.models import User
from accounts.rights import BY_BREAK_GLASS, OF_MEMBERS, WITHOUT_MEMBERSHIP, Capability, Role
from foundation.errors import Conflict, DomainError
from jobs.models import Job
from jobs.run.execution import execute
from studies.access import studies_where
from studies.membership import add_member, break_glass
from studies.models import AuditEntry, BreakGlass, Study, StudyMembership
from tests.front.addresses import addresses

pytestmark = pytest.mark.django_db

REASON = "A lead reports that results are missing."
PAGE = "/studies/isles/break-glass/"
CLOSED = ("/studies/isles/images/", "/studies/isles/campaigns/", "/studies/isles/own-words/",
          "/studies/isles/results/", "/studies/isles/releases/", "/api/v1/studies/isles/results/",
          "/api/v1/studies/isles/images/")  # fmt: skip


@pytest.fixture
def ada(db) -> User:
    return User.objects.create_superuser("ada", password="a long password")


@pytest.fixture
def browser(ada) -> Client:
    client = Client()
    client.post("/account/sign-in/", {"username": "ada", "password": "a long password"})
    return client


def statuses(client: Client) -> set[int]:
    return {client.get(address).status_code for address in CLOSED}


def actions(study) -> list[str]:
    entries = AuditEntry.objects.filter(study=study, action__startswith="break_glass").order_by("pk")
    return list(entries.values_list("action", flat=True))


def test_administrators_see_that_a_study_exists_but_nothing_in_it(browser, study):
    page = browser.get("/studies/isles/").content.decode()
    assert "You are not a member of this study" in page
    assert PAGE in page
    assert browser.get("/studies/isles/members/").status_code == 200
    assert statuses(browser) == {403}


def test_a_study_is_opened_for_a_reason_and_closed_by_a_button(browser, ada, study):
    assert browser.post(PAGE, {"reason": "Curious."}).status_code == 400
    assert browser.post(PAGE, {"reason": " " * 40}).status_code == 400
    assert not BreakGlass.objects.exists()
    assert browser.post(PAGE, {"reason": REASON}).status_code == 302
    assert statuses(browser) <= {200, 404}  # there are no results yet
    glass = BreakGlass.objects.get()
    assert glass.ends_at - glass.began_at == timedelta(hours=4)
    assert "You opened this study by break-glass" in browser.get("/studies/isles/").content.decode()
    browser.post(f"{PAGE}end/")
    browser.post(f"{PAGE}end/")
    assert statuses(browser) == {403}
    assert actions(study) == ["break_glass.opened", "break_glass.ended"]
    entry = AuditEntry.objects.get(action="break_glass.opened")
    assert (entry.actor, entry.details["reason"]) == (ada, REASON)
    history = browser.get("/studies/isles/history/").content.decode()
    assert REASON in history


def test_the_button_ends_ones_own_access_to_this_study_alone(browser, ada, study):
    lakes = Study.objects.create(name="Lakes", slug="lakes", seed=1)
    bea = User.objects.create_superuser("bea", password="a long password")
    for user, opened in ((ada, study), (ada, lakes), (bea, study)):
        break_glass.open_study(study=opened, by=user, reason=REASON)
    browser.post(f"{PAGE}end/")
    left = BreakGlass.objects.in_force().values_list("user__username", "study__slug")
    assert set(left) == {("ada", "lakes"), ("bea", "isles")}


def test_an_access_that_has_ended_is_not_ended_again(ada, study):
    glass = break_glass.open_study(study=study, by=ada, reason=REASON)
    with time_machine.travel(timezone.now() + timedelta(hours=1), tick=False):
        break_glass.end(glass=glass, by=ada)
    glass.refresh_from_db()
    with time_machine.travel(timezone.now() + timedelta(hours=2), tick=False):
        break_glass.end(glass=glass, by=ada)
    assert BreakGlass.objects.get().ended_at == glass.ended_at
    assert actions(study) == ["break_glass.opened", "break_glass.ended"]


def test_it_ends_by_itself_and_the_end_is_recorded_once(ada, study, settings):
    settings.BREAK_GLASS_HOURS = 2
    reading = Client()
    with time_machine.travel(timezone.now(), tick=False) as clock:
        reading.force_login(ada)
        break_glass.open_study(study=study, by=ada, reason=REASON)
        clock.shift(timedelta(minutes=119))
        assert reading.get("/studies/isles/images/").status_code == 200
        assert break_glass.end_expired() == 0
        clock.shift(timedelta(minutes=1))
        assert reading.get("/studies/isles/images/").status_code == 403
        assert "An administrator can read" not in reading.get("/studies/isles/").content.decode()
        assert list(studies_where(ada, Capability.SEE_LABELS)) == []
        assert (break_glass.end_expired(), break_glass.end_expired()) == (1, 0)
        assert actions(study) == ["break_glass.opened", "break_glass.expired"]
        break_glass.open_study(study=study, by=ada, reason=REASON)
        assert reading.get("/studies/isles/images/").status_code == 200


def test_an_access_is_opened_once_and_only_for_one_person_and_study(ada, study):
    break_glass.open_study(study=study, by=ada, reason=REASON)
    with pytest.raises(Conflict, match="already opened"):
        break_glass.open_study(study=study, by=ada, reason=REASON)
    bea = User.objects.create_superuser("bea")
    assert list(studies_where(ada, Capability.SEE_LABELS)) == [study]
    assert list(studies_where(bea, Capability.SEE_LABELS)) == []
    assert list(studies_where(ada, Capability.RUN_CAMPAIGNS)) == []


def test_an_access_opens_no_page_of_another_study_and_none_to_another_administrator(browser, ada, study):
    lakes = Study.objects.create(name="Lakes", slug="lakes", seed=1)
    break_glass.open_study(study=lakes, by=ada, reason=REASON)
    assert browser.get("/studies/lakes/images/").status_code == 200
    assert statuses(browser) == {403}
    other = Client()
    other.force_login(User.objects.create_superuser("bea"))
    assert other.get("/studies/lakes/images/").status_code == 403


def test_it_gives_no_right_to_change_anything():
    written = {
        capability
        for address in addresses()
        for method, capability in address.rights.items()
        if method not in {"GET", "HEAD"}
    }
    assert not written & BY_BREAK_GLASS
    assert WITHOUT_MEMBERSHIP & written == {
        Capability.MANAGE_MEMBERS, Capability.STEER_JOBS, Capability.ERASE, Capability.BREAK_GLASS,
    }  # fmt: skip
    assert not WITHOUT_MEMBERSHIP & {Capability.SEE_LABELS, Capability.SEE_RESULTS, Capability.SEE_IMAGES}
    assert BY_BREAK_GLASS < OF_MEMBERS


def test_nobody_but_administrators_breaks_glass(lead_client, stranger_client, study):
    assert lead_client.post(PAGE, {"reason": REASON}).status_code == 403
    assert stranger_client.post(PAGE, {"reason": REASON}).status_code == 404
    assert not BreakGlass.objects.exists()


def test_a_former_administrator_reads_nothing(ada, study):
    break_glass.open_study(study=study, by=ada, reason=REASON)
    User.objects.filter(pk=ada.pk).update(is_superuser=False)
    assert not studies_where(User.objects.get(pk=ada.pk), Capability.SEE_STUDY).exists()


def test_a_person_who_signed_in_long_ago_confirms_it_first(ada, study):
    client = Client()
    with time_machine.travel(timezone.now(), tick=False) as clock:
        client.post("/account/sign-in/", {"username": "ada", "password": "a long password"})
        clock.shift(timedelta(minutes=16))
        answer = client.post(PAGE, {"reason": REASON})
        assert answer.url.startswith("/account/confirm/")
        assert not BreakGlass.objects.exists()


def test_api_keys_of_administrators_read_a_study_only_during_break_glass(ada, study):
    _, key = tokens.issue(user=ada, name="reader", scopes=["read"])
    reader = Client(headers={"Authorization": f"Bearer {key}"})
    assert reader.get("/api/v1/studies/isles/").status_code == 200
    assert reader.get("/api/v1/studies/isles/images/").status_code == 403
    assert (study.slug, reader.get("/api/v1/studies/isles/campaigns/").status_code) == ("isles", 403)
    break_glass.open_study(study=study, by=ada, reason=REASON)
    assert reader.get("/api/v1/studies/isles/images/").status_code == 200


def test_members_read_who_opened_their_study(analyst_client, ada, study):
    break_glass.open_study(study=study, by=ada, reason=REASON)
    page = analyst_client.get("/studies/isles/images/").content.decode()
    assert "An administrator can read this study" in page
    assert REASON in page


def test_leads_are_notified_by_letter(ada, lead, analyst, study, settings):
    settings.EMAIL_HOST = "mail.example.org"
    User.objects.filter(pk=lead.pk).update(email="lena@example.org")
    User.objects.filter(pk=analyst.pk).update(email="anton@example.org")
    blocked = User.objects.create_user("bert", email="bert@example.org", is_active=False)
    StudyMembership.objects.create(study=study, user=blocked, role=Role.LEAD)
    break_glass.open_study(study=study, by=ada, reason=REASON)
    execute(Job.objects.get(kind=break_glass.LETTER).pk)
    (letter,) = mail.outbox
    assert letter.to == ["lena@example.org"]
    assert REASON in letter.body
    assert "ada" in letter.body


def test_downloads_by_break_glass_are_recorded(browser, ada, marking):
    break_glass.open_study(study=marking.study, by=ada, reason=REASON)
    assert browser.get("/studies/isles/campaigns/marking/pay.csv").status_code == 200
    assert AuditEntry.objects.filter(action="file.downloaded", actor=ada).count() == 1


def test_administrators_add_members_and_not_themselves(ada, analyst, study):
    add_member(study=study, username=analyst.username, role=Role.LEAD, by=ada)
    with pytest.raises(DomainError, match="make yourself a member"):
        add_member(study=study, username="ada", role=Role.ANALYST, by=ada)
    assert not StudyMembership.objects.filter(user=ada).exists()


def test_administrators_who_are_members_use_their_role_without_break_glass(ada, browser, study):
    StudyMembership.objects.create(study=study, user=ada, role=Role.ANALYST)
    assert browser.get("/studies/isles/images/").status_code == 200
    assert browser.get("/studies/isles/own-words/").status_code == 403
    assert browser.get(PAGE).status_code == 403


def test_the_admin_site_quotes_nobody_from_a_closed_study(browser, ada, study):
    entry = AuditEntry.objects.create(
        study=study, action="own_words.matched", subject="study:1", details={"words": "nonbinary femme"}
    )
    address = f"/admin/studies/auditentry/{entry.pk}/change/"
    assert "femme" not in browser.get(address).content.decode()
    break_glass.open_study(study=study, by=ada, reason=REASON)
    assert "femme" in browser.get(address).content.decode()


def test_results_of_jobs_are_closed_too(browser, ada, study):
    job = Job.objects.create(
        kind="generate", title="Read a file", study_id=study.pk, state="succeeded", finished_at=timezone.now(),
        result={"summary": "Read 3 rows", "lines": ["row 2: brave"]},
    )  # fmt: skip
    assert "brave" not in browser.get(f"/jobs/{job.pk}/").content.decode()
    assert browser.get(f"/api/v1/jobs/{job.pk}/").json()["result"] == {}
    break_glass.open_study(study=study, by=ada, reason=REASON)
    assert "brave" in browser.get(f"/jobs/{job.pk}/").content.decode()
    assert browser.get("/api/v1/jobs/").json()["results"][0]["result"]["lines"] == ["row 2: brave"]
    lakes = Study.objects.create(name="Lakes", slug="lakes", seed=1)
    Job.objects.filter(pk=job.pk).update(study_id=lakes.pk)  # which is not open
    assert browser.get("/api/v1/jobs/").json()["results"][0]["result"] == {}
    assert "brave" not in browser.get(f"/jobs/{job.pk}/").content.decode()


def test_break_glass_costs_no_query_until_it_is_used(lead_client, browser, study, queries):
    address = "/studies/isles/members/"
    counted = {name: queries(client, address) for name, client in (("lead", lead_client), ("ada", browser))}
    assert counted["ada"] <= counted["lead"]
    break_glass.open_study(study=study, by=User.objects.create_superuser("bea"), reason=REASON)
    assert queries(lead_client, address) == counted["lead"] + 1  # names the person
