"""By keyboard alone: the work of a lead, an analyst, a coordinator and a data steward in a study."""

import pytest

from accounts.models import User
from accounts.rights import Role
from analysis.models import Release
from annotation.models import Campaign, Invitation
from annotation.simulation.simulate import simulate
from jobs.models import Job
from jobs.progress.reporter import Unwatched
from jobs.run.execution import execute
from studies.models import Study, StudyMembership
from tests.analysis.conftest import marked
from tests.e2e.annotator.steps import rating
from tests.e2e.axe import sign_in
from tests.e2e.keyboard import (
    button,
    follow,
    has_focus,
    main_link,
    press,
    skip_to_content,
    walk_through,
    write,
)

__all__ = ["marked", "rating"]
expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed").expect
pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.django_db(transaction=True)]


def member(study, role: Role) -> User:
    user = User.objects.create_user(f"the-{role}", password="a long password")
    StudyMembership.objects.create(study=study, user=user, role=role)
    return user


def test_a_lead_goes_from_sign_in_to_results(page, lead, resource):
    page.goto("/account/sign-in/")
    write(page, page.get_by_label("Username"), "lena")
    write(page, page.get_by_label("Password", exact=True), "a long password")
    follow(page, button(page, "Sign in"))
    skip_to_content(page)
    follow(page, main_link(page, "Create the first study"))
    follow(page, main_link(page, "Invented peoples"))
    walk_through(page)
    make_study(page)
    make_campaign(page)
    simulate(campaign=Campaign.objects.get(), annotators=3, seed=1, progress=Unwatched())
    follow(page, main_link(page, "Isles by keyboard").first)
    follow(page, page.get_by_role("link", name="Results", exact=True))
    follow(page, button(page, "Compute results"))
    for job in Job.objects.filter(state="waiting"):
        execute(job.pk)
    expect(page.get_by_text("The results are up to date.")).to_be_visible()
    walk_through(page)


def make_study(page) -> None:
    write(page, page.get_by_label("Name", exact=True), "Isles by keyboard")
    press(page, page.get_by_label("A simulated study"), "Space")
    everything = button(page, "Select all shown")
    press(page, everything)
    assert has_focus(everything)
    expect(page.locator("[data-region-count]")).to_have_text("2 of 2 chosen")
    follow(page, button(page, "Create study"))
    assert Study.objects.get().groups.count() == 2


def make_campaign(page) -> None:
    follow(page, main_link(page, "New campaign").first)
    follow(page, main_link(page, "Attribute rating"))
    walk_through(page)
    write(page, page.get_by_label("Annotators per task"), "3")
    follow(page, button(page, "Save draft"))
    follow(page, main_link(page, "Open campaign"))
    follow(page, button(page, "Open campaign"))
    assert Campaign.objects.get().state == "open"
    walk_through(page)


def test_an_analyst_goes_from_results_to_a_picture_a_file_and_the_history(
    page, marked, analyst, client, live_server
):
    sign_in(page, client, analyst, live_server)
    page.goto("/studies/isles/results/")
    follow(page, button(page, "Compute results"))
    follow(
        page, page.get_by_role("navigation", name="Results").get_by_role("link", name="Groups", exact=True)
    )
    walk_through(page)
    heading = page.get_by_role("button", name="θ with its 95 % interval")
    press(page, heading)
    assert has_focus(heading)
    expect(page.locator("th[aria-sort=descending]")).to_have_count(1)
    page.keyboard.press("Space")
    expect(page.locator("th[aria-sort=ascending]")).to_have_count(1)
    with page.expect_download() as table:
        press(page, main_link(page, "CSV").first)
    assert table.value.path().read_bytes().startswith(b"identity_group")
    follow(page, main_link(page, "Velmari").first)
    press(page, page.locator("summary").filter(has_text="Show").first)
    follow(page, main_link(page, "All answers").first)
    follow(page, main_link(page, "Isles").first)
    follow(page, page.get_by_role("link", name="History", exact=True))
    walk_through(page)


def test_a_coordinator_invites_and_looks_at_pay(page, rating, client, live_server):
    sign_in(page, client, member(rating.study, Role.COORDINATOR), live_server)
    page.goto("/studies/isles/")
    follow(page, main_link(page, "Rating").first)
    follow(page, main_link(page, "Invitations"))
    walk_through(page)
    write(page, page.get_by_label("Your note"), "Class of May")
    write(page, page.get_by_label("How many people may join with the link"), "5")
    follow(page, button(page, "Make the link"))
    assert Invitation.objects.get().label == "Class of May"
    walk_through(page)
    follow(page, main_link(page, "I have copied it"))
    follow(page, main_link(page, "Time and pay"))
    walk_through(page)
    follow(page, main_link(page, "Recruitment"))
    follow(page, main_link(page, "Add a panel").first)
    walk_through(page)


def test_a_data_steward_builds_and_downloads_a_release(page, marked, client, live_server):
    sign_in(page, client, member(marked.study, Role.STEWARD), live_server)
    page.goto("/studies/isles/")
    follow(page, page.get_by_role("link", name="Releases", exact=True))
    walk_through(page)
    follow(page, button(page, "Build a release"))
    execute(Job.objects.get().pk)
    page.reload()
    follow(page, main_link(page, "Release 1"))
    walk_through(page)
    with page.expect_download() as files:
        press(page, main_link(page, "Download").first)
    assert files.value.suggested_filename.endswith(".zip")
    assert Release.objects.get().version == 1
