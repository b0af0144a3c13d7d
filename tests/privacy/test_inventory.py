"""Every table and field declares the data that it holds about annotators."""

from collections import Counter

import pytest
from django.apps import apps
from django.db.models import Field

from accounts.models import Annotator
from privacy.inventory import Erasing, tables

MODELS = {model._meta.label: model for model in apps.get_models(include_auto_created=True)}
DECLARED = {table.model: table for table in tables()}


def fields_of(label: str) -> set[str]:
    """Return the columns of a table and its many-to-many fields, without the primary key."""
    meta = MODELS[label]._meta
    fields = {field.name for field in (*meta.fields, *meta.many_to_many) if isinstance(field, Field)}
    return fields - {"id"}


def test_every_table_is_declared_once_and_no_other():
    assert Counter(table.model for table in tables()) == Counter(list(MODELS))


@pytest.mark.parametrize("label", sorted(MODELS))
def test_every_field_is_declared_once(label):
    assert Counter(DECLARED[label].fields) == Counter(list(fields_of(label)))


@pytest.mark.parametrize("label", sorted(MODELS))
def test_a_declaration_can_be_carried_out(label):
    table = DECLARED[label]
    assert set(table.blank) <= set(table.about.split())
    assert set(table.hidden.split()) <= set(table.fields)
    if table.erasing is Erasing.NOTHING:
        assert not table.about
    if table.erasing in {Erasing.KEEP, Erasing.REDACT} and not table.mentions:
        assert table.reason


@pytest.mark.django_db
@pytest.mark.parametrize("label", sorted(MODELS))
def test_a_table_that_refers_to_annotators_is_declared_to_hold_their_data(label):
    """A table that refers to annotators holds something about them."""
    refers = any(field.related_model is Annotator for field in MODELS[label]._meta.fields)
    assert not refers or DECLARED[label].person or DECLARED[label].erasing is not Erasing.NOTHING
    assert list(DECLARED[label].rows_of(Annotator(pk=0))) == []
