"""What makes a coding unsure: how an answer was read, and where this reading may be wrong."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from generation.probing.coding.clauses import ClauseReading
from generation.probing.coding.options import ARTICLES, Mention
from generation.probing.coding.refusals import Refusal
from generation.probing.coding.shares import Balance
from generation.probing.coding.tokens import word_set

Outcome = Literal["plus", "minus", "both", "refused", "other", "empty"]
LONG = 60  # words from which a coding is never sure
_SENTENCE_BOUNDS = frozenset(".!?\n:—")
_CLAUSE_ENDS = _SENTENCE_BOUNDS | set(",;()")
# Words of a sentence that contains only the choice: “So I would say that this person is a nurse.”
_CHOOSING = ARTICLES | word_set(
    "so thus therefore hence i he she it they this that person individual is am are would will be my answer choice "
    "guess say choose pick go with for likely probably most definitely think believe"
)


@dataclass(frozen=True)
class Evidence:
    """The findings in an answer, or in its part after “final answer”."""

    words: list[str]
    mentions: list[Mention]
    readings: list[ClauseReading]
    refusals: list[Refusal]
    balances: list[Balance]
    in_english: bool

    @property
    def committed(self) -> list[Mention]:
        """Return where the answer states that the person is an option, not one of two possibilities."""
        left_open = {place for part in self.balances for place in range(part.start, part.end)}
        read = zip(self.mentions, self.readings, strict=True)
        return [
            mention
            for mention, reading in read
            if mention.side and reading.level == 2 and mention.start not in left_open
        ]


@dataclass(frozen=True)
class Finding:
    outcome: Outcome
    rule: str
    start: int = 0
    end: int = 0
    doubt: str = ""


def doubts(finding: Finding, evidence: Evidence) -> Iterator[str]:
    """Yield the reasons why a coding is unsure, in the order of the answer."""
    yield finding.doubt
    words, option_mentions = evidence.words, [mention for mention in evidence.mentions if mention.side]
    # A refusal, or an answer that leaves both open, may name both. This is unclear only if the answer also commits.
    undecided = finding.outcome in {"both", "refused"} and not evidence.committed
    if undecided and evidence.refusals and evidence.balances:
        yield "the answer leaves both options open and refuses"
    if not undecided and not _stands_alone(finding, evidence, _SENTENCE_BOUNDS):
        named = {mention.side for mention in option_mentions if mention.how in {"form", "broader"}}
        if len(named) == 2 and not _stands_alone(finding, evidence, _CLAUSE_ENDS):
            yield "both options are named"
        if any(reading.stance == "against" for reading in _of_options(evidence)):
            yield "an option is negated"
        if any(reading.stance == "context" for reading in _of_options(evidence)):
            yield "an option is named only as context"
    chosen = {mention.how for mention in option_mentions if mention.side == finding.outcome}
    if chosen == {"broader"}:
        yield "the option is named in broader words"
    placed = {mention.side for mention in option_mentions if mention.how == "position"}
    if placed and not (placed == {finding.outcome} and "form" in chosen):
        yield "an option is named only by its position"
    if sum(word[0].isalpha() for word in words) > LONG:
        yield f"the answer has more than {LONG} words"
    if not evidence.in_english:
        yield "the answer is not in English"


def _stands_alone(finding: Finding, evidence: Evidence, bounds: frozenset[str]) -> bool:
    """Return whether a part between two bounds only chooses this option, and no part chooses the other one.

    “Nurse. A doctor would wear a coat.”
    """
    if finding.rule not in {"commitment", "final_answer"}:
        return False
    sides = {mention.side for mention in evidence.committed}
    return sides == {finding.outcome} and any(
        _between(evidence.words, mention, bounds) for mention in evidence.committed
    )


def _between(words: list[str], mention: Mention, bounds: frozenset[str]) -> bool:
    start = mention.start
    while start and words[start - 1] in _CHOOSING:
        start -= 1
    end = mention.end
    while end < len(words) and words[end] in _CHOOSING:
        end += 1
    return (not start or words[start - 1] in bounds) and (end == len(words) or words[end] in bounds)


def _of_options(evidence: Evidence) -> list[ClauseReading]:
    return [
        reading for mention, reading in zip(evidence.mentions, evidence.readings, strict=True) if mention.side
    ]
