"""An object has addresses within its own study, campaign and parent only: under those of others they answer 404.

The lead of both studies asks, so that nothing but the place of the object can be the reason.
"""

import pytest
from django.urls import reverse

from analysis.models import Scorer
from annotation.label_studio.models import LabelStudioAnnotation
from annotation.models import Annotation
from annotation.people import invitations
from annotation.quality import rules
from annotation.recruitment.models import PanelPlace
from generation.models import GenerationRun, ProbeRun
from tests.annotation.label_studio import rows
from tests.annotation.label_studio.scenario import told
from tests.e2e.annotator.steps import marking, rating
from tests.front import pages
from tests.front.addresses import Address, addresses

__all__ = ["busy", "marking", "rating"]
pytestmark = pytest.mark.django_db
busy = pages.busy

# Parts of addresses that name a place or a choice. All others name an object.
PLACES = {"study", "slug", "campaign"}
CHOICES = {"attribute", "format", "group", "key", "language", "move", "plot", "table"}
# Parts that name an object within another object of the address.
PARENTS = {"answer": "run", "payment": "recruitment", "place": "recruitment", "user": "server"}


@pytest.fixture
def objects(busy, marking, rating, lead) -> dict[str, object]:
    """Return an object of the study for each part of an address; those of a campaign are of `marking`."""
    annotation = Annotation.objects.filter(campaign=marking, status="accepted").latest("pk")
    place = PanelPlace.objects.latest("pk")
    server = rows.server_of(busy)
    bridge = rows.bridge_of(marking, server)
    rows.bridge_of(rating, server)
    user = rows.user_of(server, 2, state="mapped", annotator=annotation.annotator)
    told(bridge, marking.tasks.earliest("pk"), 901, 2, minute=1)
    personal_link, _ = invitations.invite(campaign=marking, by=None, label="Ada")
    rule = rules.set_rule(campaign=marking, by=lead, measure="median_seconds", threshold=2, action="warn")
    return {
        "annotation": annotation.pk,
        "campaign": marking.slug,
        "enrolment": marking.enrolments.latest("pk").pk,
        "image": annotation.task.image.public_id,
        "invitation": personal_link.pk,
        "membership": busy.memberships.get(role="analyst").pk,
        "move": "pause",
        "number": busy.preregistrations.get().number,
        "panel": place.recruitment.provider_id,
        "payment": pages.unknown_bonus(place).pk,
        "place": place.pk,
        "recruitment": place.recruitment_id,
        "rule": rule.pk,
        "scorer": Scorer.objects.filter(study=busy).latest("pk").pk,
        "server": server.pk,
        "slug": busy.slug,
        "study": busy.slug,
        "task": marking.tasks.get(purpose="gold").public_id,
        "user": user.pk,
        "version": 2,
    }


def of_address(address: Address, objects: dict[str, object], study) -> dict[str, object]:
    """Return the parts of an address: the same word names two things in some of them."""
    special = {
        "generation:go_on": lambda: {"run": GenerationRun.objects.create(study=study, seed=1).pk},
        "generation:answer_file": lambda: {"look": pages.looked_into_answers(study).pk},
        "annotation:label_studio_file": lambda: {"look": pages.looked_into(study).pk},
    }
    run = ProbeRun.objects.filter(study=study).earliest("pk")
    known = objects | {"run": run.pk, "answer": run.answers.earliest("pk").pk}
    if "campaign" in address.parameters:
        known["answer"] = LabelStudioAnnotation.objects.get(external_id=901).pk
    if address.name in special:
        known |= special[address.name]()
    if "pk" in address.parameters:
        known["pk"] = known["run" if address.name.startswith("api:probe-run") else "scorer"]
    return {name: known[name] for name in address.parameters}


def with_objects() -> list[Address]:
    """Return the addresses, of pages and of the API, that name an object of a study."""
    return [
        address
        for address in addresses()
        if {"study", "slug"} & set(address.parameters) and set(address.parameters) - PLACES - CHOICES
    ]


def found(client, requests: list[tuple[Address, dict[str, object]]]) -> dict[str, set[int]]:
    """Return the paths that answer a method they serve with anything but 404, and with which statuses."""
    statuses = {}
    for address, parts in requests:
        path = reverse(address.name, kwargs=parts)
        codes = {getattr(client, method.lower())(path).status_code for method in address.served}
        statuses[path] = codes - {405}
    return {path: codes for path, codes in statuses.items() if codes != {404}}


def test_no_object_is_reached_through_another_study(busy, objects, lead_client):
    requests = []
    for address in with_objects():
        study = "study" if "study" in address.parameters else "slug"
        requests.append((address, of_address(address, objects, busy) | {study: "phrases"}))
    assert found(lead_client, requests) == {}


def test_no_object_is_reached_through_another_campaign(busy, rating, objects, lead_client):
    requests = [
        (address, of_address(address, objects, busy) | {"campaign": rating.slug})
        for address in with_objects()
        if "campaign" in address.parameters
    ]
    assert found(lead_client, requests) == {}


def test_no_object_is_reached_through_another_object(busy, marking, objects, lead_client):
    another_run = ProbeRun.objects.filter(study=busy).earliest("pk")
    another_run.pk = None
    another_run.save()
    others = {
        "recruitment": pages.planned_by_api(marking).pk,
        "run": another_run.pk,
        "server": rows.server_of(busy, url="https://other.example.org").pk,
    }
    requests = [
        (address, of_address(address, objects, busy) | {parent: others[parent]})
        for address in with_objects()
        for inner, parent in PARENTS.items()
        if {inner, parent} <= set(address.parameters)
    ]
    assert found(lead_client, requests) == {}
