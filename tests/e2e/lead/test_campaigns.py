"""A lead at work in a real browser, from the first study to an invitation that is opened."""

import re

import pytest

from annotation.models import Campaign, Invitation
from jobs.models import Job
from jobs.run.execution import execute
from studies.models import Study
from tests.e2e.conftest import PHONE
from tests.e2e.lead.launch import open_simulated, open_with_waivers

expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed").expect
# The first use of {a_an} loads a dictionary, and progress is polled every five seconds.
SLOW = 20_000
pytestmark = [pytest.mark.e2e, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def signed_in(page, lead):
    page.goto("/account/sign-in/")
    page.get_by_label(re.compile("user ?name", re.IGNORECASE)).fill("lena")
    page.get_by_label("Password").fill("a long password")
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.wait_for_url("**/studies/")
    return page


def fact(page, term: str) -> str:
    """Return the text next to a term of a definition list."""
    row = page.locator(".facts > div").filter(has=page.get_by_text(term, exact=True)).first
    return " ".join(row.locator("dd").inner_text().split())


def test_a_lead_goes_from_a_resource_to_an_invitation(signed_in, resource, new_page):
    page = signed_in

    # A study: totals follow the choices, and nothing exists before it is created.
    page.get_by_role("link", name="Create the first study").click()
    page.get_by_role("link", name="Invented peoples").click()
    page.get_by_label("Name").fill("Isles in the browser")
    page.get_by_label("A simulated study").check()  # its images are sketches
    page.get_by_role("button", name="Select all of North Isles").click()
    expect(page.locator("[data-region-count]")).to_have_text("2 of 2 chosen")
    expect(page.locator("[data-totals] strong").first).to_have_text("30")  # 2 groups × 3 prompts × 5
    page.get_by_label("Prompts").fill("a photo of {a_an} {id} person")
    page.get_by_label("Images per prompt and group").fill("2")
    expect(page.locator("[data-totals] strong").first).to_have_text("4", timeout=SLOW)
    expect(page.locator("[data-examples]")).to_contain_text("a photo of an Orsani person", timeout=SLOW)
    assert not Study.objects.exists()
    page.get_by_role("button", name="Create study").click()
    page.wait_for_url("**/studies/isles-in-the-browser/")

    # Images, by a job that a worker would run.
    page.get_by_role("link", name="Generate images").first.click()
    page.get_by_role("button", name="Make 4 images").click()
    page.wait_for_url("**/studies/isles-in-the-browser/")
    execute(Job.objects.get().pk)
    assert Study.objects.get().images.count() == 4

    # A campaign: its questions are counted during editing.
    page.goto("/studies/isles-in-the-browser/")
    page.get_by_role("link", name="New campaign").first.click()
    page.get_by_role("link", name="Stereotype marking").click()
    assert fact(page, "Judgements") == "66"  # (6 + 5 attributes) × 2 images × 3 people
    page.get_by_label("Annotators per task").fill("2")
    expect(page.locator("[data-asking]")).to_contain_text("44")
    page.get_by_role("button", name="Save draft").click()
    page.wait_for_url("**/campaigns/what-the-images-show/")

    # The preview: the real screen, which accepts no answer.
    page.get_by_role("link", name="Preview", exact=True).click()
    expect(page.get_by_text("This is a preview.")).to_be_visible()
    expect(page.get_by_role("button", name="Submit")).to_be_disabled()
    page.get_by_role("link", name="Next sample").click()
    expect(page.get_by_text("sample 2 of 6")).to_be_visible()
    page.get_by_role("link", name="Back to the campaign").click()

    open_simulated(page)
    expect(page.get_by_text("is open. Invite annotators by link.")).to_be_visible()
    assert Campaign.objects.get().state == "open"

    # A link, shown once, with which a person can join.
    page.get_by_role("link", name="Invite annotators").click()
    page.get_by_label("Your note").fill("Panel A")
    page.get_by_label("How many people may join with the link").fill("2")
    page.get_by_role("button", name="Make the link").click()
    address = page.locator(".copyable code").inner_text()
    guest = new_page(size=PHONE)
    guest.goto(address)
    guest.get_by_role("button", name="Start").click()
    guest.wait_for_url("**/consent/")
    assert Invitation.objects.get(label="Panel A").enrolments.count() == 1

    page.get_by_role("link", name="I have copied it").click()
    expect(page.get_by_text("1 of 2 joined")).to_be_visible()
    assert address not in page.content()


def test_pausing_and_closing(signed_in, study, lead):
    from annotation.campaigns import lifecycle

    draft = lifecycle.create(study=study, name="Ratings", kind="attribute_likert", by=lead)
    page = signed_in
    page.goto("/studies/isles/campaigns/ratings/")
    open_with_waivers(page)
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_text("nobody gets a new task")).to_be_visible()
    page.get_by_role("button", name="Resume").click()
    page.get_by_role("link", name=re.compile("^Close")).click()
    expect(page.get_by_text("0 of 18 answers are in.")).to_be_visible()
    page.get_by_role("button", name="Close the campaign").click()
    expect(page.get_by_role("button", name="Reopen")).to_be_visible()
    draft.refresh_from_db()
    assert draft.state == "closed"


def test_progress_moves_while_one_looks(signed_in, study, lead):
    from annotation.answers.validation import Answer
    from annotation.assignment import leases
    from annotation.campaigns import lifecycle
    from tests.annotation.factories import new_annotator, submit

    draft = lifecycle.create(study=study, name="Ratings", kind="attribute_likert", by=lead)
    campaign = lifecycle.open_(campaign=draft, by=lead)
    page = signed_in
    page.goto("/studies/isles/campaigns/ratings/")
    expect(page.get_by_text("Nobody has joined yet")).to_be_visible()
    leased = leases.next_assignment(campaign=campaign, annotator=new_annotator(campaign))
    submit(leased, Answer.parse({"rating": 5}, leased.task))
    expect(page.locator(".tile-value").first).to_have_text("1", timeout=SLOW)


@pytest.mark.parametrize(
    "address",
    [
        "/studies/",
        "/studies/new/?resource=invented-peoples",
        "/studies/isles/",
        "/studies/isles/members/",
        "/studies/isles/campaigns/",
        "/studies/isles/campaigns/new/?kind=stereotype_marking",
        "/studies/isles/campaigns/ratings/",
        "/studies/isles/campaigns/ratings/annotators/",
        "/studies/isles/campaigns/ratings/invitations/",
        "/studies/isles/campaigns/ratings/who/",
    ],
)
def test_no_page_is_wider_than_a_phone(new_page, study, lead, client, live_server, address):
    from annotation.campaigns import lifecycle

    draft = lifecycle.create(study=study, name="Ratings", kind="attribute_likert", by=lead)
    lifecycle.open_(campaign=draft, by=lead)
    client.force_login(lead)
    page = new_page(size=PHONE)
    session = client.cookies["stereoscope_session"].value
    page.context.add_cookies([{"name": "stereoscope_session", "value": session, "url": live_server.url}])
    assert page.goto(address).status == 200
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_sections_of_a_draft_unfold_by_keyboard_and_by_address(signed_in, study):
    page = signed_in
    page.goto("/studies/isles/campaigns/new/?kind=stereotype_marking#section-pay")
    pay = page.locator("details", has=page.get_by_role("heading", name="Pay", exact=True))
    stops = page.locator("details", has=page.get_by_role("heading", name="Stop rules"))
    expect(page.locator("[name=pay_budget]")).to_be_visible()
    expect(stops).not_to_have_attribute("open", "")
    stops.locator("summary").focus()
    page.keyboard.press("Enter")
    expect(stops).to_have_attribute("open", "")
    page.locator("[name=pay_budget]").fill("300")
    pay.locator("summary").focus()
    page.keyboard.press("Space")
    expect(page.locator("[name=pay_budget]")).to_be_hidden()
    expect(pay.locator("summary")).to_contain_text("Changed, not saved yet")


def test_numbers_that_cannot_be_brought_up_to_date_say_so(signed_in, resource):
    page = signed_in
    page.goto("/studies/new/?resource=invented-peoples")
    page.route("**/studies/new/totals/", lambda route: route.abort())
    page.get_by_role("button", name="Select all shown").click()
    expect(page.get_by_role("button", name="Recalculate").last).to_be_visible()
    expect(page.locator("[data-totals]")).to_contain_text("out of date")
    expect(page.locator("#announcer")).to_contain_text("out of date")
    page.complaints.clear()  # the request that should fail
    page.get_by_role("button", name="Recalculate").last.click()
    expect(page.locator("[data-totals] strong").first).to_have_text("30")
