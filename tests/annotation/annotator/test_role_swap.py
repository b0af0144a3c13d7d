"""Exchanging stereotypes and randomly drawn attributes changes no byte except opaque ids.

The same campaign is walked twice, from the invitation to the last page, by pages and by the API: once as it is,
once after the two groups have exchanged what is listed of them. Between the walks everything is taken back, the
keys of the database included, so that nothing else differs.
"""

import re
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
import time_machine
from django.core.cache import cache
from django.db import connection, transaction
from django.test import Client
from django.urls import reverse

from accounts import profiles
from annotation.campaigns import lifecycle
from annotation.models import CampaignAttribute
from annotation.people import invitations
from catalog.models import Stereotype
from generation.images.storage import store_image
from studies import consent
from tests.generation.drawings import drawing

# Opaque ids; each is replaced by the order of its first appearance.
OPAQUE = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"  # tasks, assignments, submissions
    r"|/images/[\w-]+"  # signed addresses
    r"|(?<=/annotate/i/)[\w-]{20,}"  # invitation links
    r'|(?<=name="csrfmiddlewaretoken" value=")\w+'
    r"|(?<=_csrf=)\w+|(?<=_session=)\w+|(?<=_device=)[^;]+"
    r"|\b[0-9a-f]{16}\b"  # attributes of a task
)


@pytest.fixture(autouse=True)
def clear_both_ways(study):
    """Leave no word listed for both peoples, so that each is a stereotype of one and random to the other."""
    Stereotype.objects.filter(attribute__text="kite").delete()
    Stereotype.objects.filter(group__name="Orsani", attribute__text="tall hat").delete()
    for index, group in enumerate(study.groups.order_by("name"), start=1):
        for number in range(2):
            data = drawing(10 * index + number, "drum", "tall hat")
            store_image(study=study, data=data, group=group, model_label="sketch")


@contextmanager
def taken_back() -> Iterator[None]:
    """Stop the clock, roll back all writes inside, and reset the sequences of keys."""
    with connection.cursor() as cursor:
        counters = []
        if connection.vendor == "postgresql":
            cursor.execute("SELECT quote_ident(sequencename), last_value FROM pg_sequences")
            counters = cursor.fetchall()
    cache.clear()
    with time_machine.travel("2026-11-21T10:00:00Z", tick=False), transaction.atomic():
        yield
        transaction.set_rollback(True)
    with connection.cursor() as cursor:
        for name, value in counters:
            cursor.execute("SELECT setval(%s::regclass, %s, %s)", [name, value or 1, value is not None])


class Walk:
    """An annotator who goes through a campaign and records every byte and header received."""

    def __init__(self, campaign) -> None:
        self.client, self.campaign, self.seen = Client(), campaign, []

    def keep(self, what: str, answer):
        body = b"".join(answer.streaming_content) if answer.streaming else answer.content
        # The policy's directives come in any order, also from one request to the next.
        head = sorted(f"{name}: {'; '.join(sorted(value.split('; ')))}" for name, value in answer.items())
        head += sorted(morsel.OutputString() for morsel in answer.cookies.values())
        self.seen.append((what, answer.status_code, "\n".join(head), body.decode("latin-1")))
        return answer

    def page(self, name: str, *args, post=None):
        address = reverse(f"annotate:{name}", args=args or [self.campaign.pk])
        return self.keep(name, self.client.get(address) if post is None else self.client.post(address, post))

    def api(self, path: str, data=None):
        answer = self.client.post(f"/api/v1/{path}", data or {}, content_type="application/json")
        self.keep(path.rpartition("/")[2], answer)
        return answer.json() if answer.content else {}

    def picture(self, task) -> None:
        self.keep("picture", self.client.get(task["image"]["url"]))

    def join(self) -> None:
        _, token = invitations.invite(campaign=self.campaign, by=None)
        self.page("invitation", token)
        self.page("invitation", token, post={})
        annotator = self.campaign.enrolments.get().annotator
        # The random name does not matter here; both walks get the same.
        type(annotator).objects.filter(pk=annotator.pk).update(pseudonym="walker")
        self.page("consent")
        consent.give(annotator=annotator, text=consent.current_text(self.campaign.study))
        self.page("profile")
        profiles.describe(annotator=annotator)
        self.page("link")

    def go(self) -> list:
        self.join()
        task = self.api(f"campaigns/{self.campaign.pk}/next")
        screens = 0
        while task:
            screens += 1
            self.page("task")
            self.picture(task)
            self.page("ahead")
            mine = f"assignments/{task['assignment']}"
            self.api(f"{mine}/report", {"reason": "broken"} if screens == 1 else {"reason": "nonsense"})
            self.api(f"{mine}/submit", {"submission_id": str(uuid.uuid4())})  # refused
            box = {"attribute": task["attributes"][0]["ref"], "x": 0, "y": 0, "width": 1, "height": 1}
            answer = (
                {"ticked": [box["attribute"]], "boxes": [box]} if screens % 2 else {"none_of_the_above": True}
            )
            saved = self.api(f"{mine}/submit", {"submission_id": str(uuid.uuid4()), "answer": answer})
            self.page("previous")
            self.page("answers")
            task = saved["next"]
        tasks = self.campaign.tasks.count()
        assert tasks > 4
        assert screens > tasks if self.campaign.options.get("repeat_share") else screens == tasks
        for name in ("task", "done", "withdraw", "link", "answers"):
            self.page(name)
        self.keep("home", self.client.get(reverse("annotate:home")))
        self.keep("account", self.client.get(reverse("accounts:profile")))
        self.keep("campaign", self.client.get(f"/api/v1/campaigns/{self.campaign.pk}/"))
        self.keep("progress", self.client.get(f"/api/v1/campaigns/{self.campaign.pk}/progress/"))
        return self.seen


def neutral(seen) -> list:
    """Replace each opaque id by the order of its first appearance."""
    places: dict[str, str] = {}
    stand_in: Callable = lambda found: places.setdefault(found[0], f"«{len(places) + 1}»")  # noqa: E731
    return [
        (what, status, OPAQUE.sub(stand_in, head), OPAQUE.sub(stand_in, body))
        for what, status, head, body in seen
    ]


def walk(study, lead, **options) -> tuple[set, list]:
    draft = lifecycle.create(study=study, name="Swap", kind="stereotype_marking", by=lead, **options)
    campaign = lifecycle.open_(campaign=draft, by=lead)
    roles = set(CampaignAttribute.objects.values_list("group__name", "attribute__text", "role"))
    return roles, neutral(Walk(campaign).go())


@pytest.mark.django_db
def test_with_roles_exchanged_every_byte_is_the_same_but_for_opaque_ids(study, lead):
    found = []
    for exchanged in (False, True):
        with taken_back():
            if exchanged:
                velmari, orsani = (study.resource.groups.get(name=name) for name in ("Velmari", "Orsani"))
                of_velmari = list(Stereotype.objects.filter(group=velmari).values_list("pk", flat=True))
                Stereotype.objects.filter(group=orsani).update(group=velmari)
                Stereotype.objects.filter(pk__in=of_velmari).update(group=orsani)
            study.refresh_from_db()
            repeats = {"repeat_share": 0.5, "repeat_after": 2}
            found.append(walk(study, lead, annotators_per_task=1, attributes_per_screen=2, options=repeats))
    (roles, first), (other_roles, second) = found
    assert roles
    assert not roles & other_roles
    assert [one[:2] for one in first] == [one[:2] for one in second]
    for before, after in zip(first, second, strict=True):
        assert before == after


@pytest.mark.django_db
def test_the_comparison_detects_a_planted_difference(study, lead):
    """A revealed role would be detected, as is here a word that only one of the walks shows."""
    found = []
    for words in ("Tick what you see.", "Tick what you can see."):
        with taken_back():
            study.refresh_from_db()
            found.append(walk(study, lead, annotators_per_task=1, guidelines=words)[1])
    assert found[0] != found[1]
