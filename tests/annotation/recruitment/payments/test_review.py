"""The page on which a lead reviews and pays, for panels without an API."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.recruitment import recruitments
from annotation.recruitment.models import PanelPayment, PanelPlace
from annotation.recruitment.payments import decisions
from annotation.recruitment.payments.decisions import Decision
from foundation.errors import Conflict, DomainError
from studies.models import AuditEntry

pytestmark = pytest.mark.django_db
REASON = (
    "The same answer was given to every screen within a second each, although a message asked to look again."
)


def page(name, recruitment, **more):
    at = {"study": "isles", "campaign": "marking", "recruitment": recruitment.pk, **more}
    return reverse(f"annotation:{name}", kwargs=at)


def ended(recruitment, state="completed", *, answered=3, minutes=10, days=0) -> PanelPlace:
    moment = timezone.now() - timedelta(days=days)
    place = PanelPlace.objects.create(
        recruitment=recruitment, state=state, answered=answered, ended_at=moment,
        submission_hash=f"{PanelPlace.objects.count()}", submission_sealed="sealed",
    )  # fmt: skip
    PanelPlace.objects.filter(pk=place.pk).update(arrived_at=moment - timedelta(minutes=minutes))
    return place


def text(response) -> str:
    return " ".join(response.content.decode().split())


def test_the_page_says_that_nobody_came_yet(recruitment, lead_client):
    content = text(lead_client.get(page("recruitment_review", recruitment)))
    assert "Nobody is waiting for approval" in content
    assert "No payments" in content


def test_proposals_are_approved_and_recorded_with_their_sum(recruit, lead_client):
    recruitment = recruit(places=10)
    for _ in range(3):
        ended(recruitment)
    ended(recruitment, "screened_out", answered=0)
    ended(recruitment, "left", answered=1)
    ended(recruitment, "declined", answered=0)
    content = text(lead_client.get(page("recruitment_review", recruitment)))
    assert (
        "4 people finished, or came when no work was left for them. Approving them all costs 8.00 GBP"
        in content
    )
    assert "0.67 GBP" in content
    lead_client.post(page("recruitment_approve", recruitment))
    approved = PanelPayment.objects.values_list("kind", "amount", "state")
    assert list(approved) == [("approve", 200, "confirmed")] * 4
    assert "0.67 GBP" in text(lead_client.get(page("recruitment_bonuses", recruitment)))
    lead_client.post(page("recruitment_bonuses", recruitment), {"total": "67"})
    assert PanelPayment.objects.get(kind="bonus").amount == 67
    content = text(lead_client.get(page("recruitment_review", recruitment)))
    assert "8.67 GBP" in content
    assert "No bonus is proposed" in content
    assert (
        AuditEntry.objects.filter(action="recruitment.bonuses_ordered").get().details["total"] == "0.67 GBP"
    )


def test_bonuses_that_changed_since_they_were_shown_are_not_paid(recruitment, lead_client):
    ended(recruitment, "left", answered=1)
    for total in ("66", "", "-67", "x" * 9):
        response = lead_client.post(page("recruitment_bonuses", recruitment), {"total": total}, follow=True)
        assert "come to 0.67 GBP. Check the bonuses again" in text(response)
    assert not PanelPayment.objects.exists()


def test_pressing_twice_approves_and_pays_once(recruitment, lead):
    ended(recruitment)
    ended(recruitment, "left", answered=1)
    assert [decisions.approve_all(recruitment=recruitment, by=lead) for _ in range(2)] == [1, 0]
    assert decisions.pay_bonuses(recruitment=recruitment, total=67, by=lead) == 1
    with pytest.raises(Conflict, match=r"come to 0\.00 GBP"):
        decisions.pay_bonuses(recruitment=recruitment, total=67, by=lead)
    assert PanelPayment.objects.count() == 2


def test_slow_work_is_topped_up_once_the_recruitment_is_closed(recruitment, lead, lead_client):
    for _ in range(3):
        ended(recruitment, minutes=30)
    decisions.approve_all(recruitment=recruitment, by=lead)
    assert "No bonus is proposed" in text(lead_client.get(page("recruitment_review", recruitment)))
    recruitments.move(recruitment=recruitment, to="close", by=lead)
    content = text(lead_client.get(page("recruitment_review", recruitment)))
    assert "Work that took longer than planned" in content
    assert "3.00 GBP" in content  # half an hour at the floor of 6.00, less 2.00, three times
    assert decisions.pay_bonuses(recruitment=recruitment, total=300, by=lead) == 3


def test_a_top_up_is_paid_once_though_the_decision_is_changed(recruitment, lead):
    place = ended(recruitment, minutes=30)
    decisions.approve_all(recruitment=recruitment, by=lead)
    recruitments.move(recruitment=recruitment, to="close", by=lead)
    assert decisions.pay_bonuses(recruitment=recruitment, total=100, by=lead) == 1
    for decision in (Decision("rejected", REASON, "LOW_EFFORT"), Decision("approved")):
        decisions.decide(place=place, decision=decision, by=lead)
    assert decisions.pay_bonuses(recruitment=recruitment, total=0, by=lead) == 0
    assert set(place.payments.values_list("kind", "amount")) == {("approve", 200), ("bonus", 100)}


def test_a_decision_can_be_changed_until_the_recruitment_is_settled(recruitment, lead):
    place = ended(recruitment)
    decisions.decide(place=place, decision=Decision("rejected", REASON, "LOW_EFFORT"), by=lead)
    assert PanelPayment.objects.values_list("kind", "amount", "category").get() == ("reject", 0, "LOW_EFFORT")
    decisions.decide(place=place, decision=Decision("approved"), by=lead)
    assert PanelPayment.objects.values_list("kind", "amount", "category").get() == ("approve", 200, "")
    recruitments.move(recruitment=recruitment, to="close", by=lead)
    decisions.settle(recruitment=recruitment, by=lead)
    with pytest.raises(Conflict, match="settled"):
        decisions.decide(place=place, decision=Decision("rejected", REASON, "LOW_EFFORT"), by=lead)


@pytest.mark.parametrize(
    "decision",
    [
        Decision("rejected", REASON),
        Decision("rejected", REASON, "BORED"),
        Decision("rejected", "Bad.", "OTHER"),
    ],
)
def test_a_rejection_needs_a_category_and_a_reason(recruitment, lead, decision):
    place = ended(recruitment)
    with pytest.raises(DomainError):
        decisions.decide(place=place, decision=decision, by=lead)
    place.refresh_from_db()
    assert place.outcome == ""


def test_returned_places_are_paid_by_bonus_and_cannot_be_rejected(recruitment, lead):
    worked, came = ended(recruitment, "left", answered=2), ended(recruitment, "left", answered=0)
    decisions.decide(place=worked, decision=Decision("approved"), by=lead)
    decisions.decide(place=came, decision=Decision("rejected", REASON, "NO_DATA"), by=lead)
    assert PanelPayment.objects.values_list("place", "kind", "amount").get() == (worked.pk, "bonus", 134)


def test_nothing_is_settled_while_a_payment_is_open(recruitment, lead):
    place = ended(recruitment)
    decisions.approve_all(recruitment=recruitment, by=lead)
    recruitments.move(recruitment=recruitment, to="close", by=lead)
    PanelPayment.objects.filter(place=place).update(state="planned", settled_at=None)
    with pytest.raises(Conflict, match="not confirmed"):
        decisions.settle(recruitment=recruitment, by=lead)


def test_nothing_is_settled_while_somebody_is_working(recruitment, guest, lead):
    guest(recruitment)
    recruitments.move(recruitment=recruitment, to="close", by=lead)
    with pytest.raises(Conflict, match="still working"):
        decisions.settle(recruitment=recruitment, by=lead)


def test_payments_are_in_the_currency_of_their_recruitment(recruit, lead):
    recruitment = recruit(currency="USD", reward=Decimal("4.00"))
    ended(recruitment)
    ended(recruitment, "left", answered=1)
    decisions.approve_all(recruitment=recruitment, by=lead)
    decisions.pay_bonuses(recruitment=recruitment, total=134, by=lead)
    assert set(PanelPayment.objects.values_list("amount", "currency")) == {(400, "USD"), (134, "USD")}


@pytest.mark.parametrize(("days", "warned"), [(13, False), (14, True), (20, True)])
def test_a_warning_from_day_14_says_that_the_panel_approves_by_itself(recruitment, lead_client, days, warned):
    ended(recruitment, days=days)
    content = text(lead_client.get(page("recruitment_review", recruitment)))
    assert ("Prolific automatically approves" in content) is warned


def test_a_lost_bonus_is_explained_with_what_to_do(recruitment, lead_client, unknown_bonus):
    content = text(lead_client.get(page("recruitment_review", recruitment)))
    assert "Payments that may be lost" in content
    assert "Mark as paid" in content
    assert "Send again…" not in content
    PanelPayment.objects.update(looked_at=timezone.now())
    assert "Send again…" in text(lead_client.get(page("recruitment_review", recruitment)))
    again = page("payment_again", recruitment, payment=unknown_bonus.pk)
    assert "Check that the panel does not show the bonus" in text(lead_client.get(again))


def test_a_bonus_that_a_person_saw_at_the_panel_is_confirmed(recruitment, lead_client, unknown_bonus):
    lead_client.post(page("payment_seen", recruitment, payment=unknown_bonus.pk))
    unknown_bonus.refresh_from_db()
    assert unknown_bonus.state == "confirmed"
    said = lead_client.post(page("payment_seen", recruitment, payment=unknown_bonus.pk), follow=True)
    assert "This payment is confirmed" in text(said)


@pytest.mark.parametrize("name", ["payment_seen", "payment_again"])
def test_a_payment_is_not_found_in_another_recruitment(recruit, lead_client, unknown_bonus, name):
    PanelPayment.objects.update(looked_at=timezone.now())
    elsewhere = page(name, recruit(name="Elsewhere"), payment=unknown_bonus.pk)
    assert lead_client.post(elsewhere).status_code == 404
    unknown_bonus.refresh_from_db()
    assert unknown_bonus.state == "unknown"


@pytest.fixture
def unknown_bonus(recruitment) -> PanelPayment:
    return PanelPayment.objects.create(
        place=ended(recruitment, "left", answered=1), kind="bonus", cause="work", amount=67, currency="GBP",
        state="unknown", key="12345678-1234-4234-8234-123456789012", batch="batch", attempts=1,
        sent_at=timezone.now() - timedelta(hours=2), problem="Prolific did not answer within 30 seconds.",
    )  # fmt: skip


def test_the_page_takes_as_many_queries_for_many_places_as_for_few(recruit, lead_client, queries, lead):
    recruitment = recruit(places=200)
    ended(recruitment)
    address = page("recruitment_review", recruitment)
    few = queries(lead_client, address)
    for _ in range(60):
        ended(recruitment)
    decisions.approve_all(recruitment=recruitment, by=lead)
    assert queries(lead_client, address) <= few + 1


@pytest.mark.parametrize("name", ["approve", "bonuses", "settle"])
def test_only_leads_decide_about_pay(recruitment, analyst_client, stranger_client, client, name):
    ended(recruitment)
    ended(recruitment, "left", answered=1)
    address = page(f"recruitment_{name}", recruitment)
    people = (analyst_client, stranger_client, client)
    assert [person.post(address, {"total": "67"}).status_code for person in people] == [403, 404, 302]
    assert not PanelPayment.objects.exists()
