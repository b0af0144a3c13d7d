"""A stand-in for Prolific in a separate process, and a client for it."""

import base64
import hashlib
import hmac
import json
import time
from decimal import Decimal

import pytest
from django.test import Client
from django.urls import reverse

from annotation.recruitment import providers, recruitments
from annotation.recruitment.models import Provider, Recruitment
from annotation.recruitment.prolific import access, estimate, subscription, webhooks
from annotation.recruitment.prolific import draft as draft_verbs
from annotation.recruitment.prolific.access import ApiAccess
from annotation.recruitment.prolific.client import CompletionCode, ProlificClient, StudyDraft
from annotation.recruitment.prolific.connection import Patience
from annotation.recruitment.recruitments import Terms
from tests.annotation.recruitment.conftest import Guest
from tests.services.prolific.fake import FakeProlific

SITE = "http://127.0.0.1:9"


@pytest.fixture
def client_of(fake):
    """Return a client with this patience."""
    clients = []

    def made(token: str = "", **patience) -> ProlificClient:
        client = ProlificClient(fake.url, token or fake.token, patience=Patience(**patience))
        clients.append(client)
        return client

    yield made
    for client in clients:
        client.close()


@pytest.fixture
def remote(client_of) -> ProlificClient:
    return client_of(seconds=2.0, pauses=10.0)


def draft(**changes) -> StudyDraft:
    """Return a study of ten places."""
    fields = {
        "name": "Look at drawings", "description": "Say what you see.", "internal_name": "Isles",
        "link": "https://labels.example/x/?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}"
        "&SESSION_ID={{%SESSION_ID%}}",
        "places": 10, "minutes": 10, "reward": 200,
        "codes": (
            CompletionCode("DONE4567", "COMPLETED", "MANUALLY_REVIEW"),
            CompletionCode("NONE4567", "NO_CONSENT", "REQUEST_RETURN"),
            CompletionCode("OUT45678", "FIXED_SCREENOUT", "FIXED_SCREEN_OUT_PAYMENT", 50, 5, "researcher"),
        ),
    }  # fmt: skip
    return StudyDraft(**{**fields, **changes})


@pytest.fixture
def remote_study(remote) -> str:
    """A published study; return its id."""
    created = remote.create_study(draft())
    return remote.transition_study(created.id, "PUBLISH").id


@pytest.fixture
def reviewed(fake, remote_study):
    """Return somebody's submission that awaits review."""

    def made(number: int = 0) -> str:
        submission = fake.reserve(remote_study, f"5f3a0c77b1d2e4a6c8f0{number:04}")["id"]
        fake.open_link(submission)
        fake.complete(submission, "DONE4567")
        return submission

    return made


@pytest.fixture
def prolific_panel(fake, study, lead) -> Provider:
    """Prolific, with a token of the stand-in's workspace."""
    api = ApiAccess(fake.token, fake.workspace)
    return providers.add(
        study=study, by=lead, name="Prolific", links=providers.KNOWN_PANELS["prolific"], api=api
    )


@pytest.fixture
def planned(marking, prolific_panel, lead) -> Recruitment:
    """A recruitment of three places of three screens, not drafted yet."""
    terms = Terms("Isles", 3, 3, 10, Decimal("2.00"), "GBP", estimate.fee_percent(prolific_panel))
    return recruitments.create(campaign=marking, provider=prolific_panel, by=lead, terms=terms)


@pytest.fixture
def published(planned, lead) -> Recruitment:
    """The same recruitment, published."""
    link = f"http://testserver{reverse('panel:arrive', args=[planned.public_id])}"
    drafted = draft_verbs.create(
        recruitment=planned,
        announcement=draft_verbs.Announcement("Look", "Say what you see."),
        link=f"{link}?{providers.query_of(planned.provider)}",
        by=lead,
    )
    return draft_verbs.publish(recruitment=drafted, by=lead)


class Visitor(Guest):
    """Somebody who takes a place at Prolific and opens its link."""

    def __init__(self, fake: FakeProlific, recruitment: Recruitment, person: str) -> None:
        super().__init__()
        self.fake, self.recruitment = fake, recruitment
        self.reserved = fake.reserve(recruitment.remote_study, person)
        self.submission = self.reserved["id"]

    def come(self):
        """Open the link."""
        self.fake.open_link(self.submission)
        return self.get(self.reserved["link"].removeprefix("http://testserver"))

    def finish(self, code: str | None = None) -> None:
        """Return to Prolific with a code, by default the one that our page gives."""
        if code is None:
            self.get(self.page("end"))
            code = self.get(self.page("return"))["Location"].rpartition("=")[2]
        self.fake.complete(self.submission, code)


@pytest.fixture
def visitor(fake, published):
    """Return somebody who came by Prolific's link, agreed, and has not answered yet."""

    def came(person: str = "5f3a0c77b1d2e4a6c8f00112") -> Visitor:
        browser = Visitor(fake, published, person)
        response = browser.come()
        assert response["Location"] == browser.page("welcome"), response["Location"]
        return browser.agree()

    return came


@pytest.fixture
def told(fake, published, lead) -> Provider:
    """The panel of a published recruitment that sends us events; the stand-in holds them back."""
    fake.configure(hold_events=True)
    return subscription.connect(provider=published.provider, site=SITE, by=lead)


class Post:
    """Events signed like Prolific's, posted to our address by the test."""

    def __init__(self, provider: Provider) -> None:
        self.provider = provider
        self.secret = access.unseal(provider.secret_sealed)
        self.address = reverse("panel:events", args=[provider.events_id])

    def bring(self, event: dict, *, secret: str = "", sent_at: float | None = None, **changes: str) -> int:
        headers, body = self.signed(event, secret=secret, sent_at=sent_at, **changes)
        client = Client(enforce_csrf_checks=True)
        return client.post(self.address, body, content_type="application/json", headers=headers).status_code

    def store(self, event: dict) -> None:
        """Leave an event behind as a web server does that is killed before it can do more."""
        headers, body = self.signed(event)
        webhooks.receive(events_id=self.provider.events_id, headers=headers, body=body)

    def signed(
        self, event: dict, *, secret: str = "", sent_at: float | None = None, **changes: str
    ) -> tuple[dict[str, str], bytes]:
        """Return the headers and the body of an event."""
        body = changes.pop("body", "").encode() or json.dumps(event["body"]).encode()
        timestamp = str(int(time.time() if sent_at is None else sent_at))
        key = (secret or self.secret).encode()
        digest = hmac.new(key, timestamp.encode() + body, hashlib.sha256).digest()
        headers = {
            "X-Event-ID": event["id"],
            "X-Timestamp": str(int(event["created"])),
            "X-Prolific-Request-Timestamp": timestamp,
            "X-Prolific-Request-Signature": base64.b64encode(digest).decode(),
            **changes,
        }
        return headers, body


@pytest.fixture
def post(told) -> Post:
    return Post(told)


def events_of(fake, browser) -> list[dict]:
    return [
        event for event in fake.documents("event") if event["body"].get("resource_id") == browser.submission
    ]
