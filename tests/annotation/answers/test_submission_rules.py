"""The verdict on a submission without a database: case by case, and invariants over all combinations of values."""

import uuid
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.answers.submission_rules import (
    CLOSED,
    LATE,
    Correction,
    FirstAnswer,
    LatestAnswer,
    Place,
    Refused,
    Repeated,
    StoredAnnotation,
    Submission,
    SubmissionRow,
    late_answer,
    verdict,
)
from annotation.answers.validation import Answer
from annotation.assignment import sql
from foundation.errors import DomainError

NOW = datetime(2030, 1, 1, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
ANSWER, OTHER_ANSWER = Answer(none_of_the_above=True), Answer(ticked=frozenset({1}), none_of_the_above=False)
UNREADABLE = DomainError("answer_invalid", "It cannot be read.")
ROW = SubmissionRow(
    assignment_id=1,
    annotator_id=2,
    assignment_state="leased",
    purpose="label",
    slot=0,
    leased_at=NOW - 10 * MINUTE,
    expires_at=NOW + 20 * MINUTE,
    ended_at=None,
    task_id=3,
    task_public_id=uuid.UUID(int=3),
    campaign_id=4,
    campaign_state="open",
    kind="stereotype_marking",
    boxes_required=True,
    lease_minutes=30,
    seed=1,
    opened_at=NOW - 60 * MINUTE,
    closed_at=None,
    imported=False,
    labelled_in="",
    study_id=5,
    options={},
    declaration=None,
    enrolment_state="active",
    most_screens=None,
    language=None,
    offered_languages=None,
    agreed=True,
    withdrew=False,
    instrument_id=6,
    sent=None,
    latest=None,
    leases_to_end=False,
    practice_not_passed=False,
    has_rules=False,
    profile={},
)
SUBMISSION = Submission(answer=ANSWER, names_unknown_version=False, edit_minutes=30, now=NOW)
STORED = StoredAnnotation(7, uuid.UUID(int=7), annotator_id=2, assignment_id=1, revision=1, status="accepted")
EXPIRED = {"expires_at": NOW}
RELEASED = {"assignment_state": "expired", "slot": None, "expires_at": NOW - MINUTE}
ANSWERED = {"assignment_state": "submitted", "ended_at": NOW - MINUTE, "latest": STORED}
ANSWERED_LONG_AGO = ANSWERED | {"ended_at": NOW - 30 * MINUTE}


def decide(row=ROW, submission=SUBMISSION, latest=ANSWER, refusal=None):
    return verdict(row, submission, LatestAnswer(latest, refusal) if row.latest else None)


@pytest.mark.parametrize(
    ("row", "status", "place", "reason"),
    [
        ({}, "accepted", Place.KEPT, ""),
        ({"campaign_state": "paused"}, "accepted", Place.KEPT, ""),
        ({"campaign_state": "closed"}, "accepted", Place.KEPT, ""),
        (EXPIRED, "accepted", Place.KEPT, ""),
        (EXPIRED | {"campaign_state": "paused"}, "accepted", Place.KEPT, ""),
        (EXPIRED | {"campaign_state": "closed"}, "surplus", Place.GIVEN_BACK, CLOSED),
        (RELEASED, "accepted", Place.WANTED, ""),
        (RELEASED | {"campaign_state": "closed"}, "surplus", Place.GIVEN_BACK, CLOSED),
        (RELEASED | {"assignment_state": "skipped"}, "accepted", Place.WANTED, ""),
        ({"purpose": "gold", "slot": None}, "gold", Place.NOT_NEEDED, ""),
        ({"purpose": "repeat", "slot": None}, "repeat", Place.NOT_NEEDED, ""),
        ({"purpose": "gold", "slot": None, "campaign_state": "closed"}, "gold", Place.NOT_NEEDED, ""),
    ],
)
def test_a_first_answer(row, status, place, reason):
    assert decide(ROW._replace(**row)) == FirstAnswer(ANSWER, status, place, reason)


def test_an_answer_whose_place_was_lost_counts_if_another_is_free():
    assert late_answer(ANSWER, 1) == FirstAnswer(ANSWER, "accepted", Place.KEPT)
    assert late_answer(ANSWER, None) == FirstAnswer(ANSWER, "surplus", Place.GIVEN_BACK, LATE)


@pytest.mark.parametrize(
    ("row", "submission", "code"),
    [
        ({"enrolment_state": "paused"}, {}, "annotator_paused"),
        ({"enrolment_state": "excluded"}, {}, "annotator_excluded"),
        ({"agreed": False}, {}, "consent_missing"),
        ({"withdrew": True}, {}, "consent_missing"),
        ({}, {"answer": UNREADABLE}, "answer_invalid"),
        ({}, {"names_unknown_version": True}, "instrument_unknown"),
        ({"sent": STORED._replace(assignment_id=8)}, {}, "submission_id_taken"),
        ({"sent": STORED._replace(annotator_id=8, assignment_id=8)}, {}, "submission_id_taken"),
        ({"sent": STORED._replace(annotator_id=8), "agreed": False}, {}, "consent_missing"),
        (ANSWERED_LONG_AGO, {"answer": OTHER_ANSWER}, "edit_window_over"),
        (ANSWERED_LONG_AGO, {"answer": UNREADABLE}, "edit_window_over"),
        (ANSWERED | {"campaign_state": "closed"}, {"answer": OTHER_ANSWER}, "campaign_closed"),
        (ANSWERED | {"enrolment_state": "paused"}, {"answer": OTHER_ANSWER}, "annotator_paused"),
        (ANSWERED | {"withdrew": True}, {"answer": OTHER_ANSWER}, "consent_missing"),
    ],
)
def test_a_refusal(row, submission, code):
    refused = decide(ROW._replace(**row), Submission(**(vars(SUBMISSION) | submission)))
    assert isinstance(refused, Refused)
    assert refused.error.code == code


@pytest.mark.parametrize("row", [{}, {"enrolment_state": "paused"}, {"agreed": False}, ANSWERED_LONG_AGO])
def test_a_repeated_submission_gets_the_earlier_verdict(row):
    assert decide(ROW._replace(**ANSWERED | row | {"sent": STORED})) == Repeated(STORED)


@pytest.mark.parametrize("status", ["accepted", "surplus", "gold", "excluded"])
def test_a_correction_keeps_the_status_and_one_that_changes_nothing_is_repeated(status):
    latest = STORED._replace(status=status)
    row = ROW._replace(**ANSWERED | {"latest": latest})
    changed = Submission(**(vars(SUBMISSION) | {"answer": OTHER_ANSWER}))
    assert decide(row, changed) == Correction(OTHER_ANSWER, latest)
    assert decide(row) == decide(row._replace(campaign_state="closed")) == Repeated(latest)


def test_an_answer_given_in_an_outside_tool_is_not_corrected_here():
    changed = Submission(**(vars(SUBMISSION) | {"answer": OTHER_ANSWER}))
    refusal = DomainError("labelled_in_a_tool", "Change it there.")
    assert decide(ROW._replace(**ANSWERED), changed, refusal=refusal) == Refused(refusal)


@given(
    row=st.fixed_dictionaries(
        {
            "assignment_state": st.sampled_from(["leased", "submitted", "surplus", "skipped", "expired"]),
            "purpose": st.sampled_from(["label", "gold", "repeat"]),
            "expires_at": st.sampled_from([NOW - MINUTE, NOW, NOW + MINUTE]),
            "campaign_state": st.sampled_from(["open", "paused", "closed"]),
            "enrolment_state": st.sampled_from(["active", "paused", "excluded"]),
            "agreed": st.booleans(),
            "withdrew": st.booleans(),
            "sent": st.sampled_from([None, STORED, STORED._replace(annotator_id=8, assignment_id=8)]),
        }
    ),
    age=st.integers(0, 60),
    answer=st.sampled_from([ANSWER, OTHER_ANSWER, UNREADABLE]),
)
def test_only_people_who_may_label_answer_for_all_values(row, age, answer):
    answered = row["assignment_state"] in {"submitted", "surplus"}
    holds_place = row["purpose"] == "label" and row["assignment_state"] in {"leased", "submitted"}
    row |= {"slot": 0 if holds_place else None}
    if answered:
        row |= {"ended_at": NOW - age * MINUTE, "latest": STORED}
    decision = decide(
        ROW._replace(**row), Submission(answer=answer, names_unknown_version=False, edit_minutes=30, now=NOW)
    )
    may_label = row["enrolment_state"] == "active" and row["agreed"] and not row["withdrew"]
    if isinstance(decision, FirstAnswer | Correction):
        assert may_label
        assert row["sent"] is None
        assert decision.answer is answer
        assert answered == isinstance(decision, Correction)
    if isinstance(decision, FirstAnswer):
        assert (decision.status in {"gold", "repeat"}) == (row["purpose"] != "label")
        assert decision.status != "accepted" or holds_place or decision.place is Place.WANTED
        ran_out = row["expires_at"] <= NOW or not holds_place
        assert (decision.status == "surplus") == (
            row["purpose"] == "label" and row["campaign_state"] == "closed" and ran_out
        )
    if isinstance(decision, Correction):
        assert age < 30
        assert row["campaign_state"] != "closed"


def test_the_statement_loads_every_value_of_the_row():
    nested = {"sent", "latest", "profile"}
    assert set(SubmissionRow._fields) - nested <= set(sql.SUBMISSION_COLUMNS)
