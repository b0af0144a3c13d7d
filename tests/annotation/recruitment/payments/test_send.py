"""Sending payments to the panel: no fault on the way causes a double or a missing payment."""

from dataclasses import replace
from datetime import timedelta

import pytest

from annotation.recruitment import identities
from annotation.recruitment.models import PanelPayment
from annotation.recruitment.payments import decisions
from annotation.recruitment.payments.send import Outbox, hold_restored, send_due
from annotation.recruitment.prolific.client import ProlificClient
from annotation.recruitment.prolific.errors import ProlificError
from foundation.errors import Conflict
from tests.annotation.recruitment.payments.conftest import PATIENCE

pytestmark = pytest.mark.django_db
NO_ANSWER = ["502", "502_after", "timeout_after", "closed_after"]
AFTER = ["502_after", "timeout_after", "closed_after"]


class Dying(ProlificClient):
    """A client whose process dies after the panel has paid."""

    def pay_bonuses(self, batch_id: str) -> None:
        super().pay_bonuses(batch_id)
        raise SystemExit


class Overtaken(ProlificClient):
    """A client that is overtaken by another worker between setting up bonuses and paying them."""

    other: Outbox

    def create_bonuses(self, study, rows):
        batch = super().create_bonuses(study, rows)
        send_due(self.other)
        return batch


class Miscounting(ProlificClient):
    """A client of a panel that sets up another sum than it was asked for."""

    def create_bonuses(self, study, rows):
        batch = super().create_bonuses(study, rows)
        return replace(batch, amount=batch.amount + 100)


def test_approvals_go_out_together_and_are_confirmed_when_the_panel_shows_them(paid_study):
    payments = [paid_study.order(paid_study.place(), "approve", amount=200) for _ in range(3)]
    paid_study.send()
    assert [paid_study.state(payment) for payment in payments] == ["sent"] * 3
    assert len({payment.key for payment in payments}) == 1
    assert paid_study.paid("reward") == [200] * 3
    paid_study.send()
    assert [paid_study.state(payment) for payment in payments] == ["confirmed"] * 3


@pytest.mark.parametrize("fault", ["429", *NO_ANSWER])
def test_an_approval_is_repeated_until_it_is_there_and_paid_once(paid_study, fault):
    payment = paid_study.order(paid_study.place(), "approve", amount=200)
    paid_study.fake.fault("approve", fault, seconds=1.5)
    for _ in range(3):
        paid_study.send()
    assert paid_study.state(payment) == "confirmed"
    assert paid_study.paid("reward") == [200]


def test_an_approval_of_a_place_given_back_is_refused_and_the_others_are_paid(paid_study):
    given_back = paid_study.order(paid_study.place(ends="give_back"), "approve", amount=200)
    at_work = paid_study.order(paid_study.place(ends=""), "approve", amount=200)
    worked = paid_study.order(paid_study.place(), "approve", amount=200)
    for _ in range(2):
        paid_study.send()
    states = [paid_study.state(payment) for payment in (given_back, at_work, worked)]
    assert states == ["refused", "planned", "confirmed"]
    assert "gave the place back" in given_back.problem


def test_a_rejection_is_sent_with_its_category_and_reason(paid_study):
    place = paid_study.place()
    payment = paid_study.order(place, "reject", amount=0, category="LOW_EFFORT")
    for _ in range(2):
        paid_study.send()
    assert paid_study.state(payment) == "confirmed"
    assert paid_study.paid("reward") == []


def test_bonuses_go_out_together_once_and_are_confirmed_when_the_panel_shows_them(paid_study):
    paid_study.fake.configure(bonus_delay=60.0)
    payments = [paid_study.order(paid_study.place(ends="give_back"), amount=50 + n) for n in range(3)]
    for _ in range(3):
        paid_study.send()
    assert [paid_study.state(payment) for payment in payments] == ["sent"] * 3
    assert len({payment.batch for payment in payments}) == 1
    paid_study.fake.move_clock(seconds=61)
    paid_study.send()
    assert [paid_study.state(payment) for payment in payments] == ["confirmed"] * 3
    assert paid_study.paid() == [50, 51, 52]


@pytest.mark.parametrize("fault", AFTER)
def test_a_paid_bonus_without_a_response_is_found_and_not_repeated(paid_study, fault):
    payment = paid_study.order(paid_study.place(ends="give_back"))
    paid_study.fake.configure(bonus_delay=60.0)
    paid_study.fake.fault("pay_bonuses", fault, seconds=1.5)
    paid_study.send()
    assert paid_study.state(payment) == "unknown"
    paid_study.send()
    assert paid_study.state(payment) == "unknown"
    paid_study.fake.move_clock(seconds=61)
    paid_study.send()
    assert paid_study.state(payment) == "confirmed"
    assert paid_study.paid() == [50]


def test_a_lost_bonus_waits_for_a_persons_decision(paid_study, lead):
    payment = paid_study.order(paid_study.place(ends="give_back"))
    paid_study.fake.fault("pay_bonuses", "502")
    for _ in range(3):
        paid_study.send()
        with pytest.raises(Conflict, match="60 minutes"):
            decisions.plan_again(payment=payment, by=lead)
    paid_study.let_pass(hours=2)
    paid_study.send()
    assert paid_study.state(payment) == "unknown"
    assert paid_study.paid() == []
    decisions.plan_again(payment=payment, by=lead)
    for _ in range(2):
        paid_study.send()
    assert (paid_study.state(payment), payment.attempts) == ("confirmed", 2)
    assert paid_study.paid() == [50]


def test_a_replanned_payment_is_looked_up_before_it_is_sent(paid_study, lead):
    payment = paid_study.order(paid_study.place(ends="give_back"))
    paid_study.fake.configure(bonus_delay=7200.0)
    paid_study.fake.fault("pay_bonuses", "closed_after")
    paid_study.send()
    paid_study.let_pass(hours=2)
    paid_study.send()
    decisions.plan_again(payment=payment, by=lead)
    paid_study.fake.move_clock(seconds=7201)
    paid_study.send()
    assert paid_study.state(payment) == "confirmed"
    assert paid_study.paid() == [50]


def test_an_accepted_bonus_that_never_shows_becomes_unknown(paid_study):
    payment = paid_study.order(paid_study.place(ends="give_back"))
    paid_study.fake.configure(bonus_delay=10_000.0)
    paid_study.send()
    paid_study.let_pass(hours=2)
    paid_study.send()
    assert paid_study.state(payment) == "unknown"
    assert decisions.may_plan_again(payment)


@pytest.mark.parametrize("client", [Dying, Overtaken])
def test_a_worker_that_dies_or_is_overtaken_pays_once(paid_study, client):
    payment = paid_study.order(paid_study.place(ends="give_back"))
    with client(paid_study.fake.url, paid_study.fake.token, patience=PATIENCE) as other:
        if client is Overtaken:
            other.other = Outbox(paid_study.recruitment, paid_study.client)
            paid_study.send(other)
        else:
            paid_study.fake.configure(bonus_delay=60.0)
            with pytest.raises(SystemExit):
                paid_study.send(other)
            assert paid_study.state(payment) == "sent"
    for _ in range(3):
        paid_study.send()
    paid_study.fake.move_clock(seconds=61)
    paid_study.send()
    assert paid_study.state(payment) == "confirmed"
    assert paid_study.paid() == [50]


def test_a_busy_panel_is_asked_again_later(paid_study):
    payment = paid_study.order(paid_study.place(ends="give_back"))
    paid_study.fake.fault("pay_bonuses", "429")
    paid_study.send()
    assert paid_study.state(payment) == "planned"
    assert payment.next_try_at > payment.created_at
    for _ in range(2):
        paid_study.send()
    assert paid_study.state(payment) == "confirmed"
    assert paid_study.paid() == [50]


def test_a_bonus_that_the_panel_refuses_says_why_and_waits_for_a_person(paid_study, lead):
    payment = paid_study.order(paid_study.place(ends="give_back"))
    paid_study.fake.configure(money=0)
    for _ in range(2):
        paid_study.send()
    assert paid_study.state(payment) == "refused"
    assert "not enough money" in payment.problem
    paid_study.fake.configure(money=1_000_000)
    decisions.plan_again(payment=payment, by=lead)
    for _ in range(2):
        paid_study.send()
    assert paid_study.state(payment) == "confirmed"


def test_nothing_is_paid_when_the_panel_sets_up_another_sum(paid_study):
    payment = paid_study.order(paid_study.place(ends="give_back"))
    with Miscounting(paid_study.fake.url, paid_study.fake.token, patience=PATIENCE) as client:
        paid_study.send(client)
    assert paid_study.state(payment) == "refused"
    assert "a different sum" in payment.problem
    assert paid_study.paid() == []


def test_another_bonus_of_the_same_amount_is_not_taken_for_the_lost_one(paid_study):
    place = paid_study.place(ends="give_back")
    first = paid_study.order(place)
    for _ in range(2):
        paid_study.send()
    lost = paid_study.order(place, cause="top_up")
    paid_study.fake.fault("pay_bonuses", "502")
    for _ in range(3):
        paid_study.send()
    assert (paid_study.state(first), paid_study.state(lost)) == ("confirmed", "unknown")
    assert paid_study.paid() == [50]


def test_a_place_unknown_to_the_panel_does_not_block_others(paid_study):
    payments = [paid_study.order(paid_study.place(ends="give_back")) for _ in range(3)]
    unheard_of = paid_study.order(paid_study.place(ends="give_back"))
    place = unheard_of.place
    place.submission_sealed = identities.seal("made-up")
    place.save(update_fields=["submission_sealed"])
    for _ in range(2):
        paid_study.send()
    assert [paid_study.state(payment) for payment in payments] == ["confirmed"] * 3
    assert paid_study.state(unheard_of) == "refused"
    assert paid_study.paid() == [50] * 3


def test_a_wrong_token_stops_the_job_and_loses_nothing(paid_study):
    payments = [
        paid_study.order(paid_study.place(ends="give_back")),
        paid_study.order(paid_study.place(), "approve", amount=200),
    ]
    with ProlificClient(paid_study.fake.url, "another", patience=PATIENCE) as client:
        for _ in range(2):
            with pytest.raises(ProlificError, match="token"):
                paid_study.send(client)
    assert [paid_study.state(payment) for payment in payments] == ["planned", "planned"]
    for _ in range(2):
        paid_study.send()
    assert set(PanelPayment.objects.values_list("state", flat=True)) == {"confirmed"}


def test_nothing_is_sent_before_its_time(paid_study):
    payment = paid_study.order(paid_study.place(ends="give_back"))
    paid_study.fake.fault("create_bonuses", "429")
    paid_study.send()
    payment.refresh_from_db()
    assert payment.next_try_at - payment.created_at > timedelta(seconds=1)
    send_due(Outbox(paid_study.recruitment, paid_study.client))
    assert paid_study.state(payment) == "planned"


def test_bonuses_of_a_restored_backup_that_were_paid_since_are_not_paid_again(paid_study):
    paid_since, never_sent = (paid_study.order(paid_study.place(ends="give_back")) for _ in range(2))
    before = PanelPayment.objects.filter(pk=paid_since.pk).values().get()
    PanelPayment.objects.filter(pk=never_sent.pk).update(
        state="refused", problem="?", settled_at="2026-01-01T00:00Z"
    )
    paid_study.send()
    assert paid_study.paid() == [50]
    # The database is restored to the time when both were planned.
    PanelPayment.objects.filter(pk=paid_since.pk).update(**before)
    PanelPayment.objects.filter(pk=never_sent.pk).update(state="planned", problem="", settled_at=None)
    assert hold_restored() == 2
    for _ in range(2):
        paid_study.send()
    assert paid_study.paid() == [50]
    assert [paid_study.state(payment) for payment in (paid_since, never_sent)] == ["confirmed", "unknown"]
