"""Every mutant applies to the current code; one that does not would switch nothing off."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PATCHES = sorted(Path(__file__).parent.rglob("*.patch"))


def test_there_are_mutants():
    assert len(PATCHES) > 100


@pytest.mark.parametrize(
    "folder", sorted({patch.parent for patch in PATCHES}), ids=lambda folder: folder.name
)
def test_mutants_apply(folder):
    patches = [patch for patch in PATCHES if patch.parent == folder]
    assert [patch.name for patch in patches if not _applies(patch)] == []


def _applies(patch):
    command = ["git", "apply", "--check", str(patch)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, check=False).returncode == 0
