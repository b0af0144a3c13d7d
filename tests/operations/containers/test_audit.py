"""`make audit`: its reading of pip-audit's output, in the format of pip-audit 2.10."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[3] / "requirements" / "audit.py"
SOUND = {"name": "django", "version": "5.2.19", "vulns": []}
UNKNOWN = {
    "name": "six",
    "skip_reason": "Dependency not found on PyPI and could not be audited: six (1.16.0)",
}
VULNERABLE = {
    "name": "pillow",
    "version": "1.0",
    "vulns": [{"id": "CVE-2026-1", "fix_versions": ["1.1"], "aliases": [], "description": ""}],
}
pytestmark = pytest.mark.database_free


def audit(folder: Path, *, prints: str, complains: str = "") -> "subprocess.CompletedProcess[str]":
    """Run it with a substitute for pip-audit, which would query a registry."""
    (folder / "printed").write_text(prints)
    auditor = folder / "pip-audit"
    auditor.write_text(f"#!/bin/sh\ncat {folder}/printed\necho '{complains}' >&2\nexit 1\n")
    auditor.chmod(0o755)
    command = [sys.executable, SCRIPT, auditor, sys.executable]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize(
    ("dependencies", "status", "says"),
    [
        ([SOUND, UNKNOWN], 0, "1 packages audited, 1 unknown to the registry.\n"),
        ([SOUND, VULNERABLE], 1, "pillow 1.0: CVE-2026-1, fixed in 1.1\n2 packages audited"),
        ([UNKNOWN], 0, "Audit skipped: the registry here has no entries for any of the 1 packages.\n"),
    ],
)
def test_a_vulnerability_fails_and_an_audit_that_saw_nothing_says_so(tmp_path, dependencies, status, says):
    done = audit(tmp_path, prints=json.dumps({"dependencies": dependencies, "fixes": []}))
    assert done.returncode == status
    assert done.stdout.startswith(says)


def test_without_a_network_it_is_skipped_with_the_reason(tmp_path):
    done = audit(tmp_path, prints="", complains="ConnectionError: Max retries exceeded")
    assert done.returncode == 0
    assert done.stdout == (
        "Audit skipped: the database of vulnerabilities cannot be asked (ConnectionError: Max retries exceeded).\n"
    )
