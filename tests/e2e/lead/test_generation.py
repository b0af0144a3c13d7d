"""A lead plans images in a real browser: numbers follow the input, and nothing is generated before the start."""

import re

import pytest

from generation.models import GenerationRequest
from studies.models import Study

expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed").expect
# The first use of {a_an} loads a dictionary.
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


def test_mcas_of_other_sets_from_choice_to_count(signed_in):
    page = signed_in
    page.goto("/studies/new/")
    page.get_by_role("link", name="Choose sets and targets").click()
    total = page.locator("[data-live-answer] strong")
    expect(total).to_have_text("688")
    expect(page.get_by_role("button", name="Recalculate")).to_be_hidden()
    for name, text in (
        ("Name", "Shapes"),
        ("Name of set A", "round"),
        ("Phrases of A", "a wheel\na ball"),
        ("Name of set B", "square"),
        ("Phrases of B", "a box"),
        ("Targets", "trades | Tiler | a tiler | square"),
    ):
        page.get_by_label(name, exact=True).fill(text)
    expect(total).to_have_text("68", timeout=SLOW)  # 1 × 20 + 3 × 16
    page.route("**/studies/new/mcas/totals/", lambda route: route.abort())
    page.get_by_label("Images of each target").fill("5")
    expect(page.locator("[data-live-answer]")).to_contain_text("out of date")
    expect(page.get_by_role("button", name="Recalculate")).to_be_visible()
    page.complaints.clear()  # the request that should fail
    assert not Study.objects.exists()
    page.get_by_role("button", name="Create study").click()
    page.wait_for_url("**/studies/shapes/images/generate/")
    page.get_by_label(re.compile("^Model")).fill("painter-3")
    expect(page.get_by_role("button", name="Make 53 images")).to_be_visible(timeout=SLOW)
    assert not GenerationRequest.objects.exists()


def test_the_pull_is_counted_as_it_is_chosen(signed_in, study):
    Study.objects.update(simulated=True)  # its images are sketches
    page = signed_in
    page.goto("/studies/isles/images/generate/")
    page.get_by_label("Prompts").select_option("visage-pull")
    start = page.get_by_role("button", name="Make 525 images")
    expect(start).to_be_visible(timeout=SLOW)
    expect(page.locator("[data-live-answer]")).to_contain_text("2 to 3 attributes for each group")
    held = []
    page.route("**/generate/estimate/**", lambda route: held.append(route))
    page.get_by_label("Name in reports").fill("pencil")
    # The count does not belong to the current input.
    expect(start).to_be_disabled()
    with page.expect_response("**/generate/estimate/**"):
        page.unroute("**/generate/estimate/**")
        page.get_by_label("Name in reports").fill("pencils")
    expect(start).to_be_enabled(timeout=SLOW)
    start.click()
    page.wait_for_url("**/studies/isles/")
    assert GenerationRequest.objects.count() == 525
    page.goto("/studies/isles/images/generate/")
    expect(page.get_by_role("link", name="Watch the job")).to_be_visible()
