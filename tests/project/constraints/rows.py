"""Valid rows of every table, made from the models themselves."""

import itertools
import uuid
from datetime import date, timedelta
from typing import Any

from django.db import models
from django.db.models.fields import NOT_PROVIDED
from django.utils import timezone

from accounts.models import MatchedWords, UsedAssertion
from analysis.models import AssociationScore
from annotation.models import (
    Annotation,
    Assignment,
    Box,
    CampaignLanguage,
    CampaignStop,
    InvitationLetter,
    Judgement,
    KnownAnswer,
    Mailing,
    Point,
    PracticeAnswer,
    PrecisionLook,
    QuotaRule,
    ReviewedCoding,
    TaskStimulus,
)
from annotation.recruitment.models import (
    PanelPayment,
    PanelPerson,
    PanelPlace,
    Provider,
    Recruitment,
)
from catalog.models import Attribute
from generation.models import Coding, Image, Phrase, ProbeRun
from studies.models import AuditLink, BreakGlass

NUMBERS = itertools.count(1)

# Values of a valid row that do not follow from its fields.
BASE: dict[type[models.Model], dict[str, Any]] = {
    MatchedWords: {"field": "gender"},
    AssociationScore: {"score": 0.5},
    Annotation: {"revision": lambda: next(NUMBERS)},
    Assignment: {"state": "skipped"},
    BreakGlass: {"ends_at": lambda: timezone.now() + timedelta(hours=4)},
    AuditLink: {"position": lambda: next(NUMBERS)},
    CampaignLanguage: {"language": "de"},
    InvitationLetter: {"address_sealed": "sealed", "link_sealed": "sealed"},
    Mailing: {"language": "de"},
    Box: {"x": 0.1, "y": 0.1, "width": 0.3, "height": 0.3},
    Coding: {"code": 1},
    Image: {"file": "a.png", "sha256": lambda: uuid.uuid4().hex * 2},
    Judgement: {"present": True},
    Point: {"x": 0.5, "y": 0.5},
    TaskStimulus: {"text": "a street at dawn"},
    KnownAnswer: {"attribute": lambda: make(Attribute), "present": True},
    Phrase: {"condition": "target"},
    PanelPerson: {"id_hash": lambda: uuid.uuid4().hex, "id_sealed": "sealed"},
    PanelPlace: {
        "submission_hash": lambda: uuid.uuid4().hex,
        "submission_sealed": "sealed",
        "remote_status": "",
    },
    PanelPayment: {"kind": "approve", "cause": "", "amount": 300, "currency": "GBP"},
    Provider: {"person_parameter": "pid", "place_parameter": "session", "study_parameter": "survey"},
    Recruitment: {
        "places": 5,
        "screens": 40,
        "minutes": 20,
        "reward": 300,
        "currency": "GBP",
        "settled_at": None,
        "completed_code": "C1",
        "declined_code": "C2",
        "screened_out_code": "C3",
    },
    ProbeRun: {"runs": 3},
    ReviewedCoding: {"first": "plus"},
    CampaignStop: {"rule": "date", "state": "paused", "reason": "It was time."},
    PrecisionLook: {"number": lambda: next(NUMBERS), "half_width": 0.2},
    PracticeAnswer: {"correct": 1, "scored": 2},
    QuotaRule: {"kind": "distinct", "field": "gender"},
    UsedAssertion: {"ticket_hash": lambda: uuid.uuid4().hex, "statement_sealed": "sealed"},
}


def make(model: type[models.Model], **given: Any) -> Any:
    """Save a valid row with the given values; rows that it refers to are created."""
    values = BASE.get(model, {}) | given
    values = {name: value() if callable(value) else value for name, value in values.items()}
    for field in model._meta.concrete_fields:
        if field.name not in values and _must_be_given(field):
            values[field.name] = value_of(field)
    return model._default_manager.create(**values)


def _must_be_given(field: Any) -> bool:
    if field.primary_key or field.null or getattr(field, "auto_now", False):
        return False
    if field.unique:
        return True
    has_default = field.has_default() or field.db_default is not NOT_PROVIDED
    return not has_default and not (field.blank and field.empty_strings_allowed)


def value_of(field: Any) -> Any:
    if field.is_relation:
        return make(field.related_model)
    if field.choices:
        return field.flatchoices[0][0]
    number = next(NUMBERS)
    made: dict[type[Any], Any] = {
        models.IntegerField: number,
        models.FloatField: 0.5,
        models.BooleanField: False,
        models.DateTimeField: timezone.now(),
        models.DateField: date(2000, 1, 1) + timedelta(days=number),
        models.JSONField: {"number": number},
        models.BinaryField: b"bytes",
        models.UUIDField: uuid.uuid4(),
    }
    for kind, value in made.items():
        if isinstance(field, kind):
            return value
    return uuid.uuid4().hex[: field.max_length]
