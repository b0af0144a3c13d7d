"""A draft with one fault, over HTTP: it is not opened, and the page says why and where to mend it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from django.conf import settings
from django.urls import reverse

from annotation.campaigns import lifecycle
from annotation.campaigns.instruments.languages import translations
from annotation.models import Annotation, Campaign, Task
from studies.consent import publish_consent
from studies.models import StudyAssociation
from tests.annotation.launch.conftest import TEXTS

STUDY = {"study": "isles"}
CAMPAIGN = STUDY | {"campaign": "main"}


@dataclass(frozen=True)
class Fault:
    """`plant` takes something away; `sentence` is what the page then says and `link` where it leads."""

    plant: Callable[[Campaign, Any], None]
    sentence: str
    link: str
    of_campaign: bool = True


def options(campaign: Campaign, lead: Any, **changed: Any) -> None:
    lifecycle.update_draft(campaign=campaign, by=lead, options=campaign.options | changed)


def stock_consent(campaign: Campaign, lead: Any) -> None:
    campaign.study.consent_text = None
    campaign.study.save()


def infeasible_quotas(campaign: Campaign, lead: Any) -> None:
    lifecycle.update_draft(campaign=campaign, by=lead, quotas=["at_least 1 region_of_origin = group.region"])
    campaign.study.groups.filter(name="Velmari").update(region="")


def offensive_without_notice(campaign: Campaign, lead: Any) -> None:
    publish_consent(study=campaign.study, by=lead, **{**TEXTS, "content_notice": "Pictures."})
    StudyAssociation.objects.filter(study=campaign.study).update(offensiveness_stored=1.0)


FAULTS = {
    "stock consent": Fault(
        stock_consent, "agree to the text that comes with the platform", "studies:consent", of_campaign=False
    ),
    "pay unsaid": Fault(
        lambda campaign, lead: options(campaign, lead, pay_amount=None),
        "Nothing says what people get",
        "annotation:campaign_edit",
    ),
    "infeasible quotas": Fault(
        infeasible_quotas, "No annotators at all can meet the quotas", "annotation:campaign_edit"
    ),
    "no practice": Fault(
        lambda campaign, lead: Task.objects.filter(campaign=campaign).delete(),
        "There is no practice and no task with a known answer",
        "annotation:known_tasks",
    ),
    "no content notice": Fault(
        offensive_without_notice, "the content notice does not warn", "studies:consent", of_campaign=False
    ),
    "texts missing in a language": Fault(
        lambda campaign, lead: translations.add_language(campaign=campaign, language="de", by=lead),
        "not translated",
        "annotation:languages",
    ),
    "no pilot": Fault(
        lambda campaign, lead: Annotation.objects.exclude(campaign=campaign).update(is_latest=False),
        "No small campaign of this kind",
        "annotation:campaign_copy",
    ),
    "no budget": Fault(
        lambda campaign, lead: options(campaign, lead, pay_budget=None),
        "No budget is set",
        "annotation:campaign_edit",
    ),
}


@pytest.fixture
def browser(live_server, lead_client):
    """An HTTP client with the lead's session."""
    cookies = {name: morsel.value for name, morsel in lead_client.cookies.items()}
    with httpx.Client(base_url=live_server.url, cookies=cookies, follow_redirects=True) as http:
        yield http


def press_open(browser: httpx.Client) -> httpx.Response:
    page = reverse("annotation:campaign_launch", kwargs=CAMPAIGN)
    browser.get(page)
    return browser.post(
        reverse("annotation:campaign_open", kwargs=CAMPAIGN),
        data={"csrfmiddlewaretoken": browser.cookies[settings.CSRF_COOKIE_NAME]},
        headers={"Referer": str(browser.base_url)},
    )


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_refused_with_a_sentence_and_a_link(ready, lead, browser, name):
    fault = FAULTS[name]
    fault.plant(ready, lead)
    page = browser.get(reverse("annotation:campaign_launch", kwargs=CAMPAIGN)).text
    assert fault.sentence in page
    assert f'href="{reverse(fault.link, kwargs=CAMPAIGN if fault.of_campaign else STUDY)}"' in page
    refused = press_open(browser)
    assert fault.sentence in refused.text
    ready.refresh_from_db()
    assert ready.state == Campaign.State.DRAFT


def test_without_a_fault_it_opens(ready, browser):
    press_open(browser)
    ready.refresh_from_db()
    assert ready.state == Campaign.State.OPEN
