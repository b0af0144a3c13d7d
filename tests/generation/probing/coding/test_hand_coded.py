"""Agreement of the rules with a person, on answers that the author of the rules did not see."""

import pytest

from tests.generation.probing.coding.hand_coded import FILES, hand_coded_answers

pytestmark = pytest.mark.database_free
MOST_FLIPS = 2
NUMBERS = dict(zip(FILES, (471, 194, 214, 100), strict=True))


@pytest.fixture(scope="module", params=FILES)
def compared(request):
    answers = [(answer, answer.coded) for answer in hand_coded_answers(request.param)]
    assert len(answers) >= NUMBERS[request.param]
    return answers


def test_at_least_95_of_100_are_read_right(compared):
    wrong = [(answer.text, coded.outcome) for answer, coded in compared if coded.outcome != answer.outcome]
    assert len(wrong) <= 0.05 * len(compared), wrong


def test_hardly_any_answer_is_read_as_its_opposite(compared):
    flipped = [
        answer.text for answer, coded in compared if {coded.outcome, answer.outcome} == {"plus", "minus"}
    ]
    assert len(flipped) <= MOST_FLIPS, flipped


def test_at_least_80_of_100_misread_answers_are_left_to_people(compared):
    wrong = [(answer.text, coded) for answer, coded in compared if coded.outcome != answer.outcome]
    unnoticed = [text for text, coded in wrong if coded.sure]
    assert len(unnoticed) <= 0.2 * len(wrong), unnoticed


def test_few_answers_are_left_to_people(compared):
    assert sum(not coded.sure for _, coded in compared) <= 0.3 * len(compared)
