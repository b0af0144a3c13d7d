"""The pages reveal to an annotator no group, prompt, condition or role, and no name chosen by a lead."""

import re
import uuid

import pytest
from django.urls import reverse

from annotation.annotator import urls
from annotation.campaigns import lifecycle
from annotation.models import CampaignAttribute

SENTINEL = "zq7sentinel"


@pytest.fixture
def telling(study, lead, pictures):
    """A marking campaign in which every name and prompt carries the sentinel."""
    study.name = f"Study {SENTINEL}"
    study.save()
    for group in study.groups.all():
        group.name, group.display_name = f"{group.name} {SENTINEL}", f"{SENTINEL} {group.pk}"
        group.region = f"Region {SENTINEL}"
        group.save()
    study.images.update(prompt=f"a photo of a {SENTINEL} person", source_name=f"{SENTINEL}.png")
    campaign = lifecycle.create(
        study=study,
        name=f"Marking {SENTINEL}",
        kind="stereotype_marking",
        by=lead,
        options={"pay_amount": 12.5, "tasks_per_day": 50},
    )
    return lifecycle.open_(campaign=campaign, by=lead)


def every_page(campaign) -> list[str]:
    """Return the addresses of all annotator pages that need only the campaign, including pages added later."""
    by_name = [(one.name, one.pattern.converters) for one in urls.urlpatterns]
    return [
        reverse(f"annotate:{name}", kwargs={"campaign_id": campaign.pk} if converters else {})
        for name, converters in by_name
        if converters.keys() <= {"campaign_id"}
    ]


def every_answer(client, campaign):
    """Open all pages of an annotator, before and after the first answer; yield the responses."""
    yield client.get(reverse("annotate:invitation", args=[client.token]))
    for _ in range(2):
        for address in every_page(campaign):
            yield client.get(address, follow=True)
        yield client.get(reverse("accounts:profile"))
        task = client.post(f"/api/v1/campaigns/{campaign.pk}/next").json()
        yield client.get(task["image"]["url"])
        answer = {"submission_id": str(uuid.uuid4()), "answer": {"none_of_the_above": True}}
        address = f"/api/v1/assignments/{task['assignment']}/submit"
        yield client.post(address, answer, content_type="application/json")


def test_pages_and_headers_name_neither_group_nor_prompt_nor_campaign(join, telling):
    client = join(telling)
    seen = 0
    for answer in every_answer(client, telling):
        assert answer.status_code in {200, 405}  # 405: an address that only takes forms
        seen += answer.status_code == 200
        assert SENTINEL not in answer.content.decode("latin-1")
        assert SENTINEL not in str(answer.headers)
    assert seen > 25


def test_the_task_page_does_not_reveal_which_attributes_are_stereotypes(join, telling):
    text = join(telling).get(reverse("annotate:task", args=[telling.pk])).content.decode()
    for role in CampaignAttribute.Role.values:
        assert not re.search(rf"\b{role}\b", text)


def test_addresses_and_titles_are_neutral(join, telling):
    client = join(telling)
    text = client.get(reverse("annotate:task", args=[telling.pk])).content.decode()
    assert re.search(r"<title>(.*?)</title>", text)[1] == "Marking pictures · Stereoscope"
    for address in re.findall(r'(?:href|src|action|data-[a-z-]*url)="([^"]*)"', text):
        assert "isles" not in address
        assert "elmari" not in address.lower()
