"""Blindness: data sent to an annotator names no group, prompt, condition or role."""

import io
import json
import re
import uuid
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone
from PIL import Image as Picture
from PIL.PngImagePlugin import PngInfo

from accounts import tokens
from annotation.annotator.payload import leased_payload, task_payload
from annotation.answers.attribute_references import references
from annotation.assignment import leases
from annotation.campaigns import lifecycle
from annotation.models import Assignment, CampaignAttribute
from catalog.models import Stereotype
from generation.images.storage import store_image
from generation.models import Image
from studies.models import Study, StudyGroup
from tests.annotation.factories import new_annotator

pytestmark = pytest.mark.django_db

SECRETS = (
    "velmari", "orsani", "sentinelgroup", "sentinelregion", "sentinelprompt", "sentinelcondition",
    "sentinelmodel", "sentinelstudy", "sentinelcampaign", "sentinelmetadata", "sentinelfile", "stereotyp",
    "random",
)  # fmt: skip


def picture(index):
    """Return a PNG whose metadata contains the secret."""
    file, meta = io.BytesIO(), PngInfo()
    meta.add_text("prompt", "sentinelmetadata sentinelprompt Velmari")
    Picture.new("RGB", (64, 64), (index, 100, 200)).save(file, "PNG", pnginfo=meta)
    return file.getvalue()


@pytest.fixture
def campaign(study, lead):
    Study.objects.filter(pk=study.pk).update(name="sentinelstudy", slug="sentinelstudy")
    study.refresh_from_db()
    StudyGroup.objects.filter(name="Velmari").update(
        name="SentinelGroup", display_name="SentinelGroup", region="SentinelRegion"
    )
    for group in study.groups.all():
        for index in range(2):
            store_image(
                study=study,
                data=picture(group.pk * 10 + index),
                group=group,
                model_label="sentinelmodel",
                condition="default",
                prompt="sentinelprompt of a person",
                source_name=f"sentinelfile-{group.name}-{index}.png",
                provenance={"note": "sentinelcondition"},
            )
    draft = lifecycle.create(
        study=study,
        name="sentinelcampaign",
        kind="stereotype_marking",
        by=lead,
        annotators_per_task=1,
        attributes_per_screen=2,
    )
    return lifecycle.open_(campaign=draft, by=lead)


class Watched:
    """A client that records every byte it receives, including headers."""

    def __init__(self, user):
        _, key = tokens.issue(user=user, name="test", scopes=["annotate"])
        self.client = Client(headers={"authorization": f"Bearer {key}"})
        self.seen = []

    def keep(self, answer):
        body = b"".join(answer.streaming_content) if answer.streaming else answer.content
        head = "\n".join(f"{name}: {value}" for name, value in answer.items())
        self.seen.append(head.encode() + b"\n\n" + body)
        return answer, body

    def post(self, path, data=None):
        answer, body = self.keep(self.client.post(f"/api/v1/{path}", data, content_type="application/json"))
        return json.loads(body) if body else answer

    def get(self, path):
        return self.keep(self.client.get(path))


def leaks(seen):
    text = b"\n".join(seen).decode("latin-1").lower()
    return {secret for secret in SECRETS if secret in text}


def test_nothing_sent_to_an_annotator_reveals_blind_values(campaign):
    browser = Watched(new_annotator(campaign).user)
    task = browser.post(f"campaigns/{campaign.pk}/next")
    screens = 0
    while task is not None:
        screens += 1
        answer, data = browser.get(task["image"]["url"])
        assert answer.status_code == 200
        assert not Picture.open(io.BytesIO(data)).info.keys() & {"prompt", "exif", "xmp", "comment"}
        browser.post(f"assignments/{task['assignment']}/submit", {"submission_id": str(uuid.uuid4())})
        ref = task["attributes"][0]["ref"]
        box = {"attribute": ref, "x": 0, "y": 0, "width": 1, "height": 1}
        saved = browser.post(
            f"assignments/{task['assignment']}/submit",
            {"submission_id": str(uuid.uuid4()), "answer": {"ticked": [ref], "boxes": [box]}},
        )
        task = saved["next"]
    assert screens == campaign.tasks.count() > 4
    browser.post(f"campaigns/{campaign.pk}/next")
    for address in (
        "/api/v1/studies/",
        "/api/v1/studies/sentinelstudy/",
        f"/api/v1/campaigns/{campaign.pk}/",
        f"/api/v1/campaigns/{campaign.pk}/progress/",
        "/api/v1/studies/sentinelstudy/images/",
        "/api/v1/jobs/",
    ):
        browser.get(address)
    assert len(browser.seen) > 3 * screens
    assert leaks(browser.seen) == set()


TASK = {
    "assignment", "expires_at", "kind", "instrument", "image", "attributes", "boxes_required", "progress", "answer",
}  # fmt: skip


def assert_only_what_is_allowed(task):
    """Check that every key at every level is on the allow-list."""
    assert task.keys() == TASK
    assert task["instrument"].keys() == {"version", "guidelines", "statement", "labels"}
    assert task["image"].keys() == {"url", "width", "height"}
    assert task["progress"].keys() - {"pay"} == {"done", "left"}
    for shown in task["attributes"]:
        assert shown.keys() == {"ref", "text"}
        assert re.fullmatch("[0-9a-f]{16}", shown["ref"])
    if task["answer"]:
        assert task["answer"].keys() == {"ticked", "boxes", "none_of_the_above"}
        for box in task["answer"]["boxes"]:
            assert box.keys() == {"attribute", "x", "y", "width", "height"}
    if "pay" in task["progress"]:
        assert task["progress"]["pay"].keys() == {"amount", "currency", "rate", "per"}


def test_the_payload_holds_the_keys_of_the_allow_list_and_no_other(campaign):
    campaign.options = campaign.options | {"pay_amount": 12.0}
    campaign.save()
    person = new_annotator(campaign)
    browser = Watched(person.user)
    task = browser.post(f"campaigns/{campaign.pk}/next")
    assert task["progress"]["pay"]["rate"] == "12.0"
    assert_only_what_is_allowed(task)
    ref = task["attributes"][0]["ref"]
    box = {"attribute": ref, "x": 0, "y": 0, "width": 1, "height": 1}
    answer = {"ticked": [ref], "boxes": [box]}
    address = f"assignments/{task['assignment']}/submit"
    saved = browser.post(address, {"submission_id": str(uuid.uuid4()), "answer": answer})
    assert saved.keys() - {"warning"} == {"annotation", "submission_id", "revision", "status", "next", "why"}
    assert_only_what_is_allowed(saved["next"])
    # Viewed again and corrected.
    assert_only_what_is_allowed(task_payload(Assignment.objects.get(public_id=task["assignment"])))
    again = browser.post(address, {"submission_id": str(uuid.uuid4()), "answer": {"none_of_the_above": True}})
    assert again.keys() == saved.keys()
    assert_only_what_is_allowed(again["next"])


def test_payloads_contain_no_internal_keys_of_attributes_or_images(campaign):
    browser = Watched(new_annotator(campaign).user)
    task = browser.post(f"campaigns/{campaign.pk}/next")
    assert_only_what_is_allowed(task)
    address = task["image"]["url"]
    for image in Image.objects.all():
        assert str(image.public_id) not in address
        assert image.public_id.hex not in address
        assert image.sha256[:8] not in address


def leased_to(annotator, task):
    now = timezone.now()
    purpose = Assignment.Purpose.GOLD
    return leases.lease(
        task.pk, annotator.pk, purpose=purpose, now=now, expires_at=now + timedelta(minutes=30)
    )


def test_addresses_do_not_tell_two_annotators_that_they_see_the_same_image(marking):
    task = marking.tasks.first()
    for payload in (task_payload, lambda assignment: leased_payload(assignment, marking)):
        people = [new_annotator(marking) for _ in range(2)]
        addresses = {payload(leased_to(person, task))["image"]["url"] for person in people}
        assert len(addresses) == 2


def test_names_of_attributes_do_not_tell_that_two_screens_ask_about_the_same(marking):
    names = [references(task) for task in marking.tasks.all()]
    asked = [attribute for of_task in names for attribute in of_task.values()]
    assert len(set(asked)) < len(asked) == len({ref for of_task in names for ref in of_task})


def test_exchanged_roles_show_annotators_the_same_screens(study, lead):
    """With the roles of the two groups' attributes exchanged, the same words are on the same screens."""
    Stereotype.objects.filter(attribute__text="kite").delete()
    Stereotype.objects.filter(group__name="Orsani", attribute__text="tall hat").delete()
    for group in study.groups.all():
        store_image(
            study=study, data=picture(group.pk), group=group, model_label="sketch", condition="default"
        )

    def shown():
        Study.objects.update(frozen_at=None)
        study.refresh_from_db()
        study.associations.all().delete()
        study.campaigns.all().delete()
        draft = lifecycle.create(study=study, name="Swap", kind="stereotype_marking", by=lead)
        campaign = lifecycle.open_(campaign=draft, by=lead)
        roles = set(CampaignAttribute.objects.values_list("group__name", "attribute__text", "role"))
        screens = [
            (task.image_id, task.screen, [one.attribute.text for one in task.task_attributes.all()])
            for task in campaign.tasks.order_by("pk")
        ]
        return roles, screens

    roles, screens = shown()
    velmari, orsani = (study.resource.groups.get(name=name) for name in ("Velmari", "Orsani"))
    of_velmari = list(Stereotype.objects.filter(group=velmari).values_list("pk", flat=True))
    Stereotype.objects.filter(group=orsani).update(group=velmari)
    Stereotype.objects.filter(pk__in=of_velmari).update(group=orsani)
    swapped_roles, swapped_screens = shown()
    assert not roles & swapped_roles
    assert screens == swapped_screens
