"""The cost of a recruitment, and the real hourly pay of its people."""

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from math import ceil
from statistics import median

from annotation.models import FLOOR
from annotation.people.pay import digits_of
from annotation.recruitment.models import PanelPlace, Recruitment

_SHORTEST = 30.0  # seconds: who was quicker did not work, and would make everybody look well paid


@dataclass(frozen=True)
class Money:
    """An amount in the smallest unit of its currency."""

    units: int
    currency: str

    @property
    def amount(self) -> Decimal:
        return Decimal(self.units).scaleb(-digits_of(self.currency))

    def __str__(self) -> str:
        return f"{self.amount:,.{digits_of(self.currency)}f} {self.currency}"


def units_of(amount: Decimal, currency: str) -> int:
    """Return an amount in the smallest unit of the currency; raises ValueError if it is finer than that."""
    units = amount.scaleb(digits_of(currency))
    if units != units.to_integral_value():
        raise ValueError(f"{currency} has no smaller unit.")
    return int(units)


def total(recruitment: Recruitment, places: int) -> Money:
    """Return the cost of a number of places: rewards and the panel's fee, rounded half up."""
    rewards = Decimal(recruitment.reward * places)
    fee = (rewards * recruitment.fee_percent / 100).quantize(Decimal(1), ROUND_HALF_UP)
    return Money(int(rewards + fee), recruitment.currency)


def hourly(reward: int, minutes: float, currency: str) -> Money:
    """Return the hourly pay of a reward."""
    return Money(int(Decimal(reward * 60) / Decimal(str(minutes))), currency)


def below_floor(reward: int, minutes: float, currency: str) -> bool:
    """Return whether this pays less than the floor; False if no floor is known."""
    return reward * 60 < FLOOR.get(currency, 0) * minutes


@dataclass(frozen=True)
class Earned:
    """The hourly pay of people who completed a place, from the median of their times from arrival to end."""

    people: int
    minutes: float
    an_hour: Money
    below_floor: bool
    top_up: Money  # for each place, so that half of them earn the floor


def earned(recruitment: Recruitment) -> Earned | None:
    """Return people's pay; None before anybody has completed a place."""
    completed = recruitment.panel_places.filter(state=PanelPlace.State.COMPLETED)
    moments = completed.values_list("arrived_at", "ended_at")
    seconds = [(ended - arrived).total_seconds() for arrived, ended in moments if ended is not None]
    seconds = [duration for duration in seconds if duration >= _SHORTEST]
    if not seconds:
        return None
    minutes = median(seconds) / 60
    floor = FLOOR.get(recruitment.currency, 0)
    missing = max(0, ceil(Decimal(str(minutes)) * floor / 60) - recruitment.reward)
    return Earned(
        people=len(seconds),
        minutes=minutes,
        an_hour=hourly(recruitment.reward, minutes, recruitment.currency),
        below_floor=below_floor(recruitment.reward, minutes, recruitment.currency),
        top_up=Money(missing, recruitment.currency),
    )
