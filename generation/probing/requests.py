"""Building requests from rows: the words of a question, its picture, its seed, and the hash that identifies it."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from generation.answerers.base import AnswerRequest, AskedPicture, QuestionFacts
from generation.models import Answer, ProbeRun
from generation.probing.pictures import asked_picture
from generation.probing.probe_sets import ProbeSet
from generation.probing.questions import Order, ProbeQuestion
from studies.protocol.descriptors import forms_of


@dataclass(frozen=True)
class PlannedRequest:
    """A request with the rows for its answers, and the hash of each row."""

    rows: Sequence[Answer]
    request: AnswerRequest
    sha256s: Sequence[str]


def answer_seed(run: ProbeRun, row: Answer) -> int:
    """Return 63 bits derived from the study's seed and the request's identity, without the model."""
    subject = row.image.sha256 if row.image else row.descriptor.name if row.descriptor else ""
    identity = (
        str(run.seed),
        row.experiment,
        row.question,
        row.scenario,
        subject,
        row.letter,
        row.order,
        str(row.repeat),
    )
    digest = hashlib.sha256("\x1f".join(identity).encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


class RequestBuilder:
    """Makes the requests of one run to one model."""

    def __init__(self, run: ProbeRun, *, address: str) -> None:
        self._run = run
        questions = ProbeSet.model_validate(run.questions)
        self._questions = {
            (experiment.name, question.name): question
            for experiment in questions.experiments
            for question in experiment.questions
        }
        self._asked_of = {
            "address": address,
            "backend": run.backend,
            "model": run.model_id,
            "revision": run.model_revision,
            "sampling": {name: value for name, value in run.parameters.items() if name != "endpoint"},
        }

    def build(self, rows: Sequence[Answer], *, paid: bool) -> PlannedRequest:
        """Return the request for rows that differ only in their repeat."""
        first = rows[0]
        question = self._questions[first.experiment, first.question]
        prompt, facts = self._words(question, first)
        picture = None
        if first.image is not None:
            picture = asked_picture(first.image, largest_edge=self._run.parameters["largest_edge"])
        request = AnswerRequest(
            prompt=prompt,
            seeds=tuple(answer_seed(self._run, row) for row in rows),
            system=question.system,
            picture=picture,
            facts=facts,
            paid=paid,
        )
        sha256s = [self._sha256(row, request, seed) for row, seed in zip(rows, request.seeds, strict=True)]
        return PlannedRequest(rows, request, sha256s)

    def _words(self, question: ProbeQuestion, row: Answer) -> tuple[str, QuestionFacts]:
        group = row.image.group if row.image else row.descriptor
        name = group.name if group else ""
        if question.kind == "choice":
            order: Order = "reversed" if row.order == Answer.Order.REVERSED else "published"
            asked = question.asked(scenario=row.scenario, order=order)
            plus, minus = asked.options.plus.text, asked.options.minus.text
            is_plus = asked.first == "plus"
            first, second = (plus, minus) if is_plus else (minus, plus)
            return asked.text, QuestionFacts("choice", first, second, is_plus, name)
        if question.kind == "complete" and row.descriptor is not None:
            words = forms_of(row.descriptor)[question.form]
            prompt = question.sentence(descriptor=words, letter=row.letter)
            return prompt, QuestionFacts("complete", group=name, letter=row.letter)
        return question.text, QuestionFacts(question.kind, group=name)

    def _sha256(self, row: Answer, request: AnswerRequest, seed: int) -> str:
        identity = self._asked_of | {
            "messages": _messages(request.system, request.prompt, request.picture),
            "seed": seed,
            "order": row.order,
            "letter": row.letter,
            "repeat": row.repeat,
        }
        text = json.dumps(identity, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()


def _messages(system: str, prompt: str, picture: AskedPicture | None) -> list[dict[str, Any]]:
    user = {"role": "user", "content": prompt}
    if picture is not None:
        user["picture"] = picture.sha256
    return [*([{"role": "system", "content": system}] if system else []), user]
