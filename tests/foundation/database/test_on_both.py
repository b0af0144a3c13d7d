"""Every package that depends on differences between the two databases is tested on both."""

import re
from pathlib import PurePosixPath

import pytest

from tests.foundation.database.on_both import ON_BOTH, ON_SQLITE_ALONE
from tests.project.test_layout import ROOT, tracked_files

pytestmark = pytest.mark.database_free

APPS = ("platform/", "generation/", "annotation/", "analysis/")
# Hand-written SQL, a branch for one database, locks, and inserts that skip or update existing rows.
DIFFERENT = re.compile(
    r"\.cursor\(|RawSQL|\.raw\(|\.extra\(|\.vendor\b|select_for_update\(|_conflicts=True|advisory"
)
# Modules that tests of another package run → the file of these tests, which must be on the list too.
TESTED_ELSEWHERE = {
    "annotation/models/campaigns.py": "tests/annotation/campaigns/test_lifecycle.py",
    "platform/front/health.py": "tests/front/test_outages.py",
    "platform/operations/backups/databases/connection.py": "tests/operations/test_round_trip.py",
    "platform/operations/backups/verify.py": "tests/operations/test_verify.py",
    "platform/studies/consent.py": "tests/accounts/test_consent.py",
}


def subject(path: str) -> tuple[str, str]:
    """Return the app and the package or module in it; tests are in the same folders as the code."""
    app, inside = PurePosixPath(path.removeprefix("platform/").removeprefix("tests/")).parts[:2]
    return app, inside.removeprefix("test_").removesuffix(".py")


def test_every_package_with_its_own_sql_or_locks_is_tested_on_both():
    modules = [path for path in tracked_files() if path.startswith(APPS) and path.endswith(".py")]
    different = [
        path
        for path in modules
        if "/migrations/" not in path and DIFFERENT.search((ROOT / path).read_text(encoding="utf-8"))
    ]
    assert "annotation/assignment/leases.py" in different
    listed = [path for paths in ON_BOTH.values() for path in paths]
    tested = {subject(path) for path in listed}
    assert [path for path in different if subject(path) not in tested] == list(TESTED_ELSEWHERE)
    assert set(TESTED_ELSEWHERE.values()) - set(listed) == set()


def test_the_list_names_what_is_there():
    files = tracked_files()
    named = [*ON_SQLITE_ALONE, *(path for paths in ON_BOTH.values() for path in paths)]
    assert [path for path in named if not any(f"{file}/".startswith(f"{path}/") for file in files)] == []
    assert len(named) == len(set(named))
