"""The content that members of each role see on shared pages."""

import html

import pytest
from django.test import Client

from accounts.models import User
from accounts.rights import CAPABILITIES, Capability, Role, powers_of
from annotation.assignment import leases
from jobs.models import Job
from studies import audit
from studies.models import AuditEntry, Study, StudyMembership
from tests.annotation.factories import new_annotator, submit, ticking

pytestmark = pytest.mark.django_db


@pytest.fixture
def browser_of(study):
    """Return a browser in which a new member with a role is signed in."""

    def sign_in(role: Role) -> Client:
        member = User.objects.create_user(f"the-{role}")
        StudyMembership.objects.create(study=study, user=member, role=role)
        browser = Client()
        browser.force_login(member)
        return browser

    return sign_in


@pytest.fixture
def worked_on(marking):
    """A campaign in which somebody answered."""
    person = new_annotator(marking)
    leased = leases.next_assignment(campaign=marking, annotator=person)
    submit(leased, ticking(leased, leased.task.task_attributes.first().attribute.text))
    return marking, person


def test_the_new_roles_open_neither_results_nor_labels_nor_demographics():
    secret = {
        *(Capability.SEE_RESULTS, Capability.SEE_LABELS, Capability.SEE_DEMOGRAPHICS),
        *(Capability.SEE_QUALITY, Capability.SEE_IMAGES, Capability.RUN_CAMPAIGNS),
    }
    assert not CAPABILITIES[Role.COORDINATOR] & secret
    assert not CAPABILITIES[Role.STEWARD] & secret
    jobs = {Capability.SEE_JOBS, Capability.STEER_JOBS}
    assert (CAPABILITIES[Role.COORDINATOR] & jobs, CAPABILITIES[Role.STEWARD] & jobs) == (
        set(),
        {Capability.SEE_JOBS},
    )
    assert {Capability.INVITE, Capability.RECRUIT} <= CAPABILITIES[Role.COORDINATOR]
    assert {Capability.RELEASE, Capability.SEE_RELEASES} <= CAPABILITIES[Role.STEWARD]
    assert not CAPABILITIES[Role.COORDINATOR] & {Capability.RELEASE, Capability.SEE_RELEASES}
    assert not CAPABILITIES[Role.STEWARD] & {Capability.INVITE, Capability.RECRUIT}


def test_a_role_in_another_study_gives_no_right_in_this_one(browser_of, marking):
    browser = browser_of(Role.ANALYST)
    lakes = Study.objects.create(name="Lakes", slug="lakes", seed=1)
    StudyMembership.objects.create(study=lakes, user=User.objects.get(username="the-analyst"), role=Role.LEAD)
    for page in ("own-words/", "campaigns/new/"):
        assert browser.get(f"/studies/lakes/{page}").status_code == 200
        assert browser.get(f"/studies/isles/{page}").status_code == 403
    assert browser.post(f"/studies/isles/campaigns/{marking.slug}/pause/").status_code == 403
    assert browser.post(f"/api/v1/campaigns/{marking.pk}/pause/").status_code == 403
    marking.refresh_from_db()
    assert marking.state == "open"


@pytest.mark.parametrize("role", Role)
def test_the_members_page_says_what_each_role_may_do(lead_client, study, role):
    text = lead_client.get("/studies/isles/members/").content.decode()
    assert f'<option value="{role}"' in text
    assert powers_of(role) in html.unescape(text)
    assert all(str(power) in powers_of(role) for power in CAPABILITIES[role] if role != Role.LEAD)


@pytest.mark.parametrize("role", [Role.COORDINATOR, Role.STEWARD])
def test_a_lead_makes_somebody_coordinator_or_data_steward_and_takes_it_back(lead_client, study, role):
    person = User.objects.create_user("newcomer")
    lead_client.post("/studies/isles/members/", {"username": "newcomer", "role": role})
    membership = study.memberships.get(user=person)
    assert membership.get_role_display() == role.words
    lead_client.post(f"/studies/isles/members/{membership.pk}/remove/")
    entries = AuditEntry.objects.filter(action__startswith="member.").order_by("pk")
    assert [(entry.action, entry.details) for entry in entries] == [
        (action, {"username": "newcomer", "role": role}) for action in ("member.added", "member.removed")
    ]
    assert f"made newcomer {role.words}" in lead_client.get("/studies/isles/history/").content.decode()


def test_an_unknown_role_is_refused(lead_client, study, stranger):
    answer = lead_client.post("/studies/isles/members/", {"username": stranger.username, "role": "owner"})
    assert answer.status_code == 400
    assert not study.memberships.filter(user=stranger).exists()


@pytest.mark.parametrize("role", [Role.COORDINATOR, Role.STEWARD])
def test_progress_names_no_annotators_to_those_who_may_not_see_quality(worked_on, browser_of, role):
    campaign, person = worked_on
    analyst_browser, browser = browser_of(Role.ANALYST), browser_of(role)
    page = f"/studies/isles/campaigns/{campaign.slug}/"
    for address in (page, f"{page}progress/"):
        assert person.pseudonym in analyst_browser.get(address).content.decode()
        answer = browser.get(address)
        assert answer.status_code == 200
        assert person.pseudonym not in answer.content.decode()


@pytest.mark.parametrize("role", [Role.ANALYST, Role.COORDINATOR, Role.STEWARD])
def test_history_keeps_what_annotators_say_of_themselves_from_all_but_leads(
    study, lead, lead_client, browser_of, role
):
    audit.record(
        by=lead, action="own_words.matched", subject=study, study=study,
        field="gender", words="hijra", code="another gender",
    )  # fmt: skip
    text = browser_of(role).get("/studies/isles/history/").content.decode()
    assert "matched an answer in the annotator’s own words with a code" in text
    assert "hijra" not in text
    assert "hijra" in lead_client.get("/studies/isles/history/").content.decode()


def test_the_overview_shows_no_jobs_to_those_who_may_not_see_jobs(study, browser_of):
    Job.objects.create(kind="generate", title="Draw the Velmari", study_id=study.pk)
    assert "Draw the Velmari" in browser_of(Role.STEWARD).get("/studies/isles/").content.decode()
    assert "Draw the Velmari" not in browser_of(Role.COORDINATOR).get("/studies/isles/").content.decode()


def test_a_coordinator_invites_and_a_data_steward_does_not(marking, browser_of):
    address = f"/studies/isles/campaigns/{marking.slug}/invitations/"
    answer = browser_of(Role.COORDINATOR).post(address, {"label": "class", "limit": 5, "days": 7})
    assert answer.status_code in {200, 302}
    assert marking.invitations.count() == 1
    assert browser_of(Role.STEWARD).post(address, {"limit": 5}).status_code == 403
    assert marking.invitations.count() == 1
