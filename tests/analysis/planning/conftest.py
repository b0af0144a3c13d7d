"""A small plan of the invented study."""

from typing import Any

import pytest

from analysis.models import StudyPlan
from analysis.planning.plans import compute_plan, make_plan
from jobs.progress.reporter import Unwatched

SMALL: dict[str, Any] = {
    "images": "5, 10",
    "annotators": "6",
    "annotators_per_task": "3",
    "groups": 2,
    "stereotypes": 2,
    "random_attributes": 2,
    "pay_amount": 12.0,
    "pay_currency": "EUR",
    "fee_percent": 25.0,
    "seconds_per_screen": 30.0,
    "attributes_per_screen": 3,
    "budget": 3.0,
}


@pytest.fixture
def plan(study, lead) -> StudyPlan:
    return make_plan(
        study=study,
        hypothesis="Stereotypes are drawn more often than random attributes.",
        primary_measure="theta_pooled",
        parameters=SMALL,
        by=lead,
    )


@pytest.fixture
def computed(plan) -> StudyPlan:
    return compute_plan(plan=plan, progress=Unwatched(), simulations=200)
