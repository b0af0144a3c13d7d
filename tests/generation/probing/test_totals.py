"""The counts of a run equal those of its answers after any kind of write, change or deletion."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import connection, transaction
from django.db.models import Count, F, Sum
from django.utils import timezone

from generation.models import Answer, AnswerCount, ProbeRun
from generation.probing.budget import add_cost
from generation.probing.execution import reopen_failed, run
from generation.probing.totals import counts_by_run, counts_of, served_models
from jobs.progress.reporter import Unwatched
from tests.annotation.databases import shared_database
from tests.generation.probing.probing_study import planned

pytestmark = pytest.mark.django_db
KEY = ("run", "outcome", "served_model", "fingerprint")


def counted() -> dict[tuple, tuple[int, int]]:
    """Return the counts of the answers, computed row by row."""
    rows = Answer.objects.order_by().values(*KEY).annotate(number=Count("pk"), cost=Sum("cost"))
    return {tuple(row[name] for name in KEY): (row["number"], round(row["cost"] * 10**8)) for row in rows}


def kept() -> dict[tuple, tuple[int, int]]:
    rows = AnswerCount.objects.exclude(number=0, cost_e8=0)
    return {
        (row.run_id, row.outcome, row.served_model, row.fingerprint): (row.number, row.cost_e8)
        for row in rows
    }


@pytest.fixture
def asked(scenarios, lead):
    planned_run = planned(scenarios, lead)
    assert kept() == counted() == {(planned_run.pk, "pending", "", ""): (48, 0)}
    run(run=planned_run, progress=Unwatched())
    return planned_run


def test_a_run_is_counted_as_it_is_asked(asked):
    assert kept() == counted()
    assert counts_of(asked).by_outcome["done"] == 48
    assert counts_of(asked).pending == 0


def test_every_kind_of_write_updates_the_counts(asked):
    rows = list(asked.answers.all()[:9])
    add_cost(rows, Decimal("0.00000003"))
    assert counts_of(asked).spent == Decimal("0.00000027")
    Answer.objects.filter(pk__in=[row.pk for row in rows[:4]]).update(cost=F("cost") + Decimal("0.1"))
    Answer.objects.filter(pk=rows[5].pk).update(outcome="failed", text="", served_model="", reason="x")
    Answer.objects.filter(pk=rows[6].pk).update(served_model="other", fingerprint="f2")
    rows[7].cost = Decimal("1.23456789")
    rows[7].save()
    assert kept() == counted()
    assert counts_of(asked).spent == Decimal("1.63456813")
    reopen_failed(run=asked)
    assert counts_of(asked).pending == 1
    Answer.objects.filter(pk__in=[row.pk for row in rows[:3]]).delete()
    rows[8].delete()
    assert kept() == counted()
    assert counts_of(asked).total == 44


def test_planning_twice_counts_once(asked, lead):
    again = planned(asked.study, lead, runs=3)
    assert again == asked
    assert kept() == counted()
    assert counts_of(asked).pending == 24


def test_runs_are_counted_apart_in_one_query(asked, lead, django_assert_num_queries):
    other = planned(asked.study, lead, model_label="Another")
    with django_assert_num_queries(1):
        counts = counts_by_run([asked, other])
    assert (counts[asked.pk].ended, counts[other.pk].ended) == (48, 0)


def test_served_models_are_in_the_order_of_their_first_answer(asked):
    newest, oldest = asked.answers.all()[:2]
    now = timezone.now()
    asked.answers.update(served_model="script-1", finished_at=now)
    Answer.objects.filter(pk=newest.pk).update(served_model="late", finished_at=now + timedelta(1))
    Answer.objects.filter(pk=oldest.pk).update(served_model="early", finished_at=now - timedelta(1))
    assert [model.name for model in served_models(asked, most=2)] == ["early", "script-1"]


def test_a_run_is_deleted_with_its_answers_and_counts(asked):
    AnswerCount.objects.filter(run=asked).first()
    asked.answers.all().delete()
    ProbeRun.objects.filter(pk=asked.pk).delete()
    connection.check_constraints()
    assert not AnswerCount.objects.exists()


def test_deleting_the_run_deletes_all_its_rows(asked):
    asked.delete()
    connection.check_constraints()
    assert not AnswerCount.objects.exists()


@pytest.fixture
def shared(tmp_path):
    with shared_database(tmp_path):
        yield


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("shared")
def test_answers_written_by_two_workers_are_counted_once(asked):
    """Each worker reopens and completes all answers, including the other's, block by block."""
    keys = list(asked.answers.values_list("pk", flat=True))

    def work(number: int) -> None:
        try:
            for start in range(0, len(keys), 6):
                block = keys[start : start + 6]
                with transaction.atomic():
                    answers = Answer.objects.filter(pk__in=block)
                    answers.update(cost=F("cost") + Decimal("0.00000007"))
                    answers.update(served_model=f"worker {number}")
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as workers:
        list(workers.map(work, range(2)))
    assert kept() == counted()
    assert counts_of(asked).spent == 2 * 48 * Decimal("0.00000007")
