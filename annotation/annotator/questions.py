"""The questions of a kind for annotators: its declaration in their language, without internal names."""

from collections.abc import Mapping, Sequence
from typing import Any

from annotation.answers.questions.stimuli import PROMPT, ShownStimulus
from annotation.kinds.declaration import Kind
from annotation.kinds.questions import (
    AskedAfter,
    ChoiceQuestion,
    CompareQuestion,
    Question,
    RankQuestion,
    ScaleQuestion,
    SpanQuestion,
    TextQuestion,
)
from annotation.kinds.registry import in_language
from generation.images.signed_urls import image_url


def stimulus_payload(stimulus: ShownStimulus, *, viewer: str) -> dict[str, Any]:
    """Return an image or a text of a screen. `viewer` names who looks, for the image's address."""
    image = stimulus.image
    if image is None:
        return {"ref": stimulus.ref, "text": stimulus.text}
    address = {"url": image_url(image, viewer=viewer), "width": image.width, "height": image.height}
    return {"ref": stimulus.ref, "image": address}


def questions_payload(
    kind: Kind, stimuli: Sequence[Mapping[str, Any]], *, regions_required: bool
) -> dict[str, Any]:
    """Return the stimuli and questions of one screen; `stimuli` as returned by `stimulus_payload`, including a
    prompt."""
    prompt = next((stimulus["text"] for stimulus in stimuli if stimulus["ref"] == PROMPT), None)
    return {
        "layout": kind.stimuli.layout,
        "stimuli": [stimulus for stimulus in stimuli if stimulus["ref"] != PROMPT],
        "prompt": prompt,
        "questions": [_question(kind, question, regions_required) for question in kind.questions],
    }


def _question(kind: Kind, question: Question, regions_required: bool) -> dict[str, Any]:
    region = question.region
    return {
        "name": question.name,
        "type": question.type,
        "label": in_language(question.label),
        "required": question.required,
        "each": question.each,
        "when": None if question.when is None else _condition(kind, question.when),
        "region": None
        if region is None
        else {
            "shape": region.shape,
            "required": regions_required if region.required is None else region.required,
            "after": list(region.after),
        },
        **_values(question),
    }


def _condition(kind: Kind, when: AskedAfter) -> dict[str, Any]:
    """Return a condition in terms of an answer's values: for comparisons, the names of the stimuli."""
    answers: list[int | str] = list(when.answers)
    if kind.question(when.question).type == "compare":
        answers = [f"s{answer + 1}" if isinstance(answer, int) else answer for answer in answers]
    return {"question": when.question, "answers": answers}


def _values(question: Question) -> dict[str, Any]:
    """Return the choices, by the type of question."""
    match question:
        case ScaleQuestion():
            points = [
                {"code": point.code, "label": in_language(point.label), "apart": point.apart}
                for point in question.points
            ]
            return {"points": points}
        case ChoiceQuestion():
            answers = [
                {"code": answer.code, "label": in_language(answer.label), "alone": answer.alone}
                for answer in question.answers
            ]
            return {"answers": answers, "several": question.several}
        case CompareQuestion():
            return {"tie": None if question.tie is None else in_language(question.tie)}
        case RankQuestion():
            return {"ties": question.ties}
        case TextQuestion():
            return {"longest": question.longest}
        case SpanQuestion():
            return {"none": None if question.none is None else in_language(question.none)}
        case _:
            raise TypeError(f"{question.name} asks about attributes")
