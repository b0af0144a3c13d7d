"""Answers to the published questions that were coded by hand, independently of the author of the rules.

Each line has the scenario or question, the option named first (p: plus, m: minus), the outcome, and the
answer, whose line breaks are written as backslash and n. The texts are invented. Those of each further file were
written and coded when the rules had been measured on the files before it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from generation.probing.coding.rules import CodedAnswer, code_answer
from generation.probing.probe_sets import probe_set
from generation.probing.questions import AskedQuestion

FILES = (
    "answers_coded_by_hand.tsv",
    "more_answers_coded_by_hand.tsv",
    "third_answers_coded_by_hand.tsv",
    "fourth_answers_coded_by_hand.tsv",
)
_FIRST = {"p": "plus", "m": "minus"}


@dataclass(frozen=True)
class HandCoded:
    """An answer, its question, and the outcome that a person read in it."""

    question: AskedQuestion
    text: str
    outcome: str

    @property
    def coded(self) -> CodedAnswer:
        return code_answer(self.text, self.question)


def hand_coded_answers(file: str) -> Iterator[HandCoded]:
    asked = _questions()
    for line in Path(__file__).with_name(file).read_text(encoding="utf-8").splitlines():
        name, first, outcome, text = line.split("\t")
        yield HandCoded(asked[name, _FIRST[first]], text.replace("\\n", "\n"), outcome)


def _questions() -> dict[tuple[str, str], AskedQuestion]:
    """Return the published choice questions by scenario, or by name where all scenarios have the same options."""
    asked = {}
    for experiment in probe_set("pairs").experiments:
        for question in experiment.questions:
            for scenario in question.options_by_scenario or {"": None}:
                for order in ("published", "reversed"):
                    one = question.asked(scenario=scenario, order=order)
                    asked[scenario or question.name, one.first] = one
    return asked
