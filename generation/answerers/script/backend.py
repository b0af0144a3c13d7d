"""An invented model: its answers, its refusals and its preferences are planted."""

import random
from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import field_validator

from foundation.parameters import parameter
from generation.answerers.base import Answerer, AnswerRequest, Parameters, QuestionFacts, Reply
from generation.answerers.parameters import SamplingParameters
from generation.answerers.script import phrases

_SERVED = "script-1"


class ScriptParameters(SamplingParameters):
    """The planted parameters. The true mean of an answered choice is `(1 − noise) × bias`, between −1 and 1."""

    backend: ClassVar[str] = "script"

    bias: dict[str, Any] = parameter(
        {},
        expected="given as {group or part of a group’s name: number from -1 to 1}",
        label="Bias",
        help="Bias towards plus, by group (tall_orsani) or by parts of its name (tall, orsani), which are added up.",
    )
    associations: dict[str, Any] = parameter(
        {},
        expected="given as {descriptor: [words]}",
        label="Associations",
        help="Words that the model uses to complete sentences about a descriptor or to describe images of a group.",
    )
    association_rate: float = parameter(
        0.5,
        ge=0,
        le=1,
        label="Rate of associations",
        help="How often the model uses a planted word where it fits.",
    )
    refusal_rate: float = parameter(0.05, ge=0, le=1, label="Refusals", help="How often the model refuses.")
    both_rate: float = parameter(
        0.0, ge=0, le=1, label="Both", help="How often the model names both options."
    )
    declined_rate: float = parameter(
        0.0, ge=0, le=1, label="Declined", help="How often a filter declines the question."
    )
    noise: float = parameter(
        0.0, ge=0, le=1, label="Noise", help="How often an answer does not depend on the group."
    )
    order_bias: float = parameter(
        0.0,
        ge=-1,
        le=1,
        label="Bias by order",
        help="Bias towards the option that is named first.",
    )

    @field_validator("bias")
    @classmethod
    def _require_numbers(cls, bias: dict[str, Any]) -> dict[str, Any]:
        for value in bias.values():
            if isinstance(value, bool) or not isinstance(value, int | float) or not -1 <= value <= 1:
                raise ValueError("not from -1 to 1")
        return bias

    @field_validator("associations")
    @classmethod
    def _require_words(cls, associations: dict[str, Any]) -> dict[str, Any]:
        for words in associations.values():
            if not isinstance(words, list) or not all(isinstance(word, str) and word for word in words):
                raise ValueError("not lists of words")
        return associations


class ScriptBackend:
    """Answers according to `ScriptParameters`."""

    name: ClassVar[str] = "script"
    title: ClassVar[str] = "script: an invented model with planted bias"
    needs_model_id: ClassVar[bool] = False
    wants_gpu: ClassVar[bool] = False

    def clean(self, parameters: Mapping[str, Any]) -> Parameters:
        return ScriptParameters.read(parameters).model_dump()

    def load(self, *, model_id: str, parameters: Parameters, revision: str = "") -> Answerer:  # noqa: ARG002
        return ScriptAnswerer(model_id, parameters)


class ScriptAnswerer:
    """All randomness is derived from the model's name and the seed of each answer: models answer independently."""

    revision = "1"
    address = ""

    def __init__(self, model_id: str, parameters: Parameters) -> None:
        self._model_id = model_id
        self._planted = parameters

    def answer(self, request: AnswerRequest) -> list[Reply]:
        return [self._reply(request, seed) for seed in request.seeds]

    def bias(self, group: str) -> float:
        """Return the planted bias of a group: its own, or the sum of its parts', between −1 and 1."""
        bias = self._planted["bias"]
        total = bias[group] if group in bias else sum(bias.get(part, 0) for part in group.split("_"))
        return float(max(-1, min(1, total)))

    def _reply(self, request: AnswerRequest, seed: int) -> Reply:
        chance = random.Random(f"{self._model_id}\x1f{seed}")
        planted = self._planted
        tokens_in = len(request.system.split()) + len(request.prompt.split())
        if chance.random() < planted["declined_rate"]:
            return Reply(
                outcome="declined",
                reason="The invented content filter declined the question.",
                charged=False,
                served_model=_SERVED,
            )
        if chance.random() < planted["refusal_rate"]:
            text = chance.choice(phrases.REFUSALS)
        else:
            text = self._said(request.facts, chance)
        return Reply(
            text=text,
            finish_reason="stop",
            served_model=_SERVED,
            tokens_in=tokens_in,
            tokens_out=len(text.split()),
        )

    def _said(self, facts: QuestionFacts, chance: random.Random) -> str:
        if facts.kind == "choice":
            return self._chosen(facts, chance)
        words = self._planted["associations"].get(facts.group, [])
        if facts.kind == "complete":
            fitting = [word for word in words if word.casefold().startswith(facts.letter)]
            planted = fitting and chance.random() < self._planted["association_rate"]
            word = chance.choice(fitting) if planted else phrases.invented_word(facts.letter, chance)
            return f"[{word}]"
        said = [word for word in words if chance.random() < self._planted["association_rate"]]
        return phrases.description(said, chance)

    def _chosen(self, facts: QuestionFacts, chance: random.Random) -> str:
        planted = self._planted
        if chance.random() < planted["both_rate"]:
            return chance.choice(phrases.BOTH)
        bias = 0.0 if chance.random() < planted["noise"] else self.bias(facts.group)
        towards_first = bias if facts.first_is_plus else -bias
        first = chance.random() < 0.5 + (towards_first + planted["order_bias"]) / 2
        option = facts.first if first else facts.second
        other = facts.second if first else facts.first
        return chance.choice(phrases.CHOICES).format(option=option, other=other)
