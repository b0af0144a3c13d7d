"""Every response that an annotator's browser receives is searched for the word that names what it measures."""

import pytest
from playwright.sync_api import Error

from tests.e2e.annotator.steps import FIRST, drag, link, marking, rating, ready, saved

__all__ = ["marking", "rating"]
pytestmark = [pytest.mark.e2e, pytest.mark.django_db(transaction=True)]
WORD = "stereotyp"


def recorded(page) -> dict[str, str]:
    """Record address, headers and body of every response; bodies of redirects are empty."""
    read: dict[str, str] = {}

    def keep(response) -> None:
        try:
            body = response.body().decode("latin-1")
        except Error:
            body = ""
        headers = "\n".join(f"{one['name']}: {one['value']}" for one in response.headers_array())
        read[f"{response.request.method} {response.url} {len(read)}"] = f"{headers}\n{body}"

    page.on("response", keep)
    return read


def test_nothing_a_browser_receives_from_invitation_to_withdrawal_says_the_word(page, marking, rating):
    read = recorded(page)
    for campaign in (marking, rating):
        page.goto(link(campaign))
        page.get_by_role("button", name="Start").click()
        if campaign is marking:
            page.get_by_role("button", name="I am 18 or older and I agree").click()
            page.get_by_label("Gender").fill("Woman")
            page.get_by_role("button", name="Save").click()
            page.get_by_role("link", name="Go to the first task").click()
        page.wait_for_url("**/annotate/*/")
        page.goto(f"/annotate/{campaign.pk}/")
        ready(page)
        if campaign is marking:
            page.locator("[data-attribute]").first.get_by_role("checkbox").check()
            drag(page, FIRST)
            page.get_by_role("button", name="Submit").click()
            saved(page, 1)
    for address in ("/annotate/", "/annotate/time-and-pay/", "/account/", "/api/docs/"):
        page.goto(address)
        page.wait_for_load_state("networkidle")  # the last page reads the schema
    page.goto(f"/annotate/{marking.pk}/consent/withdraw/")
    told = [name for name, text in read.items() if WORD in f"{name}\n{text}".casefold()]
    assert told == []
    assert WORD not in str(page.context.cookies()).casefold()
    assert any(name.endswith(".js") or ".js " in name for name in read)
    assert any("/api/schema/" in name for name in read)
    assert any('"kind":"marking"' in text.replace(" ", "") for text in read.values())
