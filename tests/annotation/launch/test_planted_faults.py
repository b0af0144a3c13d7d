"""A draft with one fault, planted over HTTP where possible, is not opened; the page states the fault
and links to its correction."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse

from annotation.models import Annotation, Campaign, Task
from studies.models import StudyAssociation
from tests.annotation.launch.conftest import TEXTS

STUDY = {"study": "isles"}
CAMPAIGN = STUDY | {"campaign": "main"}


@dataclass(frozen=True)
class Fault:
    """`plant` makes the fault as the lead of `client`; the page then shows `sentence` and `link`."""

    plant: Callable[[Campaign, Client], None]
    sentence: str
    link: str
    of_campaign: bool = True


def edit(client: Client, **changed: Any) -> None:
    """Change fields of the draft's form and save it."""
    page = reverse("annotation:campaign_edit", kwargs=CAMPAIGN)
    form = client.get(page).context["form"]
    values = {name: form[name].value() for name in form.fields} | changed
    data = {name: value for name, value in values.items() if value not in (None, False)}
    hidden = {"kind": form.kind, "campaign": "main", "quota_rows": form.row_count, "action": "save"}
    assert client.post(page, data | hidden).status_code == 302


def stock_consent(campaign: Campaign, _client: Client) -> None:
    campaign.study.consent_text = None
    campaign.study.save()


def infeasible_quotas(campaign: Campaign, client: Client) -> None:
    rule = {
        "kind": "at_least",
        "number": 1,
        "field": "region_of_origin",
        "relation": "=",
        "values": "group.region",
    }
    edit(client, **{f"quota_{part}_1": value for part, value in rule.items()})
    campaign.study.groups.filter(name="Velmari").update(region="")


def too_few_people(_campaign: Campaign, client: Client) -> None:
    rule = {"kind": "at_least", "number": 2, "field": "gender", "relation": "=", "values": "woman"}
    edit(client, **{f"quota_{part}_1": value for part, value in rule.items()})


def offensive_without_notice(campaign: Campaign, client: Client) -> None:
    page = reverse("studies:consent", kwargs=STUDY)
    assert client.post(page, TEXTS | {"content_notice": "Pictures."}).status_code == 302
    StudyAssociation.objects.filter(study=campaign.study).update(offensiveness_stored=1.0)


FAULTS = {
    "stock consent": Fault(
        stock_consent, "be shown the default consent text", "studies:consent", of_campaign=False
    ),
    "pay unsaid": Fault(
        lambda _campaign, client: edit(client, pay_amount=""),
        "does not say what people are paid",
        "annotation:campaign_edit",
    ),
    "infeasible quotas": Fault(infeasible_quotas, "Nobody can meet the quotas", "annotation:campaign_edit"),
    "too few people for the quotas": Fault(
        too_few_people, "Gender: woman: 2 people needed, 0 take part, 2 are missing", "annotation:invitations"
    ),
    "no practice": Fault(
        lambda campaign, _client: Task.objects.filter(campaign=campaign).delete(),
        "There is no practice and no task with a known answer",
        "annotation:known_tasks",
    ),
    "no content notice": Fault(
        offensive_without_notice, "the content notice does not warn", "studies:consent", of_campaign=False
    ),
    "texts missing in a language": Fault(
        lambda _campaign, client: client.post(
            reverse("annotation:language_add", kwargs=CAMPAIGN), {"language": "de"}
        ),
        "not translated",
        "annotation:languages",
    ),
    "no pilot": Fault(
        lambda campaign, _client: Annotation.objects.exclude(campaign=campaign).update(is_latest=False),
        "This study has had no pilot",
        "annotation:campaign_copy",
    ),
    "no budget": Fault(
        lambda _campaign, client: edit(client, pay_budget=""),
        "No budget is set",
        "annotation:campaign_edit",
    ),
    "over budget": Fault(
        lambda _campaign, client: edit(client, pay_budget="1"),
        "more than the budget of 1.00",
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
def test_a_fault_is_refused_with_a_sentence_and_a_link(ready, lead_client, browser, name):
    fault = FAULTS[name]
    fault.plant(ready, lead_client)
    page = browser.get(reverse("annotation:campaign_launch", kwargs=CAMPAIGN)).text
    assert fault.sentence in page
    link = reverse(fault.link, kwargs=CAMPAIGN if fault.of_campaign else STUDY)
    link += "" if fault.of_campaign else "?campaign=main"
    assert re.search(rf'href="{re.escape(link)}(#section-[\w-]+)?"', page)
    refused = press_open(browser)
    assert fault.sentence in refused.text
    ready.refresh_from_db()
    assert ready.state == Campaign.State.DRAFT


def test_the_consent_text_is_corrected_from_the_checklist(ready, lead_client):
    launch = reverse("annotation:campaign_launch", kwargs=CAMPAIGN)
    consent = f"{reverse('studies:consent', kwargs=STUDY)}?campaign=main"
    assert lead_client.get(launch).context["consent_form"] is None
    stock_consent(ready, lead_client)
    page = lead_client.get(launch)
    assert f'action="{consent}"' in page.content.decode()
    values = {bound.name: bound.value() for bound in page.context["consent_form"]}
    answer = lead_client.post(consent, values | {"body": TEXTS["body"]})
    assert answer["Location"] == launch
    states = {line.key: line.state for line, _ in lead_client.get(launch).context["lines"]}
    assert states["consent"] == "passed"
    elsewhere = lead_client.post(f"{reverse('studies:consent', kwargs=STUDY)}?campaign=nowhere", TEXTS)
    assert elsewhere["Location"] == reverse("studies:consent", kwargs=STUDY)


def test_without_a_fault_it_opens(ready, browser):
    press_open(browser)
    ready.refresh_from_db()
    assert ready.state == Campaign.State.OPEN
