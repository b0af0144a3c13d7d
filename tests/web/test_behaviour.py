"""The browser modules, in a real Chromium under the real content security policy."""

import itertools
import math
import time

import pytest

from tests.web import behaviour_urls

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.urls("tests.web.behaviour_urls"),
    pytest.mark.django_db(transaction=True),
]


@pytest.fixture
def page(browser, live_server, monkeypatch):
    monkeypatch.setattr(behaviour_urls, "asked", itertools.count(1))
    behaviour_urls.submitted.clear()
    behaviour_urls.gone.clear()
    context = browser.new_context(base_url=live_server.url, viewport={"width": 360, "height": 740})
    opened = context.new_page()
    complaints: list[str] = []
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on(
        "console", lambda line: complaints.append(line.text) if "Content Security" in line.text else None
    )
    yield opened
    context.close()
    assert complaints == []


def first_column(page) -> list[str]:
    return page.locator("#groups tbody tr:visible th").all_inner_texts()


def test_a_heading_sorts_numbers_largest_first_and_nulls_last_both_ways(page):
    page.goto("/behaviour/")
    page.get_by_role("button", name="θ").click()
    assert first_column(page) == ["Tsembi", "Émbari", "Velmari", "Orsani"]
    assert page.get_by_role("columnheader", name="θ").get_attribute("aria-sort") == "descending"
    page.get_by_role("button", name="θ").click()
    assert first_column(page) == ["Velmari", "Émbari", "Tsembi", "Orsani"]
    assert page.get_by_role("columnheader", name="θ").get_attribute("aria-sort") == "ascending"


def test_text_sorts_as_people_read_it_and_the_address_keeps_the_sort(page):
    page.goto("/behaviour/")
    page.get_by_role("button", name="Group").press("Enter")
    assert first_column(page) == ["Émbari", "Orsani", "Tsembi", "Velmari"]
    assert page.url.endswith("?sort=group")
    page.reload()
    assert first_column(page) == ["Émbari", "Orsani", "Tsembi", "Velmari"]


def test_a_column_that_is_not_to_be_sorted_has_no_button(page):
    page.goto("/behaviour/")
    assert page.get_by_role("button", name="Images").count() == 0


def test_filtering_shows_and_counts_matching_rows_and_updates_the_address(page):
    page.goto("/behaviour/")
    page.get_by_label("Filter groups").fill("embari")
    assert first_column(page) == ["Émbari"]
    assert page.locator(".table-tools output").inner_text() == "1 of 4 rows"
    page.reload()
    assert first_column(page) == ["Émbari"]


def test_progress_follows_the_server_as_text_and_stops_when_finished(page):
    page.goto("/behaviour/")
    playwright.expect(page.locator("[data-poll-text=message]")).to_have_text("finished")
    playwright.expect(page.locator("[data-poll-text=progress]")).to_contain_text("4 of 4")
    assert page.locator("#job progress").evaluate("bar => bar.value") == 4
    playwright.expect(page.locator("#announcer")).to_have_text("Images: finished")
    page.wait_for_timeout(200)
    assert next(behaviour_urls.asked) == 5


def test_a_fragment_replaces_the_content_and_its_buttons_work(page):
    page.context.grant_permissions(["clipboard-write"])
    page.goto("/behaviour/?as=html")
    playwright.expect(page.locator("[data-poll-finished]")).to_be_visible()
    page.get_by_role("button", name="Copy it").click()
    playwright.expect(page.locator("#job .copy-said")).to_have_text("Copied")


def test_keyboard_focus_stays_on_the_link_while_the_content_changes(page):
    page.goto("/behaviour/?as=list")
    second = page.get_by_role("link", name="second")
    second.focus()
    count = page.locator("#job div p")
    before = count.inner_text()
    playwright.expect(count).not_to_have_text(before)
    playwright.expect(second).to_be_focused()
    # What did not change is the same element still: what was selected in it stays selected.
    page.evaluate("document.querySelector('#job [href=\"/still/\"]').known = true")
    before = count.inner_text()
    playwright.expect(count).not_to_have_text(before)
    assert page.evaluate("document.querySelector('#job [href=\"/still/\"]').known")


def test_tab_continues_from_where_a_removed_element_had_the_focus(page):
    page.goto("/behaviour/?as=list")
    third = page.get_by_role("link", name="third")
    third.focus()
    playwright.expect(third).to_be_focused()
    behaviour_urls.gone.add("third")
    playwright.expect(third).to_have_count(0)
    playwright.expect(page.locator("#job")).to_be_focused()
    page.keyboard.press("Tab")
    playwright.expect(page.get_by_role("link", name="still")).to_be_focused()


def test_an_unresponsive_server_is_polled_ever_more_slowly_and_reported_once(page):
    began = time.monotonic()
    page.goto("/behaviour/?as=broken")
    playwright.expect(page.locator("#announcer")).to_contain_text("the server did not answer")
    page.wait_for_timeout(1000)
    # After 50, 100, 200, 400 … ms: five questions within the first second and a half, not twenty.
    milliseconds = 1000 * (time.monotonic() - began)
    assert next(behaviour_urls.asked) <= 2 + math.log2(milliseconds / 50 + 1)


def test_a_second_submit_is_ignored_while_the_first_is_under_way(page):
    page.goto("/behaviour/")
    page.get_by_label("Note").fill("once")
    page.evaluate(
        "() => { const b = document.querySelector('#form button'); b.click(); b.click(); b.click(); }"
    )
    playwright.expect(page.locator("#form button")).to_have_text("Saving…")
    page.wait_for_timeout(200)
    assert behaviour_urls.submitted == ["once"]


def test_leaving_with_unsaved_changes_asks_and_without_does_not(page):
    asked: list[str] = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))
    page.goto("/behaviour/")
    page.goto("/behaviour/?again")
    assert asked == []
    page.get_by_label("Note").press_sequentially("something")
    page.goto("/behaviour/")
    assert asked == ["beforeunload"]


def test_the_justification_is_there_and_required_under_unsure_only(page):
    page.goto("/behaviour/")
    playwright.expect(page.locator("#why")).to_be_hidden()
    assert page.locator("#reason").is_disabled()
    page.get_by_label("Unsure").check()
    playwright.expect(page.locator("#why")).to_be_visible()
    assert page.locator("#reason").is_enabled()
    page.get_by_label("Agree").check()
    playwright.expect(page.locator("#why")).to_be_hidden()


def test_copying_copies_and_confirms_it(page):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto("/behaviour/")
    page.get_by_role("button", name="Copy link").click()
    playwright.expect(page.locator(".copy-said")).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == "https://example.org/i/7QK3"


def test_the_page_is_readable_without_javascript(browser, live_server):
    context = browser.new_context(base_url=live_server.url, java_script_enabled=False)
    page = context.new_page()
    page.goto("/behaviour/")
    assert first_column(page) == ["Émbari", "Velmari", "Orsani", "Tsembi"]
    playwright.expect(page.locator("#why")).to_be_visible()
    playwright.expect(page.get_by_label("Filter groups")).to_be_hidden()
    playwright.expect(page.get_by_role("button", name="Copy link")).to_be_hidden()
    page.locator(".content-warning summary").click()
    playwright.expect(page.locator("#hidden-part")).to_be_visible()
    context.close()


def test_nothing_is_wider_than_a_phone(page):
    page.goto("/behaviour/")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
