"""The answer probabilities of simulated people on each screen, independent of the code that draws their answers."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise, permutations, product
from math import erf, exp, inf, prod, sqrt

import numpy as np

from annotation.kinds.questions import ChoiceQuestion, CompareQuestion, Question, RankQuestion, ScaleQuestion
from annotation.kinds.registry import kind_of
from annotation.models import Campaign
from annotation.simulation.questions import QuestionTruth, ShownItem

APART, SEVERAL, MARKED, MARKED_OTHERWISE = 0.04, 0.25, 0.9, 0.1
Shares = dict[frozenset[int | str], float]  # of each answer, which may be several codes


@dataclass(frozen=True)
class Screen:
    """The contents of a screen, and the truth about it."""

    task: int
    items: tuple[ShownItem, ...]
    prompt: str
    words: int
    truth: QuestionTruth
    questions: Mapping[str, Question]

    def places(self, question: Question) -> range:
        """Of which stimuli a question is asked: a question about the whole screen is answered by its first."""
        return range(len(self.items) if question.each else 1)

    def model(self, place: int | None) -> str:
        """The model of a stimulus, or that of all of them."""
        return self._shared([item.model for item in self.items], place)

    def group(self, place: int | None) -> str:
        return self._shared([item.group for item in self.items], place)

    @staticmethod
    def _shared(names: list[str], place: int | None) -> str:
        if place is not None:
            return names[place]
        return names[0] if len(set(names)) == 1 else ""

    def asked(self, question: Question, place: int) -> float:
        """Return the probability that a question is asked."""
        if question.when is None:
            return 1.0
        earlier = self.questions[question.when.question]
        given = self.answers(earlier, place)
        wanted = set(question.when.answers)
        return self.asked(earlier, place) * sum(p for codes, p in given.items() if codes & wanted)

    def answers(self, question: Question, place: int) -> Shares:
        """Return the probability of each answer to a scale or a choice, once asked."""
        if isinstance(question, ScaleQuestion):
            return self._points(question, place)
        assert isinstance(question, ChoiceQuestion)
        codes = [answer.code for answer in question.answers]
        odds = {code: exp(self.truth.utility(question.name, code, self.items[place])) for code in codes}
        if not question.several:
            return {frozenset({code}): odds[code] / sum(odds.values()) for code in codes}
        offered = [code for code in codes if code != "none"]
        shares: Shares = {}
        for picked in product((True, False), repeat=len(offered)):
            chosen = frozenset(code for code, yes in zip(offered, picked, strict=True) if yes)
            each = [SEVERAL / (1 - SEVERAL) * odds[code] for code in offered]
            share = prod(
                odd / (1 + odd) if yes else 1 / (1 + odd) for odd, yes in zip(each, picked, strict=True)
            )
            key = chosen or frozenset({"none" if "none" in codes else codes[-1]})
            shares[key] = shares.get(key, 0.0) + share
        return shares

    def _points(self, question: ScaleQuestion, place: int) -> Shares:
        apart = [point.code for point in question.points if point.apart]
        codes = sorted(point.code for point in question.points if not point.apart)
        centre = (codes[0] + codes[-1]) / 2 + self.truth.strength(question.name, self.items[place])
        edges = [-inf, *((a + b) / 2 for a, b in pairwise(codes)), inf]
        below = [(1 + erf((edge - centre) / self.truth.noise / sqrt(2))) / 2 for edge in edges]
        seen = 1 - APART * bool(apart)
        shares: Shares = {
            frozenset({code}): seen * (high - low)
            for code, (low, high) in zip(codes, pairwise(below), strict=True)
        }
        return shares | {frozenset({code}): APART / len(apart) for code in apart}

    def outcomes(self, question: CompareQuestion) -> tuple[float, float, float]:
        """Return the probabilities that the first wins, that the second wins, and of a tie."""
        first, second = (exp(power) for power in self.strengths(question))
        tie = 0.0 if question.tie is None else self.truth.ties * sqrt(first * second)
        total = first + second + tie
        return first / total, second / total, tie / total

    def rankings(self, question: RankQuestion) -> Iterator[tuple[np.ndarray, float]]:
        """Every ranking, as mid-ranks of the items, with its probability."""
        weights = [exp(power) for power in self.strengths(question)]
        number = len(weights)
        tied = self.truth.ties / (2 + self.truth.ties) if question.ties else 0.0
        for order in permutations(range(number)):
            left, share = sum(weights), 1.0
            for item in order:
                share *= weights[item] / left
                left -= weights[item]
            for joined in product((False, True), repeat=number - 1):
                together = share * prod(tied if yes else 1 - tied for yes in joined)
                place = np.cumsum([0, *(not yes for yes in joined)])
                ranks = np.empty(number)
                for shared in np.unique(place):
                    at = np.flatnonzero(place == shared)
                    ranks[[order[position] for position in at]] = at.mean()
                yield ranks, together

    def strengths(self, question: Question) -> list[float]:
        powers = [self.truth.strength(question.name, item) for item in self.items]
        powers[0] += self.truth.position_bias
        return powers

    def marked(self, word: int) -> float:
        """Return the probability that a word of the text is marked."""
        return MARKED if self.truth.misses(self.items[0], word) else MARKED_OTHERWISE


def screens_of(campaign: Campaign, truth: QuestionTruth) -> list[Screen]:
    kind = kind_of(campaign)
    questions = {question.name: question for question in kind.questions}
    screens = []
    for task in campaign.tasks.prefetch_related("stimuli__image__group"):
        shown = sorted(task.stimuli.all(), key=lambda stimulus: stimulus.position)
        images = [stimulus.image for stimulus in shown if stimulus.image is not None]
        items = [ShownItem(image.sha256, image.model_label, image.group.name) for image in images]
        text = next((stimulus.text for stimulus in shown if stimulus.text), "")
        screens.append(
            Screen(
                task=task.pk,
                items=tuple(items or [ShownItem(text)]),
                prompt=images[0].prompt if images else text,
                words=len(text.split()),
                truth=truth,
                questions=questions,
            )
        )
    return screens
