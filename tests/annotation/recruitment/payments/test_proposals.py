"""Proposed payments for every state of a place, with and without a decision."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.recruitment.payments.proposals import (
    PayTerms,
    PlaceFacts,
    part_of_reward,
    propose,
)
from annotation.recruitment.payments.steps import next_step

pytestmark = pytest.mark.database_free
TERMS = PayTerms(reward=300, screens=40)


def proposed(terms=TERMS, **facts) -> list[tuple[str, str, int]]:
    place = PlaceFacts(**{"pk": 1, "state": "completed", "answered": 40, **facts})
    return [(payment.kind, payment.cause, payment.amount) for payment in propose(place, terms)]


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({"state": "working", "answered": 12}, []),
        ({"state": "declined", "answered": 0}, []),
        ({"state": "completed"}, [("approve", "", 300)]),
        # No screens were left for the person, they failed practice, or we made a mistake.
        ({"state": "screened_out", "answered": 0}, [("approve", "", 300)]),
        ({"state": "left", "answered": 0}, []),
        ({"state": "left", "answered": 10}, [("bonus", "work", 75)]),
        ({"state": "left", "answered": 1}, [("bonus", "work", 8)]),  # 7.5 rounded up
        ({"state": "completed", "outcome": "approved"}, []),
        ({"state": "completed", "outcome": "rejected"}, []),
        ({"state": "left", "answered": 10, "outcome": "rejected"}, []),
    ],
)
def test_each_place_is_proposed_the_value_of_its_work(facts, expected):
    assert proposed(**facts) == expected


def test_people_with_nothing_to_do_get_the_fixed_screen_out_payment_where_there_is_one():
    terms = PayTerms(reward=300, screens=40, screen_out=50)
    assert proposed(terms, state="screened_out", answered=0) == [("screen_out", "", 50)]
    assert proposed(terms, state="completed") == [("approve", "", 300)]
    refused = ("screen_out", "", "refused")
    assert proposed(terms, state="screened_out", outcome="approved", payments=[refused]) == [
        ("bonus", "work", 50)
    ]
    sent = ("screen_out", "", "sent")
    assert proposed(terms, state="screened_out", outcome="approved", payments=[sent]) == []


def test_people_who_cannot_be_approved_are_proposed_the_reward_as_a_bonus_once():
    refused = ("approve", "", "refused")
    assert proposed(outcome="approved", payments=[refused]) == [("bonus", "work", 300)]
    paid = ("bonus", "work", "confirmed")
    assert proposed(outcome="approved", payments=[refused, paid]) == []


def test_a_top_up_is_proposed_once_to_those_who_completed_and_are_approved():
    terms = PayTerms(reward=300, screens=40, top_up=50)
    assert proposed(terms, outcome="approved") == [("bonus", "top_up", 50)]
    assert proposed(terms, outcome="approved", payments=[("bonus", "top_up", "unknown")]) == []
    assert proposed(terms, outcome="rejected") == []
    assert proposed(terms, state="left", answered=4, outcome="approved") == []


@given(reward=st.integers(1, 10_000), answered=st.integers(1, 200), screens=st.integers(1, 100))
def test_a_part_of_the_reward_is_at_least_fair_and_never_more_than_all(reward, answered, screens):
    part = part_of_reward(reward, answered, screens)
    assert 1 <= part <= reward
    assert part * screens >= reward * min(answered, screens)


@pytest.mark.parametrize(
    ("kind", "status", "step"),
    [
        ("approve", "AWAITING REVIEW", "send"),
        ("approve", "ACTIVE", "wait"),
        ("approve", "RESERVED", "wait"),
        ("approve", "APPROVED", "done"),
        ("approve", "PARTIALLY APPROVED", "done"),
        ("approve", "SCREENED OUT", "done"),
        ("screen_out", "SCREENED OUT", "done"),
        ("reject", "AWAITING REVIEW", "send"),
        ("reject", "REJECTED", "done"),
    ],
)
def test_the_state_at_the_panel_decides_what_is_sent(kind, status, step):
    assert next_step(kind, status) == step


@pytest.mark.parametrize(
    ("kind", "status", "words"),
    [
        ("approve", "RETURNED", "gave the place back"),
        ("approve", "TIMED-OUT", "ran out of time"),
        ("approve", "REJECTED", "was rejected"),
        ("approve", "", "made up"),
        ("approve", "UNHEARD OF", "unheard of"),
        ("reject", "APPROVED", "was paid"),
        ("reject", "RETURNED", "given back"),
    ],
)
def test_payments_that_the_panel_cannot_make_are_reported(kind, status, words):
    assert words in next_step(kind, status)
