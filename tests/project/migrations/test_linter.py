"""Each migration lets the version before go on serving; what would not is refused with a sentence."""

import pytest
from django.apps import apps
from django.db import migrations, models
from django.db.migrations.state import ModelState, ProjectState

from foundation.database.online import (
    AddIndexOnline,
    AddUncheckedConstraint,
    AllowNull,
    AtOnce,
    CheckConstraintOfAllRows,
)
from tests.project.migrations.linter import LARGE, WRITTEN_BEFORE, problems_of, problems_of_all

pytestmark = pytest.mark.database_free
INDEX = models.Index(fields=["text"], name="box_text")
CHECK = models.CheckConstraint(condition=models.Q(rank__gte=1), name="box_rank")
TEXT = models.CharField(max_length=20)


def problems(*operations, table="box", **attributes) -> list[str]:
    """Return what is wrong with a migration of a table with a text and a rank that may be null."""
    fields = [("id", models.BigAutoField(primary_key=True)), ("text", TEXT)]
    fields.append(("rank", models.IntegerField(null=True)))
    state = ProjectState()
    state.add_model(ModelState("annotation", table, fields))
    body = {"operations": list(operations), "dependencies": [("annotation", "0001_initial")], **attributes}
    return list(problems_of(type("Migration", (migrations.Migration,), body)("0002_test", "annotation"), state))


def added(field, name="note"):
    return migrations.AddField("box", name, field)


@pytest.mark.parametrize(
    "operation",
    [
        migrations.CreateModel("Note", [("id", models.BigAutoField(primary_key=True)), ("text", TEXT)]),
        added(models.TextField(null=True)),
        added(models.TextField(blank=True)),
        added(models.IntegerField(default=3)),
        added(models.JSONField(default=dict)),
        added(models.DateTimeField(db_default=models.functions.Now())),
        migrations.AlterField("box", "text", models.CharField(max_length=20, choices=[("a", "b")])),
        AllowNull("box", "text", models.CharField(max_length=20, null=True)),
        AddUncheckedConstraint("box", CHECK),
        AtOnce("box", [added(models.TextField(null=True)), AddUncheckedConstraint("box", CHECK)]),
    ],
    ids=lambda operation: operation.describe(),
)
def test_what_only_adds_is_accepted(operation):
    assert problems(operation) == []


@pytest.mark.parametrize(
    ("operation", "sentence"),
    [
        (migrations.RemoveField("box", "text"), "unused_since"),
        (migrations.DeleteModel("Box"), "unused_since"),
        (migrations.RenameField("box", "text", "words"), "asks for the old name"),
        (migrations.RenameModel("Box", "Frame"), "asks for the old name"),
        (migrations.AlterModelTable("Box", "frames"), "asks for the old name"),
        (added(models.IntegerField()), "cannot insert rows"),
        (added(models.UUIDField(default=lambda: "x")), "cannot insert rows"),
        (added(models.IntegerField(null=True, db_index=True)), "its index stops writing"),
        (migrations.AlterField("box", "rank", models.IntegerField(default=1)), "inserts null"),
        (migrations.AlterField("box", "text", models.CharField(max_length=30)), "another type"),
        (migrations.AlterField("box", "text", models.CharField(max_length=20, unique=True)), "uniqueness"),
        (migrations.AddIndex("box", INDEX), "AddIndexOnline"),
        (migrations.AddConstraint("box", CHECK), "AddUncheckedConstraint"),
        (AtOnce("box", [migrations.RemoveField("box", "text")]), "unused_since"),
    ],
    ids=lambda part: part if isinstance(part, str) else part.describe(),
)
def test_what_the_version_before_cannot_live_with_is_refused(operation, sentence):
    (problem,) = problems(operation)
    assert sentence in problem


def test_a_column_is_dropped_after_a_release_that_did_not_use_it():
    assert problems(migrations.RemoveField("box", "text"), unused_since="0.1.0") == []
    assert len(problems(migrations.RemoveField("box", "text"), unused_since="99.0.0")) == 1


def test_a_small_table_may_be_locked_to_make_an_index():
    index = migrations.AddIndex("quotarule", models.Index(fields=["text"], name="rule_text"))
    assert problems(index, table="quotarule") == []


def test_rows_and_tables_are_changed_by_migrations_of_their_own():
    rows = migrations.RunPython(migrations.RunPython.noop)
    assert problems(rows) == []
    (problem,) = problems(rows, added(models.TextField(null=True)))
    assert "make two" in problem


def test_a_migration_without_a_transaction_can_be_repeated():
    assert problems(AddIndexOnline("box", INDEX), CheckConstraintOfAllRows("box", "x"), atomic=False) == []
    (problem,) = problems(added(models.TextField(null=True)), atomic=False)
    assert "cannot be repeated" in problem


def test_our_migrations_have_no_problems():
    found = problems_of_all()
    assert {name: lines for name, lines in found.items() if name not in WRITTEN_BEFORE} == {}
    assert found  # of SQLite one more than of PostgreSQL


def test_large_tables_are_tables_of_ours():
    assert {model._meta.label_lower for model in apps.get_models()} >= LARGE
