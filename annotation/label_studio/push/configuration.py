"""The labelling interface and the instructions of a Label Studio project."""

import hashlib
from collections.abc import Mapping
from typing import Any
from xml.etree import ElementTree

from django.utils.html import escape

from annotation.campaigns.instruments.markup import as_html
from annotation.kinds.declaration import Kind
from annotation.kinds.registry import kind_of
from annotation.label_studio.format.interface import NONE, labelling_interface
from annotation.label_studio.format.questions.controls import LANGUAGE, noun_of
from annotation.label_studio.format.questions.interface import questions_interface
from annotation.label_studio.models import LabelStudioProject
from annotation.models import Campaign, Instrument

_SETTINGS = (
    "enable_empty_annotation",
    "expert_instruction",
    "label_config",
    "maximum_annotations",
    "sampling",
    "show_annotation_history",
    "show_collab_predictions",
    "show_instruction",
    "show_skip_button",
    "skip_queue",
)
_NOT_COUNTED = (
    "Before you submit: tick what the picture shows, or choose only ‘{none}’. An answer without a tick and "
    "without ‘{none}’ is not counted, nor is an answer with ‘{none}’ and a tick or a box{bare}."
)


def configuration(campaign: Campaign, instrument: Instrument) -> str:
    """Return the labelling interface (XML) with the questions of this version of our own pages."""
    kind = kind_of(campaign)
    if not kind.about_attributes:
        return questions_interface(kind)
    return labelling_interface(
        rates=kind.rates_attributes,
        statement=instrument.statement,
        labels=instrument.labels,
        answered_elsewhere=False,
    )


def instructions(campaign: Campaign, instrument: Instrument) -> str:
    """Return the guidelines as HTML, arranged like on our own pages, with the lead's text escaped.

    Label Studio accepts contradictory marks and does not tell anybody that we refuse them.
    """
    html = str(as_html(instrument.guidelines, instrument.labels.values()))
    kind = kind_of(campaign)
    if kind.rates_attributes:
        return html
    if not kind.about_attributes:
        return f"{html}\n<p>{' '.join(_not_counted(kind, boxes_required=campaign.boxes_required))}</p>"
    bare = ", and a ticked word without a box" if campaign.boxes_required else ""
    return f"{html}\n<p>{_NOT_COUNTED.format(none=NONE, bare=bare)}</p>"


def _not_counted(kind: Kind, *, boxes_required: bool) -> list[str]:
    """Return the rules that Label Studio does not check, in sentences for annotators."""
    sentences = ["Before you submit, answer every question that you see."]
    regions = [question.region for question in kind.questions if question.region is not None]
    if any(boxes_required if region.required is None else region.required for region in regions):
        sentences.append(
            "If a question asks for a place in a picture, click the label under the question first, then "
            "the picture. Without a place, the answer is not counted."
        )
    for question in kind.questions:
        if question.type == "choice":
            sentences += [
                f"‘{escape(answer.label[LANGUAGE])}’ together with another answer is not counted."
                for answer in question.answers
                if answer.alone
            ]
        if question.type == "rank":
            rule = "may share a place" if question.ties else "each need a different place"
            sentences.append(f"{noun_of(kind.stimuli)}s {rule}; 1 is the best.")
        if question.type == "span":
            sentences.append("To choose words, click the label under the question first, then the words.")
        if question.type == "text":
            sentences.append(f"An answer of more than {question.longest:,} characters is not counted.")
    return list(dict.fromkeys(sentences))


def settings_of(campaign: Campaign, instrument: Instrument, *, annotations_per_task: int) -> dict[str, Any]:
    """Return all fields of a project that we set, by Label Studio's names."""
    return {
        "label_config": configuration(campaign, instrument),
        "expert_instruction": instructions(campaign, instrument),
        "maximum_annotations": annotations_per_task,
        "show_instruction": True,
        # Others' answers stay hidden; a skipped task is given to others, who may know the answer.
        "show_annotation_history": False,
        "show_collab_predictions": False,
        "enable_empty_annotation": False,
        "show_skip_button": True,
        "skip_queue": "REQUEUE_FOR_OTHERS",
        # In the order of numbers, the tasks added by an extension would come last for everybody.
        "sampling": "Uniform sampling",
    }


def digest(fields: Mapping[str, Any]) -> str:
    """Return a digest of the settings among a project's fields. It ignores white space and the order of XML
    attributes."""
    hasher = hashlib.sha256()
    for name in _SETTINGS:
        value = fields.get(name)
        hasher.update(f"{name}={_canonical(value) if name == 'label_config' else value!r}\n".encode())
    return hasher.hexdigest()


def as_sent(project: LabelStudioProject, project_body: Mapping[str, Any]) -> bool:
    """Whether a project on the server still has the settings that were sent."""
    return digest(project_body) == project.configuration


def differs(name: str, shown_value: object, wanted_value: object) -> bool:
    """Whether one setting differs from the wanted value."""
    if name == "label_config":
        return _canonical(shown_value) != _canonical(wanted_value)
    return shown_value != wanted_value


def _canonical(xml: object) -> str:
    text = str(xml or "")
    # An entity of a document type can expand without limit. We write none, so a text with one is compared unparsed.
    if "<!" in text:
        return text
    try:
        return ElementTree.canonicalize(text, strip_text=True)
    except ElementTree.ParseError:
        return text
