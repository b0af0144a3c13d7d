"""From a lead's plan to a panel's link, through the screens of a place and back, in a real browser."""

import os
import uuid
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.recruitment import providers, recruitments
from annotation.recruitment.models import PanelPayment, PanelPlace, Recruitment
from tests.e2e.annotator.steps import rating, ready
from tests.e2e.axe import open_parts, sign_in, violations
from tests.e2e.conftest import DESKTOP, PHONE

__all__ = ["rating"]
expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed").expect
pytestmark = [pytest.mark.e2e, pytest.mark.django_db(transaction=True)]
PICTURES = os.environ.get("PICTURES")  # a folder for pictures of the pages


def looked_at(page, name: str) -> None:
    """Check a page with axe and on a phone; save pictures of it if a folder is set."""
    open_parts(page)
    assert violations(page) == []
    page.emulate_media(color_scheme="light")
    for size in (DESKTOP, PHONE):
        page.set_viewport_size(size)
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
        if PICTURES:
            page.screenshot(path=Path(PICTURES) / f"{name}-{size['width']}.png", full_page=True)
    page.set_viewport_size(DESKTOP)


@pytest.fixture
def recruitment(rating, study, lead) -> Recruitment:
    """Return a recruitment of two screens for 2.00 GBP."""
    links = providers.LinkForm("Isles Panel", "pid", "session", "", "https://panel.example/done?cc={code}")
    panel = providers.add(study=study, by=lead, name="Isles Panel", links=links)
    terms = recruitments.Terms(
        name="Anybody", places=2, screens=2, minutes=10, reward=Decimal("2.00"), currency="GBP"
    )
    draft = recruitments.create(campaign=rating, provider=panel, by=lead, terms=terms)
    return recruitments.move(recruitment=draft, to="open", by=lead)


def test_somebody_from_a_panel_works_and_returns(recruitment, page):
    address = reverse("panel:arrive", args=[recruitment.public_id])
    page.goto(f"{address}?pid=5f3a0c&session=77")
    assert page.url.endswith("/welcome/")
    looked_at(page, "panel-welcome")
    page.get_by_role("link", name="Start").click()
    page.get_by_role("button", name="I am 18 or older and I agree").click()
    page.get_by_role("button", name="Skip").first.click()
    for _ in range(2):
        ready(page)
        page.get_by_text("Strongly Agree", exact=True).click()
        page.get_by_role("button", name="Submit").click()
        # Nothing is preselected on the next screen, nor on the last.
        expect(page.locator("form[data-task] input[type=radio]:checked")).to_have_count(0)
    page.wait_for_url("**/end/")
    assert page.get_by_text(recruitment.completed_code).first.is_visible()
    looked_at(page, "panel-end")
    back = page.get_by_role("link", name="Go back to Isles Panel").get_attribute("href")
    answer = page.request.get(back, max_redirects=0)
    assert answer.status == 303
    assert answer.headers["location"].endswith(f"?cc={recruitment.completed_code}")
    page.go_back()
    page.wait_for_url("**/end/")
    assert PanelPlace.objects.get().state == "completed"


def test_who_is_refused_or_declines_reads_what_to_do(recruitment, new_page):
    page = new_page()
    address = reverse("panel:arrive", args=[recruitment.public_id])
    page.goto(f"{address}?pid=5f3a0c&session=77")
    page.get_by_role("button", name="I do not want to take part").click()
    page.wait_for_url("**/end/")
    looked_at(page, "panel-declined")
    page.complaints.clear()
    page.goto(f"{address}?pid=&session=")
    looked_at(page, "panel-refused")
    page.complaints.clear()  # the browser logs the status 409


def test_a_lead_plans_and_reviews(recruitment, rating, lead, page, client, live_server):
    sign_in(page, client, lead, live_server)
    at = {"study": rating.study.slug, "campaign": rating.slug}
    page.goto(reverse("annotation:recruitments", kwargs=at))
    looked_at(page, "recruitments")
    page.get_by_role("link", name="New recruitment").click()
    looked_at(page, "recruitment-new")
    page.goto(reverse("annotation:recruitment", kwargs={**at, "recruitment": recruitment.pk}))
    looked_at(page, "recruitment")
    page.goto(reverse("annotation:panel_new", kwargs=at))
    looked_at(page, "panel-new")


def test_a_lead_approves_pays_bonuses_and_looks_after_a_lost_one(
    recruitment, rating, lead, page, client, live_server
):
    long_ago = timezone.now() - timedelta(days=15)
    for number, (state, answered) in enumerate(
        [("completed", 2), ("screened_out", 0), ("left", 1), ("left", 1)]
    ):
        PanelPlace.objects.create(
            recruitment=recruitment, state=state, answered=answered, ended_at=long_ago,
            submission_hash=str(number), submission_sealed="sealed",
        )  # fmt: skip
    PanelPayment.objects.create(
        place=PanelPlace.objects.latest("pk"), kind="bonus", cause="work", amount=100, currency="GBP",
        state="unknown", key=uuid.uuid4(), batch="batch", attempts=1, sent_at=long_ago, looked_at=timezone.now(),
        problem="Prolific did not answer within 30 seconds.",
    )  # fmt: skip
    sign_in(page, client, lead, live_server)
    at = {"study": rating.study.slug, "campaign": rating.slug, "recruitment": recruitment.pk}
    page.goto(reverse("annotation:recruitment_review", kwargs=at))
    looked_at(page, "review")
    page.get_by_role("button", name="Approve all").click()
    page.get_by_text("2 places are approved").wait_for()
    page.get_by_role("link", name="Record bonuses").click()
    looked_at(page, "bonuses")
    page.get_by_role("button", name="I paid 1.00 GBP").click()
    page.get_by_text("1 bonus recorded as paid").wait_for()
    page.get_by_role("link", name="Send again").click()
    looked_at(page, "bonus-again")
    page.get_by_role("link", name="Back").click()
    page.get_by_role("button", name="Mark as paid").click()
    page.get_by_text("The bonus is recorded as paid").wait_for()
    page.emulate_media(color_scheme="dark")
    looked_at(page, "reviewed")
