"""A study that people judged and machines scored, and one of phrases that nobody judged."""

import pytest

from analysis.models import Report
from analysis.results.parameters import parameters_of
from analysis.results.reports import compute_report
from tests.analysis.automated import factories


@pytest.fixture
def judged(study, lead):
    factories.judge(study, lead)
    return study


@pytest.fixture
def scored(judged):
    """Scores, captions and vectors beside people's answers."""
    factories.score(judged)
    factories.describe(judged)
    factories.draw_near(judged)
    return judged


@pytest.fixture
def phrases(study):
    """Images of phrases by two models; no campaign."""
    factories.associate(study, models=("sketch", "brush"))
    return study


@pytest.fixture
def report(analyst):
    """Compute the results of a study with few resamples."""

    def compute(study, **choices) -> Report:
        return compute_report(
            study=study, parameters=parameters_of(study, resamples=200, **choices), by=analyst
        )

    return compute
