"""Our client of Prolific's API, tested with a stand-in that has Prolific's states, money and faults."""

import time

import pytest

from annotation.recruitment.prolific.client import ProlificClient
from annotation.recruitment.prolific.errors import ProlificError, of_status
from tests.annotation.recruitment.prolific.conftest import draft

pytestmark = pytest.mark.database_free
LONG = (
    "The same answer was given to every screen within a second each, although a message asked to look again. "
)


def test_a_study_is_drafted_published_paused_and_stopped(remote):
    study = remote.create_study(draft())
    assert (study.status, study.places, study.reward) == ("UNPUBLISHED", 10, 200)
    states = [
        remote.transition_study(study.id, move).status for move in ("PUBLISH", "PAUSE", "START", "STOP")
    ]
    assert states == ["ACTIVE", "PAUSED", "ACTIVE", "COMPLETED"]
    with pytest.raises(ProlificError, match="PAUSE is not possible"):
        remote.transition_study(study.id, "PAUSE")
    assert remote.study(study.id).status == "COMPLETED"


def test_submissions_are_listed_past_a_page(fake, client_of):
    remote = client_of()
    study = remote.create_study(draft(places=230))
    remote.transition_study(study.id, "PUBLISH")
    ids = {fake.reserve(study.id, f"participant-{number}")["id"] for number in range(205)}
    submissions = remote.submissions(study.id)
    assert {submission.id for submission in submissions} == ids
    assert {submission.status for submission in submissions} == {"RESERVED"}
    assert {submission.study for submission in submissions} == {study.id}


def test_repeated_approvals_approve_people_once(fake, remote, reviewed):
    submissions = [reviewed(number) for number in range(3)]
    remote.approve(submissions)
    remote.approve(submissions)
    assert [remote.submission(one).status for one in submissions] == ["APPROVED"] * 3
    assert [(row["what"], row["amount"], row["fees"]) for row in fake.ledger()] == [("reward", 200, 67)] * 3


def test_a_rejection_says_why(remote, reviewed):
    submission = reviewed()
    with pytest.raises(ProlificError, match="refused"):
        remote.reject(submission, "LOW_EFFORT", "Bad.")
    assert remote.reject(submission, "LOW_EFFORT", LONG).status == "REJECTED"
    assert remote.reject(submission, "LOW_EFFORT", LONG).status == "REJECTED"


def test_a_screen_out_pays_its_fixed_reward(fake, remote, remote_study):
    submission = fake.reserve(remote_study, "somebody")["id"]
    fake.open_link(submission)
    assert remote.screen_out(submission, "OUT45678").status == "SCREENED OUT"
    assert remote.screen_out(submission, "OUT45678").status == "SCREENED OUT"
    assert [(row["amount"], row["fees"]) for row in fake.ledger()] == [(50, 17)]


def test_bonuses_are_set_up_and_paid_at_each_request(fake, remote, remote_study, reviewed):
    submission = reviewed()
    batch = remote.create_bonuses(remote_study, [(submission, 125)])
    assert (batch.amount, batch.fees, batch.total) == (125, 42, 167)
    assert remote.bonuses(submission) == ()
    remote.pay_bonuses(batch.id)
    assert remote.bonuses(submission) == (125,)
    remote.pay_bonuses(batch.id)
    assert remote.bonuses(submission) == (125, 125)
    assert [row["amount"] for row in fake.ledger()] == [125, 125]


def test_a_bonus_is_visible_only_after_a_while(fake, remote, remote_study, reviewed):
    submission = reviewed()
    fake.configure(bonus_delay=300.0)
    remote.pay_bonuses(remote.create_bonuses(remote_study, [(submission, 125)]).id)
    assert remote.bonuses(submission) == ()
    fake.move_clock(seconds=301)
    assert remote.bonuses(submission) == (125,)


def test_money_is_counted_in_whole_units_and_never_overdrawn(fake, remote):
    assert remote.cost(60, 300) == 18_000 + 5_994
    before = remote.balance(fake.workspace)
    assert (before.currency, before.total, before.available) == ("GBP", 10_000_000, 10_000_000)
    study = remote.create_study(draft(places=60, reward=300))
    remote.transition_study(study.id, "PUBLISH")
    after = remote.balance(fake.workspace)
    assert (after.total, after.available) == (10_000_000, 10_000_000 - 23_994)
    fake.configure(money=24_000)
    other = remote.create_study(draft())
    with pytest.raises(ProlificError, match="not enough money"):
        remote.transition_study(other.id, "PUBLISH")


def test_people_time_and_rates_are_requested(fake, remote):
    assert remote.eligible(fake.workspace) == 5_000
    filters = ({"filter_id": "current_country", "selected_values": ["1"]},)
    assert remote.eligible(fake.workspace, filters) == 2_500
    assert remote.recruitment_time(fake.workspace, draft(places=80)).hours == 2.0
    rates = remote.reward_rates(fake.workspace, "GBP")
    assert (rates.least, rates.good) == (600, 900)


def test_events_are_subscribed_to_with_a_secret(fake, remote):
    secret = remote.create_secret(fake.workspace)
    assert remote.create_secret(fake.workspace) != secret
    subscription = remote.subscribe(fake.workspace, "submission.status.change", "https://labels.example/hook")
    assert subscription.secret
    assert remote.confirm(subscription).enabled
    assert [one.id for one in remote.subscriptions(fake.workspace)] == [subscription.id]
    remote.unsubscribe(subscription.id)
    assert remote.subscriptions(fake.workspace) == ()


def test_the_client_waits_as_long_as_requested(fake, remote, remote_study):
    fake.fault("study", "429", times=2, seconds=0.6)
    began = time.monotonic()
    assert remote.study(remote_study).status == "ACTIVE"
    assert 1.2 <= time.monotonic() - began < 20


def test_a_busy_prolific_is_not_waited_for_longer_than_our_patience(fake, client_of, remote_study):
    fake.fault("*", "429", times=None, seconds=60.0)
    with pytest.raises(ProlificError) as raised:
        client_of(pauses=5.0).study(remote_study)
    assert (raised.value.code, raised.value.done) == ("prolific_busy", False)


def test_gateway_errors_are_retried_only_for_repeatable_requests(fake, remote, reviewed, remote_study):
    submission = reviewed()
    fake.fault("approve", "502_after", times=1)
    remote.approve([submission])
    assert len(fake.ledger()) == 1
    fake.fault("create_study", "502_after", times=1)
    with pytest.raises(ProlificError) as raised:
        remote.create_study(draft())
    assert (raised.value.code, raised.value.done) == ("prolific_failed", None)
    assert len(fake.documents("study")) == 2  # nothing was sent again


@pytest.mark.parametrize(("kind", "paid"), [("429", 0), ("502", 0), ("502_after", 1), ("closed_after", 1)])
def test_a_payment_is_sent_only_once(fake, remote, remote_study, reviewed, kind, paid):
    batch = remote.create_bonuses(remote_study, [(reviewed(), 125)])
    fake.fault("pay_bonuses", kind, times=1, seconds=0.1)
    with pytest.raises(ProlificError) as raised:
        remote.pay_bonuses(batch.id)
    assert len(fake.ledger()) == paid
    # It may be sent again only if it was certainly not done.
    assert raised.value.done is (False if kind == "429" else None)


def test_a_timeout_leaves_the_outcome_unknown(fake, client_of, remote_study, reviewed):
    remote = client_of(seconds=0.5)
    batch = remote.create_bonuses(remote_study, [(reviewed(), 125)])
    fake.fault("pay_bonuses", "timeout_after", seconds=10.0)
    began = time.monotonic()
    with pytest.raises(ProlificError) as raised:
        remote.pay_bonuses(batch.id)
    assert time.monotonic() - began < 10
    assert (raised.value.code, raised.value.done) == ("prolific_timeout", None)
    assert len(fake.ledger()) == 1


def test_an_unreachable_server_received_nothing(fake, client_of, remote_study):
    remote = client_of(tries=2)
    fake.kill()
    with pytest.raises(ProlificError) as raised:
        remote.study(remote_study)
    assert (raised.value.code, raised.value.done) == ("prolific_unreachable", False)
    fake.start(int(fake.url.rpartition(":")[2]))
    assert remote.study(remote_study).status == "ACTIVE"  # its state is on disk


def test_the_token_goes_to_one_address_alone(fake):
    with pytest.raises(ValueError, match="PROLIFIC_URL"):
        ProlificClient("https://elsewhere.example", fake.token)


def test_a_wrong_token_is_reported(client_of):
    with pytest.raises(ProlificError) as raised:
        client_of("another-token-77").study("x")
    assert raised.value.code == "prolific_token"


def test_no_error_names_a_person_or_place(remote, remote_study, reviewed):
    submission = reviewed()
    for wrong in (
        lambda: remote.create_bonuses(remote_study, [("6a0b1c2d3e4f5a6b7c8d9e0f", 100)]),
        lambda: remote.submission("6a0b1c2d3e4f5a6b7c8d9e0f"),
        lambda: remote.screen_out(submission, "WRONG123"),
    ):
        with pytest.raises(ProlificError) as raised:
            wrong()
        text = repr(raised.value) + raised.value.message
        assert "6a0b1c2d3e4f5a6b7c8d9e0f" not in text
        assert submission not in text


@pytest.mark.parametrize(
    "detail",
    [
        "These ids are incorrect: 5f3a0c77b1d2e4a6c8f00112",
        {
            "participant": [
                "5f3a0c77b1d2e4a6c8f00112 at a@b.example",
                {"x": "https://x.example/?q=secret-token"},
            ]
        },
        "token secret-token is wrong",
    ],
)
def test_texts_of_prolific_lose_ids_addresses_and_the_token(detail):
    error = of_status(400, {"error": {"detail": detail}}, token="secret-token")
    for hidden in ("5f3a0c77b1d2e4a6c8f00112", "a@b.example", "x.example", "secret-token"):
        assert hidden not in error.message


def test_no_log_holds_an_id(fake, remote, remote_study, reviewed, caplog):
    caplog.set_level(0)
    submission = reviewed()
    remote.submissions(remote_study)
    remote.submission(submission)
    assert submission not in caplog.text
    assert remote_study not in caplog.text
    assert fake.token not in caplog.text


def test_results_print_without_ids(remote, remote_study, reviewed):
    submission = remote.submission(reviewed())
    assert submission.id not in repr(submission)
    assert submission.participant not in repr(submission)
    assert remote_study not in repr(remote.study(remote_study))


def test_time_passes_by_the_clock_of_the_stand_in(fake, remote, remote_study):
    reserved, started, done = (fake.reserve(remote_study, f"person-{number}")["id"] for number in range(3))
    fake.open_link(started)
    fake.open_link(done)
    fake.complete(done, "DONE4567")
    fake.move_clock(seconds=11 * 60)
    assert [fake.status(one) for one in (reserved, started, done)] == [
        "TIMED-OUT",
        "ACTIVE",
        "AWAITING REVIEW",
    ]
    fake.move_clock(seconds=20 * 60)
    assert fake.status(started) == "TIMED-OUT"
    fake.move_clock(seconds=22 * 24 * 3600)
    assert fake.status(done) == "APPROVED"


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/api/v1/studies/", {"name": "x"}),
        ("/api/v1/study-cost-calculator/", {"reward": "200", "total_available_places": 3}),
        ("/api/v1/study-cost-calculator/", {"reward": 200, "total_available_places": 3, "places": 3}),
        ("/api/v1/submissions/bulk-approve/", {"submission_ids": []}),
    ],
)
def test_the_stand_in_refuses_what_prolific_refuses(remote, path, body):
    with pytest.raises(ProlificError) as raised:
        remote._connection.post(path, body, repeatable=False)
    assert raised.value.answered == 400
