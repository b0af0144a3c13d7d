import pytest

from generation.probing.codings import code_run
from generation.probing.execution import run
from jobs.progress.reporter import Unwatched
from tests.generation.probing.probing_study import add_scenarios, planned


@pytest.fixture
def scenarios(study):
    """The study with an image of each variant in each scenario."""
    add_scenarios(study)
    return study


@pytest.fixture
def asked(scenarios, lead):
    """A run with 48 answers, 32 of them to choices and coded: plus about the tall, minus about the short."""
    planned_run = planned(scenarios, lead, parameters={"bias": {"tall": 1, "short": -1}, "refusal_rate": 0})
    run(run=planned_run, progress=Unwatched())
    code_run(run=planned_run, by=lead, progress=Unwatched())
    return planned_run


@pytest.fixture
def occupations(scenarios):
    """The study with its images as those of a scenario of the published probe set."""
    scenarios.images.exclude(scenario="").update(experiment="occupations", scenario="scrubs")
    return scenarios
