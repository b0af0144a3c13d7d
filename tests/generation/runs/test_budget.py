"""The database counts the spending of runs, and refuses amounts that the budget does not cover."""

from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

import pytest
from django.db import connection

from generation.models import GenerationRun
from generation.runs.budget import give_back, reserve


@pytest.fixture
def run(study):
    return GenerationRun.objects.create(
        study=study, backend="openai", model_label="painter", seed=1, price=1, budget=Decimal("0.30")
    )


def spent(run: GenerationRun) -> Decimal:
    run.refresh_from_db()
    return run.spent


@pytest.mark.django_db
class TestABudget:
    def test_is_spent_to_the_last_part_of_a_cent_and_no_further(self, run):
        # In floating point, 0.1 + 0.2 is more than 0.3, and 0.1 + 0.2 − 0.3 is not zero.
        assert reserve(run, Decimal("0.1"))
        assert reserve(run, Decimal("0.2"))
        assert not reserve(run, Decimal("0.0001"))
        assert spent(run) == Decimal("0.30")
        give_back(run, Decimal("0.3"))
        assert spent(run) == 0
        assert reserve(run, Decimal("0.2999"))
        assert spent(run) == Decimal("0.2999")

    def test_is_the_latest_one_set(self, run):
        GenerationRun.objects.filter(pk=run.pk).update(budget=Decimal("0.05"))
        assert not reserve(run, Decimal("0.1"))
        GenerationRun.objects.filter(pk=run.pk).update(budget=None)
        assert reserve(run, Decimal(5_000))


@pytest.mark.django_db(transaction=True)
def test_workers_that_reserve_at_the_same_moment_keep_within_the_budget(run):
    def reserve_some(_):
        try:
            return sum(reserve(run, Decimal("0.01")) for _ in range(10))
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        reserved = sum(pool.map(reserve_some, range(4)))
    assert reserved == 30
    assert spent(run) == Decimal("0.30")
