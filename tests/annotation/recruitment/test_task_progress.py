"""Above each task, people from a panel see the completed screens of their place and its reward."""

from decimal import Decimal

import pytest
from django.urls import reverse
from django.utils import translation

from annotation.campaigns import lifecycle
from annotation.people.pay import money_text


def status_line(page: str) -> str:
    start = page.index('id="progress"')
    return " ".join(page[page.index(">", start) + 1 : page.index("</span>", start)].split())


def task_page(browser, campaign):
    return browser.get(reverse("annotate:task", args=[campaign.pk]))


def test_progress_and_reward_of_a_place_are_shown(recruit, guest, marking):
    browser = guest(recruit(screens=3, reward=Decimal("4.10")))
    page = task_page(browser, marking)
    assert status_line(page.content.decode()) == "0 of 3 · £4.10"
    expected = {"before": 0, "reward": "4.10", "currency": "GBP"}
    assert page.context["payload"]["progress"]["place"] == expected
    browser.answer(1)
    assert status_line(task_page(browser, marking).content.decode()) == "1 of 3 · £4.10"


def test_a_rate_of_the_campaign_is_not_shown_beside_the_reward(recruit, guest, marking, lead):
    lifecycle.change_settings(campaign=marking, by=lead, options={"pay_amount": 12.0, "pay_per": "task"})
    browser = guest(recruit(screens=3))
    assert status_line(task_page(browser, marking).content.decode()) == "0 of 3 · £2.00"


def test_in_german_the_amount_is_german(recruit, guest, marking):
    browser = guest(recruit(screens=3, reward=Decimal("4.10")))
    page = browser.get(reverse("annotate:task", args=[marking.pk]), headers={"accept-language": "de"})
    assert status_line(page.content.decode()) == "0 von 3 · 4,10\N{NO-BREAK SPACE}£".replace("\xa0", " ")


@pytest.mark.parametrize(
    ("language", "text"), [("en", "£1,204.10"), ("de", "1.204,10\N{NO-BREAK SPACE}£"), ("hi", "£1204.10")]
)
def test_money_is_written_as_the_language_does(language, text):
    with translation.override(language):
        assert money_text(Decimal("1204.1"), "GBP") == text


def test_money_without_minor_unit_or_symbol_is_formatted():
    with translation.override("en"):
        assert money_text(Decimal("500"), "JPY") == "¥500"
        assert money_text(Decimal("3"), "CHF") == "3.00\N{NO-BREAK SPACE}CHF"
