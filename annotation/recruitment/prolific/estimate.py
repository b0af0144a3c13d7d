"""Prolific's figures for a planned recruitment: cost, balance, eligible people, and duration."""

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from annotation.kinds.options import Options
from annotation.recruitment import cost
from annotation.recruitment.models import Provider, Recruitment
from annotation.recruitment.prolific import access
from annotation.recruitment.prolific.client import StudyDraft
from annotation.recruitment.prolific.connection import SHORT
from annotation.recruitment.prolific.results import RecruitmentTime, RewardRates, WalletBalance

# Prices are requested for an amount at which rounding does not matter.
_PLACES, _REWARD = 1_000, 1_000


@dataclass(frozen=True)
class ProlificEstimate:
    """Prolific's answers together with our own figures."""

    our_cost: cost.Money
    remote_cost: cost.Money
    balance: WalletBalance
    eligible: int
    time: RecruitmentTime
    rates: RewardRates | None

    @property
    def available(self) -> cost.Money:
        return cost.Money(self.balance.available, self.balance.currency)

    @property
    def good_rate(self) -> cost.Money | None:
        return None if self.rates is None else cost.Money(self.rates.good, self.rates.currency)

    @property
    def differs(self) -> bool:
        """Return whether the two costs are more than one per cent apart."""
        return abs(self.remote_cost.units - self.our_cost.units) * 100 > self.our_cost.units


def fee_percent(provider: Provider) -> Decimal:
    """Return Prolific's fee on rewards, including tax, in per cent."""
    with access.client_of(provider, patience=SHORT) as client:
        total = client.cost(_PLACES, _REWARD)
    rewards = _PLACES * _REWARD
    return (Decimal(total - rewards) * 100 / rewards).quantize(Decimal("0.01"), ROUND_HALF_UP)


def ask(recruitment: Recruitment) -> ProlificEstimate:
    """Request the figures that Prolific gives before publishing."""
    provider = recruitment.provider
    plan = StudyDraft(
        name="", description="", internal_name="", link="", codes=(),
        places=recruitment.places, minutes=recruitment.minutes, reward=recruitment.reward,
    )  # fmt: skip
    with access.client_of(provider, patience=SHORT) as client:
        rates = None
        if recruitment.currency in {"GBP", "USD"}:
            rates = client.reward_rates(provider.workspace, recruitment.currency)
        return ProlificEstimate(
            our_cost=cost.total(recruitment, recruitment.places),
            remote_cost=cost.Money(client.cost(recruitment.places, recruitment.reward), recruitment.currency),
            balance=client.balance(provider.workspace),
            eligible=client.eligible(provider.workspace),
            time=client.recruitment_time(provider.workspace, plan),
            rates=rates,
        )


def refusal(recruitment: Recruitment, estimate: ProlificEstimate) -> str:
    """Return why this cannot be published, in one sentence; "" if it can."""
    if estimate.balance.currency != recruitment.currency:
        return (
            f"The workspace pays in {estimate.balance.currency}, this recruitment in {recruitment.currency}. "
            "Plan the recruitment in the currency of the workspace."
        )
    if cost.below_floor(recruitment.reward, recruitment.minutes, recruitment.currency):
        return "The reward is below the minimum hourly pay. Plan a recruitment with a higher reward or fewer minutes."
    if estimate.remote_cost.units > estimate.balance.available:
        price, money = estimate.remote_cost, estimate.available
        return f"This costs {price}, and the workspace has {money}. Add money at Prolific first."
    return over_budget(recruitment, estimate.remote_cost)


def over_budget(recruitment: Recruitment, price: cost.Money) -> str:
    """Return a sentence if this and the campaign's other recruitments cost more than its budget for pay."""
    options = Options.of(recruitment.campaign)
    if options.pay_budget is None or options.pay_currency != recruitment.currency:
        return ""
    budget = cost.Money(
        cost.units_of(Decimal(str(options.pay_budget)).quantize(Decimal("0.01")), recruitment.currency),
        recruitment.currency,
    )
    others = Recruitment.objects.filter(campaign=recruitment.campaign, currency=recruitment.currency)
    committed = sum(
        other.remote_cost or cost.total(other, other.places).units
        for other in others.exclude(pk=recruitment.pk).exclude(state=Recruitment.State.DRAFT)
    )
    if committed + price.units <= budget.units:
        return ""
    rest = cost.Money(max(0, budget.units - committed), recruitment.currency)
    return (
        f"This costs {price}; {rest} of the campaign’s budget of {budget} is left. "
        "Plan fewer places or raise the budget."
    )
