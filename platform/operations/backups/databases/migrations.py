"""Comparison of a backup's migrations with those of this version."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from django.db.migrations.loader import MigrationLoader

from foundation.errors import DomainError


def by_app(rows: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Return the sorted names of migrations by app."""
    names = defaultdict(list)
    for app, name in sorted(rows):
        names[app].append(name)
    return dict(names)


def check(applied: Mapping[str, list[str]], *, backup_name: str) -> None:
    """Raise DomainError for a backup with a migration unknown to this version, because it is from a newer one."""
    loader = MigrationLoader(None, ignore_no_migrations=True)
    known_names = set(loader.disk_migrations)
    for migration in loader.disk_migrations.values():
        known_names |= {(migration.app_label, name) for _, name in migration.replaces}
    unknown = [
        f"{app}.{name}" for app, names in applied.items() for name in names if (app, name) not in known_names
    ]
    if unknown:
        raise DomainError(
            "backup_newer_schema",
            f"Backup {backup_name} has the migration {unknown[0]}, which this version does not know: update the "
            "software to the version that made the backup, or a later one.",
        )
