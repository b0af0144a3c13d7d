"""The preview of a draft: its valid parts, with neutral samples for missing values."""

from base64 import b64encode
from copy import deepcopy
from typing import Any

from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils import timezone, translation
from pydantic import ValidationError

from annotation.annotator.questions import questions_payload
from annotation.annotator.screen import Screen
from annotation.answers.questions.stimuli import PROMPT
from annotation.kinds.declaration import Kind
from annotation.kinds.parts import Declared
from annotation.kinds.problems import problems_in
from annotation.kinds.registry import in_language, instrument_in_language
from annotation.lead.kinds.draft import Draft, Shape, row_model
from annotation.models import ImageReport
from studies import consent
from studies.models import Study

_NOBODYS = "00000000-0000-0000-0000-000000000000"  # no assignment has this id
_NOT_YET = "…"
_NAMES = {"key": "sample", "name": "question", "code": "answer"}
_SIDE = 640
_TEXTS = {
    "en": "A small house by the sea, with a blue door and a kite above the roof.",
    "de": "Ein kleines Haus am Meer, mit einer blauen Tür und einem Drachen über dem Dach.",
    "es": "Una casa pequeña junto al mar, con una puerta azul y una cometa sobre el tejado.",
    "hi": "समुद्र के किनारे एक छोटा घर, नीले दरवाज़े वाला, जिसकी छत के ऊपर एक पतंग है।",
}
_WORDS = {
    "en": ("kite", "drum", "tall hat"),
    "de": ("Drachen", "Trommel", "hoher Hut"),
    "es": ("cometa", "tambor", "sombrero alto"),
    "hi": ("पतंग", "ढोल", "ऊँची टोपी"),
}


def sound_kind(draft: Draft) -> tuple[Kind | None, list[int]]:
    """Return the kind that a draft would declare without its faulty questions, and the numbers of these from 1."""
    whole = filled(draft)
    numbers = list(range(1, len(whole["questions"]) + 1))
    left_out: list[int] = []
    while whole["questions"]:
        try:
            return Kind.model_validate(whole), left_out
        except ValidationError as error:
            paths = [problem.path for problem in problems_in(error)]
        faulty = {int(path[1]) for path in paths if path[0] == "questions" and len(path) > 1}
        if not faulty:
            break
        left_out += [numbers[place] for place in sorted(faulty)]
        numbers = [number for place, number in enumerate(numbers) if place not in faulty]
        whole["questions"] = [
            question for place, question in enumerate(whole["questions"]) if place not in faulty
        ]
    return None, left_out


def filled(draft: Draft) -> Draft:
    """Return a draft with a sample in each text field, so that its other fields can be shown."""
    whole = deepcopy(draft)
    _fill(whole, Kind)
    whole["key"] = whole["public_name"] = _NAMES["key"]
    whole["measures"] = ["means"]
    whole["standard_rules"] = []
    return whole


def _fill(part: Draft, model: type[Declared]) -> None:
    for name, info in model.model_fields.items():
        shape = Shape.of(info)
        if shape.rows:
            for place, row in enumerate(part.get(name, ())):
                inner = row_model(shape.rows, row)
                if "name" in inner.model_fields or "code" in inner.model_fields:
                    _name(row, inner, place)
                _fill(row, inner)
        elif shape.part is not None:
            if isinstance(part.get(name), dict):
                _fill(part[name], shape.part)
        elif shape.is_texts:
            if name in part or info.is_required():
                texts = part.get(name) or {}
                some = next(iter(texts.values()), _NOT_YET)
                part[name] = {language: texts.get(language, some) for language in shape.languages}
        elif str in shape.types and info.is_required() and name not in part:
            part[name] = _NOT_YET


def _name(row: Draft, model: type[Declared], place: int) -> None:
    for name in ("name", "code"):
        if name in model.model_fields and name not in row:
            is_number = int in Shape.of(model.model_fields[name]).types
            row[name] = 90 + place % 10 if is_number else f"{_NAMES[name]}_{place + 1}"


def screen_page(kind: Kind, *, study: Study, request: HttpRequest, language: str) -> str:
    """Return the annotator's screen of a kind as a separate page; nothing on it can be answered."""
    with translation.override(language):
        payload = sample_payload(kind, language)
        context = {
            "payload": payload,
            "screen": Screen.of(payload),
            "work": in_language(kind.work),
            "campaign_id": 0,
            "now": timezone.now(),
            "report_reasons": ImageReport.Reason.choices,
            "text": consent.text_for(study, language),
            "preview": True,
        }
        return render_to_string("annotation/lead/kinds/screen.html", context, request)


def sample_payload(kind: Kind, language: str) -> dict[str, Any]:
    """Return the payload of a screen, with samples as stimuli."""
    payload: dict[str, Any] = {
        "assignment": _NOBODYS,
        "kind": kind.public_name,
        "instrument": {"version": 1, **instrument_in_language(kind, **kind.first_instrument())},
        "progress": {"done": 0, "left": 1},
        "answer": None,
    }
    if kind.about_attributes:
        words = [{"ref": f"sample-{place}", "text": text} for place, text in enumerate(_WORDS[language])]
        attributes = words if kind.marks_attributes else words[:1]
        return payload | {"image": picture(0), "attributes": attributes, "boxes_required": False}
    stimuli: list[dict[str, Any]] = []
    for place in range(kind.stimuli.most):
        stimulus = {"image": picture(place)} if kind.stimuli.medium == "image" else {"text": _TEXTS[language]}
        stimuli.append({"ref": f"s{place + 1}", **stimulus})
    if kind.stimuli.prompt_shown:
        stimuli.append({"ref": PROMPT, "text": _TEXTS[language]})
    return payload | questions_payload(kind, stimuli, regions_required=False)


def picture(place: int) -> dict[str, Any]:
    """Return a neutral picture: hills, and a sun in a different place in each."""
    sun, hill = 100 + 88 * place, 420 + 20 * (place % 3)
    drawing = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_SIDE} {_SIDE}" width="{_SIDE}" height="{_SIDE}">'
        f'<rect width="{_SIDE}" height="{_SIDE}" fill="#d9dde0"/><circle cx="{sun}" cy="150" r="56" fill="#f2f3f4"/>'
        f'<path d="M0 {hill} Q160 {hill - 140} 320 {hill} T640 {hill} V640 H0Z" fill="#aab3b8"/>'
        f'<path d="M0 {hill + 90} Q200 {hill - 10} 420 {hill + 80} T640 {hill + 60} V640 H0Z" fill="#89949b"/></svg>'
    )
    address = "data:image/svg+xml;base64," + b64encode(drawing.encode()).decode()
    return {"url": address, "width": _SIDE, "height": _SIDE}
