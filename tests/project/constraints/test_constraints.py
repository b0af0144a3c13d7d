"""Every constraint of our tables exists in the database: each is broken, and the database refuses.

Valid rows are made from the models themselves. A CHECK needs an entry in BREAKS; without one a test fails.
"""

from typing import Any

import pytest
from django.apps import apps
from django.db import IntegrityError, connection, models, transaction

from accounts.models import User
from generation.models import Coding
from tests.project.constraints.breaks import BOTH, BREAKS
from tests.project.constraints.rows import make, value_of

OURS = [
    "accounts",
    "catalog",
    "jobs",
    "studies",
    "generation",
    "annotation",
    "recruitment",
    "label_studio",
    "analysis",
    "privacy",
    "demo",
]


def _ours() -> list[type[models.Model]]:
    return [model for model in apps.get_models() if model._meta.app_label in OURS]


def _constraints(kind: type[Any]) -> list[Any]:
    return [
        pytest.param(model, constraint, id=constraint.name)
        for model in _ours()
        for constraint in model._meta.constraints
        if isinstance(constraint, kind)
    ]


def _unique_fields() -> list[Any]:
    return [
        pytest.param(model, field, id=f"{model._meta.label_lower}.{field.name}")
        for model in _ours()
        for field in model._meta.concrete_fields
        if field.unique and not field.primary_key
    ]


def _names(expression: Any) -> list[str]:
    if isinstance(expression, models.F):
        return [expression.name]
    return [name for inner in expression.get_source_expressions() for name in _names(inner)]


def _refused(model: type[models.Model], **given: Any) -> str:
    """Save a row that breaks a constraint; return the database's message."""
    with pytest.raises(IntegrityError) as refused, transaction.atomic():
        make(model, **given)
    if connection.vendor == "postgresql":
        return str(refused.value.__cause__.diag.constraint_name)  # type: ignore[union-attr]
    return str(refused.value)


def test_every_check_has_a_row_that_breaks_it():
    assert {param.id for param in _constraints(models.CheckConstraint)} == set(BREAKS)


@pytest.mark.django_db
@pytest.mark.parametrize("model", _ours(), ids=lambda model: model._meta.label_lower)
def test_valid_rows_are_taken(model):
    make(model)
    make(model)
    assert model._default_manager.count() >= 2


@pytest.mark.django_db
@pytest.mark.parametrize(("model", "constraint"), _constraints(models.CheckConstraint))
def test_a_check_refuses_what_breaks_it(model, constraint):
    for changes in BREAKS[constraint.name]:
        assert constraint.name in _refused(model, **changes), changes


@pytest.mark.django_db
@pytest.mark.parametrize(("model", "constraint"), _constraints(models.UniqueConstraint))
def test_a_unique_constraint_refuses_the_second_row(model, constraint):
    fields = [*constraint.fields, *(name for one in constraint.expressions for name in _names(one))]
    both = BOTH.get(constraint.name, {})
    nullable = [model._meta.get_field(name) for name in fields if model._meta.get_field(name).null]
    first = make(model, **{field.name: value_of(field) for field in nullable} | both)
    said = _refused(model, **both | {name: getattr(first, name) for name in fields})
    columns = [f"{model._meta.db_table}.{model._meta.get_field(name).column}" for name in constraint.fields]
    assert constraint.name in said or said == f"UNIQUE constraint failed: {', '.join(columns)}"


@pytest.mark.django_db
@pytest.mark.parametrize(("model", "field"), _unique_fields())
def test_a_unique_field_refuses_the_second_row(model, field):
    first = make(model, **{field.name: value_of(field)})
    assert field.column in _refused(model, **{field.name: getattr(first, field.name)})


@pytest.mark.django_db
def test_a_coding_is_never_changed():
    coding = make(Coding)
    for change in ({"outcome": "minus"}, {"code": -1}, {"sure": True}, {"reason": "It was wrong."}):
        with pytest.raises(IntegrityError, match="never changed"), transaction.atomic():
            Coding.objects.filter(pk=coding.pk).update(**change)
    coding.created_by = make(User)
    coding.save(update_fields=["created_by"])
