"""Random sequences of actions by people and leads keep all invariants, by the verbs and over HTTP.

Hypothesis finds short failing sequences; a random walk favours usual actions and goes further. Here a walk for each
choice of quotas; `make bench ARGS=walks` does ten times as much.
"""

import os
import random

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from tests.annotation.labelling.machine import (
    PEOPLE,
    QUOTAS,
    Labelling,
    LabellingOverHttp,
    LabellingQuestions,
    LabellingQuestionsOverHttp,
)

MACHINES = [
    pytest.param(Labelling, id="by verbs"),
    pytest.param(LabellingOverHttp, id="over HTTP"),
    pytest.param(LabellingQuestions, id="questions by verbs"),
    pytest.param(LabellingQuestionsOverHttp, id="questions over HTTP"),
]
WALKS = int(os.environ.get("LABELLING_WALKS", len(QUOTAS)))
# Relative frequency of each action in a walk.
WEIGHTS = {
    "wait": 5,
    "ask": 4,
    "work": 8,
    "submit": 8,
    "send_again": 2,
    "use_a_submission_id_twice": 2,
    "answer_for_another": 2,
    "skip": 1,
    "take_a_break": 1,
    "withdraw": 1,
    "agree": 8,
    "publish_another_consent_text": 1,
    "change_state": 3,
    "change_part": 5,
}


@pytest.mark.django_db
@pytest.mark.parametrize("machine", MACHINES)
def test_any_sequence_keeps_the_promises(machine):
    run_state_machine_as_test(
        machine, settings=settings(max_examples=2 * WALKS, stateful_step_count=40, deadline=None)
    )


@pytest.mark.django_db
@pytest.mark.parametrize("seed", range(WALKS))
@pytest.mark.parametrize("machine", MACHINES)
def test_a_long_walk_keeps_the_promises(machine, seed):
    walk(machine(), random.Random(seed), quotas=QUOTAS[seed % len(QUOTAS)], steps=100)


def walk(labelling, chance, *, quotas, steps):
    """Do `steps` random actions; check the invariants after each."""
    labelling.begin(
        quotas=quotas,
        gold=chance.choice([0.0, 0.3, 0.5]),
        repeat=chance.choice([0.0, 0.5]),
        tasks_a_day=chance.choice([None, None, 3]),
        sensitive_a_day=chance.choice([None, None, 1]),
    )
    try:
        for verb in chance.choices(list(WEIGHTS), WEIGHTS.values(), k=steps):
            _do(labelling, verb, chance)
            labelling.the_database_agrees()
            labelling.no_task_has_too_many_and_quotas_can_still_be_met()
            labelling.checks_never_count()
    finally:
        labelling.teardown()


def _do(labelling, verb, chance):
    person, number, other = chance.randrange(PEOPLE), chance.randrange(1000), chance.randrange(1000)
    ticked = chance.random() < 0.5
    arguments = {
        "wait": {"minutes": chance.choice([1, 1, 10, 10, 29, 30, 31, 1000])},
        "work": {"person": person, "tasks": chance.randint(1, 3), "ticked": ticked},
        "submit": {"number": number, "ticked": ticked},
        "send_again": {"number": number, "which": other},
        "use_a_submission_id_twice": {"number": number, "other": other},
        "answer_for_another": {"number": number, "person": person},
        "skip": {"number": number},
        "publish_another_consent_text": {},
        "change_state": {"verb": chance.choice(["pause", "resume", "resume", "close", "reopen", "reopen"])},
        "change_part": {"person": person, "verb": chance.choice(["pause", "resume", "resume", "exclude"])},
    }.get(verb, {"person": person})
    getattr(labelling, verb)(**arguments)
