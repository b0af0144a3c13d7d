"""How long the coding rules take for ten thousand answers to choices."""

import time
from collections.abc import Iterator

from benchmarks.table import Row

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
    """Code answers of five lengths to every choice of PAIRS."""
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
