"""Screens, hours and money of a design, by hand."""

from decimal import Decimal

import pytest

from analysis.metrics.marking.simulate_studies import Design
from analysis.planning.parameters import PlanParameters
from analysis.planning.workload import workload
from foundation.errors import DomainError

pytestmark = pytest.mark.database_free
DESIGN = Design(10, 6, 3, 2, 2, 2)


def test_work_follows_from_the_numbers():
    parameters = PlanParameters.read({"attributes_per_screen": 3, "seconds_per_screen": 30.0})
    work = workload(DESIGN, parameters)
    # 2 groups × 10 images × 3 people × ⌈4 ÷ 3⌉ screens = 120 screens of 30 s = 1 hour, 10 minutes each.
    assert work.screens == 120
    assert work.hours == 1.0
    assert work.hours_each == pytest.approx(1 / 6)
    assert (work.days, work.pay, work.fees, work.cost) == (1, None, None, None)


def test_days_are_whole_days_of_each_annotator():
    parameters = PlanParameters.read(
        {"attributes_per_screen": 1, "seconds_per_screen": 60.0, "hours_per_day": 0.5}
    )
    # 240 screens of a minute = 4 hours: 40 minutes each, at half an hour a day two days.
    assert workload(DESIGN, parameters).days == 2


@pytest.mark.parametrize(
    ("per", "amount", "pay", "fees"),
    [("hour", 12.0, "12.00", "3.00"), ("task", 0.05, "6.00", "1.50"), ("task", 0.0333, "4.00", "1.00")],
)
def test_money_is_pay_and_fees_rounded_to_the_smallest_unit(per, amount, pay, fees):
    parameters = PlanParameters.read(
        {
            "attributes_per_screen": 3, "seconds_per_screen": 30.0, "pay_amount": amount, "pay_per": per,
            "fee_percent": 25.0,
        }
    )  # fmt: skip
    work = workload(DESIGN, parameters)
    assert (work.pay, work.fees) == (Decimal(pay), Decimal(fees))
    assert work.cost == Decimal(pay) + Decimal(fees)


def test_yen_have_no_smaller_unit():
    paid = {"pay_amount": 0.33, "pay_per": "task", "pay_currency": "JPY", "fee_percent": 10.0}
    parameters = PlanParameters.read(paid)
    work = workload(DESIGN, parameters)
    assert (work.pay, work.fees) == (Decimal(20), Decimal(2))  # 60 screens


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ({"images": "1, 10"}, "A plan needs at least 2 images"),
        ({"annotators": "2, 30"}, "cannot have 3 different annotators if only 2 take part"),
        (
            {"images": "2 3 4 5 6", "annotators": "10 11 12 13 14"},
            "Your numbers make 25 designs. Compare at most 24",
        ),
    ],
)
def test_impossible_designs_are_refused(chosen, message):
    with pytest.raises(DomainError, match=message):
        PlanParameters.read(chosen).designs()
