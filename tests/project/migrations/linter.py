"""Which migrations the version before cannot live with: it goes on serving while they run, and after a rollback.

Expand (add what the new version needs), deploy it, contract (drop what no version uses any more) a release later. A
migration that drops something names the release since which nothing uses it: `unused_since = "0.1.0"` in its class.
"""

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from django.db import connections, models
from django.db.migrations import Migration, operations
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState

from foundation.database.online import (
    AddIndexOnline,
    AddUncheckedConstraint,
    AddUniqueIndexOnline,
    AllowNull,
    CheckConstraintOfAllRows,
)

ROOT = Path(__file__).resolve().parents[3]
# Tables that grow with answers, images and requests: to read one through takes long, and people wait meanwhile.
LARGE = {
    *("annotation.annotation", "annotation.assignment", "annotation.judgement", "annotation.box"),
    *("annotation.point", "annotation.task", "annotation.taskattribute", "annotation.taskstimulus"),
    *("generation.answer", "generation.coding", "generation.image", "generation.generationrequest"),
    *("analysis.scoredimage", "studies.auditentry", "label_studio.labelstudioannotation"),
}
_DROPS = (operations.RemoveField, operations.DeleteModel)
_RENAMES = (operations.RenameField, operations.RenameModel, operations.AlterModelTable)
_DATA = (operations.RunPython, operations.RunSQL)
_REPEATABLE = (AddIndexOnline, AddUniqueIndexOnline, CheckConstraintOfAllRows, operations.RunPython)


# These were written before any server was in use that had to be updated.
WRITTEN_BEFORE = {
    *("annotation.0005_kinds_by_key", "annotation.0008_judgements_of_questions"),
    *("generation.0005_scenarios_from_provenance", "generation.0006_overrides"),
    *("generation.0009_answers_of_runs", "generation.0012_answers_by_outcome"),
    "studies.0005_audit_chain",
}


def problems_of_all() -> dict[str, list[str]]:
    """Return what is wrong with each migration of ours, those without problems left out."""
    loader = MigrationLoader(None, ignore_no_migrations=True)
    state, found = ProjectState(), {}
    for key in loader.graph._generate_plan(loader.graph.leaf_nodes(), at_end=True):
        migration = loader.graph.nodes[key]
        if "site-packages" in Path(str(sys.modules[migration.__module__].__file__)).parts:
            for operation in migration.operations:
                operation.state_forwards(migration.app_label, state)
        elif problems := list(problems_of(migration, state)):
            found[f"{key[0]}.{key[1]}"] = problems
    return found


def problems_of(migration: Migration, state: ProjectState) -> Iterator[str]:
    """Yield what is wrong with one migration, and apply it to the state."""
    new_tables: set[str] = set()
    is_first = migration.initial or not any(app == migration.app_label for app, _ in migration.dependencies)
    kinds = {isinstance(operation, _DATA) for operation in migration.operations}
    if len(kinds) == 2 and not is_first:
        yield "changes tables and rows in one migration: make two"
    for operation in migration.operations:
        if not migration.atomic and not isinstance(operation, _REPEATABLE):
            yield f"{operation.describe()}: cannot be repeated, and “atomic = False” does not take it back"
        for part in _parts(operation):
            if isinstance(part, operations.CreateModel):
                new_tables.add(f"{migration.app_label}.{part.name_lower}")
            elif not is_first:
                yield from _problems(part, migration, state, new_tables)
        operation.state_forwards(migration.app_label, state)


def released_versions() -> set[str]:
    """Return the versions that the changelog has a date for."""
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    return set(re.findall(r"^## \[([\d.]+)\] - \d", changelog, re.MULTILINE))


def _parts(operation: Operation) -> list[Operation]:
    """Return what an operation does to the database."""
    if isinstance(operation, operations.SeparateDatabaseAndState):
        return list(operation.database_operations)
    return [operation]


def _problems(
    operation: Operation, migration: Migration, state: ProjectState, new_tables: set[str]
) -> Iterator[str]:
    words = operation.describe()
    table = f"{migration.app_label}.{getattr(operation, 'model_name_lower', getattr(operation, 'model_name', ''))}"
    if table in new_tables:
        return
    if isinstance(operation, _RENAMES):
        yield f"{words}: the version before asks for the old name; add, copy, and drop a release later"
    if isinstance(operation, _DROPS) and getattr(migration, "unused_since", None) not in released_versions():
        yield f"{words}: name the release since which nothing uses it, as “unused_since”"
    if isinstance(operation, operations.AddField):
        yield from _added(operation.field, words, is_large=table in LARGE)
    if isinstance(operation, operations.AlterField) and not isinstance(operation, AllowNull):
        before = state.models[migration.app_label, operation.model_name_lower].fields[operation.name]
        yield from _altered(before, operation.field, words)
    if table in LARGE:
        yield from _locked(operation, words)


def _added(field: models.Field, words: str, *, is_large: bool) -> Iterator[str]:
    if field.many_to_many:
        return
    has_constant = field.has_default() and (not callable(field.default) or field.default in {dict, list})
    is_empty_text = field.blank and field.empty_strings_allowed
    if not field.null and not field.has_db_default() and not has_constant and not is_empty_text:
        yield f"{words}: the version before cannot insert rows; give it db_default, a constant default or null"
    if is_large and (field.unique or field.db_index):
        yield f"{words}: its index stops writing; add it by AddIndexOnline, with db_index=False"


def _altered(before: models.Field, after: models.Field, words: str) -> Iterator[str]:
    connection = connections["default"]
    if before.null and not after.null:
        yield f"{words}: the version before inserts null"
    if before.db_type(connection) != after.db_type(connection):
        # Of prepared statements PostgreSQL says "cached plan must not change result type", also where text may be
        # longer than before.
        yield f"{words}: another type breaks the statements that the version before has prepared; add a column"
    if after.unique and not before.unique:
        yield f"{words}: add uniqueness by AddUniqueIndexOnline"


def _locked(operation: Operation, words: str) -> Iterator[str]:
    if isinstance(operation, operations.AddIndex) and not isinstance(operation, AddIndexOnline):
        yield f"{words}: stops writing while it is made; use AddIndexOnline"
    if isinstance(operation, operations.AddConstraint) and not isinstance(
        operation, AddUncheckedConstraint | AddUniqueIndexOnline
    ):
        yield f"{words}: reads the whole table under its lock; use AddUncheckedConstraint or AddUniqueIndexOnline"


def main() -> int:
    """Print what is wrong with each migration; the exit status says whether there was anything."""
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    problems = {name: lines for name, lines in problems_of_all().items() if name not in WRITTEN_BEFORE}
    for name, lines in problems.items():
        sys.stderr.write("".join(f"{name}: {line}\n" for line in lines))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
