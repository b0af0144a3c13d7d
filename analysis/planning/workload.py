"""The work and the cost of a design: screens, hours, days, pay and fees."""

from dataclasses import dataclass
from decimal import Decimal
from math import ceil
from typing import TYPE_CHECKING

from analysis.planning.parameters import PlanParameters
from annotation.people.pay import Rate

if TYPE_CHECKING:
    from analysis.metrics.marking.simulate_studies import Design


@dataclass(frozen=True)
class Workload:
    """The work and the cost of a design. `hours` are of all annotators, `days` of each at so many hours a day.

    `pay`, `fees` and `cost` are in the plan's currency, None where it names no pay.
    """

    screens: int
    hours: float
    hours_each: float
    days: int
    pay: Decimal | None
    fees: Decimal | None
    cost: Decimal | None


def workload(design: "Design", parameters: PlanParameters) -> Workload:
    """Return the work of a design in which everybody judges as many screens.

    screens = groups × images × annotators of each image × ⌈attributes ÷ attributes of each screen⌉; hours = screens ×
    seconds ÷ 3600; cost = pay × (1 + fees ÷ 100), each amount rounded to the currency's smallest unit.
    """
    attributes = design.stereotypes + design.random_attributes
    screens_per_image = ceil(attributes / parameters.attributes_per_screen)
    screens = design.groups * design.judgements_per_attribute * screens_per_image
    seconds = screens * parameters.seconds_per_screen
    hours_each = seconds / 3600 / design.annotators
    pay, fees = _money(parameters, screens, seconds)
    return Workload(
        screens=screens,
        hours=seconds / 3600,
        hours_each=hours_each,
        days=ceil(round(hours_each / parameters.hours_per_day, 9)),
        pay=pay,
        fees=fees,
        cost=None if pay is None or fees is None else pay + fees,
    )


def _money(
    parameters: PlanParameters, screens: int, seconds: float
) -> tuple[Decimal, Decimal] | tuple[None, None]:
    if parameters.pay_amount is None:
        return None, None
    rate = Rate(Decimal(str(parameters.pay_amount)), parameters.pay_currency, parameters.pay_per)
    pay = rate.comes_to(tasks=screens, seconds=seconds)
    return pay, rate.rounded(pay * Decimal(str(parameters.fee_percent)) / 100)
