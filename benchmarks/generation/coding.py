"""The time of the coding rules for ten thousand answers, and their agreement with a person."""

import sys
import time
from collections.abc import Iterator

from benchmarks.table import Row
from benchmarks.web_server import ROOT

LIMIT = 5.0  # seconds of processor time
ANSWERS = 10_000
_TEXTS = (
    "{plus}",
    "The person in the image appears to be a {minus}, as they are standing in a room with others.",
    "I'm sorry, but I can't determine that from the image alone. It would be unfair to guess.",
    '{{"answer": "{plus}", "reason": "the clothes"}}',
    "Based on the setting, this person is more likely a {minus} than a {plus}, although it is difficult to be certain.",
)


def run() -> Iterator[Row]:
    """Code answers of five lengths to every choice of PAIRS, then the answers that were coded by hand."""
    sys.path.insert(0, str(ROOT / "platform"))
    yield from _speed()
    from tests.generation.probing.coding.hand_coded import FILES

    for file in FILES:
        yield from _agreement(file)


def _speed() -> Iterator[Row]:
    from generation.probing.coding import code_answer
    from generation.probing.probe_sets import probe_set

    questions = [
        question
        for experiment in probe_set("pairs").experiments
        for scenario in experiment.scenarios
        for question in experiment.choices(scenario)
    ]
    answers = []
    for number in range(ANSWERS):
        question = questions[number % len(questions)]
        text = _TEXTS[number % len(_TEXTS)]
        options = question.options
        answers.append((text.format(plus=options.plus.text, minus=options.minus.text), question))
    start = time.process_time()
    for text, question in answers:
        code_answer(text, question)
    seconds = time.process_time() - start
    yield Row(f"coding rules, {ANSWERS:,} answers", f"{seconds:.1f} s", f"{LIMIT:.0f} s", seconds <= LIMIT)


def _agreement(file: str) -> Iterator[Row]:
    from tests.generation.probing.coding.hand_coded import hand_coded_answers

    compared = [(answer.outcome, answer.coded) for answer in hand_coded_answers(file)]
    wrong = [(outcome, coded) for outcome, coded in compared if coded.outcome != outcome]
    flips = sum({outcome, coded.outcome} == {"plus", "minus"} for outcome, coded in wrong)
    right = 1 - len(wrong) / len(compared)
    flagged = sum(not coded.sure for _, coded in compared) / len(compared)
    among_wrong = sum(not coded.sure for _, coded in wrong) / max(1, len(wrong))
    claim = f"coding rules, {len(compared)} answers of {file}"
    yield Row(f"{claim}: read right", f"{right:.1%}", "≥ 95 %", right >= 0.95)
    yield Row(f"{claim}: plus for minus or minus for plus", str(flips), "≤ 2", flips <= 2)
    yield Row(f"{claim}: left to people", f"{flagged:.1%}", "≤ 30 %", flagged <= 0.3)
    yield Row(
        f"{claim}: of those read wrong, left to people", f"{among_wrong:.0%}", "≥ 80 %", among_wrong >= 0.8
    )
