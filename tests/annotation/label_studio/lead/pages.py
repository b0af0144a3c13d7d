"""The lead's pages about Label Studio: their addresses, and helpers to read them."""

import pytest

from tests.annotation.label_studio.rows import bridge_of

C = {"study": "isles", "campaign": "marking"}
HERE = "/studies/isles/campaigns/marking/label-studio/"
SERVERS = "/studies/isles/label-studio/"


@pytest.fixture
def bridge(marking, settings):
    """The marking campaign, all of it sent to a Label Studio."""
    settings.SITE_URL = "https://here.example.org"
    return bridge_of(marking)


def text(answer) -> str:
    return " ".join(answer.content.decode().split())
