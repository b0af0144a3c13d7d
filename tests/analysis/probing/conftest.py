import pytest

from analysis.results import reports
from analysis.results.parameters import parameters_of
from studies.models import StudyMembership
from tests.analysis.probing.weavers import Probed, probe_weavers


@pytest.fixture
def probed(lead) -> Probed:
    return probe_weavers(lead)


@pytest.fixture
def computed(probed, analyst) -> Probed:
    """The study with results; the analyst is a member."""
    StudyMembership.objects.create(study=probed.study, user=analyst, role=StudyMembership.Role.ANALYST)
    parameters = parameters_of(probed.study, resamples=100)
    reports.compute_report(study=probed.study, parameters=parameters, by=analyst)
    return probed
