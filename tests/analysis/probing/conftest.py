import pytest

from tests.analysis.probing.weavers import Probed, probe_weavers


@pytest.fixture
def probed(lead) -> Probed:
    return probe_weavers(lead)
