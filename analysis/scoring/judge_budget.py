"""The budget of a judge: the highest possible cost is reserved before requests and corrected afterwards."""

from collections.abc import Sequence
from decimal import ROUND_UP, Decimal

from django.db import transaction
from django.db.models import F

from analysis.models import Scorer
from analysis.scoring.backends.judge import MAX_TOKENS, Rating, messages_of
from analysis.scoring.inputs.pairs import ScoredPair
from foundation.errors import DomainError

_MILLION = Decimal(1_000_000)
_STEP = Decimal("0.00000001")
# A token has at least one byte, and each message adds a few tokens of markup.
_TOKENS_AROUND = 40


class JudgePurse:
    """Keeps a judge within its budget, even if it is killed: requests under way count as spent."""

    def __init__(self, scorer: Scorer) -> None:
        self._scorer = scorer

    def pay(self, pairs: Sequence[ScoredPair]) -> list[Decimal]:
        """Reserve the highest possible cost of each request while the budget lasts; return the costs."""
        with transaction.atomic():
            scorer = Scorer.objects.select_for_update(of=("self",)).get(pk=self._scorer.pk)
            self._scorer = scorer
            if scorer.price_in is None:
                return [Decimal(0)] * len(pairs)
            left = None if scorer.budget is None else scorer.budget - scorer.spent
            amounts: list[Decimal] = []
            for pair in pairs:
                amount = self._price(most_tokens(pair), MAX_TOKENS)
                if left is not None and sum(amounts) + amount > left:
                    break
                amounts.append(amount)
            Scorer.objects.filter(pk=scorer.pk).update(spent=F("spent") + sum(amounts))
        return amounts

    def settle(self, amounts: Sequence[Decimal], ratings: Sequence[Rating]) -> None:
        """Replace the reserved costs with the actual costs, in the transaction that stores the ratings."""
        if self._scorer.price_in is None:
            return
        costs = [self._cost(rating, amount) for rating, amount in zip(ratings, amounts, strict=True)]
        spent = sum(costs, Decimal(0)) - sum(amounts, Decimal(0))
        Scorer.objects.filter(pk=self._scorer.pk).update(spent=F("spent") + spent)

    def refusal(self) -> DomainError:
        """Return the error for a budget that does not cover another request."""
        scorer = self._scorer
        return DomainError(
            "budget_spent",
            f"The budget of {scorer.budget or 0:,.2f} does not cover another rating: "
            f"{scorer.spent:,.4f} has been spent. Start the judge with a larger budget to continue.",
        )

    def _cost(self, rating: Rating, reserved: Decimal) -> Decimal:
        if not rating.charged:
            return Decimal(0)
        if rating.tokens_in is None or rating.tokens_out is None:
            return reserved
        return self._price(rating.tokens_in, rating.tokens_out)

    def _price(self, tokens_in: int, tokens_out: int) -> Decimal:
        cost = tokens_in * (self._scorer.price_in or 0) + tokens_out * (self._scorer.price_out or 0)
        return (Decimal(cost) / _MILLION).quantize(_STEP, ROUND_UP)


def most_tokens(pair: ScoredPair) -> int:
    """Return an upper bound of the input tokens of the request about a pair."""
    return sum(len(message.text.encode()) + _TOKENS_AROUND for message in messages_of(pair))
