"""Slow tests run beside quick ones."""

import pytest

from tests.project.run.order import spread

pytestmark = pytest.mark.database_free


def spread_names(*names: str) -> list[str]:
    """Spread tests named by module and number; those in capitals are slow."""
    return spread(names, is_slow=str.isupper, module=lambda name: name[0].lower())


def test_slow_tests_lie_among_the_others_and_none_at_the_end():
    others = [f"{module}{number}" for module in "abcdefgh" for number in range(5)]
    ordered = spread_names(*others, "X1", "Y1")
    assert sorted(ordered) == sorted([*others, "X1", "Y1"])
    assert ordered.index("X1") == 0
    assert 15 <= ordered.index("Y1") <= 25


def test_tests_of_a_module_stay_together():
    ordered = spread_names("a1", "A2", "a3", "A4", "b1", "b2", "B3")
    assert ordered == ["A2", "A4", "a1", "a3", "b1", "b2", "B3"]


def test_without_slow_tests_the_order_stays():
    assert spread_names("a1", "b1", "a2") == ["a1", "b1", "a2"]
