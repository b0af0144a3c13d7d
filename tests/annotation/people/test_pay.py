"""Time and pay: what counts, rounding, days, and access."""

from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from accounts.models import Annotator
from annotation.annotator.payload import task_payload
from annotation.assignment import leases
from annotation.campaigns import lifecycle
from annotation.models import Annotation, Campaign, Enrolment
from annotation.people import enrolments, pay
from studies import consent
from tests.annotation.factories import new_annotator, submit, ticking

pytestmark = pytest.mark.django_db
PAGE = "/studies/isles/campaigns/marking/"


def answer(campaign, annotator, *, seconds=60.0, day=None):
    made = submit(leases.next_assignment(campaign=campaign, annotator=annotator))
    changes = {"active_seconds": seconds} | (
        {"submitted_at": datetime(2026, 3, day, 12, tzinfo=UTC)} if day else {}
    )
    Annotation.objects.filter(pk=made.pk).update(**changes)
    made.refresh_from_db()
    return made


def rated(campaign, **options):
    return lifecycle.change_settings(campaign=campaign, by=None, options=options)


@pytest.mark.parametrize(
    ("amount", "currency", "per", "tasks", "seconds", "comes_to"),
    [
        # 12.50 × 100 s / 3600 s = 0.34722…
        (12.5, "EUR", "hour", 5, 100, "0.35"),
        # 0.10 × 3 = 0.30, whatever the time
        (0.1, "EUR", "task", 3, 9999, "0.30"),
        # 1500 × 1000 s / 3600 s = 416.67: no smaller unit than a yen
        (1500, "JPY", "hour", 1, 1000, "417"),
        # 0.005 is rounded half up
        (0.005, "EUR", "task", 1, 0, "0.01"),
        (0, "EUR", "hour", 4, 100, "0.00"),
    ],
)
def test_pay_is_computed_from_work(amount, currency, per, tasks, seconds, comes_to):
    rate = pay.Rate(Decimal(str(amount)), currency, per)
    assert rate.comes_to(tasks=tasks, seconds=seconds) == Decimal(comes_to)


def test_without_a_rate_there_is_time_and_no_amount(marking):
    answer(marking, new_annotator(marking))
    found = pay.statement(marking)
    assert (found.rate, found.tasks, found.seconds, found.amount) == (None, 1, 60.0, None)
    assert found.lines[0].amount is None


def test_every_submitted_screen_counts_whatever_its_status(marking, lead):
    annotator = new_annotator(marking)
    made = [answer(marking, annotator) for _ in range(5)]
    for one, status in zip(made, ("accepted", "surplus", "excluded", "gold", "repeat"), strict=True):
        Annotation.objects.filter(pk=one.pk).update(status=status)
    leases.skip(assignment=leases.next_assignment(campaign=marking, annotator=annotator), annotator=annotator)
    enrolments.exclude(enrolment=Enrolment.objects.get(), by=lead, reason="Looked at none of them.")
    consent.withdraw(annotator=annotator, study=marking.study)
    (line,) = pay.statement(rated(marking, pay_amount=0.2, pay_per="task")).lines
    assert (line.pseudonym, line.work.tasks, line.amount) == (annotator.pseudonym, 5, Decimal("1.00"))


def test_a_correction_adds_its_time_and_is_no_further_screen(marking):
    annotator = new_annotator(marking)
    made = answer(marking, annotator, seconds=60)
    leased = made.assignment
    submit(leased, ticking(leased, leased.task.task_attributes.first().attribute.text))
    Annotation.objects.filter(revision=2).update(active_seconds=30)
    (line,) = pay.statement(rated(marking, pay_amount=36, pay_per="hour")).lines
    # 90 s at 36 an hour: one cent a second
    assert (line.work.tasks, line.work.seconds, line.amount) == (1, 90, Decimal("0.90"))


def test_screens_without_a_measured_time_are_counted_separately(marking):
    annotator = new_annotator(marking)
    answer(marking, annotator, seconds=None)
    answer(marking, annotator)
    found = pay.statement(rated(marking, pay_amount=36))
    assert (found.tasks, found.untimed, found.amount) == (2, 1, Decimal("0.60"))


def test_days_are_counted_from_the_first_to_the_last(marking):
    annotator = new_annotator(marking)
    for day in (1, 2, 3):
        answer(marking, annotator, day=day)
    within = pay.statement(marking, since=date(2026, 3, 2), until=date(2026, 3, 3))
    assert within.tasks == 2
    assert pay.statement(marking, until=date(2026, 3, 1)).tasks == 1
    assert pay.statement(marking, since=date(2026, 3, 4)).lines == ()


def test_the_total_is_the_sum_of_what_is_paid_out(marking):
    for _ in range(3):
        answer(marking, new_annotator(marking), seconds=5)
    found = pay.statement(rated(marking, pay_amount=10))
    # 10 × 5 / 3600 = 0.01388… each, 0.0416… together
    assert [line.amount for line in found.lines] == [Decimal("0.01")] * 3
    assert found.amount == Decimal("0.03")


def test_simulated_annotators_are_paid_nothing_in_a_study_of_people(marking):
    answer(marking, new_annotator(marking, origin="simulated"))
    assert pay.statement(marking).lines == ()
    marking.study.simulated = True
    assert pay.statement(marking).tasks == 1


def test_imported_answers_are_paid_nothing(marking):
    rater = Annotator.objects.create(origin="imported", source="ratings.csv", source_id="7")
    Annotation.objects.create(campaign=marking, task=marking.tasks.first(), annotator=rater)
    assert pay.statement(marking).lines == ()
    assert pay.work_by_annotator(marking) == {}


def test_a_statement_takes_one_query(marking, django_assert_num_queries):
    for _ in range(3):
        answer(marking, new_annotator(marking))
    with django_assert_num_queries(1):
        assert len(pay.statement(marking).lines) == 3


def test_a_task_brings_the_pay_so_far_where_a_rate_is_set(marking):
    annotator = new_annotator(marking)
    answer(marking, annotator, seconds=100)
    assert (
        "pay" not in task_payload(leases.next_assignment(campaign=marking, annotator=annotator))["progress"]
    )
    rated(marking, pay_amount=36)
    payload = task_payload(leases.next_assignment(campaign=marking, annotator=annotator))
    assert payload["progress"]["pay"] == {"amount": "1.00", "currency": "EUR", "rate": "36", "per": "hour"}


def test_the_lead_s_page_and_file_hold_the_same(marking, lead_client, analyst_client, stranger_client):
    rated(marking, pay_amount=36)
    annotator = new_annotator(marking)
    answer(marking, annotator, seconds=100, day=2)
    other = new_annotator(marking)
    answer(marking, other, seconds=50, day=9)
    page = lead_client.get(f"{PAGE}pay/").content.decode()
    assert annotator.pseudonym in page
    assert annotator.user.username not in page
    assert "36.00 EUR per hour of active work" in page
    url = f"{PAGE}pay.csv?since=2026-03-01&until=2026-03-05"
    rows = lead_client.get(url).content.decode().splitlines()
    assert rows == [
        "annotator,screens,screens_without_time,active_hours,amount,currency,first,last",
        f"{annotator.pseudonym},1,0,0.0278,1.00,EUR,2026-03-02T12:00:00+00:00,2026-03-02T12:00:00+00:00",
        "total,1,0,0.0278,1.00,EUR,,",
    ]
    assert analyst_client.get(url).status_code == 200
    assert stranger_client.get(url).status_code == 404
    assert stranger_client.get(f"{PAGE}pay/").status_code == 404


def test_invalid_days_are_reported(marking, lead_client):
    assert lead_client.get(f"{PAGE}pay/?since=2026-03-05&until=2026-03-01").status_code == 400
    assert lead_client.get(f"{PAGE}pay.csv?since=yesterday").status_code == 400


def test_annotators_see_their_own_time_and_pay(marking, client):
    rated(marking, pay_amount=36)
    annotator, other = new_annotator(marking), new_annotator(marking)
    answer(marking, annotator, seconds=600)
    answer(marking, other, seconds=3600)
    client.force_login(annotator.user)
    page = client.get("/annotate/time-and-pay/").content.decode()
    assert "6.00 EUR" in page
    assert "The rate is 36.00 EUR for an hour at work." in page
    assert "Marking pictures" in page
    assert marking.name not in page.replace("Marking pictures", "")
    for path in ("/annotate/", f"/annotate/{marking.pk}/done/"):
        assert "/annotate/time-and-pay/" in client.get(path).content.decode()


def test_people_without_annotations_see_an_empty_page(client, stranger):
    client.force_login(stranger)
    assert "Nothing here yet" in client.get("/annotate/time-and-pay/").content.decode()
    assert not Campaign.objects.exists()
