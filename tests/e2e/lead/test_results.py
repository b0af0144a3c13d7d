"""An analyst goes through the results in a real browser."""

import re

import pytest

from tests.analysis.conftest import marked  # noqa: F401 - the hand-worked study
from tests.e2e.conftest import PHONE

expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed").expect
pytestmark = [pytest.mark.e2e, pytest.mark.django_db(transaction=True)]


def sign_in(page):
    page.goto("/account/sign-in/")
    page.get_by_label("Username").fill("anton")
    page.get_by_label("Password", exact=True).fill("a long password")
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.wait_for_url("**/studies/")


@pytest.fixture
def at_results(page, marked, analyst):  # noqa: F811
    """Return the overview, computed from the page itself."""
    sign_in(page)
    page.goto("/studies/isles/results/")
    page.get_by_role("button", name="Compute results").click()
    expect(page.get_by_text("The results are up to date.")).to_be_visible()
    return page


def test_an_analyst_goes_from_the_headline_to_who_said_what(at_results, marked):  # noqa: F811
    page = at_results
    expect(page.locator(".headline-theta")).to_contain_text("5.00")  # (5/12 + 5/12) ÷ (1/6 + 0)

    page.get_by_role("navigation", name="Results").get_by_role("link", name="Groups", exact=True).click()
    velmari = page.get_by_role("row").filter(has_text="Velmari")
    expect(velmari).to_contain_text("2.50")
    expect(page.get_by_role("row").filter(has_text="Orsani")).to_contain_text("only stereotypes")
    # The order is stored in the address.
    page.get_by_role("button", name="θ with its 95 % interval").click()
    expect(page).to_have_url(re.compile(r"sort"))

    page.get_by_role("link", name="Velmari").click()
    expect(page.get_by_role("row").filter(has_text="tall hat").first).to_contain_text("66.7")
    page.get_by_text("Show", exact=True).click()
    figure = page.locator("figure.example").first
    boxes = figure.locator(".drawer rect:not(.box-halo)")
    assert boxes.count() == 5  # v1: two of p, two of q, one of r
    figure.get_by_role("checkbox").first.uncheck()
    expect(figure.locator(".drawer-1")).to_be_hidden()
    expect(figure.locator(".drawer-2")).to_be_visible()

    page.get_by_role("link", name="tall hat").first.click()
    page.get_by_text("Show", exact=True).click()
    p = marked.annotators["p"].pseudonym
    expect(page.locator("#images ~ details")).to_contain_text(f"{p} yes")


def test_filters_live_in_the_address_and_back_works(at_results):
    page = at_results
    page.goto("/studies/isles/results/groups/")
    page.get_by_label("Name contains").fill("vel")
    page.get_by_role("button", name="Filter").click()
    expect(page.get_by_role("row")).to_have_count(2)
    page.go_back()
    expect(page.get_by_role("row")).to_have_count(3)
    page.goto("/studies/isles/results/visual-attributes/?rule=mean&threshold=2.6")
    expect(page.locator(".result-line")).to_contain_text("3 of 4")
    expect(page.get_by_label("Mean of at least")).to_have_value("2.6")


def test_tables_and_plots_are_taken_away(at_results):
    page = at_results
    with page.expect_download() as zipped:
        page.get_by_role("link", name="All tables (zip)").first.click()
    assert zipped.value.suggested_filename == "isles-results.zip"
    for kind, beginning in (("SVG", b"<svg"), ("PNG", b"\x89PNG"), ("CSV", b"identity_group")):
        with page.expect_download() as plot:
            page.locator("figure.plot").first.get_by_role("link", name=kind).click()
        assert plot.value.path().read_bytes().startswith(beginning)


def test_every_page_fits_a_phone(new_page, marked, analyst):  # noqa: F811
    page = new_page(size=PHONE)
    marked.study.groups.filter(name="Velmari").update(map_code="ITA")
    sign_in(page)
    page.goto("/studies/isles/results/")
    page.get_by_role("button", name="Compute results").click()
    expect(page.get_by_text("The results are up to date.")).to_be_visible()
    for path in (
        "",
        "groups/",
        "groups/Velmari/",
        "attributes/",
        "attributes/drum/?group=Velmari",
        "agreement/",
        "disagreement/?group=Velmari&by=gender",
        "annotator-groups/",
        "compare/",
        "visual-attributes/",
        "annotators/",
        f"groups/images/{marked.images['v1'].public_id}/",
    ):
        page.goto(f"/studies/isles/results/{path}")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path
        assert page.locator("h1").count() == 1


def test_a_country_of_the_map_is_read_by_pointer_and_by_keyboard(at_results, marked):  # noqa: F811
    page = at_results
    marked.study.groups.filter(name="Velmari").update(map_code="BRA")
    marked.study.groups.filter(name="Orsani").update(map_code="AUS")
    page.goto("/studies/isles/results/groups/?map=stereotypes")
    says = page.locator("[data-map-says]")
    page.locator("a[aria-label^=Australia]").hover()
    expect(says).to_have_text("Australia: Orsani 2, n = 24 judgements")
    page.locator("a[aria-label^=Brazil]").focus()
    expect(says).to_have_text("Brazil: Velmari 2, n = 24 judgements")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/groups/Velmari/"))
    page.go_back()
    page.get_by_role("link", name="Offensiveness", exact=True).click()
    expect(page).to_have_url(re.compile("map=offensiveness"))
    expect(page.locator("figure.map .plot-title")).to_have_text("Whose images show offensive stereotypes?")


def test_the_map_scrolls_within_its_frame_on_a_phone(new_page, marked, analyst):  # noqa: F811
    page = new_page(size={"width": 390, "height": 844}, touch=True)
    marked.study.groups.filter(name="Velmari").update(map_code="BRA")
    marked.study.groups.filter(name="Orsani").update(map_code="AUS")
    sign_in(page)
    page.goto("/studies/isles/results/")
    page.get_by_role("button", name="Compute results").click()
    expect(page.get_by_text("The results are up to date.")).to_be_visible()
    page.goto("/studies/isles/results/groups/")
    frame = page.locator("figure.map .drawing:has(> svg)").first
    frame.scroll_into_view_if_needed()
    sizes = frame.evaluate(
        "(frame) => ({ shown: frame.clientWidth, whole: frame.scrollWidth, end: frame.getBoundingClientRect().right,"
        " page: document.documentElement.scrollWidth, screen: innerWidth })"
    )
    assert sizes["whole"] >= 540  # wide enough to touch a country
    assert sizes["shown"] < sizes["whole"]
    assert sizes["end"] <= sizes["screen"] == sizes["page"] == 390

    east = page.locator("a[aria-label^=Australia]")
    edges = "(east, frame) => [east.getBoundingClientRect().right, frame.getBoundingClientRect().right]"
    hidden, end = east.evaluate(edges, frame.element_handle())
    assert hidden > end
    frame.hover()
    page.mouse.wheel(400, 0)
    page.wait_for_function("(frame) => frame.scrollLeft > 100", arg=frame.element_handle())
    seen, end = east.evaluate(edges, frame.element_handle())
    assert seen <= end
    assert page.evaluate("scrollX") == 0
    east.tap()
    expect(page).to_have_url(re.compile("/groups/Orsani/"))
