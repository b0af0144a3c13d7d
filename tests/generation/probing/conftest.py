import pytest

from tests.generation.endpoints.chat_endpoint import chat_endpoint
from tests.generation.probing.probing_study import add_scenarios


@pytest.fixture
def scenarios(study):
    """The study with an image of each variant in each scenario."""
    add_scenarios(study)
    return study


@pytest.fixture
def endpoint(settings):
    pytest.importorskip("openai", reason="the full requirements are not installed")
    with chat_endpoint() as server:
        settings.OPENAI_BASE_URLS = [server.url]
        settings.OPENAI_API_KEY = "sk-test-a-key-that-must-not-leave"
        settings.OPENAI_TIMEOUT_SECONDS = 20
        settings.OPENAI_CHATS_AT_ONCE = 4
        yield server
