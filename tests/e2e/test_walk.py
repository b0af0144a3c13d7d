"""The whole job in a real browser: a lead creates a study and opens a campaign, and two annotators label all of it.

The analyst's θ equals the value computed by hand from their clicks.
"""

from collections import defaultdict
from statistics import mean

import pytest

from annotation.models import Annotation, Campaign
from studies.models import Study
from tests.e2e.annotator.steps import drag, ready
from tests.e2e.conftest import PHONE
from tests.e2e.lead.launch import open_simulated
from tests.e2e.worker import finish_jobs

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.django_db(transaction=True)]

# The attributes that the invented resource lists with at least two raters; the other attributes shown are random.
STEREOTYPES = {
    "Velmari": {"tall hat", "blue scarf", "lantern"},
    "Orsani": {"round glasses", "drum", "umbrella"},
}
# Each annotator ticks by a different rule, so that they disagree.
TICKS = ({"tall hat", "drum", "lantern", "blue scarf"}, {"tall hat", "drum", "umbrella"})


def sign_in(page, username):
    page.goto("/account/sign-in/")
    page.get_by_label("Username").fill(username)
    page.get_by_label("Password", exact=True).fill("a long password")
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.wait_for_url("**/studies/")


def make_study(page):
    page.get_by_role("link", name="Create the first study").click()
    page.get_by_role("link", name="Invented peoples").click()
    page.get_by_label("Name", exact=True).fill("Walk")
    page.get_by_label("A simulated study").check()
    page.get_by_role("button", name="Select all shown").click()
    page.get_by_label("Prompts").fill("a photo of {a_an} {id} person")
    page.get_by_label("Images per prompt and group").fill("2")
    page.get_by_role("button", name="Create study").click()
    page.wait_for_url("**/studies/walk/")


def make_images(page):
    page.goto("/studies/walk/images/generate/?backend=sketch")
    page.get_by_role("button", name="Make 4 images").click()
    page.get_by_role("heading", name="In progress").wait_for()
    finish_jobs(page)
    page.get_by_role("link", name="New campaign").first.wait_for()


def open_campaign(page):
    page.goto("/studies/walk/campaigns/new/?kind=stereotype_marking")
    page.get_by_label("Name", exact=True).fill("Marking")
    page.get_by_label("Annotators per task").fill("2")
    page.get_by_role("button", name="Save draft").click()
    page.wait_for_url("**/campaigns/marking/")
    open_simulated(page)
    page.get_by_role("link", name="Invite annotators").wait_for()


def invitation(page) -> str:
    page.goto("/studies/walk/campaigns/marking/invitations/")
    page.get_by_label("How many people may join with the link").fill("2")
    page.get_by_role("button", name="Make the link").click()
    return page.locator("code").filter(has_text="/annotate/i/").inner_text()


def label_everything(page, address, ticks) -> list[dict[str, bool]]:
    """Join by the link and label until nothing is left; return the ticks, screen by screen."""
    page.goto(address)
    page.get_by_role("button", name="Start").click()
    page.get_by_role("button", name="I am 18 or older and I agree").click()
    page.get_by_role("button", name="Skip").click()
    page.get_by_role("link", name="Go to the first task").click()
    clicked: list[dict[str, bool]] = []
    while True:
        ready(page)
        answers = {}
        for place, one in enumerate(page.locator("[data-attributes] > [data-attribute]").all()):
            text = one.locator(".choice [data-text]").inner_text()
            answers[text] = text in ticks
            if answers[text]:
                one.get_by_role("checkbox").check()
                page.evaluate("window.scrollTo(0, 0)")  # on a phone the attributes are below the picture
                # Side by side, because a drag that begins on an earlier box would move that one.
                drag(page, (0.02 + 0.19 * place, 0.1, 0.16 + 0.19 * place, 0.4))
        if not any(answers.values()):
            page.get_by_role("checkbox", name="None of the above").check()
        clicked.append(answers)
        page.get_by_role("button", name="Submit").click()
        page.locator("#progress").get_by_text(f"{len(clicked)} done").or_(
            page.get_by_role("heading", name="Thank you")
        ).first.wait_for()
        if "/done/" in page.url:
            return clicked


def theta_by_hand(clicked) -> dict[str, float]:
    """Return θ(g) from the clicks alone: mean share of ticks of the stereotypes over that of the random attributes.

    `clicked` has the screens of the first annotator, then those of the second. Only the group that a picture
    depicts, which annotators do not know, comes from the database.
    """
    annotations = Annotation.objects.order_by("pk").select_related("task__image__group")
    shown, ticked = defaultdict(int), defaultdict(int)
    for annotation, answers in zip(annotations, clicked, strict=True):
        for text, tick in answers.items():
            shown[annotation.task.image.group.name, text] += 1
            ticked[annotation.task.image.group.name, text] += tick
    theta = {}
    for group, listed in STEREOTYPES.items():
        share = {text: ticked[g, text] / shown[g, text] for g, text in shown if g == group}
        theta[group] = mean(share[text] for text in share if text in listed) / mean(
            share[text] for text in share if text not in listed
        )
    return theta


def test_from_a_resource_to_theta(new_page, lead, analyst, resource):
    lead_page = new_page()
    sign_in(lead_page, "lena")
    make_study(lead_page)
    make_images(lead_page)
    open_campaign(lead_page)
    address = invitation(lead_page)

    clicked = label_everything(new_page(), address, TICKS[0])
    clicked += label_everything(new_page(size=PHONE), address, TICKS[1])
    campaign = Campaign.objects.get()
    assert len(clicked) == sum(campaign.tasks.values_list("wanted", flat=True))

    Study.objects.get().memberships.create(user=analyst, role="analyst")
    page = new_page()
    sign_in(page, "anton")
    page.goto("/studies/walk/results/")
    page.get_by_role("button", name="Compute").first.click()
    page.get_by_text("pooled θ").first.wait_for()
    expected = theta_by_hand(clicked)
    assert all(value > 0 for value in expected.values())
    for group, theta in expected.items():
        page.goto("/studies/walk/results/groups/")
        row = page.get_by_role("row").filter(has_text=group)
        assert f"{theta:.2f}" in row.inner_text()
    table = page.request.get("/studies/walk/results/tables/tendency.csv").text().splitlines()
    names = table[0].split(",")
    for line in table[1:]:
        row = dict(zip(names, line.split(","), strict=True))
        assert float(row["theta"]) == pytest.approx(expected[row["identity_group"]], rel=1e-12)
