"""The amount a run has spent: one number, changed in the same transactions as the costs of its requests.

SQLite computes with floating-point numbers, so every result is rounded to what the column stores.
"""

from decimal import Decimal

from django.db.models import DecimalField, F, Q, Value
from django.db.models.functions import Round

from generation.models import GenerationRun

_PLACES = 4
_NUMBER = DecimalField(max_digits=14, decimal_places=_PLACES)


def reserve(run: GenerationRun, amount: Decimal) -> bool:
    """Add an amount to the spent amount if the budget covers it; return whether it does.

    The database compares and adds in one statement, so the workers of a run never exceed its budget.
    """
    covered = Q(budget=None) | Q(budget__gte=_spent_after(amount))
    return bool(GenerationRun.objects.filter(covered, pk=run.pk).update(spent=_spent_after(amount)))


def give_back(run: GenerationRun, amount: Decimal) -> None:
    """Subtract an amount from the spent amount."""
    GenerationRun.objects.filter(pk=run.pk).update(spent=_spent_after(-amount))


def _spent_after(amount: Decimal) -> Round:
    return Round(F("spent") + Value(amount, output_field=_NUMBER), precision=_PLACES, output_field=_NUMBER)
