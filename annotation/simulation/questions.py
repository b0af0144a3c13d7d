"""Simulated answers to a kind's declared questions, from a planted truth.

For each question, every model and group has a planted strength, and every image or text a smaller one.
Comparisons follow Davidson's form of the Bradley–Terry model, and rankings the Plackett–Luce model, both
with weights exp(strength). The answer on a scale is the point nearest to its middle plus strength and noise.
Choices follow utilities that depend on model and group.
"""

import hashlib
import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from annotation.kinds.registry import kind_of
from annotation.models import Campaign, Task, TaskStimulus

_OF_GROUP, _OF_IMAGE = 0.5, 0.25  # standard deviations, relative to that of models
_APART = 0.04  # probability of an answer apart from the scale, such as “Unsure”
_SEVERAL = 0.25  # approximate probability of each answer if several can be chosen
_MISSING = 0.15  # share of words that most annotators mark
_MARKED_OTHERWISE = 0.1  # probability that an annotator's mark of a word differs from most annotators'
_PLACE = 0.5  # probability of marking an optional place
_JITTER, _SIDE = 0.02, 0.2
_SENTENCES = (
    "The colours are soft and the light comes from one side.",
    "A quiet place with a lot of sky.",
    "Something stands in the middle, and I am not sure what it is for.",
    "It looks like a drawing from a book.",
    "Clear and simple; I would hang it on a wall.",
    "The background does not go well with the rest.",
)


@dataclass(frozen=True)
class ShownItem:
    """The properties of an image or text on which its strength depends."""

    key: str
    model: str = ""
    group: str = ""


@dataclass(frozen=True)
class QuestionTruth:
    """The planted truth, which follows entirely from the seed."""

    seed: int
    spread: float = 1.0  # standard deviation of the strengths of models
    ties: float = 0.3  # Davidson's ν, the tendency to call equals a tie
    position_bias: float = 0.0  # log-odds in favour of the first item shown
    noise: float = 0.8  # standard deviation of answers on a scale

    def strength(self, question: str, item: ShownItem) -> float:
        """Return the strength of an item for one question."""
        return self.of_model(question, item.model) + self.spread * (
            _OF_GROUP * self._normal("group", question, item.group)
            + _OF_IMAGE * self._normal("item", question, item.key)
        )

    def of_model(self, question: str, model: str) -> float:
        return self.spread * self._normal("model", question, model)

    def of_group(self, question: str, group: str) -> float:
        return self.spread * _OF_GROUP * self._normal("group", question, group)

    def utility(self, question: str, code: object, item: ShownItem) -> float:
        """Return the log-odds of an answer to a choice."""
        named = f"{question}={code}"
        return self._normal("answer", named) + 0.5 * self.strength(named, item)

    def misses(self, item: ShownItem, place: int) -> bool:
        """Return whether most annotators mark this word of the text."""
        return self.generator("word", item.key, place).random() < _MISSING

    def place(self, question: str, item: ShownItem) -> tuple[float, float]:
        """Return the place in the image that the answer is about, in fractions."""
        generator = self.generator("place", question, item.key)
        return generator.uniform(0.2, 0.8), generator.uniform(0.2, 0.8)

    def generator(self, *parts: object) -> random.Random:
        digest = hashlib.sha256("\x1f".join(map(str, (self.seed, *parts))).encode()).digest()
        return random.Random(int.from_bytes(digest[:8], "big"))

    def _normal(self, *parts: object) -> float:
        return self.generator(*parts).gauss(0, 1)

    def planted(self, campaign: Campaign) -> dict[str, Any]:
        """Return the strengths of models and groups by question, for checking measures."""
        kind = kind_of(campaign)
        if kind.about_attributes:
            return {}
        shown = TaskStimulus.objects.filter(task__campaign=campaign, image__isnull=False).order_by()
        of_groups = shown.filter(image__group__isnull=False)
        models = sorted(set(shown.values_list("image__model_label", flat=True).distinct()))
        groups = sorted(set(of_groups.values_list("image__group__name", flat=True).distinct()))
        return {
            question.name: {
                "models": {model: round(self.of_model(question.name, model), 4) for model in models},
                "groups": {group: round(self.of_group(question.name, group), 4) for group in groups},
            }
            for question in kind.questions
            if question.type in {"scale", "compare", "rank"}
        }


def answer_questions(
    task: dict[str, Any],
    truth: QuestionTruth,
    generator_of: Callable[..., random.Random],
    *,
    learnt: Mapping[tuple[str, str], Any] | None = None,
) -> dict[str, Any]:
    """Return an answer to a task; `generator_of` gives the annotator's random generator for the items.

    `learnt` has the right answers from practice, by question and stimulus, which are repeated.
    """
    tasks = Task.objects.prefetch_related("stimuli__image__group")
    shown = (
        tasks.get(assignments__public_id=task["assignment"])
        if "assignment" in task
        else tasks.get(public_id=task["task"])
    )
    items = {
        stimulus["ref"]: _item(row)
        for stimulus, row in zip(task["stimuli"], shown.stimuli.all(), strict=False)
    }
    text = task["prompt"] or next((stimulus.get("text", "") for stimulus in task["stimuli"]), "")
    generator = generator_of("screen", *(item.key for item in items.values()))
    return ScreenAnswers(truth, items, text, generator, learnt or {}).answer(task["questions"])


def explained(task: Mapping[str, Any], feedback: Mapping[str, Any]) -> dict[tuple[str, str], Any]:
    """Return the right answers from practice feedback, by question and stimulus ("" for the screen)."""
    questions = {question["name"]: question for question in task["questions"]}
    refs = [stimulus["ref"] for stimulus in task["stimuli"]]
    right: dict[tuple[str, str], Any] = {}
    for part in feedback["questions"]:
        if part["right"] is None:
            continue
        question, codes = questions[part["question"]], part["right"]
        if question["type"] == "rank":
            value: Any = dict(zip(refs, codes, strict=True))
        else:
            value = codes if question.get("several") else codes[0]
        right[part["question"], part["stimulus"] or ""] = value
    return right


def _item(stimulus: TaskStimulus) -> ShownItem:
    # A person sees the picture; a simulated annotator needs its identity, which no payload contains.
    image = stimulus.image
    if image is None:
        return ShownItem(stimulus.text)
    return ShownItem(image.sha256, image.model_label, image.group.name if image.group is not None else "")


@dataclass(frozen=True)
class ScreenAnswers:
    """One annotator's answers to one screen, from the payload for annotators."""

    truth: QuestionTruth
    items: Mapping[str, ShownItem]  # by name: s1, s2, …
    text: str  # the text whose words can be marked
    generator: random.Random
    learnt: Mapping[tuple[str, str], Any] = field(default_factory=dict)

    def answer(self, questions: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Return the answer in the form that a browser sends."""
        answers: dict[str, Any] = {}
        regions: dict[str, list[dict[str, Any]]] = {}
        for question in questions:
            refs = [ref for ref in self.items if _is_asked(question, answers, ref)]
            if not refs:
                continue
            name = question["name"]
            if question["each"]:
                answers[name] = {ref: self._value(question, ref) for ref in refs}
            else:
                answers[name] = self._value(question, refs[0])
            if places := self._places(question, refs, answers[name]):
                regions[name] = places
        return {"answers": answers, "regions": regions}

    def _value(self, question: Mapping[str, Any], ref: str) -> Any:
        own = (question["name"], ref if question["each"] else "")
        if own in self.learnt:
            return self.learnt[own]
        match question["type"]:
            case "scale":
                return self._point(question, ref)
            case "choice":
                return self._choice(question, ref)
            case "compare":
                return self._better(question)
            case "rank":
                return self._ranks(question)
            case "span":
                return self._words(question)
            case _:
                return self.generator.choice(_SENTENCES)[: question["longest"]]

    def _point(self, question: Mapping[str, Any], ref: str) -> int:
        apart = [point["code"] for point in question["points"] if point["apart"]]
        if apart and self.generator.random() < _APART:
            return int(self.generator.choice(apart))
        codes = sorted(point["code"] for point in question["points"] if not point["apart"])
        middle = (codes[0] + codes[-1]) / 2
        strength = self.truth.strength(question["name"], self.items[ref])
        seen = middle + strength + self.generator.gauss(0, self.truth.noise)
        return int(min(codes, key=lambda code: abs(code - seen)))

    def _choice(self, question: Mapping[str, Any], ref: str) -> str | list[str]:
        name, item = question["name"], self.items[ref]
        codes: list[str] = [answer["code"] for answer in question["answers"]]
        odds = {code: math.exp(self.truth.utility(name, code, item)) for code in codes}
        if not question["several"]:
            return self.generator.choices(codes, weights=[odds[code] for code in codes])[0]
        scale = _SEVERAL / (1 - _SEVERAL)
        alone = [answer["code"] for answer in question["answers"] if answer["alone"]]
        chosen = [
            code
            for code in codes
            if code not in alone and self.generator.random() < scale * odds[code] / (1 + scale * odds[code])
        ]
        return chosen or [next(iter(alone), codes[-1])]

    def _better(self, question: Mapping[str, Any]) -> str:
        weights = {ref: math.exp(strength) for ref, strength in self._strengths(question).items()}
        if question["tie"] is not None:
            weights["tie"] = self.truth.ties * math.sqrt(math.prod(weights.values()))
        return self.generator.choices(list(weights), weights=list(weights.values()))[0]

    def _ranks(self, question: Mapping[str, Any]) -> dict[str, int]:
        weights = {ref: math.exp(strength) for ref, strength in self._strengths(question).items()}
        order: list[str] = []
        while weights:
            best = self.generator.choices(list(weights), weights=list(weights.values()))[0]
            del weights[best]
            order.append(best)
        ranks = {order[0]: 1}
        for place, (before, ref) in enumerate(pairwise(order), start=2):
            tied = question["ties"] and self.generator.random() < self.truth.ties / (2 + self.truth.ties)
            ranks[ref] = ranks[before] if tied else place
        return ranks

    def _strengths(self, question: Mapping[str, Any]) -> dict[str, float]:
        strengths = {ref: self.truth.strength(question["name"], item) for ref, item in self.items.items()}
        first = next(iter(strengths))
        strengths[first] += self.truth.position_bias
        return strengths

    def _words(self, question: Mapping[str, Any]) -> list[int]:
        item = next(iter(self.items.values()))
        words = [
            place
            for place in range(len(self.text.split()))
            if self.truth.misses(item, place) != (self.generator.random() < _MARKED_OTHERWISE)
        ]
        return words if words or question["none"] is not None else [0]

    def _places(self, question: Mapping[str, Any], refs: Sequence[str], value: Any) -> list[dict[str, Any]]:
        region = question["region"]
        if region is None:
            return []
        values = value if question["each"] else {refs[0]: value}
        return [
            self._place(question["name"], region["shape"], ref)
            for ref in refs
            if not region["after"] or values[ref] in region["after"]
            if region["required"] or self.generator.random() < _PLACE
        ]

    def _place(self, name: str, shape: str, ref: str) -> dict[str, Any]:
        x, y = (side + self.generator.gauss(0, _JITTER) for side in self.truth.place(name, self.items[ref]))
        if shape == "point":
            return {"stimulus": ref, "x": x, "y": y}
        return {
            "stimulus": ref,
            "x": x - _SIDE / 2,
            "y": y - _SIDE / 2,
            "width": _SIDE,
            "height": _SIDE,
        }


def _is_asked(question: Mapping[str, Any], answers: Mapping[str, Any], ref: str) -> bool:
    """Return whether a question is asked (about a stimulus), given the earlier answers."""
    when = question["when"]
    if when is None:
        return True
    value = answers.get(when["question"])
    if isinstance(value, dict):
        value = value.get(ref)
    given = value if isinstance(value, list) else [value]
    return any(answer in when["answers"] for answer in given)
