"""What annotators read and answer in a project over there: its labelling interface and its instructions."""

import hashlib
from collections.abc import Mapping
from typing import Any
from xml.etree import ElementTree

from annotation.guideline_text import as_html
from annotation.label_studio.interface import labelling_interface
from annotation.models import Campaign, Instrument


def configuration(campaign: Campaign, instrument: Instrument) -> str:
    """Return the labelling interface (XML) that asks what our own pages ask under this version."""
    return labelling_interface(
        rates=campaign.kind == Campaign.Kind.ATTRIBUTE_LIKERT,
        statement=instrument.statement,
        labels=instrument.labels,
        answered_elsewhere=False,
    )


def instructions(instrument: Instrument) -> str:
    """Return the guidelines as HTML, as our own pages arrange them: every character of the lead's is escaped."""
    return str(as_html(instrument.guidelines, instrument.labels.values()))


def settings_of(campaign: Campaign, instrument: Instrument, *, annotations_per_task: int) -> dict[str, Any]:
    """Return every field of a project that we set, so that an edit of any of them by hand can be seen."""
    return {
        "label_config": configuration(campaign, instrument),
        "expert_instruction": instructions(instrument),
        "maximum_annotations": annotations_per_task,
        "show_instruction": True,
        # Others' answers stay unseen, and what is skipped is asked of others: they may know.
        "show_annotation_history": False,
        "show_collab_predictions": False,
        "enable_empty_annotation": False,
        "show_skip_button": True,
        "skip_queue": "REQUEUE_FOR_OTHERS",
    }


def digest(fields: Mapping[str, Any]) -> str:
    """Return a digest of a project's settings that white space and the order of XML attributes do not change."""
    said = hashlib.sha256()
    for name in sorted(fields):
        value = fields[name]
        said.update(f"{name}={_canonical(value) if name == 'label_config' else value!r}\n".encode())
    return said.hexdigest()


def _canonical(xml: object) -> str:
    text = str(xml or "")
    # An entity of a document type can grow without end: what has one was not written by us, and is compared as it is.
    if "<!" in text:
        return text
    try:
        return ElementTree.canonicalize(text, strip_text=True)
    except ElementTree.ParseError:
        return text
