"""A stand-in for Prolific in a process of its own, and a client of it."""

from collections.abc import Iterator

import pytest

from annotation.recruitment.prolific.client import CompletionCode, ProlificClient, StudyDraft
from annotation.recruitment.prolific.connection import Patience
from tests.services.prolific.fake import FakeProlific, fake_prolific


@pytest.fixture
def fake(tmp_path, settings) -> Iterator[FakeProlific]:
    with fake_prolific(tmp_path) as started:
        settings.PROLIFIC_URL = started.url
        yield started


@pytest.fixture
def client_of(fake):
    """Return a client with as much patience as asked for."""
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
def study(remote) -> str:
    """A published study; return its id."""
    created = remote.create_study(draft())
    return remote.transition_study(created.id, "PUBLISH").id


@pytest.fixture
def reviewed(fake, study):
    """Return somebody's submission that awaits review."""

    def made(number: int = 0) -> str:
        submission = fake.reserve(study, f"5f3a0c77b1d2e4a6c8f0{number:04}")["id"]
        fake.open_link(submission)
        fake.complete(submission, "DONE4567")
        return submission

    return made
